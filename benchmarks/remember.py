"""Ingesting short memories (extraction, resolution, embedding): at least 1,000 per second in memory, 400 in Postgres.

    python -m benchmarks.remember [N …] [--embedded | --dsn DSN] [--json]

N memories of a synthetic company: one or two sentences each, a speaker, a session and a time. There is no bare cost;
the time of the extractor alone on the same memories is reported.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks.asking import SCOPE
from benchmarks.command import Setting, run
from benchmarks.measuring import rounded
from benchmarks.servers import databases
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor, TextExtractor
from graphsearch.model import Memory
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore

IN_MEMORY: Final = 1000
IN_POSTGRES: Final = 400
"""The required memories per second."""

_GIVEN: Final = "Ada Ben Cleo Dan Eva Finn Gus Hana Ivo Jana Kai Lea Max Nora Olga Pia Quinn Rosa Sam Tea Uma Vic"
_FAMILY: Final = "Abel Brandt Cohen Dietz Ekman Fuchs Gruber Holm Ibsen Jansen Kraus Lang Moser Novak Olsen Peters"
_TOOLS: Final = "Postgres Redis Kafka Terraform Grafana Superset DuckDB Airflow Spark Flink Prometheus Vault"
_PROJECTS: Final = "Atlas Beacon Kestrel Orion Falcon Heron Lynx Otter Puffin Raven"
_SAID: Final = (
    "{one} works with {other} on {project}.",
    "{one} reports to {other} since last Tuesday, and uses {tool}.",
    "{project} depends on {tool}, and the deployment took {number} minutes today.",
    "I talked to {one} about {project}. It uses {tool} now.",
    "{one} moved to the {project} team on 2025-03-{number}.",
    "Nothing much happened today, the build was green and lunch was fine.",
)


def memories(count: int) -> list[Memory]:
    """The memories; the same for the same number."""
    chance = random.Random(1)
    people = [f"{given} {family}" for given in _GIVEN.split() for family in _FAMILY.split()]
    start = datetime(2025, 1, 1, tzinfo=UTC)
    return [
        Memory(
            id=f"m{number}",
            text=chance.choice(_SAID).format(
                one=chance.choice(people),
                other=chance.choice(people),
                project=chance.choice(_PROJECTS.split()),
                tool=chance.choice(_TOOLS.split()),
                number=chance.randint(10, 28),
            ),
            speaker=chance.choice(people),
            session_id=f"s{number // 20}",
            position=number % 20,
            occurred_at=start + timedelta(minutes=37 * number),
        )
        for number in range(count)
    ]


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    given = memories(n)
    started = time.perf_counter()
    await TextExtractor().extract(given)
    extracted = rate(n, started)
    in_memory = await taken_in(given, InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id))
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        stored = await taken_in(given, opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id))
    return {
        "benchmark": "remember",
        "n": n,
        "data": "made-up memories of 8 to 14 words",
        "runs": 1,
        "machine": {"cores": os.cpu_count(), "load": rounded(os.getloadavg()[0])},
        "extractor_alone_s": extracted,
        "memory_s": in_memory,
        "postgres_s": stored,
        "target": f">= {IN_MEMORY} in memory, >= {IN_POSTGRES} in Postgres",
        "met": in_memory >= IN_MEMORY and stored >= IN_POSTGRES,
    }


async def taken_in(given: Sequence[Memory], store: GraphStore) -> float:
    """Memories per second, from their text to the written graph."""
    embedder = WordLlamaEmbedder()
    await embedder.embed(["the model is loaded by the first text"], input_type="document")
    started = time.perf_counter()
    await Ingestor(GraphSearchEngine(store=store, embedder=embedder)).remember(given)
    return rate(len(given), started)


def rate(count: int, started: float) -> float:
    """A rate per second."""
    return rounded(count / (time.perf_counter() - started))


if __name__ == "__main__":
    run(measure, __doc__)
