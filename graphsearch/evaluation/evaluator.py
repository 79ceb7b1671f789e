"""Evaluation in fresh scopes: write, ask every question with every method, and compare what they find.

`evaluate` measures recall on a question set; `graphsearch.evaluation.graph_scores` has the evaluations by triplets,
entities and names.
"""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Generic, TypeAlias

import attrs

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import KS, LOST, SILENCED, Column, Comparison, Scored, rank_measures
from graphsearch.evaluation.corpus import Stores, TripleExtractor, fresh_scope, memories_of
from graphsearch.evaluation.question_set import (
    PASSAGES,
    GoldQuestion,
    Level,
    QuestionSet,
    by_session,
    sessions_in,
)
from graphsearch.evaluation.ranks import (
    BM25,
    BUDGET,
    RIVALS,
    Block,
    Found,
    Item,
    Method,
    blocks_of,
    holds_answer,
    plain,
)
from graphsearch.ingest import DEFAULT_EXTRACTOR, Ingestor, Progress
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder
from graphsearch.recall.options import CHANNELS, ChannelName, RecallOptions, RecallScoring

Channels = tuple[ChannelName, ...]
Values: TypeAlias = Mapping[str, float | None]
"""Values in [0, 1] of one question, by metric; None where a metric does not apply to it."""


@attrs.frozen(kw_only=True)
class Part(Generic[Item]):
    """What is evaluated in a scope of its own: what is written, the questions, and the methods, the default first."""

    questions: Sequence[GoldQuestion[Any]]
    write: Callable[[GraphSearchEngine], Awaitable[None]]
    methods: Callable[[GraphSearchEngine], Awaitable[Mapping[str, Method[Item]]]]


async def compare_in_scopes(
    parts: Sequence[Part[Item]],
    score: Callable[[GoldQuestion[Any], Found[Item], Block], Values],
    stores: Stores,
    *,
    embedder: Embedder | None,
    recall_scoring: RecallScoring | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Write each part into a fresh scope, ask its questions with every method, and ``score`` those that have a gold.

    The default answers one question of each part beforehand, to build indexes and load models.
    """
    asked = [question for part in parts for question in part.questions]
    scored: dict[str, list[Scored]] = {}
    indexing, number = 0.0, 0
    for part in parts:
        async with fresh_scope(stores) as store:
            engine = GraphSearchEngine(store=store, embedder=embedder, recall_scoring=recall_scoring)
            started = perf_counter()
            await part.write(engine)
            methods = await part.methods(engine)
            await next(iter(methods.values())).find(part.questions[0].question)
            indexing += perf_counter() - started
            for number, question in enumerate(part.questions, number + 1):
                for name, method in methods.items():
                    started = perf_counter()
                    found = await method.find(question.question)
                    ms = 1e3 * (perf_counter() - started)
                    block = await method.show(question.question) if method.show else Block()
                    values = {**score(question, found, block)} if question.gold else {}
                    values[LOST] = float(not found) if question.gold else None
                    values[SILENCED] = None if question.gold else float(not found)
                    scored.setdefault(name, []).append(Scored(question.kind, values, ms))
                if progress is not None:
                    progress(number, len(asked), question.id)
    return Comparison(
        columns=tuple(Column.of(name, of_method) for name, of_method in scored.items()),
        rivals=tuple(name for name in scored if name in RIVALS),
        kinds=Counter(question.kind for question in asked),
        unanswerable=sum(not question.gold for question in asked),
        index_s=indexing,
        rss_mb=_peak_mb(),
    )


def _peak_mb() -> float:
    """The peak memory of this process, in 10⁶ bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6  # Linux counts in KiB


# -- recall -------------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class Evaluation:
    """Options of an evaluation of recall.

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


async def evaluate(
    given: QuestionSet, stores: Stores, evaluation: Evaluation, *, progress: Progress | None = None
) -> Comparison:
    """Evaluate each set of channels, in their order, then plain BM25 if requested; "lexical,graph" names a set.

    Questions without evidence are asked as well, to count those that get no answer. The scopes are removed at the end,
    also on failure. Raises `InvalidInputError` if nothing can be measured (no question has evidence; passages or
    questions lack the field to group by; sessions are to be found and a passage of evidence has none), and what ingest
    and recall raise.
    """
    some = any(question.gold for question in given.questions)
    check.refuse("question set", None if some else "no question has evidence to be found")
    if evaluation.level is Level.SESSION:
        by_session(given, {})  # refuses evidence without a session
    session_of = {passage.id: passage.session for passage in given.passages}
    budget = evaluation.budget

    def score(question: GoldQuestion[str], found: Found[str], block: Block) -> Values:
        gold, shown = question.gold, len(question.gold & block.ids) / len(question.gold)
        if evaluation.level is Level.SESSION:
            gold, found = frozenset(sessions_in(gold, session_of)), sessions_in(found, session_of)
        in_block = {f"R@{budget}tok": shown, f"answer@{budget}tok": holds_answer(block.text, question.answer)}
        return {**rank_measures(gold, found, evaluation.ks), **(in_block if budget else {})}

    groups = given.grouped_by(evaluation.group_by).values() if evaluation.group_by else (given,)
    return await compare_in_scopes(
        [_part(group, evaluation, progress) for group in groups],
        score,
        stores,
        embedder=evaluation.embedder,
        recall_scoring=evaluation.recall_scoring,
        progress=progress,
    )


def _part(given: QuestionSet, evaluation: Evaluation, progress: Progress | None) -> Part[str]:
    memories, budget = memories_of(given.passages), evaluation.budget
    latest = max((passage.time for passage in given.passages if passage.time), default=None)

    async def write(engine: GraphSearchEngine) -> None:
        extractor = TripleExtractor(given.triples) if given.triples else DEFAULT_EXTRACTOR
        await Ingestor(engine, extractor=extractor).remember(memories, progress=progress)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[str]]:
        as_of = latest if latest and latest > engine.store.clock.now() else None  # so that it can be recalled
        options: RecallOptions = {"limit": evaluation.limit, "as_of": as_of}
        if evaluation.min_relevance is not None:
            options["min_relevance"] = evaluation.min_relevance

        def recall(channels: Channels) -> Method[str]:
            async def find(question: str) -> list[str]:
                recalled = await engine.recall(question, channels=channels, **options)
                return [each.memory.id for each in recalled.memories]

            return Method(find, blocks_of(engine, budget, channels=channels, as_of=as_of) if budget else None)

        found = {",".join(channels): recall(channels) for channels in evaluation.channel_sets}
        if evaluation.baseline:
            baseline = plain(memories, evaluation.limit, budget or BUDGET)
            found[BM25] = baseline if budget else Method(baseline.find)
        return found

    return Part(questions=given.questions, write=write, methods=methods)
