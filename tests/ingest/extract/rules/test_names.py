"""Names in texts and their types, precision first: also those with connecting words."""

from __future__ import annotations

import pytest

from tests.ingest.extract.rules.reading import hear, names, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We asked Dr. Priya Sharma.", {"Dr. Priya Sharma": "person"}),
        ("We asked CTO Priya Sharma.", {"Priya Sharma": "person"}),
        (
            "We asked Maria van der Berg and Ludwig van Beethoven.",
            {"Maria van der Berg": "", "Ludwig van Beethoven": ""},
        ),
        ("We asked Bob O'Brien and Jean-Luc.", {"Bob O'Brien": "", "Jean-Luc": ""}),
        ("We asked J. R. R. Tolkien.", {"J. R. R. Tolkien": ""}),
        ("We asked Sarah's team.", {"Sarah": "person"}),
        (
            "The Bank of America and the University of Oxford agreed.",
            {"Bank of America": "organisation", "University of Oxford": "organisation"},
        ),
        ("They met at St. Mary's Hospital.", {"St. Mary's Hospital": "organisation"}),
        ("They work for Johnson & Johnson.", {"Johnson & Johnson": ""}),
        ("They like Acme Inc. and Foo GmbH.", {"Acme Inc": "organisation", "Foo GmbH": "organisation"}),
        ("They swam in Lake Como and the Vltava River.", {"Lake Como": "place", "Vltava River": "place"}),
        (
            "They flew from Munich Airport to the Edinburgh Festival.",
            {"Munich Airport": "facility", "Edinburgh Festival": "event"},
        ),
        (
            'They read "Charlotte\'s Web" and “The Origin of Species.”',
            {"Charlotte's Web": "", "The Origin of Species": ""},
        ),
        (
            "We asked the Platform team, Team Rocket and the infra team.",
            {"Platform team": "organisation", "Team Rocket": "organisation", "infra team": "organisation"},
        ),
        ("It is part of project Apollo and the Gemini initiative.", {"Apollo": "project", "Gemini": "project"}),
        ("We like the Redis database and a tool called Vim.", {"Redis": "tool", "Vim": "tool"}),
        ("We like Node.js, C++, iPhone and GPT-4.", {"Node.js": "tool", "C++": "", "iPhone": "", "GPT-4": ""}),
        (
            "It joined the company Globex in the city of Springfield.",
            {"Globex": "organisation", "Springfield": "place"},
        ),
        ("Ask @priya.s and @bob, not ada@acme.com or @types/node.", {"@priya.s": "person", "@bob": "person"}),
        (
            "See https://a.example/x_(y). And www.b.example, too.",
            {"https://a.example/x_(y)": "url", "www.b.example": "url"},
        ),
        (
            "Edit src/app/main.py, ~/notes.md and /etc/hosts or and/or.",
            {"src/app/main.py": "file", "~/notes.md": "file", "/etc/hosts": "file"},
        ),
        ("Edit C:\\temp\\a.txt or main.py now.", {"C:\\temp\\a.txt": "file", "main.py": "file"}),
        (
            "Call `run()` of `app.core` in `app/core.py`, never `rm -rf /`.",
            {"run()": "function", "app.core": "", "app/core.py": "file"},
        ),
        ("It was so on 2024-05-01, in March 2023 and yesterday.", {"2024-05-01": "date", "March 2023": "date"}),
        ("Иван Петров met Sarah and 李雷 there.", {"Иван Петров": "person", "Sarah": "person", "李雷": "person"}),
        ("Sarah works with محمد there.", {"Sarah": "", "محمد": ""}),
        ("Ada laughed. We like Ada.", {"Ada": "person"}),
        ("Ada and Bob agreed.", {"Ada": "", "Bob": ""}),
        ("Google said so.", {"Google": ""}),
        ("We visited the San Francisco-based studio.", {"San Francisco": ""}),
        ("We like the new SLEEP-2 study.", {"SLEEP-2": ""}),
        ("We asked General Motors’ rival, Ada’ll say.", {"General Motors": "organisation", "Ada": ""}),
        ("I met Ada Lovelace\nof Acme.", {"Ada Lovelace": "person", "Acme": ""}),
    ],
)
def test_names_and_types(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday was good. The end. Painting is fun. Running late!",
        "On Monday, in March, I said OK.",
        "May I go? Will do. Mark it.",
        "THIS IS ALL IN CAPITALS FOR NO REASON",
        "We Went To The Shop And Then We Came Home Again",
        "Wow, that's AWESOME! LOL. Thanks, Mom!",
        "Correction: none. Note: nothing.",
        "Dr. and Mrs. were asked by the CEO.",
        "我们昨天去了北京。",
        "مرحبا بالعالم",
        "A" * 200,
        "Aaa " * 500,
        "Supercalifragilistic" * 20 + " is.",
        "the whole team and our new team",
    ],
)
def test_what_is_no_name(text):
    assert names(text) == {}


