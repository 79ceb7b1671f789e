"""Evaluation in fresh scopes: write, ask every question with every method, and compare what they find.

`evaluate` measures recall on a question set; `graphsearch.evaluation.graph_scores` has the evaluations by triplets,
entities and names.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Any, Generic

import attrs

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import KS, LOST, SILENCED, Comparison, Values, compare, rank_measures
from graphsearch.evaluation.corpus import Stores, TripleExtractor, fresh_scope, memories_of
from graphsearch.evaluation.question_set import PASSAGES, GoldQuestion, Level, QuestionSet, by_session
from graphsearch.evaluation.ranks import BM25, BUDGET, Block, Found, Item, Method, blocks_of, holds_answer, plain_method
from graphsearch.ingest import DEFAULT_EXTRACTOR, Ingestor, Progress
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.recall.options import CHANNELS, ChannelName, RecallScoring

Channels = tuple[ChannelName, ...]


@attrs.frozen
class Answered(Generic[Item]):
    """What a method gave for a question: what it found in how many milliseconds, and its block."""

    found: Found[Item]
    ms: float = 0.0
    block: Block = attrs.field(factory=Block)


Answers = Mapping[str, Answered[Item]]
"""Answers of one method, by the id of the question."""


@attrs.frozen(kw_only=True)
class Part(Generic[Item]):
    """What is evaluated in a scope of its own: what is written, the questions, and the methods, the default first."""

    questions: Sequence[GoldQuestion[Any]]
    write: Callable[[GraphSearchEngine], Awaitable[None]]
    methods: Callable[[GraphSearchEngine], Awaitable[Mapping[str, Method[Item]]]]


async def compare_in_scopes(
    parts: Sequence[Part[Item]],
    measures: Callable[[Answers[Item]], Mapping[str, Values]],
    engine_of: Callable[[GraphStore], GraphSearchEngine],
    stores: Stores,
    *,
    rivals: Sequence[str],
    progress: Progress | None = None,
) -> Comparison:
    """Write each part into a fresh scope, ask its questions with every method, and compare the ``measures``.

    The default answers one question of each part beforehand, to build indexes and load models.
    """
    questions = [question for part in parts for question in part.questions]
    answers: dict[str, dict[str, Answered[Item]]] = {}
    indexing, number = 0.0, 0
    for part in parts:
        async with fresh_scope(stores) as store:
            engine, started = engine_of(store), perf_counter()
            await part.write(engine)
            methods = await part.methods(engine)
            await next(iter(methods.values())).find(part.questions[0].question)
            indexing += perf_counter() - started
            for question in part.questions:
                for name, method in methods.items():
                    answers.setdefault(name, {})[question.id] = await _ask(question.question, method)
                number += 1
                if progress is not None:
                    progress(number, len(questions), question.id)
    metrics = {name: {**measures(given), **_silence(questions, given)} for name, given in answers.items()}
    times = {name: [each.ms for each in given.values()] for name, given in answers.items()}
    found = compare(questions, metrics, times, rivals=rivals)
    return attrs.evolve(found, index_s=indexing, rss_mb=_peak_mb())


async def _ask(question: str, method: Method[Item]) -> Answered[Item]:
    started = perf_counter()
    found = await method.find(question)
    ms = 1e3 * (perf_counter() - started)
    return Answered(found, ms, await method.show(question) if method.show else Block())


def _silence(questions: Sequence[GoldQuestion[Any]], given: Answers[Item]) -> dict[str, Values]:
    empty = {question.id: float(not given[question.id].found) for question in questions}
    answerable = {question.id for question in questions if question.gold}
    return {
        LOST: {id_: value for id_, value in empty.items() if id_ in answerable},
        SILENCED: {id_: value for id_, value in empty.items() if id_ not in answerable},
    }


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
    * ``min_relevance``: as in `RecallRequest`, whose default applies unless given.
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
        by_session(given, {})
    groups = [*given.grouped_by(evaluation.group_by).values()] if evaluation.group_by else [given]
    parts = [
        Part(
            questions=group.questions,
            write=partial(_ingest, given=group, progress=progress),
            methods=partial(_methods, given=group, evaluation=evaluation),
        )
        for group in groups
    ]
    return await compare_in_scopes(
        parts,
        partial(_measures, given, evaluation),
        lambda store: GraphSearchEngine(
            store=store, embedder=evaluation.embedder, recall_scoring=evaluation.recall_scoring
        ),
        stores,
        rivals=(*CHANNELS, BM25),
        progress=progress,
    )


async def _ingest(engine: GraphSearchEngine, given: QuestionSet, progress: Progress | None) -> None:
    extractor = TripleExtractor(given.triples) if given.triples else DEFAULT_EXTRACTOR
    await Ingestor(engine, extractor=extractor).remember(memories_of(given.passages), progress=progress)


async def _methods(engine: GraphSearchEngine, given: QuestionSet, evaluation: Evaluation) -> dict[str, Method[str]]:
    latest = max((passage.time for passage in given.passages if passage.time), default=None)
    as_of = latest if latest is not None and latest > engine.store.clock.now() else None  # so that it can be recalled
    methods = {",".join(each): _recall(engine, each, evaluation, as_of) for each in evaluation.channel_sets}
    if evaluation.baseline:
        plain = plain_method(memories_of(given.passages), evaluation.limit, evaluation.budget or BUDGET)
        methods[BM25] = plain if evaluation.budget else attrs.evolve(plain, show=None)
    return methods


def _recall(
    engine: GraphSearchEngine, channels: Channels, evaluation: Evaluation, as_of: datetime | None
) -> Method[str]:
    async def find(question: str) -> list[str]:
        least, limit = evaluation.min_relevance, evaluation.limit
        found = await engine.recall(question, limit=limit, channels=channels, min_relevance=least, as_of=as_of)
        return [recalled.memory.id for recalled in found.memories]

    budget = evaluation.budget
    return Method(find, blocks_of(engine, budget, channels=channels, as_of=as_of) if budget else None)


def _measures(given: QuestionSet, evaluation: Evaluation, answers: Answers[str]) -> dict[str, Values]:
    questions: Sequence[GoldQuestion[str]] = [question for question in given.questions if question.gold]
    blocks = {id_: answer.block for id_, answer in answers.items()}
    budget = evaluation.budget
    shown: dict[str, Values] = {}
    if budget:
        holding = {each.id: holds_answer(blocks[each.id].text, each.answer) for each in questions}
        shown = {
            f"R@{budget}tok": {each.id: len(each.gold & blocks[each.id].ids) / len(each.gold) for each in questions},
            f"answer@{budget}tok": {id_: float(held) for id_, held in holding.items() if held is not None},
        }
    run: Mapping[str, Found[str]] = {id_: answer.found for id_, answer in answers.items()}
    if evaluation.level is Level.SESSION:
        questions, run = by_session(attrs.evolve(given, questions=tuple(questions)), run)
    return {**rank_measures(questions, run, evaluation.ks), **shown}
