"""Evaluation in fresh scopes: write, ask every question with every method, and compare what they find."""

from __future__ import annotations

import re
import resource
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Generic, Protocol
from uuid import uuid4

import attrs

from graphsearch._support.paging import pages
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.access.reader import Reader
from graphsearch.columns import Keys
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import (
    KS,
    LOST,
    SILENCED,
    Column,
    Comparison,
    Scored,
    Values,
    rank_measures,
    reciprocal_rank,
)
from graphsearch.evaluation.question_set import (
    PASSAGES,
    TWO_HOPS,
    GivenGraph,
    GoldQuestion,
    Level,
    Passage,
    QuestionSet,
    Triple,
    TripletNames,
    faults_of,
    missing,
    sessions_in,
)
from graphsearch.evaluation.ranks import (
    BM25,
    BUDGET,
    DENSE,
    LEXICAL,
    RIVALS,
    Block,
    Found,
    Item,
    Line,
    Method,
    PlainBM25,
    Rank,
    blocks_of,
    by_channels,
    by_modes,
    finding_triplets,
    holds_answer,
    plain,
)
from graphsearch.ingest import Ingestor, Progress
from graphsearch.ingest.extract.extraction import Described
from graphsearch.ingest.sources.files import locate
from graphsearch.ingest.write.permission import Permission
from graphsearch.ingest.write.writer import Writer, chunks, embed_facts
from graphsearch.model import Batch, ElementKind, Fact, Memory
from graphsearch.model import validation as check
from graphsearch.modes.result import SearchMode
from graphsearch.protocols import Embedder
from graphsearch.ranking.recall_result import CHANNELS, ChannelName, RecallScoring
from graphsearch.stores.graph import GraphStore
from graphsearch.text.analyser import Analyser, stem

Channels = tuple[ChannelName, ...]
ORG: Final = "graphsearch-eval"
CONFIDENCE: Final = 0.8
"""Confidence of the triples of an unknown extractor: the lower end of the band "stated clearly"."""
WHOLE: Final = Analyser(name="english-whole/1", stem=stem)
"""The baseline keeps stop words: "for" and "as" are half of the names "wait_for" and "as_completed". Without them it
finds a quarter fewer of the definitions that questions about code ask for."""
_SHOWN: Final = 10
"""Limit of entities of each method, and of triplets of a mode."""
_BATCH: Final = 1_000
"""Relations written in one transaction."""
_ARTICLE: Final = re.compile(r"\Athe\s+")


