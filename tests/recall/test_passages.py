"""Long memories count for what one passage of them holds; short ones are as they were."""

import pytest

from graphsearch.model import Memory
from graphsearch.recall.options import RecallScoring
from graphsearch.recall.text_scores import LENGTH, LONGEST, best_passage, passage_shares
from graphsearch.text.analyser import ENGLISH, VERBATIM
from tests.gates import no_secrets
from tests.recall.telling import asking, ids, tell

FILLER = "and so on it goes with the rest of it all. " * (LENGTH // 40)
APART = f"The zebra. {FILLER} It has stripes. {FILLER}"
NEAR = f"{FILLER} The zebra. It has stripes. {FILLER}"
WEIGHTS = {"a": 1.0, "b": 2.0, "c": 4.0}


@pytest.mark.parametrize(
    ("places", "share"),
    [
        ([(0, "a")], 1.0),
        ([(0, "a"), (LENGTH - 1, "b")], 1.0),
        ([(0, "a"), (LENGTH, "b")], 2 / 3),
        ([(0, "b"), (10, "b"), (LENGTH + 5, "a")], 1.0),
        ([(0, "b"), (LENGTH, "a"), (2 * LENGTH, "c")], 4 / 7),
        ([(0, "a"), (1, "c"), (LENGTH, "b"), (3 * LENGTH, "c")], 6 / 7),
    ],
)
def test_the_best_passage_is_the_run_that_holds_most(places, share):
    assert best_passage(places, WEIGHTS) == pytest.approx(share)


def test_terms_count_as_they_are_rare_among_the_texts_and_in_any_form():
    texts = [APART.replace("stripes", "STRIPE"), NEAR, "Zebras.", FILLER]
    # "zebra" is in three of four, ln(1 + 1.5 / 3.5) = 0.356675, and "stripes" in two, ln(1 + 2.5 / 2.5) = 0.693147.
    assert passage_shares(texts, "zebra stripes", ENGLISH.terms) == pytest.approx([0.660252, 1.0, 1.0, 1.0], abs=1e-6)


def test_a_word_that_only_ends_like_one_of_the_question_is_none():
    """Nor is one that only begins like it: of "car" neither "scar" nor "cargo" is a form."""
    texts = [f"A scar. {FILLER} A car. {FILLER} Cargo.", f"A car. {FILLER} A wheel.", "A wheel."]
    assert passage_shares(texts, "car wheels", ENGLISH.terms)[0] == 1.0
    assert passage_shares(texts, "car wheels", ENGLISH.terms)[1] < 1.0


def test_a_question_without_words_and_scripts_without_spaces_change_nothing():
    assert passage_shares([APART], "of the", ENGLISH.terms) == [1.0]
    assert passage_shares([], "zebra", ENGLISH.terms) == []
    assert passage_shares(["斑马有条纹。" * LENGTH], "斑马条纹", VERBATIM.terms) == [1.0]


def test_of_a_very_long_text_the_beginning_is_looked_into():
    beyond = "so " * (LONGEST // 3 + 1)
    first, short = passage_shares([f"The zebra. {beyond} Its stripes.", "stripes"], "zebra stripes", ENGLISH.terms)
    assert (first, short) == (1.0, 1.0)


async def test_of_two_long_memories_the_one_that_says_it_in_one_place_comes_first(scoped):
    """Both have the same words as often, so that BM25 ranks them by id."""
    await tell(scoped, [Memory(id="a", text=APART), Memory(id="b", text=NEAR)])
    assert ids(await asking(scoped).recall("zebra stripes")) == ["b", "a"]
    whole = RecallScoring(passage=0.0)
    assert ids(await asking(scoped, recall_scoring=whole).recall("zebra stripes")) == ["a", "b"]


async def test_what_is_hidden_makes_no_word_of_a_passage_rare_or_common(scoped):
    seen = [Memory(id="a", text=APART), Memory(id="b", text=NEAR)]
    await tell(scoped, seen)
    before = (await asking(scoped).recall("zebra stripes", gate=no_secrets(by_signature=True))).memories
    hidden = [Memory(id=f"h{place}", text="zebra stripes", labels=("secret",)) for place in range(3)]
    await tell(scoped, hidden)
    after = (await asking(scoped).recall("zebra stripes", gate=no_secrets(by_signature=True))).memories
    lexical = [[each.channels["lexical"].score for each in found] for found in (before, after)]
    shares = [second / first for first, second in lexical]
    assert [each.memory.id for each in after] == [each.memory.id for each in before]
    assert shares[0] == pytest.approx(shares[1])
