"""Echoes: what a session was shown and then writes back is no new evidence.

The log of injections names what was shown. A memory repeats it whose every sentence is a sentence of that, apart from
words that only report; a claim repeats it that has the ends and the type of a shown one, and no day that was not shown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, EARLIEST
from graphsearch.ingest.frames.table import words
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.model import Claim, ElementKind, Injection, Memory, MemoryLink, Relation
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import HEADINGS, day_of, entity_name, memory_line, period_of

QUOTES: Final = "quotes"
"""The type of the link from a memory to one that it repeats."""
_END: Final = re.compile(r"""(?<=[.!?？])["”’)*_]{0,3}\s|\n""")
_WORD: Final = re.compile(r"[^\W_]+|[?？]")  # a question repeats no statement
_MARKER: Final = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]", re.MULTILINE)


Shown = Mapping[object, set[str]]
"""The sentences and statements that a session was shown, each with the memories that hold it."""


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
class Echoes:
    """Finds what memories repeat of what their sessions were shown, for one ingest on behalf of a gate's principal.

    Sessions of another principal are ignored, as what they were shown may be hidden from this one. ``session_id`` is a
    session of all memories, besides the one that each has.
    """

    store: GraphStore
    gate: Gate
    session_id: str = ""
    found: dict[str, Echo] = attrs.field(factory=dict)
    """The echoes so far, by memory."""
    _shown: dict[tuple[frozenset[str], datetime | None], Shown] = attrs.field(factory=dict)
    _to: dict[str, Shown] = attrs.field(factory=dict)
    """What was shown to the session of each memory before it was written."""

    async def keep(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories without new ones that only repeat what was shown."""
        stored = {each.id: each for each in await or_nothing(self.store.get_memories([each.id for each in memories]))}
        for memory in memories:
            before = stored.get(memory.id)
            # what was shown after a text was stored is not what it repeats
            until = before.created_at if before and before.text == memory.text else None
            shown = self._to[memory.id] = await self._shown_to(memory.session_id, until)
            held = [_others(shown, sentence, memory.id) for sentence in _sentences(memory.text)] if shown else []
            if repeated := [each for each in held if each is not None]:
                is_new = before is None and len(repeated) == len(held)
                self.found[memory.id] = Echo(memory.id, _in_order(*repeated), stored=not is_new)
        return [each for each in memories if each.id not in self.found or self.found[each.id].stored]

    def without(self, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        """The claims of memories that are kept, but for those that repeat what was shown."""
        kept: list[Claim] = []
        for claim in claims:
            holders = _others(self._to[claim.memory_id], _statement(claim), claim.memory_id)
            if holders is None:
                kept.append(claim)
            else:
                echo = self.found.get(claim.memory_id, Echo(claim.memory_id, ()))
                sources = _in_order(echo.sources, holders)
                self.found[claim.memory_id] = attrs.evolve(echo, sources=sources, claims=echo.claims + 1)
        return tuple(kept)

    async def link(self, memories: Iterable[Memory]) -> None:
        """Link stored memories to those that they repeat."""
        pairs = [
            (memory.id, each)
            for memory in memories
            if memory.id in self.found
            for each in self.found[memory.id].sources
        ]
        there = {each.id for each in await self.store.get_memories([source for _, source in pairs])} if pairs else ()
        links = [MemoryLink(from_id=one, to_id=two, type=QUOTES) for one, two in pairs if two in there]
        if links:
            await self.store.link_memories(links)

    async def _shown_to(self, session_id: str, until: datetime | None) -> Shown:
        """What a session, and that of all memories, were shown until a time."""
        key = frozenset({session_id, self.session_id} - {""}), until
        if key not in self._shown:
            logs = [each for session in key[0] for each in await or_nothing(self.store.injections(session))]
            who = None if self.gate is ALLOW_ALL else self.gate.principal.qualified_id
            own = [each for each in logs if who in (None, each.principal)]
            self._shown[key] = await _read(
                [each for each in own if until is None or each.created_at <= until], self.store
            )
        return self._shown[key]


async def _read(injections: Sequence[Injection], store: GraphStore) -> Shown:
    """The sentences and statements of what some injections showed, as far as it still exists."""
    shown, ids = defaultdict[object, set[str]](set), defaultdict[ElementKind, set[str]](set)
    if not injections:
        return shown
    for kind, id_ in (element for each in injections for element in each.elements):
        ids[kind].add(id_)
    memories = await store.get_memories(sorted(ids[ElementKind.MEMORY]))
    relations = await store.get_relations([UUID(id_) for id_ in sorted(ids[ElementKind.RELATION])])
    ends = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    names = {entity.id: entity_name(entity) for entity in await store.get_entities(ends)}

    def add(holders: set[str], *texts: str, edge: Claim | Relation | None = None) -> None:
        keys = {each for text in texts for each in _sentences(text)}
        for key in (*keys, *(_statements(edge) if edge else ())):
            shown[key] |= holders

    add(set(), *HEADINGS)
    for memory in memories:
        add({memory.id}, memory.text, memory_line(memory))
    for claim in await store.list_claims(memory_ids=[memory.id for memory in memories]):
        add({claim.memory_id}, edge=claim)
    for each in relations:
        line = f"{names.get(each.source_id, '')} {each.type} {names.get(each.target_id, '')}"
        lines = [f"{line} {period} {fact}" for period in ("", period_of(each)) for fact in ("", each.fact)]
        # proved by those of its memories that were shown with it: others may be hidden
        add(ids[ElementKind.MEMORY] & {*each.evidence}, each.fact, *lines, edge=each)
    return shown


def _sentences(text: str) -> set[str]:
    """The words of each sentence and line, without those that report and the number of a list item."""
    reporting = words("reporting")
    parts = (_WORD.findall(part.casefold()) for part in _END.split(_MARKER.sub("", text)))
    return {" ".join(word for word in part if word not in reporting) for part in parts} - {""}


def _statement(claim: Claim) -> object:
    """The ends, the type and the days of a claim; where it says that they occur together, the type is none."""
    start = None if claim.valid_from in (None, EARLIEST) else day_of(claim.valid_from)  # "still" names no day
    end = claim.valid_to and day_of(claim.valid_to)
    if claim.type in CO_OCCURRENCE_TYPES:
        return frozenset((claim.source_id, claim.target_id)), start, end
    return (claim.source_id, claim.type, claim.target_id), start, end


def _statements(edge: Claim | Relation) -> Iterator[object]:
    """What an edge states, also without its days, and that its ends occur together."""
    for start in {None, edge.valid_from and day_of(edge.valid_from)}:
        for end in {None, edge.valid_to and day_of(edge.valid_to)}:
            yield (edge.source_id, edge.type, edge.target_id), start, end
            yield frozenset((edge.source_id, edge.target_id)), start, end


def _others(shown: Shown, key: object, own: str) -> set[str] | None:
    """The memories that hold a sentence or a statement, other than the one that repeats it; None if none was shown."""
    holders = shown.get(key, {own})
    return None if holders == {own} else holders - {own}


def _in_order(*ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set[str]().union(*ids)))
