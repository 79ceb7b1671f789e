"""Writing and reading whole elements: batches are atomic, and hostile texts come back unchanged."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.errors import UnknownScopeError
from graphsearch.model import Community, EdgeKind, ElementKind, Entity, Memory, Outcome, Span, Statistics, WriteReport
from graphsearch.model.identity import normalise_name
from graphsearch.protocols.rows import MemoryFilters
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import NOON, FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    HOSTILE_TEXTS,
    batch_of,
    claim,
    day,
    ids_of,
    mention,
    near,
    person,
    portrait,
    put,
    ref,
    relation,
    vector,
    view,
)
from graphsearch.testing.spec import StoreSpec

NESTED = {"text": "ü", "number": 1.5, "whole": 3, "yes": True, "none": None, "list": [1, {"a": "b"}], "empty": {}}


class WritingSpec(StoreSpec):
    """`bind_embedder`, `register_types`, `write`, `delete`."""

    async def test_every_field_comes_back_as_it_was_written(self, store: GraphStore) -> None:
        held: dict[str, Any] = {"valid_from": day(0), "valid_to": day(900)}
        both: dict[str, Any] = {"labels": ("public", "old"), "attributes": NESTED, "feedback_weight": 0.4}
        named: dict[str, Any] = {"description": "Computes.", "aliases": ("engine", "AE"), "importance_weight": 0.9}
        entity = Entity(type="tool", name="Engine", merged_into=ADA.id, created_at=day(1), **named, **held, **both)
        told: dict[str, Any] = {"session_id": "s1", "position": 3, "occurred_at": day(2), "created_at": day(3)}
        memory = Memory(id="m1", text="Ada uses it.", subject="note", speaker="Bob", source="wiki", **told, **both)
        proof: dict[str, Any] = {"evidence": ("m1",), "supported_at": day(2), "confidence": 0.7, "fact": "Ada uses it."}
        known: dict[str, Any] = {"created_at": day(4), "retracted_at": day(700), "kind": EdgeKind.LIFECYCLE}
        given = relation(ADA, entity, "uses", **held, **both, **proof, **known)
        read: dict[str, Any] = {"kind": EdgeKind.STRUCTURAL, "fact": "Ada built Bob.", "ceiling": 0.6}
        span = Span(start=0, end=3)
        claimed = claim(memory, ADA, BOB, "built", span=span, extractor="rules", **held, **read)
        mentions = (mention(memory, ADA, span=span, confidence=0.9), mention(memory, entity))
        await put(store, ADA, BOB, entity, given, memory, *mentions, claimed)
        assert await store.get_entities([entity.id]) == [entity]
        assert await store.get_relations([given.id]) == [given]
        assert await store.get_memories(["m1"]) == [memory]
        assert set(await store.list_mentions(memory_ids=["m1"])) == set(mentions)
        assert await store.list_claims(memory_ids=["m1"]) == [claimed]

    async def test_writing_again_replaces_all_but_creation_and_feedback(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        await put(store, ADA, Memory(id="m", text="one"))
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
        born = clock.now()
        clock.advance(days=1)
        later = attrs.evolve(ADA, description="A mathematician.", feedback_weight=0.1, created_at=clock.now())
        report = await put(store, later, Memory(id="m", text="two"))
        assert report == WriteReport(entities=1, memories=1)
        (ada,) = await store.get_entities([ADA.id])
        assert ada.description == "A mathematician."
        assert ada.created_at == born
        assert ada.feedback_weight == pytest.approx(0.55, abs=1e-9)
        assert [each.text for each in await store.get_memories(["m"])] == ["two"]

    async def test_the_same_batch_twice_changes_nothing(self, store: GraphStore, clock: FixedClock) -> None:
        await store.bind_embedder("model", 2)
        memory = Memory(id="m", text="Ada knows Bob.", occurred_at=day(1))
        batch = batch_of(
            entities=(ADA, BOB),
            relations=(relation(BOB, ADA, "admires"),),
            memories=(memory,),
            mentions=(mention(memory, ADA), mention(memory, BOB)),
            claims=(claim(memory, ADA, BOB),),
            vectors={ADA.id: vector(1, 0), "m": vector(0, 1)},
        )
        assert await store.write(batch) == WriteReport(entities=2, relations=2, memories=1)
        before = await portrait(store)
        clock.advance(days=1)
        assert await store.write(batch) == WriteReport()
        clock.set(NOON)
        assert await portrait(store) == before

    async def test_an_element_written_without_a_vector_keeps_the_one_it_has(self, store: GraphStore) -> None:
        await store.bind_embedder("one", 2)
        await put(store, ADA, BOB, vectors={ADA.id: vector(1, 0)})
        await put(store, attrs.evolve(ADA, description="new"), vectors={BOB.id: vector(0, 1)})
        assert await near(store, ElementKind.ENTITY, vector(1, 0)) == [ADA.id, BOB.id]

    async def test_an_entity_is_deleted_with_all_that_hangs_on_it(self, store: GraphStore) -> None:
        memory = Memory(id="m", text="Ada knows Bob, Eve knows Bob.")
        await store.bind_embedder("one", 2)
        await put(
            store,
            entities=(ADA, BOB, EVE),
            relations=(relation(BOB, ADA, "admires"),),
            memories=(memory,),
            mentions=(mention(memory, ADA), mention(memory, BOB)),
            claims=(claim(memory, ADA, BOB), claim(memory, EVE, BOB)),
            vectors={ADA.id: vector(1, 0)},
        )
        report = await store.delete(entities=[ADA.id, person("Unknown").id])
        assert report.entities_removed == 1
        assert {each.name for each in await store.list_entities()} == {"Bob", "Eve"}
        assert [(each.source_id, each.target_id) for each in await store.list_relations()] == [(EVE.id, BOB.id)]
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, EVE, BOB)]
        assert await store.list_mentions(memory_ids=["m"]) == [mention(memory, BOB)]
        assert await store.find_names(["Ada"]) == []
        async with store.snapshot():
            assert len(await store.search_by_embedding(ElementKind.ENTITY, vector(1, 0), limit=5, view=view())) == 0
            assert len(await store.search_lexical(ElementKind.ENTITY, "ada", limit=5, view=view())) == 0


PEOPLE = tuple(person(f"Person {number}") for number in range(7))


LAB = Entity(type="place", name="Lab")


LISTED: Sequence[tuple[MemoryFilters, str]] = (
    *(
        (MemoryFilters(owner=each), ids)
        for each, ids in (("ada", "1"), ("7", "2"), ("True", "4"), ("", "3"), ("a\0", ""))
    ),
    *((MemoryFilters(label=each), ids) for each, ids in (("note", "12"), ("n", ""))),
    *((MemoryFilters(before=day(each)), ids) for each, ids in ((2, "1"), (3, "12"))),
    *((MemoryFilters(session_id=each), ids) for each, ids in (("s1", "23"), ("S1", "4"), ("s_", "5"), ("s", ""))),
    *((MemoryFilters(session_id=each), ids) for each, ids in (("", "1"), ("\0", ""))),
    *((MemoryFilters(source=each), ids) for each, ids in (("a_b", "15"), ("aXb", "3"), ("A_B", "4"), ("a%", ""))),
    (MemoryFilters(subject="Tea"), "13"),
    (MemoryFilters(label="note", owner="ada", subject="Tea"), "1"),
    (MemoryFilters(before=day(3), label="x"), "1"),
    (MemoryFilters(before=NOON + timedelta(seconds=1), owner=""), "3"),
    (MemoryFilters(owner=None, label=None), "12345"),
    (MemoryFilters(session_id="s1", source="aXb"), "3"),
)


class ReadingSpec(StoreSpec):
    """`get_…`, `list_…`, `UnknownScopeError`, `statistics`, `degrees`, `document_count`, `document_frequencies`."""

    async def test_memories_are_listed_by_code_point(self, store: GraphStore) -> None:
        ids = ["Z", "a", "aa", "a b", "a-b", "a_b", "ab", "b", "ä", "日", "～", "😀", "1", "10", "2"]
        await put(store, *(Memory(id=each) for each in ids))
        assert [each.id for each in await store.list_memories()] == sorted(ids)
        assert [each.id for each in await store.list_memories(after="ab", limit=2)] == ["b", "ä"]
        assert [each.id for each in await store.list_memories(after="a0")] == [
            each for each in sorted(ids) if each > "a0"
        ]

    async def test_memories_are_listed_by_their_fields(self, store: GraphStore) -> None:
        ada, seven, true = ({"owner": owner} for owner in ("ada", 7, True))
        await put(
            store,
            Memory(id="1", attributes=ada, subject="Tea", labels=["note", "x"], occurred_at=day(1), source="a_b"),
            Memory(id="2", attributes=seven, subject="tea", labels=["note"], occurred_at=day(2), session_id="s1"),
            Memory(id="3", subject="Tea", labels=["Note"], session_id="s1", source="aXb"),
            Memory(id="4", attributes=true, occurred_at=day(3), session_id="S1", source="A_B"),
            Memory(id="5", attributes={"owner": "%"}, occurred_at=day(9), session_id="s_", source="a_b"),
        )
        for filters, expected in LISTED:
            assert "".join(each.id for each in await store.list_memories(**filters)) == expected, filters

    async def test_relations_are_listed_by_entity(self, store: GraphStore) -> None:
        one, two, three = PEOPLE[:3]
        known = [
            *(relation(one, two, f"knows_{number}") for number in range(4)),
            *(relation(three, one), relation(two, three), relation(one, one, "likes")),
        ]
        gone = relation(one, two, "knew", created_at=day(0), retracted_at=day(1))
        await put(store, *PEOPLE[:3], *known, gone)
        ids = sorted(each.id for each in known if one.id in (each.source_id, each.target_id))
        assert [each.id for each in await store.list_relations(entity_id=one.id)] == ids
        page = await store.list_relations(entity_id=one.id, after=ids[1], limit=3)
        assert [each.id for each in page] == ids[2:5]
        assert [each.type for each in await store.list_relations(entity_id=one.id, type="likes")] == ["likes"]
        assert await store.list_relations(entity_id=PEOPLE[3].id) == []
        assert [each.type for each in await store.list_relations(type="knows_1")] == ["knows_1"]
        assert await store.list_relations(type="kn_ws") == []
        assert await store.list_entities(type="pers_n") == []
        assert await store.get_relations([gone.id]) == [gone]

    async def test_a_scope_that_was_never_written_to_is_unknown(self, store: GraphStore) -> None:
        keys, now, kind = np.empty(0), view(), ElementKind.ENTITY
        members = sorted((ADA.id, BOB.id))
        community = Community(id=ADA.id, members=members, strengths=(1, 1), density=1, top=(), label="")
        listing = ("entities", "relations", "memories", "mentions", "claims")
        alone = ("relation_types", "embedder_name", "communities", "statistics", *(f"list_{each}" for each in listing))
        listed = ("get_entities", "get_relations", "get_memories", "link_memories", "memory_links", "mark_distinct")
        others = ("distinct_pairs", "write_communities", "find_names", "signatures", "outcomes", "degrees")
        reads: tuple[Coroutine[Any, Any, object], ...] = (
            *(getattr(store, name)() for name in alone),
            *(getattr(store, name)([]) for name in (*listed, *others)),
            *(store.edges(view=now), store.locate([], view=now), store.left_out(keys, view=now)),
            store.write_summary(community, version=0),
            store.search_by_embedding(kind, vector(1, 0), limit=1, view=now),
            store.search_lexical(kind, "a", limit=1, view=now),
            store.expand(keys, fan_out=1, view=now),
            *(store.injections("s"), store.forget(["m"]), store.delete(entities=[ADA.id])),
            store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)]),
        )
        refusals = await asyncio.gather(*reads, return_exceptions=True)
        assert [type(each) for each in refusals] == [UnknownScopeError] * len(reads)
        assert all(store.scope.org_id in str(each) for each in refusals)
        with pytest.raises(UnknownScopeError):
            async with store.snapshot():
                raise AssertionError("a snapshot of nothing was opened")

    async def test_an_empty_scope_counts_nothing(self, store: GraphStore) -> None:
        await put(store)
        nothing: dict[str, Any] = dict.fromkeys(
            ("entities", "relations", "memories", "claims", "mentions", "max_degree"), 0
        )
        of_types: dict[str, Any] = {"entities_by_type": {}, "relations_by_type": {}, "embedder": None}
        assert await store.statistics() == Statistics(**nothing, **of_types, dimensions=None, mean_degree=0.0)
        assert await store.degrees([ADA.id]) == {}

    async def test_a_scope_counts_what_is_in_it(self, store: GraphStore) -> None:
        memory, alone = Memory(id="m"), person("Alone")
        await store.bind_embedder("model", 3)
        links = [relation(each, LAB, "works_at") for each in (ADA, BOB)]
        gone = relation(BOB, ADA, "gone", created_at=day(0), retracted_at=day(1))
        mentions = [mention(memory, each) for each in (ADA, BOB)]
        await put(store, ADA, BOB, LAB, alone, *links, gone, memory, *mentions, claim(memory, ADA, BOB))
        found = await store.statistics()
        assert (found.entities, found.relations, found.memories, found.claims, found.mentions) == (4, 3, 1, 1, 2)
        assert dict(found.entities_by_type) == {"person": 3, "place": 1}
        assert dict(found.relations_by_type) == {"knows": 1, "works_at": 2}
        assert (found.embedder, found.dimensions, found.max_degree) == ("model", 3, 2)
        assert found.mean_degree == pytest.approx(1.5)
        degrees = await store.degrees([ADA.id, BOB.id, LAB.id, alone.id, UUID(int=5)])
        assert degrees == {ADA.id: 2, BOB.id: 2, LAB.id: 2, alone.id: 0}
        await store.forget(["m"])
        assert await store.degrees([ADA.id]) == {ADA.id: 1}


class TextsSpec(StoreSpec):
    """Every method that takes text."""

    async def test_texts_come_back_as_they_were(self, store: GraphStore) -> None:
        entities, memories, relations = [], [], []
        for number, text in enumerate(HOSTILE_TEXTS):
            nested = {text: [text, {"a": text}], "source": text, "owner": text, "sensitivity": text}
            kept: dict[str, Any] = {"labels": (text,), "attributes": nested, "created_at": NOON}
            called: dict[str, Any] = {"description": text, "aliases": (text, f"alias {text}")}
            told: dict[str, Any] = dict.fromkeys(("text", "subject", "speaker", "session_id", "source"), text)
            entities.append(Entity(type=f"type_{number}", name=text, **called, **kept))
            relations.append(relation(ADA, entities[-1], f"type_{number}", fact=text, **kept))
            memories.append(Memory(id=text[:500], **told, **kept))
        mentions = [mention(memory, entity) for memory, entity in zip(memories, entities, strict=True)]
        claims = [
            claim(memory, entity, ADA, "says", fact=memory.text, extractor=memory.text)
            for memory, entity in zip(memories, entities, strict=True)
        ]
        await put(store, ADA, *entities, *relations, *memories, *mentions, *claims)
        assert await store.get_entities([each.id for each in entities]) == entities
        assert await store.get_relations([each.id for each in relations]) == relations
        for memory, named, claimed in zip(memories, mentions, claims, strict=True):
            assert await store.get_memories([memory.id]) == [memory]
            assert await store.list_mentions(memory_ids=[memory.id]) == [named]
            assert await store.list_claims(memory_ids=[memory.id]) == [claimed]
            assert [each.id for each in await store.list_memories(source=memory.source)] == [memory.id]
        assert [each.id for each in await store.list_memories(limit=1000)] == sorted(each.id for each in memories)

    async def test_names_find_what_is_called_so_and_nothing_else(self, store: GraphStore) -> None:
        entities = [Entity(type=f"type_{number}", name=text) for number, text in enumerate(HOSTILE_TEXTS)]
        await put(store, *entities)
        for text in HOSTILE_TEXTS:
            called = [each.id for each in entities if _same(each.name, text)]
            assert [each.entity_id for each in await store.find_names([text])] == sorted(called)
        assert await store.find_names(["a%", "a_", "foo%", "\\", "", "\0", "nothing"]) == []

    async def test_any_text_is_a_valid_question(self, store: GraphStore) -> None:
        await put(store, *(Memory(id=f"m{number}", text=text) for number, text in enumerate(HOSTILE_TEXTS)))
        for text in (*HOSTILE_TEXTS, "", " ", "\0", "a\0b", "\ud800", "!" * 2000, "the of and"):
            async with store.snapshot():
                hits = await store.search_lexical(ElementKind.MEMORY, text, limit=3, view=view())
                assert len(ids_of(store, ElementKind.MEMORY, hits)) <= 3


def _same(one: str, other: str) -> bool:
    return normalise_name(one).casefold() == normalise_name(other).casefold()
