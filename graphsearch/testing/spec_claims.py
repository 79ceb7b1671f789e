"""Claims: relations are the fold of them, in any order of arrival; and the vectors of facts."""

from __future__ import annotations

import random
from uuid import UUID

import attrs
import pytest

from graphsearch.model import Claim, EdgeKind, ElementKind, Entity, Memory, Relation
from graphsearch.model.signatures import Signature, memory_signature, relation_signature
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    claim,
    day,
    expanded,
    near,
    person,
    put,
    relation,
    signature_of,
    vector,
)
from graphsearch.testing.spec import FreshScope, StoreSpec

PEOPLE = (ADA, BOB, EVE, person("Zoe"))
TYPES = ("knows", "works_at", "co_occurs")


def random_memories(rng: random.Random, number: int) -> list[tuple[Memory, tuple[Claim, ...]]]:
    """Memories with claims about few people, so that periods touch, close and absorb each other."""
    made = []
    for index in range(number):
        time = rng.choice([None, *(day(each) for each in range(0, 60, 5))])
        memory = Memory(id=f"m{index}", text=f"said {index}", occurred_at=time)
        claims = []
        for _ in range(rng.randint(1, 3)):
            source, target = rng.sample(PEOPLE, 2)
            start, end = sorted(rng.choices(range(0, 60, 5), k=2))
            since, until = day(start) if rng.random() < 0.3 else None, day(end) if rng.random() < 0.2 else None
            said = {"valid_from": since, "valid_to": until, "fact": f"fact {index}"}
            sure = {"confidence": rng.choice([0.5, 0.8, 0.9]), "kind": rng.choice([*EdgeKind])}
            claims.append(claim(memory, source, target, rng.choice(TYPES), **said, **sure))
        made.append((memory, tuple(claims)))
    return made


async def signed(store: GraphStore, *ends: Entity) -> dict[UUID, tuple[Signature, set[Signature], set[Signature]]]:
    """By relation of these entities: its signature, and the signatures of its evidence and of its influences."""
    async with expanded(store, *ends, since=day(0)) as found:
        codes = dict(zip(store.relation_ids(found.relations), found.signatures.tolist(), strict=True))
        made = {key: await signature_of(store, code) for key, code in codes.items()}
        shared = set((await store.signature_codes(shared=True)).tolist())
        assert all(made[key][0].shared is (code in shared) for key, code in codes.items())
        return made


class ClaimsSpec(StoreSpec):
    """How `write` folds claims."""

    @pytest.mark.parametrize("seed", range(3))
    async def test_claims_may_arrive_in_any_order(self, fresh: FreshScope, seed: int) -> None:
        rng = random.Random(seed)
        memories = random_memories(rng, 8)
        expected: list[Relation] | None = None
        for _ in range(3):
            store = fresh()
            rng.shuffle(memories)
            await put(store, *PEOPLE)
            batches = rng.choice([1, 2, len(memories)])
            for start in range(batches):
                part = memories[start::batches]
                await put(store, *(memory for memory, _ in part), *(each for _, claims in part for each in claims))
            relations = list(await store.list_relations(limit=1000))
            expected = expected or relations
            assert relations == expected

    async def test_a_signature_follows_the_memories_behind_a_relation(self, store: GraphStore) -> None:
        open_, secret = Memory(id="open", source="wiki"), Memory(id="secret", labels=("private",))
        folded, given = relation(ADA, BOB), relation(BOB, EVE, evidence=("secret",))
        await put(store, ADA, BOB, EVE, open_, secret, claim(open_, ADA, BOB), claim(secret, ADA, BOB), given)

        async def check(*together: Memory) -> None:
            found = await signed(store, ADA, BOB)
            for each, memories in ((folded, together), (given, (secret,))):
                (stored,) = await store.get_relations([each.id])
                signature = relation_signature(stored, (), shared=len(memories) > 1)
                assert found[each.id] == (signature, {memory_signature(memory) for memory in memories}, set())

        await check(open_, secret)
        secret = attrs.evolve(secret, labels=(), source="wiki")
        await put(store, secret, claim(secret, ADA, BOB))
        await check(open_, secret)
        await put(store, secret)
        await check(open_)


KNOWS = relation(ADA, BOB, fact="Ada knows Bob.")
LIKES = relation(BOB, EVE, "likes", fact="Bob likes Eve.")


async def relations_with_vectors(store: GraphStore) -> set[UUID | str]:
    """The relations that have a vector."""
    return set(await near(store, ElementKind.RELATION, vector(1, 0), limit=50, min_edge_confidence=0.0))


async def waiting_facts(store: GraphStore) -> list[UUID]:
    """The relations whose facts have no vector yet."""
    return [each.id for each in await store.unembedded_facts()]


async def embed_facts(store: GraphStore, *relations: Relation) -> None:
    """Write vectors of relations."""
    await put(store, vectors={each.id: vector(1, 1) for each in relations})


class FactsSpec(StoreSpec):
    """`unembedded_facts`, and the vectors of relations that change."""

    async def test_facts_wait_in_order_of_id_until_they_have_a_vector(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        links = sorted(
            (relation(ADA, BOB, f"t{number}", fact=f"Fact {number}.") for number in range(7)), key=lambda each: each.id
        )
        await put(store, *PEOPLE, *links)
        waiting = await store.unembedded_facts(limit=3)
        assert [(each.id, each.fact) for each in waiting] == [(each.id, each.fact) for each in links[:3]]
        assert await waiting_facts(store) == [each.id for each in links]
        await embed_facts(store, links[1], links[4])
        left = [each.id for at, each in enumerate(links) if at not in {1, 4}]
        assert await waiting_facts(store) == left
        assert [each.id for each in await store.unembedded_facts(after=left[1], limit=2)] == left[2:4]
        assert await store.unembedded_facts(limit=0) == []
        await embed_facts(store, *links)
        assert await waiting_facts(store) == []

    async def test_a_given_fact_that_changes_loses_its_vector_or_gets_the_new_one(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        vectors = {KNOWS.id: vector(1, 0), LIKES.id: vector(0, 1)}
        await put(store, *PEOPLE, KNOWS, LIKES, vectors=vectors)
        await put(store, attrs.evolve(KNOWS, confidence=0.6), LIKES)
        assert await relations_with_vectors(store) == {KNOWS.id, LIKES.id}
        other = attrs.evolve(KNOWS, fact="Ada hardly knows Bob.")
        await put(store, other, LIKES)
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({LIKES.id}, [KNOWS.id])
        await put(store, KNOWS, vectors={KNOWS.id: vector(1, 1)})
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({KNOWS.id, LIKES.id}, [])
        await put(store, attrs.evolve(KNOWS, fact=""))
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({LIKES.id}, [])
