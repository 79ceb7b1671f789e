"""Communities that are detected anew keep the ids of those that most of the same members were in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from uuid import UUID, uuid5

import attrs

from graphsearch.model import Community

COMMUNITY: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c03")
"""The namespace of the ids of communities."""


def with_former_ids(found: Iterable[Community], former: Sequence[Community]) -> tuple[Community, ...]:
    """Communities with the ids of former ones, largest first, then by id.

    A community takes the id of the former one with which it shares the most members, if these are more than half of the
    former one's: at most one community has them. Others keep the id of their own, unless a former community has it,
    which went on elsewhere or ended: then they take one that nothing has. Ties go to the lower id.
    """
    communities = list(found)
    of = {member: each for each in former for member in each.members}
    known = {each.id for each in former}
    taken: dict[UUID, UUID] = {}
    for each in communities:
        if heir := _inherited(each, of):
            taken[each.id] = heir
    used = {*known, *taken.values()}
    named = []
    for each in communities:
        key = taken.get(each.id) or _own_id(each, used)
        used.add(key)
        named.append(attrs.evolve(each, id=key))
    return tuple(sorted(named, key=lambda each: (-each.size, each.id)))


def _inherited(community: Community, of: dict[UUID, Community]) -> UUID | None:
    shared = Counter(of[member].id for member in community.members if member in of)
    sizes = {of[member].id: of[member].size for member in community.members if member in of}
    heirs = [(-count, key) for key, count in shared.items() if 2 * count > sizes[key]]
    return min(heirs)[1] if heirs else None


def _own_id(community: Community, used: Collection[UUID]) -> UUID:
    """The id by the least member, or by further ones, that no community has."""
    names = (community.id, *(uuid5(COMMUNITY, str(member)) for member in community.members))
    return next((key for key in names if key not in used), uuid5(COMMUNITY, f"{community.id} {len(used)}"))
