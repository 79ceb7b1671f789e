"""One memory on its way from text to what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.beside import speaker_of, surfaces_beside
from graphsearch.ingest.extract.rules.corrections import (
    Amends,
    Correction,
    amended,
    claims,
    corrected,
    correction,
    hesitates,
    takes_back,
)
from graphsearch.ingest.extract.rules.masked_sentence import FIRST_DATE, FIRST_NAME, MAX_NAMES, PRIVATE, skeleton
from graphsearch.ingest.extract.rules.patterns import Cued
from graphsearch.ingest.extract.rules.phrases import apart, phrases
from graphsearch.ingest.extract.rules.pronouns import REACH, Mentioned, pronouns, references, refers, stand_in, starts
from graphsearch.ingest.extract.rules.relating import CO_OCCURS, Name, Related, related, supposed
from graphsearch.ingest.extract.rules.self_answers import answered
from graphsearch.ingest.extract.rules.speakers import NO_SMALL_NAMES, Conversation, SmallNames, name_key
from graphsearch.ingest.extract.rules.topics import NO_TOPICS
from graphsearch.model import Memory, Span
from graphsearch.model.extracted import Said, Statement, Surface, fact_in
from graphsearch.text.dates import Dated, Dates, Role, again, capitalised_dates
from graphsearch.text.found_names import Found
from graphsearch.text.marked_names import marks
from graphsearch.text.name_spans import names
from graphsearch.text.sentences import sentences

_NO_LETTER: Final = "\x01"
_FULL_NAME: Final = 3
_WRITTEN: Final = 0.9
_PUBLIC_TYPES: Final = {"team": "organisation", "status": "concept"}


def said(
    memory: Memory,
    patterns: Cued,
    dates: Dates,
    told: Conversation,
    small: SmallNames = NO_SMALL_NAMES,
    topic: Surface | None = None,
) -> tuple[Said, Amends | None]:
    """What one memory says, and what of earlier ones it corrects: in time linear in its text.

    ``told`` is what it and the memories beside it say of names; ``small`` are names to be found though they are
    written in small letters. ``topic`` is what its speaker spoke of just before.
    """
    text = memory.text if memory.text.isascii() else PRIVATE.sub(_NO_LETTER, memory.text)
    return _Reading(memory, text, told, told.small.within(text), small, speaker_of(memory), topic).read(patterns, dates)


@attrs.define
class _Sentence:
    """A sentence, its names in order and apart, its dates, and what is found to relate the names."""

    span: Span
    found: list[Found]
    dates: list[Dated]
    related: list[Related] = attrs.field(factory=list)
    supposed: set[int] = attrs.field(factory=set)
    """Numbers of names that would be related if what is denied or doubted were so."""
    correction: Correction | None = None
    """What it says of the sentence before it."""
    denied: list[Related] = attrs.field(factory=list)
    """What it says has never been so."""

    names: list[Found] = attrs.field(factory=list)
    """What is found but for dates, and with the pronouns that stand for it."""

    def name(self) -> None:
        """Tell the names from the dates of what is found."""
        self.names = [each for each in self.found if each.type != "date"]


@attrs.define
class _Reading:
    """One memory on its way from text to what it says."""

    memory: Memory
    text: str
    told: Conversation
    declared: SmallNames
    small: SmallNames
    speaker: str
    topic: Surface | None = None
    """What "it" stands for at its start."""
    types: dict[str, str] = attrs.field(factory=dict)
    """The types that the text told of names so far, by key."""
    last: Dated | None = None
    """The last date that it named."""

    def read(self, patterns: Cued, dates: Dates) -> tuple[Said, Amends | None]:
        beside = surfaces_beside(self.memory)
        if self.speaker:
            self.types[name_key(self.speaker)] = "person"
        found = [self._sentence(span, dates) for span in sentences(self.text)]
        self._confirm(beside, found)
        for sentence in found:
            sentence.name()
        back = takes_back(self.text)
        referring = refers(self.text)
        for number, sentence in enumerate(found):
            if referring and self.topic and not number:
                self._carried(sentence)
            if referring:
                self._refer(sentence, found[max(0, number - REACH) : number])
            sentence.related = self._related(sentence, patterns)
            self._corrects(sentence, back=back)
        return self._said(beside, found)

    # -- names ----------------------------------------------------------------------------------------------------

    def _sentence(self, span: Span, dates: Dates) -> _Sentence:
        start, end = span.start, span.end
        marked = [*marks(self.text, start, end)]
        dated = [
            attrs.evolve(date, start=date.start + start, end=date.end + start)
            for date in self._dates(self.text[start:end], dates)
        ]
        named = [*marked, *(_date(date) for date in dated)]
        known = *self.told.linked.find(self.text, start, end), *self.declared.find(self.text, start, end)
        taken = apart(named, known, [*phrases(self.text, start, end)])
        found = apart(
            taken, [*names(self.text, start, end, taken, self.told.people)], [*self.small.find(self.text, start, end)]
        )
        for each in sorted(found, key=lambda each: -each.confidence):
            if each.named and each.type:
                self.types.setdefault(self._key(each), each.type)
        return _Sentence(span, [each for each in found if each.named], [date for date in dated if _date(date) in found])

    def _dates(self, sentence: str, dates: Dates) -> list[Dated]:
        """The dates of a sentence, and where it means the last one that was named before."""
        written = capitalised_dates(sentence) if sentence.islower() else sentence
        found = dates.find(written, self.memory.occurred_at)
        if not (found or self.last):
            return []
        last = found[0] if found else self.last
        same = again(sentence, last) if last else ()
        if found:
            self.last = found[-1]
        return sorted(
            (*found, *(each for each in same if all(each.start >= one.end or one.start >= each.end for one in found))),
            key=lambda each: each.start,
        )

    def _key(self, found: Found) -> str:
        return name_key(self._written(found))

    def _written(self, found: Found) -> str:
        named = found.refers or found
        return named.beside or self.text[named.start : named.end]

    def _type(self, key: str) -> str:
        return self.types.get(key, "") or ("person" if key in self.told.people else "")

    def _confirm(self, beside: Sequence[Surface], sentences: Sequence[_Sentence]) -> None:
        """Names that stand for certain elsewhere in the memory are certain everywhere."""
        tentative = [each for sentence in sentences for each in sentence.found if each.tentative]
        if not tentative:
            return
        sure = {self._key(each): each.type for sentence in sentences for each in sentence.found if not each.tentative}
        sure |= {name_key(surface.name): surface.type for surface in beside}
        known = {*sure, *self.told.people} | {
            word for key, told in sure.items() if told in ("", "person") for word in _parts(key)
        }
        for sentence in sentences:
            sentence.found = [
                attrs.evolve(each, tentative=False) if each.tentative and self._key(each) in known else each
                for each in sentence.found
            ]

    # -- relations ------------------------------------------------------------------------------------------------

    def _related(self, sentence: _Sentence, patterns: Cued) -> list[Related]:
        """What relates the names of a sentence; the speaker has the number behind the last of them."""
        found = sentence.names[: MAX_NAMES - 1]
        called = [
            Name(
                key=(key := self._key(each)),
                type=self._type(key),
                tentative=each.tentative,
                written=self._written(each),
            )
            for each in found
        ]
        speaker = self.speaker
        if len(called) + bool(speaker) < 2:  # noqa: PLR2004 - a relation has two ends
            return []
        first_person = len(called) if speaker else None
        places = self._places(sentence)
        bare = corrected(skeleton(self.text, sentence.span.start, sentence.span.end, places, first_person))
        if first_person is not None:
            bare = answered(
                bare, chr(FIRST_NAME + first_person), called, self.told.topics.get(self.memory.id, NO_TOPICS)
            )
        if first_person is not None and chr(FIRST_NAME + first_person) in bare:
            called.append(Name(key=name_key(speaker), type="person"))
        elif len(called) < 2:  # noqa: PLR2004
            return []
        if " never " in bare:
            without = bare.replace(" never ", " ")
            denied = related(without, called, patterns, (), self.memory.occurred_at, first_person=first_person)
            sentence.denied = [each for each in denied if each.type != CO_OCCURS]
        relations = [
            *related(bare, called, patterns, sentence.dates, self.memory.occurred_at, first_person=first_person)
        ]
        if any(name.tentative for name in called):
            sentence.supposed = supposed(bare, called, patterns)
        for relation in relations:
            for number, told in ((relation.source, relation.source_type), (relation.target, relation.target_type)):
                if told:
                    self.types.setdefault(called[number].key, told)
        return relations

    def _places(self, sentence: _Sentence) -> list[tuple[int, int, str]]:
        """What stands in a skeleton for the names and dates of a sentence."""
        named = [
            (each.start, each.end, stand_in(chr(FIRST_NAME + number), each, self.text))
            for number, each in enumerate(sentence.names[: MAX_NAMES - 1])
        ]
        dated = [
            (date.start, date.end, chr(FIRST_DATE + number)) for number, date in enumerate(sentence.dates[:MAX_NAMES])
        ]
        return sorted((*named, *dated))

    # -- what refers to other sentences ---------------------------------------------------------------------------

    def _refer(self, sentence: _Sentence, before: Sequence[_Sentence]) -> None:
        """Find the pronouns of a sentence that stand for a name, of its own or of the last sentence that has any."""
        last = next((each for each in reversed(before) if each.found), None)
        named = last or sentence.found
        if named and (found := pronouns(self.text, sentence.span.start, sentence.span.end, spoken=bool(self.speaker))):
            meant = references(found, self._mentioned(sentence), self._mentioned(last) if last else ())
            sentence.found = sorted((*sentence.found, *meant), key=lambda each: each.start)
            sentence.name()

    def _mentioned(self, sentence: _Sentence) -> list[Mentioned]:
        """Names that "he" or "it" may stand for: not the speaker, who says "I"."""
        mentioned = [Mentioned(each, self._key(each), self._type(self._key(each))) for each in sentence.names]
        speaker = name_key(self.speaker)
        return [each for each in mentioned if not speaker or self.told.whole.get(each.key) != speaker]

    def _carried(self, sentence: _Sentence) -> None:
        """Find what the first sentence says of what its speaker spoke of just before."""
        start, end = sentence.span.start, sentence.span.end
        found = [each for each in pronouns(self.text, start, end, spoken=True) if starts(each, start)]
        if self.topic and found:
            self.types.setdefault(name_key(self.topic.name), self.topic.type)
            before = Found(start=0, end=0, type=self.topic.type, confidence=0.0, pattern="", beside=self.topic.name)
            mentioned = Mentioned(before, self._key(before), self.topic.type)
            sentence.found = [*references(found, (), [mentioned]), *sentence.found]
            sentence.name()

    def _corrects(self, sentence: _Sentence, *, back: bool) -> None:
        """Find what a sentence corrects; the name that it means counts then."""
        if not hesitates(self.text, sentence.span.start, sentence.span.end, back=back):
            return
        bare = skeleton(self.text, sentence.span.start, sentence.span.end, self._places(sentence), None)
        sentence.correction = correction(bare)
        if sentence.correction and sentence.correction.meant is not None:
            sentence.supposed = {*sentence.supposed, sentence.correction.meant}

    # -- what it comes to -----------------------------------------------------------------------------------------

    def _said(self, beside: Sequence[Surface], sentences: Sequence[_Sentence]) -> tuple[Said, Amends | None]:
        speaker = beside[-1] if self.speaker else None
        kept = self._kept(sentences, speaker)
        surfaces = [self._typed(surface) for surface in beside]
        stated: list[list[Statement]] = []
        pending: Amends | None = None
        for sentence, numbered in zip(sentences, kept, strict=True):
            surfaces += [
                numbered[at]
                for at, each in enumerate(sentence.names)
                if at in numbered and (not each.refers or each.refers.beside)
            ]
            surfaces += [self._surface(each) for each in sentence.found if each.type == "date"]
            own = [self._statement(relation, numbered, sentence.span) for relation in sentence.related]
            denied = tuple(self._statement(relation, numbered, sentence.span) for relation in sentence.denied)
            amends = self._amends(sentence, numbered, own)
            before = next((each for each in reversed(stated[-REACH:]) if claims(each)), None)
            if amends and before:
                before[:] = self._until(amended(before, amends, name_key), before, sentence.span.end)
            elif amends or denied:
                pending = attrs.evolve(amends or pending or Amends(span=sentence.span), denied=denied)
            stated.append(own)
        statements: dict[tuple[object, ...], Statement] = {}
        for statement in (each for several in stated for each in several):
            ends = name_key(statement.source.name), name_key(statement.target.name)
            period = (statement.valid_from, statement.valid_to)
            # Co-occurrence has no direction, and adds nothing to what relates the two already.
            pair = (frozenset(ends), None, None) if statement.type == CO_OCCURS else (ends, statement.type, period)
            statements.setdefault(pair, statement)
        related = {
            frozenset((name_key(each.source.name), name_key(each.target.name)))
            for each in statements.values()
            if each.type != CO_OCCURS
        }
        said = Said(
            memory_id=self.memory.id,
            surfaces=tuple(sorted(surfaces, key=lambda surface: surface.span.start + 1 if surface.span else 0)),
            statements=tuple(
                each for pair, each in statements.items() if each.type != CO_OCCURS or pair[0] not in related
            ),
            same=tuple((each.short, each.full) for each in self.told.declared.get(self.memory.id, ())),
        )
        return self._retyped(said) if any(sentence.correction for sentence in sentences) else said, pending

    def _retyped(self, said: Said) -> Said:
        """The types of names that a correction brought in are known only now."""
        return attrs.evolve(
            said,
            surfaces=tuple(map(self._typed, said.surfaces)),
            statements=tuple(
                attrs.evolve(each, source=self._typed(each.source), target=self._typed(each.target))
                for each in said.statements
            ),
        )

    def _amends(self, sentence: _Sentence, numbered: Mapping[int, Surface], own: Sequence[Statement]) -> Amends | None:
        """What a sentence corrects; None where it corrects nothing."""
        what = sentence.correction
        if what is None or (what.again and not claims(own)):
            return None
        return Amends(
            correction=what,
            meant=None if what.meant is None else numbered.get(what.meant),
            wrong="" if what.wrong is None else self._written(sentence.names[what.wrong]),
            again=tuple(claims(own)),
            span=sentence.span,
        )

    def _until(self, stated: Sequence[Statement], before: Sequence[Statement], end: int) -> list[Statement]:
        """Statements of which those that are new are proved by all that stands there until an end."""
        known = {id(each) for each in before}
        found = []
        for each in stated:
            if id(each) in known:
                found.append(each)
                continue
            for name in (each.source, each.target):
                self.types.setdefault(name_key(name.name), name.type)
            span = Span(start=each.span.start, end=end)
            found.append(attrs.evolve(each, span=span, fact=fact_in(self.memory, span)))
        return found

    def _statement(self, relation: Related, surfaces: Mapping[int, Surface], span: Span) -> Statement:
        return Statement(
            source=surfaces[relation.source],
            type=relation.type,
            target=surfaces[relation.target],
            confidence=relation.confidence,
            kind=relation.kind,
            valid_from=relation.valid_from,
            valid_to=relation.valid_to,
            fact=fact_in(self.memory, span),
            span=span,
            pattern=relation.pattern,
        )

    def _kept(self, sentences: Sequence[_Sentence], speaker: Surface | None) -> list[dict[int, Surface]]:
        """The surfaces of each sentence by number: those that are certain, or that something relates."""
        numbered = [sentence.names for sentence in sentences]
        confirmed: set[str] = set()
        for sentence, found in zip(sentences, numbered, strict=True):
            ends = sentence.supposed | {
                end for each in (*sentence.related, *sentence.denied) for end in (each.source, each.target)
            }
            confirmed |= {self._key(found[end]) for end in ends if end < len(found)}
        kept = []
        for found in numbered:
            surfaces = {
                number: self._surface(each)
                for number, each in enumerate(found)
                if not each.tentative or self._key(each) in confirmed
            }
            if speaker:
                surfaces[min(len(found), MAX_NAMES - 1)] = self._typed(speaker)
            kept.append(surfaces)
        return kept

    def _surface(self, found: Found) -> Surface:
        if found.refers:
            return self._surface(found.refers)
        if found.beside and self.topic:
            return self._typed(attrs.evolve(self.topic, span=None))
        name = " ".join(self.text[found.start : found.end].split())
        return Surface(
            name=name,
            type=self._public(name, found.type),
            span=Span(start=found.start, end=found.end),
            confidence=found.confidence,
            pattern=found.pattern,
        )

    def _typed(self, surface: Surface) -> Surface:
        public = self._public(surface.name, surface.type)
        return surface if public == surface.type else attrs.evolve(surface, type=public)

    def _public(self, name: str, type: str) -> str:
        """The type of a name as it is told to others: its own, else the one that the text tells."""
        told = type or self._type(name_key(name))
        return _PUBLIC_TYPES.get(told, told)


def _date(date: Dated) -> Found:
    """A date as a name; one that says something else in every text, such as "yesterday", is none."""
    return Found(
        start=date.start,
        end=date.end,
        type="date",
        confidence=_WRITTEN,
        pattern="date",
        named=date.absolute and date.role is not Role.BETWEEN,
    )


def _parts(key: str) -> Sequence[str]:
    """The words by which a person of a full name may be called."""
    words = key.split()
    return (words[0], words[-1]) if len(words) <= _FULL_NAME else ()
