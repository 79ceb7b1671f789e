"""What a memory says of an earlier one of its conversation: that something was wrong there.

Nothing that was said is unsaid: the later memory claims that it has held for no time at all, from its start to its
start. So whoever may not see the correction still sees what was said before it, and a correction that is forgotten is
undone.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.corrections import Amends, claims, replaced
from graphsearch.ingest.extract.rules.speakers import name_key
from graphsearch.model import KNOWN_RELATION_TYPES, EdgeKind, Memory
from graphsearch.model.extracted import Said, Statement, fact_in

REACH_TURNS: Final = 4
"""Memories back to the one that a speaker corrects by "I meant Galway": a few turns of others may stand between."""
MOST: Final = 20
"""Statements of one subject and type that a correction is compared with, the latest: so the time stays linear."""
CORRECTED: Final = "corrected"
"""The pattern of what takes an earlier statement back."""


@attrs.frozen
class _Earlier:
    """A statement, and the memory that makes it with its number."""

    number: int
    memory: Memory
    statement: Statement


@attrs.define
class _Stated:
    """What is stated so far: the last of each speaker of a session, and all by subject and type."""

    whole: Mapping[str, str]
    lasts: dict[tuple[str, str], _Earlier] = attrs.field(factory=dict)
    by_subject: defaultdict[tuple[str, str], deque[_Earlier]] = attrs.field(
        factory=lambda: defaultdict(lambda: deque(maxlen=MOST))
    )

    def key(self, name: str) -> str:
        """What is the same for all that somebody is called."""
        key = name_key(name)
        return self.whole.get(key, key)

    def add(self, number: int, memory: Memory, said: Said) -> None:
        """Take in what a memory states."""
        for statement in claims(said.statements):
            if statement.pattern != CORRECTED:
                earlier = _Earlier(number, memory, statement)
                self.by_subject[self.key(statement.source.name), statement.type].append(earlier)
                self.lasts[memory.session_id, memory.speaker] = earlier

    def last(self, number: int, memory: Memory) -> _Earlier | None:
        """What a speaker stated last, unless that is long ago."""
        last = self.lasts.get((memory.session_id, memory.speaker))
        return last if last and number - last.number <= REACH_TURNS else None

    def of(self, statement: Statement) -> Iterable[_Earlier]:
        """What is stated of the same subject in the same way."""
        return self.by_subject.get((self.key(statement.source.name), statement.type), ())

    def same_target(self, earlier: _Earlier, statement: Statement) -> bool:
        """Whether it says the same."""
        return self.key(earlier.statement.target.name) == self.key(statement.target.name)


def with_corrections(
    memories: Sequence[Memory], read: Sequence[tuple[Said, Amends | None]], whole: Mapping[str, str]
) -> list[Said]:
    """What memories say, with what later ones correct; ``whole`` gives the whole name of what somebody is called.

    "I meant Galway" corrects the last that its speaker stated, a correction in whole sentences what its speaker stated
    of the same subject where there is one answer at a time, and "has never" what anybody stated.
    """
    if not any(amends for _, amends in read):
        return [said for said, _ in read]
    stated = _Stated(whole)
    found = []
    for number, (memory, (said, amends)) in enumerate(zip(memories, read, strict=True)):
        corrected = said
        if amends and memory.speaker:
            corrected = _with(said, list(_corrections(memory, amends, stated, number)))
        stated.add(number, memory, corrected)
        found.append(corrected)
    return found


def _corrections(memory: Memory, amends: Amends, stated: _Stated, number: int) -> Iterator[Statement]:
    last = stated.last(number, memory)
    if last and not amends.again:
        right = replaced(_beside(last.statement), amends)
        if right or amends.correction.back:
            yield from _retracted(memory, last, amends)
        if right:
            yield attrs.evolve(right, fact=fact_in(memory, amends.span), span=amends.span)
    for each in amends.again:
        known = KNOWN_RELATION_TYPES.get(each.type)
        for earlier in stated.of(each) if known and known.functional else ():
            if earlier.memory.speaker == memory.speaker and not stated.same_target(earlier, each):
                yield from _retracted(memory, earlier, amends)
    for each in amends.denied:
        for earlier in stated.of(each):
            if stated.same_target(earlier, each):
                yield from _retracted(memory, earlier, amends)


def _retracted(memory: Memory, earlier: _Earlier, amends: Amends) -> Iterator[Statement]:
    """That a statement has held for no time; what began at no known time cannot be taken back."""
    wrong = earlier.statement
    start = wrong.valid_from or (None if wrong.valid_to else earlier.memory.occurred_at)
    if start is not None:
        yield attrs.evolve(
            _beside(wrong),
            valid_from=start,
            valid_to=start,
            kind=EdgeKind.LIFECYCLE,
            fact=fact_in(memory, amends.span),
            span=amends.span,
            pattern=CORRECTED,
        )


def _beside(stated: Statement) -> Statement:
    """A statement of another memory: its names stand beside this one's text."""
    return attrs.evolve(
        stated, source=attrs.evolve(stated.source, span=None), target=attrs.evolve(stated.target, span=None)
    )


def _with(said: Said, added: Sequence[Statement]) -> Said:
    ends = [end for each in added for end in (each.source, each.target)]
    return attrs.evolve(
        said,
        surfaces=tuple(dict.fromkeys((*said.surfaces, *ends))),
        statements=tuple(dict.fromkeys((*said.statements, *added))),
    )
