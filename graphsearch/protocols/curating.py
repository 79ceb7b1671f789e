"""Keeping a graph in order: merges, links, duplicates, contradictions and communities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from graphsearch.model import Community, Contradiction, MemoryLink, Merge, SimilarPair, UndoReport
from graphsearch.protocols.effects import changes, reads


class Curating(Protocol):
    """Decisions about elements that stay until they are taken back."""

    @changes("entities", "relations", "memories", "merges")
    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False) -> Merge:
        """Merge one entity into another, which takes over its mentions, claims, relations and names.

        The source stays as a row with ``merged_into``, out of every search. Relations are folded again; those given
        keep their ids; what would lead from the target to itself is left out. ``dry_run`` only reports what would move.
        Raises `UnknownElementError` for an entity that does not exist, and `InvalidInputError` for one that was merged
        away, for an entity with itself, and for two types.
        """
        ...

    @changes("entities", "relations", "memories", "merges")
    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Separate two entities that a merge made one.

        All is as before the merge if nothing was written since. What was written since, also of the source, stays with
        the target; what was forgotten stays forgotten. Raises `UnknownElementError` for a merge that does not exist and
        `InvalidInputError` for one that was undone.
        """
        ...

    @reads
    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges in the order they were made, undone ones too, of any of the entities where some are given."""
        ...

    @changes("links")
    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; return the number of new links. `InvalidInputError` names every memory that does not exist."""
        ...

    @reads
    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, each once, by (from, to, type)."""
        ...

    @changes("links")
    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Mark pairs of entities as two and no duplicates, or remove the mark; return how many marks changed.

        `InvalidInputError` names every entity that does not exist, and every pair of an entity with itself.
        """
        ...

    @reads
    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        ...

    @reads
    async def similar_pairs(self, *, threshold: float, limit: int) -> Sequence[SimilarPair]:
        """Pairs of entities of one type with similar names, best first, ties by ids; ``threshold`` is in [0.6, 1].

        Entities that were merged away are left out, and pairs marked as distinct.
        """
        ...

    @reads
    async def contradictions(self, *, limit: int = 100) -> Sequence[Contradiction]:
        """Pairs of unretracted relations that cannot both hold, by (source, type, ids)."""
        ...

    @changes("communities")
    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        """Store communities in place of those with the ids ``replacing``, and of their own; of all where it is None.

        Labels are not stored, but made of the current names of entities on reading. Members that no longer exist are
        left out, and so is a community with fewer than two left. `InvalidInputError` when an entity would be in two of
        them.
        """
        ...

    @reads
    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of the entities where these are given.

        Members that were deleted or merged into another entity are left out.
        """
        ...
