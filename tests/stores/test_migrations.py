from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from graphsearch.errors import (
    MigrationError,
    StoreConfigurationError,
    StoreError,
    StoreUnavailableError,
    UnsafeRoleError,
)
from graphsearch.stores.in_postgres.session import migrating
from graphsearch.stores.in_postgres.session.migrating import Migration, migrate, migrations
from graphsearch.stores.in_postgres.tables import TABLES
from graphsearch.stores.postgres import PostgresGraphStore
from tests.fix_postgres import APP_ROLE, PASSWORD, Database, Server

WALLS = """
    SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity, p.qual, p.with_check
    FROM pg_class c LEFT JOIN pg_policies p ON p.schemaname = 'graphsearch' AND p.tablename = c.relname
    WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind IN ('r', 'p')"""
KEYS = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'graphsearch'::regnamespace"


async def test_every_table_is_behind_the_wall(postgres_database: Database) -> None:
    here = [f"current_setting('graphsearch.{part}'::text, true)" for part in ("org_id", "project_id")]
    wall = f"((org_id = {here[0]}) AND (project_id = {here[1]}))"
    hashed = f" AND (scope_hash = hashtextextended({here[0]}, hashtextextended({here[1]}, (0)::bigint))))"
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        for table, walled, seen, written in connection.execute(WALLS.encode()):
            assert walled == (table != "migration")
            assert not walled or (seen in {wall, wall.removesuffix(")") + hashed} and written == wall)
        for (definition,) in connection.execute(KEYS.encode()):
            keyed = definition.startswith(("PRIMARY KEY", "UNIQUE", "FOREIGN KEY"))
            assert not keyed or "org_id, project_id" in definition or definition == "PRIMARY KEY (number)"


@pytest.mark.parametrize("kind", sorted(TABLES))
async def test_the_schema_has_the_columns_that_rows_are_made_of(postgres_server: Server, kind: str) -> None:
    table = TABLES[kind]
    asked = """SELECT attname, atttypid FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"""
    with psycopg.connect(postgres_server.named(postgres_server.template).admin_dsn) as connection:
        there: dict[str, int] = dict(connection.execute(asked, [f"graphsearch.{table.name}"]).fetchall())
        for name, type_ in table.written.items():
            assert connection.execute("SELECT %s::regtype::oid", [type_]).fetchone() == (there[name],), name
        assert {"org_id", "project_id", *table.key} <= there.keys()


async def test_again_changes_nothing_and_may_run_at_once(empty_database: Database) -> None:
    runs = [migrate(empty_database.admin_dsn, app_role=APP_ROLE) for _ in range(3)]
    applied = await asyncio.gather(*runs)
    assert sorted(applied) == [[], [], [migration.name for migration in migrations()]]


