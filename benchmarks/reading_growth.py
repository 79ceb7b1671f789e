"""Growth of the time to remember one text with its size: an exponent of at most 1.3 for each shape of text.

    python -m benchmarks.reading_growth [N …] [--json]

Texts of 1, 2, 4 and 8 × N characters are remembered in memory, each in a store of its own: 40 kB at an N of 5,000.
The exponent is that of the calls of functions from one size to the next, the median of three, which is the same
on every machine. That of the processor time, from the smallest to the largest text, is reported too.
With fewer ``--runs`` there are fewer shapes, 8 per run.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from asyncio import Runner
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from cProfile import Profile
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any, Final

from benchmarks.asking import SCOPE
from benchmarks.command import Setting, run
from benchmarks.measuring import rounded
from benchmarks.reading_shapes import SHAPES, text_of
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.protocols import Embedder
from graphsearch.stores.memory import InMemoryGraphStore

SIZES: Final = (1, 2, 4, 8)
LIMIT: Final = 1.3
SHAPES_A_RUN: Final = 8
_AT: Final = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """The exponents of the shapes: of all, or of as many as there are runs for, spread over them."""
    sizes = [size * n for size in SIZES]
    shapes = list(SHAPES)[:: math.ceil(len(SHAPES) / (SHAPES_A_RUN * setting.runs))]
    return {"benchmark": "reading_growth", "n": n, **await asyncio.to_thread(_measured, sizes, shapes)}


def _measured(sizes: list[int], shapes: list[str]) -> dict[str, Any]:
    seconds(text_of("sentences", sizes[0]))  # what is loaded at the first use
    calls: dict[str, float] = {}
    cpu: dict[str, float] = {}
    for shape in shapes:
        texts = [text_of(shape, size) for size in sizes]
        counted = [steps(text) for text in texts]
        calls[shape] = median(exponent(*each) for each in zip(pairwise(sizes), pairwise(counted), strict=True))
        cpu[shape] = exponent((sizes[0], sizes[-1]), (seconds(texts[0]), seconds(texts[-1])))
    return {
        "characters": sizes,
        "runs": 1,
        "machine": {"cores": os.cpu_count(), "load": rounded(os.getloadavg()[0])},
        "exponents": {shape: round(each, 2) for shape, each in calls.items()},
        "cpu_exponents": {shape: round(each, 2) for shape, each in cpu.items()},
        "largest": max(calls, key=lambda shape: calls[shape]),
        "target": f"<= {LIMIT}",
        "met": max(calls.values()) <= LIMIT,
    }


def exponent(sizes: tuple[float, float], costs: tuple[float, float]) -> float:
    """The exponent of a cost that grows with a power of the size."""
    return math.log(costs[1] / costs[0]) / math.log(sizes[1] / sizes[0])


def seconds(text: str, embedder: Embedder | None = None) -> float:
    """Processor time to remember a text."""
    started = time.process_time()
    asyncio.run(_remember(text, embedder))
    return time.process_time() - started


def steps(text: str, embedder: Embedder | None = None) -> int:
    """The calls of functions to remember a text; what runs in threads otherwise runs in this one."""
    return calls(lambda: run_here(_remember(text, embedder)))


def calls(work: Callable[[], object]) -> int:
    """The calls of functions to do some work in this thread."""
    profile = Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def run_here(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine, of which also what runs in threads otherwise is run in this one."""
    with Runner() as runner:
        runner.get_loop().set_default_executor(_Here())
        return runner.run(work)


class _Here(ThreadPoolExecutor):
    """Runs each call in the thread that submits it."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(call(*args, **named))
        except BaseException as error:  # noqa: BLE001 - whoever awaits the future gets it
            future.set_exception(error)
        return future


async def _remember(text: str, embedder: Embedder | None) -> None:
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    await Ingestor(engine).remember([Memory(id="m", text=text, occurred_at=_AT)])


if __name__ == "__main__":
    run(measure, __doc__)
