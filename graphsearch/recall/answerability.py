"""How much what is recalled has to do with the question: an absolute measure, which scores beside a best are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import attrs
import numpy as np

from graphsearch.columns import Floats, Mask

LOOKED_AT: Final = 10
"""How many of the best memories tell how relevant an answer is, however many are asked for."""
UNHEARD: Final = 0.3
"""What is taken from the meaning for words of a question that no memory has, where that is all of them: a near meaning
of unheard words is doubted. 0.2 to 0.4 are as good, on sets left out in turn."""


@attrs.frozen(kw_only=True)
class Asked:
    """The terms of a question: how rare each is in the scope, its idf, and those that no memory has."""

    rarity: Mapping[str, float]
    unheard: frozenset[str]


def relevance(asked: Asked, memories: Sequence[AbstractSet[str]], cosines: Floats) -> float:
    """1 − (1 − coverage) · (1 − meaning), in [0, 1]; of the terms of memories, and their cosines.

    Coverage is the share of the question that one memory holds, each term counting as it is rare in the scope; the best
    of any. Meaning is the greatest cosine of any − `UNHEARD` × the share of the question that no memory has, 0 if
    below. Either is enough; a question about something else has neither.
    """
    whole = sum(asked.rarity.values()) or 1.0
    held = (sum(each for term, each in asked.rarity.items() if term in memory) for memory in memories)
    coverage = min(1.0, max(held, default=0.0) / whole)
    unheard = sum(each for term, each in asked.rarity.items() if term in asked.unheard) / whole
    meaning = max(0.0, min(1.0, float(cosines.max(initial=0.0))) - UNHEARD * unheard)
    return 1.0 - (1.0 - coverage) * (1.0 - meaning)


def holding(question: AbstractSet[str], texts: Sequence[AbstractSet[str]]) -> Mask:
    """Which texts hold which terms of a question, of shape (texts, terms in order)."""
    asked = sorted(question)
    return np.array([[term in each for term in asked] for each in texts], np.bool_).reshape(len(texts), len(asked))


def rarity(holds: Mask) -> Floats:
    """How telling each term is among n texts of which m hold it: ln(1 + (n − m + 0.5) / (m + 0.5)), above 0."""
    count = holds.sum(axis=0)
    rare: Floats = np.log1p((len(holds) - count + 0.5) / (count + 0.5))
    return rare
