"""The Postgres store and the embedded server, blocking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphsearch.stores import embedded, postgres
from graphsearch.stores.in_postgres.session import migrating
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.facade import Facade, blocking
from graphsearch.sync.stores import Stores


class PostgresGraphStore(Stores, Facade[postgres.PostgresGraphStore]):
    """As `graphsearch.stores.PostgresGraphStore`. Open a pool of your own with `graphsearch.sync.hold`."""

    @classmethod
    @contextmanager
    @wraps(vars(postgres.PostgresGraphStore)["open"].__func__)
    def open(cls, *args: Any, **kwargs: Any) -> Iterator[Self]:  # noqa: D102 - documented as the wrapped one
        with BRIDGE.hold(postgres.PostgresGraphStore.open(*args, **kwargs)) as store:
            yield cls.of(store)


class EmbeddedPostgres(Facade[embedded.EmbeddedPostgres]):
    """As `graphsearch.stores.EmbeddedPostgres`: started or joined by ``with``, stopped when its last user leaves."""

    folder: Path

    def __enter__(self) -> Self:
        self._held = BRIDGE.hold(self.asynchronous)
        self._held.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.__exit__(kind, error, trace)


migrate = blocking(migrating.migrate)
scrub = blocking(migrating.scrub)
