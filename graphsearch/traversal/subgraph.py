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
