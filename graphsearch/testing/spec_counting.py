"""Counting: statistics and degrees."""

from __future__ import annotations

from uuid import UUID

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, ElementKind, Entity, Memory, Statistics
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import claim, day, mention, person, relation
from graphsearch.testing.spec import StoreSpec

ADA, BOB, LAB = person("Ada"), person("Bob"), Entity(type="place", name="Lab")


class CountingSpec(StoreSpec):
    """`statistics`, `degrees`, `document_count`, `document_frequencies`."""

    async def test_an_empty_scope_counts_nothing(self, store: GraphStore) -> None:
        await store.write(Batch())
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
        await store.write(Batch(counters={"seen": 2, "made": 1}))
        await store.write(Batch(counters={"seen": 3}))
        with pytest.raises(InvalidInputError):
            await store.write(Batch(relations=(relation(ADA, BOB),), counters={"seen": 5}))  # Ada does not exist
        assert (await store.statistics()).counters == {"made": 1, "seen": 5}

    async def test_documents_are_counted_that_have_words_settled_or_not(self, store: GraphStore) -> None:
        await store.write(Batch(entities=(ADA, BOB, LAB, Entity(type="concept", name="?!"))))
        assert await store.document_count(ElementKind.ENTITY) == 3
        many = tuple(person(f"Somebody {number}") for number in range(1001))
        await store.write(Batch(entities=many))
        assert await store.document_count(ElementKind.ENTITY) == 1004
        await store.settle()
        assert await store.document_count(ElementKind.ENTITY) == 1004
        await store.delete(entities=[ADA.id])
        assert await store.document_count(ElementKind.ENTITY) == 1003
        await store.write(Batch(memories=(Memory(id="m", text="words"), Memory(id="n", text="…"))))
        assert await store.document_count(ElementKind.MEMORY) == 1

    async def test_documents_are_counted_by_their_terms_settled_or_not(self, store: GraphStore) -> None:
        texts = ("A copper kettle.", "The kettles are copper, and old.", "An old anchor.", "…")
        await store.write(Batch(memories=[Memory(id=str(number), text=text) for number, text in enumerate(texts)]))
        asked = ("", "kettle", "copper kettle", "old kettle", "old old", "anchor kettle")
        groups = [store.analyser.terms(each) for each in asked]
        expected = [3, 2, 2, 1, 2, 0]
        assert list(await store.document_frequencies(ElementKind.MEMORY, groups)) == expected
        assert list(await store.document_frequencies(ElementKind.MEMORY, [["zinc"], ["zinc", "old"]])) == [0, 0]
        assert list(await store.document_frequencies(ElementKind.MEMORY, [])) == []
        assert list(await store.document_frequencies(ElementKind.ENTITY, groups)) == [0] * len(groups)
        many = tuple(Memory(id=f"k{number}", text="another kettle") for number in range(1001))
        await store.write(Batch(memories=many))
        for _ in range(2):
            found = await store.document_frequencies(ElementKind.MEMORY, groups)
            assert list(found) == [1004, 1003, *expected[2:]]
            await store.settle()
        await store.forget(["1"])
        assert list(await store.document_frequencies(ElementKind.MEMORY, groups[2:4])) == [1, 0]

    async def test_a_scope_counts_what_is_in_it(self, store: GraphStore) -> None:
        memory = Memory(id="m")
        await store.bind_embedder("model", 3)
        await store.write(
            Batch(
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
