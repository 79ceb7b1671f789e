"""demo: on a chat that comes with the package, what there is to see, each line computed where it is shown."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Annotated, Final
from uuid import uuid4

import click

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import ORG, Server, open_scopes
from graphsearch.cli.serving import Serving, ui
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.display.printing import hidden
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.ingest.sources.memory_files import memories_in
from graphsearch.model import Outcome, Principal, Triplet
from graphsearch.model.codec import Says
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import memory_line, short_triplet_line

_LEADER: Final = "Who leads the Lighthouse backend?"
_EARLIER: Final = datetime(2025, 2, 1, tzinfo=UTC)
_SUCCESSOR: Final = "Who succeeds Jonas Weber?"
_FORGOTTEN: Final = "demo:10"
_BUDGET: Final = 120


async def demo(
    *,
    project: Annotated[str, Says("The project that the chat is remembered in.")] = "demo",
    no_page: Annotated[bool, Says("End after the story, as it does without a terminal.")] = False,
    server: Server,
) -> Answer | None:
    """Tell what there is to see, on a chat that comes along, and serve its page."""
    look = f"graphsearch ui --org {ORG} --project {project}"
    look += f" --embedded {server.embedded}" if server.embedded else ""
    async with open_scopes(server) as scopes:
        story = [line async for line in _story(scopes.with_scope(org_id=ORG, project_id=project))]
        if no_page or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return Answer({"story": story, "page": look}, [*story, "", f"Look at it: {look}"])
        click.echo("\n".join([*story, "", f"Look at it (again with: {look}; Ctrl-C ends it):"]))
        await ui(serving=Serving(dsn=server.dsn, embedded=server.embedded, org=ORG, project=project))
        return None


async def _story(store: GraphStore) -> AsyncIterator[str]:
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    context, curator = ContextBuilder(engine), Curator(engine)
    ines, guest = (
        Gate(CedarAuthorizer.default(), Principal(id=name, attributes=attributes, projects=(store.scope,)))
        for name, attributes in (("ines", {"role": "admin", "see_private": True}), ("guest", {}))
    )
    session, started = f"demo-{uuid4()}", time.perf_counter()
    chat = memories_in("demo.jsonl", files("graphsearch.cli").joinpath("demo.jsonl").read_bytes())
    report = await Ingestor(engine).remember(chat)
    facts, seconds = sum(len(each.facts) for each in chat), time.perf_counter() - started
    yield f"1. {report.memories} messages of a team, with {facts} facts that they state, in {seconds:.1f} s."

    block = await context.build(_LEADER, gate=ines, session_id=session, budget=_BUDGET)
    yield f"\n2. {_LEADER} What a model gets, in {block.tokens} of {_BUDGET} tokens:"
    for line in block.text.splitlines():
        yield f"   {line}"

    found = await curator.why(block.triplets[0].relation.id)
    yield f"\n3. Why {_lines(block.triplets[:1])}? Confidence {found.relation.confidence:.2f}:"
    for proof in found.proofs:
        yield f"   {memory_line(proof.memory)}  (adds {proof.adds:.2f})"

    before = await engine.search(_LEADER, as_of=_EARLIER, limit=1)
    yield f"\n4. The same on {_EARLIER.date()}: {_lines(before.triplets)}"

    yield f"\n5. {_SUCCESSOR} It was said in private:"
    for gate in (ines, guest):
        seen = await engine.search(_SUCCESSOR, gate=gate, limit=1)
        yield f"   for {gate.principal.id}: {_lines(seen.triplets)} ({hidden(seen.denied) or 'nothing hidden'})"

    await context.feedback(session, Outcome.ACCEPTED, gate=ines)
    after = await engine.search(_LEADER, limit=1)
    weights = [each.relation.feedback_weight for each in (block.triplets[0], after.triplets[0])]
    yield f"\n6. The answer was accepted: the weight of its line moved from {weights[0]:.3f} to {weights[1]:.3f}."

    gone = await curator.forget(_FORGOTTEN)
    counts = (
        f"{gone.memories} of memories, {gone.relations_retracted} of relations, {gone.entities_removed} of entities"
    )
    yield f"\n7. A message with an address was forgotten, and what rests on it alone: {counts}."


def _lines(triplets: Sequence[Triplet]) -> str:
    return "; ".join(short_triplet_line(each, dated=True)[2:] for each in triplets) or "nothing"
