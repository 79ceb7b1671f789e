"""What a traversal returns: entities with hop and path, and the relations among them, as columns."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Floats, Keys

Rows = NDArray[np.intp]

NONE = -1


@attrs.frozen(eq=False, kw_only=True)
class Subgraph:
    """Entities in order of key, with their path from a seed; relations in order of key, between rows of entities.

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

    def seeds(self) -> Keys:
        """Keys of the entities that the traversal started from."""
        started: Keys = self.entities[self.hops == 0]
        return started

    def path_to(self, entity: int) -> Keys:
        """Keys of the relations walked from a seed to a row of ``entities``, in order."""
        walked: list[int] = []
        while self.via[entity] != NONE:
            walked.append(int(self.via[entity]))
            entity = int(self.previous[entity])
        path: Keys = self.relations[walked[::-1]]
        return path


def row_of(sorted_keys: Keys, keys: Keys) -> Rows:
    """Rows of keys in a sorted column that holds them all."""
    return np.searchsorted(sorted_keys, keys)


def contains(sorted_keys: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Which keys stand in a sorted column."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=np.bool_)
    found = sorted_keys[np.searchsorted(sorted_keys, keys).clip(max=len(sorted_keys) - 1)]
    equal: NDArray[np.bool_] = found == keys
    return equal
