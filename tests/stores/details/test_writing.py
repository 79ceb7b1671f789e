"""What goes with a write, and what is counted. Beside the conformance suite."""

from __future__ import annotations

import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    ElementKind,
    Entity,
    Memory,
    Span,
)
from graphsearch.stores.graph import GraphStore
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
    relation,
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


class TestInMemory(InMemory, PruningDetails):
    pass


class TestPostgres(InPostgres, PruningDetails):
    pass
