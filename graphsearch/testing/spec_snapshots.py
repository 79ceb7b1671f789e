"""Snapshots: all reads inside see one state of the graph, despite concurrent writes."""

from __future__ import annotations

import asyncio

import pytest

from graphsearch.model import Batch, ElementKind, Memory, Outcome
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import claim, person, portrait, ref, relation, rows_of, vector, view
from graphsearch.testing.spec import FreshScope, StoreSpec

ADA, BOB, EVE = person("Ada"), person("Bob"), person("Eve")


class SnapshotsSpec(StoreSpec):
    """`snapshot`."""

    async def test_writes_are_seen_after_the_snapshot_not_in_it(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        memory = Memory(id="m", text="Ada knows Bob.")
        await store.write(
            Batch(
                entities=(ADA, BOB),
                memories=(memory,),
                claims=(claim(memory, ADA, BOB),),
                vectors={ADA.id: vector(1, 0)},
            )
        )
        written = asyncio.Event()
        opened = asyncio.Event()

        async def write() -> None:
            await opened.wait()
            await store.write(Batch(entities=(EVE,), relations=(relation(ADA, EVE),), vectors={EVE.id: vector(1, 0)}))
            await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
            await store.forget(["m"])
            written.set()

        writer = asyncio.create_task(write())
        async with store.snapshot():
            before = await portrait(store, vectors=[vector(1, 0)])
            opened.set()
            await written.wait()
            assert await portrait(store, vectors=[vector(1, 0)]) == before
            async with store.snapshot():
                assert {each.name for each in await store.list_entities()} == {"Ada", "Bob"}
            assert await asyncio.create_task(store.get_entities([EVE.id])) == []
        await writer
        assert {each.name for each in await store.list_entities()} == {"Ada", "Eve"}
        assert await store.list_memories() == []

    async def test_keys_are_good_as_long_as_the_snapshot(self, store: GraphStore) -> None:
        people = [person(f"P{number}") for number in range(20)]
        await store.write(Batch(entities=tuple(people[::2])))
        opened, written = asyncio.Event(), asyncio.Event()

        async def write() -> None:
            await opened.wait()
            await store.write(Batch(entities=tuple(people), relations=(relation(people[0], people[1]),)))
            written.set()

        writer = asyncio.create_task(write())
        async with store.snapshot():
            ids = sorted(each.id for each in people[::2])
            hits = await store.locate(ids, view=view())
            opened.set()
            await written.wait()
            assert list(store.entity_ids(hits.keys)) == ids
            found = await store.expand(hits.keys, fan_out=5, view=view())
            assert rows_of(store, found) == []
        await writer

    async def test_each_of_many_readers_keeps_its_own_state(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA,)))
        people = [person(f"P{number}") for number in range(12)]

        async def reader() -> None:
            async with store.snapshot():
                first = (await store.statistics()).entities
                for _ in range(3):
                    await asyncio.sleep(0)
                    assert (await store.statistics()).entities == first
                    assert len(await store.list_entities()) == first

        async def writer() -> None:
            for each in people:
                await store.write(Batch(entities=(each,)))

        await asyncio.gather(writer(), *(reader() for _ in range(3)))
        assert (await store.statistics()).entities == 13

    async def test_snapshots_of_two_scopes_do_not_mix(self, fresh: FreshScope) -> None:
        one, two = fresh(), fresh()
        await one.write(Batch(entities=(ADA,)))
        await two.write(Batch(entities=(BOB, EVE)))
        async with one.snapshot():
            assert [each.name for each in await one.list_entities()] == ["Ada"]
            assert len(await two.list_entities()) == 2
            async with two.snapshot():
                assert [each.name for each in await one.list_entities()] == ["Ada"]
                assert len(await two.list_entities()) == 2
        assert len(await two.list_entities()) == 2

    async def test_an_error_inside_ends_the_snapshot(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA,)))
        with pytest.raises(RuntimeError, match="mine"):
            async with store.snapshot():
                raise RuntimeError("mine")
        await store.write(Batch(entities=(BOB,)))
        assert len(await store.list_entities()) == 2
        assert len(await store.search_lexical(ElementKind.ENTITY, "bob", limit=1, view=view())) == 1
