"""Echoes: what a session was shown and then writes back is no new evidence.

The log of injections names what was shown. A text repeats it word for word, sentence by sentence, apart from words that
only report (`REPORTING`); or a claim has the ends and the type of a shown one, and no day that was not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.ingest.write.texts import ResolvedTexts
from graphsearch.model import Claim, ElementKind, Injection, Memory, MemoryLink, Relation
from graphsearch.protocols import GraphStore
from graphsearch.text.rendering import HEADINGS, day_of, entity_name, memory_line, period_of, safe_text
from graphsearch.text.sentences import sentences
from graphsearch.text.word_lists import word_set

QUOTES: Final = "quotes"
"""The type of the link from a memory to one that it repeats."""
REPORTING: Final = word_set(
    "i me my you your he him his she her we us our they them their it this that these those the a an as and said say "
    "says told tell tells mentioned mention mentions noted note notes wrote write writes stated remembered remember "
    "remembers recalled recall recalls quoted quote quotes user assistant agent human ai"
)
"""Words that attribute a statement and state nothing by themselves. None denies, doubts, dates or asks."""

_WORD: Final = re.compile(r"[^\W_]+|[?？]")  # a question repeats no statement
_MARKER: Final = re.compile(r"^[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)
_KEY: Final = 3
"""Words by which units are looked up: enough that few share them, so that the time is linear in a text."""

Words = tuple[str, ...]
Seen = tuple[datetime, frozenset[str]]
"""When something was shown first, and the memories that hold it."""
Days = tuple[str | None, str | None]


@attrs.frozen
class Echo:
    """A memory that repeats what its session was shown, and the ids of the memories that it repeats, in order.

    It is ``stored`` only if there is more in it: then it is linked to its sources, and ``claims`` is the number of
    claims that were left out.
    """

    memory_id: str
    sources: tuple[str, ...]
    stored: bool = True
    claims: int = 0


@attrs.define(eq=False)
class Shown:
    """What sessions were shown: units of words by their first words, and the days of statements by their ends."""

    _units: dict[Words, dict[Words, list[Seen]]] = attrs.field(factory=dict)
    _stated: dict[object, list[tuple[Seen, Days]]] = attrs.field(factory=dict)

    def add_text(self, text: str, seen: Seen, before: str = "") -> None:
        """Add the sentences of a text, each also with the words that a line has ``before`` it."""
        for written in dict.fromkeys((text, safe_text(text))):
            for span in sentences(written):
                sentence = written[span.start : span.end]
                for unit in dict.fromkeys((_words(sentence), _words(f"{before} {sentence}"))):
                    if unit:
                        self._units.setdefault(unit[:_KEY], {}).setdefault(unit, []).append(seen)

    def add_statement(self, edge: Claim | Relation, seen: Seen) -> None:
        """Add what a claim or a relation states; any of them states that its ends occur together."""
        for key in ((edge.source_id, edge.type, edge.target_id), frozenset((edge.source_id, edge.target_id))):
            self._stated.setdefault(key, []).append((seen, _days(edge)))

    def repeated(self, memory: Memory, until: datetime | None) -> tuple[list[tuple[int, int]], frozenset[str]]:
        """The ranges of a memory's text that repeat something shown ``until`` a time, and the memories that hold it."""
        found = _found(memory.text)
        words = tuple(word for word, _, _ in found)
        ranges: list[tuple[int, int]] = []
        sources = frozenset[str]()
        for at in range(len(words)):
            for length in range(1, _KEY + 1):
                for unit, seen in self._units.get(words[at : at + length], {}).items():
                    held = _held(seen, until, memory.id) if words[at : at + len(unit)] == unit else None
                    if held is not None:
                        ranges.append((found[at][1], found[at + len(unit) - 1][2]))
                        sources |= held
        return ranges, sources

    def holds(self, claim: Claim, until: datetime | None) -> frozenset[str] | None:
        """The memories that hold the statement of a claim, if it was shown ``until`` a time; else None."""
        together = claim.type in CO_OCCURRENCE_TYPES
        key = (
            frozenset((claim.source_id, claim.target_id))
            if together
            else (claim.source_id, claim.type, claim.target_id)
        )
        own = _days(claim)
        same = (
            seen
            for seen, days in self._stated.get(key, ())
            if all(a in (None, b) for a, b in zip(own, days, strict=True))
        )
        return _held(same, until, claim.memory_id)


def _held(seen: Iterable[Seen], until: datetime | None, own: str) -> frozenset[str] | None:
    """The memories other than ``own`` that hold what was shown in time; None if nothing was, but by itself."""
    there = [sources for at, sources in seen if (until is None or at <= until) and sources != {own}]
    return frozenset[str]().union(*there) - {own} if there else None


def _days(edge: Claim | Relation) -> Days:
    start, end = (day_of(moment) if moment else None for moment in (edge.valid_from, edge.valid_to))
    return start, end


def _found(text: str) -> list[tuple[str, int, int]]:
    """The words of a text with their ranges; the number of a list item is none."""
    plain = _MARKER.sub(lambda match: " " * len(match[0]), text)
    return [(match[0].casefold(), match.start(), match.end()) for match in _WORD.finditer(plain)]


def _words(text: str) -> Words:
    return tuple(word for word, _, _ in _found(text))