class Stores(Protocol):
    """An unscoped store: `InMemoryGraphStore`, `PostgresGraphStore`, or a custom one."""

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope."""
        ...


@asynccontextmanager
async def fresh_scope(stores: Stores) -> AsyncIterator[GraphStore]:
    """A new scope with a random id, removed at the end."""
    store = stores.with_scope(org_id=ORG, project_id=str(uuid4()))
    try:
        yield store
    finally:
        await store.remove_scope()


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
    indexing, numbers = 0.0, count(1)
    for part in parts:
        async with fresh_scope(stores) as store:
            engine = GraphSearchEngine(store=store, embedder=embedder, recall_scoring=recall_scoring)
            started = perf_counter()
            await part.write(engine)
            methods = await part.methods(engine)
            await next(iter(methods.values())).find(part.questions[0].question)
            indexing += perf_counter() - started
            for question in part.questions:
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
                    progress(next(numbers), len(asked), question.id)
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
    session_of = {passage.id: passage.session for passage in given.passages}
    if evaluation.level is Level.SESSION:
        golds = [(each.id, gold) for each in given.questions for gold in sorted(each.gold) if not session_of[gold]]
        check.refuse("question set", *(f"question {id_!r}: passage {gold!r} is in no session" for id_, gold in golds))
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
    memories, budget = memories_of(given.passages, given.triples), evaluation.budget
    latest = max((passage.time for passage in given.passages if passage.time), default=None)

    async def write(engine: GraphSearchEngine) -> None:
        await Ingestor(engine).remember(memories, progress=progress)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[str]]:
        as_of = latest if latest and latest > engine.store.clock.now() else None  # so that it can be recalled
        options: dict[str, Any] = {"limit": evaluation.limit, "as_of": as_of}
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


def memories_of(passages: Iterable[Passage], triples: Iterable[Triple] = ()) -> list[Memory]:
    """A memory for each passage, with its title as the subject, and with its triples as facts stated of it.

    Positions in a session are in order of the passages.
    """
    facts: defaultdict[str, list[Fact]] = defaultdict(list)
    for each in triples:
        facts[each.passage_id].append(Fact(each.subject, each.predicate, each.object, confidence=CONFIDENCE))
    places: defaultdict[str, Iterator[int]] = defaultdict(count)
    return [
        Memory(
            id=passage.id,
            text=passage.text,
            subject=passage.title,
            speaker=passage.speaker,
            session_id=passage.session,
            position=next(places[passage.session]) if passage.session else 0,
            occurred_at=passage.time,
            facts=facts.get(passage.id, ()),
        )
        for passage in passages
    ]


# -- triplets and entities of a graph ---------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class TripletSet:
    """A graph and questions about it. Raises `InvalidInputError` for a gold triplet that is not in it."""

    graph: GivenGraph
    questions: tuple[GoldQuestion[TripletNames], ...]

    def __attrs_post_init__(self) -> None:
        unknown = missing(self.questions, "triplet", self.graph.triples)
        check.refuse("question set", *faults_of(self.questions), *unknown)


async def evaluate_triplets(
    given: TripletSet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """Evaluate every mode that uses no language model, and each channel alone, on finding the gold triplets.

    "found" is the share of questions with all gold triplets among the first 3, or 10 for two hops; "R@10" the mean
    share of a question's gold triplets among the first 10. The scope is removed at the end, also on failure. Raises
    what writing and searching raise.
    """

    async def write(engine: GraphSearchEngine) -> None:
        await write_graph(given.graph, engine.store, embedder)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[Line]]:
        return {name: Method(rank) for name, rank in (await finding_triplets(engine, TWO_HOPS)).items()}

    part = Part(questions=given.questions, write=write, methods=methods)
    return await compare_in_scopes([part], score_triplets, stores, embedder=embedder, progress=progress)


async def write_graph(graph: GivenGraph, store: GraphStore, embedder: Embedder | None) -> None:
    """Write a graph into a scope, with embeddings of entities and facts if there is an embedder."""
    writer = Writer(store, embedder, Permission(store, ALLOW_ALL))
    await writer.begin()
    await writer.describe([Described(entity) for entity in graph.entities], anew=True)
    for some in chunks(graph.relations, _BATCH):
        await store.write(Batch(relations=tuple(some)))
    await writer.settle()
    if embedder is not None:
        await embed_facts(store, embedder)


def score_triplets(question: GoldQuestion[TripletNames], found: Found[Line], block: Block) -> Values:  # noqa: ARG001
    """The metrics of `evaluate_triplets` for one question."""
    names = [(source.name, relation.type, target.name) for source, relation, target in found]
    return _found(question, lambda some: len(question.gold.intersection(names[:some])) / len(question.gold))


def _found(question: GoldQuestion[Any], share: Callable[[int], float]) -> dict[str, float]:
    """Whether the whole gold is near enough, and its share among ten, by its share among the first so many."""
    return {"found": float(share(question.within) == 1.0), f"R@{TWO_HOPS}": share(TWO_HOPS)}


@attrs.frozen(kw_only=True)
class EntitySet:
    """Questions about entities; ``write`` writes these and their relations into the store of an engine."""

    questions: tuple[GoldQuestion[str], ...]
    write: Callable[[GraphSearchEngine], Awaitable[None]]

    def __attrs_post_init__(self) -> None:
        check.refuse("question set", *faults_of(self.questions))

    @classmethod
    def of_code(cls, paths: Iterable[Path], questions: tuple[GoldQuestion[str], ...]) -> EntitySet:
        """Questions about folders and files of Python code, answered by qualified names."""
        return cls(questions=questions, write=partial(ingest_code, tuple(paths)))

    @classmethod
    def of_graph(cls, graph: GivenGraph, questions: tuple[GoldQuestion[str], ...]) -> EntitySet:
        """Questions about a given graph, answered by names."""

        async def write(engine: GraphSearchEngine) -> None:
            await write_graph(graph, engine.store, engine.embedder)

        return cls(questions=questions, write=write)


async def evaluate_entities(
    given: EntitySet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """Evaluate `rank_entities`, every mode that uses no language model, and each channel alone on finding entities.

    "hit@1" and "hit@5" are the shares of questions with an answer among the first 1 or 5 entities, "MRR" is the mean of
    1 / rank of the first answer among the first 10. The entities of a mode are `SearchResult.entities`. The scope is
    removed at the end, also on failure. Raises `InvalidInputError` if no gold of a question is an entity.
    """

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[str]]:
        async def ranked(question: str) -> Found[str]:
            return [each.entity.name for each in (await engine.rank_entities(question, limit=_SHOWN)).entities]

        ranks: dict[str, Rank[str]] = {
            "rank_entities": ranked,
            **by_modes(engine, _SHOWN, lambda found: [*dict.fromkeys(each.name for each in found.entities)]),
            **by_channels(engine, ElementKind.ENTITY, _SHOWN, _names_at),
            BM25: await _plain(given.questions, engine.store),
        }
        return {name: Method(rank) for name, rank in ranks.items()}

    part = Part(questions=given.questions, write=given.write, methods=methods)
    return await compare_in_scopes([part], score_entities, stores, embedder=embedder, progress=progress)


def score_entities(question: GoldQuestion[str], found: Found[str], block: Block) -> Values:  # noqa: ARG001
    """The metrics of `evaluate_entities` for one question."""
    hits = [name in question.gold for name in found[:_SHOWN]]
    return {"hit@1": float(any(hits[:1])), "hit@5": float(any(hits[:5])), "MRR": reciprocal_rank(hits)}


async def ingest_code(paths: Iterable[Path], engine: GraphSearchEngine) -> None:
    """Ingest folders and files of code, in one call for each root that imports start from.

    Raises what `Ingestor.add` raises.
    """
    parts: defaultdict[Path, list[tuple[str, ...]]] = defaultdict(list)
    for folder in map(locate, paths):
        parts[folder.root].append(folder.only)
    for root, only in parts.items():
        await Ingestor(engine).add(root, only=() if () in only else chain.from_iterable(only))


async def _names_at(reader: Reader, keys: Keys) -> Found[str]:
    return [entity.name for entity in await reader.entities(keys)]


async def _plain(questions: Sequence[GoldQuestion[str]], store: GraphStore) -> Rank[str]:
    """BM25 over name, aliases and description of all entities, which must have the gold of each question."""
    entities = [each async for page in pages(store.list_entities) for each in page]
    names = [each.name for each in entities]
    check.refuse(
        "question set",
        *(
            f"question {question.id!r}: there is no entity {' or '.join(sorted(question.gold))}"
            for question in questions
            if question.gold and question.gold.isdisjoint(names)
        ),
    )
    texts = [" ".join((each.name, *each.aliases, each.description)) for each in entities]
    bm25 = PlainBM25(texts, analyser=WHOLE)

    async def rank(question: str) -> Found[str]:
        return [names[row] for row in bm25.rank(question, limit=_SHOWN)]

    return rank


# -- answers from conversations ---------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class AnswerSet:
    """Conversations and questions about them. ``names`` has the aliases of each name."""

    passages: tuple[Passage, ...]
    questions: tuple[GoldQuestion[str], ...]
    names: Mapping[str, frozenset[str]] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        nothing = None if self.passages else "there are no passages"
        check.refuse("question set", nothing, *faults_of(self.questions))

    def forms(self, name: str) -> frozenset[str]:
        """All spellings of a name, case-folded."""
        return frozenset(map(_folded, (name, *self.names.get(name, ()))))


async def evaluate_answers(
    given: AnswerSet,
    stores: Stores,
    *,
    embedder: Embedder | None = None,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> Comparison:
    """Evaluate how well the names that answer questions are found, after the conversations have been ingested.

    "found" and "R@10" are as for `evaluate_triplets`, of names that are ends of triplets; "R@…tok" is the mean share of
    a question's names in the block of ``budget`` tokens, of a channel that of the memories that it recalls, of BM25
    that of the passages that it ranks first. The scope is removed at the end, also on failure. Raises what ingest,
    search and building blocks raise.
    """
    check.refuse("budget", check.number("budget", budget, 1))
    memories = memories_of(given.passages)

    async def write(engine: GraphSearchEngine) -> None:
        await Ingestor(engine).remember(memories, progress=progress)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[Line]]:
        blocks = {
            BM25: plain(memories, _SHOWN, budget).show,
            DENSE: blocks_of(engine, budget, channels=("semantic",)),
            LEXICAL: blocks_of(engine, budget, channels=("lexical",)),
            **{mode.value: blocks_of(engine, budget, mode=mode) for mode in SearchMode},
        }
        return {name: Method(rank, blocks[name]) for name, rank in (await finding_triplets(engine, TWO_HOPS)).items()}

    part = Part(questions=given.questions, write=write, methods=methods)
    score = partial(score_answers, given, budget)
    return await compare_in_scopes([part], score, stores, embedder=embedder, progress=progress)


def score_answers(
    given: AnswerSet, budget: int, question: GoldQuestion[str], found: Found[Line], block: Block
) -> Values:
    """The metrics of `evaluate_answers` for one question."""
    text = block.text.casefold()

    def of_gold(is_form_shown: Callable[[str], bool]) -> float:
        return sum(any(map(is_form_shown, given.forms(name))) for name in question.gold) / len(question.gold)

    def ends(some: int) -> frozenset[str]:
        entities = [end for source, _, target in found[:some] for end in (source, target)]
        return frozenset(_folded(name) for entity in entities for name in (entity.name, *entity.aliases))

    return {
        **_found(question, lambda some: of_gold(ends(some).__contains__)),
        f"R@{budget}tok": of_gold(lambda form: _holds(text, form)),
    }


def _holds(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _folded(name: str) -> str:
    return _ARTICLE.sub("", " ".join(name.casefold().split()))
