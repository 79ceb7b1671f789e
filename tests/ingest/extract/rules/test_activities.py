"""People by the words beside them, whom they meet, and what they work on."""

from __future__ import annotations

import pytest

from tests.ingest.extract.rules.reading import hear, names, read, stated, triples


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Maren said it is done.", "Maren"),
        ("I met Ilse on Tuesday.", "Ilse"),
        ("Priya leads the night audit.", "Priya"),
        ("We had lunch with Ilse.", "Ilse"),
        ("Chef Hanne Brandt agreed.", "Hanne Brandt"),
        ("Nurse Okafor agreed.", "Okafor"),
        ("Pavel owns the smokehouse and he built it.", "Pavel"),
        ("Thanks to Maren. Maren told us.", "Maren"),
    ],
)
def test_persons(text: str, name: str) -> None:
    assert names(text)[name] == "person"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Google said so.", "Google"),
        ("Acme Inc said so.", "Acme Inc"),
        ("NATO wants it.", "NATO"),
        ("TicketLoom knows the seat.", "TicketLoom"),
        ("We talked to the Harbour Council about it.", "Harbour Council"),
    ],
)
def test_what_is_no_person(text: str, name: str) -> None:
    assert names(text).get(name) != "person"


def test_a_person_of_a_session_is_one_in_all_its_memories() -> None:
    first, second, third = hear("Ana: Dr. Maren Lind is here.", "Bo: We like Maren.", "Cy: And we like Leeds.")
    assert [(each.name, each.type) for each in (*first.surfaces, *second.surfaces)][1::2] == [
        ("Dr. Maren Lind", "person"),
        ("Maren", "person"),
    ]
    assert ("Leeds", "") in [(each.name, each.type) for each in third.surfaces]


def test_a_first_name_that_two_have_stays_ambiguous() -> None:
    heard = hear("Ana: Dr. Nora Quill and Dr. Nora Stannard are here.", "Bo: We like Nora.")
    assert ("Nora", "") in [(each.name, each.type) for each in heard[1].surfaces]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I met Ilse yesterday.", [("Ada", "met_with", "Ilse")]),
        ("Bo had lunch with Ilse.", [("Bo", "met_with", "Ilse")]),
        (
            "Bo and I met with the Halcyon Trust.",
            [("Bo", "met_with", "Halcyon Trust"), ("Ada", "met_with", "Halcyon Trust")],
        ),
        ("I'm working on Lantern with Bo.", [("Ada", "works_on", "Lantern")]),
        ("Bo works on the ballast refit.", [("Bo", "works_on", "ballast refit")]),
        ("Bo left Acme Inc to join Globex Ltd.", [("Bo", "works_at", "Acme Inc")]),
        (
            "Bo, a welder at Globex Ltd, lives in Govan.",
            [("Bo", "works_at", "Globex Ltd"), ("Bo", "lives_in", "Govan")],
        ),
        ("Bo is the founder of Brightcare, a startup based in Leeds.", [("Bo", "created", "Brightcare")]),
        ("Bo succeeded Cyd as CEO of Kitewing.", [("Bo", "leads", "Kitewing"), ("Cyd", "leads", "Kitewing")]),
        (
            "Bo stepped down as CEO of Kitewing in 2024 and Cyd took over.",
            [("Bo", "leads", "Kitewing")],
        ),
        (
            "Project Heron was started by Bo and handed over to Cyd.",
            [("Bo", "created", "Project Heron")],
        ),
        ("Bo moved from Acme Inc to Globex Ltd.", [("Bo", "works_at", "Globex Ltd")]),
        ("We've moved to Galway.", [("Ada", "lives_in", "Galway")]),
        ("Bo met Ilse's needs.", []),
        ("Did Bo meet Ilse?", []),
        ("Bo works on Tuesdays.", []),
        ("We lead Lantern.", []),
    ],
)
def test_meetings_and_work(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert sorted(triples(text, speaker="Ada")) == sorted(expected)


def test_a_meeting_has_the_date_of_its_sentence() -> None:
    (met,) = read("I met Ilse on 8 May 2024.", speaker="Ada").statements
    assert met.valid_from is not None
    assert met.valid_from.date().isoformat() == "2024-05-08"


def test_an_undertaking_is_one_name_in_all_memories() -> None:
    assert stated("Ana: I lead the sepsis study.", "Bo: The sepsis study is funded by the Halcyon Trust.") == [
        ("Ana", "leads", "sepsis study"),
        ("Halcyon Trust", "sponsors", "sepsis study"),
    ]
    assert stated("Ana: I work on the new project.", "Ana: I lead the Apollo project.") == [("Ana", "leads", "Apollo")]
