"""A hot standby, and a role that may only read: everything is answered, and what would write is refused, typed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, ReadOnlyStoreError, StoreError, StoreUnavailableError
from graphsearch.model import Batch, Entity, Outcome
from graphsearch.operations.service import GraphService
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.session.faults import translated
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import WordCounter
from tests.integrations.team import CEDAR, EMBEDDER, engine_over, member
from tests.operating.conftest import SCOPE, Primary
from tests.operating.servers import Copy, base_backup, recipe
from tests.waiting import LONGEST

QUESTION = "who does Priya report to?"


@pytest.fixture(scope="module")
async def reading_dsn(primary: Primary) -> str:
    """A role that may only read, made as docs/how-to/operate-postgres.md describes."""
    with psycopg.connect(primary.admin_dsn, autocommit=True) as admin:
        admin.execute(recipe("A role that only reads").encode())
    return make_conninfo(primary.dsn, user="reader")


async def only_reads(store: GraphStore, primary: GraphStore) -> None:
    """Answers are those of the primary; every write is refused, and so is feedback of which nothing is known."""
    engine, there = (GraphSearchEngine(store=each, embedder=EMBEDDER) for each in (store, primary))
    gate = member(store)
    assert [each.memory for each in (await engine.recall(QUESTION, gate=gate)).memories] == [
        each.memory for each in (await there.recall(QUESTION, gate=gate)).memories
    ]
    assert (await engine.search(QUESTION, gate=gate)).triplets == (await there.search(QUESTION, gate=gate)).triplets
    assert await store.statistics() == await primary.statistics()
    builder = ContextBuilder(engine, counter=WordCounter())
    with pytest.raises(ReadOnlyStoreError, match="log=None"):
        await builder.build(QUESTION, gate=gate, session_id="s1")
    for session in ("s1", "never opened"):
        with pytest.raises(ReadOnlyStoreError):
            await builder.feedback(session, Outcome.ACCEPTED, gate=gate)
    with pytest.raises(ReadOnlyStoreError):
        await store.write(Batch(entities=[Entity(type="tool", name="new")]))


async def answers_with_a_log_elsewhere(store: GraphStore, primary: GraphStore, session: str) -> None:
    """Blocks are the same without a log; with one on the primary, outcomes count there."""
    engine, gate = GraphSearchEngine(store=store, embedder=EMBEDDER), member(store)
    unlogged = ContextBuilder(engine, counter=WordCounter(), log=None)
    block = await unlogged.build(QUESTION, gate=gate, session_id=session)
    assert block.text
    assert block.injection_id is None
    with pytest.raises(ReadOnlyStoreError, match="without a log"):
        await unlogged.feedback(session, Outcome.ACCEPTED, gate=gate)
    logged = ContextBuilder(engine, counter=WordCounter(), log=primary)
    again = await logged.build(QUESTION, gate=gate, session_id=session)
    assert again.text == block.text
    assert again.injection_id is not None
    assert (await logged.feedback(session, Outcome.ACCEPTED, gate=gate)).applied


async def test_a_standby_is_read_and_logs_to_its_primary(primary: Primary, copy_folder: Path) -> None:
    await asyncio.to_thread(base_backup, primary.admin_dsn, copy_folder, "-R")
    standby = Copy(copy_folder, ("hot_standby_feedback=on",))
    with standby.running():
        async with (
            PostgresGraphStore.open(primary.dsn) as source,
            PostgresGraphStore.open(standby.dsn(primary.dsn)) as copy,
        ):
            there, here = source.with_scope(**SCOPE), copy.with_scope(**SCOPE)
            await only_reads(here, there)
            with pytest.raises(ReadOnlyStoreError):
                await here.settle()
            await answers_with_a_log_elsewhere(here, there, "on a standby")
            late = Entity(type="tool", name="late")
            await there.write(Batch(entities=[late]))
            async with asyncio.timeout(LONGEST):
                while not await here.get_entities([late.id]):  # noqa: ASYNC110 - another server has no event
                    await asyncio.sleep(0.01)


async def test_a_role_that_may_only_read(primary: Primary, reading_dsn: str) -> None:
    async with PostgresGraphStore.open(primary.dsn) as source, PostgresGraphStore.open(reading_dsn) as reading:
        there, here = source.with_scope(**SCOPE), reading.with_scope(**SCOPE)
        await only_reads(here, there)
        await answers_with_a_log_elsewhere(here, there, "by a reader")


async def test_the_log_is_of_the_same_scope() -> None:
    scopes = InMemoryGraphStore()
    engine = await engine_over(scopes.with_scope(**SCOPE))
    with pytest.raises(InvalidInputError, match="its scope must be"):
        ContextBuilder(engine, log=scopes.with_scope(org_id="acme", project_id="other"))
    with pytest.raises(InvalidInputError, match="'engine'"):
        ContextBuilder(engine, log="elsewhere")  # type: ignore[arg-type]


def test_a_server_without_a_log_takes_no_feedback() -> None:
    def engine_of(_: object) -> GraphSearchEngine:
        raise NotImplementedError

    with pytest.raises(InvalidInputError, match="read_only"):
        GraphService(engine_of=engine_of, authorizer=CEDAR, counter=WordCounter(), log=False)
    assert GraphService(engine_of=engine_of, authorizer=CEDAR, counter=WordCounter(), log=False, read_only=True)


@pytest.mark.parametrize("error", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
def test_a_read_that_was_in_the_way_can_be_tried_again(error: type[psycopg.Error]) -> None:
    with pytest.raises(StoreUnavailableError, match="try again; on a standby, hot_standby_feedback"), translated("it"):
        raise error


def test_only_a_write_is_refused_as_a_write() -> None:
    with pytest.raises(StoreError) as reading, translated("it"):
        raise psycopg.errors.InsufficientPrivilege
    assert not isinstance(reading.value, ReadOnlyStoreError)
    with pytest.raises(ReadOnlyStoreError), translated("it", writing=True):
        raise psycopg.errors.ReadOnlySqlTransaction
