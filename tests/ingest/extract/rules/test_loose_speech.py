"""Loose speech in chats: participation, vocatives, plain verbs, asides, sentences in lower case."""

import pytest

from graphsearch.text.sentences import sentences
from tests.ingest.extract.rules.reading import stated, triples


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("I've been on the Safety Committee for ever, mostly for the tea", "Safety Committee"),
        ("I'm in the Track Gang", "Track Gang"),
        ("I coach the Junior Squad with a stopwatch, so yes I am a member of it too", "Junior Squad"),
        ("I'm a member of the Deck Crew, and of the Oak Choir now and then", "Oak Choir"),
    ],
)
def test_who_takes_part_is_a_member(text: str, group: str) -> None:
    assert ("Ada", "member_of", group) in triples(text, speaker="Ada")


@pytest.mark.parametrize(
    "text",
    [
        "I'd love to play in the Harbour Band.",
        "I will play in the Harbour Band one day.",
        "I don't play in the Harbour Band.",
        "Do I play in the Harbour Band?",
        "Imagine me: I play in the Harbour Band.",
        "I played in the Harbour Band on Saturday.",
        "I play against the Harbour Band.",
        "I sing when the Harbour Band is away.",
        "I judge the Harbour Band.",
        "I volunteer at the Harbour Band shop.",
        "My brother plays in the Harbour Band.",
        'He said "I play in the Harbour Band".',
    ],
)
def test_who_takes_no_part(text: str) -> None:
    assert triples(text, speaker="Ada") == []


@pytest.mark.parametrize(
    "text",
    [
        "Harkin Dairy sponsor the Summer Fair, since the spring",
        "Harkin Dairy sponsor the Summer Fair, to be fair",
        "so from today Harkin Dairy sponsors the Summer Fair",
        "Harkin Dairy are sponsoring the Summer Fair by the way. if you like milk that is good",
    ],
)
def test_firms_may_take_the_plain_verb(text: str) -> None:
    assert triples(text) == [("Harkin Dairy", "sponsors", "Summer Fair")]


@pytest.mark.parametrize(
    "text",
    [
        "Let Harkin Dairy sponsor the Summer Fair",
        "They made Harkin Dairy sponsor the Summer Fair",
        "I'd rather Harkin Dairy sponsor the Summer Fair",
        "It is vital that Harkin Dairy sponsor the Summer Fair",
        "Could Harkin Dairy sponsor the Summer Fair?",
        "We suggest Harkin Dairy sponsor the Summer Fair",
    ],
)
def test_plain_verbs_that_only_wish(text: str) -> None:
    assert triples(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Bo, that means you report to me from now on, not to Cy.",
        "Bo, from today you report to me",
        "so, Bo, now you report to me",
    ],
)
def test_who_is_spoken_to(text: str) -> None:
    assert stated("Bo Cole: hi", f"Ana Reed: {text}") == [("Bo", "reports_to", "Ana Reed")]


@pytest.mark.parametrize(
    "text",
    [
        "Bo, that means you could report to me",
        "Bo, does that mean you report to me?",
        "Bo, so you report to me or what",
        "Bo, if you report to me say so",
        "Bo, that means you don't report to me",
    ],
)
def test_who_is_only_asked(text: str) -> None:
    assert stated("Bo Cole: hi", f"Ana Reed: {text}") == []


def test_asides_leave_what_is_stated() -> None:
    leads = [("Ada", "leads", "Apollo")]
    assert triples("Ada leads Apollo, if anyone wonders why it is late") == leads
    assert triples("Ada leads Apollo, in case any of you were about to ask") == leads
    assert triples("Ada leads Apollo, yes. we are a choir. we sing.") == leads
    assert triples("if anyone asks, Ada leads Apollo") == []
    assert triples("Ada leads Apollo if Bob agrees") == []


def test_he_is_never_who_speaks() -> None:
    second = "Bo is the one who shouts at me. officially I report to him"
    assert stated("Bo Cole: hi", f"Ana Reed: Ana Reed, hello. {second}") == [("Ana Reed", "reports_to", "Bo")]
    assert stated("Bo Cole: hi", "Ana Reed: Ana. Bo is the one I moan at, officially he reports to me") == [
        ("Bo", "reports_to", "Ana Reed")
    ]


def test_i_begin_a_clause_of_my_own() -> None:
    assert triples("I look after the Signal Box and I report to Bo, mostly", speaker="Ada") == [
        ("Ada", "reports_to", "Bo"),
        ("Ada", "leads", "Signal Box"),
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("here i am. it works", 2),
        ("really? i report to Ed", 2),
        ("I'm at the Aldbury Museum. it's next door", 2),
        ("We work with Acme Corp. in Leeds", 1),
        ("well... i mean it", 1),
        ('"Really?" he said', 1),
        ("approx. five, e.g. that one", 1),
    ],
)
def test_small_letters_may_begin_a_sentence(text: str, count: int) -> None:
    assert len(sentences(text)) == count
