"""Long memories count for what one passage of them holds; turns take from those around them and from their session."""

import pytest

from graphsearch.model import Memory
from graphsearch.ranking.recall_result import RecallScoring
from graphsearch.ranking.recaller import LENGTH, LONGEST, best_passage, passage_shares
from graphsearch.text.analyser import ENGLISH, VERBATIM
from tests.gates import no_secrets
from tests.ranking.memories.telling import asking, ids, relevance, tell

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


QUIET = RecallScoring(session=0.0, speaker=0.0)


def session(name, *texts, speakers=(), labels=None):
    """A session of turns, whose ids are its name and their place."""
    return [
        Memory(
            id=f"{name}{place}",
            text=text,
            session_id=name,
            position=place,
            speaker=speakers[place % len(speakers)] if speakers else "",
            labels=(labels or {}).get(place, ()),
        )
        for place, text in enumerate(texts)
    ]


async def test_turns_around_take_a_share(scoped):
    await tell(scoped, session("s", "Hi!", "Yes.", "I saw a zebra.", "Wow.", "Really!", "Bye."))
    found = await asking(scoped, recall_scoring=QUIET).recall("zebra")
    assert relevance(found) == pytest.approx({"s2": 1.0, "s1": 0.4, "s3": 0.4, "s0": 0.2, "s4": 0.2}, abs=1e-5)
    assert ids(found) == ["s2", "s1", "s3", "s0", "s4"]
    neighbour = found.memories[1].channels["conversation"]
    assert (neighbour.rank, neighbour.weight) == (0, 1.0)
    assert neighbour.contribution == pytest.approx(0.28, abs=1e-5)


async def test_what_follows_a_question_is_its_answer(scoped):
    await tell(scoped, session("s", "Where is the zebra? ", "In Berlin.", "Nice."))
    found = await asking(scoped, recall_scoring=QUIET).recall("zebra")
    assert relevance(found) == pytest.approx({"s0": 1.0, "s1": 1.0, "s2": 0.2}, abs=1e-5)


async def test_nothing_crosses_sessions(scoped):
    await tell(scoped, [*session("s", "A zebra.", "Wow."), *session("t", "Yes.", "No."), Memory(id="alone")])
    found = await asking(scoped, recall_scoring=QUIET).recall("zebra")
    assert sorted(ids(found)) == ["s0", "s1"]


async def test_the_session_that_holds_more_of_the_question_counts(scoped):
    """Coverage is Σ ln(1 + (n − m + 0.5) / (m + 0.5)) over the question's terms held, n turns found, the best 1."""
    turns = [*session("s", "A zebra.", "Its stripes."), *session("t", "A zebra.", "Well.")]
    await tell(scoped, turns)
    scoring = RecallScoring(neighbour=0.0, second_neighbour=0.0, session=0.3, speaker=0.0)
    found = await asking(scoped, recall_scoring=scoring).recall("zebra stripes")
    # By words: "zebra" is in two of four turns, ln 2, "stripes" in one, ln(1 + 3.5 / 1.5) = 1.203973, of equal length:
    # s1 has 1, s0 and t0 0.575716, t1 0. Of the three found, "zebra" is in two, ln 1.6 = 0.470004, "stripes" in one,
    # ln(1 + 2.5 / 1.5) = 0.980829: t holds 0.323955 of what s does. With 0.3 of that the best is s1's 1.3.
    assert relevance(found) == pytest.approx({"s0": 0.673628, "s1": 1.0, "t0": 0.517618, "t1": 0.074759}, abs=1e-5)


async def test_the_one_speaker_that_is_named(scoped):
    talk = session("s", "A zebra.", "A zebra.", speakers=("Ada", "Bob"))
    await tell(scoped, talk)
    engine = asking(scoped, recall_scoring=RecallScoring(neighbour=0.0, second_neighbour=0.0, session=0.0))
    asked = relevance(await engine.recall("What did Bob say of a zebra?", channels=("lexical",)))
    silent = asking(scoped, recall_scoring=RecallScoring(neighbour=0, second_neighbour=0, session=0, speaker=0))
    without = relevance(await silent.recall("What did Bob say of a zebra?", channels=("lexical",)))
    assert asked["s0"] == pytest.approx(without["s0"] / 1.1, abs=1e-5)
    both = relevance(await engine.recall("Ada and Bob and a zebra?", channels=("lexical",)))
    assert both["s0"] == pytest.approx(both["s1"], abs=1e-5)


async def test_turns_past_hidden_ones(scoped):
    """As if they had never been."""
    texts = ["A zebra.", "Hush.", "Hush.", "Hush.", "Wow.", "Bye."]
    secret = dict.fromkeys((1, 2, 3), ("secret",))
    await tell(scoped, session("s", *texts, labels=secret))
    for by_signature in (True, False):
        found = await asking(scoped, recall_scoring=QUIET).recall("zebra", gate=no_secrets(by_signature=by_signature))
        assert relevance(found) == pytest.approx({"s0": 1.0, "s4": 0.4, "s5": 0.2}, abs=1e-5)


async def test_a_long_hidden_stretch_ends_the_talk(scoped):
    secret = dict.fromkeys(range(1, 18), ("secret",))
    await tell(scoped, session("s", "A zebra.", *["Hush."] * 17, "Wow.", labels=secret))
    found = await asking(scoped, recall_scoring=QUIET).recall("zebra", gate=no_secrets(by_signature=True))
    assert ids(found) == ["s0"]
