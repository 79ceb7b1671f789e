"""All benchmarks, one JSON object a line: python -m benchmarks [N …] [--embedded | --dsn DSN]."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from benchmarks import (
    analyse,
    communities,
    context,
    feedback,
    feedback_pays,
    import_time,
    pagerank,
    reading_growth,
    recall,
    remember,
    search_memory,
    search_postgres,
    telemetry,
    trace,
    upsert_postgres,
    vectors,
    visible_statistics,
)
from benchmarks.command import Measure, arguments, setting_of, show

BENCHMARKS: Final[Mapping[str, Measure]] = MappingProxyType(
    {
        "import_time": import_time.measure,
        "search_memory": search_memory.measure,
        "search_postgres": search_postgres.measure,
        "upsert_postgres": upsert_postgres.measure,
        "vectors": vectors.measure,
        "feedback": feedback.measure,
        "context": context.measure,
        "analyse": analyse.measure,
        "communities": communities.measure,
        "remember": remember.measure,
        "pagerank": pagerank.measure,
        "recall": recall.measure,
        "feedback_pays": feedback_pays.measure,
        "reading_growth": reading_growth.measure,
        "telemetry": telemetry.measure,
        "trace": trace.measure,
        "visible_statistics": visible_statistics.measure,
    }
)


def main(given: Sequence[str] | None = None) -> None:
    """Run each at each size."""
    options = arguments(__doc__, given)
    setting = setting_of(options)
    for size in options.sizes:
        for measure in BENCHMARKS.values():
            show(asyncio.run(measure(size, setting)), compact=True)


if __name__ == "__main__":
    main()
