"""Evaluation on questions about conversations: whether the names that answer them are in triplets and blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.blocks import BUDGET, Blocks, PlainBlocks
from graphsearch.evaluation.comparing import Comparison, Values, compare_ranks
from graphsearch.evaluation.corpus import Stores, fresh_scope, memories_of
from graphsearch.evaluation.given_graph import aliases_of
from graphsearch.evaluation.gold import TWO_HOPS, NameQuestion, faults_of_set
from graphsearch.evaluation.question_set import Passage, read_rows
from graphsearch.evaluation.ranks import BM25, DENSE, LEXICAL, Line, Rank, by_facts, by_modes, triplets_of
from graphsearch.ingest import Ingestor, Progress
from graphsearch.model import Entity, Memory
from graphsearch.model import validation as check
from graphsearch.modes.options import SearchMode
from graphsearch.protocols import Embedder
from graphsearch.recall.options import ChannelName

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
    """The aliases of each name, from a file of entities as in `graphsearch.evaluation.given_graph`.

    Raises `InvalidInputError` that names every faulty line.
    """
    return dict(read_rows(path, _name))


def _in_block(budget: int) -> str:
    return f"R@{budget}tok"


def _name(line: dict[str, Any]) -> tuple[str, frozenset[str]]:
    check.refuse("name", check.text("name", line.get("name")))
    return line["name"], frozenset(aliases_of(line))


def _share_of_ends(question: NameQuestion, shown: Shown, limit: int, given: AnswerSet) -> float:
    ends = {_folded(name) for line in shown.lines[:limit] for end in (line[0], line[2]) for name in _names(end)}
    return _share(question.gold, lambda name: not given.forms(name).isdisjoint(ends))


def _share_of_block(question: NameQuestion, block: str, given: AnswerSet) -> float:
    folded = block.casefold()
    return _share(question.gold, lambda name: any(_holds(folded, form) for form in given.forms(name)))


def _share(gold: frozenset[str], is_shown: Callable[[str], bool]) -> float:
    return sum(map(is_shown, gold)) / len(gold)


def _holds(text: str, name: str) -> bool:
    """Whether a text contains a name as whole words."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _names(entity: Entity) -> Iterable[str]:
    return entity.name, *entity.aliases


def _folded(name: str) -> str:
    return _ARTICLE.sub("", " ".join(name.casefold().split()))


async def _show(question: str, *, rank: Rank[Sequence[Line]], block: Rank[str]) -> Shown:
    return Shown(await rank(question), await block(question))


def _blocks(
    engine: GraphSearchEngine, memories: Sequence[Memory], names: Iterable[str], budget: int
) -> dict[str, Rank[str]]:
    """Functions for the block of each method: a mode, a channel, or plain BM25."""
    blocks, plain = Blocks(engine, budget), PlainBlocks(memories, budget)

    async def of_mode(question: str, mode: SearchMode) -> str:
        return (await blocks.build(question, mode=mode)).text

    async def of_channel(question: str, channel: ChannelName) -> str:
        return (await blocks.build(question, channels=(channel,))).text

    async def of_plain(question: str) -> str:
        return (await plain.build(question)).text

    def block(name: str) -> Rank[str]:
        if name == BM25:
            return of_plain
        if channel := _CHANNELS.get(name):
            return partial(of_channel, channel=channel)
        return partial(of_mode, mode=SearchMode(name))

    return {name: block(name) for name in names}
