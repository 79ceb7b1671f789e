"""Ingesting passages of prose: at most 2 × the extractor's processor time in memory, 3 × in Postgres.

    python -m benchmarks.passages FILE [COUNT] [--without postgres]

FILE has a JSON object with "id", "text" and perhaps "title" a line, such as the corpus of a question set; the first
COUNT (250) of them are read. The extractor and each whole ingest, with WordLlama, run in a process each, so that none
finds caches filled by another. Each has extracted the COUNT passages that follow before, so that patterns are
compiled and models are loaded: what a server pays once does not hide what it pays for each passage. For Postgres, the
time of an embedded server's processes counts too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.asking import SCOPE
from benchmarks.command import at_most, machine
from benchmarks.measuring import rounded
from benchmarks.servers import server_seconds
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor, TextExtractor
from graphsearch.model import Memory
from graphsearch.protocols import Embedder
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore

COUNT: Final = 250
TIMES: Final = {"memory": 2.0, "postgres": 3.0}


def passages(file: Path, count: int, *, skipped: int = 0) -> list[Memory]:
    """Passages of a file from the first, or after some skipped ones, each with its title as the first line."""
    with file.open(encoding="utf-8") as lines:
        given = [json.loads(line) for line in islice(lines, skipped, skipped + count)]
    return [
        Memory(id=str(each["id"]), text="\n".join(filter(None, (each.get("title"), each["text"]))), position=place)
        for place, each in enumerate(given)
    ]


async def _extractor(given: Sequence[Memory], embedder: Embedder) -> float:  # noqa: ARG001 - it needs none
    started = time.process_time()
    await TextExtractor().extract(given)
    return time.process_time() - started


async def _memory(given: Sequence[Memory], embedder: Embedder) -> float:
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    return await _ingest(given, embedder, store)


async def _postgres(given: Sequence[Memory], embedder: Embedder) -> float:
    with tempfile.TemporaryDirectory(prefix="graphsearch") as name:
        folder = Path(name, "data")
        async with EmbeddedPostgres(folder) as server, PostgresGraphStore.open(server.dsn) as opened:
            store = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
            before = server_seconds(folder)
            return await _ingest(given, embedder, store) + server_seconds(folder) - before


async def _ingest(given: Sequence[Memory], embedder: Embedder, store: GraphStore) -> float:
    started = time.process_time()
    await Ingestor(GraphSearchEngine(store=store, embedder=embedder)).remember(given)
    return time.process_time() - started


PARTS: Final = {"extractor": _extractor, "memory": _memory, "postgres": _postgres}


def seconds(part: str, given: Sequence[Memory], warming: Sequence[Memory]) -> float:
    """Processor time of a part, with the model loaded and other passages extracted before."""
    embedder = WordLlamaEmbedder()
    asyncio.run(embedder.embed(["the model is loaded by the first text"], input_type="document"))
    asyncio.run(_extractor(warming, embedder))
    return asyncio.run(PARTS[part](given, embedder))


def measure(file: Path, count: int, parts: Sequence[str]) -> dict[str, Any]:
    """Passages per second of processor time, and the ratios to the extractor."""
    about = machine()
    cost = {part: _in_a_process(part, file, count) for part in parts}
    number = len(passages(file, count))
    verdicts = {part: at_most(TIMES[part], spent, cost["extractor"]) for part, spent in cost.items() if part in TIMES}
    return {
        "benchmark": "passages",
        "n": number,
        "data": file.name,
        "machine": about,
        "passages_s": {part: rounded(number / spent) for part, spent in cost.items()},
        "verdicts": verdicts,
        "met": all(each["met"] for each in verdicts.values()),
    }


def _in_a_process(part: str, file: Path, count: int) -> float:
    command = [sys.executable, "-m", "benchmarks.passages", str(file), str(count), "--only", part]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads that wait for each other are no work
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone)  # noqa: S603 - this file
    return float(done.stdout)


def main(given: Sequence[str] | None = None) -> None:
    """Measure, or run one part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", metavar="FILE", type=Path, help="JSON lines with id, text and perhaps title")
    parser.add_argument("count", metavar="COUNT", type=int, nargs="?", default=COUNT, help="how many of them to read")
    parser.add_argument("--without", choices=TIMES, action="append", default=[], help="leave out a store")
    parser.add_argument("--only", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args(given)
    if options.only is not None:
        warming = passages(options.file, options.count, skipped=options.count)
        print(seconds(options.only, passages(options.file, options.count), warming))
    else:
        print(json.dumps(measure(options.file, options.count, [each for each in PARTS if each not in options.without])))


if __name__ == "__main__":
    main()