def test_a_word_at_the_start_is_a_name_if_the_memory_confirms_it():
    assert names("Priya is here. We like Priya Sharma.") == {"Priya": "", "Priya Sharma": ""}
    assert names("Priya is here.", subject="Priya") == {"Priya": ""}
    assert names("Priya is here.", speaker="Priya") == {"Priya": "person"}
    assert names("Priya does not work at Acme.") == {"Priya": "", "Acme": ""}
    assert names("Priya is here.") == {}


def test_subject_and_speaker_are_names_in_addition_to_the_text():
    extracted = read("Nothing to see.", speaker="Ada", subject="  Weekly\nsync ")
    assert [(each.name, each.type, each.span, each.pattern) for each in extracted.surfaces] == [
        ("Weekly sync", "", None, "subject"),
        ("Ada", "person", None, "speaker"),
    ]
    assert read("Hi", speaker="Assistant", subject="x" * 200).surfaces == ()
    assert names("Hi", subject="docs/index.md") == {"docs/index.md": "file"}


def test_a_name_has_one_type_throughout_a_memory():
    extracted = read("We like Acme. Ada works at Acme.")
    assert [each.type for each in extracted.surfaces if each.name == "Acme"] == ["organisation", "organisation"]


def names_heard(*spoken: str) -> set[str]:
    return {surface.name for each in hear(*spoken) for surface in each.surfaces if surface.span}


@pytest.mark.parametrize(
    ("spoken", "name"),
    [
        (["Ana: We met the Friends of the Museum."], "Friends of the Museum"),
        (["Ana: I run Voices of Harrow."], "Voices of Harrow"),
        (["Ana: New York is far."], "New York"),
    ],
)
def test_one_name(spoken: list[str], name: str) -> None:
    assert name in names_heard(*spoken)


@pytest.mark.parametrize(
    "spoken",
    [
        ["Ana: We moved Ada to Leeds.", "Bo: Ada likes it. We moved Ada to Leeds."],
        ["Ana: We moved Ada to Leeds."],
        ["Ana: We saw Ada in Leeds. Ada in Leeds runs a shop."],
        ["Ana: Ada and Gil report to me.", "Bo: Ada and Gil are late. Ada and Gil again!"],
        ["Ada Moss: hello", "Bo: Leeds to Ada is far. Leeds to Ada, again."],
        ["Ana: She is Head of Leeds now. As Head of Leeds she decides."],
        ["Ana: Most of the Leeds people came."],
        ["Ana: Thanks to Leeds is what I say."],
    ],
)
def test_names_that_stay_apart(spoken: list[str]) -> None:
    assert not any(
        " to " in name or " in " in name or " and " in name or " of " in name for name in names_heard(*spoken)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Line 4 feeds Line 14.", {"Line 4", "Line 14"}),
        ("Cyd works on Model 3 and Dan on Model 3s.", {"Model 3", "Model 3s"}),
        ("Priya moved to Ward 7 on 3 May 2024.", {"Ward 7", "3 May 2024"}),
        ("Apollo 11 landed on the Moon.", {"Apollo 11", "Moon"}),
        ("Ana joined Globex 3 years ago.", {"Globex"}),
        ("Harkin Rovers won at Dunmore 3-1.", {"Harkin Rovers", "Dunmore"}),
        ("At Globex 12 people left.", {"Globex"}),
        ("Ana moved from Ward 7 to Ward 9.", {"Ward 7", "Ward 9"}),
        ("Harkin Rovers won at Dunmore 3 to 1.", {"Harkin Rovers", "Dunmore"}),
        ("Ana wrote of it in Chapter 3.", set()),
        ("Ana lived in Rome 1999.", {"Rome"}),
    ],
)
def test_a_number_is_part_of_the_name_before_it_unless_it_counts(text: str, expected: set[str]) -> None:
    found = set(names(text))
    assert expected <= found
    assert not {name for name in found - expected if any(character.isdigit() for character in name)}


