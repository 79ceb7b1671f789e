"""Scores of several channels on one scale: by rank, in standard deviations, and mixed with feedback."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats

RRF_K: Final = 60
"""Reciprocal ranks are 1 / (60 + rank)."""


@attrs.frozen(kw_only=True)
class Part:
    """The contribution of one channel: its rank, from 1, and score of the item, its weight, and the contribution."""

    rank: int
    score: float
    weight: float
    contribution: float


def standard_scores(scores: Floats, found: int, floor: float | None = None) -> Floats:
    """Scores of some of ``found`` items in standard deviations of all of them, measured from the least.

    So none is negative. ``floor`` is the score of the others, the least of ``scores`` if None. If all are equal each
    is 0.
    """
    if not len(scores):
        return scores
    least = scores.min() if floor is None else min(floor, scores.min())
    every = np.concatenate((scores, np.full(found - len(scores), least)))
    deviation = every.std()
    if deviation <= np.spacing(np.abs(every).max()):
        return np.zeros(len(scores))
    return np.asarray((scores - least) / deviation)


def with_feedback(relevance: Floats, feedback: Floats, influence: float) -> tuple[Floats, Floats]:
    """The two parts of (1 − φ) · relevance / best + φ · feedback, for ``relevance`` ≥ 0.

    ``feedback`` and the ``influence`` φ are in [0, 1], and so is the sum. If nothing is relevant, the first is 0.
    """
    best = relevance.max(initial=0.0)
    share = relevance / best if best > 0 else np.zeros_like(relevance)
    return (1.0 - influence) * share, influence * feedback
