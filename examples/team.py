"""The second act of the demo: a team's year of chat becomes a graph; relations end, entities merge, memories go."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from examples.printing import counted, cut, show_block, title
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator, Event
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.model import Principal
from graphsearch.modes.result import SearchMode
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import entity_name, safe_text, triplet_line

TRANSCRIPT: Final = Path(__file__).with_name("team.json")
QUESTION: Final = "who's on Sarah's team?"
BEFORE: Final = datetime(2025, 6, 15, tzinfo=UTC)
AFTER: Final = datetime(2025, 10, 1, tzinfo=UTC)
TOPIC: Final = "why did Sarah's team change?"
PERSON: Final = "Priya Sharma"
PRIVATE: Final = "hr/reviews/yuki-2025.md"


async def act(store: GraphStore) -> None:
    """Ingest the chat, ask questions across its reorganisation, then curate the graph."""
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    curator = Curator(engine)
    title("5. A team's year of chat, taken in as it was written")
    await take_in(engine)
    title(f"6. {QUESTION} Before the reorganisation, and after it")
    for moment in (BEFORE, AFTER):
        await ask(engine, moment)
    title(f"7. {TOPIC} Statements and facts about it, in one block")
    await remember(engine)
    title(f"8. The timeline of {PERSON}")
    for event in await curator.entity_timeline(PERSON):
        if event.relation is not None and event.relation.type != "co_occurs":
            print(f"  {event.at.date()}  {event.kind.value:8} {event_text(event)}")
    title("9. A merge undone, a memory forgotten")
    await merge_and_undo(curator)
    await forget(engine, curator)
    await curator.detect_communities()
    for community in (await curator.communities())[:3]:
        print(f"community of {community.size}: {safe_text(community.label)}")
    health = await curator.graph_health()
    print(f"health: {health.value:.2f}, {health.condition.value}; {health.message}")


async def take_in(engine: GraphSearchEngine) -> None:
    """Ingest turn by turn, then all again, which finds nothing to do."""
    memories = await asyncio.to_thread(read_memories, TRANSCRIPT)
    ingestor = Ingestor(engine)
    for attempt in ("first", "again"):
        started = time.perf_counter()
        report = await ingestor.remember(memories)
        stages = {str(stage): number for stage, number in report.resolutions.by_stage.items()}
        print(
            f"{attempt}: {report.memories} memories, {report.changed} written, {report.entities} entities,"
            f" {report.relations} relations in {time.perf_counter() - started:.2f} s"
        )
        if stages:
            print(f"  names resolved: {counted(stages)}")


async def ask(engine: GraphSearchEngine, moment: datetime) -> None:
    """Ask the same question as of another day."""
    found = await engine.search(QUESTION, mode=SearchMode.NEIGHBORHOOD, as_of=moment, limit=5, max_hops=1)
    print(f"\nas of {moment.date()}:")
    for triplet in found.triplets:
        print(f"  {triplet.score:6.4f}   {cut(triplet_line(triplet)[2:], 120)}")


async def remember(engine: GraphSearchEngine) -> None:
    """The context block of a question: dated observations in their own words, then triplets."""
    reader = Principal(id="robin", projects=(engine.store.scope,))
    gate = Gate(CedarAuthorizer.default(), reader)
    block = await ContextBuilder(engine).build(TOPIC, gate=gate, session_id="team", budget=300)
    show_block(reader, block)


async def merge_and_undo(curator: Curator) -> None:
    """Resolve "@priya", which matches two people, by a merge, and undo it."""
    (handle,) = [each for each in await curator.search_entities("priya") if "@priya" in each.entity.aliases]
    merge = await curator.merge_entities(handle.entity.id, PERSON)
    merged = await curator.recall_entity(PERSON)
    print(f"merged {handle.entity.name!r}: {merge.mentions} mentions moved; {PERSON} is {merged.entity.aliases}")
    report = await curator.undo_merge(merge.id)
    again = await curator.recall_entity(PERSON)
    print(f"undone: {report.mentions} mentions back; {PERSON} is {again.entity.aliases}")


async def forget(engine: GraphSearchEngine, curator: Curator) -> None:
    """Forget what did not belong in the chat, and everything that rests on it alone."""
    memories = await engine.store.list_memories(limit=1_000)
    (unwanted,) = [each for each in memories if PRIVATE in each.text]
    report = await curator.forget(unwanted.id)
    left = [each for each in await curator.search_entities(PRIVATE) if each.entity.name == PRIVATE]
    print(
        f"forgot {unwanted.id}: {report.mentions_removed} mentions, {report.claims_removed} claims,"
        f" {report.relations_retracted} relations, {report.entities_removed} entities;"
        f" called {PRIVATE} now: {len(left)}"
    )


def event_text(event: Event) -> str:
    """A relation as seen from the person."""
    if event.relation is None or event.entity is None:
        return ""
    type_ = safe_text(event.relation.type)
    arrow = f"--{type_}-->" if event.relation.target_id == event.entity.id else f"<--{type_}--"
    return f"{arrow} {entity_name(event.entity)}"
