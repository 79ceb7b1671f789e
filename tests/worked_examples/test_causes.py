"""PageRank with a prompt in causal order: causes before effects, whichever way a relation states it, on every store."""

import pytest

from graphsearch import Batch, Entity, GraphSearchEngine, PersonalizedPageRank, Relation, SearchMode

HEAT, DROUGHT, FIRE = (Entity(type="event", name=name) for name in ("Heat Wave", "Long Drought", "Bush Fire"))


def states(source, type_, target):
    return Relation(source_id=source.id, type=type_, target_id=target.id, confidence=0.9)


@pytest.mark.parametrize("forward", ["causes", "leads_to", "results_in", "enables", "prevents", "triggers"])
@pytest.mark.parametrize("backward", ["caused_by", "results_from"])
async def test_causes_come_before_effects_without_registration(scoped, forward, backward):
    relations = [states(FIRE, backward, DROUGHT), states(HEAT, forward, DROUGHT)]
    await scoped.write(Batch(entities=[HEAT, DROUGHT, FIRE], relations=relations))
    engine = GraphSearchEngine(store=scoped, traversal=PersonalizedPageRank())
    found = await engine.search("Bush Fire", mode=SearchMode.NEIGHBORHOOD)
    assert found.prompt_order is not None
    printed = [found.triplets[row].relation.type for row in found.prompt_order]
    assert printed == [forward, backward]


async def test_known_types_and_their_direction(scoped):
    await scoped.write(Batch(entities=[HEAT]))
    types = await scoped.relation_types()
    assert {name for name, each in types.items() if each.causal and not each.effect_first} == {
        *("causes", "leads_to", "led_to", "results_in", "enables", "prevents", "triggers", "contributes_to"),
    }
    assert {name for name, each in types.items() if each.effect_first} == {
        *("caused_by", "results_from", "due_to", "enabled_by", "prevented_by", "triggered_by"),
        *("calls", "imports", "inherits_from"),
    }
