"""How relevant what is recalled is: a number that tells a question about something else from one of ours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.explaining.explanation import KeptOut
from graphsearch.model import Memory
from graphsearch.recall.leads import Asked, relevance
from tests.recall.telling import asking, ids, mention, names, tell

GARDEN = Memory(id="garden", text="Roses and lilies grow in the garden.")
SUPPER = Memory(id="supper", text="Supper was by candle.")
GATE = Memory(id="gate", text="The garden gate creaks.")

words = st.sets(st.sampled_from("abcdefgh"))
cosines = st.lists(st.floats(-1, 1), max_size=4).map(np.array)


def asked_of(terms, *, unheard=()) -> Asked:
    """A question of equally rare terms."""
    return Asked(rarity=dict.fromkeys(terms, 2.0), unheard=frozenset(unheard))


def test_half_of_a_question_in_one_text_and_a_cosine_of_a_half_come_to_three_quarters():
    assert relevance(asked_of("ab"), [{"a"}, {"b"}], np.array([0.5, -1.0])) == pytest.approx(0.75)
    assert relevance(asked_of("ab"), [{"a"}, {"b"}], np.empty(0)) == pytest.approx(0.5)
    assert relevance(asked_of("ab"), [{"a", "b"}], np.empty(0)) == 1.0
    assert relevance(asked_of(""), [], np.empty(0)) == 0.0


def test_a_rare_term_covers_more_of_a_question_than_a_common_one():
    asked = Asked(rarity={"common": 1.0, "rare": 3.0}, unheard=frozenset())
    assert relevance(asked, [{"common"}], np.empty(0)) == pytest.approx(0.25)
    assert relevance(asked, [{"common"}, {"rare"}], np.empty(0)) == pytest.approx(0.75)


def test_a_near_meaning_is_doubted_by_words_that_no_memory_has():
    asked = asked_of("ab", unheard="b")
    assert relevance(asked, [{"c"}], np.array([0.5])) == pytest.approx(0.35)  # 0.5 − 0.15
    assert relevance(asked, [{"a"}], np.array([0.5])) == pytest.approx(0.675)  # 1 − 0.5 · 0.65
    assert relevance(asked, [{"a"}], np.empty(0)) == pytest.approx(0.5)
    assert relevance(asked_of("ab", unheard="ab"), [{"c"}], np.array([0.2])) == 0.0


@given(words, st.lists(words, max_size=5), cosines)
def test_relevance_is_a_share_and_grows_with_what_is_found(question, texts, found):
    asked = asked_of(question)
    value = relevance(asked, texts, found)
    assert 0.0 <= value <= 1.0
    assert relevance(asked, texts, np.append(found, 0.9)) >= max(value, 0.9) - 1e-9
    assert relevance(asked, [*texts, question], found) == pytest.approx(1.0 if question else value)


@pytest.mark.parametrize("embedded", [False, True])
async def test_a_question_about_something_else_recalls_nothing_and_says_so(scoped, embedded):
    await tell(scoped, [GARDEN, SUPPER, GATE], embedded=embedded)
    engine = asking(scoped, embedded=embedded)
    ours = await engine.recall("Which roses grow in the garden?", min_relevance=0.5)
    assert ids(ours)[0] == "garden"
    assert ours.relevance >= 0.5
    assert ours.as_dict()["relevance"] == ours.relevance
    asked = "Which zebra won the derby in the garden of Epsom?"
    assert ids(await engine.recall(asked, min_relevance=0.0)) != []
    other = await engine.recall(asked, min_relevance=0.5)
    assert other.memories == ()
    assert other.relevance == (await engine.recall(asked, limit=1)).relevance < 0.5
    assert other.floor == other.as_dict()["floor"] == 0.5
    assert other.reason == f"nothing relevant: what is found comes to {other.relevance:.2f}, less than 0.5"
    assert (await engine.recall("")).relevance == 0.0


async def test_a_floor_of_relevance_is_a_share(scoped):
    await tell(scoped, [GARDEN])
    with pytest.raises(InvalidInputError, match="min_relevance"):
        await asking(scoped).recall("roses", min_relevance=1.5)


async def test_the_floor_is_what_explains_a_memory_that_was_left_out(scoped):
    await tell(scoped, [GARDEN, SUPPER, GATE])
    asked = "Which zebra won the derby in the garden of Epsom?"
    told = await asking(scoped).explain(asked, "garden", min_relevance=0.5)
    assert told.kept_out is KeptOut.MIN_RELEVANCE
    assert told.rank is not None
    assert told.reason.startswith("nothing relevant")


# -- memories without a text --------------------------------------------------------------------------------------


async def test_a_memory_without_a_text_takes_no_place_and_still_leads_on(scoped):
    people = names("Ada", "Bob")
    file = Memory(id="file", subject="Ada.py", text=" ")
    note = Memory(id="note", text="It was a long day.")
    await tell(
        scoped,
        [file, note],
        entities=[*people.values()],
        mentions=[mention(file, people["Ada"], at=None), mention(file, people["Bob"]), mention(note, people["Bob"])],
    )
    result = await asking(scoped).recall("What of Ada?", limit=1)
    assert ids(result) == ["note"]
    assert [step.id for step in result.memories[0].path if step.kind == "memory"] == ["file", "note"]
    assert result.memories[0].score == pytest.approx(0.85)
    told = await asking(scoped).explain("What of Ada?", "file")
    assert told.kept_out is KeptOut.NOT_TOLD
    assert told.rank is None


async def test_texts_are_found_past_many_that_have_none(scoped):
    files = [Memory(id=f"file{number:03}", subject="garden") for number in range(150)]
    await tell(scoped, [*files, Memory(id="note", text="One day in the old garden behind a house they met again.")])
    assert ids(await asking(scoped).recall("garden", limit=5)) == ["note"]


async def test_where_nothing_has_a_text_the_answer_says_so(scoped):
    await tell(scoped, [Memory(id=f"file{number}", subject="garden") for number in range(3)])
    result = await asking(scoped).recall("garden")
    assert result.memories == ()
    assert result.reason == "none of 3 memories found has a text to show"
