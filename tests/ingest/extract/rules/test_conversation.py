"""Names across memories: aliases, persons, and names in lower case."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.ingest.extract.rules.conversation import read_conversation
from graphsearch.ingest.extract.rules.declarations import DeclaredAlias, alike, declarations, much_alike
from graphsearch.model import Memory
from graphsearch.protocols import GraphStore
from tests.ingest.extract.rules.reading import NOON, stated, turns


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Everyone calls me Roz.", "Roz"),
        ("Hello, please call me just Roz!", "Roz"),
        ("I go by Roz.", "Roz"),
        ("I'm better known as Roz.", "Roz"),
        ("My nickname is Roz.", "Roz"),
        ("Rosalind Tierney, Roz for short.", "Roz"),
        ("Roz to my friends.", "Roz"),
        ("Rosalind Tierney, marketing, known as Roz.", "Roz"),
        ("Two of us won't work, so I answer to Roz.", "Roz"),
        ("Roz will do.", "Roz"),
        ("Morning. Roz here.", "Roz"),
        ("Rosalind Tierney, box office, but Rosie is plenty.", "Rosie"),
        ("Shout Rosalind and I won't turn round, so Rosie please.", "Rosie"),
        ("Rosie, marketing.", "Rosie"),
    ],
)
def test_a_speaker_says_how_to_be_called(text: str, short: str) -> None:
    assert DeclaredAlias(short, "Rosalind Tierney") in set(declarations(text, "Rosalind Tierney", first=True))


@pytest.mark.parametrize(
    "text",
    [
        "Don't call me Rosie.",
        "Never call me Rosie.",
        "Call me ASAP.",
        "Call me on Monday.",
        "I answer to Hanneke.",
        "Hanneke is fine.",
        "Thanks, Hanneke.",
        "Rosalind here.",
        "Same here.",
        "I use Callboard for short notes.",
    ],
)
def test_what_only_looks_like_it_declares_nothing(text: str) -> None:
    assert set(declarations(text, "Rosalind Tierney", first=True)) == set()


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("Zdenek Marek starts on sound today. He goes by Zed.", ("Zed", "Zdenek Marek")),
        ("Zdenek Marek starts on sound today. We all call him Zed.", ("Zed", "Zdenek Marek")),
        ("Bea Lorne, known as Bumble, sells tickets.", ("Bumble", "Bea Lorne")),
        ("Beatrix Lorne, Bea for short, sells tickets.", ("Bea", "Beatrix Lorne")),
        ("Beatrix Lorne (Bea) sells tickets.", ("Bea", "Beatrix Lorne")),
        ('Kristina "Kit" Hallam joined.', ("Kit", "Kristina Hallam")),
        ("Ask for Gus, short for Augustine Farrelly.", ("Gus", "Augustine Farrelly")),
        ("Everyone calls Augustine Gus.", ("Gus", "Augustine")),
        ("Cordelia Finch, or Cordy, does the books.", ("Cordy", "Cordelia Finch")),
        ('The booking site is Footlight Portal. You all say "the portal".', ("the portal", "Footlight Portal")),
        ("Footlight Portal, or just the portal, is live.", ("the portal", "Footlight Portal")),
        ("Meet the Ticket Loom Exchange, TLE for short.", ("TLE", "Ticket Loom Exchange")),
    ],
)
def test_others_and_things_are_called_something(text: str, declared: tuple[str, str]) -> None:
    assert DeclaredAlias(*declared) in set(declarations(text, "", first=False))


def test_a_name_that_two_are_called_is_neither_s() -> None:
    conversation = read_conversation(
        turns("Alan Moss: Call me Al.", "Alice Penn: Call me Al.", "Nora Quill: hi", "Nora Stannard: hi")
    )
    assert conversation.declared == {}
    assert "al" not in conversation.people
    assert "nora" not in conversation.people
    assert {"alan", "alice", "penn", "nora quill"} <= set(conversation.people)


def test_nobody_is_called_what_another_bears() -> None:
    conversation = read_conversation(turns("Katherine Moss: Call me Kit.", "Kit Hallam: Hello."))
    assert conversation.declared == {}


@pytest.mark.parametrize(
    ("short", "full", "any_way", "plainly"),
    [
        ("Gus", "Augustine Farrelly", True, True),
        ("Peggy", "Margaret Osei", True, True),
        ("Zed", "Zdenek Marek", True, False),
        ("AF", "Augustine Farrelly", True, True),
        ("Bo", "Augustine Farrelly", False, False),
    ],
)
def test_how_much_names_are_alike(short: str, full: str, any_way: bool, plainly: bool) -> None:
    assert (alike(short, full), much_alike(short, full)) == (any_way, plainly)


def test_short_names_in_small_letters_are_names() -> None:
    assert stated(
        'Kit Hallam: The site has a name, Footlight Portal. You all say "the portal".',
        "Ana Lopez: The portal depends on Payfold, and the portal's host is asleep.",
    ) == [("The portal", "depends_on", "Payfold")]


def test_who_writes_without_capitals_is_read_too() -> None:
    found = stated(
        "Bea Lorne: I live in Galway.",
        "Zed Marek: Prop Ledger is ready. I use Airtable.",
        "Tom Reddan: i moved to galway on 8 january. prop ledger depends on airtable, says bea",
    )
    assert set(found) == {
        ("Bea Lorne", "lives_in", "Galway"),
        ("Zed Marek", "uses", "Airtable"),
        ("Tom Reddan", "lives_in", "galway"),
        ("prop ledger", "depends_on", "airtable"),
    }


def test_a_speaker_s_first_name_is_a_person_though_it_is_a_word() -> None:
    found = stated("Mark Ellis: Morning.", "Ana Lopez: Mark manages TicketLoom. Mark reports to me.")
    assert found == [("Mark", "reports_to", "Ana Lopez")]


async def test_what_somebody_is_called_is_one_entity(scoped: GraphStore) -> None:
    spoken = turns(
        "Zdenek Marek: Hello, everyone calls me Zed.",
        "Ana Lopez: Zed lives in Cork.",
        'Ana Lopez: The site is Footlight Portal. We say "the portal". The portal depends on TicketLoom.',
    )
    await Ingestor(GraphSearchEngine(store=scoped)).remember(spoken)
    await Ingestor(GraphSearchEngine(store=scoped)).remember(
        [Memory(id="later", text="Zed uses Vim.", speaker="Bo Fink", occurred_at=NOON)]
    )
    entities = {entity.id: entity for entity in await scoped.list_entities(limit=100)}
    found = {
        (entities[each.source_id].name, each.type, entities[each.target_id].name)
        for each in await scoped.list_relations(limit=100)
        if each.type != "co_occurs"
    }
    assert found == {
        ("Zdenek Marek", "lives_in", "Cork"),
        ("Footlight Portal", "depends_on", "TicketLoom"),
        ("Zdenek Marek", "uses", "Vim"),
    }
    assert {entity.name: entity.aliases for entity in entities.values()}["Zdenek Marek"] == ("Zed",)


def test_a_user_is_who_they_introduce_themselves_as() -> None:
    assert stated("user: Hi, I'm Leila Haddad.", "assistant: Hello!", "user: I work at Acme Inc. Call me Lei.") == [
        ("Leila Haddad", "works_at", "Acme Inc")
    ]
    assert stated("human: my name is Jo Park, by the way", "human: I live in Leeds.") == [
        ("Jo Park", "lives_in", "Leeds")
    ]


@pytest.mark.parametrize(
    "spoken",
    [
        ("user: I work at Acme Inc.",),
        ("user: I'm Danish.", "user: I work at Acme Inc."),
        ("user: I'm Head of Sales.", "user: I work at Acme Inc."),
        ("user: I'm Leila Haddad.", "user: I'm Otto Fink.", "user: I work at Acme Inc."),
        ("assistant: I'm Leila Haddad.", "user: I work at Acme Inc."),
    ],
)
def test_a_user_who_gives_no_name_or_two_is_nobody(spoken: tuple[str, ...]) -> None:
    assert "Acme Inc" not in {target for _, _, target in stated(*spoken)}
