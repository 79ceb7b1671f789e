"""Corrections of earlier memories of a conversation by later ones.

The earlier memory stays unchanged: the later one claims that the wrong relation held for an empty period, from its
start to its start. A reader who may not see the correction thus still sees the original, and forgetting the correction
undoes it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.corrections import Amendment, claims, replaced
from graphsearch.ingest.extract.rules.speakers import name_key
from graphsearch.model import KNOWN_RELATION_TYPES, EdgeKind, Memory
from graphsearch.model.extracted import ExtractedMemory, Statement, fact_in

REACH_TURNS: Final = 4
"""How many memories back "I meant Galway" may refer to: a few turns of other speakers may be in between."""
MOST: Final = 20
"""Maximum latest statements of one subject and type that a correction is compared with, for linear time."""
CORRECTED: Final = "corrected"
"""The pattern name of a statement that retracts an earlier one."""


@attrs.frozen
class _Earlier:
    """A statement, with its memory and the memory's number."""

    number: int
    memory: Memory
    statement: Statement


@attrs.define
class _Stated:
    """The statements so far: the last one of each speaker of a session, and all by subject and type."""

    whole: Mapping[str, str]
    lasts: dict[tuple[str, str], _Earlier] = attrs.field(factory=dict)
    by_subject: defaultdict[tuple[str, str], deque[_Earlier]] = attrs.field(
        factory=lambda: defaultdict(lambda: deque(maxlen=MOST))
    )

    def key(self, name: str) -> str:
        """A key that is equal for all names of one person."""
        key = name_key(name)
        return self.whole.get(key, key)

    def add(self, number: int, memory: Memory, extracted: ExtractedMemory) -> None:
        """Add the statements of a memory."""
        for statement in claims(extracted.statements):
            if statement.pattern != CORRECTED:
                earlier = _Earlier(number, memory, statement)
                self.by_subject[self.key(statement.source.name), statement.type].append(earlier)
                self.lasts[memory.session_id, memory.speaker] = earlier

    def last(self, number: int, memory: Memory) -> _Earlier | None:
        """The last statement of a speaker, if within `REACH_TURNS`."""
        last = self.lasts.get((memory.session_id, memory.speaker))
        return last if last and number - last.number <= REACH_TURNS else None

    def of(self, statement: Statement) -> Iterable[_Earlier]:
        """Earlier statements of the same subject and type."""
        return self.by_subject.get((self.key(statement.source.name), statement.type), ())

    def same_target(self, earlier: _Earlier, statement: Statement) -> bool:
        """Whether both statements have the same target."""
        return self.key(earlier.statement.target.name) == self.key(statement.target.name)


def with_corrections(
    memories: Sequence[Memory], read: Sequence[tuple[ExtractedMemory, Amendment | None]], whole: Mapping[str, str]
) -> list[ExtractedMemory]:
    """Add the corrections of earlier memories; ``whole`` maps the names of persons to full names.

    "I meant Galway" corrects the last statement of its speaker; a correction in a full sentence corrects the speaker's
    statements of the same subject and functional type; "has never" retracts the statements of any speaker.
    """
    if not any(amendment for _, amendment in read):
        return [extracted for extracted, _ in read]
    stated = _Stated(whole)
    found = []
    for number, (memory, (extracted, amendment)) in enumerate(zip(memories, read, strict=True)):
        corrected = extracted
        if amendment and memory.speaker:
            corrected = _with(extracted, list(_corrections(memory, amendment, stated, number)))
        stated.add(number, memory, corrected)
        found.append(corrected)
    return found


def _corrections(memory: Memory, amendment: Amendment, stated: _Stated, number: int) -> Iterator[Statement]:
    last = stated.last(number, memory)
    if last and not amendment.again:
        right = replaced(_without_spans(last.statement), amendment)
        if right or amendment.correction.back:
            yield from _retracted(memory, last, amendment)
        if right:
            yield attrs.evolve(right, fact=fact_in(memory, amendment.span), span=amendment.span)
    for each in amendment.again:
        known = KNOWN_RELATION_TYPES.get(each.type)
        for earlier in stated.of(each) if known and known.functional else ():
            if earlier.memory.speaker == memory.speaker and not stated.same_target(earlier, each):
                yield from _retracted(memory, earlier, amendment)
    for each in amendment.denied:
        for earlier in stated.of(each):
            if stated.same_target(earlier, each):
                yield from _retracted(memory, earlier, amendment)


def _retracted(memory: Memory, earlier: _Earlier, amendment: Amendment) -> Iterator[Statement]:
    """A statement with an empty period; one without a known start cannot be retracted."""
    wrong = earlier.statement
    start = wrong.valid_from or (None if wrong.valid_to else earlier.memory.occurred_at)
    if start is not None:
        yield attrs.evolve(
            _without_spans(wrong),
            valid_from=start,
            valid_to=start,
            kind=EdgeKind.LIFECYCLE,
            fact=fact_in(memory, amendment.span),
            span=amendment.span,
            pattern=CORRECTED,
        )


def _without_spans(stated: Statement) -> Statement:
    """A statement of another memory, whose names have no spans in this one."""
    return attrs.evolve(
        stated, source=attrs.evolve(stated.source, span=None), target=attrs.evolve(stated.target, span=None)
    )


def _with(extracted: ExtractedMemory, added: Sequence[Statement]) -> ExtractedMemory:
    ends = [end for each in added for end in (each.source, each.target)]
    return attrs.evolve(
        extracted,
        surfaces=tuple(dict.fromkeys((*extracted.surfaces, *ends))),
        statements=tuple(dict.fromkeys((*extracted.statements, *added))),
    )