def _covers(ranges: Sequence[tuple[int, int]], text: str, start: int, end: int) -> bool:
    """Whether a part of a text has words, and only those that are repeated or that report, with one repeated."""
    words = [(word, start + first) for word, first, _ in _found(text[start:end])]
    new = [word for word, at in words if not any(first <= at < last for first, last in ranges)]
    return len(new) < len(words) and REPORTING.issuperset(new)


async def _shown(injections: Sequence[Injection], store: GraphStore) -> Shown:
    """What some injections showed, of what still exists."""
    at: dict[ElementKind, dict[str, datetime]] = {kind: {} for kind in ElementKind}
    for injection in sorted(injections, key=lambda each: each.created_at):
        for kind, key in injection.elements:
            at[kind].setdefault(key, injection.created_at)
    shown, times = Shown(), at[ElementKind.MEMORY]
    memories = await store.get_memories(list(times))
    for memory in memories:
        line = memory_line(attrs.evolve(memory, text="."))
        shown.add_text(memory.text, (times[memory.id], frozenset({memory.id})), line)
    for claim in await store.list_claims(memory_ids=[memory.id for memory in memories]):
        shown.add_statement(claim, (times[claim.memory_id], frozenset({claim.memory_id})))
    relations = await store.get_relations([UUID(key) for key in at[ElementKind.RELATION]])
    ends = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    names = {entity.id: entity_name(entity) for entity in await store.get_entities(ends)}
    for each in relations:
        # proved by those of its memories that were shown with it: others may be hidden
        seen = at[ElementKind.RELATION][str(each.id)], frozenset(times.keys() & set(each.evidence))
        shown.add_statement(each, seen)
        line = f"{names.get(each.source_id, '')} {each.type} {names.get(each.target_id, '')}"
        for written in dict.fromkeys((line, f"{line} {period_of(each)}", each.fact)):
            shown.add_text(written, seen)
    for heading in HEADINGS:
        shown.add_text(heading, (min(each.created_at for each in injections), frozenset()))
    return shown


class Echoes:
    """Finds what memories repeat of what their sessions were shown, for one ingest on behalf of a gate's principal.

    Sessions of another principal are ignored, as what they were shown may be hidden from this one. ``session_id`` is a
    session of all memories, besides the one that each has.
    """

    def __init__(self, store: GraphStore, gate: Gate, session_id: str = "") -> None:
        self._store = store
        self._gate = gate
        self._session = session_id
        self._shown: dict[tuple[str, ...], Shown | None] = {}
        self._until: dict[str, datetime | None] = {}
        self.found: dict[str, Echo] = {}
        """The echoes so far, by memory."""

    async def keep(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories without new ones that only repeat what was shown."""
        shown = {memory.id: found for memory in memories if (found := await self._of(memory)) is not None}
        stored = {each.id: each for each in await or_nothing(self._store.get_memories(list(shown)))}
        left = set[str]()
        for memory in (each for each in memories if each.id in shown):
            before = stored.get(memory.id)
            # what was shown after a text was stored is not what it repeats
            self._until[memory.id] = before.created_at if before and before.text == memory.text else None
            ranges, sources = shown[memory.id].repeated(memory, self._until[memory.id])
            if before is None and _covers(ranges, memory.text, 0, len(memory.text)):
                left.add(memory.id)
                self.found[memory.id] = Echo(memory.id, tuple(sorted(sources)), stored=False)
        return [memory for memory in memories if memory.id not in left]

    async def without(self, memories: Sequence[Memory], reading: ResolvedTexts) -> ResolvedTexts:
        """What was read from memories, without the claims that repeat what was shown."""
        gone = set[int]()
        for memory in memories:
            if (shown := await self._of(memory)) is None:
                continue
            until = self._until[memory.id]
            ranges, sources = shown.repeated(memory, until)
            repeated = 0
            for claim in (each for each in reading.claims if each.memory_id == memory.id):
                by, span = shown.holds(claim, until), claim.span
                if by is not None or (span and _covers(ranges, memory.text, span.start, span.end)):
                    gone.add(id(claim))
                    repeated, sources = repeated + 1, sources | (by or frozenset())
            if repeated or ranges:
                self.found[memory.id] = Echo(memory.id, tuple(sorted(sources)), claims=repeated)
        return attrs.evolve(reading, claims=tuple(each for each in reading.claims if id(each) not in gone))

    async def link(self, memories: Iterable[Memory]) -> None:
        """Link stored memories to those that they repeat."""
        found = [self.found[memory.id] for memory in memories if memory.id in self.found]
        sources = sorted({source for each in found for source in each.sources})
        there = {memory.id for memory in await self._store.get_memories(sources)} if sources else set[str]()
        pairs = [(each.memory_id, source) for each in found for source in each.sources if source in there]
        if pairs:
            await self._store.link_memories([MemoryLink(from_id=one, to_id=two, type=QUOTES) for one, two in pairs])

    async def _of(self, memory: Memory) -> Shown | None:
        """What the sessions of a memory were shown; None for nothing."""
        sessions = tuple(sorted({memory.session_id, self._session} - {""}))
        if sessions not in self._shown:
            who = None if self._gate is ALLOW_ALL else self._gate.principal.qualified_id
            logs: list[Injection] = []
            for session in sessions:
                logs += await or_nothing(self._store.injections(session))
            own = [each for each in logs if who is None or each.principal == who]
            self._shown[sessions] = await _shown(own, self._store) if own else None
        return self._shown[sessions]
