"""What a traversal returns: entities with hop and path, and the relations among them, as columns."""

from __future__ import annotations

from typing import Final

import attrs

from graphsearch.columns import Codes, Floats, Keys
from graphsearch.places import Rows

NONE: Final = -1


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

    def path_to(self, entity: int) -> Keys:
        """Keys of the relations walked from a seed to a row of ``entities``, in order."""
        walked: list[int] = []
        while self.via[entity] != NONE:
            walked.append(int(self.via[entity]))
            entity = int(self.previous[entity])
        path: Keys = self.relations[walked[::-1]]
        return path
