"""Sentences as they are read, with the names of their text, and the assembly of the result of one memory from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.amending import Amendment, Correction, amended, claims
from graphsearch.ingest.extract.rules.conversation import Conversation, name_key
from graphsearch.ingest.extract.rules.masked_sentence import MAX_NAMES
from graphsearch.ingest.extract.rules.references import REACH
from graphsearch.ingest.extract.rules.relating import CO_OCCURS, FoundRelation
from graphsearch.ingest.extract.rules.vocabulary import KNOWN_CONFIDENCE, VOCABULARY
from graphsearch.model import Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement, fact_in
from graphsearch.text.dates import DateSpan
from graphsearch.text.name_spans import NameSpan

_PUBLIC_TYPES: Final = {"team": "organisation"}


@attrs.define
class ReadSentence:
    """A sentence, with its names in order and without overlaps, its dates, and the relations between its names."""

    span: Span
    found: list[NameSpan]
    dates: list[DateSpan]
    related: list[FoundRelation] = attrs.field(factory=list)
    supposed: set[int] = attrs.field(factory=set)
    """Numbers of names that would be related if the sentence asserted what it denies or doubts."""
    correction: Correction | None = None
    """Its correction of the sentence before."""
    denied: list[FoundRelation] = attrs.field(factory=list)
    """Relations that it declares to have never held."""

    @property
    def names(self) -> list[NameSpan]:
        """Its names and resolved pronouns, without dates."""
        return [each for each in self.found if each.type != "date"]


@attrs.define
class TextNames:
    """The names of one text: their keys, their types found so far (by key), and their surfaces."""

    text: str
    conversation: Conversation
    types: dict[str, str] = attrs.field(factory=dict)
    synonyms: dict[str, str] = attrs.field(factory=dict)
    """Known names by other spellings of them in the text."""

    def written(self, span: NameSpan) -> str:
        """The name as written, or that of the antecedent of a pronoun."""
        named = span.antecedent or span
        return named.outside_name or self.text[named.start : named.end]

    def key(self, span: NameSpan) -> str:
        """The key of a name, equal for all its spellings."""
        return name_key(self.written(span))

    def type_of(self, key: str) -> str:
        """The type of a name; empty if unknown."""
        if known := self.types.get(key):
            return known
        return (
            "person" if key in self.conversation.people else "project" if key in self.conversation.undertakings else ""
        )

    def surface(self, span: NameSpan) -> ExtractedName:
        """The surface of a name, or of the antecedent of a pronoun."""
        if span.antecedent:
            return self.surface(span.antecedent)
        if span.outside_name:
            return self.typed(_outside(span))
        name = " ".join(self.text[span.start : span.end].split())
        return ExtractedName(
            name=name,
            type=self._public_type(name, span.type),
            span=Span(start=span.start, end=span.end),
            confidence=span.confidence,
            pattern=span.pattern,
        )

    def typed(self, surface: ExtractedName) -> ExtractedName:
        """A surface with the public type of its name."""
        public = self._public_type(surface.name, surface.type)
        return surface if public == surface.type else attrs.evolve(surface, type=public)

    def _public_type(self, name: str, type: str) -> str:
        """The entity type of a name: its own, else that found in the text."""
        known = type or self.type_of(name_key(name))
        return _PUBLIC_TYPES.get(known, known)


def _outside(span: NameSpan) -> ExtractedName:
    return ExtractedName(
        name=span.outside_name, type=span.type, span=None, confidence=span.confidence, pattern=span.pattern
    )


def assembled(
    memory: Memory,
    names: TextNames,
    context: Sequence[ExtractedName],
    speaker: ExtractedName | None,
    sentences: Sequence[ReadSentence],
) -> tuple[ExtractedMemory, Amendment | None]:
    """The content of a memory, and its correction of earlier memories; ``context`` are its speaker and subject."""
    surfaces = [names.typed(surface) for surface in context]
    stated: list[list[Statement]] = []
    pending: Amendment | None = None
    certain = _certain_surfaces(sentences, names, speaker)
    for sentence, numbered in zip(sentences, certain, strict=True):
        surfaces += [
            numbered[at]
            for at, each in enumerate(sentence.names)
            if at in numbered and (not each.antecedent or each.antecedent.outside_name)
        ]
        surfaces += [names.surface(each) for each in sentence.found if each.type == "date"]
        own = [_statement(relation, numbered, memory, sentence.span) for relation in sentence.related]
        denied = tuple(_statement(relation, numbered, memory, sentence.span) for relation in sentence.denied)
        amendment = _amendment(sentence, names, numbered, own)
        before = next((each for each in reversed(stated[-REACH:]) if claims(each)), None)
        if amendment and before:
            before[:] = _extended(amended(before, amendment, name_key), before, memory, names, sentence.span.end)
        elif amendment or denied:
            pending = attrs.evolve(amendment or pending or Amendment(span=sentence.span), denied=denied)
        stated.append(own)
    surfaces += _full_names(names)
    surfaces += _acronyms(memory, names, surfaces)
    result = ExtractedMemory(
        memory_id=memory.id,
        surfaces=tuple(sorted(surfaces, key=lambda surface: surface.span.start + 1 if surface.span else 0)),
        statements=_distinct(each for several in stated for each in several),
        same=(
            *((each.short, each.full) for each in names.conversation.declared.get(memory.id, ())),
            *names.synonyms.items(),
        ),
    )
    return _retyped(result, names) if any(sentence.correction for sentence in sentences) else result, pending


def _place(surface: ExtractedName) -> int:
    return surface.span.start + 1 if surface.span else 0


def _full_names(names: TextNames) -> list[ExtractedName]:
    """The known names of which the text has other spellings, outside of the text."""
    return [
        ExtractedName(
            name=full, type=names.type_of(name_key(short)), span=None, confidence=KNOWN_CONFIDENCE, pattern=VOCABULARY
        )
        for short, full in names.synonyms.items()
    ]


def _acronyms(memory: Memory, names: TextNames, surfaces: Sequence[ExtractedName]) -> Iterator[ExtractedName]:
    """The declared acronyms that are no names by themselves, such as "WHO", where they first stand."""
    for each in names.conversation.declared.get(memory.id, ()):
        if each.short.isupper() and all(surface.name != each.short for surface in surfaces):
            found = re.search(rf"\b{re.escape(each.short)}\b", names.text)
            full = next((surface for surface in surfaces if surface.name.endswith(each.full)), None)
            if found and full:
                yield attrs.evolve(full, name=each.short, span=Span(start=found.start(), end=found.end()))


def _certain_surfaces(
    sentences: Sequence[ReadSentence], names: TextNames, speaker: ExtractedName | None
) -> list[dict[int, ExtractedName]]:
    """The surfaces of each sentence by number: those of certain names, and of names that something relates."""
    numbered = [sentence.names for sentence in sentences]
    confirmed: set[str] = set()
    for sentence, found in zip(sentences, numbered, strict=True):
        ends = sentence.supposed | {
            end for each in (*sentence.related, *sentence.denied) for end in (each.source, each.target)
        }
        confirmed |= {names.key(found[end]) for end in ends if end < len(found)}
    kept = []
    for found in numbered:
        surfaces = {
            number: names.surface(each)
            for number, each in enumerate(found)
            if not each.tentative or names.key(each) in confirmed
        }
        if speaker:
            surfaces[min(len(found), MAX_NAMES - 1)] = names.typed(speaker)
        kept.append(surfaces)
    return kept


def _statement(relation: FoundRelation, surfaces: Mapping[int, ExtractedName], memory: Memory, span: Span) -> Statement:
    return Statement(
        source=surfaces[relation.source],
        type=relation.type,
        target=surfaces[relation.target],
        confidence=relation.confidence,
        kind=relation.kind,
        valid_from=relation.valid_from,
        valid_to=relation.valid_to,
        fact=fact_in(memory, span),
        span=span,
        pattern=relation.pattern,
    )


def _amendment(
    sentence: ReadSentence, names: TextNames, numbered: Mapping[int, ExtractedName], own: Sequence[Statement]
) -> Amendment | None:
    """The correction made by a sentence with its names and statements; None if there is none."""
    what = sentence.correction
    if what is None or (what.again and not claims(own)):
        return None
    return Amendment(
        correction=what,
        meant=None if what.meant is None else numbered.get(what.meant),
        wrong="" if what.wrong is None else names.written(sentence.names[what.wrong]),
        again=tuple(claims(own)),
        span=sentence.span,
    )


def _extended(
    stated: Sequence[Statement], before: Sequence[Statement], memory: Memory, names: TextNames, end: int
) -> list[Statement]:
    """Extend the spans of new statements to ``end``: a corrected statement is proven by both sentences."""
    known = {id(each) for each in before}
    found = []
    for each in stated:
        if id(each) in known:
            found.append(each)
            continue
        for name in (each.source, each.target):
            names.types.setdefault(name_key(name.name), name.type)
        span = Span(start=each.span.start, end=end)
        found.append(attrs.evolve(each, span=span, fact=fact_in(memory, span)))
    return found


def _distinct(stated: Iterable[Statement]) -> tuple[Statement, ...]:
    """The first of equal statements; co-occurrences have no direction and count only for otherwise unrelated names."""
    statements: dict[tuple[object, ...], Statement] = {}
    for each in stated:
        ends = name_key(each.source.name), name_key(each.target.name)
        period = (each.valid_from, each.valid_to)
        pair = (frozenset(ends), None, None) if each.type == CO_OCCURS else (ends, each.type, period)
        statements.setdefault(pair, each)
    related = {
        frozenset((name_key(each.source.name), name_key(each.target.name)))
        for each in statements.values()
        if each.type != CO_OCCURS
    }
    return tuple(each for pair, each in statements.items() if each.type != CO_OCCURS or pair[0] not in related)


def _retyped(result: ExtractedMemory, names: TextNames) -> ExtractedMemory:
    """Update the types of names that a correction introduced."""
    return attrs.evolve(
        result,
        surfaces=tuple(map(names.typed, result.surfaces)),
        statements=tuple(
            attrs.evolve(each, source=names.typed(each.source), target=names.typed(each.target))
            for each in result.statements
        ),
    )
