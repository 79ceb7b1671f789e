"""All that a store lists, page by page; and items in order, in batches that limits allow."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")

PAGE: Final = 1_000
"""The number of elements read at a time."""


async def pages(
    listed: Callable[..., Awaitable[Sequence[Any]]], *, after: Any = None, **filters: Any
) -> AsyncIterator[Sequence[Any]]:
    """All that a ``list_…`` method of a store lists, with ids above ``after``; no page is empty."""
    while page := await listed(after=after, limit=PAGE, **filters):
        yield page
        after = page[-1].id


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
