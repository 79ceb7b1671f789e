"""How much what is recalled has to do with the question: an absolute measure, which scores beside a best are not."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from graphsearch.columns import Floats, Mask

LOOKED_AT: Final = 10
"""How many of the best memories tell how relevant an answer is, however many are asked for."""


def relevance(question: AbstractSet[str], memories: Sequence[AbstractSet[str]], cosines: Floats) -> float:
    """1 − (1 − coverage) · (1 − cosine), in [0, 1]; of the terms of a question and of memories, and cosines to it.

    Coverage is the share of the question that one memory holds, rare terms counting more; the best of any. Cosine is
    the greatest of any, 0 if below. Either is enough, and a question about something else has neither.
    """
    holds = holding(question, memories)
    rare = rarity(holds)
    whole = rare.sum()
    coverage = min(1.0, float((holds @ rare).max(initial=0.0) / whole)) if whole > 0 else 0.0
    cosine = float(np.clip(cosines, 0.0, 1.0).max(initial=0.0))
    return 1.0 - (1.0 - coverage) * (1.0 - cosine)


def holding(question: AbstractSet[str], texts: Sequence[AbstractSet[str]]) -> Mask:
    """Which texts hold which terms of a question, of shape (texts, terms in order)."""
    asked = sorted(question)
    return np.array([[term in each for term in asked] for each in texts], np.bool_).reshape(len(texts), len(asked))


def rarity(holds: Mask) -> Floats:
    """How telling each term is among n texts of which m hold it: ln(1 + (n − m + 0.5) / (m + 0.5)), above 0."""
    count = holds.sum(axis=0)
    rare: Floats = np.log1p((len(holds) - count + 0.5) / (count + 0.5))
    return rare
