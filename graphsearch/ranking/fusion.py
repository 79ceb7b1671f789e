"""Fusion of several rankings, with every part of the result explained: RRF and z-scores.

    RRF:       Σ w · g / (k + rank), ranks from 1; g is the score if the channel is graded, else 1
    z-scores:  Σ w · (score − least) / σ

Both add up to the fused score, are never negative, and do not depend on the order of the channels. Equal scores are in
the order of their keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats
from graphsearch.model import validation as check

RRF_K: Final = 60

Key = TypeVar("Key", str, UUID, int)


@attrs.frozen(eq=False, kw_only=True)
class Channel(Generic[Key]):
    """One ranking.

    * ``keys``: the distinct hits, best first; ``scores`` of these, any finite numbers, higher is better.
    * ``weight``: of the channel, any number ≥ 0; 0 turns it off.
    * ``graded``: reciprocal ranks are multiplied by the scores, which must not be negative.
    * ``floor``: the score of what it did not find, for z-scores: 0 suits channels for which no match means 0 (common
      words). Without one it is the least score found.
    """

    keys: Sequence[Key]
    scores: Sequence[float]
    weight: float = 1.0
    graded: bool = False
    floor: float | None = None

    def __attrs_post_init__(self) -> None:
        wrong = not np.isfinite(np.asarray(self.scores, dtype=np.float64)).all()
        check.refuse(
            "channel",
            None if len(self.keys) == len(self.scores) else f"{len(self.keys)} keys have {len(self.scores)} scores",
            None if len(set(self.keys)) == len(self.keys) else "each key must be there once",
            "scores must be finite numbers" if wrong else None,
            "graded scores must not be negative" if self.graded and min(self.scores, default=0.0) < 0 else None,
            check.number("weight", self.weight, 0.0),
            None if self.floor is None else check.number("floor", self.floor, -math.inf),
        )


@attrs.frozen(kw_only=True)
class Part:
    """The contribution of one channel: its rank, from 1, and score of the item, its weight, and the contribution."""

    rank: int
    score: float
    weight: float
    contribution: float


@attrs.frozen(kw_only=True)
class Fused(Generic[Key]):
    """One item, its fused score, and the parts that add up to it, by channel; only of channels that found it."""

    key: Key
    score: float
    parts: Mapping[str, Part]


def reciprocal_rank(channels: Mapping[str, Channel[Key]], *, rrf_k: float = RRF_K) -> list[Fused[Key]]:
    """Fuse by ranks: Σ w · g / (k + rank). Raises `InvalidInputError` for a ``k`` below 0."""
    check.refuse("fusion", check.number("rrf_k", rrf_k, 0.0))

    def contributions(channel: Channel[Key]) -> Floats:
        grades = np.asarray(channel.scores if channel.graded else np.ones(len(channel.keys)), dtype=np.float64)
        return channel.weight * grades / (rrf_k + np.arange(1, len(channel.keys) + 1))

    return _fused(channels, contributions)


def z_score(channels: Mapping[str, Channel[Key]]) -> list[Fused[Key]]:
    """Fuse by standard scores, over all items that any channel found, measured from the least score of each channel.

    Measuring from the least moves all fused scores by one constant, so that none is negative and the order is that of
    Σ w · (score − mean) / σ. A channel whose scores are all equal contributes nothing.
    """
    found = {key for channel in channels.values() if channel.weight for key in channel.keys}

    def contributions(channel: Channel[Key]) -> Floats:
        scores = np.asarray(channel.scores, dtype=np.float64)
        return channel.weight * standard_scores(scores, len(found), channel.floor)

    return _fused(channels, contributions)


def standard_scores(scores: Floats, found: int, floor: float | None = None) -> Floats:
    """Scores of some of ``found`` items in standard deviations of all of them, measured from the least.

    ``floor`` is the score of the others, the least of ``scores`` if None. If all are equal each is 0.
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


def _fused(channels: Mapping[str, Channel[Key]], contributions: Callable[[Channel[Key]], Floats]) -> list[Fused[Key]]:
    parts: dict[Key, dict[str, Part]] = {}
    for name, channel in channels.items():
        if not channel.weight:
            continue
        added = zip(channel.keys, channel.scores, contributions(channel).tolist(), strict=True)
        for rank, (key, score, contribution) in enumerate(added, 1):
            part = Part(rank=rank, score=score, weight=channel.weight, contribution=contribution)
            parts.setdefault(key, {})[name] = part
    # exact summation, so that the order of the channels does not matter
    totals = {key: math.fsum(part.contribution for part in each.values()) for key, each in parts.items()}
    order = sorted(totals, key=lambda key: (-totals[key], key))
    return [Fused(key=key, score=totals[key], parts=parts[key]) for key in order]