def test_dates_and_names_alone_make_no_heading() -> None:
    assert {"Petra", "Halvard Moen", "Bergen"} <= set(names("Petra met Halvard Moen in Bergen on 8 July 2024."))


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("Our CFO is Beatriz Lima.", "Beatriz Lima"),
        ("Beatriz Lima, our CFO, is on leave.", "Beatriz Lima"),
        ("The on-call engineer this quarter is Mateus Prado.", "Mateus Prado"),
        ("My landlady is Otta Fink.", "Otta Fink"),
        ("Kenji Sato was promoted.", "Kenji Sato"),
        ("Gareth was sacked in December.", "Gareth"),
        ("Wilf left the company.", "Wilf"),
        ("Nobody heard from Wilf, the carpenter, since.", "Wilf"),
        ("Our new paralegal Finn collects the files.", "Finn"),
        ("Odile's deputy, Tomasz Roth, is on leave.", "Tomasz Roth"),
        ("Her name is Luz Herrera.", "Luz Herrera"),
        ("Councillor Hughes opened the wing.", "Hughes"),
        ("Omar Said is married to Leyla.", "Leyla"),
        ("Wei (she/her) is here.", "Wei"),
        ("I worked with Bob Stone.", "Bob Stone"),
        ("Juan sings with Señora Ruiz.", "Señora Ruiz"),
    ],
)
def test_posts_and_what_befalls_people_show_persons(text: str, person: str) -> None:
    assert names(text, speaker="Ada")[person] == "person"


@pytest.mark.parametrize(
    "text",
    [
        "Our vendor is Contoso.",
        "The portal is TicketLoom.",
        "We worked with Contoso.",
        "Her landlord is Merriweather Homes.",
        "Northgate Drinks is based in Leeds.",
    ],
)
def test_what_things_are_called_shows_no_person(text: str) -> None:
    assert "person" not in {type_ for name, type_ in names(text, speaker="Ada").items() if name != "Ada"}


@pytest.mark.parametrize("name", ["Brewers' Guild", "St Thomas’ Hospital"])
def test_an_institution_may_belong_to_several(name: str) -> None:
    assert names(f"Ana visited the {name}.")[name] == "organisation"


def test_an_institution_dedicated_to_a_saint_is_no_person() -> None:
    assert names("Ana works at Saint Brannoc's Hospital.")["Saint Brannoc's Hospital"] == "organisation"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dana leads auth-service and the read-only-ui.", {"auth-service", "read-only-ui"}),
        ("The self-service desk is out-of-service.", set()),
        ("See /srv/aurora-api/main.py.", {"/srv/aurora-api/main.py"}),
        ("aurora-api.internal is down.", set()),
    ],
)
def test_services_are_known_by_what_they_end_with(text: str, found: set[str]) -> None:
    assert {name for name in names(text) if "-" in name} == found
