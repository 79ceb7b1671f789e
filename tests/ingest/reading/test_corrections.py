"""Corrections within a turn and across turns; shortened names in relations that end, and "it" across turns."""

from __future__ import annotations

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory
from graphsearch.protocols import GraphStore
from tests.ingest.reading.reading import NOON, hear, triples, turns
from tests.ingest.reading.reading import read as read_one


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Oskar lives in Sligo, sorry, Galway.", [("Oskar", "lives_in", "Galway")]),
        ("Oskar lives in Sligo, no wait, in Galway.", [("Oskar", "lives_in", "Galway")]),
        ("Oskar lives in Sligo. I meant Galway.", [("Oskar", "lives_in", "Galway")]),
        ("Oskar lives in Sligo. Sorry, I mean Galway, not Sligo.", [("Oskar", "lives_in", "Galway")]),
        ("Oskar lives in Sligo. Oops, make that Galway!", [("Oskar", "lives_in", "Galway")]),
        ("Oskar reports to Henrik. Correction: Oskar reports to Dan.", [("Oskar", "reports_to", "Dan")]),
        ("Oskar reports to Henrik. No, not Henrik, Dan.", [("Oskar", "reports_to", "Dan")]),
        ("Oskar lives in Sligo. It was Galway, not Sligo.", [("Oskar", "lives_in", "Galway")]),
        ("Oskar leads Lantern Films. Sorry, I meant Henrik.", [("Henrik", "leads", "Lantern Films")]),
        ("Oskar lives in Sligo. Scratch that.", []),
        ("Oskar lives in Sligo. Sorry, I misread the list.", []),
        ("Oskar lives in Sligo. Scratch that, Galway.", [("Oskar", "lives_in", "Galway")]),
        ("Oskar lives in Sligo. Sorry, scratch that. Oskar lives in Galway.", [("Oskar", "lives_in", "Galway")]),
    ],
)
def test_within_a_turn_only_what_is_meant_is_stated(text: str, stated: list[tuple[str, str, str]]) -> None:
    assert triples(text, speaker="Henrik") == stated


@pytest.mark.parametrize(
    "text",
    [
        "Oskar leads Lantern Films. Sorry, Henrik.",
        "Oskar leads Lantern Films. No more trains to Cork!",
        "Oskar leads Lantern Films. Actually, Henrik uses Vim too.",
        "Oskar leads Lantern Films. Sorry!",
    ],
)
def test_an_apology_corrects_nothing(text: str) -> None:
    assert ("Oskar", "leads", "Lantern Films") in triples(text, speaker="Ana")


def test_what_is_corrected_is_proved_by_both_sentences() -> None:
    (stated,) = [
        each for each in read_one("Oskar lives in Sligo. I meant Galway.").statements if each.type == "lives_in"
    ]
    assert stated.fact == "Oskar lives in Sligo. I meant Galway."
    assert stated.target.type == "place"


def _last(*spoken: str) -> list[tuple[str, str, str, str]]:
    return [
        (each.source.name, each.type, each.target.name, each.pattern)
        for each in hear(*spoken)[-1].statements
        if each.type != "co_occurs"
    ]


def test_across_turns_the_wrong_is_taken_back() -> None:
    turns = ("Ana Lopez: Oskar lives in Sligo.", "Oskar Fink: Do I?", "Ana Lopez: Sorry, I meant Galway.")
    assert _last(*turns) == [("Oskar", "lives_in", "Sligo", "corrected"), ("Oskar", "lives_in", "Galway", "lives_in")]
    wrong = next(each for each in hear(*turns)[-1].statements if each.pattern == "corrected")
    assert wrong.valid_from == wrong.valid_to == NOON.replace(minute=0)
    assert (wrong.source.span, wrong.fact) == (None, "Sorry, I meant Galway.")


@pytest.mark.parametrize(
    ("turns", "taken_back"),
    [
        (("Ana Lopez: Oskar lives in Sligo.", "Ana Lopez: Scratch that."), ["Sligo"]),
        (("Ana Lopez: Oskar lives in Sligo.", "Ana Lopez: Correction: Oskar lives in Galway."), ["Sligo"]),
        (("Ana Lopez: Oskar lives in Sligo.", "Oskar Fink: I have never lived in Sligo."), ["Sligo"]),
        (("Ana Lopez: Oskar lives in Sligo.", "Oskar Fink: I meant Galway."), []),
        (("Ana Lopez: Oskar lives in Sligo.", "Oskar Fink: I have never lived in Cork."), []),
        (("Ana Lopez: Oskar uses Vim.", "Ana Lopez: Correction: Oskar uses Emacs."), []),
        (("Ana Lopez: Oskar used to live in Sligo.", "Ana Lopez: Scratch that."), []),
        (("Ana Lopez: Oskar lives in Sligo.", *["Oskar Fink: Hm."] * 5, "Ana Lopez: I meant Galway."), []),
        ((": Oskar lives in Sligo.", ": I meant Galway."), []),
    ],
)
def test_who_may_take_what_back(turns: tuple[str, ...], taken_back: list[str]) -> None:
    assert [target for _, _, target, pattern in _last(*turns) if pattern == "corrected"] == taken_back


async def test_a_correction_that_is_forgotten_is_undone(scoped: GraphStore) -> None:
    async def holding() -> set[str]:
        entities = {entity.id: entity.name for entity in await scoped.list_entities(limit=100)}
        return {
            entities[each.target_id]
            for each in await scoped.list_relations(limit=100)
            if each.type == "lives_in" and each.valid_to is None
        }

    spoken: list[Memory] = turns("Ana Lopez: Oskar lives in Sligo.", "Ana Lopez: Sorry, I meant Galway.")
    await Ingestor(GraphSearchEngine(store=scoped)).remember(spoken)
    assert await holding() == {"Galway"}
    await scoped.forget([spoken[1].id])
    assert await holding() == {"Sligo"}
