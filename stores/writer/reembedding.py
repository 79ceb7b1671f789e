"""Changing the embedding model of a scope: new vectors as shadows of the old ones, and one switch.

A shadow exists only while it is current: what changes the text or the vector of an element removes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from graphsearch.errors import EmbeddingModelError, InvalidInputError, ReembeddingError
from graphsearch.model import ElementKind, Entity, Memory, Relation, Scope, validation
from graphsearch.model.reembedding import NewVector, OutdatedVector, Reembedding, Remake
from graphsearch.protocols.rows import Entry, Port, Rows
from graphsearch.protocols.store import Store
from graphsearch.stores.writer.keeping import refuse_model
from graphsearch.stores.writer.vectors import read_vectors

_SHADOWS: Final = tuple(f"{kind}_shadow" for kind in ElementKind)


async def reembedding(store: Store) -> Reembedding | None:
    """The unfinished change, or None (`GraphStore.reembedding`)."""
    scope = await store.scope_row()
    if scope.next_embedder is None or scope.next_dimensions is None:
        return None
    rows = (await store.counts([*_SHADOWS, *(f"{kind}_vector" for kind in ElementKind)])).rows
    return Reembedding(
        embedder=scope.next_embedder,
        dimensions=scope.next_dimensions,
        done={kind: rows[f"{kind}_shadow"] for kind in ElementKind},
        total={kind: rows[f"{kind}_vector"] for kind in ElementKind},
    )


async def begin_reembedding(port: Port, scope: Scope, name: str, dimensions: int, *, restart: bool = False) -> bool:
    """Begin a change to a model, or continue it (`GraphStore.begin_reembedding`)."""
    refuse_model(name, dimensions)
    row, given = port.scope, (name, dimensions)
    if row.embedder is None:
        raise EmbeddingModelError(
            f"scope {scope} holds no vectors: ingest with an embedder, or import an export of it with one"
        )
    if row.next_embedder is not None and restart:
        await cancel_reembedding(port, finish=False)
    unfinished = (row.next_embedder, row.next_dimensions)
    if unfinished not in ((None, None), given):
        raise ReembeddingError(
            f"a change of scope {scope} to {unfinished[0]!r} ({unfinished[1]} numbers) is unfinished: continue it, "
            "cancel it, or restart to discard it"
        )
    begun = (row.embedder, row.dimensions) != given
    if begun:
        row.next_embedder, row.next_dimensions = given
    await port.finish({})
    return begun


async def outdated_vectors(
    store: Store, kind: ElementKind, name: str, *, after: UUID | str | None = None, limit: int = 256
) -> Sequence[OutdatedVector]:
    """The next elements that have a vector, and none of a model (`GraphStore.outdated_vectors`)."""
    validation.refuse("page", validation.number("limit", limit, 0))
    every = (await store.scope_row()).next_embedder != name
    return await _outdated(store, kind, limit, after=after, every=every)


async def _outdated(
    rows: Rows, kind: ElementKind, limit: int, *, after: UUID | str | None = None, every: bool = False
) -> list[OutdatedVector]:
    found = await rows.page(kind, after=after, limit=limit, embedded=True, shadowed=None if every else False)
    elements = [getattr(row, kind) for row in found]
    return [OutdatedVector(each, _text_digest(each)) for each in elements]


async def put_new_vectors(port: Port, scope: Scope, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
    """Keep vectors of the next model (`GraphStore.put_new_vectors`), of the texts that elements have now."""
    _refuse_other_change(scope, port.scope.next_embedder, name)
    number = await _put(port, kind, vectors)
    await port.finish({})
    return number


async def _put(port: Port, kind: ElementKind, vectors: Sequence[NewVector]) -> int:
    given = read_vectors({outdated.element.id: vector for outdated, vector in vectors if vector is not None})
    if given.faults:
        raise InvalidInputError("vectors", sorted(given.faults))
    given.refuse_others(port.scope.next_embedder, port.scope.next_dimensions)
    made = {key: row for matrix in given.matrices for key, row in zip(matrix.keys, matrix.rows, strict=True)}
    digests = {outdated.element.id: outdated.digest for outdated, _ in vectors}
    embedded = [row.key for row in await port.rows(f"{kind}_vector", digests)]
    stored = {row.key: getattr(row, kind) for row in await port.rows(kind, embedded)}
    current = sorted(key for key in embedded if _text_digest(stored[key]) == digests[key])
    await port.put(f"{kind}_shadow", [Entry(key, made.get(key)) for key in current], {})
    return len(current)


async def switch_embedder(store: Store, name: str, remake: Remake, *, most: int) -> int:
    """Replace all vectors and the model of the scope, if few are outdated (`GraphStore.switch_embedder`)."""
    async with store.snapshot():
        unfinished = await reembedding(store)
    _refuse_other_change(store.scope, unfinished.embedder if unfinished else None, name)
    left = 0 if unfinished is None else sum(unfinished.total.values()) - sum(unfinished.done.values())
    if left > most:
        return left
    async with store.writing(changing=True, renewing=True) as port:
        _refuse_other_change(store.scope, port.scope.next_embedder, name)
        outdated = {kind: await _outdated(port, kind, most + 1) for kind in ElementKind}
        if (left := sum(map(len, outdated.values()))) > most:
            port.discard()
            return left
        for kind, left_of in outdated.items():
            if left_of:
                await _put(port, kind, await remake(left_of))
        await port.switch_vectors()
        row = port.scope
        row.embedder, row.dimensions = row.next_embedder, row.next_dimensions
        row.next_embedder = row.next_dimensions = None
        await port.finish({})
    return 0


async def cancel_reembedding(port: Port, *, finish: bool = True) -> bool:
    """Discard an unfinished change with its vectors (`GraphStore.cancel_reembedding`)."""
    was = port.scope.next_embedder is not None
    await port.clear(_SHADOWS)
    port.scope.next_embedder = port.scope.next_dimensions = None
    if finish:
        await port.finish({})
    return was


def _refuse_other_change(scope: Scope, unfinished: str | None, name: str) -> None:
    """Raise `ReembeddingError` unless a change to the model ``name`` is unfinished."""
    if unfinished is None or unfinished != name:
        raise ReembeddingError(
            f"no change of scope {scope} to {name!r} is unfinished: it was cancelled, restarted with another model, or "
            "finished elsewhere"
        )


def _text_digest(element: Entity | Memory | Relation) -> UUID:
    """A digest of all that the embedded text of an element is made of (`graphsearch.text.bm25.embedding_text`)."""
    match element:
        case Entity():
            parts = [element.name, element.type, element.description]
        case Memory():
            parts = [element.subject, element.speaker, element.text]
        case Relation():
            parts = [element.fact]
    return UUID(bytes=hashlib.sha256(json.dumps(parts).encode()).digest()[:16])
