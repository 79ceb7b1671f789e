"""Pronouns with only one possible antecedent."""

from __future__ import annotations

import pytest

from tests.ingest.extract.rules.reading import triples


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Dr. Priya Sharma starts today. She reports to Bo.", ("Dr. Priya Sharma", "reports_to", "Bo")),
        ("Dr. Priya Sharma starts today. Her boss is Bo.", ("Dr. Priya Sharma", "reports_to", "Bo")),
        ("Dr. Priya Sharma starts today. Good. She reports to me.", ("Dr. Priya Sharma", "reports_to", "Ana")),
        ("Callboard is live. It depends on TicketLoom.", ("Callboard", "depends_on", "TicketLoom")),
        ("Callboard is live. Bo built it.", ("Bo", "created", "Callboard")),
        ("The Safety Committee met, and Bo is its newest member.", ("Bo", "member_of", "Safety Committee")),
        ("I know Galway well. Bo moved there.", ("Bo", "lives_in", "Galway")),
        ("It is Acme Ltd in the end. Bo works there now.", ("Bo", "works_at", "Acme Ltd")),
        ("Bo Fink, you report to Cy now.", ("Bo Fink", "reports_to", "Cy")),
        ("You report to Cy now, Bo.", ("Bo", "reports_to", "Cy")),
        ("Moved to Galway in May.", ("Ana", "lives_in", "Galway")),
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
