"""Ranking of entities: the periods that fit a question's year, and the sums of the design, on every store."""

from datetime import UTC, datetime

import pytest

from graphsearch import Batch, Entity, GraphSearchEngine, Memory, Mention, Ranking

HARRIS, BECERRA = (
    Entity(type="person", name="Kamala Harris", description="Attorney General", attributes={"terms": "2011-2017"}),
    Entity(type="person", name="Xavier Becerra", description="Attorney General", attributes={"terms": "2017–2021"}),
)
QUESTION = "who was Attorney General in 2020?"


async def temporal(engine, query=QUESTION):
    """The temporal factor of each entity."""
    found = await engine.rank_entities(query, ranking=Ranking.TEMPORAL)
    return {
        each.entity.name: next(factor.value for factor in each.factors if factor.name == "temporal")
        for each in found.entities
    }


async def test_who_was_in_office_in_2020(scoped):
    await scoped.write(Batch(entities=[HARRIS, BECERRA]))
    engine = GraphSearchEngine(store=scoped)
    assert await temporal(engine) == {"Xavier Becerra": 1.0, "Kamala Harris": 0.3}
    found = await engine.rank_entities(QUESTION)
    assert found.entities[0].entity.name == "Xavier Becerra"


@pytest.mark.parametrize("term", ["2019-", "2019–", "since then: 2019 - present", "2011-2013, 2019-"])
async def test_a_period_without_an_end_is_open(scoped, term):
    bonta = Entity(type="person", name="Rob Bonta", description="Attorney General", attributes={"terms": term})
    await scoped.write(Batch(entities=[bonta]))
    engine = GraphSearchEngine(store=scoped)
    assert await temporal(engine) == {"Rob Bonta": 0.8}
    assert await temporal(engine, "who was Attorney General in 2018?") == {"Rob Bonta": 0.3}


async def test_what_has_no_dates_has_those_of_its_episodes(scoped):
    """Memories that mention an entity, or prove its relations, date it; dates of its own come before them."""
    names = {"Ann Hill": 2020, "Bob Stone": 2015, "Cyd Vale": None}
    entities = [Entity(type="person", name=name, description="Attorney General") for name in names]
    memories = [
        Memory(id=str(year), text=f"{name} was named.", occurred_at=datetime(year, 5, 1, tzinfo=UTC))
        for name, year in names.items()
        if year
    ]
    everybody = [*entities, HARRIS]
    mentions = [Mention(memory_id="2020", entity_id=each.id, surface=each.name) for each in (entities[0], HARRIS)]
    mentions.append(Mention(memory_id="2015", entity_id=entities[1].id, surface="Bob Stone"))
    await scoped.write(Batch(entities=everybody, memories=memories, mentions=mentions))
    assert await temporal(GraphSearchEngine(store=scoped)) == {
        "Ann Hill": 1.0,
        "Bob Stone": 0.3,
        "Cyd Vale": 0.5,
        "Kamala Harris": 0.3,
    }
