"""Explicit links: between related memories, and marks of entities that are not duplicates."""

from __future__ import annotations

from uuid import UUID

import attrs
import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.model import Memory, MemoryLink
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import HOSTILE_TEXTS, day, mention, person, put
from graphsearch.testing.spec import StoreSpec

ADA, BOB, EVE = sorted((person("Ada"), person("Bob"), person("Eve")), key=lambda each: each.id)
ABSENT = UUID(int=7)


async def _noted(store: GraphStore, *ids: str) -> GraphStore:
    await put(store, *[Memory(id=each) for each in ids])
    return store


class LinkingSpec(StoreSpec):
    """`link_memories`, `memory_links`, `mark_distinct`, `distinct_pairs`."""

    async def test_links_are_read_from_either_end(self, store: GraphStore, clock: FixedClock) -> None:
        await _noted(store, "a", "b", "c")
        there, back = MemoryLink(from_id="a", to_id="b"), MemoryLink(from_id="b", to_id="a", type="Contradicts")
        on = MemoryLink(from_id="b", to_id="c", created_at=day(1))
        assert await store.link_memories([on, back, there, there]) == 3
        assert await store.memory_links(["a"]) == [there, back]
        assert await store.memory_links(["c"]) == [on]
        links = await store.memory_links(["c", "a", "b", "absent", "\0"])
        assert [(each.from_id, each.to_id, each.type) for each in links] == [
            ("a", "b", "relates_to"),
            ("b", "a", "contradicts"),
            ("b", "c", "relates_to"),
        ]
        assert [each.created_at for each in links] == [clock.now(), clock.now(), day(1)]
        assert await store.memory_links([]) == []

    async def test_a_link_made_again_stays_as_it_was(self, store: GraphStore, clock: FixedClock) -> None:
        await _noted(store, "a", "b")
        link = MemoryLink(from_id="a", to_id="b")
        made = clock.now()
        await store.link_memories([link])
        clock.advance(days=1)
        assert await store.link_memories([link, attrs.evolve(link, created_at=day(3))]) == 0
        assert [each.created_at for each in await store.memory_links(["b"])] == [made]
        assert await store.link_memories([attrs.evolve(link, type="follows")]) == 1

    async def test_links_to_memories_that_are_not_there_are_refused_whole(self, store: GraphStore) -> None:
        await _noted(store, "a", "b")
        links = [MemoryLink(from_id="a", to_id=each) for each in ("b", "absent", "missing")]
        with pytest.raises(InvalidInputError) as refused:
            await store.link_memories(links)
        assert refused.value.faults == ("no memory 'absent'", "no memory 'missing'")
        assert await store.memory_links(["a"]) == []

    async def test_links_go_with_either_end(self, store: GraphStore) -> None:
        await _noted(store, "a", "b", "c", "d")
        pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]
        await store.link_memories([MemoryLink(from_id=one, to_id=other) for one, other in pairs])
        report = await store.forget(["b"])
        assert report.links_removed == 3
        assert await store.memory_links(["a", "b", "c", "d"]) == [MemoryLink(from_id="c", to_id="d")]
        await _noted(store, "b")
        assert await store.memory_links(["b"]) == []

    async def test_a_memory_written_again_keeps_its_links(self, store: GraphStore) -> None:
        await _noted(store, "a", "b")
        await store.link_memories([MemoryLink(from_id="a", to_id="b")])
        await put(store, Memory(id="a", text="Another text."))
        assert len(await store.memory_links(["a"])) == 1

    async def test_no_id_is_mistaken_for_another(self, store: GraphStore) -> None:
        texts = sorted(set(HOSTILE_TEXTS))
        await _noted(store, *texts)
        await store.link_memories([MemoryLink(from_id=each, to_id="%") for each in texts if each != "%"])
        for each in texts:
            found = await store.memory_links([each])
            assert len(found) == (len(texts) - 1 if each == "%" else 1)
            assert all(each in {link.from_id, link.to_id} for link in found)

    async def test_entities_are_marked_as_distinct(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, EVE)
        assert await store.mark_distinct([(BOB.id, ADA.id), (ADA.id, BOB.id), (EVE.id, ADA.id)]) == 2
        assert await store.mark_distinct([(ADA.id, BOB.id), (BOB.id, EVE.id)]) == 1
        assert await store.distinct_pairs([ADA.id]) == [(ADA.id, BOB.id), (ADA.id, EVE.id)]
        assert await store.distinct_pairs([EVE.id, BOB.id, ABSENT]) == [
            (ADA.id, BOB.id),
            (ADA.id, EVE.id),
            (BOB.id, EVE.id),
        ]
        assert await store.distinct_pairs([]) == []

    async def test_a_mark_is_taken_back(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, EVE)
        await store.mark_distinct([(ADA.id, BOB.id), (ADA.id, EVE.id)])
        assert await store.mark_distinct([(BOB.id, ADA.id), (BOB.id, EVE.id)], distinct=False) == 1
        assert await store.distinct_pairs([ADA.id, BOB.id]) == [(ADA.id, EVE.id)]

    async def test_marks_that_make_no_sense_are_refused_whole(self, store: GraphStore) -> None:
        await put(store, ADA, BOB)
        with pytest.raises(InvalidInputError) as refused:
            await store.mark_distinct([(ADA.id, BOB.id), (ADA.id, ABSENT), (BOB.id, BOB.id)])
        assert refused.value.faults == (f"no entity {ABSENT}", f"entity {BOB.id} is paired with itself")
        assert await store.distinct_pairs([ADA.id]) == []

    async def test_marks_go_with_either_entity(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, ADA, BOB, EVE, memory, mention(memory, EVE))
        await store.mark_distinct([(ADA.id, BOB.id), (ADA.id, EVE.id), (BOB.id, EVE.id)])
        assert (await store.forget(["m"])).links_removed == 2
        assert await store.distinct_pairs([ADA.id, BOB.id, EVE.id]) == [(ADA.id, BOB.id)]
        assert (await store.delete(entities=[BOB.id])).links_removed == 1
        await put(store, ADA, BOB, EVE)
        assert await store.distinct_pairs([ADA.id, BOB.id, EVE.id]) == []
