"""Changing the embedding model of a scope while it is read and written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol
from uuid import UUID

from graphsearch.model import ElementKind, Vector
from graphsearch.model.reembedding import OutdatedVector, Reembedding
from graphsearch.protocols.effects import changes, reads

NewVector = tuple[OutdatedVector, Vector | None]
"""An outdated vector and the new one; None where the text has become blank, so that there is none after the switch."""
Remake = Callable[[Sequence[OutdatedVector]], Awaitable[Sequence[NewVector]]]
"""Makes the new vectors of some elements."""


class Reembeddable(Protocol):
    """A change of the embedding model: new vectors are kept beside the old ones, until one transaction switches.

    Until the switch every read and write sees the old vectors alone. The elements that have a vector get a new one, and
    no others. New vectors go with their elements: whatever is forgotten or loses its vector loses both. A change that
    ends in the middle is continued by whoever begins it again.
    """

    @reads
    async def reembedding(self) -> Reembedding | None:
        """The unfinished change, or None."""
        ...

    @changes("embedder")
    async def begin_reembedding(self, name: str, dimensions: int, *, restart: bool = False) -> bool:
        """Begin a change to a model, or continue it; return False if the scope has the model already.

        `ReembeddingError` if a change to another model is unfinished; with ``restart`` an unfinished change is
        discarded first. `EmbeddingModelError` for a scope without a model.
        """
        ...

    @reads
    async def outdated_vectors(
        self, kind: ElementKind, name: str, *, after: UUID | str | None = None, limit: int = 256
    ) -> Sequence[OutdatedVector]:
        """The next elements of a kind, in order of id, that have a vector and no current one of the model ``name``.

        If no change to that model is unfinished, these are all elements with a vector.
        """
        ...

    @changes("embedder")
    async def put_new_vectors(self, kind: ElementKind, name: str, vectors: Sequence[NewVector]) -> int:
        """Keep vectors of the next model, of elements that still have one; return their number.

        `ReembeddingError` if no change to the model ``name`` is unfinished, `EmbeddingModelError` for vectors of
        another length, `InvalidInputError` for vectors that are no finite numbers.
        """
        ...

    @changes("embedder")
    async def switch_embedder(self, name: str, remake: Remake, *, most: int) -> int:
        """Replace all vectors and the model of the scope in one transaction, if at most ``most`` are outdated.

        These are made by ``remake`` while other writers wait. Returns 0 if it was done, else at least how many vectors
        are outdated, with nothing changed. Call `settle` afterwards. `ReembeddingError` if no change to the model
        ``name`` is unfinished.
        """
        ...

    @changes("embedder")
    async def cancel_reembedding(self) -> bool:
        """Discard an unfinished change with its vectors; return whether there was one."""
        ...
