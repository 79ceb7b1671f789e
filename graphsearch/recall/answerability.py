"""The relevance of a recall to its question: an absolute measure, unlike scores, which are relative to the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask

LOOKED_AT: Final = 10
"""Number of best memories from which relevance is computed, whatever the limit."""
UNHEARD: Final = 0.3
"""The deduction from meaning if no memory has any word of the question: a near meaning of unheard words is doubtful.
0.2 to 0.4 are as good, on sets left out in turn.
"""


@attrs.frozen(kw_only=True)
class Asked:
    """The terms of a question: the idf of each in the scope, and those that no memory has."""

    rarity: Mapping[str, float]
    unheard: frozenset[str]


def relevance(asked: Asked, memories: Sequence[AbstractSet[str]], cosines: Floats) -> float:
    """1 − (1 − coverage) · (1 − meaning), in [0, 1]; from the terms of memories, and their cosines.

    Coverage is the share of the question's idf that one memory has; the best of any. Meaning is the greatest cosine
    − `UNHEARD` × the share of the question that no memory has, at least 0. Either is enough; for a question about
    something else both are low.
    """
    whole = sum(asked.rarity.values()) or 1.0
    held = (sum(each for term, each in asked.rarity.items() if term in memory) for memory in memories)
    coverage = min(1.0, max(held, default=0.0) / whole)
    unheard = sum(each for term, each in asked.rarity.items() if term in asked.unheard) / whole
    meaning = max(0.0, min(1.0, float(cosines.max(initial=0.0))) - UNHEARD * unheard)
    return 1.0 - (1.0 - coverage) * (1.0 - meaning)


def holding(question: AbstractSet[str], texts: Sequence[AbstractSet[str]]) -> Mask:
    """Which texts have which terms of a question, of shape (texts, terms in order)."""
    asked = sorted(question)
    return np.array([[term in each for term in asked] for each in texts], np.bool_).reshape(len(texts), len(asked))


def rarity(holds: Mask) -> Floats:
    """The idf of each term among n texts of which m have it: ln(1 + (n − m + 0.5) / (m + 0.5)), above 0."""
    count = holds.sum(axis=0)
    rare: Floats = np.log1p((len(holds) - count + 0.5) / (count + 0.5))
    return rare
