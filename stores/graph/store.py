"""A graph in one scope, as rooms and users call it: every verb once, over the rows, searches and walks of a store."""

from __future__ import annotations

from collections.abc import AsyncIterable, Hashable, Sequence
from uuid import UUID

from graphsearch.model import (
    Batch,
    Community,
    ElementKind,
    ElementRef,
    Entity,
    HealthRecord,
    Injection,
    MemoryLink,
    Merge,
    OutcomeRecord,
    RelationType,
    UndoReport,
    WriteReport,
)
from graphsearch.model.identity import keyed_id
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.model.reembedding import NewVector, OutdatedVector, Reembedding, Remake
from graphsearch.model.stored import Key, Record, RecordKind, ScopeSettings
from graphsearch.protocols import Store
from graphsearch.stores.graph import reading
from graphsearch.stores.graph.reading import Reading
from graphsearch.stores.writer import communities as grouping
from graphsearch.stores.writer import keeping, loading, operations
from graphsearch.stores.writer import records as recording
from graphsearch.stores.writer import reembedding as changing_model


class GraphStore(Reading, Store):
    """A graph in one scope: what a store implements, and everything that is written once over that.

    Unknown ids are left out of results. Lists are in order of id unless stated otherwise, by code point for memories;
    ``after`` is the last id of the previous page, and a negative ``limit`` raises `InvalidInputError`. Reads raise
    `UnknownScopeError` where nothing was ever written. Each change is atomic, and readers never see a part of it.
    Writing a batch, registering types, binding an embedder, loading and proposing create the scope; all other changes
    raise `UnknownScopeError` for a scope that was never written.
    """

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

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; return the number of new links. `InvalidInputError` names every memory that does not exist."""
        async with self.writing() as port:
            return await keeping.link_memories(port, links, self.clock.now())

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, without repeats, by (from, to, type)."""
        found = await self.rows_by("link", "memory", memory_ids)
        return [row.value for row in sorted(found, key=lambda row: row.key)]

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Mark pairs of entities as distinct, not duplicates, or remove the mark; return the number of changed marks.

        `InvalidInputError` names every entity that does not exist, and every pair of an entity with itself.
        """
        async with self.writing() as port:
            return await keeping.mark_distinct(port, pairs, distinct=distinct)

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        return sorted(row.key for row in await self.rows_by("distinct", "entity", entity_ids))

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
        found = [row.value for row in await self.rows_by("injection", "session", [session_id])]
        return sorted(found, key=lambda each: (each.created_at, each.id))

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
