"""The common part of all benchmarks: command line, sizes, and JSON output."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import attrs

from benchmarks import workload as own_workload
from benchmarks.measuring import rounded

DEFAULT_SIZE: Final = 1_000
DEFAULT_RUNS: Final = 60


@attrs.frozen(kw_only=True)
class Setting:
    """The configuration of a benchmark run.

    * ``workload_file`` and ``bare_file``: programs in place of `benchmarks.workload` and `benchmarks.bare`.
    * ``dsn``: of the admin of a Postgres server; an embedded one is started if None.
    * ``runs``: how often each step is timed.
    """

    workload_file: Path | None = None
    bare_file: Path | None = None
    dsn: str | None = None
    runs: int = DEFAULT_RUNS

    def make(self, n: int) -> Any:
        """The workload of ``n`` entities."""
        return self.workload_module().make(n)

    def workload_module(self) -> ModuleType:
        """The module that generates workloads."""
        if self.workload_file is None:
            return own_workload
        spec = importlib.util.spec_from_file_location("workload", self.workload_file)
        if spec is None or spec.loader is None:
            raise SystemExit(f"{self.workload_file} is no Python module: give --workload a .py file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def foreign_bare_cost(self, n: int, dsn: str | None = None) -> dict[str, float] | None:
        """The bare cost measured by another program; None if ours is to be measured."""
        if self.bare_file is None:
            return None
        server = [] if dsn is None else ["--dsn", dsn]
        return last_json([sys.executable, str(self.bare_file), str(n), *server])

    def about(self, workload: Any) -> dict[str, Any]:
        """The environment of a measurement."""
        source = self.workload_file or "benchmarks/workload.py"
        return {
            "n": workload.n,
            "relations": workload.m,
            "data": f"synthetic, {workload.vec.shape[1]} dimensions, {source}",
            "runs": self.runs,
            "machine": machine(),
        }


def machine() -> dict[str, Any]:
    """The cores of this machine, and its load."""
    return {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


Measure = Callable[[int, Setting], Coroutine[Any, Any, dict[str, Any]]]


def at_most(limit: float, ours: float, bare: float) -> dict[str, Any]:
    """The verdict on a time of at most ``limit`` times the bare one."""
    ratio = ours / bare
    return {"ratio": rounded(ratio), "target": f"<= {limit:g}", "met": ratio <= limit}


def at_least(limit: float, ours: float, bare: float) -> dict[str, Any]:
    """The verdict on a rate of at least ``limit`` times the bare one."""
    ratio = ours / bare
    return {"ratio": rounded(ratio), "target": f">= {limit:g}", "met": ratio >= limit}


def last_json(command: Sequence[str]) -> dict[str, Any]:
    """The JSON object in the last line of a program's output; its stderr goes to ours."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - a benchmark's own
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        raise SystemExit(f"{' '.join(command)} failed with code {done.returncode}: see above")
    answer: dict[str, Any] = json.loads(lines[-1])
    return answer


def arguments(description: str | None, given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line of a benchmark."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("sizes", metavar="N", type=int, nargs="*", default=[DEFAULT_SIZE], help="numbers of entities")
    server = parser.add_mutually_exclusive_group()
    server.add_argument("--embedded", action="store_true", help="start a Postgres server of its own (the default)")
    server.add_argument("--dsn", help="a Postgres server, as a role that may create databases and roles")
    parser.add_argument("--workload", type=Path, help="a module with make(n) in place of benchmarks/workload.py")
    parser.add_argument("--bare", type=Path, help="a program FILE N [--dsn DSN] in place of benchmarks/bare.py")
    parser.add_argument("--runs", type=int, default=DEFAULT_RUNS, help="how often each step is timed")
    parser.add_argument("--json", action="store_true", help="one line an object, for programs")
    return parser.parse_args(given)


def setting_of(options: argparse.Namespace) -> Setting:
    """The run configuration given by the command line."""
    return Setting(workload_file=options.workload, bare_file=options.bare, dsn=options.dsn, runs=options.runs)


def show(report: Mapping[str, Any], *, compact: bool) -> None:
    """Print one JSON object."""
    print(json.dumps(report, indent=None if compact else 2), flush=True)


def run(measure: Measure, description: str | None, given: Sequence[str] | None = None) -> None:
    """Measure at each size and print one JSON object per size."""
    options = arguments(description, given)
    for size in options.sizes:
        show(asyncio.run(measure(size, setting_of(options))), compact=options.json)
