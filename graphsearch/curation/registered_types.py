"""The types of relations of a scope: list them, and register or change one.

A type determines how its relations are folded, scored and printed; see `graphsearch.model.RelationType`.
"""

from __future__ import annotations

from typing import Final, TypedDict
from uuid import UUID

from graphsearch.curation.permissions import Access
from graphsearch.errors import UnknownScopeError
from graphsearch.model import KNOWN_RELATION_TYPES, RelationType

NOBODY: Final = UUID(int=0)


class TypeProperties(TypedDict, total=False):
    """The options of `Curator.register_type`: the properties to change; those not given stay as they are.

    * ``prior``: the reliability of the type's relations, in [0, 1].
    * ``half_life_days``: the age at which they count half, in days; None if they do not age.
    * ``hop_scores``: the scores by distance, see `RelationType`.
    * ``functional``: a source has one target at a time. ``causal``: the source is printed before the target.
    * ``skip``: searches leave them out. ``state``: they hold until something ends them.
    """

    prior: float
    half_life_days: float | None
    hop_scores: tuple[float, ...]
    functional: bool
    causal: bool
    skip: bool
    state: bool


async def registered(name: str, access: Access) -> RelationType | None:
    """The type as it is. Raises `PartialViewError` unless everything is visible: all its relations are folded again."""
    try:
        async with access.reading() as reader:
            await access.demand_whole("the relations of a type", reader)
            return (await access.store.relation_types()).get(name)
    except UnknownScopeError:  # nothing was ever written: there are the types known from the start
        return KNOWN_RELATION_TYPES.get(name)
