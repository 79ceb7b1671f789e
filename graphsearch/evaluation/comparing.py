"""Comparison of methods on the same questions: means, intervals, and the regret of the default method.

The 95 % interval of a share of questions is Wilson's (1927), which is accurate near 0 and 1; that of any other mean is
between the 2.5th and the 97.5th percentile of bootstrap means over questions (Efron, 1979).

R@k is the share of a question's evidence among the first k; All@k the share of questions with all their evidence there;
MRR the mean of 1 / rank of the first evidence; nDCG@10 as in Järvelin and Kekäläinen (2002), by trec_eval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, Final

import attrs
import numpy as np

from graphsearch._support.lazy import load
from graphsearch.evaluation.gold import Gold, GoldQuestion
from graphsearch.evaluation.question_set import EvalQuestion
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


def column(
    name: str,
    metrics: Mapping[str, Values],
    kinds: Mapping[str, str],
    *,
    interval_of: Callable[[Sequence[float]], tuple[float, float]] | None = None,
) -> Column:
    """The column of one method; ``kinds`` is the kind of each question, by id.

    A metric without values is left out. Intervals are those of `interval` unless ``interval_of`` is given.
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
        intervals={metric: (interval_of or interval)([*values.values()]) for metric, values in measured.items()},
        by_kind=by_kind,
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of some values: Wilson's if each is 0 or 1, else by bootstrap."""
    if all(value in {0.0, 1.0} for value in values):
        return wilson(sum(value == 1.0 for value in values), len(values))
    return bootstrap(values)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's score interval of a share, at 95 %; ``trials`` is at least 1."""
    share, z2 = successes / trials, Z * Z
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z / (1 + z2 / trials) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([*values]))


Run = Mapping[str, Sequence[str]]
"""Ranked ids of passages, best first, by the id of the question."""
Shares = Mapping[str, float]
"""Shares in [0, 1], by the id of the question."""

KS: Final = (2, 5, 8, 10)
RESAMPLES: Final = 2_000

EXTRA: Final = {"extra": "eval", "purpose": "measuring"}
_NONE: Final[Mapping[str, Shares]] = {}


@attrs.frozen(kw_only=True)
class Costs:
    """The cost of a run: seconds to index, milliseconds per question, and peak memory in 10⁶ bytes."""

    index_s: float
    p50_ms: float
    p95_ms: float
    rss_mb: float

    @classmethod
    def of(cls, *, index_s: float, query_ms: Sequence[float], rss_mb: float) -> Costs:
        """The costs from the time of every question, at least one."""
        p50, p95 = np.percentile(query_ms, [50, 95]).tolist()
        return cls(index_s=index_s, p50_ms=p50, p95_ms=p95, rss_mb=rss_mb)


@attrs.frozen(kw_only=True)
class Measured:
    """Means over questions, all in [0, 1], by metric ("R@5", "All@5", "MRR", "nDCG@10").

    ``intervals`` are at 95 %; ``by_type`` has the means over the questions of each type. ``questions`` is the number
    measured; ``unanswerable`` the number without evidence, which count nowhere.
    """

    metrics: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    by_type: Mapping[str, Mapping[str, float]]
    questions: int
    unanswerable: int

    def as_dict(self, costs: Costs) -> dict[str, Any]:
        """For JSON: the metrics, their intervals as lists, the means by type, and the costs."""
        intervals = {name: list(each) for name, each in self.intervals.items()}
        return attrs.asdict(self) | {"intervals": intervals} | attrs.asdict(costs)


def measure(
    questions: Sequence[EvalQuestion],
    run: Run,
    *,
    ks: Sequence[int] = KS,
    shares: Mapping[str, Shares] = _NONE,
    seed: int = 0,
) -> Measured:
    """The metrics of a run: R@k and All@k for each of ``ks``, MRR and nDCG@10.

    ``shares`` are further metrics by name, each with its values by question; one without values is left out. The same
    ``seed`` draws the same resamples. Raises `InvalidInputError` if no question has evidence, a question has no ranking
    (it can be empty, but not absent), or a ranking repeats an id; `MissingExtraError` without the extra ``eval``.
    """
    answerable = [question for question in questions if question.gold_ids]
    check.refuse("run", *_faults(answerable, run, ks, shares))
    values = _by_question(answerable, run, ks, shares)
    types = {question.id: question.type for question in answerable}
    found = column("", values, types, interval_of=lambda given: bootstrap(given, seed))
    return Measured(
        metrics=found.metrics,
        intervals=found.intervals,
        by_type={type_: found.by_kind[type_] for type_ in sorted(found.by_kind) if type_},
        questions=len(answerable),
        unanswerable=len(questions) - len(answerable),
    )


def _faults(
    answerable: Sequence[EvalQuestion], run: Run, ks: Sequence[int], shares: Mapping[str, Shares]
) -> Iterator[str | None]:
    yield None if answerable else "no question has evidence to be found"
    yield None if ks else "ks must hold a rank"
    for k in ks:
        yield None if isinstance(k, int) and k >= 1 else f"each of ks must be a whole number from 1, not {k!r}"
    for question in answerable:
        if question.id not in run:
            yield f"question {question.id!r} was not answered"
        elif len({*run[question.id]}) < len(run[question.id]):
            yield f"question {question.id!r}: an id is ranked twice"
        for name, of_question in shares.items():
            if question.id in of_question:
                yield check.unit(f"{name} of question {question.id!r}", of_question[question.id])


def _by_question(
    answerable: Sequence[EvalQuestion], run: Run, ks: Sequence[int], shares: Mapping[str, Shares]
) -> dict[str, Values]:
    """The values of each metric, by question; none of a question on which it is not measured."""
    measures = load("ir_measures", **EXTRA)
    recalls = {k: measures.R @ k for k in dict.fromkeys(ks)}
    ranks = {"MRR": measures.RR, "nDCG@10": measures.nDCG @ 10}
    gold = {question.id: dict.fromkeys(question.gold_ids, 1) for question in answerable}
    # The package ranks by score, so ranks become scores; it reads them as float32, which is exact up to 2^24.
    scored = {question.id: _scores(run[question.id]) for question in answerable}
    value = {
        (found.query_id, found.measure): found.value
        for found in measures.iter_calc([*recalls.values(), *ranks.values()], gold, scored)
    }

    def of(measure: Any) -> dict[str, float]:
        return {question.id: value[question.id, measure] for question in answerable}

    found = {f"R@{k}": of(recall) for k, recall in recalls.items()}
    found |= {f"All@{k}": {id_: float(each == 1.0) for id_, each in found[f"R@{k}"].items()} for k in recalls}
    found |= {name: of(rank) for name, rank in ranks.items()}
    for name, of_question in shares.items():
        found[name] = {each.id: of_question[each.id] for each in answerable if each.id in of_question}
    return {**found}


def _scores(ranked: Sequence[str]) -> dict[str, float]:
    return {id_: float(len(ranked) - rank) for rank, id_ in enumerate(ranked)}


def bootstrap(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of some values; equal numbers of values get equal resamples."""
    random = np.random.default_rng(seed)
    count = len(values)
    means = np.array(values)[random.integers(count, size=(RESAMPLES, count))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high
