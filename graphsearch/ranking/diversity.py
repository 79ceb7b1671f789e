"""Diverse results by maximal marginal relevance, picked one by one.

    pick  argmax  λ · relevance − (1 − λ) · greatest similarity to an earlier pick

After Carbonell and Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing
summaries", SIGIR 1998.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from graphsearch.columns import Floats
from graphsearch.model import validation as check
from graphsearch.text.analyser import terms

Similar = Callable[[int], Floats]
"""The similarity of one item, given by its row, to every item, in the order of the rows."""


def maximal_marginal_relevance(relevance: ArrayLike, similar: Similar, *, balance: float, limit: int) -> list[int]:
    """The rows of at most ``limit`` items, in the order in which they are picked; of equal values the first row.

    ``relevance`` is (n,), in [0, 1]; ``similar`` gives rows of (n,), in [−1, 1], such as `cosine`. ``balance`` is λ in
    [0, 1]: 1 is the order of relevance alone. Reads one row of similarities per pick: the cost is limit · n. Raises
    `InvalidInputError` for a balance or a limit out of range, and for relevances that are not finite.
    """
    relevant = np.asarray(relevance, dtype=np.float64)
    check.refuse(
        "diversity",
        check.unit("balance", balance),
        check.number("limit", limit, 0),
        None if relevant.ndim == 1 and np.isfinite(relevant).all() else "relevance must be a list of finite numbers",
    )
    picks: list[int] = []
    left = np.ones(len(relevant), dtype=np.bool_)
    redundancy = np.zeros(len(relevant))
    while len(picks) < limit and left.any():
        values = np.where(left, balance * relevant - (1.0 - balance) * redundancy, -np.inf)
        row = int(values.argmax())
        picks.append(row)
        left[row] = False
        redundancy = similar(row) if len(picks) == 1 else np.maximum(redundancy, similar(row))
    return picks


def diverse_rows(relevance: ArrayLike, texts: Sequence[str], *, diversity: float, limit: int) -> list[int]:
    """The rows that `maximal_marginal_relevance` picks by the terms of texts; ``diversity`` is 1 − λ, in [0, 1]."""
    return maximal_marginal_relevance(relevance, alike_in_terms(texts), balance=1.0 - diversity, limit=limit)


def cosine(vectors: ArrayLike) -> Similar:
    """Cosine similarity of the rows of (n, dimensions), in [−1, 1]; 0 for a row of zeros."""
    rows = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return lambda row: np.clip(unit @ unit[row], -1.0, 1.0)


def alike_in_terms(texts: Sequence[str]) -> Similar:
    """Cosine similarity of texts by their term counts, in [0, 1]; 0 for a text without terms."""
    counts = [Counter(terms(text)) for text in texts]
    column = {term: at for at, term in enumerate(dict.fromkeys(term for each in counts for term in each))}
    vectors = np.zeros((len(texts), len(column)))
    for row, each in enumerate(counts):
        for term, times in each.items():
            vectors[row, column[term]] = times
    return cosine(vectors)
