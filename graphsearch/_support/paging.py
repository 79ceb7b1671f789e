"""Read all that a store lists, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

PAGE: Final = 1_000
"""The number of elements read at a time."""


async def pages(
    listed: Callable[..., Awaitable[Sequence[Any]]], *, after: Any = None, **filters: Any
) -> AsyncIterator[Sequence[Any]]:
    """All that a ``list_…`` method of a store lists, with ids above ``after``; no page is empty."""
    while page := await listed(after=after, limit=PAGE, **filters):
        yield page
        after = page[-1].id
