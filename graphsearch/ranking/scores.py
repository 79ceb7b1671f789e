"""Scores: of several channels on one scale, mixed with feedback, added up part by part, and picked for diversity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import attrs
import numpy as np
from numpy.typing import ArrayLike

from graphsearch.access.reader import Request
from graphsearch.columns import NONE, Floats, Keys, Rows
from graphsearch.columns.key_index import KeyIndex
from graphsearch.text.analyser import terms

T = TypeVar("T")

RRF_K: Final = 60
"""Reciprocal ranks are 1 / (60 + rank)."""


@attrs.frozen(kw_only=True)
class Part:
    """The contribution of one channel: its rank, from 1, and score of the item, its weight, and the contribution."""

    rank: int
    score: float
    weight: float
    contribution: float


def standard_scores(scores: Floats, found: int, floor: float | None = None) -> Floats:
    """Scores of some of ``found`` items in standard deviations of all of them, measured from the least.

    So none is negative. ``floor`` is the score of the others, the least of ``scores`` if None. If all are equal each
    is 0.
    """
    if not len(scores):
        return scores
    least = scores.min() if floor is None else min(floor, scores.min())
    every = np.concatenate((scores, np.full(found - len(scores), least)))
    deviation = every.std()
    if deviation <= np.spacing(np.abs(every).max()):
        return np.zeros(len(scores))
    return np.asarray((scores - least) / deviation)


def with_feedback(relevance: Floats, feedback: Floats, influence: float) -> tuple[Floats, Floats]:
    """The two parts of (1 − φ) · relevance / best + φ · feedback, for ``relevance`` ≥ 0.

    ``feedback`` and the ``influence`` φ are in [0, 1], and so is the sum. If nothing is relevant, the first is 0.
    """
    best = relevance.max(initial=0.0)
    share = relevance / best if best > 0 else np.zeros_like(relevance)
    return (1.0 - influence) * share, influence * feedback


DIGITS: Final = 18
"""Binary digits to which scores are compared (five decimal ones): the rest depends on how a store adds."""


class Board:
    """Memories by row, and for each its score so far, with the contribution of every part to it."""

    def __init__(self, keys: Keys) -> None:
        self._places = KeyIndex(keys)
        self.total = np.zeros(len(keys))
        """The scores so far, in the order of `keys`."""
        self.parts: dict[str, Floats] = {}
        """The contributions that add up to them."""

    @property
    def keys(self) -> Keys:
        """The memories, in the order in which they were added."""
        return self._places.keys

    def add(self, part: str, keys: Keys, values: Floats) -> Rows:
        """Add to the scores of distinct memories, of which some may be new; returns their rows."""
        rows = self._places.number(keys)
        if new := len(self.keys) - len(self.total):
            self.total = np.append(self.total, np.zeros(new))
            self.parts = {name: np.append(column, np.zeros(new)) for name, column in self.parts.items()}
        column = self.parts.setdefault(part, np.zeros(len(self.keys)))
        column[rows] += values
        self.total[rows] += values
        return rows

    def scale(self, factor: Floats | float) -> None:
        """Multiply the scores, by one factor or by one each."""
        self.parts = {name: column * factor for name, column in self.parts.items()}
        self.total = self.total * factor

    def best_is_one(self) -> None:
        """Scale all scores so that the best is 1; no change if none is above 0."""
        best = self.total.max(initial=0.0)
        if best > 0:
            self.scale(1.0 / best)

    def of(self, keys: Keys) -> Floats:
        """The scores of some memories, 0 for those that are not here."""
        return np.append(self.total, 0.0)[self._places.of(keys)]

    def first(self, count: int) -> Keys:
        """The best memories so far."""
        first: Keys = self.keys[best_first(self.total, self.keys, count)]
        return first


def rows_among(many: Keys, few: Keys) -> Rows:
    """The rows of a few distinct keys in a long column of distinct ones, `NONE` if absent.

    Unlike in `KeyIndex`, the long column is not sorted for that.
    """
    which = KeyIndex(few).of(many)
    (there,) = (which != NONE).nonzero()
    rows = np.full(len(few), NONE, dtype=np.intp)
    rows[which[there]] = there
    return rows


def best_first(scores: Floats, keys: Keys, count: int) -> Rows:
    """The rows of the ``count`` (1 or more) best scores, best first; equal ones in the order of their keys."""
    worse = -compared(scores)
    near = np.arange(len(scores))
    if len(scores) > count:
        near = np.flatnonzero(worse <= np.partition(worse, count - 1)[count - 1])
    order: Rows = near[np.lexsort((keys[near], worse[near]))[:count]]
    return order


def compared(scores: Floats) -> Floats:
    """Scores rounded to the digits that all stores agree on."""
    mantissa, exponent = np.frexp(scores)
    shorter: Floats = np.ldexp(np.round(np.ldexp(mantissa, DIGITS)), exponent - DIGITS)
    return shorter


def picked(
    ranked: Sequence[T], request: Request, score_of: Callable[[T], float], text_of: Callable[[T], str]
) -> list[T]:
    """The items to show, of some that are ranked: the best that score enough, or of these those that differ most."""
    good = [each for each in ranked if score_of(each) >= request.min_score]
    if not request.diversity or not good:
        return good[: request.limit]
    scores, texts = list(map(score_of, good)), list(map(text_of, good))
    return [good[row] for row in diverse_rows(scores, texts, diversity=request.diversity, limit=request.limit)]


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
