"""Echoes: what a session was shown and then writes back is no new evidence.

The log of injections names what was shown. A text repeats it in two ways, and neither is a matter of degree:

* Word for word: all words of a sentence are those of a shown sentence or line, apart from words that only report
  (`REPORTING`). Punctuation, markers, white space and case are not words. Nothing that such a sentence states counts.
* By what it states: a claim has the source, type and target of a shown one, and no date that was not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.ingest.write.texts import ResolvedTexts
from graphsearch.model import Claim, ElementKind, Entity, Injection, Memory, MemoryLink, Mention, Relation
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
_DAY: Final = r"\d{4}-\d\d-\d\d"
_LAID_OUT: Final = re.compile(
    rf"^[ \t]*(?:\d{{1,3}}[.)](?=\s)|- (?:{_DAY} )?(?P<until>\(until {_DAY}(?:; now [^()\n]*+)?\)))", re.MULTILINE
)
"""The number of a list item, and the end that a line of a block gives to a memory."""
_KEY: Final = 3
"""Words by which units are looked up: enough that few share them, so that the time is linear in a text."""

Words = tuple[str, ...]
Statement = tuple[UUID, str, UUID]


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


@attrs.frozen
class _Seen:
    """The memories that hold something shown, and when it was shown first."""

    at: datetime
    sources: frozenset[str]


@attrs.frozen
class _Dated:
    """The days that a shown statement has; None for an open end."""

    seen: _Seen
    start: str | None
    end: str | None

    def covers(self, claim: Claim) -> bool:
        """Whether a claim of the same statement has no day of its own."""
        return (claim.valid_from is None or day_of(claim.valid_from) == self.start) and (
            claim.valid_to is None or day_of(claim.valid_to) == self.end
        )


@attrs.define(eq=False)
class Shown:
    """What sessions were shown: its units of words by their first words, and its statements."""

    _units: dict[Words, dict[Words, list[_Seen]]] = attrs.field(factory=dict)
    _statements: dict[Statement, list[_Dated]] = attrs.field(factory=dict)
    _together: dict[frozenset[UUID], list[_Dated]] = attrs.field(factory=dict)

    def add_text(self, text: str, seen: _Seen, *, before: str = "") -> None:
        """Add the sentences of a text, each also with the words that a line has ``before`` it."""
        for written in dict.fromkeys((text, safe_text(text))):
            for span in sentences(written):
                sentence = written[span.start : span.end]
                for unit in dict.fromkeys((_words(sentence), _words(f"{before} {sentence}"))):
                    if unit:
                        self._units.setdefault(unit[:_KEY], {}).setdefault(unit, []).append(seen)

    def add_statement(self, edge: Claim | Relation, seen: _Seen) -> None:
        """Add what a claim or a relation states."""
        start, end = (moment and day_of(moment) for moment in (edge.valid_from, edge.valid_to))
        dated = _Dated(seen, start or None, end or None)
        self._statements.setdefault((edge.source_id, edge.type, edge.target_id), []).append(dated)
        self._together.setdefault(frozenset((edge.source_id, edge.target_id)), []).append(dated)

    def repeated(self, text: str, until: datetime | None, own: str) -> tuple[list[tuple[int, int]], set[str]]:
        """The ranges of a text that repeat something shown ``until`` a time, and the memories that hold it.

        The memory ``own`` repeats nothing of itself.
        """
        found = _found(text)
        words = tuple(word for word, _, _ in found)
        ranges: list[tuple[int, int]] = []
        sources = set[str]()
        for at in range(len(words)):
            for length in range(1, _KEY + 1):
                for unit, seen in self._units.get(words[at : at + length], {}).items():
                    if words[at : at + len(unit)] == unit and (held := _held(seen, until, own)) is not None:
                        ranges.append((found[at][1], found[at + len(unit) - 1][2]))
                        sources |= held
        return ranges, sources

    def stating(self, claim: Claim, until: datetime | None) -> set[str] | None:
        """The memories that hold the statement of a claim, if it was shown ``until`` a time; else None.

        That two names occur together is stated by every relation between them.
        """
        if claim.type in CO_OCCURRENCE_TYPES:
            known = self._together.get(frozenset((claim.source_id, claim.target_id)), [])
        else:
            known = self._statements.get((claim.source_id, claim.type, claim.target_id), [])
        return _held((each.seen for each in known if each.covers(claim)), until, claim.memory_id)


def _held(seen: Iterable[_Seen], until: datetime | None, own: str) -> set[str] | None:
    """The memories other than ``own`` that hold what was shown in time; None if nothing was, but by itself."""
    there = [each.sources for each in seen if (until is None or each.at <= until) and each.sources != {own}]
    return set().union(*there) - {own} if there else None


def _found(text: str) -> list[tuple[str, int, int]]:
    """The words of a text with their ranges, but for those of its layout."""
    layout = {at for match in _LAID_OUT.finditer(text) for at in range(*match.span("until" if match["until"] else 0))}
    return [
        (match[0].casefold(), match.start(), match.end())
        for match in _WORD.finditer(text)
        if match.start() not in layout
    ]


def _words(text: str) -> Words:
    return tuple(word for word, _, _ in _found(text))


async def _shown(injections: Sequence[Injection], store: GraphStore) -> Shown:
    """What some injections showed, of what still exists."""
    at: dict[ElementKind, dict[str, datetime]] = {kind: {} for kind in ElementKind}
    for injection in sorted(injections, key=lambda each: each.created_at):
        for kind, key in injection.elements:
            at[kind].setdefault(key, injection.created_at)
    shown = Shown()
    memories = await store.get_memories(list(at[ElementKind.MEMORY]))
    for memory in memories:
        line = memory_line(attrs.evolve(memory, text="."))
        seen = _Seen(at[ElementKind.MEMORY][memory.id], frozenset({memory.id}))
        shown.add_text(memory.text, seen, before=line)
    for claim in await store.list_claims(memory_ids=[memory.id for memory in memories]):
        shown.add_statement(claim, _Seen(at[ElementKind.MEMORY][claim.memory_id], frozenset({claim.memory_id})))
    await _add_relations(shown, at[ElementKind.RELATION], frozenset(at[ElementKind.MEMORY]), store)
    for heading in HEADINGS:
        shown.add_text(heading, _Seen(min(each.created_at for each in injections), frozenset()))
    return shown


async def _add_relations(shown: Shown, at: Mapping[str, datetime], memories: frozenset[str], store: GraphStore) -> None:
    """Add relations, as proved by those of the ``memories`` that were shown with them: others may be hidden."""
    relations = await store.get_relations([UUID(key) for key in at])
    ends = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    names = {entity.id: entity_name(entity) for entity in await store.get_entities(ends)}
    for each in relations:
        seen = _Seen(at[str(each.id)], memories.intersection(each.evidence))
        shown.add_statement(each, seen)
        source, target = (names.get(end, "") for end in (each.source_id, each.target_id))
        line = f"{source} {each.type} {target}"
        for written in dict.fromkeys((line, f"{line} {period_of(each)}")):
            shown.add_text(written, seen)
        shown.add_text(each.fact, seen)


@attrs.frozen(eq=False)
class _Copied:
    """What a memory repeats word for word."""

    text: str
    ranges: Sequence[tuple[int, int]]
    sources: frozenset[str]

    def covers(self, start: int, end: int) -> bool:
        """Whether a range has words, and only those that are repeated or that report, with one that is repeated."""
        words = [(word, start + first) for word, first, _ in _found(self.text[start:end])]
        new = [(word, at) for word, at in words if not any(first <= at < last for first, last in self.ranges)]
        return len(new) < len(words) and all(word in REPORTING for word, _ in new)

    @property
    def whole(self) -> bool:
        """Whether the text says nothing else."""
        return self.covers(0, len(self.text))

    def holds(self, mention: Mention) -> bool:
        """Whether a mention is in a repeated range."""
        span = mention.span
        return span is not None and any(first <= span.start and span.end <= last for first, last in self.ranges)


class Echoes:
    """Finds what memories repeat of what their sessions were shown, for one ingest on behalf of a gate's principal.

    Sessions of another principal are ignored, as what they were shown may be hidden from this one. ``session_id`` is a
    session of all memories, besides the one that each has.
    """

    def __init__(self, store: GraphStore, gate: Gate, session_id: str = "") -> None:
        self._store = store
        self._gate = gate
        self._session = session_id
        self._logs: dict[str, Sequence[Injection]] = {}
        self._shown: dict[tuple[str, ...], Shown | None] = {}
        self._until: dict[str, datetime | None] = {}
        self.found: dict[str, Echo] = {}
        """The echoes so far, by memory."""

    async def keep(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories without new ones that only repeat what was shown."""
        asked = [memory for memory in memories if await self._of(memory) is not None]
        stored = {each.id: each for each in await or_nothing(self._store.get_memories([each.id for each in asked]))}
        left = set[str]()
        for memory in asked:
            before = stored.get(memory.id)
            # what was shown after a text was stored is not what it repeats
            self._until[memory.id] = before.created_at if before and before.text == memory.text else None
            copied = await self._copied(memory)
            if before is None and copied.whole:
                left.add(memory.id)
                self.found[memory.id] = Echo(memory.id, tuple(sorted(copied.sources)), stored=False)
        return [memory for memory in memories if memory.id not in left]

    async def without(self, memories: Sequence[Memory], reading: ResolvedTexts) -> ResolvedTexts:
        """What was read from memories, without what they repeat of what was shown."""
        claims, mentions = list(reading.claims), list(reading.mentions)
        for memory in memories:
            shown = await self._of(memory)
            if shown is None:
                continue
            copied, until = await self._copied(memory), self._until[memory.id]
            mine = [claim for claim in claims if claim.memory_id == memory.id]
            stated = [(claim, shown.stating(claim, until)) for claim in mine]
            repeated = [(claim, by or set()) for claim, by in stated if by is not None or _in(copied, claim)]
            sources = copied.sources.union(*(by for _, by in repeated))
            if not (repeated or copied.ranges):
                continue
            gone = {id(claim) for claim, _ in repeated}
            ends = {end for claim in mine if id(claim) not in gone for end in (claim.source_id, claim.target_id)}
            claims = [claim for claim in claims if id(claim) not in gone]
            mentions = [
                each
                for each in mentions
                if each.memory_id != memory.id or each.entity_id in ends or not copied.holds(each)
            ]
            self.found[memory.id] = Echo(memory.id, tuple(sorted(sources)), claims=len(gone))
        named = _named_by(reading.named, mentions, claims)
        return attrs.evolve(reading, claims=tuple(claims), mentions=tuple(mentions), named=named)

    async def link(self, memories: Iterable[Memory]) -> None:
        """Link stored memories to those that they repeat."""
        found = [self.found[memory.id] for memory in memories if memory.id in self.found]
        sources = sorted({source for each in found for source in each.sources})
        there = {memory.id for memory in await self._store.get_memories(sources)} if sources else set[str]()
        links = [
            MemoryLink(from_id=each.memory_id, to_id=source, type=QUOTES)
            for each in found
            for source in each.sources
            if source in there
        ]
        if links:
            await self._store.link_memories(links)

    async def _copied(self, memory: Memory) -> _Copied:
        shown = await self._of(memory)
        ranges, sources = shown.repeated(memory.text, self._until[memory.id], memory.id) if shown else ([], set[str]())
        return _Copied(memory.text, ranges, frozenset(sources))

    async def _of(self, memory: Memory) -> Shown | None:
        """What the sessions of a memory were shown; None for nothing."""
        sessions = tuple(sorted({memory.session_id, self._session} - {""}))
        if sessions not in self._shown:
            logged = [each for session in sessions for each in await self._log(session)]
            self._shown[sessions] = await _shown(logged, self._store) if logged else None
        return self._shown[sessions]

    async def _log(self, session: str) -> Sequence[Injection]:
        if session not in self._logs:
            logged = await or_nothing(self._store.injections(session))
            who = None if self._gate is ALLOW_ALL else self._gate.principal.qualified_id
            self._logs[session] = [each for each in logged if who is None or each.principal == who]
        return self._logs[session]


def _in(copied: _Copied, claim: Claim) -> bool:
    """Whether the sentence of a claim is repeated word for word."""
    return claim.span is not None and copied.covers(claim.span.start, claim.span.end)


def _named_by(named: Iterable[Entity], mentions: Iterable[Mention], claims: Iterable[Claim]) -> tuple[Entity, ...]:
    """The new entities that mentions and claims still name."""
    left = {each.entity_id for each in mentions}
    left |= {end for each in claims for end in (each.source_id, each.target_id)}
    return tuple(entity for entity in named if entity.id in left)
