"""Pronouns with only one possible antecedent, and elliptical answers about the speaker: homes and work."""

from __future__ import annotations

import pytest

from graphsearch.ingest.extract.rules.conversation import TOPIC_REACH
from tests.ingest.extract.rules.reading import stated, triples


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Dr. Priya Sharma starts today. She reports to Bo.", ("Dr. Priya Sharma", "reports_to", "Bo")),
        ("Dr. Priya Sharma starts today. Her boss is Bo.", ("Dr. Priya Sharma", "reports_to", "Bo")),
        ("Dr. Priya Sharma starts today. Good. She reports to me.", ("Dr. Priya Sharma", "reports_to", "Ana")),
        ("Callboard is live. It needs TicketLoom.", ("Callboard", "depends_on", "TicketLoom")),
        ("Callboard is live. Bo made it.", ("Bo", "created", "Callboard")),
        ("The Safety Committee met, and Bo is its newest member.", ("Bo", "member_of", "Safety Committee")),
        ("I know Galway well. Bo moved there.", ("Bo", "lives_in", "Galway")),
        ("It is Acme Ltd in the end. Bo works there now.", ("Bo", "works_at", "Acme Ltd")),
        ("Bo Fink, you report to Cy now.", ("Bo Fink", "reports_to", "Cy")),
        ("You report to Cy now, Bo.", ("Bo", "reports_to", "Cy")),
        ("Moved to Galway in May.", ("Ana", "lives_in", "Galway")),
        ("Home is Galway these days.", ("Ana", "lives_in", "Galway")),
        ("Apollo is led by Dr. Bo Fink and Harkin Brewery is sponsoring it.", ("Harkin Brewery", "sponsors", "Apollo")),
    ],
)
def test_a_pronoun_stands_for_the_one_that_can_be_meant(text: str, stated: tuple[str, str, str]) -> None:
    assert stated in triples(text, speaker="Ana")


@pytest.mark.parametrize(
    "text",
    [
        "She reports to Bo.",
        "Mr. Lee met Dr. Priya Sharma. She reports to Bo.",
        "Dr. Priya Sharma starts today. He told her that she reports to Bo.",
        "Callboard and Prop Ledger are live. It needs TicketLoom.",
        "Dr. Priya Sharma likes Vim. Her cat reports to Bo.",
        "Dr. Priya Sharma starts today. One. Two. Three. She reports to Bo.",
    ],
)
def test_where_several_can_be_meant_none_is(text: str) -> None:
    assert [each for each in triples(text, speaker="Ana") if each[1] != "met_with"] == []


HOME = ("Ana Reed: where does everyone live?", "Bo Cole: I live in Tarn Ferry, near Harrow", "Cy Dunn: ok")
WORK = ("Ana Reed: where does everyone work?", "Bo Cole: no idea", "Cy Dunn: ok")


@pytest.mark.parametrize(
    "text",
    [
        "I'm in Harrow",
        "I'm over in Harrow, by the mill",
        "not me, I'm up in Harrow",
        "I'm in Harrow as well Bo, over the bakery",
        "I'm all the way out in Harrow I'm afraid",
        "Up in Harrow, the cold end",
        "Harrow here, wrong direction sorry",
        "Harrow too!",
        "Not far from here. I'm in Harrow actually",
    ],
)
def test_homes(text: str) -> None:
    assert ("Cy Dunn", "lives_in", "Harrow") in stated(*HOME, f"Cy Dunn: {text}")


def test_who_asks_may_answer_at_once() -> None:
    assert stated("Cy Dunn: does anyone live near me? I'm in Harrow and the bus is a joke") == [
        ("Cy Dunn", "lives_in", "Harrow")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I'm in Harrow this week",
        "I'm in Harrow till Friday",
        "I'm in Harrow for work",
        "I'm not in Harrow",
        "If I'm in Harrow I'll say",
        "I was in Harrow once",
        "I wish I was in Harrow",
        "Am I in Harrow?",
        "My sister is in Harrow",
        "I'm in the Harrow Choir bus",
        "Ana here, sorry",
        "Boz here!",
        "In Harrow, nobody is ever late",
        "In Harrow they have no bread",
        "Harrow here would be cold",
        "Retired.",
    ],
)
def test_what_tells_no_home(text: str) -> None:
    assert not [each for each in stated(*HOME, f"Cy Dunn: {text}") if each[0] == "Cy Dunn"]


def test_nobody_answers_what_nobody_asked() -> None:
    assert stated("Ana Reed: hello", "Cy Dunn: I'm in Harrow", "Bo Cole: I'm at Harkin Dairy") == []
    chatter = [f"Ana Reed: and so on {number}" for number in range(TOPIC_REACH + 1)]
    assert ("Cy Dunn", "lives_in", "Harrow") not in stated(*HOME, *chatter, "Cy Dunn: I'm in Harrow")


@pytest.mark.parametrize(
    "text",
    [
        "I'm at Harkin Bakery",
        "I'm at Harkin Bakery myself but they watch us",
        "nurse at Harkin Bakery, so I work nights",
        "I'm a physio at Harkin Bakery, so no",
        "Still at Harkin Bakery, they might",
        "Porter at Harkin Bakery, nights mostly",
        "I'm only a solicitor at Harkin Bakery",
        "I'm with Harkin Bakery, the desk at the back",
        "Cy from Harkin Bakery here, I can get you bread",
    ],
)
def test_work(text: str) -> None:
    assert stated(*WORK, f"Cy Dunn: {text}") == [("Cy Dunn", "works_at", "Harkin Bakery")]


@pytest.mark.parametrize(
    "text",
    [
        "I'm at Harkin Bakery till six",
        "I'm at Harkin Bakery now, where are you",
        "I'm a customer at Harkin Bakery, not staff",
        "I'm a visitor at Harkin Bakery",
        "I'm a patient at Harkin Bakery",
        "Stuck at Harkin Bakery",
        "At Harkin Bakery, they have no bread",
        "dinner at Harkin Bakery, anyone",
        "see you at Harkin Bakery, all",
        "Nobody from Harkin Bakery here",
        "Is anyone from Harkin Bakery here?",
        "I'm with Ada",
        "I'm a cleaner at Crane and Abbot",
    ],
)
def test_what_tells_no_work(text: str) -> None:
    assert stated(*WORK, f"Cy Dunn: {text}") == []
