"""Steps between memories and the entities they mention, and along sessions."""

from __future__ import annotations

import attrs
import numpy as np

from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Entity, Memory, Span, View
from graphsearch.model.signatures import entity_signature
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import day, mention, person, put, view
from graphsearch.testing.spec import StoreSpec

ADA, BOB, EVE = sorted((person("Ada"), person("Bob"), person("Eve")), key=lambda each: each.id)


async def write_mentions(store: GraphStore, **mentioned: tuple[Entity, ...]) -> None:
    """Write memories by id with their mentions, in the session "s" and in the order given."""
    memories = [Memory(id=key, session_id="s", position=place) for place, key in enumerate(mentioned)]
    mentions = [
        mention(memory, entity, span=Span(start=place, end=place + 1))
        for memory, some in zip(memories, mentioned.values(), strict=True)
        for place, entity in enumerate(some)
    ]
    await put(store, ADA, BOB, EVE, *memories, *mentions)


async def entity_keys(store: GraphStore, *entities: Entity, seen: View) -> Keys:
    """The keys of entities."""
    return (await store.locate([entity.id for entity in entities], view=seen)).keys


async def mentioning(
    store: GraphStore, *entities: Entity, limit: int = 10, seen: View | None = None
) -> list[tuple[str, str, float]]:
    """The memories that mention entities: name, id, times."""
    keys = await entity_keys(store, *entities, seen=view())
    found = await store.mentioned(ElementKind.ENTITY, keys, limit=limit, view=seen or view())
    names = [{each.id: each.name for each in (ADA, BOB, EVE)}[key] for key in store.entity_ids(found.near)]
    return list(zip(names, store.memory_ids(found.far), found.times.tolist(), strict=True))


async def keys_of_memories(store: GraphStore, *entities: Entity) -> Keys:
    """The keys of the memories that mention entities."""
    found = await store.mentioned(
        ElementKind.ENTITY, await entity_keys(store, *entities, seen=view()), limit=100, view=view()
    )
    return np.unique(found.far)


class MentioningSpec(StoreSpec):
    """`mentioned`, `turns`."""

    async def test_memories_that_mention_entities(self, store: GraphStore) -> None:
        await write_mentions(store, a=(ADA, BOB, ADA), b=(BOB,), c=(ADA,))
        expected = {ADA.id: [("Ada", "a", 2.0), ("Ada", "c", 1.0)], BOB.id: [("Bob", "a", 1.0), ("Bob", "b", 1.0)]}
        assert await mentioning(store, ADA, BOB, EVE) == [row for key in sorted(expected) for row in expected[key]]

    async def test_entities_that_memories_mention(self, store: GraphStore) -> None:
        await write_mentions(store, a=(EVE, ADA, ADA), b=(BOB, EVE))
        keys = await keys_of_memories(store, EVE)
        found = await store.mentioned(ElementKind.MEMORY, keys, limit=10, view=view())
        assert store.memory_ids(found.near) == ["a", "a", "b", "b"]
        counts = {"a": {ADA.id: 2.0, EVE.id: 1.0}, "b": {BOB.id: 1.0, EVE.id: 1.0}}
        expected = [(each, times) for key in "ab" for each, times in sorted(counts[key].items())]
        assert list(zip(store.entity_ids(found.far), found.times.tolist(), strict=True)) == expected
        contents = await store.signatures(found.far_signatures.tolist())
        signed = {contents[code] for code in found.far_signatures.tolist()}
        assert {attrs.evolve(each, influences=()) for each in signed} == {entity_signature(ADA)}

    async def test_only_what_is_in_view_is_found(self, store: GraphStore, clock: FixedClock) -> None:
        later = Memory(id="later", occurred_at=day(9))
        past = person("Past", valid_to=day(5))
        mentions = [mention(later, ADA), mention(later, past)]
        await put(store, ADA, past, later, *mentions)
        assert await mentioning(store, ADA, seen=view(day(8), clock.now())) == []
        assert len(await mentioning(store, ADA, seen=view(day(10), clock.now()))) == 1
        keys = await keys_of_memories(store, ADA)
        for when, count in ((day(4), 2), (day(10), 1)):
            found = await store.mentioned(ElementKind.MEMORY, keys, limit=9, view=view(when, clock.now()))
            assert len(found) == count

    async def test_turns_are_adjacent_in_their_session(self, store: GraphStore) -> None:
        session = [("z", 0), ("y", 5), ("b", 7), ("a", 7)]
        memories = [Memory(id=key, session_id="s", position=place) for key, place in session]
        others = [Memory(id="other", session_id="t"), Memory(id="alone"), Memory(id="lonely")]
        every = [*memories, *others]
        await put(store, ADA, *every, *[mention(each, ADA) for each in every])
        keys = await keys_of_memories(store, ADA)
        found = await store.turns(keys, view=view())
        adjacent = list(zip(store.memory_ids(found.near), store.memory_ids(found.far), strict=True))
        assert adjacent == [("a", "y"), ("a", "b"), ("b", "a"), ("y", "z"), ("y", "a"), ("z", "y")]
        assert found.later.tolist() == [False, True, False, False, True, True]
