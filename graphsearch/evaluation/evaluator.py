"""Evaluation of recall on a question set in fresh scopes: how much of the evidence is found, and at what cost."""

from __future__ import annotations

import resource
import sys
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from time import perf_counter
from typing import Any, Final

import attrs

from graphsearch._support.lazy import require
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import EXTRA, KS, Costs, Measured, Regret, measure, regrets
from graphsearch.evaluation.corpus import Stores, TripleExtractor, fresh_scope, memories_of
from graphsearch.evaluation.question_set import PASSAGES, EvalQuestion, Level, QuestionSet, by_session
from graphsearch.evaluation.ranks import BM25, BUDGET, Blocks, PlainBlocks, holds_answer
from graphsearch.ingest import DEFAULT_EXTRACTOR, Ingestor, Progress
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.recall.options import CHANNELS, ChannelName, RecallOptions, RecallScoring

Channels = tuple[ChannelName, ...]

ANSWERED: Final = "answered"
"""The share of questions that get any answer. It has no regret, since answering everything is no merit."""


@attrs.frozen(kw_only=True)
class Evaluation:
    """Options of an evaluation.

    * ``embedder``: embeds passages and questions; without one there is no semantic channel.
    * ``channel_sets``: sets of channels to compare; every question is asked with each of them.
    * ``group_by``: the field of passages and questions that splits them into groups, each a scope of its own.
    * ``level``: whether passages are to be found, or their sessions.
    * ``ks``: the ranks for R@k and All@k.
    * ``min_relevance``: as in `RecallOptions`, whose default applies unless given.
    * ``recall_scoring``: the constants of recall; default those of the engine.
    * ``budget``: tokens of the context block, for "R@…tok" and "answer@…tok"; None builds no block. Its memories are
      recalled by the same channels, and without "graph" it has no triplets.
    * ``baseline``: whether plain BM25 over title, speaker and text of the passages is measured as well, at the end.
    """

    embedder: Embedder | None = None
    channel_sets: tuple[Channels, ...] = (CHANNELS,)
    group_by: str | None = None
    level: Level = Level.PASSAGE
    ks: tuple[int, ...] = KS
    min_relevance: float | None = None
    recall_scoring: RecallScoring | None = None
    budget: int | None = None
    baseline: bool = False

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "evaluation",
            None if self.channel_sets and all(self.channel_sets) else "channels must be named",
            *(check.one_of("channel", name, CHANNELS) for channels in self.channel_sets for name in channels),
            None if len({*self.channel_sets}) == len(self.channel_sets) else "a set of channels is given twice",
            None if self.ks else "ks must hold a rank",
            None if self.min_relevance is None else check.unit("min_relevance", self.min_relevance),
            *(check.number("each of ks", k, 1) for k in self.ks),
            None if self.budget is None else check.number("budget", self.budget, 1),
        )

    @property
    def limit(self) -> int:
        """Passages recalled for a question."""
        return max(PASSAGES if self.level is Level.SESSION else 10, *self.ks)


@attrs.frozen(kw_only=True)
class Evaluated:
    """Quality and cost of one method of recall: a set of channels, or plain BM25, which has none."""

    channels: Channels
    measured: Measured
    costs: Costs
    silent: float | None
    """The share of the questions without evidence that got no answer; None if there are none."""

    @property
    def name(self) -> str:
        """The channels joined by commas, or "bm25"."""
        return ",".join(self.channels) or BM25

    def as_dict(self) -> dict[str, Any]:
        """For JSON; see `Measured.as_dict`."""
        found = self.measured.as_dict(self.costs)
        return found if self.silent is None else {**found, "silent": self.silent}


def regret_of(found: Sequence[Evaluated]) -> dict[str, Regret]:
    """How far the first is below the best of the others that are single channels or plain BM25, by metric."""
    first, *others = found
    rivals = {each.name: each.measured.metrics for each in others if len(each.channels) <= 1}
    better = [metric for metric in first.measured.metrics if metric != ANSWERED]
    return regrets(first.measured.metrics, rivals, better)


@attrs.frozen(eq=False)
class _Method:
    """One method of recall in one scope: functions for the ids found, and for the block as ids and text."""

    find: Callable[[str], Awaitable[list[str]]]
    show: Callable[[str], Awaitable[tuple[Collection[str], str]]]


@attrs.define
class _Results:
    """The results of one method so far: ids and shares by question, and milliseconds. Plain BM25 has no channels."""

    channels: Channels
    run: dict[str, list[str]] = attrs.field(factory=dict)
    query_ms: list[float] = attrs.field(factory=list)
    shown: dict[str, float] = attrs.field(factory=dict)
    """The share of the evidence in the block."""
    answered: dict[str, float] = attrs.field(factory=dict)
    """1 if the block has the words of the answer, else 0; only for questions with an answer in words."""
    silent: list[bool] = attrs.field(factory=list)
    """Whether each question without evidence got no answer."""

    async def ask(self, question: EvalQuestion, method: _Method, *, show: bool) -> None:
        """Ask a question; with ``show``, see how much of the evidence, and whether the answer, is in the block."""
        started = perf_counter()
        found = await method.find(question.question)
        if not question.gold_ids:
            self.silent.append(not found)
            return
        self.query_ms.append(1e3 * (perf_counter() - started))
        self.run[question.id] = found
        if show:
            ids, text = await method.show(question.question)
            self.shown[question.id] = sum(id_ in ids for id_ in question.gold_ids) / len(question.gold_ids)
            if (answered := holds_answer(text, question.answer)) is not None:
                self.answered[question.id] = float(answered)


