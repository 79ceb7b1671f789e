"""What a text does not state, though its words are those of a statement; and what names nothing."""

from __future__ import annotations

import pytest

from tests.ingest.extract.rules.reading import names, read, stated, triples


@pytest.mark.parametrize(
    "text",
    [
        # likened, imagined, wished, asked
        "It was like living in a postcard! In Rome, I ate pizza.",
        "It feels like Bo lives in Leeds.",
        "I'd love to live in Leeds.",
        "If Bo works at Acme, I'm the queen of England.",
        # denied
        "It is a lie that Bo lives in Leeds.",
        "Bo lives in Leeds, but that is false.",
        "I never said that Bo works at Acme.",
        "Bo denies that Cy works at Acme.",
        # quoted
        '"Bo lives in Leeds" is what the book begins with.',
        'Cy said, "I work at Acme and I hate it."',
        "My favourite song is \u201cLiving in America\u201d by Cy.",
        "> Bo lives in Leeds.",
        # a place visited, a thing used, an event
        "Bo stayed in Leeds for a week.",
        "I left Boston at six.",
        "Bo left Cy.",
        "I ran the London Marathon in 2019.",
        "The meeting moved to Zoom.",
        # the name modifies a noun, or is whom something is for
        "I built IKEA shelves all weekend.",
        "I wrote Emma a letter.",
        "I'm using Emma's bike this week.",
        "Bo was raised in Catholic schools.",
        # what is done to the subject
        "Bo was created Baron Stuart.",
        # a meeting that is yet to come
        "I'm meeting Bo at Blue Bottle.",
        "I work for Tips.",
    ],
)
def test_it_states_nothing(text: str) -> None:
    assert triples(text, speaker="Ana") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bo lives in Leeds these days.", ("Bo", "lives_in", "Leeds")),
        ("I was wrong about Eve Fink: she lives in York.", ("Eve Fink", "lives_in", "York")),
        ("Bo joined Stripe as a designer.", ("Bo", "works_at", "Stripe")),
        ("Bo left Ostrava Lines.", ("Bo", "works_at", "Ostrava Lines")),
        ("Cy is Bo's manager at Acme.", ("Bo", "reports_to", "Cy")),
    ],
)
def test_it_states_this_alone(text: str, found: tuple[str, str, str]) -> None:
    assert triples(text, speaker="Ana") == [found]


def test_what_is_denied_in_the_next_sentence_is_not_stated() -> None:
    assert stated("Ana: I heard Bo lives in Leeds. That's not true.") == []


@pytest.mark.parametrize(
    "text",
    [
        "## Open Questions\n\nKnown Issues",
        "First, Open Settings. Then Click Save.",
        "Great Idea! Sounds Good. Thats Perfect. Im in.",
        "- [ ] Check Logs\n- [x] Done",
        "ERROR 2026-01-01 12:00:00 Worker Died",
        "2026-01-01 12:00:00,123 INFO Worker Started",
        'Traceback (most recent call last):\n  File "app.py", line 3, in main\nValueError: Bad Input',
        '{"Status": "OK", "Message": "All Good"}',
        "> Quoted Line Here",
        "See you in Q3. NOOO! WORK RENEWED today.",
        "Write to ana.reed@acme.com or my manager.",
    ],
)
def test_it_names_nothing(text: str) -> None:
    assert [name for name, type_ in names(text).items() if type_ != "date"] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mark Harlow works at Acme.", "Mark Harlow"),
        ("Will Quist moved to Leeds.", "Will Quist"),
        ("June Harlow's brother lives in Oslo.", "June Harlow"),
        ("Dana Levy met Minh An at Harkin Clinic.", "Minh An"),
        ("Abd al-Rahman works at Acme.", "Abd al-Rahman"),
        ("I met van der Berg yesterday.", "van der Berg"),
        ("Minister af Ugglas called.", "af Ugglas"),
        ("Robert Downey, Jr., lives in Malibu.", "Robert Downey, Jr"),
        ("2023 Tax Return belongs to Dana Levy.", "2023 Tax Return"),
        ("We missed the 2023 Budget.", "2023 Budget"),
        ("We file the Tax Return 2023 in May.", "Tax Return 2023"),
        ("Omar lost Invoice 42-B.", "Invoice 42-B"),
    ],
)
def test_a_name_is_whole(text: str, name: str) -> None:
    assert name in names(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mark Friday in your calendar.", "Mark Friday"),
        ("Will Ana come to Leeds?", "Will Ana"),
        ("In 2023 Acme Corp bought it.", "2023 Acme Corp"),
        ("Harkin Rovers won at Dunmore 3-1.", "Dunmore 3-1"),
    ],
)
def test_a_name_has_no_more(text: str, name: str) -> None:
    assert name not in names(text)


def test_a_person_is_known_by_a_given_name_before_another() -> None:
    assert {each.name: each.type for each in read("Nina Fox likes tea.").surfaces} == {"Nina Fox": "person"}
