"""A question set, taken into fresh scopes and asked: how much of the evidence is found, and what it costs."""

from __future__ import annotations

import resource
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from time import perf_counter
from typing import Any, Final, Protocol
from uuid import uuid4

import attrs

from graphsearch import validation as check
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.corpus import TripleExtractor, memories_of
from graphsearch.evaluation.measuring import EXTRA, KS, Costs, Measured, measure
from graphsearch.evaluation.question_set import EvalQuestion, QuestionSet
from graphsearch.evaluation.sessions import PASSAGES, Level, by_session
from graphsearch.extras import require
from graphsearch.ingest import Ingestor, Progress
from graphsearch.model import Principal
from graphsearch.modes.request import SearchMode
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.recall.request import CHANNELS, ChannelName, RecallScoring

Channels = tuple[ChannelName, ...]

ORG: Final = "graphsearch-eval"
_WHO: Final = "eval"


class Stores(Protocol):
    """An unscoped store: `InMemoryGraphStore`, `PostgresGraphStore`, or one of your own."""

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope."""
        ...


@attrs.frozen(kw_only=True)
class Evaluation:
    """What is asked, and of what.

    * ``embedder``: embeds passages and questions; without one there is no semantic channel.
    * ``channel_sets``: the channels to recall by, or several sets of them to compare, each asked every question.
    * ``group_by``: the field of passages and questions by which each group is a scope of its own.
    * ``level``: whether a passage is to be found, or its session.
    * ``ks``: the ranks for R@k and All@k.
    * ``min_relevance``: of `RecallRequest`. Above 0, "answered" is the share of questions that get any answer, and
      questions without evidence are asked as well, to tell how many of them rightly get none.
    * ``recall_scoring``: the constants of recall, if not the defaults.
    * ``budget``: of the context block, in tokens, for "R@…tok"; None builds no block. Its memories are recalled by the
      same channels, and without "graph" it has no triplets.
    """

    embedder: Embedder | None = None
    channel_sets: tuple[Channels, ...] = (CHANNELS,)
    group_by: str | None = None
    level: Level = Level.PASSAGE
    ks: tuple[int, ...] = KS
    min_relevance: float = 0.0
    recall_scoring: RecallScoring | None = None
    budget: int | None = None

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "evaluation",
            None if self.channel_sets and all(self.channel_sets) else "channels must be named",
            *(check.one_of("channel", name, CHANNELS) for channels in self.channel_sets for name in channels),
            None if len({*self.channel_sets}) == len(self.channel_sets) else "a set of channels is given twice",
            None if self.ks else "ks must hold a rank",
            check.unit("min_relevance", self.min_relevance),
            *(check.number("each of ks", k, 1) for k in self.ks),
            None if self.budget is None else check.number("budget", self.budget, 1),
        )

    @property
    def depth(self) -> int:
        """How many passages are recalled for a question."""
        return max(PASSAGES if self.level is Level.SESSION else 10, *self.ks)


@attrs.frozen(kw_only=True)
class Evaluated:
    """How one set of channels did, and what it took."""

    channels: Channels
    measured: Measured
    costs: Costs
    silent: float | None
    """The share of the questions without evidence that got no answer; None where none was asked."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON; see `Measured.as_dict`."""
        told = self.measured.as_dict(self.costs)
        return told if self.silent is None else {**told, "silent": self.silent}


@attrs.define
class _Asked:
    """What was found so far by one set of channels: ids and shares by question, and milliseconds."""

    channels: Channels
    run: dict[str, list[str]] = attrs.field(factory=dict)
    query_ms: list[float] = attrs.field(factory=list)
    shown: dict[str, float] = attrs.field(factory=dict)
    """The share of the evidence that stands in the block."""
    silent: list[bool] = attrs.field(factory=list)
    """Whether each question without evidence got no answer."""


async def evaluate(
    given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None = None
) -> tuple[Evaluated, ...]:
    """How each set of channels does, in the order they were given.

    Questions without evidence are asked only where there is a least relevance. The scopes are removed at the end, also
    when it fails. Raises `InvalidInputError` when nothing can be measured (no question has evidence; passages or
    questions lack the field to group by; sessions are to be found and a passage of evidence has none),
    `MissingExtraError` without the extra ``eval``, and what ingest and recall raise.
    """
    _refuse_unmeasurable(given, evaluation.level)
    parts = [*given.grouped_by(evaluation.group_by).values()] if evaluation.group_by else [given]
    asked = [_Asked(channels) for channels in evaluation.channel_sets]
    told = _Steps(progress or _silent, _count_steps(parts, len(asked)))
    indexing = 0.0
    for part in parts:
        async with _fresh_scope(stores) as store:
            engine = GraphSearchEngine(
                store=store, embedder=evaluation.embedder, recall_scoring=evaluation.recall_scoring
            )
            started = perf_counter()
            await _take_in(part, engine, told)
            as_of = _as_of(part, store)
            await _warm_up(part, engine, as_of)
            indexing += perf_counter() - started
            for question in _answerable(part):
                for each in asked:
                    await _ask(question, each, engine, evaluation, as_of)
                    if evaluation.budget is not None:
                        await _show(question, each, engine, evaluation.budget, as_of)
                    told.asked(question.id)
            for question in _unanswerable(part, evaluation):
                for each in asked:
                    each.silent.append(not await _found(question, each, engine, evaluation, as_of))
    rss_mb = _peak_mb()
    return tuple(_evaluated(each, given, evaluation, indexing, rss_mb) for each in asked)


