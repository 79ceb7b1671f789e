"""Steps between memories and the entities they mention, and along sessions."""

from __future__ import annotations

import attrs
import numpy as np

from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Entity, Memory, Span, View
from graphsearch.model.signatures import entity_signature, memory_signature
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import HOSTILE_TEXTS, day, mention, person, put, view
from graphsearch.testing.spec import StoreSpec

SPAN = Span(start=0, end=1)
ADA, BOB, EVE = sorted((person("Ada"), person("Bob"), person("Eve")), key=lambda each: each.id)


async def _write_mentions(store: GraphStore, **mentioned: tuple[Entity, ...]) -> None:
    """Write memories by id with their mentions, in the session "s" and in the order given."""
    memories = [Memory(id=key, session_id="s", position=place) for place, key in enumerate(mentioned)]
    mentions = [
        mention(memory, entity, span=Span(start=place, end=place + 1))
        for memory, some in zip(memories, mentioned.values(), strict=True)
        for place, entity in enumerate(some)
    ]
    await put(store, ADA, BOB, EVE, *memories, *mentions)


async def _entities(store: GraphStore, *entities: Entity, seen: View) -> Keys:
    return (await store.locate([entity.id for entity in entities], view=seen)).keys


async def _mentioning(
    store: GraphStore, *entities: Entity, limit: int = 10, seen: View | None = None
) -> list[tuple[str, str, float]]:
    keys = await _entities(store, *entities, seen=view())
    found = await store.mentioned(ElementKind.ENTITY, keys, limit=limit, view=seen or view())
    names = [{each.id: each.name for each in (ADA, BOB, EVE)}[key] for key in store.entity_ids(found.near)]
    return list(zip(names, store.memory_ids(found.far), found.times.tolist(), strict=True))


async def _memories(store: GraphStore, *entities: Entity) -> Keys:
    found = await store.mentioned(
        ElementKind.ENTITY, await _entities(store, *entities, seen=view()), limit=100, view=view()
    )
    return np.unique(found.far)


