"""Graph stores: in memory, in Postgres, in an embedded Postgres."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.stores.embedded import EmbeddedPostgres as EmbeddedPostgres
    from graphsearch.stores.in_postgres.session.migrating import migrate as migrate
    from graphsearch.stores.in_postgres.session.migrating import scrub as scrub
    from graphsearch.stores.memory import InMemoryGraphStore as InMemoryGraphStore
    from graphsearch.stores.postgres import PostgresGraphStore as PostgresGraphStore

__getattr__, __dir__ = lazily(__name__)
