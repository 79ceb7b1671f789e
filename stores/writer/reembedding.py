"""Changing the embedding model of a scope: new vectors as shadows of the old ones, and one switch.

A shadow exists only while it is current: what changes the text or the vector of an element removes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from graphsearch.errors import EmbeddingModelError, InvalidInputError, ReembeddingError
from graphsearch.model import ElementKind, Scope, validation
from graphsearch.model.reembedding import Element, NewVector, Reembedding, Remake
from graphsearch.protocols import Store
from graphsearch.protocols.rows import Entry, Port, Rows
from graphsearch.stores.writer.keeping import beside, refuse_model
from graphsearch.stores.writer.vectors import read_vectors
from graphsearch.text.bm25 import embedding_text

_SHADOWS: Final = tuple(f"{kind}_shadow" for kind in ElementKind)


class Reembeddable(Store):
    """A change of the embedding model of a graph.

    New vectors are kept beside the old ones, until one transaction switches. Until then every read and write sees the
    old ones alone. The elements that have a vector get a new one, and no others. New vectors go with their elements:
    whatever is forgotten or loses its vector loses both. Whoever begins a change again continues it.
    """

    async def reembedding(self) -> Reembedding | None:
        """The unfinished change, or None."""
        async with self.snapshot():
            scope = await self.scope_row()
            if scope.next_embedder is None or scope.next_dimensions is None:
                return None
            rows = (await self.counts([*_SHADOWS, *(f"{kind}_vector" for kind in ElementKind)])).rows
        return Reembedding(
            embedder=scope.next_embedder,
            dimensions=scope.next_dimensions,
            done={kind: rows[f"{kind}_shadow"] for kind in ElementKind},
            total={kind: rows[f"{kind}_vector"] for kind in ElementKind},
        )

    async def begin_reembedding(self, name: str, dimensions: int, *, restart: bool = False) -> bool:
        """Begin a change to a model, or continue it; return False if the scope has the model already.

        `ReembeddingError` if a change to another model is unfinished; with ``restart`` an unfinished change is
        discarded first. `EmbeddingModelError` for a scope without a model.
        """
        refuse_model(name, dimensions)
        async with beside(self) as port:
            scope, given = port.scope, (name, dimensions)
            if scope.embedder is None:
                raise EmbeddingModelError(
                    f"scope {self.scope} holds no vectors: ingest with an embedder, or import an export of it with one"
                )
            if restart:
                await _discard(port)
            unfinished = (scope.next_embedder, scope.next_dimensions)
            if unfinished not in ((None, None), given):
                raise ReembeddingError(
                    f"a change of scope {self.scope} to {unfinished[0]!r} ({unfinished[1]} numbers) is unfinished: "
                    "continue it, cancel it, or restart to discard it"
                )
            begun = (scope.embedder, scope.dimensions) != given
            if begun:
                scope.next_embedder, scope.next_dimensions = given
        return begun

    async def outdated_vectors(
        self, kind: ElementKind, name: str, *, after: UUID | str | None = None, limit: int = 256
    ) -> Sequence[Element]:
        """The next elements of a kind, in order of id, that have a vector and no current one of the model ``name``.

        If no change to that model is unfinished, these are all elements with a vector.
        """
        validation.refuse("page", validation.number("limit", limit, 0))
        async with self.snapshot():
            every = (await self.scope_row()).next_embedder != name
            return await _outdated(self, kind, limit, after=after, every=every)

    async def put_new_vectors(self, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
        """Keep vectors of the next model, of elements that still have one and the same text; return their number.

        `ReembeddingError` if no change to the model ``name`` is unfinished, `EmbeddingModelError` for vectors of
        another length, `InvalidInputError` for vectors that are no finite numbers.
        """
        async with beside(self) as port:
            _refuse_other_change(self.scope, port.scope.next_embedder, name)
            return await _put(port, kind, vectors)

    async def switch_embedder(self, name: str, remake: Remake, *, most: int) -> int:
        """Replace all vectors and the model of the scope in one transaction, if at most ``most`` are outdated.

        These are made by ``remake`` while other writers wait. Returns 0 if it was done, else at least how many vectors
        are outdated, with nothing changed. Call `settle` afterwards. `ReembeddingError` if no change to the model
        ``name`` is unfinished.
        """
        unfinished = await self.reembedding()  # first: a store may drop indexes for the transaction
        _refuse_other_change(self.scope, unfinished.embedder if unfinished else None, name)
        left = 0 if unfinished is None else sum(unfinished.total.values()) - sum(unfinished.done.values())
        if left > most:
            return left
        async with self.writing(changing=True, renewing=True) as port:
            scope = port.scope
            _refuse_other_change(self.scope, scope.next_embedder, name)
            outdated = {kind: await _outdated(port, kind, most + 1) for kind in ElementKind}
            if (left := sum(map(len, outdated.values()))) > most:
                port.discard()
                return left
            for kind, elements in outdated.items():
                if elements:
                    await _put(port, kind, await remake(elements))
            await port.switch_vectors()
            scope.embedder, scope.dimensions = scope.next_embedder, scope.next_dimensions
            scope.next_embedder = scope.next_dimensions = None
            await port.finish({})
        return 0

    async def cancel_reembedding(self) -> bool:
        """Discard an unfinished change with its vectors; return whether there was one."""
        async with beside(self) as port:
            return await _discard(port)


async def _discard(port: Port) -> bool:
    was = port.scope.next_embedder is not None
    await port.clear(_SHADOWS)
    port.scope.next_embedder = port.scope.next_dimensions = None
    return was


async def _outdated(
    rows: Rows, kind: ElementKind, limit: int, *, after: UUID | str | None = None, every: bool = False
) -> list[Element]:
    found = await rows.page(kind, after=after, limit=limit, embedded=True, shadowed=None if every else False)
    return [getattr(row, kind) for row in found]


async def _put(port: Port, kind: ElementKind, vectors: Sequence[NewVector]) -> int:
    """Put shadows of elements that have a vector and the text that theirs were made of; return their number."""
    given = read_vectors({element.id: vector for element, vector in vectors if vector is not None})
    if given.faults:
        raise InvalidInputError("vectors", sorted(given.faults))
    given.refuse_others(port.scope.next_embedder, port.scope.next_dimensions)
    texts = {element.id: embedding_text(element) for element, _ in vectors}
    embedded = [row.key for row in await port.rows(f"{kind}_vector", texts)]
    stored = await port.rows(kind, embedded)
    current = sorted(row.key for row in stored if embedding_text(getattr(row, kind)) == texts[row.key])
    await port.put(f"{kind}_shadow", [Entry(key, given.rows.get(key)) for key in current], {})
    return len(current)


def _refuse_other_change(scope: Scope, unfinished: str | None, name: str) -> None:
    """Raise `ReembeddingError` unless a change to the model ``name`` is unfinished."""
    if unfinished is None or unfinished != name:
        raise ReembeddingError(
            f"no change of scope {scope} to {name!r} is unfinished: it was cancelled, restarted with another model, or "
            "finished elsewhere"
        )
