"""Memories that no longer hold, on both stores: when what they claim ended, by what others claim."""

from __future__ import annotations

from datetime import timedelta

from graphsearch.model import Batch, Claim, Entity, Memory
from tests.gates import POLICIES, allowing, no_secrets
from tests.ranking.memories.telling import asking
from tests.test_hidden import SECRET

TOM = Entity(type="person", name="Tom")
ATHLONE, GALWAY = Entity(type="place", name="Athlone"), Entity(type="place", name="Galway")


def lives(memory: Memory, place: Entity, **details) -> Claim:
    return Claim(memory_id=memory.id, source_id=TOM.id, type="lives_in", target_id=place.id, confidence=0.9, **details)


async def remembered(store, clock, *, later_labels=(), **details):
    day = clock.now() - timedelta(days=10)
    old = Memory(id="old", text="Tom lives in Athlone.", occurred_at=day - timedelta(days=100))
    new = Memory(id="new", text="Tom lives in Galway.", occurred_at=day, labels=later_labels)
    plain = Memory(id="plain", text="Tom lives well.", occurred_at=day)
    await store.write(
        Batch(
            entities=(TOM, ATHLONE, GALWAY),
            memories=(old, new, plain),
            claims=(lives(old, ATHLONE, **details), lives(new, GALWAY)),
        )
    )
    return day


async def until(store, **options):
    found = await asking(store).recall("Where does Tom live?", **options)
    return {each.memory.id: each.until for each in found.memories}


async def test_a_memory_says_until_when_it_held(scoped, clock):
    day = await remembered(scoped, clock)
    assert await until(scoped) == {"old": day, "new": None, "plain": None}


async def test_it_held_before_that(scoped, clock):
    day = await remembered(scoped, clock)
    assert await until(scoped, as_of=day - timedelta(days=1)) == {"old": None}


async def test_one_that_gives_its_own_end_says_so_itself(scoped, clock):
    await remembered(scoped, clock, valid_to=clock.now() - timedelta(days=50))
    assert await until(scoped) == {"old": None, "new": None, "plain": None}


async def test_one_that_still_says_something_else_holds(scoped, clock):
    await remembered(scoped, clock)
    knows = Claim(memory_id="old", source_id=TOM.id, type="knows", target_id=GALWAY.id, confidence=0.9)
    old = (await scoped.get_memories(["old"]))[0]
    await scoped.write(Batch(memories=(old,), entities=(TOM, ATHLONE, GALWAY), claims=(lives(old, ATHLONE), knows)))
    assert (await until(scoped))["old"] is None


async def test_what_is_hidden_supersedes_nothing(scoped, clock):
    await remembered(scoped, clock, later_labels=(SECRET,))
    assert await until(scoped, gate=no_secrets(by_signature=True)) == {"old": None, "plain": None}


@POLICIES
async def test_the_end_of_a_relation_of_a_hidden_type_does_not_show(scoped, clock, by_signature):
    await remembered(scoped, clock)
    gate = allowing(lambda resource: resource.type != "lives_in", by_signature=by_signature)
    assert await until(scoped, gate=gate) == {"old": None, "new": None, "plain": None}
