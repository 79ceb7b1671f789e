"""Moving a scope: export to a file and import from it, at most 4 times the time of COPY of its tables.

    python -m benchmarks.moving [N …] [--embedded | --dsn DSN] [--json]

N memories of a synthetic company, ingested with their entities, claims and vectors. Each is a process of its own; the
peak is what it has beyond one that has only opened the store, and is read on Linux alone. The bare cost is COPY of
every table to files, and from these into tables with the same indexes.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.command import Setting, at_most, machine, run
from benchmarks.dumping import dump, load
from benchmarks.measuring import rounded
from benchmarks.remember import memories
from benchmarks.servers import databases
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.moving import export_scope, import_scope
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore

TIMES: Final = 4.0
_STATUS: Final = Path("/proc/self/status")


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    with tempfile.TemporaryDirectory(prefix="graphsearch") as folder:
        path = Path(folder, "scope.jsonl")
        async with databases(setting.dsn) as server:
            async with PostgresGraphStore.open(server.app) as opened:
                store = opened.with_scope(org_id="acme", project_id="from")
                await Ingestor(GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())).remember(memories(n))
                counts = (await store.settings()).counts
            dumped = Path(folder, "dump")
            started = time.perf_counter()
            dump_bytes = await asyncio.to_thread(dump, server.admin, dumped)
            dump_s = time.perf_counter() - started
            await asyncio.to_thread(load, server.admin, dumped)
            load_s = time.perf_counter() - started - dump_s
            bare = (await _alone("open", server.app, path))[1]
            exported = await _alone("export", server.app, path)
            imported = await _alone("import", server.app, path)
        in_memory = InMemoryGraphStore().with_scope(org_id="acme", project_id="to")
        started = time.perf_counter()
        await import_scope(in_memory, path)
        into_memory = time.perf_counter() - started
        started = time.perf_counter()
        await export_scope(in_memory, Path(folder, "again.jsonl"))
        verdicts = {"export": at_most(TIMES, exported[0], dump_s), "import": at_most(TIMES, imported[0], load_s)}
        return {
            "benchmark": "moving",
            "n": n,
            "data": "made-up memories of 8 to 14 words",
            "runs": 1,
            "machine": machine(),
            "records": {name: counts[name] for name in ("entity", "memory", "relation", "claims", "mentions")},
            "file_mb": rounded(os.path.getsize(path) / 2**20),  # noqa: PTH202, ASYNC240 - once, at the end
            "postgres": {
                "export_s": rounded(exported[0]),
                "import_s": rounded(imported[0]),
                "export_peak_mb": rounded(exported[1] - bare),
                "import_peak_mb": rounded(imported[1] - bare),
            },
            "memory": {"export_s": rounded(time.perf_counter() - started), "import_s": rounded(into_memory)},
            "bare": {"dump_s": rounded(dump_s), "load_s": rounded(load_s), "dump_mb": rounded(dump_bytes / 2**20)},
            "verdicts": verdicts,
            "met": all(each["met"] for each in verdicts.values()),
        }


async def _alone(what: str, dsn: str, path: Path) -> tuple[float, float]:
    """The seconds and the peak, in megabytes, of a process that does only this."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(what, dsn, path, theirs))
    process.start()
    result: tuple[float, float] = await asyncio.to_thread(ours.recv)
    await asyncio.to_thread(process.join)
    return result


def _work(what: str, dsn: str, path: Path, result: Any) -> None:
    async def work() -> float:
        async with PostgresGraphStore.open(dsn, max_connections=2) as opened:
            store = opened.with_scope(org_id="acme", project_id="to" if what == "import" else "from")
            started = time.perf_counter()
            if what == "export":
                await export_scope(store, path)
            elif what == "import":
                await import_scope(store, path)
            return time.perf_counter() - started

    seconds = asyncio.run(work())
    result.send((seconds, _peak()))


def _peak() -> float:
    """The peak of resident memory of this process, in megabytes; that of its parent is not in it."""
    found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return int(found[1]) / 2**10 if found else 0.0


if __name__ == "__main__":
    run(measure, __doc__)