def _refuse_unmeasurable(given: QuestionSet, level: Level) -> None:
    """Before anything is written: what would be found out in the end."""
    require("ir_measures", **EXTRA)
    some = any(question.gold_ids for question in given.questions)
    check.refuse("question set", None if some else "no question has evidence to be found")
    if level is Level.SESSION:
        by_session(given, {})


def _evaluated(asked: _Asked, given: QuestionSet, evaluation: Evaluation, index_s: float, rss_mb: float) -> Evaluated:
    questions, run = given.questions, asked.run
    if evaluation.level is Level.SESSION:
        questions, run = by_session(given, run)
    shares = {} if evaluation.budget is None else {f"R@{evaluation.budget}tok": asked.shown}
    if evaluation.min_relevance:
        shares["answered"] = {id_: float(bool(found)) for id_, found in asked.run.items()}
    measured = measure(questions, run, ks=evaluation.ks, shares=shares)
    return Evaluated(
        channels=asked.channels,
        measured=measured,
        costs=Costs.of(index_s=index_s, query_ms=asked.query_ms, rss_mb=rss_mb),
        silent=sum(asked.silent) / len(asked.silent) if asked.silent else None,
    )


# -- scopes -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _fresh_scope(stores: Stores) -> AsyncIterator[GraphStore]:
    """A scope that nobody else knows, removed at the end."""
    store = stores.with_scope(org_id=ORG, project_id=str(uuid4()))
    try:
        yield store
    finally:
        await store.remove_scope()


async def _take_in(part: QuestionSet, engine: GraphSearchEngine, told: _Steps) -> None:
    ingestor = Ingestor(engine, extractor=TripleExtractor(part.triples) if part.triples else None)
    await ingestor.remember(memories_of(part.passages), progress=told.ingested)


def _as_of(part: QuestionSet, store: GraphStore) -> datetime:
    """Now; where a passage is said to be later, then: else nobody could recall it."""
    return max([store.clock.now(), *(passage.time for passage in part.passages if passage.time)])


# -- questions ----------------------------------------------------------------------------------------------------


def _answerable(part: QuestionSet) -> Iterator[EvalQuestion]:
    return (question for question in part.questions if question.gold_ids)


async def _warm_up(part: QuestionSet, engine: GraphSearchEngine, as_of: datetime) -> None:
    """Indexes are made, and models loaded, by the first question that needs them."""
    for question in part.questions[:1]:
        await engine.recall(question.question, as_of=as_of)


def _unanswerable(part: QuestionSet, evaluation: Evaluation) -> Iterator[EvalQuestion]:
    return (question for question in part.questions if evaluation.min_relevance and not question.gold_ids)


async def _ask(
    question: EvalQuestion, asked: _Asked, engine: GraphSearchEngine, evaluation: Evaluation, as_of: datetime
) -> None:
    started = perf_counter()
    found = await _found(question, asked, engine, evaluation, as_of)
    asked.query_ms.append(1e3 * (perf_counter() - started))
    asked.run[question.id] = found


async def _found(
    question: EvalQuestion, asked: _Asked, engine: GraphSearchEngine, evaluation: Evaluation, as_of: datetime
) -> list[str]:
    found = await engine.recall(
        question.question,
        k=evaluation.depth,
        channels=asked.channels,
        min_relevance=evaluation.min_relevance,
        as_of=as_of,
    )
    return [recalled.memory.id for recalled in found.memories]


async def _show(question: EvalQuestion, asked: _Asked, engine: GraphSearchEngine, budget: int, as_of: datetime) -> None:
    """The block of text that a session would be given, had it only these channels."""
    meant = engine.embedder is not None and "semantic" in asked.channels
    block = await ContextBuilder(engine, CedarAuthorizer.default()).build(
        question.question,
        principal=Principal(id=_WHO, projects=(engine.store.scope,)),
        session_id=question.id,
        budget=budget,
        graph="graph" in asked.channels,
        channels=asked.channels,
        mode=SearchMode.GRAPH_COMPLETION if meant else SearchMode.NEIGHBORHOOD,
        as_of=as_of,
    )
    there = {shown.memory.id for shown in block.memories}
    asked.shown[question.id] = sum(id_ in there for id_ in question.gold_ids) / len(question.gold_ids)


# -- what it takes ------------------------------------------------------------------------------------------------


def _peak_mb() -> float:
    """The most memory that this process ever held, in 10⁶ bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6  # Linux counts in KiB


@attrs.define
class _Steps:
    """Tells how far all of it is: a step a passage, and one a question and set of channels."""

    tell: Progress
    total: int
    done: int = 0

    def ingested(self, done: int, total: int, name: str) -> None:
        """So many of the passages of a part are taken in."""
        self.tell(self.done + done, self.total, name)
        if done == total:
            self.done += total

    def asked(self, name: str) -> None:
        """One more question is asked."""
        self.done += 1
        self.tell(self.done, self.total, name)


def _silent(done: int, total: int, name: str) -> None:
    """Nobody is watching."""


def _count_steps(parts: Sequence[QuestionSet], channel_sets: int) -> int:
    return sum(len(part.passages) + channel_sets * len([*_answerable(part)]) for part in parts)
