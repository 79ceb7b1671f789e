"""Where graphs are kept: in memory, in Postgres, in an embedded Postgres."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.stores.embedded import EmbeddedPostgres as EmbeddedPostgres
    from graphsearch.stores.in_postgres.migrating import migrate as migrate
    from graphsearch.stores.memory import InMemoryGraphStore as InMemoryGraphStore
    from graphsearch.stores.postgres import PostgresGraphStore as PostgresGraphStore

_HOMES = {
    "EmbeddedPostgres": "graphsearch.stores.embedded",
    "InMemoryGraphStore": "graphsearch.stores.memory",
    "PostgresGraphStore": "graphsearch.stores.postgres",
    "migrate": "graphsearch.stores.in_postgres.migrating",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
