"""What goes with a write, and what is counted. Beside the conformance suite."""

from __future__ import annotations

import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    ElementKind,
    Entity,
    Memory,
    Outcome,
    Span,
)
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    day,
    mention,
    person,
    portrait,
    put,
    ref,
    relation,
    vector,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_writing import ABSENT, LAB, PEOPLE
from tests.stores.on_both import InMemory, InPostgres


class PruningDetails(StoreSpec):
    """What goes with a write, and what is counted."""

    async def test_what_nothing_names_any_more_goes_with_the_same_write(self, store: GraphStore) -> None:
        lonely, merged, into = person("Lonely"), person("Merged"), person("Into")
        everybody, memory, other = (ADA, BOB, EVE, lonely, merged, into), Memory(id="m"), Memory(id="o")
        mentions = (*(mention(memory, each) for each in everybody), mention(other, BOB))
        claims = claim(memory, ADA, BOB), claim(other, EVE, BOB)
        await put(store, ADA, BOB, EVE, merged, into, memory, other, *mentions, *claims, named=(lonely,))
        await store.merge(merged.id, into.id)
        report = await put(store, memory, prune=[*(each.id for each in everybody), person("Nobody").id])
        assert (report.entities_removed, report.relations_retracted) == (2, 1)
        left = await store.list_entities()
        assert {each.name for each in left} == {"Bob", "Eve", "Merged", "Into"}  # named, related, merged
        assert [(each.source_id, each.retracted_at) for each in await store.list_relations()] == [(EVE.id, None)]
        assert await store.find_names(["Ada", "Lonely"]) == []
        with pytest.raises(InvalidInputError):
            batch_of(prune=("Ada",))

    async def test_settling_changes_no_answer(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, relation(ADA, BOB, "knows"))
        before = await portrait(store)
        assert await store.settle() >= 0
        assert await portrait(store) == before
        assert await store.settle() == 0

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

    async def test_documents_are_counted_that_have_words(self, store: GraphStore) -> None:
        await put(store, ADA, BOB, LAB, Entity(type="concept", name="?!"))
        await put(store, Memory(id="m", text="words"), Memory(id="n", text="…"))
        for entities, memories in ((3, 1), (2, 1)):
            assert await store.document_count(ElementKind.ENTITY) == entities
            assert await store.document_count(ElementKind.MEMORY) == memories
            await store.delete(entities=[ADA.id])

    async def test_creation_is_as_given_else_now(self, store: GraphStore, clock: FixedClock) -> None:
        early = person("Early", created_at=day(1))
        await put(store, ADA, early, Memory(id="m"), relation(ADA, early))
        now = clock.now()
        assert [each.created_at for each in await store.get_entities([ADA.id, early.id])] == [now, day(1)]
        assert [each.created_at for each in await store.get_memories(["m"])] == [now]
        assert [each.created_at for each in await store.list_relations()] == [now]

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

    async def test_a_memory_written_again_has_the_mentions_and_claims_of_that_batch(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        mentions = mention(memory, ADA), mention(memory, ADA)
        claims = claim(memory, ADA, BOB), claim(memory, ADA, BOB)
        first = batch_of(ADA, BOB, EVE, memory, *mentions, *claims)
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

    async def test_a_relation_is_deleted_with_its_claims(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await put(store, ADA, BOB, EVE, memory, claim(memory, ADA, BOB), claim(memory, ADA, EVE))
        gone = next(each for each in await store.list_relations() if each.target_id == BOB.id)
        await store.delete(relations=[gone.id, ADA.id])
        assert await store.get_relations([gone.id]) == []
        assert await store.list_claims(memory_ids=["m"]) == [claim(memory, ADA, EVE)]
        await put(store, memory, claim(memory, ADA, EVE, confidence=0.9))
        assert [each.target_id for each in await store.list_relations()] == [EVE.id]

    async def test_an_element_written_anew_after_deletion_starts_anew(self, store: GraphStore) -> None:
        await put(store, ADA, BOB)
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
        await store.delete(entities=[ADA.id])
        assert await store.outcomes([ref(ADA)]) == []
        await put(store, ADA)
        assert [each.feedback_weight for each in await store.get_entities([ADA.id])] == [0.5]
        assert await store.outcomes([ref(ADA)]) == []

    async def test_what_batches_count_adds_up_if_they_are_written(self, store: GraphStore) -> None:
        await put(store, counters={"seen": 2, "made": 1})
        await put(store, counters={"seen": 3})
        with pytest.raises(InvalidInputError):
            await put(store, relation(ADA, BOB), counters={"seen": 5})  # Ada does not exist
        assert (await store.statistics()).counters == {"made": 1, "seen": 5}


class TestInMemory(InMemory, PruningDetails):
    pass


class TestPostgres(InPostgres, PruningDetails):
    pass
