"""What is over of what memories claim: a memory is superseded if each of its claims was ended by other memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, DatedClaim, Period, group_of, periods_of
from graphsearch.model import Claim, Group, Memory


class Over(TypedDict):
    """Since when a memory is over, the name of what holds now, and the ids of the memories that say so."""

    until: datetime | None
    now: str
    followed_by: tuple[str, ...]


async def claims_of(memories: Sequence[Memory], reader: Reader) -> tuple[frozenset[str], Mapping[str, Over]]:
    """The ids of the memories that claim anything; and of those of which no claim holds any more, what is over.

    What holds ``now`` instead is another claim of the same source and type, if there is one alone. Claims that state
    their own end are not superseded: the memory says so itself. Read only from what is visible, and nothing that
    occurred, or was written, after the moments of the reader's view.
    """
    ids = [memory.id for memory in memories]
    claims = [each for each in await reader.claims(memory_ids=ids) if each.type not in CO_OCCURRENCE_TYPES]
    ends: dict[str, list[tuple[datetime | None, Period, Claim]]] = defaultdict(list)
    holding: dict[tuple[UUID, str], list[Period]] = defaultdict(list)
    for group, dated in (await _folded_with(claims, memories, reader)).items() if claims else ():
        for period in periods_of(dated, reader.type_of(group[1])):
            if period.holds(reader.view.as_of):
                holding[group[:2]].append(period)
            for each in period.claims:
                ended = None if each.claim.valid_to is not None else period.valid_to
                ends[each.claim.memory_id].append((ended, period, each.claim))
    over: dict[str, Over] = {}
    for id_ in ids:
        past = [(end, period, claim) for end, period, claim in ends[id_] if end and end <= reader.view.as_of]
        if past and len(past) == len(ends[id_]):
            until, period, claim = max(past, key=lambda each: each[0])
            after = [each for each in holding[claim.source_id, claim.type] if each.target_id != period.target_id]
            named = await reader.get_entities([each.target_id for each in after]) if len(after) == 1 else []
            says = sorted({memory for each in after for memory in each.memories} - {id_})
            over[id_] = Over(until=until, now=named[0].name if named else "", followed_by=tuple(says))
    return frozenset(claim.memory_id for claim in claims), over


async def _folded_with(
    claims: Sequence[Claim], memories: Sequence[Memory], reader: Reader
) -> Mapping[Group, list[DatedClaim]]:
    """By group, the visible claims that some claims are folded with, of memories in the view."""
    folded = await reader.claims(groups=sorted({group_of(each, reader.types) for each in claims}, key=str))
    known, view = {memory.id: memory for memory in memories}, reader.view
    for memory in await reader.get_memories(sorted({each.memory_id for each in folded} - known.keys())):
        if view.known(memory.created_at, None) and view.holds(memory.occurred_at, None):
            known[memory.id] = memory
    found: dict[Group, list[DatedClaim]] = defaultdict(list)
    for each in folded:
        if memory_of := known.get(each.memory_id):
            found[group_of(each, reader.types)].append(DatedClaim(each, memory_of.occurred_at))
    return found
