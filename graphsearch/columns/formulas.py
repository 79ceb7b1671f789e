"""Formulas over columns that every room below the ranking shares: freshness by age, and cosines."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

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


def cosines(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> Floats:
    """The inner product of each row, of shape (n, d), with a vector of shape (d,); cosines if all have length 1.

    The value of a row does not depend on other rows. A matrix product rounds by the position of a row, so that hidden
    rows would change the last digits of visible ones.
    """
    found: Floats = np.einsum("ij,j->i", vectors, vector).astype(np.float64)
    return found
