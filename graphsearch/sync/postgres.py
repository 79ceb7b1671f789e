"""The Postgres store and the embedded server, blocking."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from psycopg_pool import AsyncConnectionPool

from graphsearch.protocols import Clock
from graphsearch.stores import embedded, postgres
from graphsearch.stores.in_postgres.session.migrating import LOCK_TIMEOUT
from graphsearch.stores.in_postgres.session.migrating import migrate as async_migrate
from graphsearch.stores.in_postgres.session.scrubbing import scrub as async_scrub
from graphsearch.stores.in_postgres.session.watching import ANSWER_TIMEOUT
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.facade import Facade
from graphsearch.sync.stores import Stores
from graphsearch.text.analyser import ENGLISH, Analyser


class PostgresGraphStore(Stores):
    """As `graphsearch.stores.PostgresGraphStore`. Open a pool of your own with `graphsearch.sync.hold`."""

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        *,
        clock: Clock | None = None,
        exact: bool = False,
        timeout: float = 10.0,
        analyser: Analyser = ENGLISH,
    ) -> None:
        self.asynchronous = postgres.PostgresGraphStore(
            pool, clock=clock, exact=exact, timeout=timeout, analyser=analyser
        )

    @classmethod
    @contextmanager
    def open(
        cls,
        dsn: str,
        *,
        clock: Clock | None = None,
        exact: bool = False,
        max_connections: int = 8,
        timeout: float = 10.0,
        answer_timeout: float | None = ANSWER_TIMEOUT,
        analyser: Analyser = ENGLISH,
    ) -> Iterator[Self]:
        """A store with a pool of its own, closed at the end of the ``with``; raises what the asynchronous one does."""
        opening = postgres.PostgresGraphStore.open(
            dsn,
            clock=clock,
            exact=exact,
            max_connections=max_connections,
            timeout=timeout,
            answer_timeout=answer_timeout,
            analyser=analyser,
        )
        with BRIDGE.hold(opening) as store:
            yield cls.of(store)


class EmbeddedPostgres(Facade[embedded.EmbeddedPostgres]):
    """As `graphsearch.stores.EmbeddedPostgres`: started or joined by ``with``, stopped when its last user leaves."""

    def __init__(self, folder: Path | str, *, settings: Mapping[str, str] = embedded.NO_SETTINGS) -> None:
        self.asynchronous = embedded.EmbeddedPostgres(folder, settings=settings)

    @property
    def folder(self) -> Path:
        """The data directory."""
        return self.asynchronous.folder

    @property
    def dsn(self) -> str:
        """The DSN of the app role, for `PostgresGraphStore`."""
        return self.asynchronous.dsn

    @property
    def admin_dsn(self) -> str:
        """The DSN of the owner, for migrations."""
        return self.asynchronous.admin_dsn

    def __enter__(self) -> Self:
        self._held = BRIDGE.hold(self.asynchronous)
        self._held.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.__exit__(kind, error, trace)


def migrate(
    admin_dsn: str,
    *,
    app_role: str,
    app_password: str | None = None,
    lock_timeout: float = LOCK_TIMEOUT,
    distributed: bool = False,
) -> list[str]:
    """As `graphsearch.stores.migrate`: migrate a database to this version's schema and create the app role."""
    options: dict[str, Any] = {"lock_timeout": lock_timeout, "distributed": distributed}
    return BRIDGE.run(async_migrate(admin_dsn, app_role=app_role, app_password=app_password, **options))


def scrub(admin_dsn: str) -> None:
    """As `graphsearch.stores.scrub`: remove the bytes of deleted rows from the files of a server."""
    BRIDGE.run(async_scrub(admin_dsn))
