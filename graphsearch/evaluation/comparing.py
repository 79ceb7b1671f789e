"""Comparison of methods on the same questions: means, intervals, and the regret of the default method.

The 95 % interval of a share of questions is Wilson's (1927), which is accurate near 0 and 1; that of any other mean is
between the 2.5th and the 97.5th percentile of bootstrap means over questions (Efron, 1979).

R@k is the share of a question's evidence among the first k; All@k the share of questions with all their evidence there;
MRR the mean of 1 / rank of the first evidence; nDCG@10 as in Järvelin and Kekäläinen (2002), by trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.evaluation.question_set import GoldQuestion
from graphsearch.model import validation as check
from graphsearch.model.codec import encode

Values = Mapping[str, float | None]
"""Values in [0, 1] of one question, by metric; None where a metric does not apply to it."""
Run = Mapping[str, Sequence[str]]
"""Ranked ids of passages, best first, by the id of the question."""

Z: Final = 1.959964
"""The 97.5th percentile of the standard normal distribution."""
RESAMPLES: Final = 2_000
KS: Final = (2, 5, 8, 10)
GAINS: Final = 10
"""Ranks that nDCG counts."""
LOST: Final = "lost"
"""The share of questions with an answer that get nothing."""
SILENCED: Final = "silenced"
"""The share of questions without an answer that get nothing. Neither has a regret: finding anything is no merit."""


@attrs.frozen
class Scored:
    """What one method scored on a question of a kind, and its time."""

    kind: str
    values: Values
    ms: float = 0.0


@attrs.frozen(kw_only=True)
class Column:
    """One method: means in [0, 1] by metric, their 95 % intervals, and the means for each kind of question.

    ``p50_ms`` and ``p95_ms`` are percentiles of its time for a question, in milliseconds.
    """

    name: str
    metrics: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    by_kind: Mapping[str, Mapping[str, float]]
    p50_ms: float = 0.0
    p95_ms: float = 0.0

    @classmethod
    def of(cls, name: str, scored: Sequence[Scored]) -> Column:
        """The column of one method. A metric that applies to no question is left out."""
        measured = _by_metric(scored)
        kinds = dict.fromkeys(each.kind for each in scored)
        of_kinds = {kind: [each for each in scored if each.kind == kind] for kind in kinds}
        p50, p95 = np.percentile([each.ms for each in scored], [50, 95]).tolist()
        return cls(
            name=name,
            metrics=_means(measured),
            intervals={metric: interval(values) for metric, values in measured.items()},
            by_kind={kind: _means(_by_metric(of_kind)) for kind, of_kind in of_kinds.items()},
            p50_ms=p50,
            p95_ms=p95,
        )


def _by_metric(scored: Sequence[Scored]) -> dict[str, list[float]]:
    longest = max((each.values for each in scored), key=len)  # names all metrics, in their order
    of_metrics = {name: [value for each in scored if (value := each.values.get(name)) is not None] for name in longest}
    return {name: values for name, values in of_metrics.items() if values}


def _means(values: Mapping[str, list[float]]) -> dict[str, float]:
    return {metric: float(np.mean(of_metric)) for metric, of_metric in values.items()}


@attrs.frozen(kw_only=True)
class Regret:
    """How far a column is below the best of its rivals in one metric, in percentage points; negative if it is ahead."""

    best: str
    points: float


@attrs.frozen(kw_only=True)
class Comparison:
    """Columns measured on the same questions.

    * ``columns``: the first is the default. ``rivals``: the names of the single channels and of the baseline.
    * ``kinds``: the number of questions of each kind; ``unanswerable`` of them have no gold.
    * ``index_s``: the seconds that writing took, and ``rss_mb``: the peak memory of the process in 10⁶ bytes.
    """

    columns: tuple[Column, ...]
    rivals: tuple[str, ...] = ()
    kinds: Mapping[str, int] = attrs.field(factory=dict)
    unanswerable: int = 0
    index_s: float = 0.0
    rss_mb: float = 0.0

    @property
    def default(self) -> Column:
        """The column of the default method."""
        return self.columns[0]

    def regret(self, of: Column | None = None) -> dict[str, Regret]:
        """The regret of a column, by metric; of the default unless given."""
        column = of or self.default
        rivals = {each.name: each.metrics for each in self.columns if each.name in self.rivals and each != column}
        found = {}
        for metric, mean in column.metrics.items() if rivals else ():
            if metric not in (LOST, SILENCED):
                best = max(rivals, key=lambda name: rivals[name][metric])
                found[metric] = Regret(best=best, points=round(100.0 * (rivals[best][metric] - mean), 6))
        return found

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the default's metrics and regret at the top level, those of the other columns under "others"."""
        default, *others = ({**encode(each), **self._regrets(each)} for each in self.columns)
        name = default.pop("name")
        kept = ("kinds", "unanswerable", "index_s", "rss_mb")
        return {
            **default,
            "default": name,
            "others": {each.pop("name"): each for each in others},
            "questions": sum(self.kinds.values()),
            **{name: encode(getattr(self, name)) for name in kept},
        }

    def _regrets(self, column: Column) -> dict[str, Any]:
        regret = self.regret(column)
        return {
            "regret": {metric: each.points for metric, each in regret.items()},
            "best": {metric: each.best for metric, each in regret.items()},
        }


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of some values: Wilson's if each is 0 or 1, else by bootstrap."""
    if all(value in {0.0, 1.0} for value in values):
        return wilson(round(sum(values)), len(values))
    count = len(values)  # equal numbers of values get equal resamples
    resamples = np.random.default_rng(0).integers(count, size=(RESAMPLES, count))
    low, high = np.percentile(np.array(values)[resamples].mean(axis=1), [2.5, 97.5]).tolist()
    return low, high


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval of a share, at 95 %; ``trials`` is at least 1."""
    share, z2 = successes / trials, Z * Z
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z / (1 + z2 / trials) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def measure(questions: Sequence[GoldQuestion[str]], run: Run, *, ks: Sequence[int] = KS) -> Column:
    """Measure a run: R@k and All@k for each of ``ks``, MRR and nDCG@10.

    Questions without gold count nowhere. Raises `InvalidInputError` if no question has any, a question has no ranking
    (it can be empty, but not absent), or a ranking repeats an id.
    """
    asked = [question for question in questions if question.gold]
    twice = {id_ for id_, ranked in run.items() if len({*ranked}) < len(ranked)}
    check.refuse(
        "run",
        None if asked else "no question has evidence to be found",
        None if ks else "ks must hold a rank",
        *(check.number("each of ks", k, 1) for k in ks),
        *(f"question {each.id!r} was not answered" for each in asked if each.id not in run),
        *(f"question {each.id!r}: an id is ranked twice" for each in asked if each.id in twice),
    )
    return Column.of("run", [Scored(each.kind, rank_measures(each.gold, run[each.id], ks)) for each in asked])


def rank_measures(gold: Collection[str], ranked: Sequence[str], ks: Sequence[int]) -> dict[str, float]:
    """R@k, All@k, reciprocal rank and nDCG@10 of one ranking; there is gold."""
    hits = [id_ in gold for id_ in ranked]
    recall = {k: sum(hits[:k]) / len(gold) for k in ks}
    return {
        **{f"R@{k}": share for k, share in recall.items()},
        **{f"All@{k}": float(share == 1.0) for k, share in recall.items()},
        "MRR": reciprocal_rank(hits),
        f"nDCG@{GAINS}": _gain(hits[:GAINS]) / _gain([True] * min(len(gold), GAINS)),
    }


def reciprocal_rank(hits: Sequence[bool]) -> float:
    """1 / rank of the first hit; 0 without one."""
    return next((1.0 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)


def _gain(hits: Sequence[bool]) -> float:
    return sum(hit / math.log2(rank + 1) for rank, hit in enumerate(hits, 1))
