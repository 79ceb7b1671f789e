"""What passes from stores through traversal to scoring: columns of numbers, not rows of objects.

A query touches thousands of relations and shows ten. So a store answers in numpy columns, and only what is shown is
read as whole elements. A *key* is a store's own handle of an element: opaque, sortable, and sorting as ids do; any
dtype that numpy can sort will do. Keys are good as long as the snapshot they were read in.
"""

from __future__ import annotations

from typing import Any, Final

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
class Hits:
    """Elements that a search found, best first.

    ``values`` are distances (lower is nearer) from a vector search, scores (higher is better) from a lexical one,
    and 0 where elements were looked up. ``importance`` is an entity's importance weight, 0.5 for other kinds.
    """

    keys: Keys
    signatures: Codes
    values: Floats
    importance: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Hits:
        """The rows that a mask or an index selects, in their order."""
        return Hits(
            keys=self.keys[rows],
            signatures=self.signatures[rows],
            values=self.values[rows],
            importance=self.importance[rows],
        )


@attrs.frozen(eq=False, kw_only=True)
class Edges:
    """Relations as pairs of ends, in order of their keys."""

    relations: Keys
    sources: Keys
    targets: Keys
    weights: Floats
    """Confidences."""

    def __len__(self) -> int:
        return len(self.relations)


@attrs.frozen(eq=False, kw_only=True)
class Mentioned:
    """Which memories mention which entities: a row for every pair, in order of ``near`` as asked for, then ``far``."""

    near: Keys
    far: Keys
    times: Floats
    """How often the memory mentions the entity."""
    about: Mask
    """Whether it does so without a span: by its subject or its speaker, not only in its text."""
    far_signatures: Codes

    def __len__(self) -> int:
        return len(self.far)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Mentioned:
        """The rows that a mask or an index selects, in their order."""
        return Mentioned(
            near=self.near[rows],
            far=self.far[rows],
            times=self.times[rows],
            about=self.about[rows],
            far_signatures=self.far_signatures[rows],
        )


@attrs.frozen(eq=False, kw_only=True)
class Turns:
    """Memories and those next to them in their session: a row for every pair, in the order asked for."""

    near: Keys
    far: Keys
    later: Mask
    """Whether the far one comes after the near one."""
    far_signatures: Codes

    def __len__(self) -> int:
        return len(self.far)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Turns:
        """The rows that a mask or an index selects, in their order."""
        return Turns(
            near=self.near[rows],
            far=self.far[rows],
            later=self.later[rows],
            far_signatures=self.far_signatures[rows],
        )

    @staticmethod
    def concatenate(parts: list[Turns]) -> Turns:
        """The rows of several, one after another. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        names = ("near", "far", "later", "far_signatures")
        return Turns(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
