"""Writing, forgetting and deleting, one transaction per call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from graphsearch.model import AssertedEntity, Batch, Relation, RelationType, WriteReport
from graphsearch.protocols.effects import changes, reads


class Writing(Protocol):
    """Changes to elements. Each call is atomic, and readers never see a part of it.

    Writing a batch, registering types, binding an embedder and proposing create the scope; all other methods raise
    `UnknownScopeError` for a scope that was never written.
    """

    @changes("embedder")
    async def bind_embedder(self, name: str, dimensions: int) -> None:
        """Declare the model of the scope's vectors; `EmbeddingModelError` if it already has another model."""

    @reads
    async def embedder_name(self) -> str | None:
        """The model declared by `bind_embedder`, or None."""
        ...

    @reads
    async def id_key(self) -> UUID:
        """The secret of the scope, random, by which ingest mints ids: `graphsearch.model.identity.keyed_id`."""
        ...

    @changes("types", "relations")
    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace relation types; claims of a type that becomes or ceases to be functional are folded again."""

    @changes("entities", "relations", "memories", "links", "communities")
    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id.

        What ingest has minted for the type and name of one of ``entities`` is then merged into it.
        """
        ...

    @changes("entities", "relations", "memories", "merges", "links", "communities", "injections")
    async def forget(self, memory_ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        """Delete memories with their mentions and claims, and fold the affected relations again.

        With ``dry_run``, only report what would be deleted.

        A relation without claims is deleted, and so is an affected entity without mentions and relations. Links are
        deleted with either end. The injection log no longer names what was deleted, and a relation whose fact has
        changed loses the vector of the old fact.
        """
        ...

    @changes("entities", "relations", "memories", "merges", "links", "communities")
    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        ...

    @changes(
        *("entities", "relations", "memories", "merges", "links", "communities", "types", "injections", "embedder"),
        "proposals",
    )
    async def remove_scope(self) -> None:
        """Delete the scope and everything in it; do nothing if it was never written."""

    @changes("indexes")
    async def settle(self) -> int:
        """Index what bulk writes deferred; return the number of elements indexed.

        Results are the same before and after; searches are faster after. Call it at the end of an import.
        """
        ...

    @reads
    async def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        """Entities as they were asserted, in the order of ``ids``: the form to change and write again."""
        ...

    @reads
    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        ...
