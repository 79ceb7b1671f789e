"""What stores and callers exchange while the embedding model of a scope is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

import attrs

from graphsearch.model.batches import Vector
from graphsearch.model.elements import ElementKind, Entity, Memory, Relation


@attrs.frozen(kw_only=True)
class Reembedding:
    """An unfinished change of the embedding model: the model, and how many elements of each kind have its vectors.

    ``total`` has the numbers of vectors of the scope.
    """

    embedder: str
    dimensions: int
    done: Mapping[ElementKind, int]
    total: Mapping[ElementKind, int]


@attrs.frozen
class OutdatedVector:
    """An element whose vector is not of the next model yet, with a digest of what its text is made of.

    The digest is the store's own; it is handed back with the new vector, which is outdated in turn when the text
    changes.
    """

    element: Entity | Memory | Relation
    digest: UUID


NewVector: TypeAlias = tuple[OutdatedVector, Vector | None]
"""An outdated vector and the new one; None where the text has become blank, so that there is none after the switch."""
Remake: TypeAlias = Callable[[Sequence[OutdatedVector]], Awaitable[Sequence[NewVector]]]
"""Makes the new vectors of some elements."""
