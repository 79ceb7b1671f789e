"""Dumps, restores and recovery to a point in time, by the recipes that are documented."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import MigrationError
from graphsearch.model import Batch, Memory
from graphsearch.stores.embedded import APP_ROLE
from graphsearch.stores.in_postgres.index import vector_index
from graphsearch.stores.in_postgres.session.migrating import migrate
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import portrait
from tests.integrations.team import EMBEDDER, PRIYA, SARAH, engine_over
from tests.operating.conftest import SCOPE, Primary
from tests.operating.servers import BIN, Copy, recipe, run, user
from tests.waiting import until


def shell(script: str, folder: Path, **variables: object) -> subprocess.CompletedProcess[str]:
    """Run a recipe in a folder, with the server's programs."""
    path = f"{BIN}:{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-ec", script], cwd=folder, user=user(), capture_output=True, text=True, check=False,
        env={"PATH": path, **{name: str(value) for name, value in variables.items()}},
    )  # fmt: skip


@attrs.frozen
class Owned:
    """A database that belongs to a role which is no superuser."""

    superuser: str
    owner: str
    dsn: str

    def named(self, name: str, user: str = "postgres") -> str:
        return make_conninfo(self.superuser, dbname=name, user=user)


@pytest.fixture(scope="module")
async def owned(primary: Primary) -> AsyncIterator[Owned]:
    """A graph in it, with a vector index."""
    with psycopg.connect(primary.admin_dsn, autocommit=True) as admin, pytest.MonkeyPatch.context() as patched:
        patched.setattr(vector_index, "EXACT_UNTIL", 100)
        patched.setattr(vector_index, "PER_CANDIDATE", 0.1)
        admin.execute("CREATE ROLE owner LOGIN")
        admin.execute("CREATE DATABASE owned OWNER owner")
        admin.execute(recipe("Back up and restore").encode())
        owner = make_conninfo(primary.admin_dsn, dbname="owned", user="owner")
        with pytest.raises(MigrationError, match="a superuser must run CREATE EXTENSION"):
            await migrate(owner, app_role=APP_ROLE)
        with psycopg.connect(make_conninfo(primary.admin_dsn, dbname="owned")) as superuser:
            superuser.execute("CREATE EXTENSION vector; CREATE EXTENSION pg_trgm")
        await migrate(owner, app_role=APP_ROLE)
        dsn = make_conninfo(primary.dsn, dbname="owned")
        async with PostgresGraphStore.open(dsn, clock=FixedClock()) as graph:
            store = graph.with_scope(**SCOPE)
            await engine_over(store)
            memories = [Memory(id=f"m{number}", text=f"number {number}") for number in range(400)]
            rows = np.random.default_rng(1).standard_normal((400, EMBEDDER.dimensions)).astype(np.float32)
            vectors = {memory.id: row for memory, row in zip(memories, rows, strict=True)}
            await store.write(Batch(memories=memories, vectors=vectors))
            await store.settle()
        yield Owned(primary.admin_dsn, owner, dsn)
        admin.execute("DROP DATABASE owned WITH (FORCE)")
        admin.execute("DROP DATABASE IF EXISTS restored WITH (FORCE)")


async def seen(dsn: str) -> object:
    """All that can be read from the scope."""
    async with PostgresGraphStore.open(dsn, clock=FixedClock()) as graph:
        return await portrait(graph.with_scope(**SCOPE), vectors=[EMBEDDER.vector("Priya")])


def parts(dsn: str) -> list[tuple[object, ...]]:
    """The parts of vector indexes, with their walls."""
    query = """
        SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, count(i.indexrelid), count(p.policyname)
        FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid LEFT JOIN pg_policies p ON p.tablename = c.relname
        WHERE c.relnamespace = 'graphsearch_part'::regnamespace GROUP BY c.oid"""
    with psycopg.connect(dsn) as connection:
        return connection.execute(query.encode()).fetchall()


async def test_a_dump_restores_everything(owned: Owned, copy_folder: Path) -> None:
    variables = {
        "SUPERUSER_DSN": owned.superuser,
        "BACKUP_DSN": owned.named("owned", "backup"),
        "RESTORED_DSN": owned.named("restored"),
        "OWNER": "owner",
    }
    for number in (1, 2):
        done = await asyncio.to_thread(shell, recipe("Back up and restore", number), copy_folder.parent, **variables)
        assert done.returncode == 0, done.stderr
    assert f"CREATE ROLE {APP_ROLE}" in (copy_folder.parent / "roles.sql").read_text()
    restored = make_conninfo(owned.dsn, dbname="restored")
    assert await seen(restored) == await seen(owned.dsn)
    assert parts(owned.named("restored")) == parts(owned.named("owned")) != []
    assert await migrate(owned.named("restored", "owner"), app_role=APP_ROLE) == []
    async with PostgresGraphStore.open(restored) as graph:
        store = graph.with_scope(**SCOPE)
        await store.write(Batch(memories=[Memory(id="after", text="after the restore")]))
        await store.settle()
        with psycopg.connect(owned.named("restored", APP_ROLE)) as connection:
            assert connection.execute("SELECT count(*) FROM graphsearch.memory").fetchone() == (0,)  # the wall stands


def test_the_owner_dumps_nothing(owned: Owned, copy_folder: Path) -> None:
    """As is: it fails. With --enable-row-security: it succeeds, without a row."""
    refused = run("pg_dump", f"--file={copy_folder}", owned.owner, check=False)
    assert refused.returncode != 0
    assert "row-level security" in refused.stderr
    run("pg_dump", "--enable-row-security", f"--file={copy_folder}", owned.owner)
    copied = copy_folder.read_text().split("COPY graphsearch.")[1:]
    assert any(each.startswith("memory ") for each in copied)
    held = {each.split(" ")[0] for each in copied if each.splitlines()[1] != "\\."}
    assert held == {"migration"}


async def test_recovery_to_a_point_in_time(primary: Primary, copy_folder: Path) -> None:
    variables: dict[str, object] = {"SUPERUSER_DSN": primary.admin_dsn, "BASE": copy_folder}
    based = await asyncio.to_thread(shell, recipe("Recover to a point in time"), copy_folder.parent, **variables)
    assert based.returncode == 0, based.stderr
    async with PostgresGraphStore.open(primary.dsn, clock=FixedClock()) as graph:
        store = graph.with_scope(org_id="acme", project_id="recovered")
        engine = await engine_over(store)
        before = await portrait(store)
        with psycopg.connect(primary.admin_dsn, autocommit=True) as admin:
            point = admin.execute("SELECT clock_timestamp()::text FROM pg_sleep(0.01)").fetchone()
            assert point
            await Curator(engine).merge_entities(PRIYA.id, SARAH.id)
            await store.forget(["m-lead"])
            assert await portrait(store) != before
            log = admin.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
            assert log
            await until((primary.archive / log[0]).exists)
    variables |= {"ARCHIVE": primary.archive, "UNTIL": point[0]}
    done = shell(recipe("Recover to a point in time", 1), copy_folder.parent, **variables)
    assert done.returncode == 0, done.stderr
    recovered = Copy(copy_folder)
    with recovered.running():
        dsn = recovered.dsn(primary.dsn)
        async with PostgresGraphStore.open(dsn, clock=FixedClock()) as graph:
            store = graph.with_scope(org_id="acme", project_id="recovered")
            assert await portrait(store) == before
            engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
            assert (await engine.recall("who leads search?")).memories
