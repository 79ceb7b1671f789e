"""Forget memories: one, or all that are somebody's, from a source, or past their time; and remove whole scopes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, TypedDict

import attrs

from graphsearch._support.paging import PAGE, pages
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation.entity_changes import embed_again, own_embedder
from graphsearch.curation.permissions import Access
from graphsearch.ingest.write.distinguishing import distinguish_people
from graphsearch.ingest.write.permission import Permission
from graphsearch.ingest.write.reopening import reopen, settled_by
from graphsearch.ingest.write.settling import settle_earlier
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Action, WriteReport
from graphsearch.model import validation as check
from graphsearch.protocols.reading import MemoryFilters

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


class Forgotten(TypedDict, total=False):
    """The options of `Curator.forget`: give one of them, or the id of a memory.

    * ``session_id`` and ``source``: those of the memories. ``subject``: what they are about, as they state it.
    * ``owner``: their attribute of that name, as policies read it. ``label``: one of their labels.
    """

    session_id: str | None
    source: str | None
    subject: str | None
    owner: str | None
    label: str | None


def who(access: Access) -> str:
    """Name whoever forgets, as receipts do."""
    return (access.gate or ALLOW_ALL).principal.qualified_id


async def to_forget(memory: str | None, which: Forgotten, access: Access) -> list[str]:
    """The ids of the memories to forget, after checking that each of them may be forgotten."""
    given = {name: value for name, value in which.items() if value is not None}
    names = ("memory", *Forgotten.__annotations__)
    check.refuse(
        "forgetting",
        None if len(given) + (memory is not None) == 1 else f"give one of {', '.join(names)}",
        *(check.text(name, value) for name, value in given.items()),
    )
    if memory is None:
        return await allowed({**which, "before": None}, access)
    async with access.reading() as reader:
        found = await reader.get_memories([memory])
    await access.demand(Action.FORGET, found)
    return [each.id for each in found]


async def allowed(filters: MemoryFilters, access: Access) -> list[str]:
    """The ids of all visible memories that pass the filters, after checking that each of them may be forgotten."""
    ids: list[str] = []
    async with access.reading() as reader:
        async for page in pages(access.store.list_memories, **filters):
            shown = await reader.get_memories([memory.id for memory in page])
            await access.demand(Action.FORGET, shown)
            ids += [memory.id for memory in shown]
    return ids


async def forget(ids: Sequence[str], access: Access) -> WriteReport:
    """Forget page by page, each in a transaction of its own, and add up the reports.

    First names are those of one person again if what distinguished two of them is forgotten, and open again if what
    settled whom they mean is.
    """
    total = WriteReport()
    for start in range(0, len(ids), PAGE):
        some = ids[start : start + PAGE]
        mentions = await access.store.list_mentions(memory_ids=some)
        claims = await access.store.list_claims(memory_ids=some)
        settled = await settled_by(mentions, access.store)
        total = _sum(total, await access.store.forget(some))
        permission = Permission(access.store, access.gate or ALLOW_ALL)
        writer = Writer(access.store, await own_embedder(access.engine), permission)
        await reopen(settled, writer)
        await settle_earlier((), (), await distinguish_people(mentions, claims, writer), writer)
    await embed_again(total.reworded, access.engine)
    return WriteReport(memories=total.memories) if access.gated else total


def _sum(one: WriteReport, other: WriteReport) -> WriteReport:
    names = [field.name for field in attrs.fields(WriteReport)]
    return WriteReport(**{name: getattr(one, name) + getattr(other, name) for name in names})
