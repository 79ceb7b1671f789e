"""Surfaces, their memories, and words of names. Beside the conformance suite."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any
from uuid import UUID

import attrs

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.model import ElementKind, Entity, Memory, Mention
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import batch_of, day, ids_of, matching, person, put, vector, view
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_forgetting import surface_mention
from graphsearch.testing.spec_naming import ENTITY, OPEN, SHUT, find_by_words
from tests.stores.on_both import InMemory, InPostgres

ADA, BOB = person("Ada Lovelace"), person("Bob")


async def stored_entity(store: GraphStore, entity: Entity) -> Entity:
    """An entity as it is stored."""
    (found,) = await store.get_entities([entity.id])
    return found


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


async def _surface_forms(store: GraphStore, **asked: Any) -> list[tuple[tuple[UUID, str], tuple[str, ...]]]:
    found = await store.surface_forms([BOB.id, ADA.id, ADA.id], **asked)
    return [((each.entity_id, each.surface), each.memory_ids) for each in found]


class NamesDetails(StoreSpec):
    """Surfaces, their memories, and words of names."""

    async def test_writing_an_entity_again_leaves_what_its_mentions_add(self, store: GraphStore) -> None:
        batch = batch_of(ADA, Memory(id="a"), surface_mention("a", ADA, "Countess"))
        await store.write(batch)
        report = await put(store, ADA)
        assert report.entities == 0
        assert (await stored_entity(store, ADA)).aliases == ("Countess",)
        report = await put(store, attrs.evolve(ADA, name="Countess", aliases=("Ada",)))
        assert report.entities == 1
        assert (await stored_entity(store, ADA)).aliases == ("Ada",)
        assert await matching(store, ElementKind.ENTITY, "lovelace") == []

    async def test_surface_forms_come_with_the_first_of_their_memories(self, store: GraphStore) -> None:
        memories = [Memory(id=f"m{number}") for number in range(5)]
        await put(
            store,
            entities=(ADA, BOB),
            memories=memories,
            mentions=(
                *(surface_mention(memory, ADA, "Countess", at) for memory in reversed(memories) for at in (0, 9)),
                surface_mention("m3", ADA, "the  COUNTESS"),
                attrs.evolve(surface_mention("m4", ADA, "Ada", 3), type="person"),
                surface_mention("m0", ADA, "Ada", 3),
                surface_mention("m1", BOB, "Countess", 3),
            ),
        )
        called = {key: ids for key, ids in await _surface_forms(store, limit=3) if key[0] == ADA.id}
        assert called == {
            (ADA.id, "Ada"): ("m0", "m4"),
            (ADA.id, "Countess"): ("m0", "m1", "m2"),
            (ADA.id, "the  COUNTESS"): ("m3",),
        }
        found = {key: ids for key, ids in await _surface_forms(store, limit=9) if key[1] == "Countess"}
        assert found == {(ADA.id, "Countess"): tuple(f"m{at}" for at in range(5)), (BOB.id, "Countess"): ("m1",)}
        assert await store.surface_forms([], limit=9) == []
        assert ((ADA.id, "Ada"), ()) in await _surface_forms(store, limit=0)

    async def test_the_first_memories_of_an_entity_are_those_written_first(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        written = []
        for name in ("z", "y", "x"):
            mentions = (surface_mention(name, ADA, "Ada"), surface_mention(name, ADA, "Countess", 9))
            await put(store, ADA, BOB, Memory(id=name), *mentions)
            written.append((clock.now(), name))
            clock.advance(days=1)
        both = [ADA.id, BOB.id]
        assert await store.first_written(both, limit=9) == {ADA.id: written}
        assert await store.first_written(both, limit=2) == {ADA.id: written[:2]}
        assert await store.first_written(both, limit=0) == await store.first_written([], limit=9) == {}
        later = (surface_mention("w", BOB, "Bob"), surface_mention("w", ADA, "Ada", 9))
        await put(store, Memory(id="w"), Memory(id="y"), *later)
        last = (clock.now(), "w")
        own = [written[0], written[2], last]
        assert await store.first_written(both, limit=9) == {ADA.id: own, BOB.id: [last]}
        merge = await store.merge(ADA.id, BOB.id)
        assert await store.first_written(both, limit=9) == {ADA.id: own, BOB.id: own}
        await store.undo_merge(merge.id)
        assert await store.first_written(both, limit=9) == {ADA.id: own, BOB.id: [last]}

    async def test_given_wins_over_named_in_one_batch(self, store: GraphStore) -> None:
        await put(store, ADA, named=(attrs.evolve(ADA, name="ada lovelace"),))
        (given,) = await store.asserted([ADA.id])
        assert (given.entity.name, given.named) == ("Ada Lovelace", False)
        assert await store.asserted([BOB.id]) == []

    async def test_the_lowest_ids_come_first_of_more_than_asked_for(self, store: GraphStore) -> None:
        people = [person(f"Ada {number}") for number in range(30)]
        await put(store, *people)
        lowest = sorted(each.id for each in people)[:7]
        for prefix in (False, True):
            found = await store.find_name_words(["ada"], prefix=prefix, limit=7)
            assert [each.entity_id for each in found] == lowest
        assert await store.find_name_words(["ada"], limit=0) == []

    async def test_words_are_read_as_stored_and_shown_nowhere_else(self, store: GraphStore) -> None:
        await put(store, OPEN, SHUT, words={OPEN.id: {"latch": 1 / 3, "a": 1e-9}})
        assert await store.words([OPEN.id, SHUT.id]) == {OPEN.id: {"latch": 21 / 64, "a": 1 / 64}}
        assert await store.words([]) == {}
        (stored,) = await store.get_entities([OPEN.id])
        assert attrs.evolve(stored, created_at=None) == OPEN

    async def test_words_stay_until_others_are_given(self, store: GraphStore) -> None:
        await put(store, OPEN, words={OPEN.id: {"latch": 1.0}})
        await put(store, attrs.evolve(OPEN, description="Opens."))
        assert list(await find_by_words(store, "latch")) == [OPEN.id]
        await put(store, OPEN, words={OPEN.id: {"key": 1.0}})
        assert [list(await find_by_words(store, asked)) for asked in ("latch", "key")] == [[], [OPEN.id]]
        await put(store, OPEN, words={OPEN.id: {}})
        assert await find_by_words(store, "key") == {} == await store.words([OPEN.id])
        assert list(await find_by_words(store, "open")) == [OPEN.id]

    async def test_words_go_with_their_entity(self, store: GraphStore) -> None:
        await put(store, OPEN, SHUT, words={OPEN.id: {"latch": 1.0}})
        await store.delete(entities=[OPEN.id])
        assert await store.words([OPEN.id]) == {}
        await put(store, OPEN)
        assert await find_by_words(store, "latch") == {}
        assert list(await store.document_frequencies(ENTITY, [["latch"]])) == [0]

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

    async def test_a_merged_entity_gives_its_type_until_the_merge_is_undone(self, store: GraphStore) -> None:
        other = Entity(type="concept", name="Falcon")
        mentions = typed(UNTYPED), typed(FIRST, "project", other), typed(SECOND, "project")
        await put(store, UNTYPED, FIRST, SECOND, *mentions, named=(KESTREL, other))
        made = await store.merge(other.id, KESTREL.id)
        assert (await store.forget([SECOND.id])).reworded == ()
        assert await shown(store) == "project"
        report = await store.undo_merge(made.id)
        assert await self._types(store, (KESTREL, other)) == ["concept", "project"]
        assert report.reworded == (KESTREL.id,)

    async def _types(self, store: GraphStore, entities: Sequence[Entity]) -> list[str]:
        return [each.type for each in await store.get_entities([entity.id for entity in entities])]

    async def test_surfaces_become_aliases_behind_those_given(self, store: GraphStore) -> None:
        entity = attrs.evolve(ADA, aliases=("Zuse's heroine", "AAL"))
        surfaces = ("the Countess", "ada  lovelace", "aal", "Ada", "ADA", "The  Countess")
        await put(
            store,
            entities=(entity,),
            memories=(Memory(id="m"),),
            mentions=tuple(surface_mention("m", ADA, surface, at) for at, surface in enumerate(surfaces)),
        )
        shown = ("Zuse's heroine", "AAL", "ADA", "The  Countess")
        assert (await stored_entity(store, ADA)).aliases == shown
        (given,) = await store.asserted([ADA.id])
        assert (given.entity.aliases, given.named) == (entity.aliases, False)
        assert [each.entity_id for each in await store.find_names(["the countess", "nobody"])] == [ADA.id]
        assert await matching(store, ElementKind.ENTITY, "countess") == [ADA.id]

    async def test_a_surface_goes_with_its_last_mention(self, store: GraphStore) -> None:
        memories = (Memory(id="a"), Memory(id="b"))
        mentions = (
            surface_mention("a", ADA, "Countess"),
            surface_mention("b", ADA, "Countess"),
            surface_mention("b", ADA, "Enchantress"),
        )
        await put(store, ADA, *memories, *mentions)
        await store.forget(["b"])
        assert (await stored_entity(store, ADA)).aliases == ("Countess",)
        assert await store.find_names(["enchantress"]) == []
        await put(store, Memory(id="a"), surface_mention("a", ADA, "Ada Lovelace"))
        assert (await stored_entity(store, ADA)).aliases == ()
        assert await store.find_name_words(["countess"]) == []

    async def test_a_name_that_was_given_stays(self, store: GraphStore) -> None:
        memories = (Memory(id="a"), Memory(id="b"))
        mentions = (surface_mention("a", ADA, "Ada Lovelace"), surface_mention("b", ADA, "Countess"))
        await put(store, *memories, *mentions, named=(ADA,))
        await put(store, ADA)
        assert not (await store.asserted([ADA.id]))[0].named
        await store.forget(["a"])
        assert (await stored_entity(store, ADA)).name == "Ada Lovelace"

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


class TestInMemory(InMemory, NamesDetails):
    pass


class TestPostgres(InPostgres, NamesDetails):
    pass
