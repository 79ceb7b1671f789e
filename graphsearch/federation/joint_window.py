"""The window of one question on several scopes: what is counted, decided and known of all of them together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import in_order
from graphsearch.access.reader import Reader
from graphsearch.claims.folding import type_named
from graphsearch.columns import Keys, Rows
from graphsearch.errors import EmbeddingModelError
from graphsearch.federation.joint_keys import packed, unpacked
from graphsearch.federation.merging import joint_table, summed
from graphsearch.federation.scope_part import ScopePart
from graphsearch.model import ElementKind, RelationType, Scope, View
from graphsearch.model.signatures import SignatureTable
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import TermCounts

T = TypeVar("T")


class JointWindow(Reader):
    """Several scopes as one; ``parts`` are in the order of their names."""

    def __init__(self, parts: Sequence[ScopePart]) -> None:
        self.parts = tuple(parts)
        self.view = self.parts[0].reader.view
        self.types = {name: type_ for part in reversed(self.parts) for name, type_ in part.reader.types.items()}
        self._table: tuple[Sequence[int], SignatureTable] | None = None

    def viewing(self, view: View) -> Self:
        """The same snapshots through the same gates, with the moments and types of another view."""
        return self if view == self.view else type(self)([part.viewing(view) for part in self.parts])

    async def _each(self, call: Callable[[ScopePart], Awaitable[T]]) -> list[T]:
        """What each scope answers, in the order of the scopes."""
        return await in_order(call, self.parts, limit=len(self.parts))

    # -- the scopes ----------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """The first of the scopes."""
        return self.parts[0].scope

    @property
    def analyser(self) -> Analyser:
        """The analyser of the first scope: all have the same, or a store refuses to open them."""
        return self.parts[0].reader.analyser

    @property
    def now(self) -> datetime:
        """The present of the first scope."""
        return self.parts[0].reader.now

    async def version(self) -> Hashable:
        """The scopes, each with its version."""
        return tuple([(part.scope, await part.reader.version()) for part in self.parts])

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        return unpacked(keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        return unpacked(keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The joint ids of memories."""
        return [str(key) for key in keys.tolist()]

    def owned(self, kind: ElementKind, keys: Keys) -> Mapping[int, tuple[Rows, Keys]]:
        """For the number of each scope, the rows of the elements that it has, and its own keys of these.

        It has those that this view has met in it; those that no scope has so, wherever another view has met them.
        """
        met = {part.number: part.met(kind, keys) for part in self.parts}
        absent = np.ones(len(keys), np.bool_)
        for rows, _ in met.values():
            absent[rows] = False
        if not absent.any():
            return met
        others = {part.number: part.known(kind, keys) for part in self.parts}
        wanted = {number: absent[rows] for number, (rows, _) in others.items()}
        return {
            number: (_both(rows, others[number][0][wanted[number]]), _both(own, others[number][1][wanted[number]]))
            for number, (rows, own) in met.items()
        }

    def scopes_of(self, kind: ElementKind, keys: Keys) -> list[tuple[Scope, ...]]:
        """The scopes that gave each element to this question."""
        found: list[list[Scope]] = [[] for _ in range(len(keys))]
        owned = self.owned(kind, keys)
        for part in self.parts:
            for row in owned[part.number][0].tolist():
                found[row].append(part.scope)
        return [tuple(each) for each in found]

    def own_relation_ids(self, ids: Sequence[UUID]) -> list[dict[Scope, UUID]]:
        """The scopes that gave each relation to this question, by joint id, and the id that it has in each."""
        found: list[dict[Scope, UUID]] = [{} for _ in ids]
        owned = self.owned(ElementKind.RELATION, packed(ids))
        for part in self.parts:
            rows, own = owned[part.number]
            for row, id_ in zip(rows.tolist(), part.reader.relation_ids(own) if len(own) else (), strict=True):
                found[row][part.scope] = id_
        return found

    async def embedder_name(self) -> str | None:
        """The one model of all vectors. Raises `EmbeddingModelError` for scopes of different models."""
        names = await self._each(lambda part: part.reader.embedder_name())
        bound = {name: part.scope for name, part in zip(names, self.parts, strict=True) if name is not None}
        if len(bound) > 1:
            each = ", ".join(f"those of {scope} by {name!r}" for name, scope in sorted(bound.items()))
            raise EmbeddingModelError(
                f"vectors of different models cannot be compared: {each}; ask these scopes one by one, or ingest one of"
                " them again into another project"
            )
        return next(iter(bound), None)

    # -- the gates -----------------------------------------------------------------------------------------------

    @property
    def hides(self) -> bool:
        """Whether anything may be hidden."""
        return any(part.reader.hides for part in self.parts)

    @property
    def counts_visible(self) -> bool:
        """Whether statistics cover the visible alone."""
        return any(part.reader.counts_visible for part in self.parts)

    def changes(self, kind: ElementKind) -> bool:
        """Whether elements of a kind may be shown with another text than is stored."""
        return any(part.reader.changes(kind) for part in self.parts)

    async def sees_everything(self) -> bool:
        """Whether all elements of all scopes may be seen."""
        return all(await self._each(lambda part: part.reader.sees_everything()))

    @property
    def denied(self) -> Mapping[ElementKind, int]:
        """The number of distinct elements denied so far in each scope, added up by kind."""
        return summed(part.reader.denied for part in self.parts)

    async def health(self) -> float | None:
        """The least health of those that are known."""
        known = [each for each in await self._each(lambda part: part.reader.health()) if each is not None]
        return min(known, default=None)

    # -- types and statistics ------------------------------------------------------------------------------------

    @property
    def signatures(self) -> SignatureTable:
        """The signatures that the scopes have met so far, as one table."""
        tables = [part.reader.signatures for part in self.parts]
        sizes = list(map(len, tables))
        if self._table is None or self._table[0] != sizes:
            self._table = sizes, joint_table(tables)
        return self._table[1]

    def type_of(self, name: str) -> RelationType:
        """The properties of a type, in the first scope that has registered it."""
        return type_named(name, self.types)

    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements with a word in their texts, in all scopes."""
        return sum(await self._each(lambda part: part.reader.document_count(kind)))

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """The number of elements that have some terms, in all scopes."""
        counted = await self._each(lambda part: part.reader.document_frequencies(kind, groups))
        return [sum(each) for each in zip(*counted, strict=True)]

    async def term_counts(self, kind: ElementKind, terms: Sequence[str]) -> TermCounts:
        """The number of documents of a kind, and of those that contain each of some terms, in all scopes."""
        counted = await self._each(lambda part: part.reader.term_counts(kind, terms))
        return TermCounts(sum(each.documents for each in counted), summed(each.containing for each in counted))

    async def left_out(self, keys: Keys) -> Mapping[str, int]:
        """The number of relations of some entities that the view leaves out, by reason."""

        async def of(part: ScopePart) -> Mapping[str, int]:
            _, own = await part.holding(keys)
            return await part.reader.left_out(own) if len(own) else {}

        return summed(await self._each(of))


def _both(some: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Columns one after the other; an empty one may be of another type."""
    return np.concatenate([each for each in (some, others) if len(each)] or [some])
