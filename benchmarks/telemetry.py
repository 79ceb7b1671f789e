"""The cost of instrumentation: an instrumented but unobserved search takes at most 1.01 × an uninstrumented one.

    python -m benchmarks.telemetry [N …] [--json]

The graph is in memory, where a search is shortest. ``reported`` is the same search with spans and metrics made by
OpenTelemetry's SDK and thrown away in batches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import getattr_static
from itertools import cycle
from typing import Any, Final

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from benchmarks.asking import SCOPE
from benchmarks.command import Setting, at_most, run
from benchmarks.graph import Graph, QuestionVectors
from benchmarks.measuring import in_turns, rounded
from graphsearch._support.observing import watch
from graphsearch.engine import GraphSearchEngine
from graphsearch.modes.result import SearchResult
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.telemetry.reporting import Reporter

_TIMES: Final = 10
"""The factor for the number of runs: the difference is small compared with the noise of one run."""


class _Nowhere(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:  # noqa: ARG002
        return SpanExportResult.SUCCESS


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await Graph.of(workload).write_to(store)
    embedder = QuestionVectors(workload, setting.runs)
    engine, texts = GraphSearchEngine(store=store, embedder=embedder), cycle(embedder.texts)
    tracers, meters = TracerProvider(), MeterProvider([InMemoryMetricReader()])
    tracers.add_span_processor(BatchSpanProcessor(_Nowhere()))
    bare: Callable[..., Awaitable[SearchResult]] = getattr_static(GraphSearchEngine, "search").__wrapped__

    async def reported() -> None:
        watch(reporter)
        try:
            await engine.search(next(texts))
        finally:
            watch(None)

    reporter = Reporter(tracers, meters)
    steps = {"bare": lambda: bare(engine, next(texts)), "ours": lambda: engine.search(next(texts)), "on": reported}
    timed = await in_turns(steps, runs=_TIMES * setting.runs, rounds=_TIMES)
    tracers.shutdown()
    meters.shutdown()
    return {
        "benchmark": "telemetry",
        **setting.about(workload),
        "ours": timed["ours"].as_dict(),
        "bare": {"search_ms": rounded(timed["bare"].p50_ms)},
        **at_most(1.01, timed["ours"].p50_ms, timed["bare"].p50_ms),
        "reported": timed["on"].as_dict(),
    }


if __name__ == "__main__":
    run(measure, __doc__)
