"""Diverse results by maximal marginal relevance, picked one by one.

    pick  argmax  λ · relevance − (1 − λ) · greatest similarity to an earlier pick

After Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing
summaries", SIGIR 1998.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from graphsearch.columns import Floats
from graphsearch.text.analyser import terms


def diverse_rows(relevance: ArrayLike, texts: Sequence[str], *, diversity: float, limit: int) -> list[int]:
    """The rows of at most ``limit`` texts, in the order in which they are picked; of equal values the first.

    ``relevance`` is in [0, 1], one for each text; ``diversity`` is 1 − λ, in [0, 1]: 0 is the order of relevance alone.
    """
    worth, similar = (1.0 - diversity) * np.asarray(relevance, np.float64), alike_in_terms(texts)
    redundancy = np.zeros(len(worth))
    picks: list[int] = []
    for _ in range(min(limit, len(worth))):
        values = worth - diversity * redundancy
        values[picks] = -np.inf
        picks.append(int(values.argmax()))
        redundancy = np.maximum(redundancy, similar[picks[-1]])
    return picks


def alike_in_terms(texts: Sequence[str]) -> Floats:
    """The cosine similarity of each text with each by their term counts, in [0, 1]; 0 for a text without terms."""
    counts = [Counter(terms(text)) for text in texts]
    column = {term: at for at, term in enumerate(dict.fromkeys(term for each in counts for term in each))}
    vectors = np.zeros((len(texts), len(column)))
    for row, each in enumerate(counts):
        for term, times in each.items():
            vectors[row, column[term]] = times
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    alike: Floats = np.clip(unit @ unit.T, 0.0, 1.0)
    return alike
