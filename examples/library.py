"""The first act of the demo: ingest the standard library of this Python, search it with policies and feedback."""

from __future__ import annotations

import sys
import sysconfig
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

from examples.printing import counted, cut, progress, show_block, title
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Outcome, Principal, Triplet
from graphsearch.modes.result import SearchResult
from graphsearch.stores.graph import GraphStore
from graphsearch.text.rendering import triplet_line

PACKAGES: Final = ("asyncio", "concurrent", "email", "http", "json", "logging")
MODULES: Final = ("selectors.py", "socket.py", "ssl.py", "threading.py")
QUESTION: Final = "where is the TLS handshake done?"
QUESTIONS: Final = (QUESTION, "how is a JSON document decoded?", "how does an HTTP connection send a request?")
SHOWN: Final = 6
RECIPES: Final = Path(__file__).parent / "policies"


async def act(store: GraphStore) -> None:
    """Ingest, search, authorize, learn, search again."""
    title(f"1. Ingest the standard library of Python {sys.version.split()[0]} into an embedded Postgres")
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    await ingest(engine, Path(sysconfig.get_path("stdlib")))
    title("2. Ask; every score is the sum of its parts")
    for question in QUESTIONS:
        show_result(await engine.search(question, limit=SHOWN))
    await authorize_and_learn(engine)


async def ingest(engine: GraphSearchEngine, library: Path) -> None:
    """Ingest the packages twice: the second run has nothing to do."""
    only = [part for part in (*PACKAGES, *MODULES) if (library / part).exists()]
    for attempt in ("first", "again"):
        started = time.perf_counter()
        report = await Ingestor(engine).add(library, only=only, progress=progress)
        seconds = time.perf_counter() - started
        print(
            f"{attempt}: {report.files} files, {report.changed} written, {report.entities} entities,"
            f" {report.relations} relations, {report.embedded} texts embedded, {len(report.faults)} faults"
            f" in {seconds:.2f} s"
        )
        for fault in report.faults:
            print(f"  left out {fault}")
    held = await engine.store.statistics()
    print(f"now there: {held.entities} entities ({counted(held.entities_by_type)}),")
    print(f"           {held.relations} relations ({counted(held.relations_by_type)})")


async def authorize_and_learn(engine: GraphSearchEngine) -> None:
    """Ask the same question as two principals, then report an outcome and ask again."""
    title("3. The context block for two principals; by a recipe Ada may see names with an underscore, Bob may not")
    scope = engine.store.scope
    policies = CedarAuthorizer.from_files([RECIPES / "members.cedar", RECIPES / "underscore_names.cedar"])
    ada = Gate(policies, Principal(id="ada", attributes={"see_private": True}, projects=(scope,)))
    bob = Gate(policies, Principal(id="bob", projects=(scope,)))
    context = ContextBuilder(engine)
    blocks = {}
    for gate in (ada, bob):
        who = gate.principal
        blocks[who.id] = await context.build(QUESTION, gate=gate, session_id=f"session-of-{who.id}", budget=300)
        show_block(who, blocks[who.id])
    private = [name for name in names(blocks["bob"].triplets) if any(part.startswith("_") for part in name.split("."))]
    print(f"\nprivate names in Bob's block: {sum(not special(name) for name in private)}")

    title("4. Bob's session is accepted; what it was shown moves up")
    before = await engine.search(QUESTION, limit=200)
    report = await context.feedback("session-of-bob", Outcome.ACCEPTED, gate=bob)
    again = await context.feedback("session-of-bob", Outcome.ACCEPTED, gate=bob)
    print(f"weights moved: {len(report.applied)}; the same report again moves {len(again.applied)}")
    after = await engine.search(QUESTION, limit=200)
    show_moves(before, after)


# -- printing -------------------------------------------------------------------------------------------------------


def show_result(result: SearchResult) -> None:
    """The triplets of a result with their score components."""
    print(f"\n{result.query}   ({result.found} relations scored in {result.timings['total']:.0f} ms)")
    print("   score = proximity + importance + feedback")
    for triplet in result.triplets:
        score = triplet.breakdown
        parts = f"{score.proximity_part:9.4f} + {score.importance_part:10.4f} + {score.feedback_part:8.4f}"
        print(f"  {score.value:6.4f} = {parts}   {cut(triplet_line(triplet)[2:], 110)}")


def show_moves(before: SearchResult, after: SearchResult) -> None:
    """Which scores moved, by how much, and how their ranks changed."""
    first = ranked(before.triplets)
    moved = [
        (rank, *first[id_], triplet)
        for id_, (rank, triplet) in ranked(after.triplets).items()
        if id_ in first and abs(triplet.score - first[id_][1].score) > 1e-9  # noqa: PLR2004
    ]
    print(f"scores moved: {len(moved)} of {len(after.triplets)}")
    for rank, was, old, new in moved[:SHOWN]:
        gain = new.score - old.score
        print(f"  rank {was:3} -> {rank:3}   {old.score:.4f} -> {new.score:.4f} ({gain:+.4f})", end="   ")
        print(cut(triplet_line(new)[2:], 90))
    print("the most that one session can move a score is 0.3 × 0.1 = 0.03 (design: feedback influence × alpha)")


def ranked(triplets: Iterable[Triplet]) -> Mapping[UUID, tuple[int, Triplet]]:
    """Triplets with their ranks, by relation id."""
    return {triplet.relation.id: (rank, triplet) for rank, triplet in enumerate(triplets, start=1)}


def names(triplets: Iterable[Triplet]) -> set[str]:
    """The names of all ends."""
    return {end.name for triplet in triplets for end in (triplet.source, triplet.target)}


def special(name: str) -> bool:
    """Whether only special methods account for the underscores of a name."""
    parts = [part for part in name.split(".") if part.startswith("_")]
    return all(part.startswith("__") and part.endswith("__") for part in parts)
