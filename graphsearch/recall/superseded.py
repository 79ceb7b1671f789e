"""Superseded memories: those of which every claim was ended by claims of other memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from graphsearch.access.reader import Reader
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, DatedClaim, Period, group_of, periods_of
from graphsearch.model import Claim, Group, Memory


async def held_until(memories: Sequence[Memory], reader: Reader) -> Mapping[str, datetime]:
    """For memories of which no claim holds any more, when the last of them ended; by memory id.

    Claims that state their own end are not superseded: the memory says so itself. Read only from what is visible, and
    nothing that occurred, or was written, after the moments of the reader's view.
    """
    ids = [memory.id for memory in memories]
    claims = [each for each in await reader.store.list_claims(memory_ids=ids) if each.type not in CO_OCCURRENCE_TYPES]
    claims = await _with_visible_ends(claims, reader)
    if not claims:
        return {}
    ends: dict[str, list[datetime | None]] = defaultdict(list)
    for group, dated in (await _told_beside(claims, memories, reader)).items():
        for period in periods_of(dated, reader.type_of(group[1])):
            for each in period.claims:
                ends[each.claim.memory_id].append(_ended(each.claim, period))
    return {
        id_: max(filter(None, ends[id_]))
        for id_ in ids
        if ends.get(id_) and all(end is not None and end <= reader.view.as_of for end in ends[id_])
    }


def _ended(claim: Claim, period: Period) -> datetime | None:
    """When another memory ended what a claim states; None if it holds, or ends as it states."""
    return None if claim.valid_to is not None else period.valid_to


async def _told_beside(
    claims: Sequence[Claim], memories: Sequence[Memory], reader: Reader
) -> Mapping[Group, list[DatedClaim]]:
    """By group, the visible claims that some claims are folded with."""
    groups = {group_of(each, reader.types) for each in claims}
    beside = await _with_visible_ends(await reader.store.list_claims(groups=sorted(groups, key=str)), reader)
    known = {memory.id: memory for memory in memories}
    others = sorted({each.memory_id for each in beside} - known.keys())
    visible = await reader.gatekeeper.visible_memories(others)
    known |= {
        memory.id: memory for memory in await reader.store.get_memories(sorted(visible)) if _in_view(memory, reader)
    }
    told: dict[Group, list[DatedClaim]] = defaultdict(list)
    for each in beside:
        if memory := known.get(each.memory_id):
            told[group_of(each, reader.types)].append(DatedClaim(each, memory.occurred_at))
    return told


async def _with_visible_ends(claims: Sequence[Claim], reader: Reader) -> list[Claim]:
    """The claims of which both entities are visible."""
    if not claims:
        return []
    hits = await reader.locate(sorted({end for each in claims for end in (each.source_id, each.target_id)}))
    seen = set(reader.store.entity_ids(hits.keys))
    return [each for each in claims if {each.source_id, each.target_id} <= seen]


def _in_view(memory: Memory, reader: Reader) -> bool:
    return reader.view.known(memory.created_at, None) and reader.view.holds(memory.occurred_at, None)
