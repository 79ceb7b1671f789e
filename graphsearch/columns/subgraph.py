"""The result of a traversal as columns."""

from __future__ import annotations

from itertools import pairwise

import attrs
import numpy as np

from graphsearch.columns.elements import NONE, Codes, Floats, Keys, Rows


@attrs.frozen(eq=False, kw_only=True)
class Subgraph:
    """Entities with their path from a seed, and relations between rows of entities, each in the order it was reached.

    A seed is 0 hops away, by an empty path.
    """

    entities: Keys
    hops: Codes
    """Ascending."""
    seed_distance: Floats
    """Cosine distance of the seed that the path starts from; 0 for an anchor."""
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
        keys, rows, numbers = like[:0], np.empty(0, dtype=np.intp), np.empty(0)
        return Subgraph(
            entities=keys,
            hops=np.empty(0, dtype=np.int64),
            seed_distance=numbers,
            importance=numbers,
            previous=rows,
            via=rows,
            relations=keys,
            source=rows,
            target=rows,
            confidence=numbers,
            freshness=numbers,
            prior=numbers,
            feedback=numbers,
            signatures=rows,
        )

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
