"""Metrics of retrieval for the questions of a set, with intervals.

R@k is the share of a question's evidence among the first k; All@k the share of questions with all their evidence there;
MRR the mean of 1 / rank of the first evidence; nDCG@10 as in Järvelin and Kekäläinen (2002), by trec_eval. Intervals
are between the 2.5th and the 97.5th percentile of bootstrap means over questions (Efron, 1979).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.lazy import load
from graphsearch.evaluation.question_set import EvalQuestion
from graphsearch.model import validation as check

Run = Mapping[str, Sequence[str]]
"""Ranked ids of passages, best first, by the id of the question."""
Shares = Mapping[str, float]
"""Shares in [0, 1], by the id of the question."""
Array = NDArray[np.float64]

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
        return {
            "metrics": dict(self.metrics),
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            "by_type": {type_: dict(means) for type_, means in self.by_type.items()},
            "questions": self.questions,
            "unanswerable": self.unanswerable,
            **attrs.asdict(costs),
        }


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
    columns = _by_question(answerable, run, ks, shares)
    types = np.array([question.type for question in answerable])
    return Measured(
        metrics=_means(columns),
        intervals=_intervals(columns, seed),
        by_type={
            type_: _means({name: column[types == type_] for name, column in columns.items()})
            for type_ in sorted({question.type for question in answerable} - {""})
        },
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
) -> dict[str, Array]:
    """The values of each metric, one per question; NaN if it is not measured on that question."""
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

    def column(measure: Any) -> Array:
        return np.array([value[question.id, measure] for question in answerable])

    columns = {f"R@{k}": column(recall) for k, recall in recalls.items()}
    columns |= {f"All@{k}": (columns[f"R@{k}"] == 1.0).astype(np.float64) for k in recalls}
    columns |= {name: column(rank) for name, rank in ranks.items()}
    for name, of_question in shares.items():
        share = np.array([of_question.get(question.id, np.nan) for question in answerable])
        if not np.isnan(share).all():
            columns[name] = share
    return columns


def _scores(ranked: Sequence[str]) -> dict[str, float]:
    return {id_: float(len(ranked) - rank) for rank, id_ in enumerate(ranked)}


def _means(columns: Mapping[str, Array]) -> dict[str, float]:
    """The mean of each metric over the questions that it is measured on; without any it is left out."""
    measured = {name: column[~np.isnan(column)] for name, column in columns.items()}
    return {name: float(values.mean()) for name, values in measured.items() if len(values)}


def _intervals(columns: Mapping[str, Array], seed: int) -> dict[str, tuple[float, float]]:
    return {name: bootstrap(column[~np.isnan(column)], seed) for name, column in columns.items()}


def bootstrap(values: Array, seed: int = 0) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of some values; equal numbers of values get equal resamples."""
    random = np.random.default_rng(seed)
    count = len(values)
    means = values[random.integers(count, size=(RESAMPLES, count))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high
