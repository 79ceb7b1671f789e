"""BM25 of a few texts for a question, as if they were all there are.

A store scores what it holds, and a part of it may be hidden. What is scored here is known from what may be seen alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from graphsearch.query.analyser import Analyser
from graphsearch.scoring.lexical import frequencies, grid, idf, saturated


def scores_among(texts: Sequence[str], question: str, analyser: Analyser) -> list[float]:
    """A score ≥ 0 for each text, 0 without a term of the question.

    N, document frequencies and the average length are those of the texts that have one, so that no other text moves a
    score. Equal texts have equal scores.
    """
    asked = frozenset(analyser.terms(question))
    documents = [frequencies(text, analyser) for text in texts]
    found = [document for document in documents if not asked.isdisjoint(document)]
    average = grid(sum(sum(document.values()) for document in found) / max(len(found), 1))
    containing = Counter(term for document in found for term in asked.intersection(document))
    telling = {term: idf(len(found), number) for term, number in containing.items()}
    return [math.fsum(_contributions(document, telling, average)) for document in documents]


def _contributions(document: dict[str, int], telling: dict[str, float], average: float) -> list[float]:
    matched = {term: frequency for term, frequency in document.items() if term in telling}
    weights = saturated(matched, sum(document.values()), average)
    return [telling[term] * weight for term, weight in weights.items()]
