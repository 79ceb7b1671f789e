"""Loops of recall and remember, which must change nothing: `python -m tests.trust.echoes COUNT` runs more of them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from graphsearch import ALLOW_ALL, GraphSearchEngine, Ingestor, Memory, SearchMode, TextExtractor
from graphsearch.access.gate import Gate
from graphsearch.context import ContextBlock, ContextBuilder
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, WordCounter
from graphsearch.testing.samples import portrait

JANUARY: Final = datetime(2025, 1, 6, 9, tzinfo=UTC)
KNOWN: Final = (
    Memory(id="n1", text="Priya Sharma reports to Sarah Chen.", occurred_at=JANUARY, speaker="Dana Levy"),
    Memory(id="n2", text="Sarah Chen works at Acme.\nAcme uses Postgres. It is fast.", occurred_at=JANUARY),
    Memory(id="n3", text="I moved to Leeds last week.", occurred_at=JANUARY, speaker="Dana Levy"),
)
QUESTION: Final = "Who does Priya Sharma report to, where does Sarah Chen work and where does Dana Levy live?"
EXTRACTOR: Final = TextExtractor()


def engine_of(store: GraphStore) -> GraphSearchEngine:
    return GraphSearchEngine(store=store)


def ingestor_of(store: GraphStore) -> Ingestor:
    return Ingestor(engine_of(store), extractor=EXTRACTOR)


async def shown(store: GraphStore, session: str = "s", gate: Gate = ALLOW_ALL) -> ContextBlock:
    """Show a session all that is known."""
    builder = ContextBuilder(engine_of(store), counter=WordCounter())
    block = await builder.build(QUESTION, gate=gate, session_id=session, mode=SearchMode.NEIGHBORHOOD, budget=1_000)
    assert {each.memory.id for each in block.memories} >= {"n1", "n3"}
    assert block.triplets
    return block


async def content(store: GraphStore) -> Mapping[str, Any]:
    return await portrait(store, questions=("priya sharma", "leeds"))


def copies(block: str) -> list[str]:
    """A block as it is written back: whole, line by line, and changed in all that is no word."""
    lines = [line for line in block.splitlines() if line.startswith("- ")]
    return [
        *(block, f"You said:\n{block}", block.upper()),
        *(line.removeprefix("- ") for line in lines),
        *(f"{number}. {line.removeprefix('- ')}" for number, line in enumerate(lines, 1)),
        *(f"> **As you said**, \u201c{each.text}\u201d" for each in KNOWN),
        *(f"You told me that {each.text}" for each in KNOWN),
        "Priya Sharma reports to Sarah Chen. Sarah Chen works at Acme.",
        "Sarah Chen   works at\u00a0ACME",
        "priya sharma --reports_to--> sarah chen",
    ]


async def loop(store: GraphStore, rounds: int) -> None:
    """Recall and remember, and compare the whole graph."""
    ingestor = ingestor_of(store)
    await ingestor.remember(KNOWN)
    before = await content(store)
    for number in range(rounds):
        texts = copies((await shown(store)).text)
        echo = Memory(id=f"e{number}", text=texts[number % len(texts)], session_id="s", speaker="assistant")
        report = await ingestor.remember([echo])
        assert [(each.memory_id, each.stored) for each in report.echoes] == [(echo.id, False)], echo.text
        assert set(report.echoes[0].sources) <= {each.id for each in KNOWN}
        assert (report.changed, report.relations, report.entities) == (0, 0, 0)
    assert await content(store) == before


async def main(rounds: int) -> None:
    """Run loops in memory, and print their number."""
    await loop(InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="web"), rounds)
    print(json.dumps({"loops": rounds, "changes": 0}))  # noqa: T201 - the result of a command


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
