"""Types: explicit ones, and those that mentions give to entities without one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import attrs
import pytest

from graphsearch.model import Batch, ElementKind, Entity, Memory, Mention
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import batch_of, day, ids_of, put, vector, view
from graphsearch.testing.spec import FreshScope, StoreSpec

KESTREL = Entity(type="concept", name="Kestrel")
UNTYPED, FIRST, SECOND = (Memory(id=key, occurred_at=day(at)) for key, at in (("z", 1), ("y", 3), ("x", 5)))


def typed(memory: Memory, type: str = "", entity: Entity = KESTREL, surface: str = "") -> Mention:
    """A mention whose text states the type of the entity."""
    return Mention(memory_id=memory.id, entity_id=entity.id, surface=surface or entity.name, type=type)


async def shown(store: GraphStore, entity: Entity = KESTREL) -> str:
    """The type of an entity, which its signature shares and by which it is listed."""
    (found,) = await store.get_entities([entity.id])
    hits = await store.locate([entity.id], view=view(store.clock.now()))
    (signature,) = (await store.signatures(hits.signatures.tolist())).values()
    assert signature.type == found.type
    assert found in await store.list_entities(type=found.type)
    return found.type


async def nearest(store: GraphStore) -> list[object]:
    """The entities that have vectors."""
    found = await store.search_by_embedding(ElementKind.ENTITY, vector(1, 0), limit=9, view=view(store.clock.now()))
    return list(ids_of(store, ElementKind.ENTITY, found))


class TypingSpec(StoreSpec):
    """`Mention.type`, and the types after `write`, `forget`, `merge` and `undo_merge`."""

    async def test_a_mention_keeps_its_type(self, store: GraphStore) -> None:
        mentions = (typed(FIRST, "Code Name"), typed(FIRST), typed(FIRST, surface="K"))
        await put(store, KESTREL, FIRST, *mentions)
        found = await store.list_mentions(memory_ids=[FIRST.id])
        assert sorted((each.surface, each.type) for each in found) == [
            ("K", ""),
            ("Kestrel", ""),
            ("Kestrel", "code_name"),
        ]
        await put(store, FIRST, typed(FIRST, "tool"))
        assert await store.list_mentions(memory_ids=[FIRST.id]) == [typed(FIRST, "tool")]

    async def test_the_first_typed_mention_gives_the_type_in_any_order(self, fresh: FreshScope) -> None:
        mentions = {UNTYPED: typed(UNTYPED), FIRST: typed(FIRST, "project"), SECOND: typed(SECOND, "tool")}
        for order in permutations(mentions):
            store = fresh()
            for at, memory in enumerate(order):
                await put(store, memory, mentions[memory], named=() if at else (KESTREL,))
            assert await shown(store) == "project"
            assert (await store.statistics()).entities_by_type == {"project": 1}
            (given,) = await store.asserted([KESTREL.id])
            assert (given.entity.id, given.entity.type, given.named) == (KESTREL.id, "concept", True)

    async def test_the_first_mention_of_a_memory_gives_the_type(self, store: GraphStore) -> None:
        mentions = (typed(FIRST, "unknown"), typed(FIRST, "tool", surface="The Kestrel"), typed(FIRST, "project"))
        await put(store, FIRST, *mentions, named=(KESTREL,))
        assert await shown(store) == "project"

    async def test_forgetting_a_typed_mention_restores_the_type(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        vectors = {KESTREL.id: vector(1, 0)}
        await put(store, UNTYPED, typed(UNTYPED), named=(KESTREL,), vectors=vectors)
        assert await nearest(store) == [KESTREL.id]
        report = await put(store, FIRST, SECOND, typed(FIRST, "project"), typed(SECOND, "tool"))
        assert report.reworded == (KESTREL.id,)
        assert await nearest(store) == []
        await put(store, vectors=vectors)
        assert (await store.forget([FIRST.id])).reworded == (KESTREL.id,)
        assert await shown(store) == "tool"
        assert await nearest(store) == []
        await put(store, vectors=vectors)
        report = await put(store, SECOND, typed(SECOND))
        assert report.reworded == (KESTREL.id,)
        assert await shown(store) == "concept"
        assert (await store.forget([SECOND.id])).reworded == ()

    async def test_a_vector_that_comes_with_the_type_stays(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await put(store, UNTYPED, typed(UNTYPED), named=(KESTREL,))
        report = await put(store, FIRST, typed(FIRST, "project"), vectors={KESTREL.id: vector(1, 0)})
        assert report.reworded == ()
        assert await nearest(store) == [KESTREL.id]

    async def test_a_memory_that_becomes_earlier_gives_the_type(self, store: GraphStore) -> None:
        mentions = (typed(FIRST, "project"), typed(SECOND, "tool"))
        await put(store, FIRST, SECOND, *mentions, named=(KESTREL,))
        earlier = attrs.evolve(SECOND, occurred_at=None)
        await put(store, earlier, *mentions[1:])
        assert await shown(store) == "tool"

    @pytest.mark.parametrize(
        "batch",
        [
            batch_of(KESTREL),
            batch_of(attrs.evolve(KESTREL, type="tool")),
            batch_of(named=(attrs.evolve(KESTREL, type="tool"),)),
        ],
    )
    async def test_a_type_that_was_given_stays(self, store: GraphStore, batch: Batch) -> None:
        (entity,) = (*batch.entities, *batch.named)
        stated = batch_of(FIRST, typed(FIRST, "project"))
        await store.write(attrs.evolve(stated, entities=batch.entities, named=batch.named))
        assert await shown(store) == entity.type
        await store.write(attrs.evolve(stated, named=(KESTREL,)))
        assert await shown(store) == "project"
        await store.write(batch)
        assert await shown(store) == entity.type
        assert (await store.asserted([KESTREL.id]))[0].entity.type == entity.type

    async def test_naming_it_again_keeps_the_type_of_mentions(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        batch = batch_of(FIRST, typed(FIRST, "project"), named=(KESTREL,))
        await store.write(batch)
        await put(store, vectors={KESTREL.id: vector(1, 0)})
        assert (await store.write(batch)).entities == (await put(store, named=(KESTREL,))).entities == 0
        described = attrs.evolve(KESTREL, type="unknown", description="A bird.", labels=("bird",))
        report = await put(store, named=(described,))
        assert (report.entities, report.reworded) == (1, ())
        assert await shown(store) == "project"
        assert await nearest(store) == [KESTREL.id]
        (now,) = await store.get_entities([KESTREL.id])
        assert (now.description, now.labels) == ("A bird.", ("bird",))
        await store.forget([FIRST.id])
        assert await store.get_entities([KESTREL.id]) == []

    async def test_what_turns_out_to_be_code_is_called_by_its_own_name(self, store: GraphStore) -> None:
        connect = Entity(type="unknown", name="ssl.connect")
        mentions = (typed(UNTYPED, entity=connect, surface="connect"), typed(UNTYPED, entity=connect))
        await put(store, UNTYPED, *mentions, named=(connect,))
        assert (await store.get_entities([connect.id]))[0].aliases == ("connect",)
        await put(store, FIRST, typed(FIRST, "function", connect))
        assert (await store.get_entities([connect.id]))[0].aliases == ()
        assert await store.find_names(["connect"]) == []
        await store.forget([FIRST.id])
        assert (await store.get_entities([connect.id]))[0].aliases == ("connect",)

    async def test_a_merged_entity_gives_its_type_until_the_merge_is_undone(self, store: GraphStore) -> None:
        other = Entity(type="concept", name="Falcon")
        await put(
            store,
            named=(KESTREL, other),
            memories=(UNTYPED, FIRST, SECOND),
            mentions=(typed(UNTYPED), typed(FIRST, "project", other), typed(SECOND, "project")),
        )
        made = await store.merge(other.id, KESTREL.id)
        assert (await store.forget([SECOND.id])).reworded == ()
        assert await shown(store) == "project"
        report = await store.undo_merge(made.id)
        assert await self._types(store, (KESTREL, other)) == ["concept", "project"]
        assert report.reworded == (KESTREL.id,)

    async def test_mentions_do_not_change_a_given_type(self, store: GraphStore) -> None:
        known, concept = Entity(type="project", name="Falcon"), Entity(type="concept", name="Merlin")
        stated = (typed(UNTYPED, "tool", known), typed(UNTYPED, "tool", concept), typed(FIRST, "project"))
        await put(store, known, concept, UNTYPED, FIRST, *stated, named=(KESTREL,))
        made = await store.merge(known.id, KESTREL.id)
        assert await shown(store) == "project"
        await store.undo_merge(made.id)
        await put(store, FIRST, typed(FIRST))
        await store.merge(concept.id, KESTREL.id)
        assert await shown(store) == "concept"

    async def test_deleting_a_merged_entity_leaves_the_type_it_gave(self, store: GraphStore) -> None:
        other = Entity(type="concept", name="Falcon")
        mentions = (typed(UNTYPED), typed(FIRST, "project", other), typed(SECOND, "project"))
        await put(store, UNTYPED, FIRST, SECOND, *mentions, named=(KESTREL, other))
        await store.merge(other.id, KESTREL.id)
        await store.delete(entities=[other.id])
        assert (await store.forget([SECOND.id])).reworded == ()
        assert await shown(store) == "project"

    async def _types(self, store: GraphStore, entities: Sequence[Entity]) -> list[str]:
        return [each.type for each in await store.get_entities([entity.id for entity in entities])]
