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
from graphsearch.evaluation.comparing import Comparison, Values
from graphsearch.evaluation.corpus import Stores, ingest_code, memories_of
from graphsearch.evaluation.evaluator import Answers, Part, compare_in_scopes
from graphsearch.evaluation.gold import GivenGraph, aliases_of, faults_of_set, write_graph
from graphsearch.evaluation.question_set import TWO_HOPS, GoldQuestion, Passage, TripletNames, read_rows
from graphsearch.evaluation.ranks import (
    BM25,
    BUDGET,
    DENSE,
    LEXICAL,
    RIVALS,
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
    plain_method,
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

    async def write(engine: GraphSearchEngine) -> None:
        await write_graph(given.graph, engine.store, embedder)

    async def methods(engine: GraphSearchEngine) -> dict[str, Method[Line]]:
        return {name: Method(rank) for name, rank in (await finding_triplets(engine, TWO_HOPS)).items()}

    part = Part(questions=given.questions, write=write, methods=methods)
    found = await _compared(part, partial(triplet_measures, given.questions), stores, embedder, progress)
    return attrs.evolve(found, left_out=given.left_out)


async def _compared(
    part: Part[Any],
    measures: Callable[[Answers[Any]], Mapping[str, Values]],
    stores: Stores,
    embedder: Embedder | None,
    progress: Progress | None,
) -> Comparison:
    def engine_of(store: GraphStore) -> GraphSearchEngine:
        return GraphSearchEngine(store=store, embedder=embedder)

    return await compare_in_scopes([part], measures, engine_of, stores, rivals=RIVALS, progress=progress)


def triplet_measures(questions: Sequence[GoldQuestion[TripletNames]], given: Answers[Line]) -> dict[str, Values]:
    """The metrics of `evaluate_triplets`, by question."""
    named = {id_: [_names(line) for line in answer.found] for id_, answer in given.items()}
    answerable = [question for question in questions if question.gold]
    return {
        "found": {each.id: float(each.gold <= {*named[each.id][: each.within]}) for each in answerable},
        "R@10": {each.id: len(each.gold & {*named[each.id][:TWO_HOPS]}) / len(each.gold) for each in answerable},
    }


def _names(line: Line) -> TripletNames:
    source, relation, target = line
    return source.name, relation.type, target.name


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
            **by_channels(engine.store, embedder, ElementKind.ENTITY, _SHOWN, _names_at),
            BM25: await _plain(given.questions, engine.store),
        }
        return {name: Method(rank) for name, rank in ranks.items()}

    part = Part(questions=given.questions, write=given.write, methods=methods)
    return await _compared(part, partial(entity_measures, given.questions), stores, embedder, progress)


def entity_measures(questions: Sequence[GoldQuestion[str]], given: Answers[str]) -> dict[str, Values]:
    """The metrics of `evaluate_entities`, by question."""
    ranks = {each.id: _first(each.gold, given[each.id].found[:_SHOWN]) for each in questions if each.gold}
    return {
        **{f"hit@{k}": {id_: float(0 < rank <= k) for id_, rank in ranks.items()} for k in (1, 5)},
        "MRR": {id_: 1.0 / rank if rank else 0.0 for id_, rank in ranks.items()},
    }


def _first(gold: frozenset[str], names: Sequence[str]) -> int:
    """The rank of the first name that is gold, from 1; 0 without one."""
    return next((rank for rank, name in enumerate(names, 1) if name in gold), 0)


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
    plain = PlainBM25(texts, analyser=WHOLE)

    async def rank(question: str) -> Found[str]:
        return [names[row] for row in plain.rank(question, limit=_SHOWN)]

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
        check.refuse(
            "question set",
            None if self.passages else "there are no passages",
            *faults_of_set(self.questions),
        )

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
        plain = plain_method(memories, _SHOWN, budget).show

        def block(name: str) -> Build | None:
            if name == BM25:
                return plain
            if channel := _CHANNELS.get(name):
                return blocks_of(engine, budget, channels=(channel,))
            return blocks_of(engine, budget, mode=SearchMode(name))

        return {name: Method(rank, block(name)) for name, rank in (await finding_triplets(engine, TWO_HOPS)).items()}

    part = Part(questions=given.questions, write=write, methods=methods)
    return await _compared(part, partial(answer_measures, given, budget), stores, embedder, progress)


def answer_measures(given: AnswerSet, budget: int, answers: Answers[Line]) -> dict[str, Values]:
    """The metrics of `evaluate_answers`, by question."""
    answerable = [question for question in given.questions if question.gold]
    within = {each.id: _share_of_ends(each, answers[each.id].found[: each.within], given) for each in answerable}
    return {
        "found": {id_: float(share == 1.0) for id_, share in within.items()},
        "R@10": {each.id: _share_of_ends(each, answers[each.id].found[:TWO_HOPS], given) for each in answerable},
        f"R@{budget}tok": {each.id: _share_of_block(each, answers[each.id].block.text, given) for each in answerable},
    }


def read_names(path: Path) -> dict[str, frozenset[str]]:
    """The aliases of each name, from a file of entities as in `graphsearch.evaluation.gold`.

    Raises `InvalidInputError` that names every faulty line.
    """
    return dict(read_rows(path, _name))


def _name(line: dict[str, Any]) -> tuple[str, frozenset[str]]:
    check.refuse("name", check.text("name", line.get("name")))
    return line["name"], frozenset(aliases_of(line))


def _share_of_ends(question: GoldQuestion[str], found: Found[Line], given: AnswerSet) -> float:
    ends = {_folded(name) for one, _, other in found for end in (one, other) for name in (end.name, *end.aliases)}
    return _share(question.gold, lambda name: not given.forms(name).isdisjoint(ends))


def _share_of_block(question: GoldQuestion[str], block: str, given: AnswerSet) -> float:
    folded = block.casefold()
    return _share(question.gold, lambda name: any(_holds(folded, form) for form in given.forms(name)))


def _share(gold: frozenset[str], is_shown: Callable[[str], bool]) -> float:
    return sum(map(is_shown, gold)) / len(gold)


def _holds(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _folded(name: str) -> str:
    return _ARTICLE.sub("", " ".join(name.casefold().split()))
