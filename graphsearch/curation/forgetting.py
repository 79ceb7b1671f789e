"""Forget memories: one, or all that are somebody's, from a source, or past their time; and remove whole scopes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypedDict

import attrs

from graphsearch._support.paging import PAGE, pages
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.access.stored_elements import demand_everything
from graphsearch.curation.entity_changes import embed_again
from graphsearch.curation.permissions import Access
from graphsearch.curation.receipts import (
    ContentHash,
    Receipt,
    Verification,
    read_content,
    refuse_foreign,
    remains,
    verification_of,
)
from graphsearch.errors import UnknownScopeError
from graphsearch.model import Action, WriteReport
from graphsearch.model import validation as check
from graphsearch.protocols.reading import MemoryFilters

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


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


async def forget(memory: str | None, which: Forgotten, access: Access) -> WriteReport:
    """See `graphsearch.curation.Curator.forget`."""
    return await _forget(await _to_forget(memory, which, access), access)


async def forget_with_receipt(memory: str | None, which: Forgotten, access: Access) -> Receipt:
    """See `graphsearch.curation.Curator.forget_with_receipt`."""
    ids = await _to_forget(memory, which, access)
    content = ContentHash.new()
    for start in range(0, len(ids), PAGE):
        content.add(*await read_content(ids[start : start + PAGE], access.store))
    report = await _forget(ids, access)
    left = await remains(ids, access.store) if ids else {}
    return Receipt.of(report, content, store=access.store, by=_who(access), memories=ids, left=left)


async def expire(age: timedelta, access: Access, *, label: str | None, source: str | None) -> WriteReport:
    """See `graphsearch.curation.Curator.expire`."""
    given = {name: value for name, value in (("label", label), ("source", source)) if value is not None}
    check.refuse(
        "expiry",
        None if age > timedelta() else f"age must be more than nothing, not {age}",
        None if given else "give a label, a source or both",
        *(check.text(name, value) for name, value in given.items()),
    )
    now = access.store.clock.now()
    before = now - min(age, now - _EARLIEST)
    return await _forget(await _allowed({"label": label, "source": source, "before": before}, access), access)


async def remove_scope(access: Access) -> Receipt:
    """See `graphsearch.curation.Curator.remove_scope`."""
    store, content = access.store, ContentHash.new()
    try:
        async with access.reading() as reader:
            await access.demand_whole("the removal of a scope", reader)
            held = await store.statistics()
            await demand_everything(store, access.gate, Action.FORGET)
            async for page in pages(store.list_memories):
                content.add(*await read_content([memory.id for memory in page], store))
    except UnknownScopeError:  # nothing was ever written
        return Receipt.of(WriteReport(), content, store=store, by=_who(access), whole=True)
    await store.remove_scope()
    removed = WriteReport(
        memories=held.memories,
        entities_removed=held.entities,
        relations_retracted=held.relations,
        mentions_removed=held.mentions,
        claims_removed=held.claims,
    )
    return Receipt.of(removed, content, store=store, by=_who(access), whole=True)


async def verify_receipt(receipt: Receipt, access: Access) -> Verification:
    """See `graphsearch.curation.Curator.verify_receipt`."""
    refuse_foreign(receipt, access.store)
    try:
        async with access.reading() as reader:
            await access.demand_whole("the check of a receipt", reader)
            return await verification_of(receipt, access.store)
    except UnknownScopeError:  # removed
        return Verification(intact=receipt.intact, left={})


def _who(access: Access) -> str:
    return (access.gate or ALLOW_ALL).principal.qualified_id


async def _to_forget(memory: str | None, which: Forgotten, access: Access) -> list[str]:
    """The ids of the memories to forget, after checking that each of them may be forgotten."""
    given = {name: value for name, value in which.items() if value is not None}
    names = ("memory", *Forgotten.__annotations__)
    check.refuse(
        "forgetting",
        None if len(given) + (memory is not None) == 1 else f"give one of {', '.join(names)}",
        *(check.text(name, value) for name, value in given.items()),
    )
    if memory is None:
        return await _allowed({**which, "before": None}, access)
    async with access.reading() as reader:
        found = await reader.get_memories([memory])
    await access.demand(Action.FORGET, found)
    return [each.id for each in found]


async def _allowed(filters: MemoryFilters, access: Access) -> list[str]:
    """The ids of all visible memories that pass the filters, after checking that each of them may be forgotten."""
    ids: list[str] = []
    async with access.reading() as reader:
        async for page in pages(access.store.list_memories, **filters):
            shown = await reader.get_memories([memory.id for memory in page])
            await access.demand(Action.FORGET, shown)
            ids += [memory.id for memory in shown]
    return ids


async def _forget(ids: Sequence[str], access: Access) -> WriteReport:
    """Forget page by page, each in a transaction of its own, and add up the reports."""
    total = WriteReport()
    for start in range(0, len(ids), PAGE):
        total = _sum(total, await access.store.forget(ids[start : start + PAGE]))
    await embed_again(total.reworded, access.engine)
    return WriteReport(memories=total.memories) if access.gated else total


def _sum(one: WriteReport, other: WriteReport) -> WriteReport:
    names = [field.name for field in attrs.fields(WriteReport)]
    return WriteReport(**{name: getattr(one, name) + getattr(other, name) for name in names})
