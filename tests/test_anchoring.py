"""The entities that a question names, on every store, and the plan that follows: only those that may be seen."""

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Entity, Memory, Mention
from graphsearch.modes.result import SearchMode
from graphsearch.question import Plan
from graphsearch.question.linking import FITS
from graphsearch.testing.fakes import NOON
from tests.gates import allowing

ADA = Entity(type="person", name="Ada Lovelace", aliases=["the Countess"])
ACME = Entity(type="organisation", name="Acme Corporation", labels=["private"])


async def asked(store, question, *hidden):
    gate = allowing(lambda resource: resource.id not in set(map(str, hidden))) if hidden else None
    return await GraphSearchEngine(store=store).search(question, mode=SearchMode.NEIGHBORHOOD, gate=gate)


async def found(store, question, *hidden):
    anchors = (await asked(store, question, *hidden)).anchors
    return {(each.name, each.entity_id): round(each.confidence, 2) for each in anchors}


@pytest.fixture
async def store(scoped):
    await scoped.write(Batch(entities=[ADA, ACME]))
    return scoped


async def test_whole_names_are_certain_and_slips_nearly(store):
    assert await found(store, "Where did Ada Lovelace live?") == {("Ada Lovelace", ADA.id): 1.0}
    assert await found(store, "where is the countess?") == {("the countess", ADA.id): 1.0}
    assert await found(store, "Where did Ada Lovelacee live?") == {("Ada Lovelacee", ADA.id): FITS}
    assert await found(store, "Where did Grace Hopper live?") == {}
    assert await found(store, "") == {}


async def test_the_plan_rests_on_what_is_linked(store):
    questions = {
        "Who knew Ada Lovelace at Acme Corporation?": Plan.ENTITY_CENTRIC,
        "Who knew Ada Lovelacee?": Plan.ENTITY_CENTRIC,
        "Who knew Ada Lovelace at Globex?": Plan.PRECISION,
    }
    for question, plan in questions.items():
        assert (await asked(store, question)).analysis.plan is plan
        ranked = await GraphSearchEngine(store=store).rank_entities(question)
        assert ranked.analysis.plan is plan


async def test_what_is_hidden_is_no_anchor(store):
    memory = Memory(id="m1", text="Augusta Byronstone was here.", occurred_at=NOON)
    mention = Mention(memory_id="m1", entity_id=ADA.id, surface="Augusta Byronstone", confidence=0.9)
    await store.write(Batch(memories=[memory], mentions=[mention]))
    for question, id_, hidden in (
        ("who runs the Acme Corporation?", ACME.id, ACME.id),
        ("who runs the Acme Corporatio?", ACME.id, ACME.id),
        ("where is Augusta Byronston?", ADA.id, "m1"),
    ):
        assert {anchor for _, anchor in await found(store, question)} == {id_}
        assert await found(store, question, hidden) == {}
