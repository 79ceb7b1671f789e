"""One memory on its way from text to what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.text.beside import speaker_of, surfaces_beside
from graphsearch.ingest.text.dates import Dated, Dates, Role
from graphsearch.ingest.text.found import Found
from graphsearch.ingest.text.marks import marks
from graphsearch.ingest.text.names import names
from graphsearch.ingest.text.patterns import Cued
from graphsearch.ingest.text.phrases import apart, phrases
from graphsearch.ingest.text.relating import CO_OCCURS, Name, Related, related, supposed
from graphsearch.ingest.text.said import Said, Statement, Surface
from graphsearch.ingest.text.sentences import sentences
from graphsearch.ingest.text.skeleton import FIRST_DATE, FIRST_NAME, MAX_NAMES, PRIVATE, skeleton
from graphsearch.model import Memory, Span

_NO_LETTER: Final = "\x01"
_FULL_NAME: Final = 3
_WRITTEN: Final = 0.9
_PUBLIC_TYPES: Final = {"team": "organisation", "status": "concept"}


def said(memory: Memory, patterns: Cued, dates: Dates) -> Said:
    """What one memory says: in time linear in its text."""
    text = memory.text if memory.text.isascii() else PRIVATE.sub(_NO_LETTER, memory.text)
    return _Reading(memory, text).read(patterns, dates)


@attrs.define
class _Sentence:
    """A sentence, its names in order and apart, its dates, and what is found to relate the names."""

    span: Span
    found: list[Found]
    dates: list[Dated]
    related: list[Related] = attrs.field(factory=list)
    supposed: set[int] = attrs.field(factory=set)
    """Numbers of names that would be related if what is denied or doubted were so."""


@attrs.define
class _Reading:
    """One memory on its way from text to what it says."""

    memory: Memory
    text: str
    types: dict[str, str] = attrs.field(factory=dict)
    """The types that the text told of names so far, by key."""

    def read(self, patterns: Cued, dates: Dates) -> Said:
        beside = surfaces_beside(self.memory)
        if self._speaker:
            self.types[_key(self._speaker)] = "person"
        found = [self._sentence(span, dates) for span in sentences(self.text)]
        self._confirm(beside, found)
        for sentence in found:
            sentence.related = self._related(sentence, patterns)
        return self._said(beside, found)

    # -- names ----------------------------------------------------------------------------------------------------

    @property
    def _speaker(self) -> str:
        return speaker_of(self.memory)

    def _sentence(self, span: Span, dates: Dates) -> _Sentence:
        start, end = span.start, span.end
        marked = [*marks(self.text, start, end)]
        dated = [
            attrs.evolve(date, start=date.start + start, end=date.end + start)
            for date in dates.find(self.text[start:end], self.memory.occurred_at)
        ]
        named = [*marked, *(_date(date) for date in dated)]
        taken = apart(named, [*phrases(self.text, start, end)])
        found = apart(taken, [*names(self.text, start, end, taken)])
        for each in sorted(found, key=lambda each: -each.confidence):
            if each.named and each.type:
                self.types.setdefault(self._key(each), each.type)
        return _Sentence(span, [each for each in found if each.named], [date for date in dated if _date(date) in found])

    def _key(self, found: Found) -> str:
        return _key(self.text[found.start : found.end])

    def _confirm(self, beside: Sequence[Surface], sentences: Sequence[_Sentence]) -> None:
        """Names that stand for certain elsewhere in the memory are certain everywhere."""
        tentative = [each for sentence in sentences for each in sentence.found if each.tentative]
        if not tentative:
            return
        sure = {self._key(each): each.type for sentence in sentences for each in sentence.found if not each.tentative}
        sure |= {_key(surface.name): surface.type for surface in beside}
        known = {*sure} | {word for key, told in sure.items() if told in ("", "person") for word in _parts(key)}
        for sentence in sentences:
            sentence.found = [
                attrs.evolve(each, tentative=False) if each.tentative and self._key(each) in known else each
                for each in sentence.found
            ]

    # -- relations ------------------------------------------------------------------------------------------------

    def _related(self, sentence: _Sentence, patterns: Cued) -> list[Related]:
        """What relates the names of a sentence; the speaker has the number behind the last of them."""
        found = [each for each in sentence.found if each.type != "date"][: MAX_NAMES - 1]
        called = [
            Name(key=(key := self._key(each)), type=self.types.get(key, ""), tentative=each.tentative) for each in found
        ]
        speaker = self._speaker
        if len(called) + bool(speaker) < 2:  # noqa: PLR2004 - a relation has two ends
            return []
        places = [(each.start, each.end, chr(FIRST_NAME + number)) for number, each in enumerate(found)]
        places += [
            (date.start, date.end, chr(FIRST_DATE + number)) for number, date in enumerate(sentence.dates[:MAX_NAMES])
        ]
        first_person = len(called) if speaker else None
        bare = skeleton(self.text, sentence.span.start, sentence.span.end, sorted(places), first_person)
        if first_person is not None and chr(FIRST_NAME + first_person) in bare:
            called.append(Name(key=_key(speaker), type="person"))
        elif len(called) < 2:  # noqa: PLR2004
            return []
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

    # -- what it comes to -----------------------------------------------------------------------------------------

    def _said(self, beside: Sequence[Surface], sentences: Sequence[_Sentence]) -> Said:
        speaker = beside[-1] if self._speaker else None
        kept = self._kept(sentences, speaker)
        surfaces = [self._typed(surface) for surface in beside]
        statements: dict[tuple[object, ...], Statement] = {}
        for sentence, numbered in zip(sentences, kept, strict=True):
            surfaces += [surface for surface in numbered.values() if surface.span is not None]
            surfaces += [self._surface(each) for each in sentence.found if each.type == "date"]
            fact = " ".join(self.memory.text[sentence.span.start : sentence.span.end].split())
            for relation in sentence.related:
                statement = _statement(relation, numbered, fact, sentence.span)
                ends = _key(statement.source.name), _key(statement.target.name)
                period = (statement.valid_from, statement.valid_to)
                # Co-occurrence has no direction, and adds nothing to what relates the two already.
                pair = (frozenset(ends), None, None) if relation.type == CO_OCCURS else (ends, relation.type, period)
                statements.setdefault(pair, statement)
        stated = {
            frozenset((_key(each.source.name), _key(each.target.name)))
            for each in statements.values()
            if each.type != CO_OCCURS
        }
        return Said(
            memory_id=self.memory.id,
            surfaces=tuple(sorted(surfaces, key=lambda surface: surface.span.start + 1 if surface.span else 0)),
            statements=tuple(
                each for pair, each in statements.items() if each.type != CO_OCCURS or pair[0] not in stated
            ),
        )

    def _kept(self, sentences: Sequence[_Sentence], speaker: Surface | None) -> list[dict[int, Surface]]:
        """The surfaces of each sentence by number: those that are certain, or that something relates."""
        numbered = [[each for each in sentence.found if each.type != "date"] for sentence in sentences]
        confirmed: set[str] = set()
        for sentence, found in zip(sentences, numbered, strict=True):
            ends = sentence.supposed | {end for each in sentence.related for end in (each.source, each.target)}
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
        return self._typed(
            Surface(
                name=" ".join(self.text[found.start : found.end].split()),
                type=found.type,
                span=Span(start=found.start, end=found.end),
                confidence=found.confidence,
                pattern=found.pattern,
            )
        )

    def _typed(self, surface: Surface) -> Surface:
        told = surface.type or self.types.get(_key(surface.name), "")
        public = _PUBLIC_TYPES.get(told, told)
        return surface if public == surface.type else attrs.evolve(surface, type=public)


def _statement(relation: Related, surfaces: Mapping[int, Surface], fact: str, span: Span) -> Statement:
    return Statement(
        source=surfaces[relation.source],
        type=relation.type,
        target=surfaces[relation.target],
        confidence=relation.confidence,
        kind=relation.kind,
        valid_from=relation.valid_from,
        valid_to=relation.valid_to,
        fact=fact,
        span=span,
        pattern=relation.pattern,
    )


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


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _parts(key: str) -> Sequence[str]:
    """The words by which a person of a full name may be called."""
    words = key.split()
    return (words[0], words[-1]) if len(words) <= _FULL_NAME else ()
