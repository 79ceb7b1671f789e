"""Learn the weights of the tagger: multinomial logistic regression by Adagrad; the same texts give the same bytes."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from graphsearch.names.tagger import BITS, TAGS, features

Sentence = tuple[list[str], list[str]]
"""Words and their tags."""
Floats = NDArray[np.float32]

EPOCHS: Final = 4
RATE: Final = 0.15
SHRINK: Final = 1e-5
IN_SMALL_LETTERS: Final = 0.5
"""How many of the sentences are also learned in small letters."""
UNSEEN_WORDS: Final = 0.4
"""How many words are hidden, so that a name can be told by its neighbours; flags are left."""
UNSEEN_FEATURES: Final = 0.15
LEAST: Final = 0.03
"""A smaller weight is left out."""
BATCH: Final = 256
OF_THE_WORD: Final = (0, 1, 2, 3, 4, 5, 6)


def read_sentences(file: Path) -> Iterator[Sentence]:
    """The sentences of a file with a word and its tag a line, and an empty line after each sentence."""
    for block in gzip.decompress(file.read_bytes()).decode().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line]
        if rows:
            yield [row[0] for row in rows], [row[1] for row in rows]


def in_small_letters(sentence: Sentence) -> Sentence:
    """A sentence as somebody writes who uses no capitals."""
    words, tags = sentence
    return [word.lower() for word in words], tags


def train(sentences: Sequence[Sentence], *, epochs: int = EPOCHS) -> tuple[Floats, Floats]:
    """Learn the weights of features, a row of tags each, and of tags after tags; averaged over the last two epochs."""
    chance = np.random.default_rng(7)
    twice = [each for each in sentences for _ in range(1)]
    small = [in_small_letters(each) for each in sentences if chance.random() < IN_SMALL_LETTERS]
    learned = twice + small
    ids = np.vstack([features([words for words, _ in learned[at : at + 1000]]) for at in range(0, len(learned), 1000)])
    gold = np.array([TAGS.index(tag) for _, tags in learned for tag in tags])
    begins = np.cumsum([0, *(len(tags) for _, tags in learned[:-1])])
    previous = np.roll(gold, 1)
    previous[begins] = 0
    learner = _Learner()
    sums: list[tuple[Floats, Floats]] = []
    for epoch in range(epochs):
        order = chance.permutation(len(ids))
        for at in range(0, len(order), BATCH):
            some = order[at : at + BATCH]
            shown = ids[some]
            hidden = chance.random(len(some)) < UNSEEN_WORDS
            shown[np.ix_(hidden, OF_THE_WORD)] = 0
            shown[chance.random(shown.shape) < UNSEEN_FEATURES] = 0
            learner.learn(shown, previous[some], gold[some])
        print("epoch", epoch, round(learner.loss / len(ids), 4), flush=True)
        learner.loss = 0.0
        if epoch >= epochs - 2:
            sums.append((learner.weights.copy(), learner.before.copy()))
    return sum(w for w, _ in sums) / np.float32(len(sums)), sum(b for _, b in sums) / np.float32(len(sums))


class _Learner:
    def __init__(self) -> None:
        self.weights = np.zeros((1 << BITS, len(TAGS)), np.float32)
        self.before = np.zeros((len(TAGS), len(TAGS)), np.float32)
        self._seen = np.full_like(self.weights, 1e-3)
        self._seen_before = np.full_like(self.before, 1e-3)
        self.loss = 0.0

    def learn(self, ids: NDArray[np.uint32], previous: NDArray[np.intp], gold: NDArray[np.intp]) -> None:
        scores = self.weights[ids].sum(1) + self.before[previous]
        scores -= scores.max(1, keepdims=True)
        wrong = np.exp(scores)
        wrong /= wrong.sum(1, keepdims=True)
        rows = np.arange(len(gold))
        self.loss -= float(np.log(wrong[rows, gold] + 1e-9).sum())
        wrong[rows, gold] -= 1
        # Feature 0 is a hidden one. No name keeps weight 0: what counts is the difference to it.
        found, where = np.unique(ids, return_inverse=True)
        steps = np.zeros((len(found), len(TAGS)), np.float32)
        np.add.at(steps, where.ravel(), np.repeat(wrong, ids.shape[1], 0))
        steps += SHRINK * self.weights[found]
        steps[found == 0] = 0
        steps[:, 0] = 0
        self._seen[found] += steps * steps
        self.weights[found] -= RATE * steps / np.sqrt(self._seen[found])
        steps = np.zeros_like(self.before)
        np.add.at(steps, previous, wrong)
        self._seen_before += steps * steps
        self.before -= RATE * steps / np.sqrt(self._seen_before)


def save(weights: Floats, before: Floats, file: Path) -> None:
    """Write weights as whole numbers of at most 127."""
    kept = np.where(np.abs(weights) < LEAST, 0, weights)[:, 1:]
    unit = np.abs(kept).max() / 127
    np.savez_compressed(
        file,
        weights=np.round(kept / unit).astype(np.int8),
        before=np.round(before / unit).astype(np.int16),
        unit=np.float32(unit),
    )
