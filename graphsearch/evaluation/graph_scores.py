"""Evaluation by gold answers, of each mode, each channel and plain BM25.

Triplets and entities are to be found in a graph, and the names that answer questions about conversations in triplets
and blocks.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from graphsearch._support.paging import pages
from graphsearch.access.reader import Reader
from graphsearch.columns import Keys
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import Comparison, reciprocal_rank
from graphsearch.evaluation.corpus import Stores, ingest_code, memories_of
from graphsearch.evaluation.evaluator import Part, Values, compare_in_scopes
from graphsearch.evaluation.gold import GivenGraph, aliases_of, faults_of_set, write_graph
from graphsearch.evaluation.question_set import TWO_HOPS, GoldQuestion, Passage, TripletNames, missing, read_rows
from graphsearch.evaluation.ranks import (
    BM25,
    BUDGET,
    DENSE,
    LEXICAL,
    Block,
    Build,
    Found,
    Line,
    Method,
    PlainBM25,
    Rank,
    blocks_of,
    by_channels,
    by_modes,
    finding_triplets,
    plain,
)
from graphsearch.ingest import Ingestor, Progress
from graphsearch.model import ElementKind
from graphsearch.model import validation as check
from graphsearch.modes.options import SearchMode
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.recall.options import ChannelName
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
    questions: tuple[GoldQuestion[TripletNames], ...]
    left_out: int = 0

    def __attrs_post_init__(self) -> None:
        unknown = missing(self.questions, "triplet", self.graph.triples)
        check.refuse("question set", *faults_of_set(self.questions), *unknown)


async def evaluate_triplets(
    given: TripletSet, stores: Stores, *, embedder: Embedder | None = None, progress: Progress | None = None
) -> Comparison:
    """Evaluate every mode that uses no language model, and each channel alone, on finding the gold triplets.

    * "found": the share of questions with all gold triplets among the first 3, or 10 for two hops.
    * "R@10": the share of a question's gold triplets among the first 10, as the mean over questions.
    * "lost": the share of answerable questions that get nothing, "silenced": that of unanswerable ones.

    The scope is removed at the end, also on failure. Raises what writing and searching raise.
    """

    async def write(engine: GraphSearchEngine) -> None:
        await write_graph(given.graph, engine.store, embedder)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[Line]]:
        return {name: Method(rank) for name, rank in (await finding_triplets(engine, TWO_HOPS)).items()}

    part = Part(questions=given.questions, write=write, methods=methods)
    found = await compare_in_scopes([part], score_triplets, stores, embedder=embedder, progress=progress)
    return attrs.evolve(found, left_out=given.left_out)


def score_triplets(question: GoldQuestion[TripletNames], found: Found[Line], block: Block) -> Values:  # noqa: ARG001
    """The metrics of `evaluate_triplets` for one question."""
    names = [(source.name, relation.type, target.name) for source, relation, target in found]
    return _found(question, lambda some: len(question.gold.intersection(names[:some])) / len(question.gold))


def _found(question: GoldQuestion[Any], share: Callable[[int], float]) -> dict[str, float]:
    """ "found" and "R@10" by the share of the gold among the first so many triplets."""
    return {"found": float(share(question.within) == 1.0), f"R@{TWO_HOPS}": share(TWO_HOPS)}


@attrs.frozen(kw_only=True)
class EntitySet:
    """Questions about entities; ``write`` writes these and their relations into the store of an engine."""

    questions: tuple[GoldQuestion[str], ...]
    write: Callable[[GraphSearchEngine], Awaitable[None]]

    def __attrs_post_init__(self) -> None:
        check.refuse("question set", *faults_of_set(self.questions))

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
    1 / rank of the first answer among the first 10; "lost" and "silenced" are the shares of the answerable and of the
    unanswerable questions that get nothing. The entities of a mode are those of its triplets, the most relevant first
    (`SearchResult.entities`). The scope is removed at the end, also on failure.

    Raises `InvalidInputError` if no gold of a question is an entity.
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


_ARTICLE: Final = re.compile(r"\Athe\s+")
_CHANNELS: Final[Mapping[str, ChannelName]] = {DENSE: "semantic", LEXICAL: "lexical"}


@attrs.frozen(kw_only=True)
class AnswerSet:
    """Conversations and questions about them. ``names`` has the aliases of each name."""

    passages: tuple[Passage, ...]
    questions: tuple[GoldQuestion[str], ...]
    names: Mapping[str, frozenset[str]] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        nothing = None if self.passages else "there are no passages"
        check.refuse("question set", nothing, *faults_of_set(self.questions))

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

    * "found": the share of questions whose names are all ends of the first 3 triplets, or 10 for two hops.
    * "R@10": the share of a question's names that are ends of the first 10 triplets, as the mean over questions.
    * "R@…tok": the share of its names in the block of ``budget`` tokens. The block of a channel has the memories that
      it recalls, that of BM25 the passages that it ranks first.
    * "lost" and "silenced": the shares of the answerable and of the unanswerable questions that get no triplet.

    The scope is removed at the end, also on failure. Raises what ingest, search and building blocks raise.
    """
    check.refuse("budget", check.number("budget", budget, 1))
    memories = memories_of(given.passages)

    async def write(engine: GraphSearchEngine) -> None:
        await Ingestor(engine).remember(memories, progress=progress)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[Line]]:
        def block(name: str) -> Build | None:
            if name == BM25:
                return plain(memories, _SHOWN, budget).show
            if channel := _CHANNELS.get(name):
                return blocks_of(engine, budget, channels=(channel,))
            return blocks_of(engine, budget, mode=SearchMode(name))

        return {name: Method(rank, block(name)) for name, rank in (await finding_triplets(engine, TWO_HOPS)).items()}

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


def read_names(path: Path) -> dict[str, frozenset[str]]:
    """The aliases of each name, from a file of entities as in `graphsearch.evaluation.gold`.

    Raises `InvalidInputError` that names every faulty line.
    """
    return dict(read_rows(path, _name))


def _name(line: dict[str, Any]) -> tuple[str, frozenset[str]]:
    check.refuse("name", check.text("name", line.get("name")))
    return line["name"], frozenset(aliases_of(line))


def _holds(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _folded(name: str) -> str:
    return _ARTICLE.sub("", " ".join(name.casefold().split()))
