"""Echoes: what a session was shown and then writes back is no new evidence.

The log of injections names what was shown. A memory repeats it whose every sentence is a sentence of that, apart from
words that only report; a claim repeats it that has the ends and the type of a shown one, and no day that was not shown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.ingest.write.ledger import or_nothing
from graphsearch.model import Claim, ElementKind, Injection, Memory, MemoryLink, Relation
from graphsearch.protocols import GraphStore
from graphsearch.text.rendering import HEADINGS, day_of, entity_name, memory_line, period_of
from graphsearch.text.word_lists import word_set

QUOTES: Final = "quotes"
"""The type of the link from a memory to one that it repeats."""
REPORTING: Final = word_set(
    "i me my you your he him his she her we us our they them their it this that these those the a an as and said say "
    "says told tell tells mentioned mention mentions noted note notes wrote write writes stated remembered remember "
    "remembers recalled recall recalls quoted quote quotes user assistant agent human ai"
)
"""Words that attribute a statement and state nothing by themselves. None denies, doubts, dates or asks."""

_END: Final = re.compile(r"""(?<=[.!?？])["”’)*_]{0,3}\s|\n""")
_WORD: Final = re.compile(r"[^\W_]+|[?？]")  # a question repeats no statement
_MARKER: Final = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]", re.MULTILINE)


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


@attrs.frozen(eq=False)
class Shown:
    """What a session was shown, each with the memories that hold it: sentences, and what is stated of two entities."""

    sentences: defaultdict[str, set[str]] = attrs.field(factory=lambda: defaultdict(set))
    stated: defaultdict[frozenset[UUID], list[tuple[Claim | Relation, set[str]]]] = attrs.field(
        factory=lambda: defaultdict(list)
    )

    def add(self, texts: Iterable[str], holders: set[str], *edges: Claim | Relation) -> None:
        """Add texts and statements that memories hold."""
        for sentence in (each for text in texts for each in _sentences(text)):
            self.sentences[sentence] |= holders
        for edge in edges:
            self.stated[frozenset((edge.source_id, edge.target_id))].append((edge, holders))

    def holding(self, given: str | Claim, own: str) -> set[str] | None:
        """The memories other than its ``own`` that hold a sentence or state a claim; None if nothing shown does."""
        if isinstance(given, str):
            found = [self.sentences[given]] if given in self.sentences else []
        else:
            edges = self.stated.get(frozenset((given.source_id, given.target_id)), ())
            found = [holders for edge, holders in edges if _states(edge, given)]
        found = [holders for holders in found if holders != {own}]
        return set[str]().union(*found) - {own} if found else None


def _sentences(text: str) -> set[str]:
    """The words of each sentence and line, without those that report and the number of a list item."""
    parts = (_WORD.findall(part.casefold()) for part in _END.split(_MARKER.sub("", text)))
    return {" ".join(word for word in words if word not in REPORTING) for words in parts} - {""}


def _states(edge: Claim | Relation, claim: Claim) -> bool:
    """Whether an edge between the ends of a claim states what it does, on no other day."""
    same = claim.type in CO_OCCURRENCE_TYPES or (edge.source_id, edge.type) == (claim.source_id, claim.type)
    days = ((claim.valid_from, edge.valid_from), (claim.valid_to, edge.valid_to))
    return same and all(one is None or (other and day_of(one) == day_of(other)) for one, other in days)


