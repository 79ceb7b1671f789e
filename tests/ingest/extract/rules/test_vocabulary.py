"""Known names in any case: tools, names that users add, and ordinary words beside words of use."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.ingest import KnownName, TextExtractor
from graphsearch.ingest.extract.rules.vocabulary import Vocabulary, default_vocabulary
from graphsearch.model import Memory
from graphsearch.names.known_tools import known_tools
from tests.ingest.extract.rules.reading import AT, names, read, triples

KEELBOOK = KnownName(name="Keelbook", aliases=("kb",))


def found(text: str, vocabulary: Vocabulary | None = None) -> list[str]:
    return [each.known.name for each in (vocabulary or default_vocabulary()).find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We moved from mysql to postgres.", ["MySQL", "PostgreSQL"]),
        ("The rota moves from zoom to teams on Monday.", ["Zoom", "Microsoft Teams"]),
        ("tickets moved from jira to linear", ["Jira", "Linear"]),
        ("I use word and excel.", ["Microsoft Word", "Microsoft Excel"]),
        ("we use blender all day", ["Blender"]),
        ("We met on Zoom.", ["Zoom"]),
        ("written in Rust", ["Rust"]),
        ("GOOGLE SHEETS and google  sheets", ["Google Sheets", "Google Sheets"]),
        ("node.js, next.js", ["Node.js", "Next.js"]),
    ],
)
def test_tools_in_any_case(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Use a blender, and use salt and celery.",
        "a word of advice to the teams in unity",
        "It uses linear regression.",
        "The express train is swift.",
        "python-based, github.com/a, my.redis.host",
        "GitHub Actions and Kafka Streams",
        "Discord between the two grew.",
    ],
)
def test_words_that_are_no_tools(text: str) -> None:
    assert found(text) == []


def test_tools_have_a_type_and_relations_with_dates() -> None:
    stated = read("Acme moved our records from Excel to airtable in March 2024.").statements
    assert {(each.target.name, each.target.type, each.valid_from and each.valid_from.month) for each in stated[:2]} == {
        ("airtable", "tool", 3),
        ("Excel", "tool", None),
    }
    assert triples("we moved from mysql to postgres", speaker="Ada") == [
        ("Ada", "uses", "mysql"),
        ("Ada", "uses", "postgres"),
    ]


def test_a_name_and_its_other_spelling_are_one() -> None:
    extracted = read("Acme runs on postgres.")
    assert extracted.same == (("postgres", "PostgreSQL"),)
    assert names("Acme runs on postgres.") == {"Acme": "", "postgres": "tool", "PostgreSQL": "tool"}


def test_users_add_names() -> None:
    extractor = TextExtractor(known=[KEELBOOK, KnownName(name="李雷", type="person")])
    (extracted,) = asyncio.run(extractor.extract([Memory(id="m", text="the bridge uses kb now, says 李雷.")]))
    assert {each.name: each.type for each in extracted.surfaces} == {"kb": "tool", "Keelbook": "tool", "李雷": "person"}
    assert found("keelbook and kb", Vocabulary.of([KEELBOOK])) == ["Keelbook", "Keelbook"]
    assert found("keelbook") == []


def test_texts_are_read_again_when_the_known_names_or_the_user_change() -> None:
    given = [TextExtractor(), TextExtractor(known=[KEELBOOK]), TextExtractor(user="Ada"), TextExtractor(known=[])]
    assert len({each.name for each in given}) == 3
    assert given[0].name == given[3].name == "rules/7"
    with pytest.raises(InvalidInputError):
        KnownName(name=" ")
    with pytest.raises(InvalidInputError):
        TextExtractor(user=3)  # type: ignore[arg-type]


def test_the_user_speaks_and_is_spoken_of() -> None:
    extractor = TextExtractor(user="Ada Moss")
    given = [
        Memory(id="1", text="I live in Leeds.", speaker="user", occurred_at=AT),
        Memory(id="2", text="The user works at Acme Inc. User moved to Lisbon last week.", occurred_at=AT),
        Memory(id="3", text="The user works at Acme Inc.", speaker="Bo", occurred_at=AT),
    ]
    stated = [
        (each.source.name, each.type, each.target.name)
        for extracted in asyncio.run(extractor.extract(given))
        for each in extracted.statements
    ]
    assert [each for each in stated if each[1] != "co_occurs"] == [
        ("Ada Moss", "lives_in", "Leeds"),
        ("Ada Moss", "works_at", "Acme Inc"),
        ("Ada Moss", "lives_in", "Lisbon"),
    ]


def test_no_spelling_stands_twice() -> None:
    sure, *ordinary = known_tools().values()
    plain = [other.casefold() for table in ordinary for name, others in table.items() for other in others or (name,)]
    plain += [each.casefold() for name, others in sure.items() for each in (name, *others)]
    assert len(set(plain)) == len(plain)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We moved from terraform to pulumi last March.",
            [("pulumi", "2024-03-01", None), ("terraform", None, "2024-03-01")],
        ),
        ("We replaced redis with dragonfly.", [("dragonfly", "2024-05-15", None), ("redis", None, "2024-05-15")]),
        ("We migrated from keelson to postgres.", [("keelson", None, "2024-05-15"), ("postgres", "2024-05-15", None)]),
        ("We moved from Slack to another office.", []),
    ],
)
def test_what_replaces_a_tool_is_a_tool(text: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    stated = [each for each in read(text, speaker="Ada").statements if each.type == "uses"]
    found = [
        (each.target.name, _day(each.valid_from), _day(each.valid_to)) for each in stated if each.target.type == "tool"
    ]
    assert [each for each in sorted(found) if each[0] != "Slack"] == expected


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()


def test_an_assistant_speaks_of_the_user() -> None:
    note = Memory(id="n", text="The user works at Acme Inc.", speaker="assistant", occurred_at=AT)
    [extracted] = asyncio.run(TextExtractor(user="Ada Moss").extract([note]))
    assert [(each.source.name, each.target.name) for each in extracted.statements] == [("Ada Moss", "Acme Inc")]


@pytest.mark.parametrize(
    ("text", "name", "tool"),
    [
        ("We replaced Jenkins with GitHub Actions in March.", "GitHub Actions", True),
        ("We migrated from Jenkins to Buildkite.", "Buildkite", True),
        ("Ana moved from Shopify to Buildkite.", "Buildkite", False),  # perhaps a firm that she works for
    ],
)
def test_what_a_tool_is_replaced_by_is_a_tool_in_capitals_too(text: str, name: str, *, tool: bool) -> None:
    assert (names(text)[name] == "tool") is tool
