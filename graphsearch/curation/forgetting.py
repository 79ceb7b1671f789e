"""Forget single memories, whole sessions or whole sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import attrs

from graphsearch.curation.permissions import PAGE, Access
from graphsearch.curation.updating import embed_again
from graphsearch.model import Action, WriteReport
from graphsearch.model import validation as check


class _MemoryFilter(TypedDict, total=False):
    """The filter passed to `GraphStore.list_memories`."""

    session_id: str
    source: str


async def forget(
    access: Access, *, memory: str | None = None, session_id: str | None = None, source: str | None = None
) -> WriteReport:
    """See `graphsearch.curation.Curator.forget`."""
    given = [each for each in (memory, session_id, source) if each is not None]
    check.refuse("forgetting", None if len(given) == 1 else "give one of memory, session_id and source")
    if memory is not None:
        found = await access.store.get_memories([memory])
        await access.demand(Action.FORGET, found)
        return await _forget([each.id for each in found], access)
    if session_id is not None:
        check.refuse("session to forget", check.text("session_id", session_id))
        return await _forget(await _allowed({"session_id": session_id}, access), access)
    check.refuse("source to forget", check.text("source", given[0]))
    return await _forget(await _allowed({"source": given[0]}, access), access)


async def _allowed(chosen: _MemoryFilter, access: Access) -> list[str]:
    """The ids of all memories of a session or a source, after checking that each of them may be forgotten."""
    ids: list[str] = []
    async with access.store.snapshot():
        while page := await access.store.list_memories(after=ids[-1] if ids else None, limit=PAGE, **chosen):
            await access.demand(Action.FORGET, page)
            ids += [memory.id for memory in page]
    return ids


async def _forget(ids: Sequence[str], access: Access) -> WriteReport:
    """Forget page by page, each in a transaction of its own, and add up the reports."""
    total = WriteReport()
    for start in range(0, len(ids), PAGE):
        total = _sum(total, await access.store.forget(ids[start : start + PAGE]))
    await embed_again(total.reworded, access.engine)
    return total


def _sum(one: WriteReport, other: WriteReport) -> WriteReport:
    names = [field.name for field in attrs.fields(WriteReport)]
    return WriteReport(**{name: getattr(one, name) + getattr(other, name) for name in names})
