"""Writing: batches are atomic; what is replaced and what is kept."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    EdgeKind,
    ElementKind,
    Entity,
    Memory,
    Outcome,
    RelationType,
    Span,
    WriteReport,
)
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import NOON, FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    day,
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

    @pytest.mark.parametrize("named", [True, False])
    async def test_an_entity_written_again_with_a_mention_is_not_changed(self, store: GraphStore, named: bool) -> None:
        jane = batch_of(named=[person("Jane")]) if named else batch_of(person("Jane"))
        assert (await store.write(jane)).entities == 1
        for number, labels in enumerate([(), (), ("secret",)]):
            memory = Memory(id=f"m{number}", labels=labels)
            mentioning = attrs.evolve(jane, memories=[memory], mentions=[mention(memory, person("Jane"))])
            assert (await store.write(mentioning)).entities == 0
        corrected = attrs.evolve(person("Jane"), description="tall")
        assert (await put(store, corrected)).entities == 1

    async def test_type_and_name_can_be_corrected_under_the_same_id(self, store: GraphStore) -> None:
        await put(store, ADA)
        corrected = attrs.evolve(ADA, type="programmer", name="Ada Lovelace")
        await put(store, corrected)
        (found,) = await store.list_entities()
        assert (found.id, found.type, found.name) == (ADA.id, "programmer", "Ada Lovelace")
        assert await store.find_names(["ada"]) == []

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
