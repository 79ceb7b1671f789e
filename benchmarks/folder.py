"""The folder of an embedded database after an ingest: at most 6 times the bytes of COPY of its tables.

    python -m benchmarks.folder PATH [--without-vectors]

PATH is a folder of code or texts, ingested with WordLlama as `graphsearch add` does. The size is that of all files once
the server has stopped, of which the log's and those that any new database has are told apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.command import at_most, machine
from benchmarks.dumping import dump
from benchmarks.measuring import rounded
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore

TIMES: Final = 6.0
_MEGABYTE: Final = 2**20


async def measure(path: Path, *, vectors: bool) -> dict[str, Any]:
    """One folder."""
    with tempfile.TemporaryDirectory(prefix="graphsearch") as name:
        folder, dumped = Path(name, "data"), Path(name, "dump")
        async with EmbeddedPostgres(folder):
            pass
        new = size_of(folder)
        started = time.perf_counter()
        async with EmbeddedPostgres(folder) as server:
            async with PostgresGraphStore.open(server.dsn) as opened:
                store = opened.with_scope(org_id="benchmarks", project_id="folder")
                embedder = WordLlamaEmbedder() if vectors else None
                report = await Ingestor(GraphSearchEngine(store=store, embedder=embedder)).add(path)
            seconds = time.perf_counter() - started
            rows = await asyncio.to_thread(dump, server.admin_dsn, dumped)
        whole, log = size_of(folder), size_of(folder / "pg_wal")
    return {
        "benchmark": "folder",
        "machine": machine(),
        "files": report.files,
        "entities": report.entities,
        "relations": report.relations,
        "ingest_s": rounded(seconds),
        "folder_mb": rounded(whole / _MEGABYTE),
        "of_new_mb": rounded(new / _MEGABYTE),
        "of_log_mb": rounded(log / _MEGABYTE),
        "bare": {"dump_mb": rounded(rows / _MEGABYTE)},
        **at_most(TIMES, whole, rows),
    }


def size_of(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", metavar="PATH", type=Path, help="a folder of code or texts")
    parser.add_argument("--without-vectors", action="store_true", help="embed nothing")
    options = parser.parse_args()
    print(json.dumps(asyncio.run(measure(options.path, vectors=not options.without_vectors))))


if __name__ == "__main__":
    main()