class Echoes:
    """Finds what memories repeat of what their sessions were shown, for one ingest on behalf of a gate's principal.

    Sessions of another principal are ignored, as what they were shown may be hidden from this one. ``session_id`` is a
    session of all memories, besides the one that each has.
    """

    def __init__(self, store: GraphStore, gate: Gate, session_id: str = "") -> None:
        self._store = store
        self._who = None if gate is ALLOW_ALL else gate.principal.qualified_id
        self._session = session_id
        self._shown: dict[tuple[frozenset[str], datetime | None], Shown] = {}
        self._to: dict[str, Shown] = {}
        """What was shown to the session of each memory before it was written."""
        self.found: dict[str, Echo] = {}
        """The echoes so far, by memory."""

    async def keep(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories without new ones that only repeat what was shown."""
        stored = {each.id: each for each in await or_nothing(self._store.get_memories([each.id for each in memories]))}
        for memory in memories:
            before = stored.get(memory.id)
            # what was shown after a text was stored is not what it repeats
            until = before.created_at if before and before.text == memory.text else None
            shown = self._to[memory.id] = await self._shown_to(memory.session_id, until)
            held = [shown.holding(each, memory.id) for each in _sentences(memory.text)] if shown.sentences else []
            if sources := [each for each in held if each is not None]:
                ids = tuple(sorted(set[str]().union(*sources)))
                self.found[memory.id] = Echo(memory.id, ids, stored=before is not None or len(sources) < len(held))
        return [each for each in memories if each.id not in self.found or self.found[each.id].stored]

    def without(self, claims: Iterable[Claim]) -> tuple[Claim, ...]:
        """The claims of memories that are kept, but for those that repeat what was shown."""
        kept: list[Claim] = []
        for claim in claims:
            id_ = claim.memory_id
            if (holders := self._to[id_].holding(claim, id_)) is None:
                kept.append(claim)
            else:
                echo = self.found.get(id_, Echo(id_, ()))
                sources = tuple(sorted({*echo.sources, *holders}))
                self.found[id_] = attrs.evolve(echo, sources=sources, claims=echo.claims + 1)
        return tuple(kept)

    async def link(self, memories: Iterable[Memory]) -> None:
        """Link stored memories to those that they repeat."""
        pairs = [
            (each.id, source) for each in memories if each.id in self.found for source in self.found[each.id].sources
        ]
        there = {memory.id for memory in await or_nothing(self._store.get_memories([source for _, source in pairs]))}
        links = [MemoryLink(from_id=one, to_id=two, type=QUOTES) for one, two in pairs if two in there]
        if links:
            await self._store.link_memories(links)

    async def _shown_to(self, session_id: str, until: datetime | None) -> Shown:
        """What a session, and that of all memories, were shown until a time."""
        key = frozenset({session_id, self._session} - {""}), until
        if key not in self._shown:
            logs = [each for session in key[0] for each in await or_nothing(self._store.injections(session))]
            in_time = (each for each in logs if until is None or each.created_at <= until)
            self._shown[key] = await _shown(
                [each for each in in_time if self._who in (None, each.principal)], self._store
            )
        return self._shown[key]


async def _shown(injections: Sequence[Injection], store: GraphStore) -> Shown:
    """What some injections showed, of what still exists."""
    shown, keys = Shown(), defaultdict[ElementKind, set[str]](set)
    if not injections:
        return shown
    for kind, key in (element for each in injections for element in each.elements):
        keys[kind].add(key)
    shown.add(HEADINGS, set())
    memories = await store.get_memories(sorted(keys[ElementKind.MEMORY]))
    for memory in memories:
        shown.add((memory.text, memory_line(memory)), {memory.id})
    for claim in await store.list_claims(memory_ids=[memory.id for memory in memories]):
        shown.add((), {claim.memory_id}, claim)
    relations = await store.get_relations([UUID(key) for key in sorted(keys[ElementKind.RELATION])])
    ends = sorted({end for each in relations for end in (each.source_id, each.target_id)})
    names = {entity.id: entity_name(entity) for entity in await store.get_entities(ends)}
    for each in relations:
        line = f"{names.get(each.source_id, '')} {each.type} {names.get(each.target_id, '')}"
        lines = (f"{line} {period} {fact}" for period in ("", period_of(each)) for fact in ("", each.fact))
        # proved by those of its memories that were shown with it: others may be hidden
        shown.add((each.fact, *lines), keys[ElementKind.MEMORY] & {*each.evidence}, each)
    return shown
