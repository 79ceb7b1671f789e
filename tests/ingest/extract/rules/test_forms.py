"""Patterns generated from verbs and nouns, in all their forms."""

from datetime import UTC, datetime

import pytest

from graphsearch.ingest.extract.rules.extractor import DEFAULT_PATTERNS
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.ingest.extract.rules.templates import nominal, verb, verbal
from tests.ingest.extract.rules.reading import AT, read, triples


@pytest.mark.parametrize(
    ("entry", "forms"),
    [
        ("chair", ("chair", "chairs", "chaired", "chaired", "chairing")),
        ("create", ("create", "creates", "created", "created", "creating")),
        ("oversee oversaw overseen", ("oversee", "oversees", "oversaw", "overseen", "overseeing")),
        ("build built", ("build", "builds", "built", "built", "building")),
        ("rely + on", ("rely on", "relies on", "relied on", "relied on", "relying on")),
        ("program programmed", ("program", "programs", "programmed", "programmed", "programming")),
        ("run ran run running + on", ("run on", "runs on", "ran on", "run on", "running on")),
        ("coach", ("coach", "coaches", "coached", "coached", "coaching")),
        ("pay paid + for", ("pay for", "pays for", "paid for", "paid for", "paying for")),
    ],
)
def test_verbs_are_inflected(entry: str, forms: tuple[str, ...]) -> None:
    found = verb(entry)
    assert tuple(found.form(name) for name in ("base", "third", "past", "participle", "gerund")) == forms


def test_one_entry_makes_all_forms() -> None:
    made = verbal("mentors", "mentors", "mentor", ("person?",), ("person?",))
    assert [(each.name, each.phase) for each in made] == [
        ("mentors", Phase.HOLDS),
        ("mentors_past", Phase.ENDED),
        ("mentors_by", Phase.HOLDS),
    ]
    assert [each.phase for each in verbal("makes", "made", "make made", ("",), ("",), lasting=True, passive=False)] == [
        Phase.DONE,
        Phase.DONE,
    ]
    nouns = nominal("mentor", "mentors", "mentor", ("person?",), ("person?",), holder="source")
    assert [each.name for each in nouns] == ["mentor_of", "mentor_genitive", "mentor_is"]


def test_names_of_patterns_are_their_own() -> None:
    names = [each.name for each in DEFAULT_PATTERNS]
    assert len(names) == len(set(names))


# One row a relation type and form; "Ana", "Bo" and "Cy" are people, Saltroad a thing, Harkin Brewery an organisation.
STATED = {
    ("Ana", "reports_to", "Bo"): (
        "Ana answers to Bo.",
        "Ana reports into Bo.",
        "Ana works under Bo.",
        "Bo manages Ana.",
        "Ana is supervised by Bo.",
        "Ana's boss is Bo.",
        "Bo is Ana's line manager.",
        "Bo is the manager of Ana.",
    ),
    ("Ana", "leads", "Saltroad"): (
        "Ana heads up Saltroad.",
        "Ana's in charge of Saltroad.",
        "Ana looks after Saltroad.",
        "Saltroad is run by Ana.",
        "Saltroad is overseen by Ana.",
        "Saltroad's producer is Ana.",
        "Ana is the one who runs Saltroad.",
    ),
    ("Ana", "member_of", "Safety Committee"): (
        "Ana sits on the Safety Committee.",
        "Ana belongs to the Safety Committee.",
        "Ana is one of the members of the Safety Committee.",
        "Ana is the Safety Committee's newest member.",
    ),
    ("Ana", "created", "Saltroad"): (
        "Saltroad was written in 2020 mostly by Ana.",
        "Saltroad was built by my brother Ana.",
        "Saltroad's creator is Ana.",
        "It was Ana who wrote Saltroad.",
    ),
    ("Harkin Brewery", "sponsors", "Saltroad"): (
        "Saltroad's main sponsor is Harkin Brewery.",
        "Harkin Brewery is one of the backers of Saltroad.",
    ),
    ("Callboard", "depends_on", "TicketLoom"): (),
    ("Callboard", "uses", "TicketLoom"): (
        "Callboard runs on TicketLoom.",
        "TicketLoom is used by Callboard.",
    ),
    ("Ana", "lives_in", "Galway"): ("Ana lives over in Galway.",),
    ("Ana", "works_at", "Acme Ltd"): (),
    ("Ana", "works_with", "Bo"): ("Ana is working alongside Bo.",),
}


@pytest.mark.parametrize(
    ("text", "stated"),
    [(text, stated) for stated, texts in STATED.items() for text in texts],
    ids=str,
)
def test_each_form_states_the_same(text: str, stated: tuple[str, str, str]) -> None:
    assert stated in triples(text)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("The portal, TicketLoom, was sponsored by Ana and by Bo.", ["Ana", "Bo"]),
        ("Ana led Saltroad until Bo took over Saltroad from Ana in May 2023.", ["Bo", "Ana"]),
    ],
)
def test_lists_may_repeat_their_preposition(text: str, stated: list[str]) -> None:
    assert {source for source, _, _ in triples(text)} == set(stated)


def test_what_has_been_so_for_some_time_still_is() -> None:
    (stated, *_) = read("Ana has led Project Saltroad for two years.").statements
    assert (stated.type, stated.valid_from, stated.valid_to) == ("leads", datetime(2022, 5, 15, tzinfo=UTC), None)
    (stated, *_) = read("Ana has led Project Saltroad.").statements
    assert (stated.type, stated.valid_from, stated.valid_to) == ("leads", None, AT)


def test_what_ends_for_one_begins_for_another() -> None:
    def ends(text: str) -> set[tuple[str, str, bool]]:
        return {(each.source.name, each.type, each.valid_to is not None) for each in read(text).statements[:2]}

    assert ends("Bo took over Saltroad from Ana on 3 May 2024.") == {("Bo", "leads", False), ("Ana", "leads", True)}
    assert ends("Bo leads Saltroad instead of Ana.") == {("Bo", "leads", False), ("Ana", "leads", True)}


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Ana joined Acme.", "works_at"),
        ("Ana joined the Harrow Trust.", "works_at"),
        ("Ana joined the Paint Shop.", "member_of"),
        ("Ana joined the Sepsis Working Group.", "member_of"),
        ("Ana left the Paint Shop.", "member_of"),
    ],
)
def test_groups_are_distinguished_from_companies(text: str, type: str) -> None:
    assert [each[1] for each in triples(text)] == [type]


def test_what_is_written_as_things_are_is_no_person() -> None:
    assert triples("Ana manages TicketLoom.") == []
    assert triples("Ana manages McCoy.") == [("McCoy", "reports_to", "Ana")]


@pytest.mark.parametrize(
    "text",
    [
        "Callboard uses MySQL, in case anyone has to restart it.",
        "Callboard uses MySQL, so if it is down both are.",
        "Callboard uses MySQL, whether he likes it or not.",
    ],
)
def test_an_aside_that_supposes_leaves_what_is_stated(text: str) -> None:
    assert triples(text) == [("Callboard", "uses", "MySQL")]


@pytest.mark.parametrize(
    "text",
    [
        "If Callboard uses MySQL, restart it.",
        "Does Callboard use MySQL, in case anyone asks?",
        "Rumour has it that Ana leads Saltroad.",
        "I thought Ana led Saltroad.",
        "Ana would love to lead Saltroad.",
        "Saltroad has been moved by Ana to May.",
    ],
)
def test_what_is_asked_or_supposed_is_not_stated(text: str) -> None:
    assert triples(text, speaker="Bo") == []
