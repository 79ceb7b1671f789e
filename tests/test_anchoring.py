"""The entities that a question names, on every store: exactly, or with a slip of the pen; and only those that show."""

import pytest

from graphsearch.access.reader import reading
from graphsearch.model import Batch, Entity, Memory, Mention
from graphsearch.query import Plan, analyse
from graphsearch.query.question_names import BY_ALIAS, MAX_NAMESAKES
from graphsearch.testing.fakes import NOON
from graphsearch.text.trigrams import similarity
from graphsearch.understanding.anchors import FIRST_LIMIT, find_anchors
from tests.gates import allowing

ADA = Entity(type="person", name="Ada Lovelace", aliases=["the Countess"])
ACME = Entity(type="organisation", name="Acme Corporation", labels=["private"])


def hiding(*ids):
    """A gate that hides some elements, by id."""
    return allowing(lambda resource: resource.id not in set(map(str, ids)))


async def found(store, question, *hidden):
    async with reading(store, gate=hiding(*hidden) if hidden else None) as reader:
        return await find_anchors(question, reader)


def confidence_by_name(anchors):
    return {(anchor.name, anchor.entity_id, anchor.alias): anchor.confidence for anchor in anchors}


@pytest.fixture
async def store(scoped):
    await scoped.write(Batch(entities=[ADA, ACME]))
    return scoped


async def test_exact_names_are_certain_aliases_less_and_slips_as_similar_as_they_are(store):
    assert confidence_by_name(await found(store, "Where did Ada Lovelace live?")) == {
        ("Ada Lovelace", ADA.id, False): 1.0
    }
    assert confidence_by_name(await found(store, "where is the countess?")) == {
        ("the countess", ADA.id, True): BY_ALIAS
    }
    slip = similarity("ada lovelacee", "ada lovelace")
    assert 0.75 <= slip < 1
    assert confidence_by_name(await found(store, "Where did Ada Lovelacee live?")) == {
        ("Ada Lovelacee", ADA.id, False): slip
    }
    assert confidence_by_name(await found(store, "who runs `AcmeCorporation`, the Acme Corporatio?")) == {
        ("Acme Corporatio", ACME.id, False): similarity("acme corporatio", "acme corporation")
    }


async def test_what_is_like_nothing_or_written_as_no_name_is_linked_to_nothing(store):
    assert await found(store, "Where did Grace Hopper live?") == ()
    assert await found(store, "where did ada lovelacee live?") == ()
    assert await found(store, "") == ()


async def test_one_entity_named_twice_is_one_anchor(store):
    (anchor,) = await found(store, "Is Ada Lovelacee the same as Ada Lovelace?")
    assert (anchor.name, anchor.confidence, len(anchor.spans)) == ("Ada Lovelace", 1.0, 2)


async def test_the_plan_rests_on_what_is_linked(store):
    questions = {
        "Who knew Ada Lovelace at Acme Corporation?": Plan.ENTITY_CENTRIC,
        "Who knew Ada Lovelacee?": Plan.ENTITY_CENTRIC,
        "Who knew Ada Lovelace at Globex?": Plan.PRECISION,
    }
    for question, plan in questions.items():
        assert analyse(question, as_of=NOON, anchors=await found(store, question)).plan is plan


async def test_what_is_hidden_is_no_anchor(store):
    assert await found(store, "who runs the Acme Corporation?", ACME.id) == ()
    assert await found(store, "who runs the Acme Corporatio?", ACME.id) == ()


async def test_an_alias_that_only_a_hidden_memory_tells_is_like_nothing(store):
    memory = Memory(id="m1", text="Augusta Byronstone was here.", occurred_at=NOON)
    mention = Mention(memory_id="m1", entity_id=ADA.id, surface="Augusta Byronstone", confidence=0.9)
    await store.write(Batch(memories=[memory], mentions=[mention]))
    question = "where is Augusta Byronston?"
    assert [(anchor.entity_id, anchor.alias) for anchor in await found(store, question)] == [(ADA.id, True)]
    assert await found(store, question, "m1") == ()


async def test_hidden_namesakes_take_nobodys_place(scoped):
    hidden = [Entity(type=f"kind_{number}", name="Quixote Alexander Larsson") for number in range(3 * FIRST_LIMIT)]
    shown = Entity(type="person", name="Quixotte Alexander Larsson")
    await scoped.write(Batch(entities=[*hidden, shown]))
    question = "who is Quixote Alexander Larssonn?"
    assert await found(scoped, question) == (), f"more than {MAX_NAMESAKES} are called so"
    (anchor,) = await found(scoped, question, *(entity.id for entity in hidden))
    assert anchor.entity_id == shown.id


async def test_after_four_rounds_the_search_for_a_name_ends(scoped):
    shared = [Entity(type=f"kind_{number}", name="Quixote Alexander Larsson") for number in range(9 * FIRST_LIMIT)]
    await scoped.write(Batch(entities=shared))
    assert await found(scoped, "who is Quixote Alexander Larssonn?") == ()
