"""How much of the evidence context blocks show, in how many tokens, and what they show where nothing answers.

    python -m benchmarks.blocks FOLDER [SET …] [--budget N …]

FOLDER has a folder for each set; all are measured by default. A set is a corpus (passages, turns or notes, or a graph
given whole) and questions with the ids of their evidence, or the words that a block has to hold. Each question is asked
of a `ContextBuilder` with WordLlama, in memory and without a language model, ten days after the last text; and the
plain rule is given the same recall and search: lines of at most 50 words, best first, as many as fit.

A line of JSON for each set and budget, then the means over the sets. Of questions that can be answered: ``evidence``
and ``answers`` (all words of the answer) in percent, ``tokens`` (median), and ``lost``, the percentage of which the
plain rule shows some evidence and the block none. Of the ``unanswerable``: how many have ``no_triplet``, at most 60
tokens (``short``), and a ``reason``. Of questions about what was updated: how often the updated text stands ``first``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

import attrs

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.context import ContextBuilder, TiktokenCounter
from graphsearch.context.material import compose, excerpt, pack
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.evaluator import write_graph
from graphsearch.evaluation.question_set import GivenGraph, parse_time, read_graph
from graphsearch.evaluation.ranks import holds_answer
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Triplet
from graphsearch.modes.result import SearchRequest
from graphsearch.ranking.recall_result import RecallRequest
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.text.rendering import OBSERVATIONS, TRIPLETS, memory_line, triplet_line

BUDGETS: Final = (500, 200)
SHORT: Final = 60
WORDS: Final = 50
SHARE: Final = 0.9
"""Of the budget, for the memories of the plain rule; triplets get what these leave."""
_CORPORA: Final = ("corpus.jsonl", "turns.jsonl", "notes.jsonl")
_PARTS: Final = ("conversation", "conv")


@attrs.frozen(kw_only=True)
class Asked:
    """A question, with what shows that a block answers it: ids of evidence, or texts of which each has alternatives."""

    text: str
    gold: frozenset[str]
    holds: tuple[str, ...] = ()
    answer: str = ""
    answerable: bool = True
    as_of: datetime | None = None
    old: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()


@attrs.frozen(kw_only=True)
class Part:
    """What is written into one scope, and what is asked of it."""

    memories: Sequence[Memory]
    graph: GivenGraph | None
    asked: Sequence[Asked]
    now: datetime


@attrs.frozen
class _Clock:
    moment: datetime

    def now(self) -> datetime:
        return self.moment


@attrs.frozen
class Shown:
    """What a block shows: the ids of its memories, in order, and of what proves its triplets; the text."""

    memories: Sequence[str]
    proven: frozenset[str]
    triplets: int
    text: str
    tokens: int
    reason: str = ""

    def evidence_of(self, asked: Asked) -> float:
        """The share of the evidence that is shown."""
        if asked.holds:
            text = self.text.lower()
            return mean(any(each.lower() in text for each in one.split("|")) for one in asked.holds)
        return len(asked.gold & self.proven.union(self.memories)) / len(asked.gold)

    def place_of(self, ids: frozenset[str]) -> int:
        """The place of the first of some memories; behind all where none is shown."""
        return next((place for place, each in enumerate(self.memories) if each in ids), len(self.memories))


# -- sets -----------------------------------------------------------------------------------------------------------


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, none if there is no such file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()] if path.exists() else []


def read_set(folder: Path) -> Iterator[Part]:
    """The parts of a set; each question is asked of its own."""
    memories, asked = defaultdict[str, list[Memory]](list), defaultdict[str, list[Asked]](list)
    for row in (row for name in _CORPORA for row in rows(folder / name)):
        some = memories[_part(row)]
        some.append(_memory(row, len(some)))
    for row in rows(folder / "questions.jsonl") + rows(folder / "ambiguous.jsonl"):
        if row.get("type") != "adversarial" and not row.get("after_op"):
            asked[_part(row)].append(_asked(row))
    if memories:
        for part, some in memories.items():
            last = max((each.occurred_at for each in some if each.occurred_at), default=datetime.now(UTC))
            yield Part(memories=some, graph=None, asked=asked[part], now=last + timedelta(days=10))
    else:
        graph = read_graph(folder / "entities.jsonl", folder / "relations.jsonl")
        dates = [day for each in graph.relations for day in (each.valid_from, each.valid_to) if day]
        yield Part(memories=(), graph=graph, asked=asked[""], now=max(dates) + timedelta(days=10))


def _part(row: Mapping[str, Any]) -> str:
    return next((str(row[name]) for name in _PARTS if name in row), "")


def _memory(row: Mapping[str, Any], position: int) -> Memory:
    time = row.get("time") or row.get("occurred_at")
    return Memory(
        id=row["id"],
        text=row["text"],
        subject=row.get("title", ""),
        speaker=row.get("speaker", ""),
        session_id=f"{_part(row)}/{row['session']}" if "session" in row else "",
        position=position,
        occurred_at=parse_time("memory", "time", time) if time else None,
    )


def _asked(row: Mapping[str, Any]) -> Asked:
    gold = row.get("gold_ids") or row.get("gold_turns") or row.get("gold") or ()
    parts = row.get("parts", {}) if row.get("type") == "knowledge_update" else {}
    new = frozenset(parts.get("updated_info", ()))
    holds = tuple(row.get("block_holds", ()))
    found = bool(gold or holds) and row.get("expect_entities") != [] and row.get("type") != "abstention"
    return Asked(
        text=row["question"],
        gold=frozenset("|".join(each) if isinstance(each, list) else each for each in gold),
        holds=holds,
        answer=str(row.get("answer") or ""),
        answerable=row.get("answerable", found),
        as_of=parse_time("question", "as_of", row["as_of"]) if row.get("as_of") else None,
        old=frozenset(parts.get("original_info", ())) - new,
        new=new,
    )


# -- asking -----------------------------------------------------------------------------------------------------------


async def engine_of(part: Part) -> GraphSearchEngine:
    """An engine over a new store with a part in it."""
    store = InMemoryGraphStore(clock=_Clock(part.now)).with_scope(org_id="benchmark", project_id="blocks")
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    if part.graph is None:
        await Ingestor(engine).remember(part.memories)
    else:
        await write_graph(part.graph, store, engine.embedder)
    return engine


async def build(asked: Asked, builder: ContextBuilder, budget: int) -> Shown:
    """What a builder shows."""
    block = await builder.build(asked.text, gate=ALLOW_ALL, session_id="s", budget=budget, as_of=asked.as_of)
    ids = [each.memory.id for each in block.memories]
    return Shown(ids, proven_by(block.triplets), len(block.triplets), block.text, block.tokens, block.reason)


async def fill(
    asked: Asked, engine: GraphSearchEngine, counter: TiktokenCounter, budgets: Sequence[int]
) -> list[Shown]:
    """What the plain rule shows for each budget."""
    found, recalled = await engine.search_and_recall(
        SearchRequest(asked.text, limit=200, gate=ALLOW_ALL, as_of=asked.as_of),
        RecallRequest(asked.text, limit=50, gate=ALLOW_ALL, as_of=asked.as_of),
    )
    terms, memories = engine.store.analyser.terms, [each.memory for each in recalled.memories]
    lines = [
        memory_line(attrs.evolve(each, text=excerpt(each.text, recalled.rarity, terms, WORDS))) for each in memories
    ]
    triplets = [triplet_line(each, dated=True) for each in found.triplets]
    shown = []
    for budget in budgets:
        within = int(SHARE * budget) if triplets else budget
        some, _ = pack(lines, within, counter, heading=OBSERVATIONS)
        observations = compose(OBSERVATIONS, [lines[row] for row in some])
        left = budget - counter.count(observations + "\n")
        others, _ = pack(triplets, left, counter, heading=TRIPLETS, shown_text=observations)
        text = "\n".join(filter(None, (observations, compose(TRIPLETS, [triplets[row] for row in others]))))
        proven = proven_by([found.triplets[row] for row in others])
        shown.append(Shown([memories[row].id for row in some], proven, len(others), text, counter.count(text)))
    return shown


def proven_by(triplets: Sequence[Triplet]) -> frozenset[str]:
    """Triplets by the names of their parts, and the memories that prove them."""
    names = {f"{each.source.name}|{each.relation.type}|{each.target.name}" for each in triplets}
    return frozenset(names.union(*(each.relation.evidence for each in triplets)))


# -- figures ----------------------------------------------------------------------------------------------------------


def figures(asked: Sequence[Asked], shown: Sequence[Shown], others: Sequence[Shown]) -> dict[str, Any]:
    """The figures of some blocks, of which ``others`` are those of the plain rule for the same questions."""
    every = list(zip(asked, shown, others, strict=True))
    known = [each for each in every if each[0].answerable and (each[0].gold or each[0].holds)]
    strange = [block for one, block, _ in every if not one.answerable]
    updated = [(block.place_of(one.new), block.place_of(one.old)) for one, block, _ in every if one.old and one.new]
    held = [holds_answer(block.text, one.answer) for one, block, _ in known if one.answer]
    answered = [each for each in held if each is not None]
    gone = [one for one, block, other in known if other.evidence_of(one) > 0 and not block.evidence_of(one)]
    return {
        "questions": len(known),
        "evidence": _percent([block.evidence_of(one) for one, block, _ in known]),
        "answers": _percent(answered) if answered else None,
        "tokens": median(block.tokens for _, block, _ in known),
        "lost": _percent([one in gone for one, _, _ in known]),
        "unanswerable": {
            "of": len(strange),
            "no_triplet": sum(not block.triplets for block in strange),
            "short": sum(block.tokens <= SHORT for block in strange),
            "reason": sum(bool(block.reason) for block in strange),
        },
        "updated": {"of": len(updated), "first": sum(new < old for new, old in updated)},
    }


def _percent(values: Sequence[float]) -> float:
    return round(100.0 * mean(values), 2)


async def measure(folder: Path, budgets: Sequence[int] = BUDGETS) -> list[dict[str, Any]]:
    """The figures of a set, for each budget."""
    asked: list[Asked] = []
    ours: dict[int, list[Shown]] = {budget: [] for budget in budgets}
    plain: dict[int, list[Shown]] = {budget: [] for budget in budgets}
    counter = TiktokenCounter()
    for part in read_set(folder):
        engine = await engine_of(part)
        builder = ContextBuilder(engine, counter=counter, log=None)
        for one in part.asked:
            asked.append(one)
            for budget, other in zip(budgets, await fill(one, engine, counter, budgets), strict=True):
                ours[budget].append(await build(one, builder, budget))
                plain[budget].append(other)
    return [
        {
            "benchmark": "blocks",
            "set": folder.name,
            "budget": budget,
            "ours": figures(asked, ours[budget], plain[budget]),
            "plain": figures(asked, plain[budget], plain[budget]),
        }
        for budget in budgets
    ]


def together(found: Sequence[Mapping[str, Any]], budget: int) -> dict[str, Any]:
    """The means over sets, each counting the same: of evidence, and of tokens relative to the plain rule."""
    some = [each for each in found if each["budget"] == budget]
    return {
        "benchmark": "blocks",
        "sets": len(some),
        "budget": budget,
        "evidence": round(mean(each["ours"]["evidence"] for each in some), 2),
        "plain_evidence": round(mean(each["plain"]["evidence"] for each in some), 2),
        "tokens_of_plain": _percent([each["ours"]["tokens"] / each["plain"]["tokens"] for each in some]),
    }


def main(given: Sequence[str] | None = None) -> None:
    """Measure sets and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--budget", type=int, action="append")
    options = parser.parse_args(given)
    budgets = tuple(options.budget or BUDGETS)
    folders = [options.folder / name for name in options.sets] or sorted(
        each.parent for each in options.folder.glob("*/questions.jsonl")
    )
    found: list[dict[str, Any]] = []
    for folder in folders:
        for line in asyncio.run(measure(folder, budgets)):
            found.append(line)
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    for budget in budgets:
        sys.stdout.write(json.dumps(together(found, budget)) + "\n")


if __name__ == "__main__":
    main()
