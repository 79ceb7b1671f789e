"""The store on a cluster: prepared by `graphsearch init --distributed`, and each way in which one is set up wrong.

The cluster is a stand-in, `tests.stores.cluster`: it has the catalogue of Citus, and all its tables on one server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pglast
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from graphsearch import Batch, Claim, Entity, Memory, Mention, Outcome, Relation
from graphsearch.errors import ClusterError, ForeignSessionError, MigrationError, StoreUnavailableError
from graphsearch.model import ElementKind, ElementRef, Injection, View
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.index import vector_index
from graphsearch.stores.in_postgres.session import gateway, sending
from graphsearch.stores.in_postgres.session.distributing import distribute
from graphsearch.stores.in_postgres.session.faults import translated
from graphsearch.stores.in_postgres.session.migrating import migrate, migrations, statements_of
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.fix_postgres import APP_ROLE, PASSWORD, Database, Server, refuse_cluster
from tests.stores.cluster import execute, make_cluster
from tests.stores.routing import scoped_tables
from tests.waiting import LONGEST, until


async def init(database: Database, *, distributed: bool = True) -> list[str]:
    return await migrate(database.admin_dsn, app_role=APP_ROLE, app_password=PASSWORD, distributed=distributed)


@pytest.fixture(scope="module")
async def cluster(postgres_server: Server) -> AsyncIterator[Database]:
    database = await postgres_server.database(migrated=False)
    await make_cluster(database.admin_dsn)
    await init(database)
    yield database
    await postgres_server.drop(database)


# -- prepared -----------------------------------------------------------------------------------------------------


async def test_all_tables_of_organisations_are_distributed_together(cluster: Database) -> None:
    rows = await execute(
        cluster.admin_dsn, "SELECT logicalrelid::text, colocated_with FROM pg_dist_partition ORDER BY place"
    )
    assert rows[0] == ("graphsearch.scope", "none")
    assert {beside for _, beside in rows[1:]} == {"graphsearch.scope"}
    parts = {f"{kind}_embedding_part" for kind in ElementKind}
    assert {str(name).removeprefix("graphsearch.") for name, _ in rows} == scoped_tables() - parts
    (setting,) = await execute(cluster.admin_dsn, "SHOW citus.propagate_set_commands")
    assert setting == ("local",)


async def test_what_a_migration_adds_is_distributed_without_being_asked_for(empty_database: Database) -> None:
    admin = empty_database.admin_dsn
    await make_cluster(admin)
    assert await init(empty_database) == [each.name for each in migrations()]
    await execute(admin, "CREATE TABLE graphsearch.added (org_id text, project_id text)")
    with pytest.raises(MigrationError, match=r"added is not distributed: run `graphsearch init --distributed`"):
        async with PostgresGraphStore.open(empty_database.dsn):
            pass
    assert await init(empty_database, distributed=False) == []
    (last,) = await execute(admin, "SELECT logicalrelid::text FROM pg_dist_partition ORDER BY place DESC LIMIT 1")
    assert last == ("graphsearch.added",)


def test_migrations_are_sent_statement_by_statement() -> None:
    for each in migrations():
        assert statements_of(each.text) == [text.strip() for text in _without_comments(each.text)]
    assert statements_of("SELECT ';'; -- a; b\nDO $x$ BEGIN; END $x$;\n\nSELECT \"a;b\" - 1") == [
        "SELECT ';'",
        "DO $x$ BEGIN; END $x$",
        'SELECT "a;b" - 1',
    ]


def _without_comments(text: str) -> list[str]:
    return [statements_of(each)[0] for each in pglast.split(text)]


# -- set up wrong -------------------------------------------------------------------------------------------------


async def test_a_database_without_the_extension_cannot_be_distributed(empty_database: Database) -> None:
    with pytest.raises(ClusterError, match="has no extension citus: run CREATE EXTENSION citus"):
        await init(empty_database)
    assert await execute(empty_database.admin_dsn, "SELECT to_regclass('graphsearch.scope')::text") == [(None,)]


async def test_a_database_of_a_cluster_is_not_prepared_as_another(empty_database: Database) -> None:
    await make_cluster(empty_database.admin_dsn)
    with pytest.raises(ClusterError, match="distribute the graph by `graphsearch init --distributed`"):
        await init(empty_database, distributed=False)


async def test_a_graph_that_is_not_distributed_is_neither_distributed_nor_opened(postgres_database: Database) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn) as store:
        await store.with_scope(org_id="a", project_id="b").write(Batch(entities=[Entity(type="person", name="Ada")]))
    await make_cluster(postgres_database.admin_dsn)
    with pytest.raises(MigrationError, match="holds a graph that is not distributed: prepare an empty database"):
        await init(postgres_database)
    with pytest.raises(MigrationError, match=r"scope and \d+ more tables are not distributed"):
        async with PostgresGraphStore.open(postgres_database.dsn):
            pass


async def test_a_store_is_not_opened_through_a_worker(empty_database: Database) -> None:
    await make_cluster(empty_database.admin_dsn)
    await init(empty_database)
    await execute(empty_database.admin_dsn, "UPDATE pg_dist_local_group SET groupid = 2")
    with pytest.raises(ClusterError, match="this is a worker of a cluster: open the store through the coordinator"):
        async with PostgresGraphStore.open(empty_database.dsn):
            pass
    with pytest.raises(ClusterError, match="this is a worker"):
        await init(empty_database)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("DELETE FROM pg_dist_node WHERE groupid <> 0", "has no worker that may hold shards: .* citus_add_node"),
        ("UPDATE pg_dist_node SET shouldhaveshards = false", "has no worker that may hold shards"),
        (
            "UPDATE pg_dist_node SET shouldhaveshards = true",
            "coordinator of the cluster holds shards.* citus_drain_node",
        ),
        (
            "INSERT INTO pg_dist_placement SELECT 7, 0; INSERT INTO pg_dist_shard SELECT 'graphsearch.scope', 7",
            "coordinator of the cluster holds shards",
        ),
    ],
)
async def test_a_cluster_that_could_not_be_written_to_is_refused(
    empty_database: Database, change: str, told: str
) -> None:
    await make_cluster(empty_database.admin_dsn)
    await init(empty_database)
    await execute(empty_database.admin_dsn, "SET allow_system_table_mods = on", *change.split("; "))
    with pytest.raises(ClusterError, match=told):
        async with PostgresGraphStore.open(empty_database.dsn):
            pass
    with pytest.raises(ClusterError, match=told):
        await init(empty_database)


async def test_an_owner_bound_by_policies_is_warned(empty_database: Database, caplog: pytest.LogCaptureFixture) -> None:
    await make_cluster(empty_database.admin_dsn)
    await init(empty_database)
    assert caplog.messages == []
    owner, name = "plain_owner", conninfo_to_dict(empty_database.dsn)["dbname"]
    await execute(
        empty_database.admin_dsn,
        f"CREATE ROLE {owner} LOGIN PASSWORD '{PASSWORD}'",
        f"ALTER DATABASE {name} OWNER TO {owner}",
        f"GRANT USAGE ON SCHEMA graphsearch TO {owner}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA graphsearch TO {owner}",
    )
    try:
        dsn = make_conninfo(empty_database.admin_dsn, user=owner, password=PASSWORD)
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
            await distribute(connection)
    finally:
        await execute(
            empty_database.admin_dsn,
            f"REASSIGN OWNED BY {owner} TO CURRENT_USER",
            f"DROP OWNED BY {owner}",
            f"DROP ROLE {owner}",
        )
    (told,) = caplog.messages
    assert "ALTER ROLE plain_owner BYPASSRLS on every node" in told
    assert "block_writes" in told


async def test_a_cluster_that_does_not_pass_the_scope_on_is_refused(cluster: Database) -> None:
    with pytest.raises(ClusterError, match=r"run ALTER DATABASE|or ALTER DATABASE .* SET citus.propagate_set_commands"):
        async with PostgresGraphStore.open(f"{cluster.dsn} options='-c citus.propagate_set_commands=none'"):
            pass


def test_the_tests_refuse_a_node_of_a_cluster_as_their_server(postgres_database: Database) -> None:
    with pytest.raises(pytest.UsageError, match="names a node of Citus"):
        refuse_cluster(make_conninfo(postgres_database.admin_dsn, options="-c citus.shard_count=32"))


# -- a node that is down ------------------------------------------------------------------------------------------


async def _hang(store: Any, started: list[str]) -> None:
    async with store._gateway.reading(store.scope) as session:
        started.append(store.scope.org_id)
        await session.run(b"SELECT pg_sleep(600)")


async def test_an_organisation_takes_half_of_the_connections_at_most(cluster: Database) -> None:
    async with PostgresGraphStore.open(cluster.dsn, max_connections=4, timeout=LONGEST) as opened:
        hanging, other = (opened.with_scope(org_id=org, project_id="p") for org in ("hangs", "answers"))
        for each in (hanging, other):
            await each.write(Batch(entities=PEOPLE))
        started: list[str] = []
        tasks = [asyncio.create_task(_hang(hanging, started)) for _ in range(4)]
        await until(lambda: len(started) == 2)
        assert len(await other.list_entities()) == 2
        opened._gateway.timeout = 0.1
        with pytest.raises(StoreUnavailableError, match=r"all 2 connections .* one organisation may have at a time"):
            await hanging.list_entities()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        opened._gateway.timeout = LONGEST
        assert started == ["hangs"] * 2
        assert len(await hanging.list_entities()) == 2


async def test_a_node_has_thirty_seconds_for_an_answer(cluster: Database) -> None:
    cases: list[tuple[dict[str, Any], float | None]] = [
        ({}, 30.0),
        ({"answer_timeout": 7.0}, 7.0),
        ({"answer_timeout": None}, None),
    ]
    for given, waited in cases:
        async with PostgresGraphStore.open(cluster.dsn, **given) as opened, opened._gateway.pool.connection() as one:
            assert one.patience == waited


async def test_a_snapshot_of_another_organisation_has_a_transaction_of_its_own(cluster: Database) -> None:
    async with PostgresGraphStore.open(cluster.dsn) as opened:
        stores = [opened.with_scope(org_id=org, project_id=project) for org, project in ("ap", "aq", "bp")]
        for each in stores:
            await each.write(Batch(entities=PEOPLE))
        first, beside, another = stores
        async with first.snapshot(), beside.snapshot(), another.snapshot():
            sessions_ = [each._gateway.current(each.scope) for each in stores]
            one, same, other = [each.connection for each in sessions_ if each]
            assert one is same is not other
            assert [len(await each.list_entities()) for each in stores] == [2, 2, 2]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            psycopg.errors.ConnectionFailure(
                "connection to the remote node app@worker-1:5432 failed with the following"
            ),
            "cannot reach its worker worker-1:5432: check that this runs",
        ),
        (psycopg.errors.InternalError_("could not find valid entry for shard 102008"), "try again"),
        (psycopg.InternalError("received 2 results from command 'COMMIT'"), "look whether it took effect"),
    ],
)
def test_what_a_cluster_lost_is_unavailable(error: psycopg.Error, told: str) -> None:
    with pytest.raises(StoreUnavailableError, match=told), translated("Postgres at coordinator"):
        raise error


# -- used ---------------------------------------------------------------------------------------------------------

ADA, BOB, MOVED = (UUID(int=number) for number in (1, 2, 3))
CROWD = [Entity(id=UUID(int=number), type="person", name=f"Person {number}") for number in range(10, 1_210)]
VECTORS = np.random.default_rng(3).standard_normal((len(CROWD), 4)).astype(np.float32)
KNOWS = Relation(id=UUID(int=4), source_id=ADA, type="knows", target_id=BOB)
ABOUT: dict[str, Any] = {
    "memories": [Memory(id="m", text="Ada met Bob; then Bobby left.")],
    "mentions": [
        Mention(memory_id="m", entity_id=key, surface=name, type="person") for key, name in ((ADA, "Ada"), (BOB, "Bob"))
    ],
    "claims": [Claim(memory_id="m", source_id=BOB, type="trusts", target_id=ADA, confidence=0.5)],
}
PEOPLE = [Entity(id=ADA, type="person", name="Ada"), Entity(id=BOB, type="person", name="Bob", aliases=["Bobby", "B"])]
RENAMED = [PEOPLE[0], Entity(id=BOB, type="person", name="Robert", aliases=["Bobby"])]


async def test_answers_are_those_of_a_store_in_memory(
    cluster: Database, monkeypatch: pytest.MonkeyPatch, clock: FixedClock
) -> None:
    sent = _recorded(monkeypatch)
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 10)
    async with PostgresGraphStore.open(cluster.dsn, clock=clock) as opened:
        ours = await _story(opened.with_scope(org_id="a;\nb", project_id="c"))
    assert ours == await _story(InMemoryGraphStore(clock=clock).with_scope(org_id="a;\nb", project_id="c"))
    assert any("force_custom_plan" in text for text in sent)
    assert "force_generic_plan" not in _plans_of_reads(sent)
    unwanted = ("ANALYZE", "build_vector_index")
    assert [text for text in sent if any(each in text for each in unwanted)] == []
    assert [text for text in sent if len(statements_of(text)) > 1] == []


def _plans_of_reads(sent: Sequence[str]) -> set[str]:
    """The settings of plans under which anything but a setting was sent."""
    found, setting = set[str](), ""
    for text in sent:
        if "plan_cache_mode" in text:
            setting = text.split()[-1]
        elif not text.startswith("SET "):
            found.add(setting)
    return found


def _recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are sent from now on, without those that hold vectors."""
    sent: list[str] = []
    execute: Callable[..., Any] = psycopg.AsyncCursor.execute
    send_together: Callable[..., Any] = sending.send_together

    async def recorded(self: Any, query: Any, *given: Any, **options: Any) -> Any:
        text = query.decode() if isinstance(query, bytes) else str(query)
        if len(text) < 10_000:
            sent.append(text)
        return await execute(self, query, *given, **options)

    async def recorded_together(connection: Any, statements: Sequence[Any]) -> Any:
        sent.extend(text for each in statements if len(text := each.text.decode()) < 10_000)
        return await send_together(connection, statements)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", recorded)
    for sender in (gateway, sending):
        monkeypatch.setattr(sender, "send_together", recorded_together)
    return sent


