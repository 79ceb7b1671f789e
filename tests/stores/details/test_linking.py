"""Mentions that are too many, moved or forgotten, and turns out of view. Beside the conformance suite."""

from __future__ import annotations

from uuid import UUID

import attrs

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.model import ElementKind, Memory, MemoryLink, Span
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import day, mention, put, view
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_linking import ADA, BOB, EVE, entity_keys, keys_of_memories, mentioning, write_mentions
from tests.stores.on_both import InMemory, InPostgres

ABSENT = UUID(int=7)


SPAN = Span(start=0, end=1)


async def write_memories(store: GraphStore, *ids: str) -> GraphStore:
    """Write memories with these ids."""
    await put(store, *[Memory(id=each) for each in ids])
    return store


class MentionsDetails(StoreSpec):
    """Mentions that are too many, moved or forgotten, and turns out of view."""

    async def test_a_link_made_again_stays_as_it_was(self, store: GraphStore, clock: FixedClock) -> None:
        await write_memories(store, "a", "b")
        link = MemoryLink(from_id="a", to_id="b")
        made = clock.now()
        await store.link_memories([link])
        clock.advance(days=1)
        assert await store.link_memories([link, attrs.evolve(link, created_at=day(3))]) == 0
        assert [each.created_at for each in await store.memory_links(["b"])] == [made]
        assert await store.link_memories([attrs.evolve(link, type="follows")]) == 1

    async def test_a_mark_is_taken_back(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, EVE)
        await store.mark_distinct([(ADA.id, BOB.id), (ADA.id, EVE.id)])
        assert await store.mark_distinct([(BOB.id, ADA.id), (BOB.id, EVE.id)], distinct=False) == 1
        assert await store.distinct_pairs([ADA.id, BOB.id]) == [(ADA.id, EVE.id)]

    async def test_a_mention_without_a_span_is_of_the_subject(self, store: GraphStore) -> None:
        memory = Memory(id="m", subject="Ada")
        mentions = [mention(memory, ADA), mention(memory, ADA, span=SPAN), mention(memory, BOB, span=SPAN)]
        await put(store, ADA, BOB, memory, *mentions)
        found = await store.mentioned(ElementKind.MEMORY, await keys_of_memories(store, BOB), limit=9, view=view())
        about = dict(zip(store.entity_ids(found.far), found.about.tolist(), strict=True))
        assert about == {ADA.id: True, BOB.id: False}
        keys = await entity_keys(store, ADA, BOB, seen=view())
        back = await store.mentioned(ElementKind.ENTITY, keys, limit=9, view=view())
        assert dict(zip(store.entity_ids(back.near), back.about.tolist(), strict=True)) == about

    async def test_what_is_mentioned_too_often_gives_none(self, store: GraphStore) -> None:
        await write_mentions(store, a=(ADA, BOB), b=(ADA,), c=(ADA,))
        assert {name for name, *_ in await mentioning(store, ADA, BOB, limit=2)} == {"Bob"}
        assert len(await mentioning(store, ADA, BOB, limit=3)) == 4
        keys = await keys_of_memories(store, ADA)
        assert len(await store.mentioned(ElementKind.MEMORY, keys, limit=1, view=view())) == 2

    async def test_a_merge_moves_mentions(self, store: GraphStore) -> None:
        await write_mentions(store, a=(ADA,), b=(BOB,))
        made = await store.merge(ADA.id, BOB.id)
        assert [key for _, key, _ in await mentioning(store, BOB)] == ["a", "b"]
        await store.undo_merge(made.id)
        assert [key for _, key, _ in await mentioning(store, BOB)] == ["b"]

    async def test_what_is_forgotten_is_walked_no_more(self, store: GraphStore) -> None:
        await write_mentions(store, a=(ADA,), b=(ADA,), c=(ADA,))
        await store.forget(["b"])
        assert [key for _, key, _ in await mentioning(store, ADA)] == ["a", "c"]
        keys = await keys_of_memories(store, ADA)
        assert store.memory_ids((await store.turns(keys, view=view())).far) == ["c", "a"]

    async def test_turns_out_of_view_are_left_out(self, store: GraphStore, clock: FixedClock) -> None:
        memories = [Memory(id=str(place), session_id="s", position=place, occurred_at=day(place)) for place in range(3)]
        await put(store, ADA, *memories, *[mention(each, ADA) for each in memories])
        keys = await keys_of_memories(store, ADA)
        found = await store.turns(keys, view=view(day(1), clock.now()))
        assert store.memory_ids(found.far) == ["1", "0", "1"]

    async def test_links_are_read_from_either_end(self, store: GraphStore, clock: FixedClock) -> None:
        await write_memories(store, "a", "b", "c")
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

    async def test_links_go_with_either_end(self, store: GraphStore) -> None:
        await write_memories(store, "a", "b", "c", "d")
        pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]
        await store.link_memories([MemoryLink(from_id=one, to_id=other) for one, other in pairs])
        report = await store.forget(["b"])
        assert report.links_removed == 3
        assert await store.memory_links(["a", "b", "c", "d"]) == [MemoryLink(from_id="c", to_id="d")]
        await write_memories(store, "b")
        assert await store.memory_links(["b"]) == []

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

    async def test_marks_go_with_either_entity(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, ADA, BOB, EVE, memory, mention(memory, EVE))
        await store.mark_distinct([(ADA.id, BOB.id), (ADA.id, EVE.id), (BOB.id, EVE.id)])
        assert (await store.forget(["m"])).links_removed == 2
        assert await store.distinct_pairs([ADA.id, BOB.id, EVE.id]) == [(ADA.id, BOB.id)]
        assert (await store.delete(entities=[BOB.id])).links_removed == 1
        await put(store, ADA, BOB, EVE)
        assert await store.distinct_pairs([ADA.id, BOB.id, EVE.id]) == []


class TestInMemory(InMemory, MentionsDetails):
    pass


class TestPostgres(InPostgres, MentionsDetails):
    pass