class MentioningSpec(StoreSpec):
    """`mentioned`, `turns`."""

    async def test_memories_that_mention_entities(self, store: GraphStore) -> None:
        await _write_mentions(store, a=(ADA, BOB, ADA), b=(BOB,), c=(ADA,))
        expected = {ADA.id: [("Ada", "a", 2.0), ("Ada", "c", 1.0)], BOB.id: [("Bob", "a", 1.0), ("Bob", "b", 1.0)]}
        assert await _mentioning(store, ADA, BOB, EVE) == [row for key in sorted(expected) for row in expected[key]]

    async def test_entities_that_memories_mention(self, store: GraphStore) -> None:
        await _write_mentions(store, a=(EVE, ADA, ADA), b=(BOB, EVE))
        keys = await _memories(store, EVE)
        found = await store.mentioned(ElementKind.MEMORY, keys, limit=10, view=view())
        assert store.memory_ids(found.near) == ["a", "a", "b", "b"]
        counts = {"a": {ADA.id: 2.0, EVE.id: 1.0}, "b": {BOB.id: 1.0, EVE.id: 1.0}}
        expected = [(each, times) for key in "ab" for each, times in sorted(counts[key].items())]
        assert list(zip(store.entity_ids(found.far), found.times.tolist(), strict=True)) == expected
        contents = await store.signatures(found.far_signatures.tolist())
        signed = {contents[code] for code in found.far_signatures.tolist()}
        assert {attrs.evolve(each, influences=()) for each in signed} == {entity_signature(ADA)}

    async def test_a_mention_without_a_span_is_of_the_subject(self, store: GraphStore) -> None:
        memory = Memory(id="m", subject="Ada")
        mentions = [mention(memory, ADA), mention(memory, ADA, span=SPAN), mention(memory, BOB, span=SPAN)]
        await put(store, ADA, BOB, memory, *mentions)
        found = await store.mentioned(ElementKind.MEMORY, await _memories(store, BOB), limit=9, view=view())
        about = dict(zip(store.entity_ids(found.far), found.about.tolist(), strict=True))
        assert about == {ADA.id: True, BOB.id: False}
        keys = await _entities(store, ADA, BOB, seen=view())
        back = await store.mentioned(ElementKind.ENTITY, keys, limit=9, view=view())
        assert dict(zip(store.entity_ids(back.near), back.about.tolist(), strict=True)) == about

    async def test_steps_carry_signatures_of_memories(self, store: GraphStore) -> None:
        memory = Memory(id="m", labels=("secret",))
        await put(store, ADA, memory, mention(memory, ADA))
        found = await store.mentioned(
            ElementKind.ENTITY, await _entities(store, ADA, seen=view()), limit=1, view=view()
        )
        (code,) = found.far_signatures.tolist()
        assert (await store.signatures([code]))[code] == memory_signature(memory)

    async def test_what_is_mentioned_too_often_gives_none(self, store: GraphStore) -> None:
        await _write_mentions(store, a=(ADA, BOB), b=(ADA,), c=(ADA,))
        assert {name for name, *_ in await _mentioning(store, ADA, BOB, limit=2)} == {"Bob"}
        assert len(await _mentioning(store, ADA, BOB, limit=3)) == 4
        keys = await _memories(store, ADA)
        assert len(await store.mentioned(ElementKind.MEMORY, keys, limit=1, view=view())) == 2

    async def test_only_what_is_in_view_is_found(self, store: GraphStore, clock: FixedClock) -> None:
        later = Memory(id="later", occurred_at=day(9))
        past = person("Past", valid_to=day(5))
        mentions = [mention(later, ADA), mention(later, past)]
        await put(store, ADA, past, later, *mentions)
        assert await _mentioning(store, ADA, seen=view(day(8), clock.now())) == []
        assert len(await _mentioning(store, ADA, seen=view(day(10), clock.now()))) == 1
        keys = await _memories(store, ADA)
        for when, count in ((day(4), 2), (day(10), 1)):
            found = await store.mentioned(ElementKind.MEMORY, keys, limit=9, view=view(when, clock.now()))
            assert len(found) == count

    async def test_a_memory_that_is_written_again_is_found_as_it_is_now(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        mentions = [mention(Memory(id="m"), ADA)]
        for memory in (Memory(id="m", occurred_at=day(9)), Memory(id="m", occurred_at=day(3), labels=("private",))):
            await put(store, ADA, memory, *mentions)
            for when in (day(2), day(5), day(10)):
                found = await _mentioning(store, ADA, seen=view(when, clock.now()))
                assert len(found) == (memory.occurred_at is not None and memory.occurred_at <= when)
            async with store.snapshot():
                keys = await _entities(store, ADA, seen=view())
                (code,) = (
                    await store.mentioned(ElementKind.ENTITY, keys, limit=9, view=view())
                ).far_signatures.tolist()
                assert await store.signatures([code]) == {code: memory_signature(memory)}

    async def test_a_merge_moves_mentions(self, store: GraphStore) -> None:
        await _write_mentions(store, a=(ADA,), b=(BOB,))
        made = await store.merge(ADA.id, BOB.id)
        assert [key for _, key, _ in await _mentioning(store, BOB)] == ["a", "b"]
        await store.undo_merge(made.id)
        assert [key for _, key, _ in await _mentioning(store, BOB)] == ["b"]

    async def test_what_is_forgotten_is_walked_no_more(self, store: GraphStore) -> None:
        await _write_mentions(store, a=(ADA,), b=(ADA,), c=(ADA,))
        await store.forget(["b"])
        assert [key for _, key, _ in await _mentioning(store, ADA)] == ["a", "c"]
        keys = await _memories(store, ADA)
        assert store.memory_ids((await store.turns(keys, view=view())).far) == ["c", "a"]

    async def test_turns_are_adjacent_in_their_session(self, store: GraphStore) -> None:
        session = [("z", 0), ("y", 5), ("b", 7), ("a", 7)]
        memories = [Memory(id=key, session_id="s", position=place) for key, place in session]
        others = [Memory(id="other", session_id="t"), Memory(id="alone"), Memory(id="lonely")]
        every = [*memories, *others]
        await put(store, ADA, *every, *[mention(each, ADA) for each in every])
        keys = await _memories(store, ADA)
        found = await store.turns(keys, view=view())
        adjacent = list(zip(store.memory_ids(found.near), store.memory_ids(found.far), strict=True))
        assert adjacent == [("a", "y"), ("a", "b"), ("b", "a"), ("y", "z"), ("y", "a"), ("z", "y")]
        assert found.later.tolist() == [False, True, False, False, True, True]

    async def test_turns_out_of_view_are_left_out(self, store: GraphStore, clock: FixedClock) -> None:
        memories = [Memory(id=str(place), session_id="s", position=place, occurred_at=day(place)) for place in range(3)]
        await put(store, ADA, *memories, *[mention(each, ADA) for each in memories])
        keys = await _memories(store, ADA)
        found = await store.turns(keys, view=view(day(1), clock.now()))
        assert store.memory_ids(found.far) == ["1", "0", "1"]

    async def test_no_memory_is_mistaken_for_another_that_is_mentioned(self, store: GraphStore) -> None:
        texts = sorted(set(HOSTILE_TEXTS))
        memories = [Memory(id=each, session_id=each) for each in texts]
        await put(store, ADA, *memories, *[mention(each, ADA) for each in memories])
        assert [key for _, key, _ in await _mentioning(store, ADA, limit=100)] == texts
        keys = await _memories(store, ADA)
        assert len(await store.turns(keys, view=view())) == 0
        assert len(await store.mentioned(ElementKind.MEMORY, keys, limit=1, view=view())) == len(texts)

    async def test_empty_input_finds_nothing(self, store: GraphStore) -> None:
        await _write_mentions(store, a=(ADA,))
        none = (await _entities(store, ADA, seen=view()))[:0]
        assert len(await store.mentioned(ElementKind.ENTITY, none, limit=5, view=view())) == 0
        memories = (await _memories(store, ADA))[:0]
        assert len(await store.mentioned(ElementKind.MEMORY, memories, limit=5, view=view())) == 0
        assert len(await store.turns(memories, view=view())) == 0
