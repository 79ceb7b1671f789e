"""Reads of one scope that need its session and nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from uuid import UUID

from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Scope, Vector
from graphsearch.stores.in_postgres import indexing, searching
from graphsearch.stores.in_postgres.sessions import Gateway


class ScopedReads:
    """The vectors of a scope, its version, and its documents by number; for the class that holds its ``_gateway``."""

    _gateway: Gateway
    _scope: Scope

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """The stored vectors behind keys, normalised, in their order; zeros where there is none."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.vectors(session, kind, keys)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """What some entities are found by beside their texts, by word with its weight."""
        async with self._gateway.reading(self._scope) as session:
            return await indexing.words_of(session, ids)

    async def version(self) -> Hashable:
        """A token that changes with every change to entities, relations, their names or their types."""
        async with self._gateway.reading(self._scope) as session:
            return session.changes

    async def document_count(self, kind: ElementKind) -> int:
        """How many elements of a kind have a word in their texts; those not settled yet are counted one by one."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.document_count(session, kind)

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """For each group of terms, how many elements of a kind have all of them in their texts."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.document_frequencies(session, kind, groups)
