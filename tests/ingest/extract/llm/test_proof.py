"""Items of an answer count only if the text proves them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from graphsearch.model import EdgeKind, Span
from tests.ingest.extract.llm.model import AT, Model, entity, extractor, memory, read, relation, saying, triples

TEXT = "Priya Sharma runs  the\nApollo team. She reports to Dana Levy since 2024-03-01. Adam was there."


async def test_names_and_quotes_are_found_in_the_text() -> None:
    quote = "She reports to Dana Levy since 2024-03-01."
    extracted = await read(
        TEXT,
        saying(
            relation("Priya Sharma", "reportsTo", "Dana Levy", quote, since="since 2024-03-01"),
            entities=[entity("Priya Sharma", "person"), entity("Apollo team", "Organization")],
        ),
    )
    assert {
        (each.name, each.type, TEXT[each.span.start : each.span.end]) for each in extracted.surfaces if each.span
    } == {
        ("Priya Sharma", "person", "Priya Sharma"),
        ("Apollo team", "organisation", "Apollo team"),
        ("Dana Levy", "", "Dana Levy"),
    }
    (statement,) = extracted.statements
    assert (statement.type, statement.kind, statement.fact) == ("reports_to", EdgeKind.SEMANTIC, quote)
    assert TEXT[statement.span.start : statement.span.end] == quote
    assert (statement.valid_from, statement.valid_to) == (datetime(2024, 3, 1, tzinfo=UTC), None)
    assert {statement.source, statement.target} <= set(extracted.surfaces)
    assert extracted.refused == ()


async def test_space_between_words_may_differ_and_nothing_else() -> None:
    extracted = await read(
        TEXT,
        saying(
            relation("Priya Sharma", "leads", "Apollo team", "Priya Sharma runs the Apollo team."),
            relation("Priya Sharma", "leads", "Apollo team", "Priya Sharma runs the Apollo Team."),
        ),
    )
    (statement,) = extracted.statements
    assert statement.fact == "Priya Sharma runs the Apollo team."
    why = "its quote 'Priya Sharma runs the Apollo Team.' is not in the text"
    assert extracted.refused == (f"m: relation 'Priya Sharma' 'leads' 'Apollo team': {why}",)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"source": "Eve"}, "'Eve' is not in the text"),
        ({"target": "Ada"}, "'Ada' is not in the text"),  # only inside of "Adam"
        ({"target": "dana levy"}, "'dana levy' is not in the text"),
        ({"source": ""}, "'' is not a name"),
        ({"source": "."}, "'.' is not a name"),
        ({"target": "Priya Sharma"}, "it relates a name with itself"),
        ({"quote": "She likes Dana Levy"}, "its quote 'She likes Dana Levy' is not in the text"),
        ({"quote": ""}, "its quote '' is not in the text"),
        ({"quote": "Adam was there."}, "its quote names neither of its ends"),
        ({"quote": "x" * 1001}, "quote is longer than 1000 characters"),
        ({"quote": 7}, "quote must be text, not int"),
        ({"type": ""}, "it has no type"),
        ({"type": "!?"}, "it has no type"),
        ({"type": "x" * 41}, "type is longer than 40 characters"),
        ({"confidence": 0.4}, "the model is only 0.4 sure of it"),
        ({"confidence": 1.5}, "confidence must be in [0, 1], not 1.5"),
        ({"confidence": "high"}, "confidence must be a finite number, not 'high'"),
        ({"confidence": None}, "confidence must be a finite number, not None"),
    ],
)
async def test_what_the_text_does_not_prove_is_refused_and_reported(changed: dict[str, Any], why: str) -> None:
    good = relation("Priya Sharma", "reports_to", "Dana Levy", "She reports to Dana Levy")
    extracted = await read(TEXT, saying({**good, **changed}, relation("Adam", "knows", "Dana Levy", "Dana Levy")))
    assert triples(extracted) == [("Adam", "knows", "Dana Levy")]  # one broken item harms no other
    (reason,) = extracted.refused
    assert reason.endswith(f": {why}")
    assert reason.startswith("m: relation ")


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (entity("Eve", "person"), "entity: 'Eve' is not in the text"),
        (entity("x" * 121), "name is longer than 120 characters"),
        ({"name": ["Adam"]}, "entity: name must be text, not list"),
        ({}, "entity: '' is not a name"),
        ("Adam", "entities: 'Adam' is not an object"),
    ],
)
async def test_entities_that_are_not_in_the_text_are_refused(item: Any, why: str) -> None:
    extracted = await read(TEXT, saying(entities=[item, entity("Adam", "person")]))
    assert [(each.name, each.type) for each in extracted.surfaces] == [("Adam", "person")]
    assert why in extracted.refused[0]


async def test_only_so_many_items_of_a_passage_are_looked_at() -> None:
    extracted = await read(TEXT, saying(entities=[*[entity("Eve")] * 100, entity("Adam")]))
    assert extracted.surfaces == ()
    assert extracted.refused[0] == "m: 1 of 101 entities: only the first 100 of a passage are read"


async def test_a_type_that_nobody_asked_for_is_none() -> None:
    extracted = await read(TEXT, saying(entities=[entity("Adam", "Archangel"), entity("Dana Levy", "date")]))
    assert [(each.name, each.type) for each in extracted.surfaces] == [("Dana Levy", ""), ("Adam", "")]


async def test_the_first_type_that_is_stated_of_a_name_counts() -> None:
    extracted = await read(TEXT, saying(entities=[entity("Adam"), entity("Adam", "person"), entity("Adam", "tool")]))
    assert [(each.name, each.type) for each in extracted.surfaces] == [("Adam", "person")]


async def test_speaker_and_subject_may_be_named_though_the_text_does_not() -> None:
    reason = saying(relation("Ada Byron", "leads", "Apollo", "I lead Apollo"), entities=[entity("Notes", "file")])
    extracted = await read("I lead Apollo.", reason, speaker="Ada Byron", subject="Notes")
    assert [(each.name, each.type, each.span) for each in extracted.surfaces] == [
        ("Notes", "file", None),
        ("Ada Byron", "person", None),
        ("Apollo", "", Span(start=7, end=13)),
    ]
    assert triples(extracted) == [("Ada Byron", "leads", "Apollo")]
    nobody = await read("I lead Apollo.", saying(relation("user", "leads", "Apollo", "I lead Apollo")), speaker="user")
    assert (triples(nobody), nobody.surfaces) == ([], ())


async def test_every_place_of_a_name_is_a_mention_but_not_those_inside_of_longer_names() -> None:
    text = "Acme Robotics bought Acme. Acme won."
    extracted = await read(text, saying(entities=[entity("Acme"), entity("Acme Robotics")]))
    assert [(each.name, each.span and each.span.start) for each in extracted.surfaces] == [
        ("Acme Robotics", 0),
        ("Acme", 21),
        ("Acme", 27),
    ]
    inside = await read("University of Oxford", saying(entities=[entity("Oxford"), entity("University of Oxford")]))
    assert [each.name for each in inside.surfaces] == ["University of Oxford", "Oxford"]


async def test_names_in_scripts_without_spaces_are_found() -> None:
    extracted = await read(
        "田中さんは東京に住んでいます。", saying(relation("田中", "lives_in", "東京", "田中さんは東京に"))
    )
    assert triples(extracted) == [("田中", "lives_in", "東京")]


@pytest.mark.parametrize(
    ("type", "triple"),
    [
        ("manages", ("Dana Levy", "reports_to", "Priya Sharma")),
        ("Works With", ("Priya Sharma", "works_with", "Dana Levy")),
        ("supervisedBy", ("Priya Sharma", "reports_to", "Dana Levy")),
        ("admires", ("Priya Sharma", "admires", "Dana Levy")),
    ],
)
async def test_types_are_those_of_the_table_of_relations(type: str, triple: tuple[str, str, str]) -> None:
    persons = [entity("Priya Sharma", "person"), entity("Dana Levy", "person")]
    said = saying(relation("Priya Sharma", type, "Dana Levy", "She reports to Dana Levy"), entities=persons)
    assert triples(await read(TEXT, said)) == [triple]


@pytest.mark.parametrize(
    ("quote", "given", "confidence"),
    [
        ("Bob knows Ann", 1.0, 0.92),
        ("Bob knows Ann", 0.8, 0.8),
        ("Bob knows Ann", 0.5, 0.5),
        ("He likes Ann", 0.9, 0.75),  # who "he" is the model tells, and not the words
        ("He likes Ann", 1, 0.75),
    ],
)
async def test_confidence_is_held_in_the_bands_of_read_text(quote: str, given: float, confidence: float) -> None:
    extracted = await read(
        "Bob knows Ann. He likes Ann.", saying(relation("Bob", "likes", "Ann", quote, confidence=given))
    )
    assert extracted.statements[0].confidence == confidence


JUNE, MARCH = datetime(2024, 6, 1, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)
DATED = "Bob joined Acme on 2024-03-01 and left Acme on 2024-06-01."


@pytest.mark.parametrize(
    ("changed", "period", "kind"),
    [
        ({}, (None, None), EdgeKind.SEMANTIC),
        ({"since": "2024-03-01"}, (MARCH, None), EdgeKind.SEMANTIC),
        ({"until": "on 2024-06-01"}, (None, JUNE), EdgeKind.SEMANTIC),
        ({"since": "2024-03-01", "until": "2024-06-01"}, (MARCH, JUNE), EdgeKind.SEMANTIC),
        ({"state": "started", "since": "2024-03-01"}, (MARCH, None), EdgeKind.LIFECYCLE),
        ({"state": "started"}, (AT, None), EdgeKind.LIFECYCLE),
        ({"state": "ended"}, (None, AT), EdgeKind.LIFECYCLE),
        ({"state": "ended", "since": "2024-06-01"}, (None, JUNE), EdgeKind.LIFECYCLE),
        ({"state": "ended", "until": "2024-06-01"}, (None, JUNE), EdgeKind.LIFECYCLE),
        ({"state": ["ended"]}, (None, None), EdgeKind.SEMANTIC),
        ({"type": "left"}, (None, AT), EdgeKind.LIFECYCLE),
        ({"type": "joined"}, (AT, None), EdgeKind.LIFECYCLE),
    ],
)
async def test_when_it_holds_is_given_by_words_of_the_quote(
    changed: dict[str, Any], period: tuple[datetime | None, datetime | None], kind: EdgeKind
) -> None:
    stated = {**relation("Bob", "works_at", "Acme", DATED), **changed}
    (found,) = (await read(DATED, saying(stated, entities=[entity("Acme", "organisation")]))).statements
    assert (found.type, (found.valid_from, found.valid_to), found.kind) == ("works_at", period, kind)


@pytest.mark.parametrize("since", ["2023-01-01", "in spring", "Acme", "joined"])
async def test_a_date_that_its_quote_does_not_have_is_left_out_and_reported(since: str) -> None:
    extracted = await read(DATED, saying(relation("Bob", "works_at", "Acme", DATED, since=since, state="started")))
    assert extracted.statements[0].valid_from is None
    assert extracted.refused == (f"m: relation 'Bob' 'works_at' 'Acme': since {since!r} is not a date in its quote",)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"since": "2024-06-01", "until": "2024-03-01"}, "it would end before it starts"),
        ({"since": "2" * 101}, "since is longer than 100 characters"),
        ({"until": 2024}, "until must be text, not int"),
    ],
)
async def test_a_period_that_cannot_be_is_refused(changed: dict[str, Any], why: str) -> None:
    extracted = await read(DATED, saying(relation("Bob", "works_at", "Acme", DATED, **changed)))
    assert extracted.statements == ()
    assert extracted.refused[0].endswith(why)


async def test_what_ended_at_no_known_time_is_refused() -> None:
    ended = saying(relation("Bob", "works_at", "Acme", "Bob left Acme.", state="ended"))
    extracted = await read("Bob left Acme.", ended, occurred_at=None)
    assert extracted.refused == ("m: relation 'Bob' 'works_at' 'Acme': it ended at no known time",)


async def test_dates_in_plain_words_are_read_by_the_calendar_and_not_by_the_model() -> None:
    text = "Bob worked at Acme from March 2021 to May 2022, and joined Globex last Tuesday."
    answer = saying(
        relation("Bob", "works_at", "Acme", text, since="March 2021", until="May 2022"),
        relation("Bob", "works_at", "Globex", text, since="last Tuesday", state="started"),
    )
    (extracted,) = await extractor(Model(lambda _: answer)).extract([memory(text)])
    assert [(each.valid_from, each.valid_to) for each in extracted.statements] == [
        (datetime(2021, 3, 1, tzinfo=UTC), datetime(2022, 5, 1, tzinfo=UTC)),
        (datetime(2024, 5, 14, tzinfo=UTC), None),
    ]
