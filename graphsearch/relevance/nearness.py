"""Entities that a question describes without naming them: how much each may stand for a name."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats, Keys
from graphsearch.relevance.entity_relevance import Described

MOST: Final = 0.8
"""What an entity that is surely described counts beside 1.0 for one that is named."""
SHARPNESS: Final = 3.0
"""How fast an entity counts less than the best: exp(SHARPNESS · (relevance − the best))."""


@attrs.frozen(eq=False, kw_only=True)
class Alike:
    """Described entities, best first, and how much each counts as an anchor, in [0, `MOST`].

    ``ids`` are theirs, ``sure`` is how surely the best is meant, and ``covered`` the most that any is in the question's
    own words.
    """

    keys: Keys
    ids: tuple[UUID, ...]
    anchor: Floats
    sure: float
    covered: float


def nobody(keys: Keys) -> Alike:
    """No entity, with keys of the same dtype as some keys."""
    return Alike(keys=keys[:0], ids=(), anchor=np.empty(0), sure=0.0, covered=0.0)


def alike(found: Described, limit: int) -> Alike:
    """The first ``limit`` of the described entities: the best counts as it is sure, the others the less."""
    if not len(found.ids):
        return nobody(found.hits.keys)
    relevance, sure = found.relevance[:limit], float(found.sure[0])
    return Alike(
        keys=found.hits.keys[:limit],
        ids=tuple(found.ids[:limit]),
        anchor=MOST * sure * np.exp(SHARPNESS * (relevance - relevance[0])),
        sure=sure,
        covered=float(found.covered[:limit].max()),
    )