async def test_a_changed_migration_is_named(postgres_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [Migration(1, "0001_initial.sql", "SELECT 1")]
    monkeypatch.setattr(migrating, "migrations", lambda: changed)
    with pytest.raises(MigrationError, match=r"0001_initial\.sql is not what was applied"):
        await migrate(postgres_database.admin_dsn, app_role=APP_ROLE)


@pytest.mark.parametrize("applied", [1, 10])
async def test_a_database_of_a_version_before_is_told_how_to_move(empty_database: Database, applied: int) -> None:
    """As the versions of November left them: the first schema and what followed."""
    journal = """CREATE TABLE graphsearch.migration (number integer PRIMARY KEY, name text, checksum text);
        CREATE TABLE graphsearch.memory (id text); INSERT INTO graphsearch.memory VALUES ('m')"""
    with psycopg.connect(empty_database.admin_dsn, autocommit=True) as admin:
        admin.execute(f"CREATE EXTENSION vector; CREATE SCHEMA graphsearch; {journal}".encode())
        for number in range(1, applied + 1):
            named = (number, f"{number:04}_initial.sql", "of then")
            admin.execute("INSERT INTO graphsearch.migration VALUES (%s, %s, %s)", named)
        admin.execute(f"GRANT USAGE ON SCHEMA graphsearch TO {APP_ROLE}".encode())
        admin.execute(f"GRANT SELECT ON graphsearch.migration TO {APP_ROLE}".encode())
        told = r"nothing was changed.*`graphsearch export` of that version and `graphsearch import` of this"
        with pytest.raises(MigrationError, match=told):
            await migrate(empty_database.admin_dsn, app_role=APP_ROLE, app_password=PASSWORD)
        with pytest.raises(MigrationError, match=told):
            async with PostgresGraphStore.open(empty_database.dsn):
                pass
        assert admin.execute("SELECT id FROM graphsearch.memory").fetchall() == [("m",)]


async def test_a_new_migration_is_applied_and_a_failing_one_leaves_nothing(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = migrations()[-1].number
    good = Migration(last + 1, "9001_more.sql", "CREATE TABLE more (id integer)")
    bad = Migration(last + 2, "9002_bad.sql", "CREATE TABLE bad (id integer); SELECT nonsense")
    monkeypatch.setattr(migrating, "migrations", lambda: [*migrations(), good, bad])
    with pytest.raises(StoreError, match="nonsense"):
        await migrate(postgres_database.admin_dsn, app_role=APP_ROLE)
    monkeypatch.setattr(migrating, "migrations", lambda: [*migrations(), good])
    assert await migrate(postgres_database.admin_dsn, app_role=APP_ROLE) == ["9001_more.sql"]
    monkeypatch.undo()
    with pytest.raises(MigrationError, match="newer graphsearch"):
        async with PostgresGraphStore.open(postgres_database.dsn):
            pass


async def test_opening_an_unprepared_database_says_what_to_run(empty_database: Database) -> None:
    with pytest.raises(MigrationError, match="graphsearch init"):
        async with PostgresGraphStore.open(empty_database.dsn):
            pass


async def test_opening_an_older_database_says_what_it_lacks(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = [*migrations(), Migration(migrations()[-1].number + 1, "9001_more.sql", "SELECT 1")]
    monkeypatch.setattr(migrating, "migrations", lambda: later)
    with pytest.raises(MigrationError, match=r"lacks 9001_more\.sql"):
        async with PostgresGraphStore.open(postgres_database.dsn):
            pass


async def test_the_admin_may_not_open_the_store(postgres_database: Database) -> None:
    with pytest.raises(UnsafeRoleError, match="superuser and has BYPASSRLS and owns the tables"):
        async with PostgresGraphStore.open(postgres_database.admin_dsn):
            pass


@pytest.mark.parametrize("grant", ["BYPASSRLS", "owner"])
async def test_no_role_that_escapes_row_level_security_may_open_the_store(
    postgres_database: Database, grant: str
) -> None:
    role = sql.Identifier(f"unsafe_{grant}".lower())
    async with await psycopg.AsyncConnection.connect(postgres_database.admin_dsn, autocommit=True) as admin:
        await admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(PASSWORD)))
        try:
            if grant == "owner":
                await admin.execute(sql.SQL("ALTER TABLE graphsearch.entity OWNER TO {}").format(role))
            else:
                await admin.execute(sql.SQL("ALTER ROLE {} BYPASSRLS").format(role))
            dsn = make_conninfo(postgres_database.dsn, user=f"unsafe_{grant}".lower())
            with pytest.raises(UnsafeRoleError, match="graphsearch init"):
                async with PostgresGraphStore.open(dsn):
                    pass
            owner = str(admin.info.user) if grant == "owner" else f"unsafe_{grant}".lower()
            with pytest.raises(UnsafeRoleError, match="cannot be the app role"):
                await migrate(postgres_database.admin_dsn, app_role=owner)
        finally:
            await admin.execute("ALTER TABLE graphsearch.entity OWNER TO CURRENT_USER")
            await admin.execute(sql.SQL("DROP OWNED BY {}; DROP ROLE {}").format(role, role))


async def test_the_app_role_owns_nothing_and_cannot_change_the_journal(postgres_database: Database) -> None:
    with psycopg.connect(postgres_database.dsn, autocommit=True) as connection:
        assert connection.execute(
            "SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = current_user AND relpersistence = 'p'"
        ).fetchone() == (0,)
        for forbidden in (
            "DELETE FROM graphsearch.migration",
            "TRUNCATE graphsearch.entity",
            "DROP TABLE graphsearch.entity",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden)
        connection.execute("CREATE TEMP TABLE allowed (id integer)")


async def test_an_owner_who_is_no_superuser_prepares_what_superusers_began(empty_database: Database) -> None:
    """The extension is there, and the app role has been made for another database: neither is made or altered again."""
    owner = sql.Identifier("plain_owner")
    name = sql.Identifier(str(conninfo_to_dict(empty_database.dsn)["dbname"]))
    async with await psycopg.AsyncConnection.connect(empty_database.admin_dsn, autocommit=True) as admin:
        await admin.execute("CREATE EXTENSION vector")
        await admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(owner, sql.Literal(PASSWORD)))
        try:
            await admin.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(name, owner))
            dsn = make_conninfo(empty_database.admin_dsn, user="plain_owner", password=PASSWORD)
            with pytest.raises(MigrationError, match="a superuser must run CREATE ROLE nobody_yet LOGIN"):
                await migrate(dsn, app_role="nobody_yet")
            assert await migrate(dsn, app_role=APP_ROLE, app_password=PASSWORD)
            async with PostgresGraphStore.open(empty_database.dsn):
                pass
        finally:
            await admin.execute(sql.SQL("REASSIGN OWNED BY {} TO CURRENT_USER").format(owner))
            await admin.execute(sql.SQL("DROP OWNED BY {}; DROP ROLE {}").format(owner, owner))


async def test_what_is_no_dsn_is_refused_without_quoting_it() -> None:
    with pytest.raises(StoreConfigurationError) as refused:
        await migrate("postgresql://user:secret word@@::host/db", app_role=APP_ROLE)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


async def test_an_unreachable_server_is_named_without_the_password() -> None:
    with pytest.raises(StoreUnavailableError) as failed:
        async with PostgresGraphStore.open("postgresql://user:secret@127.0.0.1:9/db", timeout=2):
            pass
    assert "127.0.0.1:9" in str(failed.value)
    assert "secret" not in str(failed.value)


async def test_an_old_or_absent_pgvector_is_reported(empty_database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrating, "_VECTOR_VERSION", (99, 0))
    with pytest.raises(MigrationError, match="ALTER EXTENSION vector UPDATE"):
        await migrate(empty_database.admin_dsn, app_role=APP_ROLE)
    monkeypatch.setattr(migrating, "_EXTENSION", "no_such_extension")
    with pytest.raises(MigrationError, match="install pgvector"):
        await migrate(empty_database.admin_dsn, app_role=APP_ROLE)
