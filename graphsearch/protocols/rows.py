"""Rows that every store keeps, the columns they are found by, and the port through which a writer changes them.

A row is an element with its origins: what was given, what merges made of it, and the code of its signature. Whatever a
store derives from rows (documents, postings, term statistics, aliases by hash, evidence by memory, copied columns of
ends) is below the port: `Port.put` and `Port.drop` keep it up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypedDict, Unpack
from uuid import UUID

import attrs

from graphsearch.model import Claim, Entity, HealthRecord, Memory, Mention, Relation, RelationType
from graphsearch.model.proposals import ProposalState
from graphsearch.model.signatures import Signature
from graphsearch.model.stored import StoredOutcome
from graphsearch.model.validation import revised

Ends = tuple[UUID, UUID]


@attrs.frozen
class EntityRow:
    """An entity as it is shown, and as it was given; ``named`` if it exists through its mentions alone."""

    entity: Entity
    given_type: str
    given_aliases: tuple[str, ...] = ()
    named: bool = False
    signature: int = 0

    @property
    def key(self) -> UUID:
        """Its id."""
        return self.entity.id


@attrs.frozen
class MemoryRow:
    """A memory, and the number of merges of the scope when its mentions and claims were last written."""

    memory: Memory
    merges: int = 0
    signature: int = 0

    @property
    def key(self) -> str:
        """Its id."""
        return self.memory.id


@attrs.frozen
class MentionRow:
    """A mention as it was written, the entity that is meant after merges, and what it copies from its memory."""

    mention: Mention
    entity_id: UUID
    ordinal: int
    created_at: datetime | None
    occurred_at: datetime | None
    signature: int

    @property
    def key(self) -> tuple[str, int]:
        """Its memory, and its place there."""
        return (self.mention.memory_id, self.ordinal)

    @property
    def shown(self) -> Mention:
        """The mention of the entity that is meant."""
        if self.entity_id == self.mention.entity_id:
            return self.mention
        return revised(self.mention, entity_id=self.entity_id)


@attrs.frozen
class ClaimRow:
    """A claim as it was written, the ends that are meant after merges, and what the fold needs of its memory."""

    claim: Claim
    ends: Ends
    ordinal: int
    occurred_at: datetime | None
    signature: int

    @property
    def key(self) -> tuple[str, int]:
        """Its memory, and its place there."""
        return (self.claim.memory_id, self.ordinal)

    @property
    def fact(self) -> tuple[UUID, str, UUID]:
        """What it states of the ends that are meant, at whatever time."""
        return (self.ends[0], self.claim.type, self.ends[1])

    @property
    def folds(self) -> bool:
        """False for a claim of two entities that a merge has turned into one of an entity about itself."""
        return self.ends[0] != self.ends[1] or self.claim.source_id == self.claim.target_id

    @property
    def shown(self) -> Claim:
        """The claim between the ends that are meant."""
        source, target = self.ends
        if source == self.claim.source_id and target == self.claim.target_id:
            return self.claim
        return revised(self.claim, source_id=source, target_id=target)


@attrs.frozen
class RelationRow:
    """A relation as it is shown.

    ``given`` are the ends of an asserted one that merges moved; ``lapsed_at`` is when one that a merge revived had been
    retracted before it.
    """

    relation: Relation
    folded: bool = False
    given: Ends | None = None
    lapsed_at: datetime | None = None
    signature: int = 0

    @property
    def key(self) -> UUID:
        """Its id."""
        return self.relation.id

    @property
    def ends(self) -> Ends:
        """Its source and its target."""
        return (self.relation.source_id, self.relation.target_id)


@attrs.frozen
class CommunityRow:
    """A community without its members; the summary as JSON has it, or None."""

    id: UUID
    density: float
    summary: Any = None

    @property
    def key(self) -> UUID:
        """Its id."""
        return self.id


@attrs.frozen
class MemberRow:
    """A member of a community, its strength, and its place among the members; an entity is in one community at most."""

    entity_id: UUID
    community_id: UUID
    strength: float
    place: int | None

    @property
    def key(self) -> UUID:
        """Its id."""
        return self.entity_id


@attrs.frozen
class Entry:
    """A row of a kind that only goes with elements: its key and its value; see `KINDS`."""

    key: Any
    value: Any


@attrs.frozen
class Form:
    """How often an entity, merged or not, was written with a surface and a type in memories of one signature."""

    entity_id: UUID
    surface: str
    type: str
    signature: int
    count: int


def _groups(row: ClaimRow) -> Iterable[Any]:
    """The group of a functional type, and that of any other."""
    return ((*row.fact[:2], None), row.fact)


KINDS: Final[Mapping[str, Mapping[str, Callable[[Any], Iterable[Any]]]]] = {
    "entity": {},
    "memory": {},
    "relation": {
        "end": lambda row: set(row.ends),
        "written": lambda row: set(row.given or ()),
        "evidence": lambda row: row.relation.evidence,
    },
    "mention": {
        "memory": lambda row: (row.mention.memory_id,),
        "entity": lambda row: (row.entity_id,),
        "written": lambda row: (row.mention.entity_id,),
    },
    "claim": {
        "memory": lambda row: (row.claim.memory_id,),
        "written": lambda row: {row.claim.source_id, row.claim.target_id},
        "group": _groups,
        "target": lambda row: ((row.ends[1], row.claim.type),),
        "type": lambda row: (row.claim.type,),
    },
    "merge": {"end": lambda row: (row.merge.source_id, row.merge.target_id)},
    "community": {},
    "member": {"entity": lambda row: (row.entity_id,), "community": lambda row: (row.community_id,)},
    # From here on `Entry`: key and value.
    "link": {"memory": lambda row: row.key[:2]},  # (from, to, type): MemoryLink
    "distinct": {"entity": lambda row: row.key},  # (lower id, higher id): None
    "outcome": {"element": lambda row: (row.key[:2],)},  # (kind, id as text, session): StoredOutcome
    "injection": {  # id: Injection
        "element": lambda row: [(str(kind), str(key)) for kind, key in row.value.elements],
        "session": lambda row: (row.value.session_id,),
    },
    "session": {},  # id: the principal who opened it
    "proposal": {},  # UUID: Proposal
    "counter": {},  # name: number
    "type": {},  # name: RelationType
    "words": {},  # entity: words by which it is found besides its text, with weights
    "entity_vector": {},  # id: float16 row
    "relation_vector": {},
    "memory_vector": {},
    "entity_shadow": {},  # id: the vector of the next model, None for a blank text; only while it is current
    "relation_shadow": {},
    "memory_shadow": {},
}
"""By kind of row: the columns that it is found by, and the values that a row has there."""


@attrs.frozen
class Weighed:
    """The feedback weight of an element, how many outcomes it has, and the one of a session, if there is one."""

    weight: float
    number: int
    given: StoredOutcome | None


@attrs.frozen
class Counts:
    """How much a scope holds."""

    rows: Mapping[str, int]
    """By kind, of the kinds that were asked for."""
    entities_by_type: Mapping[str, int]
    """In order of type, if entities were asked for."""
    relations_by_type: Mapping[str, int]
    """Those that are not retracted, in order of type, if relations were asked for."""
    max_degree: int
    """The most unretracted relations of one entity, if relations were asked for."""


@attrs.define
class ScopeRow:
    """What a transaction knows of its scope from the start; a change to a field is stored at the end."""

    id_key: UUID
    alpha: float = 0.1
    merges: int = 0
    embedder: str | None = None
    dimensions: int | None = None
    next_embedder: str | None = None
    next_dimensions: int | None = None
    summarised: bool = False
    """Whether a community ever had a summary."""
    health: tuple[HealthRecord, ...] = ()
    types: dict[str, RelationType] = attrs.field(factory=dict)
    """By name: the known ones and the registered ones."""


class MemoryGroup(TypedDict, total=False):
    """Memories that have something in common.

    * ``session_id``, ``source``, ``subject``: equal to these. ``label``: among their labels.
    * ``owner``: equal to their attribute of that name, as policies read it; empty without one.
    """

    session_id: str | None
    source: str | None
    subject: str | None
    owner: str | None
    label: str | None


class MemoryFilters(MemoryGroup, total=False):
    """What memories are listed: those that pass every filter that is given and not None.

    ``before``: they occurred earlier, or, where that is not known, were written earlier.
    """

    before: datetime | None


class Filters(MemoryFilters, total=False):
    """What rows a page has: those that pass every filter that is given and not None. Each is for some kinds.

    * ``type``: of entities and relations, equal to this.
    * ``live``, of relations: True for those that are not retracted.
    * ``entity_id``, of relations: one of their ends.
    * ``embedded``, of elements: True for those that have a vector. Of relations also False: those that are not
      retracted, and have a fact and no vector.
    * ``shadowed``, of elements: False for those that have no shadow.
    * ``state``, of proposals: equal to this.
    * Those of `MemoryFilters`, of memories.
    """

    type: str | None
    live: bool | None
    entity_id: UUID | None
    embedded: bool | None
    shadowed: bool | None
    state: ProposalState | None


class Rows(Protocol):
    """Reads of rows. All take many keys at once, and cost a constant number of statements."""

    async def rows(self, kind: str, keys: Collection[Any]) -> Sequence[Any]:
        """The rows with some keys, in any order; those that do not exist are left out."""
        ...

    async def rows_by(self, kind: str, column: str, values: Collection[Any]) -> Sequence[Any]:
        """The rows with any of some values in a column of `KINDS`, without repeats, in any order."""
        ...

    async def page(
        self, kind: str, *, after: Any = None, limit: int | None = None, **filters: Unpack[Filters]
    ) -> Sequence[Any]:
        """The next rows of a kind that pass all filters, in order of key: by code point for text, and tuples by part.

        Without a ``limit`` all that are left. Merges are in order of their number, and proposals in order of
        (created_at, id). ``after`` is what the order is by, of the last row of the previous page, whether that row
        still exists or not.
        """
        ...

    async def forms(self, entity_ids: Collection[UUID], without: Collection[str]) -> Sequence[Form]:
        """The distinct forms of entities, of what was written for each, in all memories but some."""
        ...

    async def tree(self, entity_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
        """What each entity was merged into: of all above these, and of all below those."""
        ...


class Port(Rows, Protocol):
    """The rows of one scope in one write transaction, which has locked the scope: the writers of a scope take turns.

    Reads see the state at the start of the transaction: the writer reads all, computes, and then puts and drops each
    kind once. Nothing that was put is seen by readers before the transaction ends.
    """

    scope: ScopeRow
    version: Hashable
    """That of the store when the transaction began."""

    async def repoint(self, roots: Mapping[UUID, UUID]) -> None:
        """Let the mentions written for some entities mean others, each its root."""
        ...

    async def put(self, kind: str, rows: Sequence[Any], before: Mapping[Any, Any]) -> None:
        """Write rows, which differ from ``before``: the stored ones by key; those that are not there are new."""
        ...

    async def drop(self, kind: str, keys: Collection[Any], before: Mapping[Any, Any]) -> None:
        """Remove rows, if they exist; with an element go its vector, its shadow and its words.

        ``before`` are the stored rows by key, of all elements, mentions and claims; others need not have been read.
        """
        ...

    async def drop_by(self, kind: str, column: str, values: Collection[Any]) -> int:
        """Remove the rows with any of some values in a column; return their number."""
        ...

    async def add(self, kind: str, row: Any) -> Any:
        """Write a row unless its key has one; return the row that is there, whoever wrote it.

        For writes that are not alone: of several at the same moment one is kept, and the others see it.
        """
        ...

    async def clear(self, kinds: Collection[str] | None = None) -> None:
        """Remove all rows of some kinds, or of all, signatures included; of the scope's own row nothing changes."""
        ...

    async def weighed(self, kind: str, keys: Collection[Any], session_id: str) -> Mapping[Any, Weighed]:
        """The feedback weights of those elements that exist, and the outcome of a session for each."""
        ...

    async def weigh(self, kind: str, weights: Mapping[Any, tuple[float, int]]) -> None:
        """Let elements have other feedback weights, and numbers of outcomes with those that are put; nothing else."""
        ...

    async def switch_vectors(self) -> None:
        """Let all elements have the vectors of their shadows, and none of them a shadow.

        Elements without a shadow, or with one that has no vector, have no vector then.
        """
        ...

    async def finish(self, contents: Mapping[int, Signature]) -> None:
        """Store signatures by code, and remove those that no element has any more.

        Called once, after all other changes; stores what changed of ``scope``.
        """
        ...

    def discard(self) -> None:
        """Let the transaction end as if nothing had been written: for what only reports."""
        ...
