"""The words of entities, and the share of a question's words that they cover."""

import numpy as np
import pytest

from graphsearch.model import Entity
from graphsearch.ranking import entity_relevance as room
from graphsearch.ranking.entity_relevance import Held, Lexicon, entity_terms
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.analyser import ENGLISH

OPEN = Entity(type="function", name="door.openLatch", description="Opens the latch of a door.", aliases=("openLatch",))
TERMS = ("door", "open", "latch", "bolt", "shut")
SHUT = Entity(type="function", name="door.shut")


def of(entities, extra=None):
    """What some entities hold; ``extra`` has the words in addition to the texts of each."""
    given = extra or [{}] * len(entities)
    return Held.of([entity_terms(each, more, ENGLISH.terms) for each, more in zip(entities, given, strict=True)])


def place(found, term):
    """The place of a term among the distinct ones."""
    return found.distinct.tolist().index(hash(term))


def weights(found, entity, terms):
    rows = np.flatnonzero(found.entity == entity)
    held = {found.term[row]: found.weight[row] for row in rows.tolist()}
    return {term: held[place(found, term)] for term in terms if place(found, term) in held}


def test_fields_weigh():
    """Names count each word once; the description has the three terms open, latch and door: 1 / (¼ + ¾ · 3 / 8)."""
    found = of([OPEN, SHUT], [{"bolt": 0.5, "door": 0.25}, {}])
    # 1 / 0.53125 = 1.882353, and 1 for the name; the door has 0.25 more.
    expected = {"door": 3.132352941, "open": 2.882352941, "latch": 2.882352941, "bolt": 0.5}
    assert weights(found, 0, TERMS) == pytest.approx(expected)
    assert weights(found, 1, TERMS) == {"door": 1.0, "shut": 1.0}
    assert len(found.entities) == 2
    assert found.having(["door", "bolt", "moon"]) == (2, [2, 1, 0])


def test_the_form_of_a_term_is_the_commonest_then_the_first():
    for names, form in (
        (("cancelled task", "cancel it", "cancel that", "waits"), "cancel"),
        (("cancels", "waits", "cancel"), "cancel"),
    ):
        found = of([Entity(type="concept", name=name) for name in names])
        assert found.forms()[place(found, "cancel")] == form


def test_a_share_is_what_is_held_of_the_idf():
    found = of([OPEN, SHUT], [{"bolt": 0.6}, {}])
    rarity = {"shut": 3.0, "bolt": 1.0}
    # w · 1.6 / (w + 0.6): 1 for a weight of 1, 0.8 for one of 0.6.
    assert found.shares(rarity) == pytest.approx([0.2, 0.75])  # 0.8 of 4, 3 of 4


def test_a_word_stands_for_another_that_means_the_same():
    found = of([OPEN, SHUT], [{}, {}])
    alike = np.zeros((1, len(found.distinct)))
    alike[0, place(found, "shut")] = 0.5
    alike[0, place(found, "door")] = 0.19
    assert found.shares({"close": 2.0}, alike) == pytest.approx([0.0, 0.5])


@pytest.mark.parametrize(("entities", "rarity"), [((), {"door": 1.0}), ((OPEN,), {})])
def test_nothing_is_held_of_nothing(entities, rarity):
    found = of(entities)
    assert found.shares(rarity).tolist() == [0.0] * len(entities)


def test_an_entity_without_a_term_holds_nothing():
    found = of([Entity(type="concept", name="?!"), SHUT], [{}, {}])
    assert found.shares({"shut": 1.0}).tolist() == [0.0, 1.0]


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
    alike, held = known.likeness(["shut"], of([SHUT])), of([SHUT])
    assert alike is not None
    expected = embedder.vector("shut") @ embedder.vector("door")
    assert alike[0, [place(held, "door"), place(held, "shut")]] == pytest.approx([expected, 1.0], abs=1e-6)
    assert known.vectors([]) is None


def test_no_more_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(room, "KEPT_WORDS", 2)
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
