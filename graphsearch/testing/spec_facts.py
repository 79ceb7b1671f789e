"""Facts: which have a vector, which are unembedded, and when a vector is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import attrs
import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.model import Claim, ElementKind, Memory, Relation
from graphsearch.protocols import GraphStore
from graphsearch.testing.samples import ADA, BOB, EVE, claim, day, near, put, relation, vector, view
from graphsearch.testing.spec import StoreSpec
from graphsearch.text.bm25 import embedding_text

PEOPLE = (ADA, BOB, EVE)
KNOWS = relation(ADA, BOB, fact="Ada knows Bob.")
LIKES = relation(BOB, EVE, "likes", fact="Bob likes Eve.")


async def _near(store: GraphStore) -> set[UUID | str]:
    """The relations that have a vector."""
    return set(await near(store, ElementKind.RELATION, vector(1, 0), limit=50, min_edge_confidence=0.0))


async def _waiting(store: GraphStore) -> list[UUID]:
    return [each.id for each in await store.unembedded_facts()]


async def _embed(store: GraphStore, *relations: Relation) -> None:
    await put(store, vectors={each.id: vector(1, 1) for each in relations})


async def _write_facts(store: GraphStore, number: int, *facts: str) -> Sequence[Relation]:
    """Write a memory with facts of Ada and Bob, each of a type of its own; return the relations of the scope."""
    memory = Memory(id=f"m{number}", text=" ".join(facts), occurred_at=day(number))
    claims: list[Claim] = [claim(memory, ADA, BOB, f"type_{at}", fact=fact) for at, fact in enumerate(facts)]
    await put(store, *PEOPLE, memory, *claims)
    return await store.list_relations()


class FactsSpec(StoreSpec):
    """`unembedded_facts`, and the vectors of relations that change."""

    async def test_facts_wait_in_order_of_id_until_they_have_a_vector(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        links = sorted((relation(ADA, BOB, f"t{number}", fact=f"Fact {number}.") for number in range(7)), key=_id)
        await put(store, *PEOPLE, *links)
        waiting = await store.unembedded_facts(limit=3)
        assert [(each.id, each.fact) for each in waiting] == [(each.id, each.fact) for each in links[:3]]
        assert await _waiting(store) == [each.id for each in links]
        await _embed(store, links[1], links[4])
        left = [each.id for at, each in enumerate(links) if at not in {1, 4}]
        assert await _waiting(store) == left
        assert [each.id for each in await store.unembedded_facts(after=left[1], limit=2)] == left[2:4]
        assert await store.unembedded_facts(limit=0) == []
        await _embed(store, *links)
        assert await _waiting(store) == []

    @pytest.mark.parametrize("embedded", [False, True])
    async def test_what_has_no_fact_or_is_retracted_waits_for_nothing(self, store: GraphStore, embedded: bool) -> None:
        await store.bind_embedder("model", 2)
        await put(store, *PEOPLE, KNOWS)
        if embedded:  # unembedded facts are found in another way as soon as one has a vector
            await _embed(store, KNOWS)
        gone = attrs.evolve(LIKES, created_at=day(1), retracted_at=day(2))
        await put(store, relation(EVE, ADA), gone)
        assert await _waiting(store) == ([] if embedded else [KNOWS.id])
        (met,) = [each for each in await _write_facts(store, 1, "Ada met Bob.") if each.fact == "Ada met Bob."]
        assert met.id in await _waiting(store)
        await put(store, Memory(id="m1", text="Never mind.", occurred_at=day(1)))
        assert met.id not in await _waiting(store)
        await _write_facts(store, 1, "Ada met Bob.")
        assert met.id in await _waiting(store)
        await store.forget(["m1"])
        await store.delete(relations=[KNOWS.id])
        assert await _waiting(store) == []

    async def test_what_comes_after_the_first_vectors_waits_too(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await put(store, *PEOPLE, KNOWS, vectors={KNOWS.id: vector(1, 0)})
        assert await _waiting(store) == []
        await put(store, KNOWS, LIKES)
        assert await _waiting(store) == [LIKES.id]
        other = relation(ADA, EVE, "admires", fact="Ada admires Eve.")
        await put(store, other, vectors={other.id: vector(0, 1)})
        assert await _waiting(store) == [LIKES.id]

    async def test_all_wait_again_when_no_vector_is_left(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        await put(store, *PEOPLE, KNOWS, LIKES)
        await _embed(store, KNOWS)
        await store.delete(relations=[KNOWS.id])
        late = relation(ADA, EVE, "admires", fact="Ada admires Eve.")
        await put(store, late)
        assert await _waiting(store) == sorted([LIKES.id, late.id])
        await _embed(store, late)
        assert await _waiting(store) == [LIKES.id]

    async def test_a_given_fact_that_changes_loses_its_vector_or_gets_the_new_one(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        vectors = {KNOWS.id: vector(1, 0), LIKES.id: vector(0, 1)}
        await put(store, *PEOPLE, KNOWS, LIKES, vectors=vectors)
        await put(store, attrs.evolve(KNOWS, confidence=0.6), LIKES)
        assert await _near(store) == {KNOWS.id, LIKES.id}
        other = attrs.evolve(KNOWS, fact="Ada hardly knows Bob.")
        await put(store, other, LIKES)
        assert (await _near(store), await _waiting(store)) == ({LIKES.id}, [KNOWS.id])
        await put(store, KNOWS, vectors={KNOWS.id: vector(1, 1)})
        assert (await _near(store), await _waiting(store)) == ({KNOWS.id, LIKES.id}, [])
        await put(store, attrs.evolve(KNOWS, fact=""))
        assert (await _near(store), await _waiting(store)) == ({LIKES.id}, [])

    async def test_a_folded_fact_that_changes_loses_its_vector(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        one, other = sorted(await _write_facts(store, 1, "They met.", "They talked."), key=lambda each: each.type)
        await _embed(store, one, other)
        await _write_facts(store, 2, "They met again.")
        assert (await _near(store), await _waiting(store)) == ({other.id}, [one.id])
        await _embed(store, one)
        await store.forget(["m2"])
        assert (await _near(store), await _waiting(store)) == ({other.id}, [one.id])

    async def test_a_fact_that_is_given_and_claimed_at_once_is_the_claimed_one(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        (met,) = await _write_facts(store, 1, "They met.")
        await _embed(store, met)
        memory = Memory(id="m1", text="They met.", occurred_at=day(1))
        given = attrs.evolve(met, fact="Nobody says so.")
        claimed = claim(memory, ADA, BOB, "type_0", fact="They met.", confidence=0.9)
        await put(store, memory, claimed, given)
        assert [each.fact for each in await store.list_relations()] == ["They met."]
        assert (await _near(store), await _waiting(store)) == ({met.id}, [])

    async def test_a_wrong_page_is_refused(self, store: GraphStore) -> None:
        await put(store, *PEOPLE)
        with pytest.raises(InvalidInputError, match="limit"):
            await store.unembedded_facts(limit=-1)

    async def test_vectors_of_texts_that_have_changed_or_gone_are_left_out(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        gone = relation(ADA, EVE, "met", fact="Ada met Eve.")
        memory = Memory(id="m", text="Ada and Bob.")
        await put(store, *PEOPLE, KNOWS, LIKES, memory)
        texts = {KNOWS.id: KNOWS.fact, LIKES.id: "Bob loved Eve.", gone.id: gone.fact, "m": "Ada.", "n": "Ada."}
        before = await store.version()
        await put(store, vectors=dict.fromkeys(texts, vector(1, 1)), embedded=texts)
        assert await store.version() != before
        assert await _near(store) == {KNOWS.id}
        assert await _waiting(store) == [LIKES.id]
        async with store.snapshot():
            hits = await store.search_by_embedding(ElementKind.MEMORY, vector(1, 0), limit=5, view=view())
            assert not len(hits.keys)
        text = embedding_text(memory)
        await put(store, vectors={"m": vector(1, 1), ADA.id: vector(1, 0)}, embedded={"m": text})
        async with store.snapshot():
            assert await near(store, ElementKind.MEMORY, vector(1, 0)) == ["m"]
        with pytest.raises(InvalidInputError, match="no element"):
            await put(store, vectors={gone.id: vector(1, 1)})


def _id(each: Relation) -> UUID:
    return each.id
