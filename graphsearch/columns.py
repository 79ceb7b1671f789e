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
class Expansion:
    """One hop away from a frontier: a row for every relation found, at most ``fan_out`` an entity and direction.

    Rows of one (near, direction) come strongest first: greatest confidence × prior, ties by relation key. A relation
    between two entities of the frontier appears once from either side.
    """

    near: Keys
    """The entity of the frontier."""
    far: Keys
    """The entity at the other end."""
    outgoing: Mask
    """True where ``near`` is the relation's source."""
    relations: Keys
    confidence: Floats
    since: Floats
    """What freshness counts from, in epoch seconds: newest support at ``as_of``, else start, else creation."""
    feedback: Floats
    signatures: Codes
    """Signature of the relation."""
    far_signatures: Codes
    far_importance: Floats
    far_holds: Mask
    """False where the far entity does not hold at ``as_of``, was not known at ``known_at``, or was merged away."""

    def __len__(self) -> int:
        return len(self.relations)

    def keep(self, rows: Mask | NDArray[np.intp]) -> Expansion:
        """The rows that a mask or an index selects, in their order."""
        return Expansion(**{name: getattr(self, name)[rows] for name in _EXPANSION_COLUMNS})

    @staticmethod
    def none(like: Keys) -> Expansion:
        """No rows, with keys of the same dtype as some keys."""
        keys, numbers, codes = like[:0], np.empty(0), np.empty(0, dtype=np.int64)
        flags = np.empty(0, dtype=np.bool_)
        return Expansion(
            near=keys,
            far=keys,
            outgoing=flags,
            relations=keys,
            confidence=numbers,
            since=numbers,
            feedback=numbers,
            signatures=codes,
            far_signatures=codes,
            far_importance=numbers,
            far_holds=flags,
        )

    @staticmethod
    def concatenate(parts: list[Expansion]) -> Expansion:
        """The rows of several expansions, one after another. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        return Expansion(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _EXPANSION_COLUMNS}
        )


_EXPANSION_COLUMNS = tuple(field.name for field in attrs.fields(Expansion))


@attrs.frozen(eq=False)
class Steps:
    """An expansion of which all may be seen, with how much each relation can be relied on."""

    rows: Expansion
    freshness: Floats
    prior: Floats
    kind_rank: Codes
    """0 structural, 1 semantic, 2 lifecycle."""

    @property
    def reliability(self) -> Floats:
        """Confidence × freshness × prior."""
        return self.rows.confidence * self.freshness * self.prior

    @staticmethod
    def none(like: Keys) -> Steps:
        """No rows, with keys of the same dtype as some keys."""
        return Steps(Expansion.none(like), np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))


@attrs.frozen(eq=False, kw_only=True)
class Subgraph:
    """Entities with their path from a seed, and relations between rows of entities, each in the order it was reached.

    A seed lies 0 hops away, by an empty path. The path's columns are the least confidence, freshness and prior along
    it, and the product of its confidences; 1 for a seed.
    """

    entities: Keys
    hops: Codes
    seed_distance: Floats
    """Cosine distance of the seed that the path starts from; 0 for an anchor."""
    importance: Floats
    path_confidence: Floats
    path_confidence_product: Floats
    path_freshness: Floats
    path_prior: Floats
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
    signatures: Codes
    kind_rank: Codes
    """0 structural, 1 semantic, 2 lifecycle."""

    def seeds(self) -> Keys:
        """Keys of the entities that the traversal started from."""
        started: Keys = self.entities[self.hops == 0]
        return started

    def paths_to(self, entities: Rows) -> list[Keys]:
        """For each of some rows of ``entities``, the keys of the relations walked to it from a seed, in order."""
        via, previous = self.via.tolist(), self.previous.tolist()
        return [self.relations[_walked(entity, via, previous)] for entity in entities.tolist()]


def _walked(entity: int, via: list[int], previous: list[int]) -> list[int]:
    relations = []
    while via[entity] != NONE:
        relations.append(via[entity])
        entity = previous[entity]
    return relations[::-1]
