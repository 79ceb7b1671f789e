"""A graph in one scope, as rooms and users call it: every verb once, over the rows, searches and walks of a store."""

from __future__ import annotations

from collections.abc import AsyncIterable, Hashable, Mapping, Sequence
from datetime import datetime
from typing import Unpack
from uuid import UUID

from graphsearch.columns import Keys
from graphsearch.model import (
    AssertedEntity,
    Batch,
    Claim,
    Community,
    ElementKind,
    ElementRef,
    Entity,
    Group,
    HealthRecord,
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Merge,
    OutcomeRecord,
    Relation,
    RelationType,
    Statistics,
    SurfaceForm,
    UndoReport,
    WriteReport,
)
from graphsearch.model.identity import keyed_id
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.model.reembedding import NewVector, OutdatedVector, Reembedding, Remake
from graphsearch.model.stored import Key, Record, RecordKind, ScopeSettings
from graphsearch.protocols import Store
from graphsearch.protocols.rows import MemoryFilters
from graphsearch.stores.graph import reading
from graphsearch.stores.writer import communities as grouping
from graphsearch.stores.writer import keeping, loading, operations
from graphsearch.stores.writer import records as recording
from graphsearch.stores.writer import reembedding as changing_model


class GraphStore(Store):
    """A graph in one scope: what a store implements, and everything that is written once over that.

    Unknown ids are left out of results. Lists are in order of id unless stated otherwise, by code point for memories;
    ``after`` is the last id of the previous page, and a negative ``limit`` raises `InvalidInputError`. Reads raise
    `UnknownScopeError` where nothing was ever written. Each change is atomic, and readers never see a part of it.
    Writing a batch, registering types, binding an embedder, loading and proposing create the scope; all other changes
    raise `UnknownScopeError` for a scope that was never written.
    """

    # -- elements --------------------------------------------------------------------------------------------------

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        return self.ids(ElementKind.ENTITY, keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        return self.ids(ElementKind.RELATION, keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        return self.ids(ElementKind.MEMORY, keys)

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        return await reading.elements_of(self, ElementKind.ENTITY, ids)

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, including retracted ones."""
        return await reading.elements_of(self, ElementKind.RELATION, ids)

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        return await reading.elements_of(self, ElementKind.MEMORY, ids)

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page of entities, of one type if given."""
        return await reading.page_of(self, ElementKind.ENTITY, after, limit, type=type)

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        """The next page of unretracted relations, of one type and of one entity if given."""
        kind = ElementKind.RELATION
        return await reading.page_of(self, kind, after, limit, type=type, live=True, entity_id=entity_id)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, **filters: Unpack[MemoryFilters]
    ) -> Sequence[Memory]:
        """The next page of the memories that pass all filters."""
        return await reading.page_of(self, ElementKind.MEMORY, after, limit, **filters)

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        async with self.snapshot():
            return await reading.mentions(self, memory_ids, entity_ids)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups.

        In fold order. A claim that a merge has turned into a claim of an entity about itself is not folded.
        """
        async with self.snapshot():
            return await reading.claims(self, memory_ids, relation_ids, groups)

    async def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        """Entities as they were asserted, in the order of ``ids``: the form to change and write again."""
        return await reading.asserted(self, ids)

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        return await reading.unembedded_facts(self, after, limit)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """Words that entities are found by in addition to their texts, with their weights (`Batch.words`).

        Entities without any are left out. Weights are as stored: multiples of 1 / 64, at least 1 / 64.
        """
        return await reading.words(self, ids)

    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """The number of unretracted relations of each entity, in both directions."""
        async with self.snapshot():
            return await reading.degrees(self, ids)

    async def surface_forms(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[SurfaceForm]:
        """Surface forms of mentions, by (entity, surface), each with the first ``limit`` of its memories.

        If ``names`` is given, only surface forms equal to one of them. Those of a merged entity are the ones that
        mentioned it before, and count for the other as well.
        """
        async with self.snapshot():
            return await reading.surface_forms(self, entity_ids, names, limit)

    async def first_written(
        self, entity_ids: Sequence[UUID], *, limit: int
    ) -> Mapping[UUID, Sequence[tuple[datetime, str]]]:
        """The first ``limit`` memories that mention each entity, by (created_at, id); entities without any are absent.

        Of a merged entity as in `surface_forms`.
        """
        async with self.snapshot():
            return await reading.first_written(self, entity_ids, limit)

    # -- the scope -------------------------------------------------------------------------------------------------

    async def relation_types(self) -> Mapping[str, RelationType]:
        """Relation types by name: the defaults and the registered ones."""
        return (await self.scope_row()).types

    async def embedder_name(self) -> str | None:
        """The model declared by `bind_embedder`, or None."""
        return (await self.scope_row()).embedder

    async def id_key(self) -> UUID:
        """The secret of the scope, random, by which ingest mints ids: `graphsearch.model.identity.keyed_id`."""
        return (await self.scope_row()).id_key

    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements of a kind with a word in their texts: the N of BM25, maintained without counting."""
        [number] = await self.document_frequencies(kind, [()])
        return number

    async def statistics(self) -> Statistics:
        """Element counts of the scope."""
        async with self.snapshot():
            return await reading.statistics(self)

    # -- writing ---------------------------------------------------------------------------------------------------

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        """Declare the model of the scope's vectors; `EmbeddingModelError` if it already has another model."""
        async with self.writing(create=True) as port:
            await keeping.bind_embedder(port, self.scope, name, dimensions)

    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace relation types; claims of a type that becomes or ceases to be functional are folded again."""
        async with self.writing(create=True, changing=True) as port:
            await operations.register_types(port, types, self.clock.now())

    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id.

        What ingest has minted for the type and name of one of ``entities`` is then merged into it.
        """
        async with self.writing(create=True, changing=True) as port:
            report = await operations.write(port, batch, self.clock.now())
        await self._join_minted(batch.entities)
        return report

    async def _join_minted(self, written: Sequence[Entity]) -> None:
        """Merge what ingest minted into entities of the same types and names that were written later, once."""
        key = await self.id_key() if written else UUID(int=0)
        own = {keyed_id(each.id, key): each.id for each in written}
        for row in await self.rows("entity", own) if own else ():
            target = own[row.key]
            ends = await self.rows("entity", [row.key, target])
            if all(each.entity.merged_into is None for each in ends) and not await self.merges([row.key]):
                await self.merge(row.key, target, retype=True)

    async def forget(self, memory_ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        """Delete memories with their mentions and claims, and fold the affected relations again.

        With ``dry_run``, only report what would be deleted.

        A relation without claims is deleted, and so is an affected entity without mentions and relations. Links are
        deleted with either end. The injection log no longer names what was deleted, and a relation whose fact has
        changed loses the vector of the old fact.
        """
        async with self.writing(changing=not dry_run) as port:
            return await operations.forget(port, memory_ids, self.clock.now(), dry_run=dry_run)

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        async with self.writing(changing=True) as port:
            return await operations.delete(port, entities, relations, self.clock.now())

    # -- curating --------------------------------------------------------------------------------------------------

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False, retype: bool = False) -> Merge:
        """Merge one entity into another, which takes over its mentions, claims, relations and names.

        The source remains as a row with ``merged_into`` and is excluded from every search. Relations are folded again;
        asserted relations keep their ids; relations from the target to itself are dropped. ``dry_run`` only reports
        what would move. With ``retype``, entities of two types can be merged: the target's is that of both. Raises
        `UnknownElementError` for an entity that does not exist, and `InvalidInputError` for an entity that is already
        merged, for an entity with itself, and without ``retype`` for entities of different types.
        """
        async with self.writing(changing=not dry_run) as port:
            now = self.clock.now()
            return await operations.merge(port, source_id, target_id, now, dry_run=dry_run, retype=retype)

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        A target that exists through mentions alone, all of which were forgotten since, is deleted as by `forget`.

        Restores the state before the merge if nothing was written since. Whatever was written since, also about the
        source, stays with the target, but for what a memory states between the two, and its mentions of the source;
        forgotten memories stay forgotten. Raises `UnknownElementError` for a merge that does not exist and
        `InvalidInputError` for one that was undone already.
        """
        async with self.writing(changing=True) as port:
            return await operations.undo_merge(port, merge_id, self.clock.now())

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges in the order they were made, including undone ones; only those of ``entity_ids`` if given."""
        return await reading.merges(self, entity_ids)

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; return the number of new links. `InvalidInputError` names every memory that does not exist."""
        async with self.writing() as port:
            return await keeping.link_memories(port, links, self.clock.now())

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, without repeats, by (from, to, type)."""
        return await keeping.memory_links(self, memory_ids)

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Mark pairs of entities as distinct, not duplicates, or remove the mark; return the number of changed marks.

        `InvalidInputError` names every entity that does not exist, and every pair of an entity with itself.
        """
        async with self.writing() as port:
            return await keeping.mark_distinct(port, pairs, distinct=distinct)

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        return await keeping.distinct_pairs(self, entity_ids)

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        """Store communities; they replace those with the ids ``replacing`` and their own ids, or all if it is None.

        Labels are not stored but built from the current names of entities on reading. Members that no longer exist are
        dropped, and so are communities with fewer than two remaining members. A community keeps its stored summary if
        every member that it had stays; the summaries of ``communities`` are not read: see `write_summary`. What
        merges left of a community, if it is a single member, can join another. `InvalidInputError` when an entity would
        be in two communities.
        """
        async with self.writing() as port:
            await grouping.write_communities(port, communities, replacing=replacing)

    async def write_summary(self, community: Community, *, version: Hashable) -> bool:
        """Store the summary of a stored community; return False, and store nothing, if the graph has changed.

        ``version`` is that of the scope when the content of the summary was read; the community must have the same
        members as then. From then on every change that removes or rewrites anything that the summary may be made of
        drops it in the same transaction: a member that is removed, renamed, merged or separated; a relation with a
        member that is removed, retracted or reworded, or loses evidence; a memory that mentions a member, or is
        evidence of its relations, that is forgotten or rewritten. What is only added leaves it.
        """
        async with self.writing() as port:
            return await grouping.write_summary(port, community, version=version)

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of ``entity_ids`` if given.

        Members that were deleted or merged into another entity are left out.
        """
        async with self.snapshot():
            return await grouping.communities(self, entity_ids=entity_ids, limit=limit)

    # -- learning --------------------------------------------------------------------------------------------------

    async def log_injection(self, injection: Injection) -> None:
        """Record the elements surfaced to a session; recording the same id again changes nothing.

        The first injection of a session opens it for its principal: of several principals who try at the same moment,
        one does. Raises `ForeignSessionError` for an injection of another principal, and records nothing of it. A
        session keeps its owner until the scope is removed, even when all that was surfaced to it is forgotten.
        """
        async with self.writing(alone=False) as port:
            await keeping.log_injection(port, injection)

    async def injections(self, session_id: str) -> Sequence[Injection]:
        """The recorded injections of a session, oldest first; all are of the principal who opened it."""
        return await keeping.injections(self, session_id)

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The outcomes that moved the weights of elements, by (element, seq)."""
        return await keeping.outcomes(self, elements)

    async def health_history(self) -> Sequence[HealthRecord]:
        """What `record_health` has stored, the oldest first; the last one is the present health."""
        return (await self.scope_row()).health

    async def record_health(self, record: HealthRecord) -> None:
        """Store the health that a graph has now.

        At most `HEALTH_RECORDS` are kept, each of at least 1.25 times as many memories as the one before, or fewer; the
        last one is replaced until it is.
        """
        async with self.writing() as port:
            await keeping.record_health(port, record)

    # -- moving: two stores that have loaded the same records give the same answers --------------------------------

    async def settings(self) -> ScopeSettings:
        """The settings of the scope, with the numbers of its records."""
        async with self.snapshot():
            return await reading.settings(self)

    async def records(self, kind: RecordKind, *, after: Key | None = None, limit: int = 1_000) -> Sequence[Record]:
        """The next page of records of a kind, in order of key."""
        async with self.snapshot():
            return await recording.records(self, kind, after=after, limit=limit)

    async def load(
        self, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool = False
    ) -> None:
        """Load records, all or none, as the whole content of the scope; call `settle` afterwards.

        A page has records of one kind, in order of key; the pages come in the order of `RecordKind`. The scope is
        created if it does not exist, and is left as it was when anything raises, ``pages`` included. With ``replace``
        whatever it holds is removed first; without, a scope that holds anything raises `OccupiedScopeError`. Raises
        `AnalyserError` for records made with another analyser, and `RecordError` for a record out of order or one that
        refers to another that is not there.
        """
        loading.refuse_other_analyser(settings, self.analyser.name)
        async with self.writing(create=True, changing=True, renewing=replace) as port:
            await loading.load(port, settings, pages, replace=replace)

    # -- a change of the embedding model ---------------------------------------------------------------------------
    # New vectors are kept beside the old ones, until one transaction switches. Until then every read and write sees the
    # old ones alone. The elements that have a vector get a new one, and no others. New vectors go with their elements:
    # whatever is forgotten or loses its vector loses both. Whoever begins a change again continues it.

    async def reembedding(self) -> Reembedding | None:
        """The unfinished change, or None."""
        async with self.snapshot():
            return await changing_model.reembedding(self)

    async def begin_reembedding(self, name: str, dimensions: int, *, restart: bool = False) -> bool:
        """Begin a change to a model, or continue it; return False if the scope has the model already.

        `ReembeddingError` if a change to another model is unfinished; with ``restart`` an unfinished change is
        discarded first. `EmbeddingModelError` for a scope without a model.
        """
        async with self.writing() as port:
            return await changing_model.begin_reembedding(port, self.scope, name, dimensions, restart=restart)

    async def outdated_vectors(
        self, kind: ElementKind, name: str, *, after: UUID | str | None = None, limit: int = 256
    ) -> Sequence[OutdatedVector]:
        """The next elements of a kind, in order of id, that have a vector and no current one of the model ``name``.

        If no change to that model is unfinished, these are all elements with a vector.
        """
        async with self.snapshot():
            return await changing_model.outdated_vectors(self, kind, name, after=after, limit=limit)

    async def put_new_vectors(self, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
        """Keep vectors of the next model, of elements that still have one; return their number.

        `ReembeddingError` if no change to the model ``name`` is unfinished, `EmbeddingModelError` for vectors of
        another length, `InvalidInputError` for vectors that are no finite numbers.
        """
        async with self.writing() as port:
            return await changing_model.put_new_vectors(port, self.scope, kind, name, vectors)

    async def switch_embedder(self, name: str, remake: Remake, *, most: int) -> int:
        """Replace all vectors and the model of the scope in one transaction, if at most ``most`` are outdated.

        These are made by ``remake`` while other writers wait. Returns 0 if it was done, else at least how many vectors
        are outdated, with nothing changed. Call `settle` afterwards. `ReembeddingError` if no change to the model
        ``name`` is unfinished.
        """
        return await changing_model.switch_embedder(self, name, remake, most=most)

    async def cancel_reembedding(self) -> bool:
        """Discard an unfinished change with its vectors; return whether there was one."""
        async with self.writing() as port:
            return await changing_model.cancel_reembedding(port)

    # -- proposals -------------------------------------------------------------------------------------------------
    # They lie beside the graph: no other read shows or counts them, and `records` leaves them out. They are removed
    # with their scope alone; forgetting does not reach the request of one that waits.

    async def propose(self, proposal: Proposal) -> None:
        """Store a new proposal, in a scope that is created if it does not exist; one of a known id changes nothing."""
        async with self.writing(create=True, alone=False) as port:
            await keeping.propose(port, proposal)

    async def proposals(
        self,
        ids: Sequence[UUID] | None = None,
        *,
        state: ProposalState | None = None,
        after: UUID | None = None,
        limit: int = 1_000,
    ) -> Sequence[Proposal]:
        """Proposals, the oldest first: of some ids, in a state, and after the one with the id ``after``."""
        async with self.snapshot():
            return await keeping.proposals(self, ids, state=state, after=after, limit=limit)

    async def decide(self, before: Proposal, after: Proposal) -> bool:
        """Put ``after`` in the place of ``before``, if that is still in its state of the same time; return whether.

        Of several who decide at once one does.
        """
        async with self.writing() as port:
            return await keeping.decide(port, before, after)
