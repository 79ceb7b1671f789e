"""Ingesting passages of prose into memory: at most twice the processor time of the extractor alone.

    python -m benchmarks.passages FILE [COUNT]

FILE has a JSON object with "id", "text" and perhaps "title" a line, such as the corpus of a question set; the first
COUNT (250) of them are read. The extractor and the whole ingest, with WordLlama, run in a process each, so that none
finds caches filled by the other. Each has extracted the COUNT passages that follow before, so that patterns are
compiled and models are loaded: what a server pays once does not hide what it pays for each passage.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.asking import SCOPE
from benchmarks.measuring import rounded
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor, TextExtractor
from graphsearch.model import Memory
from graphsearch.protocols import Embedder
from graphsearch.stores.memory import InMemoryGraphStore

COUNT: Final = 250
TIMES: Final = 2.0
_PART: Final = "--only"


def passages(file: Path, count: int, *, skipped: int = 0) -> list[Memory]:
    """Passages of a file from the first, or after some skipped ones, each with its title as the first line."""
    with file.open(encoding="utf-8") as lines:
        given = [json.loads(line) for line in islice(lines, skipped, skipped + count)]
    return [
        Memory(id=str(each["id"]), text="\n".join(filter(None, (each.get("title"), each["text"]))), position=place)
        for place, each in enumerate(given)
    ]


async def _extract(given: Sequence[Memory], embedder: Embedder) -> None:  # noqa: ARG001 - it needs none
    await TextExtractor().extract(given)


async def _ingest(given: Sequence[Memory], embedder: Embedder) -> None:
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await Ingestor(GraphSearchEngine(store=store, embedder=embedder)).remember(given)


_PARTS: Final = {"extractor": _extract, "ingest": _ingest}


def seconds(part: str, given: Sequence[Memory], warming: Sequence[Memory]) -> float:
    """Processor time of a part, with the model loaded and other passages extracted before."""
    embedder = WordLlamaEmbedder()
    asyncio.run(embedder.embed(["the model is loaded by the first text"], input_type="document"))
    asyncio.run(_extract(warming, embedder))
    started = time.process_time()
    asyncio.run(_PARTS[part](given, embedder))
    return time.process_time() - started


def measure(file: Path, count: int) -> dict[str, Any]:
    """Passages per second of processor time, and the ratio of the two."""
    cost = {part: _in_a_process(part, file, count) for part in _PARTS}
    number = len(passages(file, count))
    ratio = cost["ingest"] / cost["extractor"]
    return {
        "benchmark": "passages",
        "n": number,
        "machine": {"cores": os.cpu_count(), "load": rounded(os.getloadavg()[0])},
        "extractor_alone_s": rounded(number / cost["extractor"]),
        "ingest_s": rounded(number / cost["ingest"]),
        "ratio": rounded(ratio),
        "target": f"ratio <= {TIMES:g}",
        "met": ratio <= TIMES,
    }


def _in_a_process(part: str, file: Path, count: int) -> float:
    command = [sys.executable, "-m", "benchmarks.passages", str(file), str(count), _PART, part]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads that wait for each other are no work
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=alone)  # noqa: S603 - this file
    return float(done.stdout)


def main() -> None:
    """Measure, or run one part."""
    arguments = sys.argv[1:]
    part = arguments.pop() if _PART in arguments else None
    if not arguments:
        raise SystemExit(__doc__)
    file, count = Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else COUNT
    if part is None:
        sys.stdout.write(json.dumps(measure(file, count)) + "\n")
    else:
        sys.stdout.write(f"{seconds(part, passages(file, count), passages(file, count, skipped=count))}\n")


if __name__ == "__main__":
    main()
