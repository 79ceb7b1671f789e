"""What goes with a write, and what is counted. Beside the conformance suite."""

from __future__ import annotations

import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    ElementKind,
    Entity,
    Memory,
)
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    mention,
    person,
    portrait,
    put,
    relation,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_writing import LAB
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
