"""What stores and callers exchange while the embedding model of a scope is changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

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


Element: TypeAlias = Entity | Memory | Relation
NewVector: TypeAlias = tuple[Element, Vector | None]
"""An element as it was read, and its new vector: None where the text is blank, so that it has none after the switch."""
Remake: TypeAlias = Callable[[Sequence[Element]], Awaitable[Sequence[NewVector]]]
"""Makes the new vectors of some elements."""
