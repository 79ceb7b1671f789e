"""Timing of steps in turns, as medians, of wall time and processor time."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median
from typing import Final

import attrs
import numpy as np

Step = Callable[[], object] | Callable[[], Awaitable[object]]

ROUNDS: Final = 5


@attrs.frozen
class Sample:
    """The time of a step, in milliseconds: ``wall`` per run, ``cpu`` of this thread per round, as the mean of its runs.

    Work of other processes (a database server) is in ``wall`` alone. So is that of numpy's helper threads: after a
    product they spin for many milliseconds, and would be counted in full.
    """

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def p50_ms(self) -> float:
        """Median wall time."""
        return median(self.wall)

    @property
    def p95_ms(self) -> float:
        """The 95th percentile of the wall time."""
        return float(np.percentile(self.wall, 95))

    @property
    def cpu_ms(self) -> float:
        """Median processor time."""
        return median(self.cpu)

    def as_dict(self) -> dict[str, float]:
        """The figures, rounded."""
        return {"p50_ms": rounded(self.p50_ms), "p95_ms": rounded(self.p95_ms), "cpu_ms": rounded(self.cpu_ms)}


async def in_turns(steps: Mapping[str, Step], *, runs: int, rounds: int = ROUNDS) -> dict[str, Sample]:
    """Run each step ``runs`` times, in ``rounds`` rounds, so that all of them meet the same noise of the machine.

    Within a round a step runs several times in a row: as in use, its data are in the processor's caches.
    """
    for step in steps.values():
        await once(step)
    wall: dict[str, list[float]] = {name: [] for name in steps}
    cpu: dict[str, list[float]] = {name: [] for name in steps}
    rounds = min(rounds, runs)
    for _ in range(rounds):
        for name, step in steps.items():
            used = time.thread_time()
            times = [await timed(step) for _ in range(runs // rounds)]
            cpu[name].append(1e3 * (time.thread_time() - used) / len(times))
            wall[name] += times
    return {name: Sample(tuple(wall[name]), tuple(cpu[name])) for name in steps}


async def timed(step: Step) -> float:
    """Wall time of one run in milliseconds."""
    start = time.perf_counter()
    await once(step)
    return 1e3 * (time.perf_counter() - start)


async def once(step: Step) -> object:
    """One run."""
    result = step()
    return await result if inspect.isawaitable(result) else result


def rounded(value: float) -> float:
    """Round to four significant digits; more would exceed the precision of the clock."""
    return float(f"{value:.4g}")
