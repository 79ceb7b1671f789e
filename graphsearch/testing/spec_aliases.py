"""Aliases: explicit ones, the surfaces of mentions, and names known from mentions alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given

from graphsearch.errors import InvalidInputError
from graphsearch.model import ElementKind, Entity, Memory, Mention, Span
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import batch_of, claim, day, matching, mention, near, person, put, vector
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.strategies import (
    AnnotatedMemory,
    annotated_memories,
    answers,
    few_examples,
    forget,
    write_memories,
)

ADA, BOB = person("Ada Lovelace"), person("Bob")


def surface_mention(memory: Memory | str, entity: Entity, surface: str, start: int = 0) -> Mention:
    """A mention with a surface of its own."""
    key = memory if isinstance(memory, str) else memory.id
    return Mention(memory_id=key, entity_id=entity.id, surface=surface, span=Span(start=start, end=start + 1))


async def _entity(store: GraphStore, entity: Entity) -> Entity:
    (found,) = await store.get_entities([entity.id])
    return found


async def _surface_forms(store: GraphStore, **asked: Any) -> list[tuple[tuple[UUID, str], tuple[str, ...]]]:
    found = await store.surface_forms([BOB.id, ADA.id, ADA.id], **asked)
    return [((each.entity_id, each.surface), each.memory_ids) for each in found]


class AliasesSpec(StoreSpec):
    """`Batch.named`, `given`, `surface_forms`, and the aliases after `write`, `forget` and `delete`."""

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
        assert (await _entity(store, ADA)).aliases == shown
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
        assert (await _entity(store, ADA)).aliases == ("Countess",)
        assert await store.find_names(["enchantress"]) == []
        await put(store, Memory(id="a"), surface_mention("a", ADA, "Ada Lovelace"))
        assert (await _entity(store, ADA)).aliases == ()
        assert await store.find_name_words(["countess"]) == []

    async def test_writing_an_entity_again_leaves_what_its_mentions_add(self, store: GraphStore) -> None:
        batch = batch_of(ADA, Memory(id="a"), surface_mention("a", ADA, "Countess"))
        await store.write(batch)
        report = await put(store, ADA)
        assert report.entities == 0
        assert (await _entity(store, ADA)).aliases == ("Countess",)
        report = await put(store, attrs.evolve(ADA, name="Countess", aliases=("Ada",)))
        assert report.entities == 1
        assert (await _entity(store, ADA)).aliases == ("Ada",)
        assert await matching(store, ElementKind.ENTITY, "lovelace") == []

    async def test_code_that_uses_the_last_part_of_a_path_gives_no_alias(self, store: GraphStore) -> None:
        function = Entity(type="function", name="ssl.SSLSocket.connect")
        memories = (Memory(id="a"), Memory(id="b"))
        await put(
            store,
            named=(function,),
            memories=memories,
            mentions=(
                surface_mention("a", function, "connect"),
                surface_mention("b", function, "ssl.SSLSocket.connect"),
            ),
        )
        await store.forget(["b"])
        assert await store.get_entities([function.id]) == [
            attrs.evolve(function, created_at=(await _entity(store, function)).created_at)
        ]

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
        found = await _surface_forms(store, names=["countess", "nobody"], limit=9)
        assert found == sorted(
            [((ADA.id, "Countess"), tuple(f"m{at}" for at in range(5))), ((BOB.id, "Countess"), ("m1",))]
        )
        assert await store.surface_forms([ADA.id], names=[], limit=9) == await store.surface_forms([], limit=9) == []
        assert await _surface_forms(store, names=["ada"], limit=0) == [((ADA.id, "Ada"), ())]
        with pytest.raises(InvalidInputError, match="limit"):
            await store.surface_forms([ADA.id], limit=-1)

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
        with pytest.raises(InvalidInputError, match="limit"):
            await store.first_written([ADA.id], limit=-1)

    # -- names known from mentions alone --------------------------------------------------------------------------

    async def test_a_forgotten_name_is_replaced_by_the_earliest_that_is_left(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        memories = (Memory(id="m"), Memory(id="c", occurred_at=day(9)), Memory(id="b", occurred_at=day(3)))
        named = person("Priya Sharma")
        await put(
            store,
            named=(named,),
            memories=memories,
            mentions=(
                surface_mention("m", named, "Dr. Priya Sharma"),
                surface_mention("b", named, "PS", 7),
                surface_mention("b", named, "Priya", 3),
                surface_mention("c", named, "Ms Sharma"),
            ),
            vectors={named.id: vector(1, 0)},
        )
        assert (await store.asserted([named.id]))[0].named
        await store.forget(["c"])
        assert (await _entity(store, named)).name == "Priya Sharma"
        await store.forget(["m"])
        left = await _entity(store, named)
        assert (left.id, left.name, left.aliases) == (named.id, "Priya", ("PS",))
        assert await near(store, ElementKind.ENTITY, vector(1, 0)) == []
        assert await store.find_names(["priya sharma"]) == await store.find_name_words(["sharma"]) == []
        assert [each.alias for each in await store.find_names(["priya"])] == [False]

    async def test_a_memory_of_no_known_time_comes_first(self, store: GraphStore) -> None:
        named = person("Priya Sharma")
        memories = (Memory(id="a", occurred_at=day(1)), Memory(id="m"), Memory(id="z"))
        await put(
            store,
            named=(named,),
            memories=memories,
            mentions=(
                surface_mention("a", named, "P."),
                surface_mention("m", named, "Priya Sharma"),
                surface_mention("z", named, "Priya"),
            ),
        )
        await put(store, Memory(id="m", text="corrected"))
        assert (await _entity(store, named)).name == "Priya"

    async def test_a_name_that_was_given_stays(self, store: GraphStore) -> None:
        memories = (Memory(id="a"), Memory(id="b"))
        mentions = (surface_mention("a", ADA, "Ada Lovelace"), surface_mention("b", ADA, "Countess"))
        await put(store, *memories, *mentions, named=(ADA,))
        await put(store, ADA)
        assert not (await store.asserted([ADA.id]))[0].named
        await store.forget(["a"])
        assert (await _entity(store, ADA)).name == "Ada Lovelace"

    async def test_given_wins_over_named_in_one_batch(self, store: GraphStore) -> None:
        await put(store, ADA, named=(attrs.evolve(ADA, name="ada lovelace"),))
        (given,) = await store.asserted([ADA.id])
        assert (given.entity.name, given.named) == ("Ada Lovelace", False)
        assert await store.asserted([BOB.id]) == []

    async def test_a_named_entity_goes_when_nothing_names_it(self, store: GraphStore) -> None:
        memory = Memory(id="a")
        await put(store, memory, mention(memory, ADA), mention(memory, BOB), claim(memory, ADA, BOB), named=(ADA, BOB))
        assert (await store.forget(["a"])).entities_removed == 2
        assert await store.list_entities() == []
        assert await store.find_name_words(["ada", "bob"]) == []
        assert await store.similar_names(["bob"], threshold=0.6) == {"bob": []}

    @few_examples
    @given(annotated_memories("a"), annotated_memories("b"))
    async def test_forgetting_equals_never_having_written(
        self, fresh: FreshScope, first: Sequence[AnnotatedMemory], second: Sequence[AnnotatedMemory]
    ) -> None:
        alone, both = fresh(), fresh()
        await _prepared(alone, both)
        for store in (alone, both):
            await write_memories(store, first)
        await write_memories(both, second)
        await forget(both, second)
        assert await answers(both) == await answers(alone)

    @pytest.mark.parametrize("bulk", [False, True])
    async def test_many_at_once(self, store: GraphStore, bulk: bool) -> None:
        people = [person(f"Person Number {number}") for number in range(60)]
        memories = [Memory(id=f"m{number}") for number in range(60)]
        pairs = list(zip(memories, people, strict=True))
        if not bulk:
            await put(store, *people)
        await put(
            store,
            named=tuple(people) if bulk else (),
            memories=tuple(memories),
            mentions=tuple(surface_mention(memory, each, f"Nickname {each.name[14:]}") for memory, each in pairs),
        )
        assert {each.aliases for each in await store.get_entities([each.id for each in people])} == {
            (f"Nickname {number}",) for number in range(60)
        }
        assert len(await store.find_names([f"nickname {number}" for number in range(60)])) == 60


async def _prepared(*stores: GraphStore) -> None:
    """Scopes that exist."""
    for store in stores:
        await put(store, Memory(id="before"))
