"""The one place that tunes Python's cyclic garbage collector: it runs less often during bulk work.

An ingest or a load makes some hundred long-lived objects a memory and hardly any cycle. With Python's default threshold
of 700 new objects, the collector takes a fifth of the time and finds nothing; reference counts free the rest at once.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

_RARELY: Final = (50_000, 20, 10)
"""Thresholds of `gc.set_threshold`: cycles of some 10 MB may wait."""

_lock: Final = Lock()
_running = 0
_before = _RARELY


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect rarely inside; the last of several at once restores the process's own thresholds, also after an error.

    A process that turned collections off, or made them rarer, keeps what it has.
    """
    global _running, _before  # noqa: PLW0603 - one collector per process
    with _lock:
        _running += 1
        if _running == 1:
            _before = gc.get_threshold()
            if 0 < _before[0] < _RARELY[0]:
                gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if not _running and gc.get_threshold() == _RARELY:  # nobody else has set them meanwhile
                gc.set_threshold(*_before)
