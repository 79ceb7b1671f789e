"""A Postgres server for the tests: the one that GRAPHSEARCH_TEST_DSN names as admin, else an embedded one.

Databases are made from a migrated template, and data folders of servers are copied from one, so that a test has its own
at a fraction of the cost.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import attrs
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.session.migrating import migrate
from graphsearch.stores.postgres import PostgresGraphStore

APP_ROLE = "graphsearch_test_app"
"""A role of the tests' own: they set its password."""
NOT_DURABLE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
"""A server that is thrown away waits for no disk."""
PASSWORD = "only for tests"
_numbers = itertools.count()


@attrs.frozen
class Database:
    """One database: for its owner, and for the app role."""

    admin_dsn: str
    dsn: str


@attrs.frozen
class Server:
    """A server on which databases can be made."""

    admin_dsn: str
    template: str

    async def database(self, *, migrated: bool = True) -> Database:
        """A new database."""
        name = f"graphsearch_test_{os.getpid()}_{next(_numbers)}"
        template = self.template if migrated else "template0"
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")  # half the cost where nothing is durable
        await self.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        return self.named(name)

    def named(self, name: str) -> Database:
        """The database of this name."""
        admin_dsn = make_conninfo(self.admin_dsn, dbname=name)
        return Database(admin_dsn, make_conninfo(admin_dsn, user=APP_ROLE, password=PASSWORD))

    async def drop(self, database: Database) -> None:
        """Remove a database and its connections."""
        name = conninfo_to_dict(database.dsn)["dbname"]
        await self.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(str(name))))

    async def execute(self, statement: sql.Composed) -> None:
        """Run a statement as admin."""
        async with await psycopg.AsyncConnection.connect(self.admin_dsn, autocommit=True) as connection:
            await connection.execute(statement)


def refuse_cluster(admin_dsn: str) -> None:
    """Raise an error for a coordinator of Citus, on which all databases of the tests would be plain ones."""
    with psycopg.connect(admin_dsn) as connection:
        if connection.execute("SELECT current_setting('citus.shard_count', true)").fetchone() != (None,):
            raise pytest.UsageError("GRAPHSEARCH_TEST_DSN names a node of Citus: the tests need a server without it")


@contextmanager
def folder_for_a_server() -> Iterator[Path]:
    """A folder outside of pytest's own, which every other run of pytest closes to the user that the server runs as."""
    with tempfile.TemporaryDirectory(prefix="graphsearch-", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "data"


@pytest.fixture(scope="session")
async def finished_folder() -> AsyncIterator[Path]:
    """The data folder of an embedded server that was started once, migrated and stopped, to be copied.

    Copies wait for no disk: the machine outlives the tests, whatever they kill.
    """
    with folder_for_a_server() as folder:
        async with EmbeddedPostgres(folder):
            pass
        configuration = folder / "postgresql.conf"
        configuration.write_text(f"{configuration.read_text()}\nfsync = off\n")
        yield folder


@contextmanager
def copied(finished: Path) -> Iterator[Path]:
    """A copy of a data folder, whose files belong to the same user."""
    with folder_for_a_server() as folder:
        subprocess.run(["/bin/cp", "-a", finished, folder], check=True)
        yield folder


@pytest.fixture
def server_folder(finished_folder: Path) -> Iterator[Path]:
    """The data folder of an embedded server of the test's own, which has run before."""
    with copied(finished_folder) as folder:
        yield folder


@pytest.fixture
def new_server_folder() -> Iterator[Path]:
    """Where an embedded server of the test's own may be made."""
    with folder_for_a_server() as folder:
        yield folder


@pytest.fixture(scope="session")
def shared_folder(request: pytest.FixtureRequest) -> Iterator[Path | None]:
    """The data folder of the server that tests share, unless that is another."""
    if "GRAPHSEARCH_TEST_DSN" in os.environ:
        yield None
        return
    with copied(request.getfixturevalue("finished_folder")) as folder:
        yield folder


@pytest.fixture(scope="session")
async def postgres_server(shared_folder: Path | None) -> AsyncIterator[Server]:
    async with AsyncExitStack() as stack:
        if shared_folder is None:
            admin_dsn = os.environ["GRAPHSEARCH_TEST_DSN"]
        else:
            embedded = EmbeddedPostgres(shared_folder, settings=NOT_DURABLE)
            admin_dsn = (await stack.enter_async_context(embedded)).admin_dsn
        refuse_cluster(admin_dsn)
        server = Server(admin_dsn, f"graphsearch_template_{os.getpid()}")
        template = sql.Identifier(server.template)
        await server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(template))
        await migrate(server.named(server.template).admin_dsn, app_role=APP_ROLE, app_password=PASSWORD)
        yield server
        await server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(template))


@pytest.fixture
async def postgres_database(postgres_server: Server) -> AsyncIterator[Database]:
    """A migrated database of the test's own."""
    database = await postgres_server.database()
    yield database
    await postgres_server.drop(database)


@pytest.fixture
async def empty_database(postgres_server: Server) -> AsyncIterator[Database]:
    """A database that knows nothing of graphsearch."""
    database = await postgres_server.database(migrated=False)
    yield database
    await postgres_server.drop(database)


@pytest.fixture
async def postgres_store(postgres_database: Database) -> AsyncIterator[PostgresGraphStore]:
    """An unscoped store on a database of the test's own, searching exactly."""
    async with PostgresGraphStore.open(postgres_database.dsn, exact=True) as store:
        yield store
