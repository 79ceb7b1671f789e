# Written by `python -m tests.sync.stubs`.

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from graphsearch.protocols import Clock
from graphsearch.stores import embedded
from graphsearch.stores import postgres
from graphsearch.stores.embedded import NO_SETTINGS
from graphsearch.stores.in_postgres.session.migrating import LOCK_TIMEOUT
from graphsearch.stores.in_postgres.session.watching import ANSWER_TIMEOUT
from graphsearch.sync.facade import Facade
from graphsearch.sync.stores import Stores
from graphsearch.text.analyser import Analyser
from graphsearch.text.analyser import ENGLISH
from pathlib import Path
from psycopg_pool import AsyncConnectionPool
from types import TracebackType
from typing import Any
from typing import Self

class PostgresGraphStore(Stores, Facade[postgres.PostgresGraphStore]):
    """As `graphsearch.stores.PostgresGraphStore`. Open a pool of your own with `graphsearch.sync.hold`."""

    def __init__(self, pool: AsyncConnectionPool[Any], *, clock: Clock | None=None, exact: bool=False, timeout: float=10.0, analyser: Analyser=ENGLISH) -> None:
        ...

    @classmethod
    @contextmanager
    def open(cls, dsn: str, *, clock: Clock | None=None, exact: bool=False, max_connections: int=8, timeout: float=10.0, answer_timeout: float | None=ANSWER_TIMEOUT, analyser: Analyser=ENGLISH) -> Iterator[Self]:
        """A store with a pool of its own, closed at the end of the ``async with``.

        A statement that is not answered within ``answer_timeout`` seconds, and a read that is not begun within
        ``timeout``, raise `StoreUnavailableError` and close their connection; building a vector index may take longer.
        On a cluster ``answer_timeout`` is 30 unless another is given, and an organisation gets half of the connections
        at most, so that a node that does not answer stops its own organisations alone.

        Raises `StoreUnavailableError` when the server cannot be reached, `UnsafeRoleError` for a role that row-level
        security does not bind, and `MigrationError` for a database that `graphsearch init` did not prepare.
        """
        ...
class EmbeddedPostgres(Facade[embedded.EmbeddedPostgres]):
    """As `graphsearch.stores.EmbeddedPostgres`: started or joined by ``with``, stopped when its last user leaves."""
    folder: Path

    def __enter__(self) -> Self:
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ...

    def __init__(self, folder: Path | str, *, settings: Mapping[str, str]=NO_SETTINGS) -> None:
        ...

    @property
    def admin_dsn(self) -> str:
        """The DSN of the owner, for migrations."""
        ...

    @property
    def dsn(self) -> str:
        """The DSN of the app role, for `PostgresGraphStore`."""
        ...
def migrate(admin_dsn: str, *, app_role: str, app_password: str | None=None, lock_timeout: float=LOCK_TIMEOUT, distributed: bool=False) -> list[str]:
    """Apply the migrations that the database lacks, in one transaction; return their names.

    Creates the app role if it is missing; a role without a password logs in by other means. Concurrent calls wait for
    each other; a table in use is waited for ``lock_timeout`` seconds. With ``distributed`` the tables of a new database
    are distributed by organisation over the nodes of its cluster, in a transaction of its own;
    where they are distributed already, new tables are so in any case.

    Raises `MigrationError` when a migration that was applied has changed since or is of a newer version,
    `MigrationLockError` when a lock is not granted in time, `UnsafeRoleError` for an app role that would not be bound
    by row-level security, `ClusterError` for a cluster that is not set up for this, and `StoreUnavailableError` when
    the server cannot be reached.
    """
    ...
def scrub(admin_dsn: str) -> None:
    """Rewrite all tables of graphsearch, with their indexes, and drop the write-ahead log written so far.

    Needs a superuser. Each table is locked while it is rewritten, and needs its size again on the disk. Afterwards no
    file of the server's data folder has the bytes of what was deleted before, as long as nothing else needs the log: a
    replication slot, a standby, an archive or `wal_keep_size` keep it, and are to be emptied by whoever set them up.
    What the disk keeps of deleted files is beyond any program: encrypt it. Raises what connecting raises.
    """
    ...