async def _story(store: GraphStore) -> list[Any]:
    """What writes of all kinds return, a bulk write among them, and what is read after them."""
    now = store.clock.now()
    vectors = {each.id: vector for each, vector in zip(CROWD, VECTORS, strict=True)}
    element = ElementRef(ElementKind.RELATION, str(KNOWS.id))
    injection = Injection(id="i", session_id="s", principal="p", created_at=now, tokens=1, elements=[element])
    await store.bind_embedder("model", 4)
    await store.write(Batch(relations=[KNOWS], entities=PEOPLE, **ABOUT))
    await store.log_injection(injection)
    await store.log_injection(injection)
    found: list[Any] = [
        await store.write(Batch(entities=CROWD, vectors=vectors)),
        await store.write(Batch(entities=PEOPLE, relations=[KNOWS], **ABOUT)),
        await store.write(Batch(entities=RENAMED, relations=[KNOWS], **ABOUT)),
        *[await store.apply_outcome("s", each, [element]) for each in (Outcome.ACCEPTED, *2 * [Outcome.REJECTED])],
        await store.injections("s"),
    ]
    await store.settle()
    with pytest.raises(ForeignSessionError):
        await store.log_injection(attrs.evolve(injection, id="j", principal="q"))
    hits = await store.search_by_embedding(ElementKind.ENTITY, VECTORS[7], limit=5, view=View(as_of=now, known_at=now))
    found += [
        store.entity_ids(hits.keys),
        await store.find_names(["robert", "bobby", "b"]),
        await store.get_relations([KNOWS.id]),
        attrs.evolve(await store.merge(ADA, BOB), id=MOVED),
        await store.forget(["m"]),
        await store.statistics(),
    ]
    await store.remove_scope()
    return found
