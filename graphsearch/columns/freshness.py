"""How fresh what is known still is, by its age and the half-life of its type."""

from __future__ import annotations

from typing import Final

import numpy as np

from graphsearch.columns import Floats

SECONDS_A_DAY: Final = 86_400.0
STALE: Final = 2.0**-13
"""What is left after thirteen half-lives: age orders what is known, and does not bury the only thing that is."""


def freshness(age_days: Floats | float, half_life_days: Floats | float) -> Floats:
    """The freshness 2^(−age / half-life), at most 1 and at least `STALE`. An infinite half-life means no decay.

    Negative ages count as 0: support after ``as_of`` is not counted, but a period may start later.
    """
    age = np.maximum(np.asarray(age_days, dtype=np.float64), 0.0)
    if np.isinf(half_life_days).all():
        return np.ones_like(age)
    return np.maximum(np.exp2(-age / half_life_days), STALE)


def age_in_days(since: Floats, as_of: float) -> Floats:
    """Days from ``since`` to ``as_of``, both in seconds since the epoch; negative if ``since`` is later."""
    return (as_of - since) / SECONDS_A_DAY
