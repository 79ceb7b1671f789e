"""Evaluation by gold answers, of each mode, each channel and plain BM25.

Triplets and entities are to be found in a graph, and the names that answer questions about conversations in triplets
and blocks.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs

from graphsearch.access.reader import Reader
from graphsearch.columns import Keys
from graphsearch.context import ContextBlock
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.comparing import Comparison, Values, compare_ranks
from graphsearch.evaluation.corpus import Stores, definitions, fresh_scope, ingest_code, memories_of
from graphsearch.evaluation.gold import (
    TWO_HOPS,
    EntityQuestion,
    GivenGraph,
    NameQuestion,
    TripletNames,
    TripletQuestion,
    aliases_of,
    faults_of_set,
    write_graph,
)
from graphsearch.evaluation.question_set import Passage, read_rows
from graphsearch.evaluation.ranks import (
    BM25,
    BUDGET,
    DENSE,
    LEXICAL,
    Blocks,
    Line,
    PlainBlock,
    PlainBlocks,
    PlainBM25,
    Rank,
    by_channels,
    by_facts,
    by_modes,
    triplets_of,
)
from graphsearch.ingest import Ingestor, Progress
from graphsearch.model import ElementKind, Entity, Memory
from graphsearch.model import validation as check
from graphsearch.modes.options import SearchMode
from graphsearch.protocols import Embedder
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
            **by_modes(engine, _SHOWN, lambda found: [*dict.fromkeys(each.name for each in found.entities)]),
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


async def _names_at(reader: Reader, keys: Keys) -> Sequence[str]:
    return [entity.name for entity in await reader.entities(keys)]


def _plain(given: EntitySet) -> Rank[Sequence[str]]:
    names = list(given.texts)
    plain = PlainBM25(list(given.texts.values()), analyser=WHOLE)

    async def rank(question: str) -> Sequence[str]:
        return [names[row] for row in plain.rank(question, limit=_SHOWN)]

    return rank


_ARTICLE: Final = re.compile(r"\Athe\s+")
_CHANNELS: Final[Mapping[str, ChannelName]] = {DENSE: "semantic", LEXICAL: "lexical"}


@attrs.frozen(kw_only=True)
class AnswerSet:
    """Conversations and questions about them. ``names`` has the aliases of each name."""

    passages: tuple[Passage, ...]
    questions: tuple[NameQuestion, ...]
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


@attrs.frozen
class Shown:
    """The results for a question: triplets, best first, and a block of text."""

    lines: Sequence[Line]
    block: str


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
    async with fresh_scope(stores) as store:
        engine = GraphSearchEngine(store=store, embedder=embedder)
        await Ingestor(engine).remember(memories)
        ranks = {**by_modes(engine, TWO_HOPS, triplets_of), **await by_facts(engine, TWO_HOPS)}
        blocks = _blocks(engine, memories, ranks, budget)
        shown = {name: partial(_show, rank=rank, block=blocks[name]) for name, rank in ranks.items()}
        better = ("found", "R@10", _in_block(budget))
        measures_of = partial(measures, given, budget=budget)
        return await compare_ranks(given.questions, shown, measures_of, better=better, progress=progress)


def measures(given: AnswerSet, found: Mapping[str, Shown], budget: int) -> dict[str, Values]:
    """The metrics of `evaluate_answers`, by question."""
    answerable = [question for question in given.questions if question.gold]
    within = {each.id: _share_of_ends(each, found[each.id], each.within, given) for each in answerable}
    return {
        "found": {id_: float(share == 1.0) for id_, share in within.items()},
        "R@10": {each.id: _share_of_ends(each, found[each.id], TWO_HOPS, given) for each in answerable},
        _in_block(budget): {each.id: _share_of_block(each, found[each.id].block, given) for each in answerable},
        "lost": {each.id: float(not found[each.id].lines) for each in answerable},
        "silenced": {each.id: float(not found[each.id].lines) for each in given.questions if not each.gold},
    }


def read_names(path: Path) -> dict[str, frozenset[str]]:
    """The aliases of each name, from a file of entities as in `graphsearch.evaluation.gold`.

    Raises `InvalidInputError` that names every faulty line.
    """
    return dict(read_rows(path, _name))


def _in_block(budget: int) -> str:
    return f"R@{budget}tok"


def _name(line: dict[str, Any]) -> tuple[str, frozenset[str]]:
    check.refuse("name", check.text("name", line.get("name")))
    return line["name"], frozenset(aliases_of(line))


def _share_of_ends(question: NameQuestion, shown: Shown, limit: int, given: AnswerSet) -> float:
    ends = {_folded(name) for line in shown.lines[:limit] for end in (line[0], line[2]) for name in _forms(end)}
    return _share(question.gold, lambda name: not given.forms(name).isdisjoint(ends))


def _share_of_block(question: NameQuestion, block: str, given: AnswerSet) -> float:
    folded = block.casefold()
    return _share(question.gold, lambda name: any(_holds(folded, form) for form in given.forms(name)))


def _share(gold: frozenset[str], is_shown: Callable[[str], bool]) -> float:
    return sum(map(is_shown, gold)) / len(gold)


def _holds(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _forms(entity: Entity) -> Iterable[str]:
    return entity.name, *entity.aliases


def _folded(name: str) -> str:
    return _ARTICLE.sub("", " ".join(name.casefold().split()))


_Text: TypeAlias = ContextBlock | PlainBlock


async def _show(question: str, *, rank: Rank[Sequence[Line]], block: Rank[_Text]) -> Shown:
    return Shown(await rank(question), (await block(question)).text)


def _blocks(
    engine: GraphSearchEngine, memories: Sequence[Memory], names: Iterable[str], budget: int
) -> dict[str, Rank[_Text]]:
    """Functions for the block of each method: a mode, a channel, or plain BM25."""
    blocks, plain = Blocks(engine, budget), PlainBlocks(memories, budget)

    def block(name: str) -> Rank[_Text]:
        if name == BM25:
            return plain.build
        if channel := _CHANNELS.get(name):
            return partial(blocks.build, channels=(channel,))
        return partial(blocks.build, mode=SearchMode(name))

    return {name: block(name) for name in names}
