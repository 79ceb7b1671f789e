"""Items in order, in batches that limits allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: Callable[[T], int], *, total: int, most: float = math.inf) -> Iterator[list[T]]:
    """Batches of at most ``most`` items and a ``total`` size; a larger item is alone."""
    batch: list[T] = []
    held = 0
    for item in items:
        needed = size(item)
        if batch and (len(batch) == most or held + needed > total):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += needed
    if batch:
        yield batch
