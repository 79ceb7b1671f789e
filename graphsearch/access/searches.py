"""Searches for visible elements of one kind, widened until enough visible hits are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader, widest
from graphsearch.columns import NONE, Hits, Keys, Mask, Mentioned, Turns
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import ElementKind, Vector

PASSED: Final = 16
"""Most consecutive hidden turns that are skipped to reach the next visible one."""


async def nearest(kind: ElementKind, vector: Vector, limit: int, reader: Reader) -> Hits:
    """The nearest visible elements of a kind, by cosine distance, ties by key."""

    async def search(wide: int) -> Hits:
        return await reader.store.search_by_embedding(kind, vector, limit=wide, view=reader.view)

    return await _enough(search, kind, limit, reader)


async def lexical(kind: ElementKind, query: str, limit: int, reader: Reader) -> Hits:
    """The visible elements of a kind that match a text best, by BM25, ties by key."""

    async def search(wide: int) -> Hits:
        return await reader.store.search_lexical(kind, query, limit=wide, view=reader.view)

    return await _enough(search, kind, limit, reader)


async def mentioned(kind: ElementKind, keys: Keys, limit: int, reader: Reader) -> Mentioned:
    """The visible elements one mention away from memories, or from entities; see `GraphStore.mentioned`."""
    found = await reader.store.mentioned(kind, keys, limit=limit, view=reader.view)
    other = ElementKind.ENTITY if kind is ElementKind.MEMORY else ElementKind.MEMORY
    seen = await reader.gatekeeper.admitted(other, found.far, found.far_signatures)
    return found if seen is None else found.keep(seen)


async def turns(keys: Keys, reader: Reader) -> Turns:
    """The visible memories before and after each in its session, skipping hidden ones."""
    kept: list[Turns] = []
    found = await reader.store.turns(keys, view=reader.view)
    for passed in range(PASSED + 1):
        seen = await reader.gatekeeper.admitted(ElementKind.MEMORY, found.far, found.far_signatures)
        kept.append(found if seen is None else found.keep(seen))
        if seen is None or passed == PASSED:
            break
        hidden = found.keep(~seen)
        found = _further(hidden, await reader.store.turns(np.unique(hidden.far), view=reader.view))
    return Turns.concatenate(kept)


def _further(turns: Turns, beyond: Turns) -> Turns:
    """Turns whose far ends are those on the other side of theirs, if there are any."""
    parts = []
    for later in (False, True):
        some, others = turns.keep(turns.later == later), beyond.keep(beyond.later == later)
        rows = KeyIndex(others.near).of(some.far)
        ends = others.keep(rows[rows != NONE])
        parts.append(attrs.evolve(ends, near=some.near[rows != NONE]))
    return Turns.concatenate(parts)


async def _enough(search: Callable[[int], Awaitable[Hits]], kind: ElementKind, limit: int, reader: Reader) -> Hits:
    wide, last = limit, widest(limit)
    while True:
        hits = await search(wide)
        seen = await _seen(hits, kind, reader)
        if seen is None and wide == limit:
            return hits
        rows = np.arange(len(hits)) if seen is None else seen.nonzero()[0]
        if wide == last or len(rows) >= limit or len(hits) < wide:
            return hits.keep(rows[:limit])
        wide *= 2


async def _seen(hits: Hits, kind: ElementKind, reader: Reader) -> Mask | None:
    """Which elements are visible; None if all are."""
    if kind is ElementKind.RELATION:  # it was found by its sentence: the sentence must be the visible one
        return await reader.unchanged(hits)
    return await reader.gatekeeper.admitted(kind, hits.keys, hits.signatures)
