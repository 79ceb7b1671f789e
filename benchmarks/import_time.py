"""Importing graphsearch: less than 0.3 s.

    python -m benchmarks.import_time [--json]

Each import runs in a fresh interpreter. Public names are imported on first access, so the time to access all of them is
reported too, and as the bare cost that of numpy, which they require.
"""

from __future__ import annotations

import os
import sys
from statistics import median
from typing import Any, Final

from benchmarks.command import Setting, last_json, run
from benchmarks.measuring import rounded

LIMIT_S: Final = 0.3

_TIMED: Final = "import time; start = time.perf_counter(); {what}; print(time.perf_counter() - start)"
_IMPORTS: Final = {
    "import_s": "import graphsearch",
    "all_names_s": "import graphsearch; [getattr(graphsearch, name) for name in dir(graphsearch)]",
    "numpy_s": "import numpy",
}


async def measure(n: int, setting: Setting) -> dict[str, Any]:  # noqa: ARG001 - it does not depend on a graph
    """The same at every size."""
    times: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    for _ in range(max(1, setting.runs // 6)):
        for name, what in _IMPORTS.items():
            times[name].append(_seconds(what))
    taken = {name: rounded(median(each)) for name, each in times.items()}
    return {
        "benchmark": "import_time",
        "runs": len(times["import_s"]),
        "machine": {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)},
        "ours": {name: taken[name] for name in ("import_s", "all_names_s")},
        "bare": {"numpy_s": taken["numpy_s"]},
        "target": f"< {LIMIT_S} s",
        "met": taken["import_s"] < LIMIT_S,
    }


def _seconds(what: str) -> float:
    answer: Any = last_json([sys.executable, "-c", _TIMED.format(what=what)])
    return float(answer)


if __name__ == "__main__":
    run(measure, __doc__)
