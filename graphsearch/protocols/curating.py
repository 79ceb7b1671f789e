"""Curating a graph: merges, links, duplicates and communities."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Protocol
from uuid import UUID

from graphsearch.model import Community, MemoryLink, Merge, UndoReport
from graphsearch.protocols.effects import changes, reads


class Curating(Protocol):
    """Curation decisions, which persist until they are reverted."""

    @changes("entities", "relations", "memories", "merges")
    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False, retype: bool = False) -> Merge:
        """Merge one entity into another, which takes over its mentions, claims, relations and names.

        The source remains as a row with ``merged_into`` and is excluded from every search. Relations are folded again;
        asserted relations keep their ids; relations from the target to itself are dropped. ``dry_run`` only reports
        what would move. With ``retype``, entities of two types can be merged: the target's is that of both. Raises
        `UnknownElementError` for an entity that does not exist, and `InvalidInputError` for an entity that is already
        merged, for an entity with itself, and without ``retype`` for entities of different types.
        """
        ...

    @changes("entities", "relations", "memories", "merges", "links", "communities", "injections")
    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        A target that exists through mentions alone, all of which were forgotten since, is deleted as by `forget`.

        Restores the state before the merge if nothing was written since. Whatever was written since, also about the
        source, stays with the target, but for what a memory states between the two, and its mentions of the source;
        forgotten memories stay forgotten. Raises `UnknownElementError` for a merge that
        does not exist and `InvalidInputError` for one that was undone already.
        """
        ...

    @reads
    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges in the order they were made, including undone ones; only those of ``entity_ids`` if given."""
        ...

    @changes("links")
    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; return the number of new links. `InvalidInputError` names every memory that does not exist."""
        ...

    @reads
    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, without repeats, by (from, to, type)."""
        ...

    @changes("links")
    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Mark pairs of entities as distinct, not duplicates, or remove the mark; return the number of changed marks.

        `InvalidInputError` names every entity that does not exist, and every pair of an entity with itself.
        """
        ...

    @reads
    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        ...

    @changes("communities")
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

    @changes("communities")
    async def write_summary(self, community: Community, *, version: Hashable) -> bool:
        """Store the summary of a stored community; return False, and store nothing, if the graph has changed.

        ``version`` is that of the scope when the content of the summary was read (`GraphStore.version`); the community
        must have the same members as then. From then on every change that removes or rewrites anything that the summary
        may be made of drops it in the same transaction: a member that is removed, renamed, merged or separated; a
        relation with a member that is removed, retracted or reworded, or loses evidence; a memory that mentions a
        member, or is evidence of its relations, that is forgotten or rewritten. What is only added leaves it.
        """
        ...

    @reads
    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of ``entity_ids`` if given.

        Members that were deleted or merged into another entity are left out.
        """
        ...
