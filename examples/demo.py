"""The whole product on real input, in an embedded Postgres: a library of source code, and a team's year of chat.

Run it with ``make demo``, or with ``python -m examples.demo`` if the extras are installed. It needs no network and no
key, leaves no files behind, and prints only what it has just computed.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from examples import library, team
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore


async def main() -> None:
    """Run both acts, in one temporary server."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="graphsearch-demo-") as folder:
        async with (
            EmbeddedPostgres(Path(folder) / "server") as server,
            PostgresGraphStore.open(server.dsn) as stores,
        ):
            await library.act(stores.with_scope(org_id="demo", project_id="standard-library"))
            await team.act(stores.with_scope(org_id="demo", project_id="team"))
    print(f"\nAll of it took {time.perf_counter() - started:.1f} s.")


if __name__ == "__main__":
    asyncio.run(main())
