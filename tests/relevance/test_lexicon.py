"""The vectors of words: looked up once, and only where an embedder has any."""

import numpy as np

from graphsearch.relevance import entity_words
from graphsearch.relevance.entity_words import Lexicon
from graphsearch.testing.fakes import HashEmbedder


class Words(HashEmbedder):
    semantic_weight = 1.5

    def __init__(self):
        super().__init__(8)
        self.asked = []

    def word_vectors(self, words):
        self.asked.append(list(words))
        return np.array([self.vector(word) for word in words], np.float32)


def test_each_word_is_looked_up_once():
    embedder = Words()
    known = Lexicon(embedder)
    first = known.vectors(["cancel", "stop"])
    again = known.vectors(["stop", "go"])
    assert embedder.asked == [["cancel", "stop"], ["go"]]
    assert first is not None
    assert again is not None
    assert np.array_equal(again[0], first[1])
    assert known.weight == 1.5
    assert known.vectors([]) is None


def test_no_more_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(entity_words, "KEPT", 2)
    embedder = Words()
    known = Lexicon(embedder)
    known.vectors(["a1", "b1"])
    both = known.vectors(["b1", "c1"])
    assert both is not None
    assert both.shape == (2, 8)
    assert embedder.asked == [["a1", "b1"], ["b1", "c1"]]


def test_other_embedders_have_none():
    for embedder in (None, HashEmbedder(8)):
        known = Lexicon(embedder)
        assert (known.vectors(["word"]), known.weight) == (None, 0.5)