async def evaluate(
    given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None = None
) -> tuple[Evaluated, ...]:
    """Evaluate each set of channels, in their order, then plain BM25 if requested.

    Questions without evidence are asked as well, to count those that get no answer. The scopes are removed at the end,
    also on failure. Raises `InvalidInputError` if nothing can be measured (no question has evidence; passages or
    questions lack the field to group by; sessions are to be found and a passage of evidence has none),
    `MissingExtraError` without the extra ``eval``, and what ingest and recall raise.
    """
    _refuse_unmeasurable(given, evaluation.level)
    parts = [*given.grouped_by(evaluation.group_by).values()] if evaluation.group_by else [given]
    results = [*map(_Results, evaluation.channel_sets), *([_Results(())] if evaluation.baseline else [])]
    asked = sum(bool(question.gold_ids) for part in parts for question in part.questions)
    steps = _Steps(progress, sum(len(part.passages) for part in parts) + len(results) * asked)
    indexing = 0.0
    for part in parts:
        async with fresh_scope(stores) as store:
            engine = GraphSearchEngine(
                store=store, embedder=evaluation.embedder, recall_scoring=evaluation.recall_scoring
            )
            started = perf_counter()
            ingestor = Ingestor(engine, extractor=TripleExtractor(part.triples) if part.triples else DEFAULT_EXTRACTOR)
            await ingestor.remember(memories_of(part.passages), progress=steps.ingested)
            as_of = _as_of(part, store)
            for question in part.questions[:1]:  # so that indexes are built and models loaded before the measurement
                await engine.recall(question.question, as_of=as_of)
            indexing += perf_counter() - started
            methods = [_method(each.channels, part, engine, evaluation, as_of) for each in results]
            for question in part.questions:
                for each, method in zip(results, methods, strict=True):
                    await each.ask(question, method, show=evaluation.budget is not None)
                    if question.gold_ids:
                        steps.answered(question.id)
    rss_mb = _peak_mb()
    return tuple(_evaluated(each, given, evaluation, indexing, rss_mb) for each in results)


def _refuse_unmeasurable(given: QuestionSet, level: Level) -> None:
    """Refuse a set that cannot be measured, before anything is written."""
    require("ir_measures", **EXTRA)
    some = any(question.gold_ids for question in given.questions)
    check.refuse("question set", None if some else "no question has evidence to be found")
    if level is Level.SESSION:
        by_session(given, {})


def _evaluated(
    results: _Results, given: QuestionSet, evaluation: Evaluation, index_s: float, rss_mb: float
) -> Evaluated:
    questions, run = given.questions, results.run
    if evaluation.level is Level.SESSION:
        questions, run = by_session(given, run)
    budget = evaluation.budget
    shares = {} if budget is None else {f"R@{budget}tok": results.shown, f"answer@{budget}tok": results.answered}
    shares[ANSWERED] = {id_: float(bool(found)) for id_, found in results.run.items()}
    measured = measure(questions, run, ks=evaluation.ks, shares=shares)
    return Evaluated(
        channels=results.channels,
        measured=measured,
        costs=Costs.of(index_s=index_s, query_ms=results.query_ms, rss_mb=rss_mb),
        silent=sum(results.silent) / len(results.silent) if results.silent else None,
    )


def _as_of(part: QuestionSet, store: GraphStore) -> datetime | None:
    """The time of the latest passage if that is in the future, so that it can be recalled; else None."""
    latest = max((passage.time for passage in part.passages if passage.time), default=None)
    return latest if latest is not None and latest > store.clock.now() else None


def _method(
    channels: Channels, part: QuestionSet, engine: GraphSearchEngine, evaluation: Evaluation, as_of: datetime | None
) -> _Method:
    budget = evaluation.budget or BUDGET
    if not channels:
        plain = PlainBlocks(memories_of(part.passages), budget)

        async def find_plain(question: str) -> list[str]:
            return plain.rank(question, evaluation.limit)

        async def show_plain(question: str) -> tuple[Collection[str], str]:
            block = await plain.build(question)
            return block.ids, block.text

        return _Method(find_plain, show_plain)
    blocks = Blocks(engine, budget)
    options: RecallOptions = {"limit": evaluation.limit, "channels": channels, "as_of": as_of}
    if evaluation.min_relevance is not None:
        options["min_relevance"] = evaluation.min_relevance

    async def find(question: str) -> list[str]:
        found = await engine.recall(question, **options)
        return [recalled.memory.id for recalled in found.memories]

    async def show(question: str) -> tuple[Collection[str], str]:
        block = await blocks.build(question, channels=channels, as_of=as_of)
        return {shown.memory.id for shown in block.memories}, block.text

    return _Method(find, show)


# -- what it takes ------------------------------------------------------------------------------------------------


def _peak_mb() -> float:
    """The peak memory of this process, in 10⁶ bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6  # Linux counts in KiB


@attrs.define
class _Steps:
    """Reports progress: one step per passage, and one per question and method."""

    progress: Progress | None
    total: int
    done: int = 0

    def ingested(self, done: int, total: int, name: str) -> None:
        """Report ``done`` ingested passages of a part."""
        if self.progress is not None:
            self.progress(self.done + done, self.total, name)
        if done == total:
            self.done += total

    def answered(self, name: str) -> None:
        """Report one more question."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total, name)
