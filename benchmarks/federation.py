"""One question to three scopes, compared with one scope that holds everything, and with two ways to merge answers.

    python -m benchmarks.federation FOLDER [QUESTIONS] [SEED]

FOLDER has the corpus.jsonl and questions.jsonl of a question set; its passages are dealt at random to three scopes. R@5
and R@10 of memories, in percent: of one scope, of the federated engine, of answers of the three scopes merged by score,
and of answers taken in turns.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

from benchmarks.command import machine
from benchmarks.measuring import rounded
from benchmarks.passages import passages
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.federation.engine import FederatedEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.protocols import Embedder
from graphsearch.ranking.recall_result import RecalledMemory
from graphsearch.stores.memory import InMemoryGraphStore

SCOPES: Final = 3
DEPTH: Final = 10
EVERYTHING: Final = 1_000_000


async def _engine(name: str, given: Sequence[Memory], embedder: Embedder) -> GraphSearchEngine:
    store = InMemoryGraphStore().with_scope(org_id="bench", project_id=name)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    await Ingestor(engine).remember(given)
    return engine


async def measure(folder: Path, count: int, seed: int) -> dict[str, Any]:
    """The shares of the evidence found, by way of asking."""
    given, embedder = passages(folder / "corpus.jsonl", EVERYTHING), WordLlamaEmbedder()
    dealt = random.Random(seed).choices(range(SCOPES), k=len(given))
    one = await _engine("one", given, embedder)
    several = [
        await _engine(f"part-{part}", [each for each, own in zip(given, dealt, strict=True) if own == part], embedder)
        for part in range(SCOPES)
    ]
    federated = FederatedEngine(several)
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [each for each in map(json.loads, lines) if each["gold_ids"]][:count]
    found: dict[str, list[tuple[list[str], set[str]]]] = {}
    for question in asked:
        text, gold = question["question"], set(map(str, question["gold_ids"]))
        parts = [(await each.recall(text, limit=DEPTH, min_relevance=0.0)).memories for each in several]
        ways = {
            "one_scope": (await one.recall(text, limit=DEPTH, min_relevance=0.0)).memories,
            "federated": (await federated.recall(text, limit=DEPTH, min_relevance=0.0)).memories,
            "merged_by_score": sorted(chain.from_iterable(parts), key=lambda each: (-each.score, each.memory.id)),
            "in_turns": [each for turn in zip_longest(*parts) for each in turn if each],
        }
        for way, memories in ways.items():
            found.setdefault(way, []).append((_ids(memories), gold))
    return {
        "benchmark": "federation",
        "set": folder.name,
        "passages": len(given),
        "questions": len(asked),
        "scopes": SCOPES,
        "seed": seed,
        "machine": machine(),
        **{way: {f"R@{depth}": _recall(pairs, depth) for depth in (5, DEPTH)} for way, pairs in found.items()},
    }


def _ids(memories: Iterable[RecalledMemory]) -> list[str]:
    return [each.memory.id for each in memories][:DEPTH]


def _recall(found: Sequence[tuple[list[str], set[str]]], depth: int) -> float:
    """The share of the evidence among the first, averaged over questions, in percent."""
    return rounded(100.0 * sum(len(gold & set(ids[:depth])) / len(gold) for ids, gold in found) / len(found))


def main() -> None:
    """Measure, and print one JSON object."""
    if len(sys.argv) < 2:  # noqa: PLR2004 - the folder
        raise SystemExit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else EVERYTHING  # noqa: PLR2004
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1  # noqa: PLR2004
    sys.stdout.write(json.dumps(asyncio.run(measure(Path(sys.argv[1]), count, seed))) + "\n")


if __name__ == "__main__":
    main()
