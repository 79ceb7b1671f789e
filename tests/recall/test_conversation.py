"""Turns take from those around them, from their session, and from who speaks; what is hidden is no turn."""

from math import log1p

import pytest

from graphsearch.model import Memory
from graphsearch.recall.options import RecallScoring
from tests.gates import no_secrets
from tests.recall.telling import asking, ids, relevance, tell

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
    beside = found.memories[1].channels["conversation"]
    assert (beside.rank, beside.weight) == (0, 1.0)
    assert beside.contribution == pytest.approx(0.28, abs=1e-5)


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
    # Three turns found; "zebra" is in two of them, "stripes" in one.
    zebra, stripes = (log1p((3 - m + 0.5) / (m + 0.5)) for m in (2, 1))
    plain = relevance(
        await asking(scoped, recall_scoring=RecallScoring(neighbour=0, second_neighbour=0, session=0)).recall(
            "zebra stripes"
        )
    )
    raw = {
        id_: plain.get(id_, 0.0) + 0.3 * (1.0 if id_[0] == "s" else zebra / (zebra + stripes))
        for id_ in ("s0", "s1", "t0", "t1")
    }
    best = max(raw.values())
    assert relevance(found) == pytest.approx({id_: each / best for id_, each in raw.items()}, abs=1e-5)


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
