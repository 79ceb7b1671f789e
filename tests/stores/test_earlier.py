"""Databases that earlier commits wrote: migrated, they answer as they did; what cannot be migrated is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import MigrationError
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.moving import export_scope, import_scope
from graphsearch.stores.in_postgres.session.migrating import migrate, migrations
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.fix_postgres import APP_ROLE, PASSWORD, Database
from tests.stores.earlier import EMBEDDER, SCOPE, answers

DUMPS = Path(__file__).parent / "dumps"
SEARCHED = ("graph_completion: ", "triplet_completion: ", "neighborhood: ", "rank: ")
"""Weighed otherwise since 28 November: the same is found and the same comes first, with other scores.

What is compared with a question is what its words name, so what it asks for weighs more; the rest may change places.
"""
NOW_ANSWERED = {
    f"{mode}: Who does Priya Sharma report to?": first
    for mode, first in {
        "graph_completion": ("Priya Sharma", "reports_to", "Sarah Chen"),
        "triplet_completion": ("Priya Sharma", "reports_to", "Sarah Chen"),
        "rank": ("Sarah Chen",),
    }.items()
}
"""What comes first where the last commit of 24 November found nothing, or nobody whom she reports to."""


def unweighed(asked: str, answer: Any) -> Any:
    """An answer; of one that is weighed, what comes first and what is found at all."""
    if not asked.startswith(SEARCHED):
        return answer
    found = [tuple(each[:-1]) for each in answer]
    return found[:1], sorted(found)


async def load(database: Database, name: str) -> None:
    """Make a database what an earlier commit left."""
    async with await psycopg.AsyncConnection.connect(database.admin_dsn) as connection:
        await connection.execute("CREATE EXTENSION vector; CREATE EXTENSION pg_trgm")
        await connection.execute(gzip.decompress((DUMPS / f"{name}.sql.gz").read_bytes()))


@pytest.mark.parametrize(
    ("name", "since", "otherwise"), [("2026-11-24-first", 2, {}), ("2026-11-24-last", 6, NOW_ANSWERED)]
)
async def test_what_an_earlier_commit_wrote_is_migrated_and_answers_as_it_did(
    empty_database: Database, tmp_path: Path, name: str, since: int, otherwise: dict[str, tuple[str, ...]]
) -> None:
    told: dict[str, Any] = json.loads((DUMPS / f"{name}.json").read_text(encoding="utf-8"))
    await load(empty_database, name)
    applied = await migrate(empty_database.admin_dsn, app_role=APP_ROLE, app_password=PASSWORD)
    assert applied == [each.name for each in migrations()[since:]]
    async with PostgresGraphStore.open(empty_database.dsn, clock=FixedClock(), exact=True) as graph:
        store, again = graph.with_scope(**SCOPE), graph.with_scope(org_id="acme", project_id="again")
        found = await answers(store)
        # "What did …" asks for what was, too, since 28 November.
        kept = {each for each in told if not (" did " in each and each.startswith(SEARCHED))} - otherwise.keys()
        assert {each: unweighed(each, found[each]) for each in kept} == {
            each: unweighed(each, told[each]) for each in kept
        }
        assert {each: unweighed(each, found[each])[0] for each in otherwise} == {
            each: [first] for each, first in otherwise.items()
        }
        # Stored derivatives are what this version makes of the same elements.
        await export_scope(store, tmp_path / "scope.jsonl")
        await import_scope(again, tmp_path / "scope.jsonl")
        assert await answers(again) == found
        # What is written from now on is about the entities that are there.
        engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
        await Ingestor(engine).remember([Memory(id="m9", text="Priya Sharma leads the Search Team.")])
        assert await store.list_entities() == await again.list_entities()


async def test_what_cannot_be_migrated_is_refused_with_the_way_to_move(empty_database: Database) -> None:
    await load(empty_database, "2026-11-23")
    count = "SELECT count(*) FROM graphsearch.memory"
    with psycopg.connect(empty_database.admin_dsn) as connection:
        before = connection.execute(count).fetchone()
    with pytest.raises(MigrationError, match=r"`graphsearch export` of that version and `graphsearch import` of this"):
        await migrate(empty_database.admin_dsn, app_role=APP_ROLE, app_password=PASSWORD)
    with psycopg.connect(empty_database.admin_dsn) as connection:
        assert connection.execute(count).fetchone() == before == (5,)
        connection.execute(f"GRANT USAGE ON SCHEMA graphsearch TO {APP_ROLE}")
        connection.execute(f"GRANT SELECT ON graphsearch.migration TO {APP_ROLE}")
    with pytest.raises(MigrationError, match="nothing was changed"):
        async with PostgresGraphStore.open(empty_database.dsn):
            pass
