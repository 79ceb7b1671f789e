"""Changing the embedding model of a scope in memory: new vectors as shadows of the old ones, and one switch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from graphsearch._support.concurrency import in_slices
from graphsearch.model import ElementKind, validation
from graphsearch.model.reembedding import OutdatedVector, Reembedding
from graphsearch.protocols import Reembeddable
from graphsearch.protocols.graph_store import NewVector, Remake
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.parts import Part
from graphsearch.stores.in_memory.state import Draft, Elements, ElementsDraft, State
from graphsearch.stores.in_memory.tables import table
from graphsearch.stores.shared.reembedding import (
    Shadow,
    checked_vectors,
    is_begun,
    refuse_model,
    refuse_other_change,
    text_digest,
)


class InMemoryReembedding(InMemoryScope, Reembeddable):
    """New vectors beside the old ones, in the state of the scope; a change goes with the process."""

    async def reembedding(self) -> Reembedding | None:
        state = self._state
        if state.next_embedder is None or state.next_dimensions is None:
            return None
        return Reembedding(
            embedder=state.next_embedder,
            dimensions=state.next_dimensions,
            done={kind: len(state.elements(kind).shadows) for kind in ElementKind},
            total={kind: len(state.elements(kind).vectors) for kind in ElementKind},
        )

    async def begin_reembedding(self, name: str, dimensions: int, *, restart: bool = False) -> bool:
        refuse_model(name, dimensions)
        async with self._draft() as draft:
            unfinished = (draft.next_embedder, draft.next_dimensions)
            present = (draft.embedder, draft.dimensions)
            begun = is_begun(self._scope, present, unfinished, (name, dimensions), restart=restart)
            if restart:
                _discard(draft)
            if begun:
                draft.next_embedder, draft.next_dimensions = name, dimensions
            return begun

    async def outdated_vectors(
        self, kind: ElementKind, name: str, *, after: UUID | str | None = None, limit: int = 256
    ) -> Sequence[OutdatedVector]:
        state = self._state
        validation.refuse("page", validation.number("limit", limit, 0))
        ids = table(state, kind).ids
        start = 0 if after is None else bisect_right(ids, after)
        return await in_slices(
            _page(state.elements(kind), islice(ids, start, None), limit, every=state.next_embedder != name)
        )

    async def put_new_vectors(self, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
        async with self._draft() as draft:
            refuse_other_change(self._scope, draft.next_embedder, name)
            return _put(draft, kind, vectors)

    async def switch_embedder(self, name: str, remake: Remake, *, most: int) -> int:
        async with self._draft() as draft:
            refuse_other_change(self._scope, draft.next_embedder, name)
            left = await in_slices(_all_outdated(draft.before, most + 1))
            if (number := sum(map(len, left.values()))) > most:
                return number
            for kind, outdated in left.items():
                if outdated:
                    _put(draft, kind, await remake(outdated))
            for elements in draft.of_kind.values():
                await in_slices(_switch(elements))
            draft.embedder, draft.dimensions = draft.next_embedder, draft.next_dimensions
            draft.next_embedder = draft.next_dimensions = None
            return 0

    async def cancel_reembedding(self) -> bool:
        async with self._draft() as draft:
            was = draft.next_embedder is not None
            _discard(draft)
            return was


def _page(
    elements: Elements[Any], keys: Iterator[Any], limit: int, *, every: bool
) -> Generator[None, None, list[OutdatedVector]]:
    """The first outdated vectors of some elements, in steps."""
    found: list[OutdatedVector] = []
    for key in keys if limit else ():
        element = elements.get(key) if key in elements.vectors else None
        if element is not None:
            digest, shadow = text_digest(element), elements.shadows.get(key)
            if every or shadow is None or shadow.digest != digest:
                found.append(OutdatedVector(element, digest))
                if len(found) == limit:
                    break
        yield
    return found


def _all_outdated(state: State, limit: int) -> Generator[None, None, dict[ElementKind, list[OutdatedVector]]]:
    """The first outdated vectors of all kinds, in steps."""
    found: dict[ElementKind, list[OutdatedVector]] = {}
    for kind in ElementKind:
        keys = iter(table(state, kind).ids)
        found[kind] = yield from _page(state.elements(kind), keys, limit - sum(map(len, found.values())), every=False)
    return found


def _put(draft: Draft, kind: ElementKind, vectors: Sequence[NewVector]) -> int:
    """Enter shadows of elements that have a vector; return their number."""
    given = checked_vectors(vectors, draft.next_embedder, draft.next_dimensions)
    rows = {key: row for matrix in given.matrices for key, row in zip(matrix.keys, matrix.rows, strict=True)}
    elements, there = draft.of_kind[kind], 0
    for outdated, _ in vectors:
        key = outdated.element.id
        if key in elements.vectors:
            elements.shadows.set(key, Shadow(outdated.digest, rows.get(key)))
            there += 1
    return there


def _switch(elements: ElementsDraft[Any]) -> Generator[None, None, None]:
    """Replace all vectors by their shadows, in steps; elements whose text is blank have none then."""
    shadows, vectors = elements.shadows.result, dict[Any, Any]()
    for key in elements.vectors:
        if (vector := shadows[key].vector) is not None:
            vectors[key] = vector
        yield
    elements.vectors = Part(vectors)
    elements.drop_shadows()


def _discard(draft: Draft) -> None:
    """End an unfinished change, with all that it has made."""
    draft.next_embedder = draft.next_dimensions = None
    for elements in draft.of_kind.values():
        elements.drop_shadows()
