"""Personalised PageRank by power iteration: pure, over arrays.

r ← restart · s + (1 − restart) · (P r + dangling · s): Page, Brin, Motwani and Winograd, "The PageRank citation
ranking", 1999, with the restart at the seeds s alone. P goes from an entity along its links in proportion to their
weights; the mass of entities without a link goes back to the seeds.
"""

from __future__ import annotations

import numpy as np

from graphsearch.columns import Floats, Rows


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
