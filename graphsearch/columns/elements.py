"""Columns of elements, as stores return them.

A query touches thousands of relations and shows ten. So a store answers in numpy columns, and only what is shown is
read as whole elements. A *key* is a store's own handle of an element: opaque, of any sortable dtype, in the same order
as ids. Keys are valid as long as the snapshot they were read in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Final, Self

import attrs
import numpy as np
from numpy.typing import NDArray

Keys = NDArray[Any]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

NONE: Final = -1
"""No row."""


@attrs.frozen(eq=False, kw_only=True)
class ColumnSet:
    """Columns of equal length."""

    _columns: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        cls._columns = tuple(cls.__annotations__)

    def __len__(self) -> int:
        return len(getattr(self, self._columns[0]))

    def keep(self, rows: Mask | Rows) -> Self:
        """The rows that a mask or an index selects, in their order."""
        return type(self)(**{name: getattr(self, name)[rows] for name in self._columns})

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The rows of several parts in order. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in cls._columns})


@attrs.frozen(eq=False, kw_only=True)
class Hits(ColumnSet):
    """The hits of a search, best first.

    ``values`` are distances (lower is nearer) from a vector search, scores (higher is better) from a lexical one,
    and 0 where elements were looked up. ``importance`` is an entity's importance weight, 0.5 for other kinds.
    """

    keys: Keys
    signatures: Codes
    values: Floats
    importance: Floats


@attrs.frozen(eq=False, kw_only=True)
class Edges(ColumnSet):
    """Relations as pairs of entities, in order of their keys."""

    relations: Keys
    sources: Keys
    targets: Keys
    weights: Floats
    """Confidences."""


@attrs.frozen(eq=False, kw_only=True)
class Mentioned(ColumnSet):
    """Mentions as a row for every (memory, entity) pair, in the requested order of ``near``, then by ``far``."""

    near: Keys
    far: Keys
    times: Floats
    """Number of mentions of the entity in the memory."""
    about: Mask
    """Whether the entity is the subject or the speaker of the memory (a mention without a span)."""
    far_signatures: Codes


@attrs.frozen(eq=False, kw_only=True)
class Turns(ColumnSet):
    """Adjacent memories of a session: a row for every pair, in the requested order."""

    near: Keys
    far: Keys
    later: Mask
    """Whether the far memory follows the near one."""
    far_signatures: Codes


@attrs.frozen(eq=False, kw_only=True)
class Subgraph:
    """Entities with their path from a seed, and relations between rows of entities, each in the order it was reached.

    A seed is 0 hops away, by an empty path.
    """

    entities: Keys
    hops: Codes
    """Ascending."""
    importance: Floats
    previous: Rows
    """The entity before on the path, or -1."""
    via: Rows
    """The last relation of the path, or -1."""

    relations: Keys
    source: Rows
    target: Rows
    confidence: Floats
    freshness: Floats
    prior: Floats
    feedback: Floats
    signatures: Rows
    """As in `Steps`."""
    rank: Floats | None = None
    """The PageRank of each entity if that found them; there are no paths then."""

    @staticmethod
    def none(like: Keys) -> Subgraph:
        """An empty subgraph, with keys of the dtype of ``like``."""
        columns: dict[str, Any] = {
            **dict.fromkeys(("entities", "relations"), like[:0]),
            **dict.fromkeys(("previous", "via", "source", "target", "signatures"), np.empty(0, np.intp)),
            **dict.fromkeys(("importance", "confidence", "freshness", "prior", "feedback"), np.empty(0)),
        }
        return Subgraph(hops=np.empty(0, np.int64), **columns)

    def seeds(self) -> Keys:
        """Keys of the entities that the traversal started from."""
        started: Keys = self.entities[self.hops == 0]
        return started

    def along_paths(self, columns: Floats, combine: np.ufunc) -> Floats:
        """Combine columns of relations (last axis) along the path of each entity; 1 without a path."""
        along = np.ones((*columns.shape[:-1], len(self.entities)))
        if self.rank is not None:
            return along
        bounds = np.bincount(self.hops).cumsum().tolist()
        for start, end in pairwise(bounds):  # the entities of earlier hops are already computed
            walked = columns.take(self.via[start:end], axis=-1)
            along[..., start:end] = combine(along.take(self.previous[start:end], axis=-1), walked)
        return along

    def path_to(self, entity: int) -> list[int]:
        """The rows of the relations walked from a seed to an entity (a row too), in order."""
        walked: list[int] = []
        while (via := int(self.via[entity])) != NONE:
            walked.append(via)
            entity = int(self.previous[entity])
        return walked[::-1]
