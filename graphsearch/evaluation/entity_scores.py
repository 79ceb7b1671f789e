"""Evaluation of finding entities: by entity ranking, by each mode and channel, and by plain BM25."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.baseline import PlainBM25
from graphsearch.evaluation.code_corpus import definitions, ingest_code
from graphsearch.evaluation.comparing import Comparison, Values, compare
from graphsearch.evaluation.given_graph import GivenGraph, write_graph
from graphsearch.evaluation.gold import EntityQuestion, faults_of_set
from graphsearch.evaluation.ranks import BM25, DENSE, LEXICAL, Rank, ask, at_time_of, by_modes
from graphsearch.evaluation.scopes import Stores, fresh_scope
from graphsearch.ingest import Progress
from graphsearch.model import ElementKind
from graphsearch.model import validation as check
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.text.analyser import Analyser, stem

BETTER: Final = ("hit@1", "hit@5", "MRR")
RANKING: Final = "rank_entities"
WHOLE: Final = Analyser(name="english-whole/1", stem=stem)
"""The baseline keeps stop words: "for" and "as" are half of the names "wait_for" and "as_completed". Without them it
finds a quarter fewer of the definitions that questions about code ask for."""
_SHOWN: Final = 10
"""Limit of entities of each method, and of triplets of a mode."""


@attrs.frozen(kw_only=True)
class EntitySet:
    """Entities and questions about them. Raises `InvalidInputError` if no gold of a question is an entity.

    * ``texts``: the text by which plain BM25 ranks each entity, by name.
    * ``write``: writes the entities and their relations into the store of an engine.
    """

    questions: tuple[EntityQuestion, ...]
    texts: Mapping[str, str]
    write: Callable[[GraphSearchEngine], Awaitable[None]]

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "question set",
            *faults_of_set(self.questions),
            *(
                f"question {question.id!r}: there is no entity {' or '.join(sorted(question.gold))}"
                for question in self.questions
                if question.gold and question.gold.isdisjoint(self.texts)
            ),
        )

    @classmethod
    def of_code(cls, paths: Iterable[Path], questions: tuple[EntityQuestion, ...]) -> EntitySet:
        """Questions about folders and files of Python code, answered by qualified names."""
        paths = tuple(paths)
        return cls(questions=questions, texts=definitions(paths), write=partial(ingest_code, paths))

    @classmethod
    def of_graph(cls, graph: GivenGraph, questions: tuple[EntityQuestion, ...]) -> EntitySet:
        """Questions about a given graph, answered by names."""

        async def write(engine: GraphSearchEngine) -> None:
            await write_graph(graph, engine.store, engine.embedder)

        texts = {each.name: " ".join((each.name, *each.aliases, each.description)) for each in graph.entities}
        return cls(questions=questions, texts=texts, write=write)


async def evaluate_entities(
    given: EntitySet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """Evaluate `rank_entities`, every mode that uses no language model, and each channel alone on finding entities.

    "hit@1" and "hit@5" are the shares of questions with an answer among the first 1 or 5 entities, "MRR" is the mean of
    1 / rank of the first answer among the first 10; "lost" and "silenced" are the shares of the answerable and of the
    unanswerable questions that get nothing. The entities of a mode are those of its triplets, the most relevant first
    (`SearchResult.entities`). The scope is removed at the end, also on failure.
    """
    async with fresh_scope(stores) as store:
        engine = GraphSearchEngine(store=store, embedder=embedder)
        await given.write(engine)
        ranks = {
            RANKING: _ranking(engine),
            **by_modes(engine, _SHOWN, _names),
            **_by_channels(store, embedder),
            BM25: _plain(given),
        }
        asked = await ask({each.id: each.question for each in given.questions}, ranks, progress)
    kinds = {question.id: question.kind for question in given.questions}
    metrics = {name: measures(given.questions, found) for name, found in asked.found.items()}
    return compare(metrics, kinds, better=BETTER, p50_ms=asked.p50_ms)


def measures(questions: Sequence[EntityQuestion], found: Mapping[str, Sequence[str]]) -> dict[str, Values]:
    """The metrics of `evaluate_entities`, by question."""
    asked = [question for question in questions if question.gold]
    ranks = {each.id: _first(each.gold, found[each.id][:_SHOWN]) for each in asked}
    return {
        **{f"hit@{k}": {id_: float(0 < rank <= k) for id_, rank in ranks.items()} for k in (1, 5)},
        "MRR": {id_: 1.0 / rank if rank else 0.0 for id_, rank in ranks.items()},
        "lost": {each.id: float(not found[each.id]) for each in asked},
        "silenced": {each.id: float(not found[each.id]) for each in questions if not each.gold},
    }


def _first(gold: frozenset[str], names: Sequence[str]) -> int:
    """The rank of the first name that is gold, from 1; 0 without one."""
    return next((rank for rank, name in enumerate(names, 1) if name in gold), 0)


def _ranking(engine: GraphSearchEngine) -> Rank[Sequence[str]]:
    async def rank(question: str) -> Sequence[str]:
        found = await engine.rank_entities(question, limit=_SHOWN)
        return [each.entity.name for each in found.entities]

    return rank


def _names(found: SearchResult) -> Sequence[str]:
    return [*dict.fromkeys(each.name for each in found.entities)]


def _by_channels(store: GraphStore, embedder: Embedder | None) -> dict[str, Rank[Sequence[str]]]:
    """The searches over entities, each alone."""

    async def by_meaning(question: str, embedder: Embedder) -> Sequence[str]:
        vectors = await embedder.embed([question], input_type="query")
        async with at_time_of(question, store) as reader:
            hits = await reader.nearest(ElementKind.ENTITY, vectors[0], _SHOWN)
            return [entity.name for entity in await reader.entities(hits.keys)]

    async def by_words(question: str) -> Sequence[str]:
        async with at_time_of(question, store) as reader:
            hits = await reader.lexical(ElementKind.ENTITY, question, _SHOWN)
            return [entity.name for entity in await reader.entities(hits.keys)]

    return (
        {LEXICAL: by_words} if embedder is None else {DENSE: partial(by_meaning, embedder=embedder), LEXICAL: by_words}
    )


def _plain(given: EntitySet) -> Rank[Sequence[str]]:
    names = list(given.texts)
    plain = PlainBM25(list(given.texts.values()), analyser=WHOLE)

    async def rank(question: str) -> Sequence[str]:
        return [names[row] for row in plain.rank(question, limit=_SHOWN)]

    return rank
