"""The one place that tunes Python's cyclic garbage collector: it runs less often during bulk work.

An ingest, a load and a batch make some hundred long-lived objects a memory and hardly any cycle. With Python's default
threshold of 700 new objects, the collector takes a fifth of the time and finds nothing; reference counts free the rest
at once. `gc.freeze` would save another hundredth: collections of all objects are rare anyway, the larger the heap.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_RARELY: Final = (50_000, 20, 10)
"""Thresholds of `gc.set_threshold`: cycles of some 10 MB may wait."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect rarely inside; of several at once, the one that set the thresholds restores the process's own.

    A process that turned collections off, or made them rarer, keeps what it has.
    """
    before = gc.get_threshold()
    if not 0 < before[0] < _RARELY[0]:
        yield
        return
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        if gc.get_threshold() == _RARELY:  # nobody else has set them meanwhile
            gc.set_threshold(*before)
