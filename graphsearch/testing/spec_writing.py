"""Writing and reading whole elements: batches are atomic, and hostile texts come back unchanged."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, Unpack
from uuid import UUID

import attrs
import numpy as np
import pytest

from graphsearch.errors import EmbeddingModelError, InvalidInputError, UnknownScopeError
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    Community,
    EdgeKind,
    ElementKind,
    ElementRef,
    Entity,
    Memory,
    Outcome,
    Relation,
    RelationType,
    Span,
    Statistics,
    WriteReport,
)
from graphsearch.model.identity import normalise_name
from graphsearch.protocols import GraphStore
from graphsearch.protocols.reading import MemoryFilters
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
    matching,
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
        entity = Entity(
            type="tool",
            name="Analytical Engine",
            description="Computes.",
            aliases=("engine", "AE"),
            labels=("public", "old"),
            attributes=NESTED,
            importance_weight=0.9,
            feedback_weight=0.4,
            valid_from=day(0),
            valid_to=day(900),
            created_at=day(1),
            merged_into=ADA.id,
        )
        memory = Memory(
            id="m1",
            text="Ada uses it.",
            subject="note",
            speaker="Bob",
            session_id="s1",
            position=3,
            occurred_at=day(2),
            source="wiki",
            labels=("a", "b"),
            attributes=NESTED,
            feedback_weight=0.6,
            created_at=day(3),
        )
        given = relation(
            ADA,
            entity,
            "uses",
            valid_from=day(0),
            valid_to=day(800),
            fact="Ada uses the engine.",
            kind=EdgeKind.LIFECYCLE,
            confidence=0.7,
            labels=("x",),
            attributes=NESTED,
            feedback_weight=0.3,
            evidence=("m1",),
            supported_at=day(2),
            created_at=day(4),
            retracted_at=day(700),
        )
        claimed = claim(
            memory,
            ADA,
            BOB,
            "built",
            valid_from=day(0),
            valid_to=day(5),
            kind=EdgeKind.STRUCTURAL,
            fact="Ada built Bob.",
            span=Span(start=0, end=3),
            extractor="rules",
            ceiling=0.6,
        )
        named = (mention(memory, ADA, span=Span(start=0, end=3), confidence=0.9), mention(memory, entity))
        await put(store, ADA, BOB, entity, given, memory, *named, claimed)
        assert await store.get_entities([entity.id]) == [entity]
        assert await store.get_relations([given.id]) == [given]
        assert await store.get_memories(["m1"]) == [memory]
        assert set(await store.list_mentions(memory_ids=["m1"])) == set(named)
        assert await store.list_claims(memory_ids=["m1"]) == [claimed]

    async def test_creation_is_as_given_else_now(self, store: GraphStore, clock: FixedClock) -> None:
        early = person("Early", created_at=day(1))
        await put(store, ADA, early, Memory(id="m"), relation(ADA, early))
        now = clock.now()
        assert [each.created_at for each in await store.get_entities([ADA.id, early.id])] == [now, day(1)]
        assert [each.created_at for each in await store.get_memories(["m"])] == [now]
        assert [each.created_at for each in await store.list_relations()] == [now]

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

    async def test_every_dangling_id_is_named_and_nothing_is_written(self, store: GraphStore) -> None:
        await put(store, ADA)
        memory, stranger, ghost = Memory(id="m"), person("Stranger"), person("Ghost")
        with pytest.raises(InvalidInputError) as refused:
            await put(
                store,
                entities=(BOB,),
                memories=(memory,),
                relations=(relation(ADA, EVE), relation(BOB, ADA, evidence=("no-memory",))),
                mentions=(mention(memory, stranger),),
                claims=(claim(memory, ADA, ghost), claim("elsewhere", ADA, BOB)),
                vectors={person("Unwritten").id: vector(1, 0)},
            )
        absent = [str(EVE.id), str(stranger.id), str(ghost.id), "no-memory", "elsewhere", str(person("Unwritten").id)]
        assert [name for name in absent if name not in str(refused.value)] == []
        assert [each.name for each in await store.list_entities()] == ["Ada"]
        assert await store.list_memories() == []
        assert await store.list_relations() == []

    async def test_a_mention_of_a_memory_outside_the_batch_is_refused(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, ADA, memory)
        with pytest.raises(InvalidInputError, match="'m'"):
            await put(store, mention(memory, ADA))

    async def test_a_memory_written_again_has_the_mentions_and_claims_of_that_batch(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        first = batch_of(
            entities=(ADA, BOB, EVE),
            memories=(memory,),
            mentions=(mention(memory, ADA), mention(memory, ADA)),
            claims=(claim(memory, ADA, BOB), claim(memory, ADA, BOB)),
        )
        await store.write(first)
        assert await store.list_mentions(memory_ids=["m"]) == [mention(memory, ADA)]
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, ADA, BOB)]
        await put(store, memory, mention(memory, EVE), claim(memory, EVE, BOB))
        assert await store.list_mentions(memory_ids=["m"]) == [mention(memory, EVE)]
        assert await store.list_mentions(entity_ids=[ADA.id]) == []
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, EVE, BOB)]
        await put(store, memory)
        assert await store.list_mentions(memory_ids=["m"]) == []
        assert await store.list_claims(memory_ids=["m"]) == []

    # -- vectors -------------------------------------------------------------------------------------------------

    async def test_vectors_need_a_model_to_be_stated(self, store: GraphStore) -> None:
        with pytest.raises(EmbeddingModelError, match="bind_embedder"):
            await put(store, ADA, vectors={ADA.id: vector(1, 0)})

    async def test_another_model_is_refused(self, store: GraphStore) -> None:
        await put(store)
        assert await store.embedder_name() is None
        await store.bind_embedder("one", 2)
        await store.bind_embedder("one", 2)
        assert await store.embedder_name() == "one"
        for name, dimensions in (("other", 2), ("one", 3)):
            with pytest.raises(EmbeddingModelError, match="one"):
                await store.bind_embedder(name, dimensions)
        found = await store.statistics()
        assert (found.embedder, found.dimensions) == ("one", 2)

    async def test_a_vector_of_another_length_is_refused_and_nothing_is_written(self, store: GraphStore) -> None:
        await store.bind_embedder("one", 2)
        with pytest.raises(EmbeddingModelError):
            await put(store, ADA, vectors={ADA.id: vector(1, 0, 0)})
        assert await store.list_entities() == []

    @pytest.mark.parametrize("numbers", [(np.nan, 1.0), (np.inf, 1.0), (1e6, 1.0), (0.0, 0.0), ()])
    async def test_a_vector_that_has_no_direction_is_refused(
        self, store: GraphStore, numbers: tuple[float, ...]
    ) -> None:
        await store.bind_embedder("one", 2)
        with pytest.raises(InvalidInputError, match=str(ADA.id)):
            await put(store, ADA, vectors={ADA.id: vector(*numbers)})
        assert await store.list_entities() == []

    async def test_an_element_written_without_a_vector_keeps_the_one_it_has(self, store: GraphStore) -> None:
        await store.bind_embedder("one", 2)
        await put(store, ADA, BOB, vectors={ADA.id: vector(1, 0)})
        await put(store, attrs.evolve(ADA, description="new"), vectors={BOB.id: vector(0, 1)})
        assert await near(store, ElementKind.ENTITY, vector(1, 0)) == [ADA.id, BOB.id]

    # -- types ---------------------------------------------------------------------------------------------------

    async def test_types_are_registered_and_replaced_next_to_the_known_ones(self, store: GraphStore) -> None:
        await store.register_types(
            [RelationType(name="Knows Well", prior=0.3), RelationType(name="met_with", prior=0.9)]
        )
        await store.register_types(
            [
                RelationType(
                    name="knows_well",
                    prior=0.4,
                    half_life_days=3,
                    hop_scores=(1.0, 0.2),
                    causal=True,
                    skip=True,
                    state=True,
                )
            ]
        )
        types = await store.relation_types()
        assert types["knows_well"] == RelationType(
            name="knows_well", prior=0.4, half_life_days=3, hop_scores=(1.0, 0.2), causal=True, skip=True, state=True
        )
        assert types["met_with"] == RelationType(name="met_with", prior=0.9)
        assert types["works_at"] == KNOWN_RELATION_TYPES["works_at"]

    # -- deleting ------------------------------------------------------------------------------------------------

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

    async def test_a_relation_is_deleted_with_its_claims(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, ADA, BOB, EVE, memory, claim(memory, ADA, BOB), claim(memory, ADA, EVE))
        gone = next(each for each in await store.list_relations() if each.target_id == BOB.id)
        await store.delete(relations=[gone.id, ADA.id])
        assert await store.get_relations([gone.id]) == []
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, ADA, EVE)]
        await put(store, memory, claim(memory, ADA, EVE, confidence=0.9))
        assert [each.target_id for each in await store.list_relations()] == [EVE.id]

    async def test_what_nothing_names_any_more_goes_with_the_same_write(self, store: GraphStore) -> None:
        lonely, merged, into = person("Lonely"), person("Merged"), person("Into")
        everybody, memory, other = (ADA, BOB, EVE, lonely, merged, into), Memory(id="m"), Memory(id="o")
        await put(
            store,
            entities=(ADA, BOB, EVE, merged, into),
            named=(lonely,),
            memories=(memory, other),
            mentions=(*(mention(memory, each) for each in everybody), mention(other, BOB)),
            claims=(claim(memory, ADA, BOB), claim(other, EVE, BOB)),
        )
        await store.merge(merged.id, into.id)
        report = await put(store, memory, prune=[*(each.id for each in everybody), person("Nobody").id])
        assert (report.entities_removed, report.relations_retracted) == (2, 1)
        left = await store.list_entities()
        assert {each.name for each in left} == {"Bob", "Eve", "Merged", "Into"}  # named, related, merged
        assert [(each.source_id, each.retracted_at) for each in await store.list_relations()] == [(EVE.id, None)]
        assert await store.find_names(["Ada", "Lonely"]) == []
        with pytest.raises(InvalidInputError):
            batch_of(prune=("Ada",))

    async def test_an_element_written_anew_after_deletion_starts_anew(self, store: GraphStore) -> None:
        await put(store, ADA, BOB)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
        await store.delete(entities=[ADA.id])
        assert await store.outcomes([ref(ADA)]) == []
        await put(store, ADA)
        assert [each.feedback_weight for each in await store.get_entities([ADA.id])] == [0.5]
        assert await store.outcomes([ref(ADA)]) == []

    async def test_settling_changes_no_answer(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, relation(ADA, BOB, "knows"))
        before = await portrait(store)
        assert await store.settle() >= 0
        assert await portrait(store) == before
        assert await store.settle() == 0


PEOPLE = tuple(person(f"Person {number}") for number in range(7))
ABSENT = UUID(int=1)


LAB = Entity(type="place", name="Lab")


class ReadingSpec(StoreSpec):
    """`get_…`, `list_…`, `UnknownScopeError`, `statistics`, `degrees`, `document_count`, `document_frequencies`."""

    async def test_elements_come_in_the_order_asked_for_and_absent_ids_are_left_out(self, store: GraphStore) -> None:
        one, two, three = PEOPLE[:3]
        links = (relation(one, two), relation(two, three))
        memories = (Memory(id="b"), Memory(id="a"))
        await put(store, *PEOPLE[:3], *links, *memories)
        assert [each.id for each in await store.get_entities([three.id, ABSENT, one.id])] == [three.id, one.id]
        assert [each.id for each in await store.get_relations([links[1].id, ABSENT, links[0].id])] == [
            links[1].id,
            links[0].id,
        ]
        assert [each.id for each in await store.get_memories(["b", "absent", "a"])] == ["b", "a"]
        assert await store.get_entities([]) == []

    async def test_entities_are_listed_page_by_page_in_order_of_id(self, store: GraphStore) -> None:
        tool = person("Hammer")
        await put(store, *PEOPLE, tool)
        ids = sorted(each.id for each in (*PEOPLE, tool))
        pages, after = [], None
        while page := await store.list_entities(after=after, limit=3):
            pages.append([each.id for each in page])
            after = page[-1].id
        assert pages == [ids[:3], ids[3:6], ids[6:]]
        assert await store.list_entities(limit=0) == []

    async def test_lists_can_be_of_one_type_or_source(self, store: GraphStore) -> None:
        one, two = PEOPLE[:2]
        sources = ("a_b", "aXb", "a%", "a_b/c", "A_B")
        await put(
            store,
            entities=(one, two),
            relations=(relation(one, two, "knows"), relation(one, two, "knows_of")),
            memories=tuple(Memory(id=f"m{number}", source=source) for number, source in enumerate(sources)),
        )
        assert {each.id for each in await store.list_entities(type="person")} == {one.id, two.id}
        assert await store.list_entities(type="pers_n") == []
        assert [each.type for each in await store.list_relations(type="knows")] == ["knows"]
        for number, source in enumerate(sources):
            assert [each.id for each in await store.list_memories(source=source)] == [f"m{number}"]

    async def test_memories_are_listed_by_code_point(self, store: GraphStore) -> None:
        ids = ["Z", "a", "aa", "a b", "a-b", "a_b", "ab", "b", "ä", "日", "～", "😀", "1", "10", "2"]
        await put(store, *(Memory(id=each) for each in ids))
        assert [each.id for each in await store.list_memories()] == sorted(ids)
        assert [each.id for each in await store.list_memories(after="ab", limit=2)] == ["b", "ä"]
        assert [each.id for each in await store.list_memories(after="a0")] == [
            each for each in sorted(ids) if each > "a0"
        ]

    async def test_memories_are_listed_by_session_and_source(self, store: GraphStore) -> None:
        memories = [
            Memory(id=f"{number:02}", session_id=f"s{number % 3}" if number % 4 else "", source=f"f{number % 2}")
            for number in range(24)
        ]
        await put(store, *memories)
        for session_id in ("s0", "s1", "s2", "", "s", "S1", "s_", "\0"):
            expected = [each.id for each in memories if each.session_id == session_id]
            listed = [each.id for each in await store.list_memories(session_id=session_id)]
            assert listed == expected
            both = await store.list_memories(session_id=session_id, source="f1", after="02", limit=2)
            assert [each.id for each in both] == [key for key in expected if key > "02" and int(key) % 2][:2]

    async def test_memories_are_listed_by_owner_subject_label_and_age(self, store: GraphStore) -> None:
        memories = [
            Memory(id="1", attributes={"owner": "ada"}, subject="Tea", labels=["note", "x"], occurred_at=day(1)),
            Memory(id="2", attributes={"owner": 7}, subject="tea", labels=["note"], occurred_at=day(2)),
            Memory(id="3", subject="Tea", labels=["Note"]),
            Memory(id="4", attributes={"owner": True}, occurred_at=day(3)),
        ]
        await put(store, *memories)

        async def listed(**filters: Unpack[MemoryFilters]) -> str:
            return "".join(each.id for each in await store.list_memories(**filters))

        assert [await listed(owner=each) for each in ("ada", "7", "True", "", "a\0")] == ["1", "2", "4", "3", ""]
        assert await listed(subject="Tea") == "13"
        assert [await listed(label=each) for each in ("note", "n")] == ["12", ""]
        assert await listed(label="note", owner="ada", subject="Tea") == "1"
        assert [await listed(before=day(number)) for number in (2, 3)] == ["1", "12"]
        assert await listed(before=day(3), label="x") == "1"
        assert await listed(before=store.clock.now() + timedelta(seconds=1), owner="") == "3"
        assert await listed(owner=None, label=None) == "1234"

    async def test_relations_are_listed_by_entity(self, store: GraphStore) -> None:
        one, two, three = PEOPLE[:3]
        known = [
            *(relation(one, two, f"knows_{number}") for number in range(4)),
            *(relation(three, one), relation(two, three), relation(one, one, "likes")),
        ]
        await put(store, *PEOPLE[:3], *known, relation(one, two, "knew", retracted_at=day(1)))
        ids = sorted(each.id for each in known if one.id in (each.source_id, each.target_id))
        assert [each.id for each in await store.list_relations(entity_id=one.id)] == ids
        page = await store.list_relations(entity_id=one.id, after=ids[1], limit=3)
        assert [each.id for each in page] == ids[2:5]
        assert [each.type for each in await store.list_relations(entity_id=one.id, type="likes")] == ["likes"]
        assert await store.list_relations(entity_id=PEOPLE[3].id) == []

    async def test_retracted_relations_are_read_by_id_and_not_listed(self, store: GraphStore) -> None:
        one, two = PEOPLE[:2]
        gone = relation(one, two, created_at=day(0), retracted_at=day(1))
        await put(store, one, two, gone)
        assert await store.list_relations() == []
        assert await store.get_relations([gone.id]) == [gone]

    async def test_mentions_are_listed_by_memory_entity_and_span(self, store: GraphStore) -> None:
        one, two = sorted(PEOPLE[:2], key=lambda each: each.id)
        first, second = Memory(id="a"), Memory(id="b")
        mentions = (
            mention(first, one, span=Span(start=2, end=4)),
            mention(first, one, span=Span(start=9, end=11)),
            mention(first, two, span=Span(start=0, end=1)),
            mention(second, one),
        )
        await put(store, one, two, first, second, *mentions[::-1])
        assert await store.list_mentions(memory_ids=["b", "a"]) == list(mentions)
        assert await store.list_mentions(entity_ids=[one.id]) == [mentions[0], mentions[1], mentions[3]]
        assert await store.list_mentions(memory_ids=["b"], entity_ids=[two.id]) == [mentions[2], mentions[3]]
        assert await store.list_mentions() == []

    async def test_claims_are_listed_in_the_order_of_the_fold(self, store: GraphStore) -> None:
        one, two = PEOPLE[:2]
        times = {"late": day(9), "early": day(1), "undated": None, "b": day(5), "a": day(5)}
        memories = {key: Memory(id=key, occurred_at=time) for key, time in times.items()}
        claims = {key: claim(memory, one, two) for key, memory in memories.items()}
        other = claim("late", two, one)
        await put(store, one, two, *memories.values(), *claims.values(), other)
        in_order = [claims[key] for key in ("undated", "early", "a", "b", "late")]
        (folded,) = [each for each in await store.list_relations() if each.source_id == one.id]
        assert await store.list_claims(relation_ids=[folded.id]) == in_order
        assert await store.list_claims(memory_ids=["late", "a"], relation_ids=[ABSENT]) in (
            [claims["a"], claims["late"], other],
            [claims["a"], other, claims["late"]],
        )
        assert await store.list_claims() == []

    async def test_a_scope_that_was_never_written_to_is_unknown(self, store: GraphStore) -> None:
        keys, now = np.empty(0), view()
        reads: tuple[Coroutine[Any, Any, object], ...] = (
            store.relation_types(),
            store.embedder_name(),
            store.get_entities([]),
            store.get_relations([]),
            store.get_memories([]),
            store.list_entities(),
            store.list_relations(),
            store.list_memories(),
            store.list_mentions(),
            store.list_claims(),
            store.link_memories([]),
            store.memory_links([]),
            store.mark_distinct([]),
            store.distinct_pairs([]),
            store.edges(view=now),
            store.write_communities([]),
            store.write_summary(
                Community(id=ADA.id, members=sorted((ADA.id, BOB.id)), strengths=(1, 1), density=1, top=(), label=""),
                version=0,
            ),
            store.communities(),
            store.find_names(["a"]),
            store.search_by_embedding(ElementKind.ENTITY, vector(1, 0), limit=1, view=now),
            store.search_lexical(ElementKind.ENTITY, "a", limit=1, view=now),
            store.locate([], view=now),
            store.expand(keys, fan_out=1, view=now),
            store.left_out(keys, view=now),
            store.signatures([]),
            store.injections("s"),
            store.outcomes([]),
            store.statistics(),
            store.degrees([]),
            store.forget(["m"]),
            store.delete(entities=[ABSENT]),
            store.apply_outcome("s", Outcome.ACCEPTED, [ref(PEOPLE[0])]),
        )
        refusals = await asyncio.gather(*reads, return_exceptions=True)
        assert [type(each) for each in refusals] == [UnknownScopeError] * len(reads)
        assert all(store.scope.org_id in str(each) for each in refusals)
        with pytest.raises(UnknownScopeError):
            async with store.snapshot():
                raise AssertionError("a snapshot of nothing was opened")

    async def test_an_empty_scope_counts_nothing(self, store: GraphStore) -> None:
        await put(store)
        assert await store.statistics() == Statistics(
            entities=0,
            relations=0,
            memories=0,
            claims=0,
            mentions=0,
            entities_by_type={},
            relations_by_type={},
            embedder=None,
            dimensions=None,
            max_degree=0,
            mean_degree=0.0,
        )
        assert await store.degrees([ADA.id]) == {}

    async def test_what_batches_count_adds_up_if_they_are_written(self, store: GraphStore) -> None:
        await put(store, counters={"seen": 2, "made": 1})
        await put(store, counters={"seen": 3})
        with pytest.raises(InvalidInputError):
            await put(store, relation(ADA, BOB), counters={"seen": 5})  # Ada does not exist
        assert (await store.statistics()).counters == {"made": 1, "seen": 5}

    async def test_documents_are_counted_that_have_words_settled_or_not(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, LAB, Entity(type="concept", name="?!"))
        assert await store.document_count(ElementKind.ENTITY) == 3
        many = tuple(person(f"Somebody {number}") for number in range(1001))
        await put(store, *many)
        assert await store.document_count(ElementKind.ENTITY) == 1004
        await store.settle()
        assert await store.document_count(ElementKind.ENTITY) == 1004
        await store.delete(entities=[ADA.id])
        assert await store.document_count(ElementKind.ENTITY) == 1003
        await put(store, Memory(id="m", text="words"), Memory(id="n", text="…"))
        assert await store.document_count(ElementKind.MEMORY) == 1

    async def test_documents_are_counted_by_their_terms_settled_or_not(self, store: GraphStore) -> None:
        texts = ("A copper kettle.", "The kettles are copper, and old.", "An old anchor.", "…")
        await put(store, *[Memory(id=str(number), text=text) for number, text in enumerate(texts)])
        asked = ("", "kettle", "copper kettle", "old kettle", "old old", "anchor kettle")
        groups = [store.analyser.terms(each) for each in asked]
        expected = [3, 2, 2, 1, 2, 0]
        assert list(await store.document_frequencies(ElementKind.MEMORY, groups)) == expected
        assert list(await store.document_frequencies(ElementKind.MEMORY, [["zinc"], ["zinc", "old"]])) == [0, 0]
        assert list(await store.document_frequencies(ElementKind.MEMORY, [])) == []
        assert list(await store.document_frequencies(ElementKind.ENTITY, groups)) == [0] * len(groups)
        many = tuple(Memory(id=f"k{number}", text="another kettle") for number in range(1001))
        await put(store, *many)
        for _ in range(2):
            found = await store.document_frequencies(ElementKind.MEMORY, groups)
            assert list(found) == [1004, 1003, *expected[2:]]
            await store.settle()
        await store.forget(["1"])
        assert list(await store.document_frequencies(ElementKind.MEMORY, groups[2:4])) == [1, 0]

    async def test_a_scope_counts_what_is_in_it(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await store.bind_embedder("model", 3)
        await put(
            store,
            entities=(ADA, BOB, LAB, person("Alone")),
            relations=(
                relation(ADA, LAB, "works_at"),
                relation(BOB, LAB, "works_at"),
                relation(BOB, ADA, "gone", created_at=day(0), retracted_at=day(1)),
            ),
            memories=(memory,),
            mentions=(mention(memory, ADA), mention(memory, BOB)),
            claims=(claim(memory, ADA, BOB),),
        )
        found = await store.statistics()
        assert (found.entities, found.relations, found.memories, found.claims, found.mentions) == (4, 3, 1, 1, 2)
        assert dict(found.entities_by_type) == {"person": 3, "place": 1}
        assert dict(found.relations_by_type) == {"knows": 1, "works_at": 2}
        assert (found.embedder, found.dimensions) == ("model", 3)
        assert found.max_degree == 2
        assert found.mean_degree == pytest.approx(1.5)
        alone = person("Alone").id
        assert await store.degrees([ADA.id, BOB.id, LAB.id, alone, UUID(int=5)]) == {
            ADA.id: 2,
            BOB.id: 2,
            LAB.id: 2,
            alone: 0,
        }
        await store.forget(["m"])
        assert await store.degrees([ADA.id]) == {ADA.id: 1}


class TextsSpec(StoreSpec):
    """Every method that takes text."""

    async def test_texts_come_back_as_they_were(self, store: GraphStore) -> None:
        entities, memories, relations = [], [], []
        for number, text in enumerate(HOSTILE_TEXTS):
            nested = {text: [text, {"a": text}], "source": text, "owner": text, "sensitivity": text}
            entity = Entity(
                type=f"type_{number}",
                name=text,
                description=text,
                aliases=(text, f"alias {text}"),
                labels=(text,),
                attributes=nested,
                created_at=NOON,
            )
            entities.append(entity)
            relations.append(
                Relation(
                    source_id=ADA.id,
                    type=f"type_{number}",
                    target_id=entity.id,
                    fact=text,
                    labels=(text,),
                    attributes=nested,
                    created_at=NOON,
                )
            )
            memories.append(
                Memory(
                    id=text[:500],
                    text=text,
                    subject=text,
                    speaker=text,
                    session_id=text,
                    source=text,
                    labels=(text,),
                    attributes=nested,
                    created_at=NOON,
                )
            )
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

    async def test_a_long_document_is_found_by_its_words(self, store: GraphStore) -> None:
        text = " ".join(f"w{number}" for number in range(12_000))
        await put(store, Memory(id="long", text=text), Memory(id="short", text="w1"))
        for asked, expected in (("w11999", ["long"]), ("w1", ["short", "long"])):
            async with store.snapshot():
                assert await matching(store, ElementKind.MEMORY, asked) == expected

    async def test_hostile_sessions_and_types_are_kept_apart(self, store: GraphStore) -> None:
        await put(store, ADA, Memory(id="m"))
        sessions = HOSTILE_TEXTS[:14]
        for session in sessions:
            await store.apply_outcome(session, Outcome.ACCEPTED, [ref(ADA), ElementRef(ElementKind.MEMORY, "m")])
        assert [each.session_id for each in await store.outcomes([ref(ADA)])] == list(sessions)
        bob = person("Bob")
        await put(store, bob, relation(ADA, bob, "日本語"))
        await store.register_types([RelationType(name="日本語", prior=0.5)])
        assert (await store.relation_types())["日本語"].prior == 0.5
        assert [each.type for each in await store.list_relations(type="日本語")] == ["日本語"]

    async def test_long_ids_are_kept_apart(self, store: GraphStore) -> None:
        ids = ["".join(chr(33 + (number * 7 + seed) % 90) for number in range(800)) + str(seed) for seed in range(3)]
        await put(store, *(Memory(id=each, text="same words") for each in ids))
        assert [each.id for each in await store.list_memories()] == sorted(ids)
        assert (await store.forget(ids[:1])).memories == 1
        assert await store.get_memories(ids[:1]) == []


def _same(one: str, other: str) -> bool:
    return normalise_name(one).casefold() == normalise_name(other).casefold()
