"""Histories: questions about what was, over graphs of several domains, in the order of time, on every store."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from graphsearch import Batch, Entity, GraphSearchEngine, Relation, RelationType
from graphsearch.testing.fakes import NOON

OFFICE = """
Priya Sharma person works_at Acme Labs company 2014 2016
Priya Sharma person works_at Globex company 2016 2020
Priya Sharma person works_at Northwind company 2020 -
Sam Okoro person lives_in Graz city 2010 2014
Sam Okoro person lives_in Porto city 2014 2019
Sam Okoro person lives_in Leeds city 2019 -
Lena Fuchs person leads Ops team 2015 2017
Marco Bellini person leads Ops team 2017 2021
Ines Valdez person leads Ops team 2021 -
Checkout service uses Mollie software 2014 2016
Checkout service uses Stripe software 2016 2022
Checkout service uses Adyen software 2022 -
Sam Okoro person member_of Ops team - -
Priya Sharma person member_of Ops team - 2019
Priya Sharma person lives_in Leeds city - -
"""
SHIPS = """
Olga Berg captain commands Nordkap vessel 2010 2014
Pal Dahl captain commands Nordkap vessel 2014 2020
Rune Aas captain commands Nordkap vessel 2020 -
Hurtig AS owner owns Tern vessel 2001 2009
Fjord Lines owner owns Tern vessel 2009 2018
Polar Shipping owner owns Tern vessel 2018 -
Mare Blu vessel berths_at Kirkenes harbour 2021 -
Mare Blu vessel berths_at Bodø harbour 2012 2021
"""


def _ends(words):
    """A name and its type, from words of which the last is the type."""
    return Entity(name=" ".join(words[:-1]), type=words[-1])


async def graph(scoped, lines):
    relations = []
    entities: dict[UUID, Entity] = {}
    for line in lines.strip().splitlines():
        *words, start, end = line.split()
        verb = next(
            place for place, word in enumerate(words) if "_" in word or word in ("leads", "uses", "owns", "commands")
        )
        source, target = _ends(words[:verb]), _ends(words[verb + 1 :])
        entities |= {source.id: source, target.id: target}
        period = [None if year == "-" else datetime(int(year), 1, 1, tzinfo=UTC) for year in (start, end)]
        relations.append(
            Relation(
                source_id=source.id,
                type=words[verb],
                target_id=target.id,
                valid_from=period[0],
                valid_to=period[1],
                confidence=0.9,
            )
        )
    await scoped.write(Batch(entities=list(entities.values()), relations=relations))
    return GraphSearchEngine(store=scoped, embedder=None)


LEADS, HOMES, JOBS, TOOLS = (
    ["Lena Fuchs", "Marco Bellini", "Ines Valdez"],
    ["Graz", "Porto", "Leeds"],
    ["Acme Labs", "Globex", "Northwind"],
    ["Mollie", "Stripe", "Adyen"],
)


@pytest.mark.parametrize(
    ("lines", "type_", "questions"),
    [
        (
            OFFICE,
            "leads",
            {
                "who has led Ops?": LEADS,
                "everyone who ever led Ops": LEADS,
                "who led Ops before Ines Valdez?": LEADS,
                "who led Ops after Lena Fuchs?": [*LEADS[1:], LEADS[0]],
                "who led Ops before?": LEADS,
                "list the leads of Ops": LEADS,
                "who used to lead Ops?": LEADS,
            },
        ),
        (
            OFFICE,
            "lives_in",
            {"where has Sam Okoro lived?": HOMES, "where did Sam Okoro live before Leeds?": HOMES},
        ),
        (OFFICE, "works_at", {"where has Priya Sharma worked?": JOBS, "who did Priya Sharma work at before?": JOBS}),
        (OFFICE, "uses", {"what did Checkout use before Adyen?": TOOLS, "everything Checkout has ever used": TOOLS}),
        (SHIPS, "commands", {"who has commanded the Nordkap?": ["Olga Berg", "Pal Dahl", "Rune Aas"]}),
        (SHIPS, "owns", {"who owned the Tern before Polar Shipping?": ["Hurtig AS", "Fjord Lines", "Polar Shipping"]}),
        (SHIPS, "berths_at", {"where has Mare Blu berthed?": ["Bodø", "Kirkenes"]}),
    ],
)
async def test_periods_are_listed_in_order(scoped, lines, type_, questions):
    engine = await graph(scoped, lines)
    for question, expected in questions.items():
        for as_of in (None, NOON):
            found = await engine.search(question, mode="neighborhood", as_of=as_of)
            first = found.triplets[: len(expected)]
            assert [each.relation.type for each in first] == [type_] * len(expected), question
            ends = [{each.source.name, each.target.name} for each in first]
            assert [name in end for name, end in zip(expected, ends, strict=True)] == [True] * len(expected), (
                question,
                ends,
            )


async def test_a_list_of_what_has_several_values_at_once_is_of_what_holds(scoped):
    engine = await graph(scoped, OFFICE)
    found = await engine.search("all the members of Ops", mode="neighborhood")
    members = [each.source.name for each in found.triplets if each.relation.type == "member_of"]
    assert members == ["Sam Okoro"]
    assert all(each.relation.valid_to is None for each in found.triplets)


async def test_what_was_done_is_found_after_it_is_over(scoped):
    engine = await graph(scoped, "Bob Stone person leads Ops team 2019 2020")
    found = await engine.search("who did Bob Stone lead?", mode="neighborhood")
    assert [each.target.name for each in found.triplets] == ["Ops"]
    assert (await engine.search("what does Bob Stone lead?", mode="neighborhood")).triplets == ()


async def test_age_does_not_bury_what_alone_is_known_and_what_scores_nothing_is_not_shown(scoped):
    ann, bob, cyd = (Entity(name=name, type="person") for name in ("Ann Hill", "Bob Stone", "Cyd Vale"))
    old = NOON - timedelta(days=900)
    await scoped.register_types([RelationType(name="hints_at", prior=1e-7)])
    relations = [
        Relation(
            source_id=ann.id, type="co_occurs", target_id=bob.id, valid_from=old, supported_at=old, confidence=0.6
        ),
        Relation(source_id=ann.id, type="hints_at", target_id=cyd.id, confidence=0.9),
    ]
    await scoped.write(Batch(entities=[ann, bob, cyd], relations=relations))
    engine = GraphSearchEngine(store=scoped, embedder=None)
    found = await engine.search("Ann Hill", mode="neighborhood")
    assert [each.target.name for each in found.triplets] == ["Bob Stone"]
    assert found.below_floor == 1
    assert [each.target.name for each in await engine.neighbors("Ann Hill")] == ["Bob Stone"]


async def test_a_skipped_type_is_read_where_it_is_asked_for(scoped):
    bob, ann = Entity(name="Bob Stone", type="person"), Entity(name="Ann Hill", type="person")
    met = Relation(
        source_id=bob.id, type="met_with", target_id=ann.id, valid_from=NOON - timedelta(days=2), confidence=0.8
    )
    await scoped.write(Batch(entities=[bob, ann], relations=[met]))
    engine = GraphSearchEngine(store=scoped, embedder=None)
    for question, found in (("who did Bob Stone meet?", ["Ann Hill"]), ("what of Bob Stone?", [])):
        shown = await engine.search(question, mode="neighborhood")
        assert [each.target.name for each in shown.triplets] == found, question
