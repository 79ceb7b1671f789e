"""Comparison of methods on the same questions: means, intervals, and the regret of the default method.

The 95 % interval of a share of questions is Wilson's (1927), which is accurate near 0 and 1; that of any other mean is
between the 2.5th and the 97.5th percentile of bootstrap means over questions (Efron, 1979).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.evaluation.gold import Gold, GoldQuestion
from graphsearch.evaluation.metrics import bootstrap
from graphsearch.evaluation.ranks import RIVALS, Found, Rank
from graphsearch.ingest import Progress
from graphsearch.model import validation as check

Values = Mapping[str, float]
"""Values in [0, 1] of one metric, by the id of the question."""

Z: Final = 1.959964
"""The 97.5th percentile of the standard normal distribution."""


@attrs.frozen(kw_only=True)
class Column:
    """One method: means in [0, 1] by metric, their 95 % intervals, and the means for each kind of question."""

    name: str
    metrics: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    by_kind: Mapping[str, Mapping[str, float]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON: metrics, intervals as lists, and kinds."""
        return {
            "metrics": dict(self.metrics),
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "by_kind": {kind: dict(means) for kind, means in self.by_kind.items()},
        }


@attrs.frozen(kw_only=True)
class Regret:
    """How far a column is below the best of its rivals in one metric, in percentage points; negative if it is ahead."""

    best: str
    points: float


@attrs.frozen(kw_only=True)
class Comparison:
    """Columns measured on the same questions.

    * ``columns``: the first is the default. ``rivals``: the names of its channels and of the baseline.
    * ``better``: the metrics of which more is better; only they have a regret.
    * ``kinds``: the number of questions of each kind. ``left_out``: the number of questions without known gold.
    * ``p50_ms``: the median time of the default for a question, in milliseconds.
    """

    columns: tuple[Column, ...]
    rivals: tuple[str, ...]
    better: tuple[str, ...]
    kinds: Mapping[str, int]
    p50_ms: float
    left_out: int = 0

    def __attrs_post_init__(self) -> None:
        names = [each.name for each in self.columns]
        check.refuse(
            "comparison",
            None if names else "there is no column",
            *(check.one_of("rival", rival, tuple(names)) for rival in self.rivals),
        )

    @property
    def default(self) -> Column:
        """The column of the default method."""
        return self.columns[0]

    def regret(self, of: Column | None = None) -> dict[str, Regret]:
        """The regret of a column, by metric; of the default unless given."""
        column = of or self.default
        rivals = {each.name: each.metrics for each in self.columns if each.name in self.rivals}
        return regrets(
            column.metrics, {name: found for name, found in rivals.items() if name != column.name}, self.better
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the default's metrics and regret at the top level, those of the other columns under "others"."""
        return {
            **self._with_regret(self.default),
            "default": self.default.name,
            "others": {each.name: self._with_regret(each) for each in self.columns[1:]},
            "questions": sum(self.kinds.values()),
            "kinds": dict(self.kinds),
            "left_out": self.left_out,
            "p50_ms": self.p50_ms,
        }

    def _with_regret(self, column: Column) -> dict[str, Any]:
        regret = self.regret(column)
        return {
            **column.as_dict(),
            "regret": {metric: each.points for metric, each in regret.items()},
            "best": {metric: each.best for metric, each in regret.items()},
        }


def regrets(
    metrics: Mapping[str, float], rivals: Mapping[str, Mapping[str, float]], better: Iterable[str]
) -> dict[str, Regret]:
    """How far metrics are below the best of some rivals, for those of ``better`` that are measured."""
    found = {}
    for metric in better:
        if metric in metrics and rivals:
            best = max(rivals, key=lambda name: rivals[name][metric])
            found[metric] = Regret(best=best, points=round(100.0 * (rivals[best][metric] - metrics[metric]), 6))
    return found


async def compare_ranks(
    questions: Sequence[GoldQuestion[Gold]],
    ranks: Mapping[str, Rank[Found]],
    measures: Callable[[Mapping[str, Found]], Mapping[str, Values]],
    *,
    better: tuple[str, ...],
    progress: Progress | None = None,
) -> Comparison:
    """Ask every question with every method, the default first, and compare the ``measures`` of their results by id.

    The default answers one question before the measurement, to build indexes and load models.
    """
    default = next(iter(ranks))
    await ranks[default](questions[0].question)
    found: dict[str, dict[str, Found]] = {name: {} for name in ranks}
    times = []
    for number, question in enumerate(questions, 1):
        for name, rank in ranks.items():
            started = perf_counter()
            found[name][question.id] = await rank(question.question)
            if name == default:
                times.append(1e3 * (perf_counter() - started))
        if progress is not None:
            progress(number, len(questions), question.id)
    kinds = {question.id: question.kind for question in questions}
    metrics = {name: measures(results) for name, results in found.items()}
    return compare(metrics, kinds, better=better, p50_ms=median(times))


def compare(
    metrics: Mapping[str, Mapping[str, Values]],
    kinds: Mapping[str, str],
    *,
    better: tuple[str, ...],
    p50_ms: float,
) -> Comparison:
    """The comparison of measured values, by column and metric; ``kinds`` is the kind of each question, by id."""
    return Comparison(
        columns=tuple(column(name, of_column, kinds) for name, of_column in metrics.items()),
        rivals=tuple(name for name in metrics if name in RIVALS),
        better=better,
        kinds=Counter(kinds.values()),
        p50_ms=p50_ms,
    )


def column(name: str, metrics: Mapping[str, Values], kinds: Mapping[str, str]) -> Column:
    """The column of one method; ``kinds`` is the kind of each question, by id.

    A metric without values is left out.
    """
    measured = {metric: values for metric, values in metrics.items() if values}
    by_kind: dict[str, dict[str, float]] = {}
    for kind in dict.fromkeys(kinds.values()):
        of_kind = {
            metric: [value for id_, value in values.items() if kinds[id_] == kind]
            for metric, values in measured.items()
        }
        by_kind[kind] = {metric: _mean(values) for metric, values in of_kind.items() if values}
    return Column(
        name=name,
        metrics={metric: _mean(values.values()) for metric, values in measured.items()},
        intervals={metric: interval([*values.values()]) for metric, values in measured.items()},
        by_kind=by_kind,
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of some values: Wilson's if each is 0 or 1, else by bootstrap."""
    if all(value in {0.0, 1.0} for value in values):
        return wilson(sum(value == 1.0 for value in values), len(values))
    return bootstrap(np.array(values))


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval of a share, at 95 %; ``trials`` is at least 1."""
    share, z2 = successes / trials, Z * Z
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z / (1 + z2 / trials) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _mean(values: Iterable[float]) -> float:
    listed = [*values]
    return sum(listed) / len(listed)
