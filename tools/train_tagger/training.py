"""Learn the weights of the tagger: a conditional random field by Adagrad; the same texts give the same bytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.names.tagger import BITS, FOLLOWS, OWN, TAGS, Model, features

Sentence = tuple[list[str], list[str]]
"""Words and their tags."""
Floats = NDArray[np.float32]
Ids = NDArray[np.uint32]
Places = NDArray[np.intp]

EPOCHS: Final = 4
RATE: Final = 0.15
SHRINK: Final = 1e-5
IN_SMALL_LETTERS: Final = 0.5
"""How many of the sentences are also learned in small letters."""
HIDDEN_WORDS: Final = 0.4
"""How many words are hidden, so that their neighbours and flags must tell a name."""
HIDDEN_FEATURES: Final = 0.15
OCCURRENCES: Final = 3
"""The least of a feature that is learned; most sentences count twice."""
LEAST: Final = 0.03
"""A smaller weight is left out."""
BATCH: Final = 32
"""Sentences of a step."""


def read_sentences(file: Path) -> Iterator[Sentence]:
    """Read a file with a word and its tag a line, and an empty line after each sentence."""
    for block in gzip.decompress(file.read_bytes()).decode().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line]
        if rows:
            yield [row[0] for row in rows], [row[1] for row in rows]


def in_small_letters(sentence: Sentence) -> Sentence:
    """A sentence as somebody writes who uses no capitals."""
    words, tags = sentence
    return [word.lower() for word in words], tags


def learn(sentences: Sequence[Sentence], *, epochs: int = EPOCHS) -> Model:
    """Learn the weights of features and of tags after tags; those of the last two epochs are averaged."""
    chance = np.random.default_rng(7)
    small = [in_small_letters(each) for each in sentences if chance.random() < IN_SMALL_LETTERS]
    learned = [*sentences, *small]
    ids = np.vstack([features([words for words, _ in learned[at : at + 1000]]) for at in range(0, len(learned), 1000)])
    counts = np.bincount(ids.ravel(), minlength=1 << BITS)
    ids[counts[ids] < OCCURRENCES] = 0
    gold = np.array([TAGS.index(tag) for _, tags in learned for tag in tags], np.intp)
    sizes = np.array([len(words) for words, _ in learned], np.intp)
    places = np.split(np.arange(len(ids)), np.cumsum(sizes)[:-1])
    field, late = _Field(), []
    for epoch in range(epochs):
        order = chance.permutation(len(learned))
        for some in np.split(order, range(BATCH, len(order), BATCH)):
            words = np.concatenate([places[each] for each in some.tolist()])
            shown = ids[words]
            shown[:, :OWN][chance.random(len(words)) < HIDDEN_WORDS] = 0
            shown[chance.random(shown.shape) < HIDDEN_FEATURES] = 0
            field.learn(shown, gold[words], sizes[some])
        if epoch >= epochs - 2:
            late.append((field.weights.copy(), field.before.copy()))
    return _rounded(np.mean([each for each, _ in late], 0), np.mean([each for _, each in late], 0))


def write(model: Model, file: Path) -> None:
    """Write weights, without the features that have none."""
    rows = np.flatnonzero(model.weights.any(1)).astype(np.uint32)
    with file.open("wb") as out:
        np.savez_compressed(
            out, rows=rows, weights=model.weights[rows], before=model.before, unit=np.float64(model.unit)
        )


def _rounded(weights: Floats, before: Floats) -> Model:
    kept = np.where(np.abs(weights) < LEAST, 0, weights)[:, 1:]
    unit = float(np.abs(kept).max()) / 127
    return Model(np.round(kept / unit).astype(np.int8), np.round(before / unit).astype(np.int32), unit)


class _Field:
    """Weights while they are learned.

    Feature 0 is a hidden one. "No name" keeps weight 0, which the others are relative to.
    """

    def __init__(self) -> None:
        self.weights = np.zeros((1 << BITS, len(TAGS)), np.float32)
        self.before = np.zeros((len(TAGS), len(TAGS)), np.float32)
        self._steps = np.full_like(self.weights, 1e-3)
        self._steps_before = np.full_like(self.before, 1e-3)

    def learn(self, ids: Ids, gold: Places, sizes: Places) -> None:
        """Make a step towards the tags of some sentences."""
        follow = np.where(FOLLOWS, np.exp(self.before), np.float32(0))
        wrong, pairs = expect(self.weights[ids].sum(1), sizes, follow)
        wrong[np.arange(len(gold)), gold] -= 1
        previous = np.roll(gold, 1)
        previous[np.cumsum(sizes) - sizes] = 0
        np.subtract.at(pairs, (previous, gold), np.float32(1))
        found, where = np.unique(ids, return_inverse=True)
        slope = np.zeros((len(found), len(TAGS)), np.float32)
        np.add.at(slope, where.ravel(), np.repeat(wrong, ids.shape[1], 0))
        slope += SHRINK * self.weights[found]
        slope[found == 0] = slope[:, 0] = 0
        self._steps[found] += slope * slope
        self.weights[found] -= RATE * slope / np.sqrt(self._steps[found])
        self._steps_before += pairs * pairs
        self.before -= RATE * pairs / np.sqrt(self._steps_before)


def expect(scores: Floats, sizes: Places, follow: Floats) -> tuple[Floats, Floats]:
    """How probable each tag is at each word, and how often each follows each, by forward and backward sums.

    Sentences go side by side, the longest first. Sums are by einsum: those of a matrix product vary with threads.
    """
    order = np.argsort(-sizes, kind="stable")
    begins = (np.cumsum(sizes) - sizes)[order]
    places = [begins[: int((sizes > place).sum())] + place for place in range(int(sizes.max()))]
    here = np.exp(scores - scores.max(1, keepdims=True))
    forward, backward, totals = np.zeros_like(here), np.ones_like(here), np.ones((len(here), 1), np.float32)
    for place, at in enumerate(places):
        coming = np.einsum("ki,ij->kj", forward[at - 1], follow) if place else follow[:1]
        forward[at] = coming * here[at]
        totals[at] = forward[at].sum(1, keepdims=True)
        forward[at] /= totals[at]
    pairs = np.zeros_like(follow)
    for place in range(len(places) - 1, -1, -1):
        at = places[place]
        left = here[at] * backward[at] / totals[at]
        if place:
            backward[at - 1] = np.einsum("kj,ij->ki", left, follow)
            pairs += np.einsum("ki,kj->ij", forward[at - 1], left) * follow
        else:
            pairs[0] += left.sum(0) * follow[0]
    return forward * backward, pairs
