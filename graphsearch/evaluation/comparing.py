"""Comparison of methods on the same questions: means, intervals, and the regret of the default method.

The 95 % interval of a share of questions is Wilson's (1927), which is accurate near 0 and 1; that of any other mean is
between the 2.5th and the 97.5th percentile of bootstrap means over questions (Efron, 1979).

R@k is the share of a question's evidence among the first k; All@k the share of questions with all their evidence there;
MRR the mean of 1 / rank of the first evidence; nDCG@10 as in Järvelin and Kekäläinen (2002), by trec_eval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.evaluation.question_set import GoldQuestion
from graphsearch.model import validation as check

Values = Mapping[str, float]
"""Values in [0, 1] of one metric, by the id of the question."""
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

    def as_dict(self) -> dict[str, Any]:
        """For JSON: all but the name, intervals as lists."""
        intervals = {name: list(each) for name, each in self.intervals.items()}
        return attrs.asdict(self, filter=lambda field, _: field.name != "name") | {"intervals": intervals}


@attrs.frozen(kw_only=True)
class Regret:
    """How far a column is below the best of its rivals in one metric, in percentage points; negative if it is ahead."""

    best: str
    points: float


@attrs.frozen(kw_only=True)
class Comparison:
    """Columns measured on the same questions.

    * ``columns``: the first is the default. ``rivals``: the names of the single channels and of the baseline.
    * ``kinds``: the number of questions of each kind; ``unanswerable`` of them have no gold. ``left_out``: the number
      of further questions whose gold is unknown.
    * ``index_s``: the seconds that writing took, and ``rss_mb``: the peak memory of the process in 10⁶ bytes.
    """

    columns: tuple[Column, ...]
    rivals: tuple[str, ...] = ()
    kinds: Mapping[str, int] = attrs.field(factory=dict)
    unanswerable: int = 0
    left_out: int = 0
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
        return {
            **self._with_regret(self.default),
            "default": self.default.name,
            "others": {each.name: self._with_regret(each) for each in self.columns[1:]},
            "questions": sum(self.kinds.values()),
            "kinds": dict(self.kinds),
            "unanswerable": self.unanswerable,
            "left_out": self.left_out,
            "index_s": self.index_s,
            "rss_mb": self.rss_mb,
        }

    def _with_regret(self, column: Column) -> dict[str, Any]:
        regret = self.regret(column)
        return {
            **column.as_dict(),
            "regret": {metric: each.points for metric, each in regret.items()},
            "best": {metric: each.best for metric, each in regret.items()},
        }


def make_column(name: str, metrics: Mapping[str, Values], kinds: Mapping[str, str], ms: Sequence[float] = ()) -> Column:
    """The column of one method; ``kinds`` is the kind of each question, by id. A metric without values is left out."""
    measured = {metric: values for metric, values in metrics.items() if values}
    by_kind: dict[str, dict[str, float]] = {}
    for kind in dict.fromkeys(kinds.values()):
        of_kind = {
            metric: [value for id_, value in values.items() if kinds[id_] == kind]
            for metric, values in measured.items()
        }
        by_kind[kind] = {metric: float(np.mean(values)) for metric, values in of_kind.items() if values}
    p50, p95 = np.percentile(ms or [0.0], [50, 95]).tolist()
    return Column(
        name=name,
        metrics={metric: float(np.mean([*values.values()])) for metric, values in measured.items()},
        intervals={metric: interval([*values.values()]) for metric, values in measured.items()},
        by_kind=by_kind,
        p50_ms=p50,
        p95_ms=p95,
    )


def compare(
    questions: Sequence[GoldQuestion[Any]],
    metrics: Mapping[str, Mapping[str, Values]],
    times: Mapping[str, Sequence[float]],
    *,
    rivals: Sequence[str],
) -> Comparison:
    """Compare measured values, by method and metric; ``times`` are in milliseconds, by method."""
    kinds = {question.id: question.kind for question in questions}
    return Comparison(
        columns=tuple(make_column(name, values, kinds, times[name]) for name, values in metrics.items()),
        rivals=tuple(name for name in metrics if name in rivals),
        kinds=Counter(kinds.values()),
        unanswerable=sum(not question.gold for question in questions),
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of some values: Wilson's if each is 0 or 1, else by bootstrap."""
    if all(value in {0.0, 1.0} for value in values):
        return wilson(sum(value == 1.0 for value in values), len(values))
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
    check.refuse(
        "run",
        None if asked else "no question has evidence to be found",
        None if ks else "ks must hold a rank",
        *(check.number("each of ks", k, 1) for k in ks),
        *(f"question {each.id!r} was not answered" for each in asked if each.id not in run),
        *(
            f"question {each.id!r}: an id is ranked twice"
            for each in asked
            if len({*run.get(each.id, ())}) < len(run.get(each.id, ()))
        ),
    )
    return make_column("run", rank_measures(asked, run, ks), {each.id: each.kind for each in asked})


def rank_measures(questions: Sequence[GoldQuestion[str]], run: Run, ks: Sequence[int]) -> dict[str, Values]:
    """The values of R@k, All@k, MRR and nDCG@10, by question; every question has gold."""
    hits = {each.id: np.array([id_ in each.gold for id_ in run[each.id]], np.bool_) for each in questions}
    recall = {f"R@{k}": {each.id: float(hits[each.id][:k].sum() / len(each.gold)) for each in questions} for k in ks}
    every = {f"All@{k}": {id_: float(value == 1.0) for id_, value in recall[f"R@{k}"].items()} for k in ks}
    discount = 1.0 / np.log2(np.arange(2, GAINS + 2))
    return {
        **recall,
        **every,
        "MRR": {id_: 1.0 / (1.0 + hit.argmax()) if hit.any() else 0.0 for id_, hit in hits.items()},
        "nDCG@10": {
            each.id: float((hits[each.id][:GAINS] @ discount[: len(hits[each.id])]) / discount[: len(each.gold)].sum())
            for each in questions
        },
    }
