"""Entities that a question describes without naming them: the weight of each as an anchor."""

from __future__ import annotations

from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats, Keys
from graphsearch.relevance.entity_relevance import Described

MOST: Final = 0.8
"""The weight of an entity that is certainly described, relative to 1.0 for one that is named."""
SHARPNESS: Final = 3.0
"""Decay of the weight behind the best: exp(SHARPNESS · (relevance − the best))."""


@attrs.frozen(eq=False, kw_only=True)
class Alike:
    """Described entities, best first, and the weight of each as an anchor, in [0, `MOST`].

    ``ids`` are theirs, ``sure`` is the probability that the best is meant, and ``covered`` the greatest share that any
    covers by the question's own words.
    """

    keys: Keys
    ids: tuple[UUID, ...]
    anchor: Floats
    sure: float
    covered: float


def nobody(keys: Keys) -> Alike:
    """No entity, with keys of the dtype of ``like``."""
    return Alike(keys=keys[:0], ids=(), anchor=np.empty(0), sure=0.0, covered=0.0)


def alike(found: Described, limit: int) -> Alike:
    """The first ``limit`` described entities: the best weighted by its probability, the others less."""
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
