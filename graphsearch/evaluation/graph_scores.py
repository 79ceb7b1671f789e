"""Evaluation of finding triplets and entities in a graph: by entity ranking, each mode and channel, and plain BM25."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from graphsearch.access.reader import Reader
from graphsearch.columns import Keys
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import Comparison, Values, compare_ranks
from graphsearch.evaluation.corpus import Stores, definitions, fresh_scope, ingest_code
from graphsearch.evaluation.given_graph import GivenGraph, write_graph
from graphsearch.evaluation.gold import TWO_HOPS, EntityQuestion, TripletNames, TripletQuestion, faults_of_set
from graphsearch.evaluation.ranks import BM25, Line, PlainBM25, Rank, by_channels, by_facts, by_modes, triplets_of
from graphsearch.ingest import Progress
from graphsearch.model import ElementKind
from graphsearch.model import validation as check
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import Embedder
from graphsearch.text.analyser import Analyser, stem

WHOLE: Final = Analyser(name="english-whole/1", stem=stem)
"""The baseline keeps stop words: "for" and "as" are half of the names "wait_for" and "as_completed". Without them it
finds a quarter fewer of the definitions that questions about code ask for."""
_SHOWN: Final = 10
"""Limit of entities of each method, and of triplets of a mode."""


@attrs.frozen(kw_only=True)
class TripletSet:
    """A graph and questions about it. Raises `InvalidInputError` for a gold triplet that is not in it.

    ``left_out`` is the number of further questions whose triplets are unknown.
    """

    graph: GivenGraph
    questions: tuple[TripletQuestion, ...]
    left_out: int = 0

    def __attrs_post_init__(self) -> None:
        known = self.graph.triples
        check.refuse(
            "question set",
            *faults_of_set(self.questions),
            *(
                f"question {question.id!r}: there is no triplet {' '.join(gold)!r}"
                for question in self.questions
                for gold in sorted(question.gold - known)
            ),
        )


async def evaluate_triplets(
    given: TripletSet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """Evaluate every mode that uses no language model, and each channel alone, on finding the gold triplets.

    * "found": the share of questions with all gold triplets among the first 3, or 10 for two hops.
    * "R@10": the share of a question's gold triplets among the first 10, as the mean over questions.
    * "lost": the share of answerable questions that get nothing, "silenced": that of unanswerable ones.

    The scope is removed at the end, also on failure. Raises what writing and searching raise.
    """
    async with fresh_scope(stores) as store:
        await write_graph(given.graph, store, embedder)
        engine = GraphSearchEngine(store=store, embedder=embedder)
        ranks = {**by_modes(engine, TWO_HOPS, triplets_of), **await by_facts(engine, TWO_HOPS)}
        measures = partial(triplet_measures, given.questions)
        found = await compare_ranks(given.questions, ranks, measures, better=("found", "R@10"), progress=progress)
    return attrs.evolve(found, left_out=given.left_out)


def triplet_measures(questions: Sequence[TripletQuestion], found: Mapping[str, Sequence[Line]]) -> dict[str, Values]:
    """The metrics of `evaluate_triplets`, by question."""
    named = {id_: [_names(line) for line in lines] for id_, lines in found.items()}
    answerable = [question for question in questions if question.gold]
    return {
        "found": {each.id: float(each.gold <= {*named[each.id][: each.within]}) for each in answerable},
        "R@10": {each.id: len(each.gold & {*named[each.id][:TWO_HOPS]}) / len(each.gold) for each in answerable},
        "lost": {each.id: float(not named[each.id]) for each in answerable},
        "silenced": {each.id: float(not named[each.id]) for each in questions if not each.gold},
    }


def _names(line: Line) -> TripletNames:
    source, relation, target = line
    return source.name, relation.type, target.name


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
            "rank_entities": _ranking(engine),
            **by_modes(engine, _SHOWN, _entity_names),
            **by_channels(store, embedder, ElementKind.ENTITY, _SHOWN, _names_at),
            BM25: _plain(given),
        }
        measures, better = partial(entity_measures, given.questions), ("hit@1", "hit@5", "MRR")
        return await compare_ranks(given.questions, ranks, measures, better=better, progress=progress)


def entity_measures(questions: Sequence[EntityQuestion], found: Mapping[str, Sequence[str]]) -> dict[str, Values]:
    """The metrics of `evaluate_entities`, by question."""
    answerable = [question for question in questions if question.gold]
    ranks = {each.id: _first(each.gold, found[each.id][:_SHOWN]) for each in answerable}
    return {
        **{f"hit@{k}": {id_: float(0 < rank <= k) for id_, rank in ranks.items()} for k in (1, 5)},
        "MRR": {id_: 1.0 / rank if rank else 0.0 for id_, rank in ranks.items()},
        "lost": {each.id: float(not found[each.id]) for each in answerable},
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


def _entity_names(found: SearchResult) -> Sequence[str]:
    return [*dict.fromkeys(each.name for each in found.entities)]


async def _names_at(reader: Reader, keys: Keys) -> Sequence[str]:
    return [entity.name for entity in await reader.entities(keys)]


def _plain(given: EntitySet) -> Rank[Sequence[str]]:
    names = list(given.texts)
    plain = PlainBM25(list(given.texts.values()), analyser=WHOLE)

    async def rank(question: str) -> Sequence[str]:
        return [names[row] for row in plain.rank(question, limit=_SHOWN)]

    return rank
