"""Personalised PageRank over arrays: by forward push, one synchronous round at a time, and by power iteration. Pure.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors", 2006. Mass waits at entities as a
*residual*. A push keeps the share ``restart`` of it as rank and passes the rest on along the links; it is only made
where the residual exceeds epsilon × weight, so that the work depends on epsilon and not on the size of the graph.

Power iteration: r ← restart · s + (1 − restart) · (P r + dangling · s). Page, Brin, Motwani and Winograd, "The PageRank
citation ranking", 1999, with the restart at the seeds s alone. P goes from an entity along its links in proportion to
their weights; the mass of entities without a link goes back to the seeds.
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


def power_iteration(
    near: Rows, far: Rows, weight: Floats, seeds: Floats, *, restart: float, tolerance: float, max_iterations: int
) -> Floats:
    """The PageRank of each of ``len(seeds)`` entities: not negative, with the sum 1.

    Link i leads from entity ``near[i]`` to ``far[i]`` and has ``weight[i]`` > 0; ``seeds`` has the sum 1. Stops when
    the L1 change falls below ``tolerance``: the L1 error is then below tolerance × (1 − restart) / restart.
    """
    size = len(seeds)
    total = np.bincount(near, weight, size)
    chance = (1.0 - restart) * weight / total.take(near)
    dangling = total == 0.0
    rank = seeds
    for _ in range(max_iterations):
        flow = np.bincount(far, chance * rank.take(near), size)
        back = restart + (1.0 - restart) * rank[dangling].sum()
        before, rank = rank, flow + back * seeds
        if np.abs(rank - before).sum() < tolerance:
            break
    return rank
