"""Personalised PageRank by forward push: pure, over arrays, one synchronous round at a time.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors", 2006. Mass waits at entities as a
*residual*. A push keeps the share ``restart`` of it as rank and passes the rest on along the links; it is only made
where the residual exceeds epsilon × weight, so that the work depends on epsilon and not on the size of the graph.
"""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask, Rows

LIGHTEST: Final = 64.0
"""Least weight assumed of an entity: an unread one may weigh this much, and reading it is the cost to avoid."""


@attrs.frozen(eq=False)
class Links:
    """Links that lead away from some entities, entity by entity."""

    owner: Rows
    """The row of the entity that each link leaves, among those entities."""
    far: Rows
    """The row of the entity that each link leads to."""
    weight: Floats
    """Weights, above 0."""


@attrs.frozen(eq=False)
class Mass:
    """The mass by row of entity: settled as rank, or waiting to be pushed. The total is 1."""

    settled: Floats
    waiting: Floats

    @classmethod
    def at(cls, seeds: Floats) -> Mass:
        """All mass waiting at the seeds."""
        return cls(np.zeros(len(seeds)), seeds)

    def among(self, size: int) -> Mass:
        """The same mass among more entities."""
        further = np.zeros(size - len(self.settled))
        return Mass(np.concatenate((self.settled, further)), np.concatenate((self.waiting, further)))

    def excessive(self, weight: Floats, epsilon: float) -> Mask:
        """The rows where more mass waits than epsilon × weight: the sum of an entity's links, at least `LIGHTEST`."""
        exceeds: Mask = self.waiting > epsilon * np.maximum(weight, LIGHTEST)
        return exceeds

    def rank(self, restart: float) -> Floats:
        """The PageRank so far, with the share of the waiting mass that would settle in place.

        Never more than the true one. When nothing is `excessive`, and every link can be walked both ways with the same
        weight, it falls short of it by at most epsilon × weight × max(1, LIGHTEST / the least weight of any entity).
        """
        return self.settled + restart * self.waiting

    def pushed(self, rows: Rows, links: Links, seeds: Floats, restart: float) -> Mass:
        """The mass after a push at some rows, given their links; without links it returns to the seeds (first rows)."""
        moved = self.waiting.take(rows)
        settled, waiting = self.settled.copy(), self.waiting.copy()
        settled[rows] += restart * moved
        waiting[rows] = 0.0
        passed = (1.0 - restart) * moved
        total = np.bincount(links.owner, links.weight, len(rows))
        dangling = total == 0.0
        share = np.divide(passed, total, out=np.zeros_like(passed), where=~dangling)
        np.add.at(waiting, links.far, share.take(links.owner) * links.weight)
        waiting[: len(seeds)] += passed[dangling].sum() * seeds
        return Mass(settled, waiting)
