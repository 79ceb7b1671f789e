"""Further wordings of relations, and similar wordings that assert nothing."""

import pytest

from tests.ingest.extract.rules.reading import triples

ADA, BEA = "Ada Quist", "Bea Lorne"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Ada Quist comes under Bea Lorne.", (ADA, "reports_to", BEA)),
        ("Ada Quist has taken over the Harbour Project.", (ADA, "leads", "Harbour Project")),
        ("Ada Quist is steering the Harbour Project.", (ADA, "leads", "Harbour Project")),
        ("Delta Bank employs Ada Quist.", (ADA, "works_at", "Delta Bank")),
        ("Ada Quist has a part-time job at Delta Bank.", (ADA, "works_at", "Delta Bank")),
        ("Ada Quist's home is in Oakham.", (ADA, "lives_in", "Oakham")),
        ("Ada Quist teams up with Bea Lorne.", (ADA, "works_with", BEA)),
        ("Ada Quist swears by Plotly.", (ADA, "uses", "Plotly")),
    ],
)
def test_it_is_read(text: str, stated: tuple[str, str, str]) -> None:
    assert stated in triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ada Quist came under fire from Bea Lorne.",
        "Does Delta Bank employ Ada Quist?",
        "Delta Bank never employed Ada Quist.",
        "If Ada Quist had a job at Delta Bank, we would know.",
        "Ada Quist wants a job at Delta Bank.",
        "Ada Quist's home is in Bea Lorne's street.",
        "Ada Quist swears at Plotly.",
        "Ada Quist might be steering the Harbour Project.",
        "The Harbour Project was Ada Quist's idea.",  # to do it, or to use it: who made it is not stated
    ],
)
def test_what_looks_like_it_states_nothing(text: str) -> None:
    assert not {type_ for _, type_, _ in triples(text)} - {"co_occurs"}
