"""A graph in one scope, as rooms and users call it: every verb once, over the rows, searches and walks of a store."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from graphsearch._support.garbage import rare_collections
from graphsearch.model import Batch, Merge, RelationType, UndoReport, WriteReport
from graphsearch.stores.graph.reading import Reading
from graphsearch.stores.writer import forgetting, merging, writing
from graphsearch.stores.writer.communities import Communities
from graphsearch.stores.writer.keeping import Keeping
from graphsearch.stores.writer.moving import Moving
from graphsearch.stores.writer.reembedding import Reembeddable


class GraphStore(Reading, Keeping, Communities, Moving, Reembeddable):
    """A graph in one scope: what a store implements, and everything that is written once over that.

    Unknown ids are left out of results. Lists are in order of id unless stated otherwise, by code point for memories;
    ``after`` is the last id of the previous page, and a negative ``limit`` raises `InvalidInputError`. Reads raise
    `UnknownScopeError` where nothing was ever written. Each change is atomic, and readers never see a part of it.
    Writing a batch, registering types, binding an embedder, loading and proposing create the scope; all other changes
    raise `UnknownScopeError` for a scope that was never written.
    """

    # -- writing ---------------------------------------------------------------------------------------------------

    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace relation types; claims of a type that becomes or ceases to be functional are folded again."""
        async with self.writing(create=True, changing=True) as port:
            await writing.register_types(port, types, self.clock.now())

    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id.

        What ingest has minted for the type and name of one of ``entities`` is then merged into it.
        """
        with rare_collections():
            async with self.writing(create=True, changing=True) as port:
                minted = await writing.minted(port, batch)
                report = await writing.write(port, batch, self.clock.now())
        for source, target in minted:  # once: whoever undoes it is right
            ends = await self.rows("entity", [source, target])
            if [each.entity.merged_into for each in ends] == [None, None] and not await self.merges([source]):
                await self.merge(source, target, retype=True)
        return report

    async def forget(self, memory_ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        """Delete memories with their mentions and claims, and fold the affected relations again.

        With ``dry_run``, only report what would be deleted.

        A relation without claims is deleted, and so is an affected entity without mentions and relations. Links are
        deleted with either end. The injection log no longer names what was deleted, and a relation whose fact has
        changed loses the vector of the old fact.
        """
        async with self.writing(changing=not dry_run) as port:
            return await forgetting.forget(port, memory_ids, self.clock.now(), dry_run=dry_run)

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        async with self.writing(changing=True) as port:
            return await forgetting.delete(port, entities, relations, self.clock.now())

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
            return await merging.merge(port, source_id, target_id, now, dry_run=dry_run, retype=retype)

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        A target that exists through mentions alone, all of which were forgotten since, is deleted as by `forget`.

        Restores the state before the merge if nothing was written since. Whatever was written since, also about the
        source, stays with the target, but for what a memory states between the two, and its mentions of the source;
        forgotten memories stay forgotten. Raises `UnknownElementError` for a merge that does not exist and
        `InvalidInputError` for one that was undone already.
        """
        async with self.writing(changing=True) as port:
            return await merging.undo_merge(port, merge_id, self.clock.now())
