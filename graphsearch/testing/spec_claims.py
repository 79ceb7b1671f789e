"""Claims: relations are the fold of them, in any order of arrival; and the vectors of facts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from uuid import UUID

import attrs
import pytest

from graphsearch.model import (
    Claim,
    EdgeKind,
    ElementKind,
    Entity,
    Memory,
    Mention,
    Outcome,
    Relation,
    RelationType,
    WriteReport,
)
from graphsearch.model.signatures import Signature, memory_signature, relation_signature
from graphsearch.protocols import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    day,
    expanded,
    near,
    person,
    put,
    ref,
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
        memory = Memory(
            id=f"m{index}",
            text=f"said {index}",
            occurred_at=rng.choice([None, *(day(each) for each in range(0, 60, 5))]),
        )
        claims = []
        for _ in range(rng.randint(1, 3)):
            source, target = rng.sample(PEOPLE, 2)
            start, end = sorted(rng.choices(range(0, 60, 5), k=2))
            claims.append(
                claim(
                    memory,
                    source,
                    target,
                    rng.choice(TYPES),
                    confidence=rng.choice([0.5, 0.8, 0.9]),
                    valid_from=day(start) if rng.random() < 0.3 else None,
                    valid_to=day(end) if rng.random() < 0.2 else None,
                    kind=rng.choice(list(EdgeKind)),
                    fact=f"fact {index}",
                )
            )
        made.append((memory, tuple(claims)))
    return made


async def signed(store: GraphStore, *ends: Entity) -> dict[UUID, tuple[Signature, set[Signature], set[Signature]]]:
    """By relation of these entities: its signature, and the signatures of its evidence and of its influences."""
    async with expanded(store, *ends, since=day(0)) as found:
        codes = dict(zip(store.relation_ids(found.relations), found.signatures.tolist(), strict=True))
        made = {key: await signature_of(store, code) for key, code in codes.items()}
        shared = set((await store.shared_signatures()).tolist())
        assert all(made[key][0].shared is (code in shared) for key, code in codes.items())
        return made


class ClaimsSpec(StoreSpec):
    """How `write` folds claims."""

    async def test_relations_are_the_fold_of_their_claims(self, store: GraphStore, clock: FixedClock) -> None:
        first, second = Memory(id="a", occurred_at=day(1)), Memory(id="b", occurred_at=day(5))
        await put(
            store,
            entities=(ADA, BOB),
            memories=(first, second),
            claims=(
                claim(first, ADA, BOB, confidence=0.5, fact="old"),
                claim(second, ADA, BOB, confidence=0.6, fact="new", kind=EdgeKind.STRUCTURAL),
            ),
        )
        (folded,) = await store.list_relations()
        assert folded == Relation(
            source_id=ADA.id,
            type="knows",
            target_id=BOB.id,
            valid_from=day(1),
            fact="new",
            kind=EdgeKind.STRUCTURAL,
            confidence=folded.confidence,
            evidence=("a", "b"),
            supported_at=day(5),
            created_at=clock.now(),
        )
        assert folded.confidence == pytest.approx(0.8)

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

    async def test_a_functional_relation_has_one_target_at_a_time(self, store: GraphStore) -> None:
        late, early = Memory(id="late", occurred_at=day(9)), Memory(id="early", occurred_at=day(2))
        await put(store, *PEOPLE, late, claim(late, ADA, EVE, "reports_to"))
        await put(store, early, claim(early, ADA, BOB, "reports_to"))
        periods = {each.target_id: (each.valid_from, each.valid_to) for each in await store.list_relations()}
        assert periods == {BOB.id: (day(2), day(9)), EVE.id: (day(9), None)}

    async def test_a_type_that_becomes_functional_is_folded_again(self, store: GraphStore) -> None:
        late, early = Memory(id="late", occurred_at=day(9)), Memory(id="early", occurred_at=day(2))
        claims = (claim(late, ADA, EVE, "loves"), claim(early, ADA, BOB, "loves"))
        await put(store, *PEOPLE, late, early, *claims)
        assert {each.valid_to for each in await store.list_relations()} == {None}
        await store.register_types([RelationType(name="loves", functional=True)])
        assert {each.target_id: each.valid_to for each in await store.list_relations()} == {
            BOB.id: day(9),
            EVE.id: None,
        }

    async def test_a_relation_without_claims_left_is_retracted_and_comes_back(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        memory = Memory(id="m", text="Ada knows Bob.", occurred_at=day(1))
        batch = batch_of(ADA, BOB, memory, claim(memory, ADA, BOB))
        await store.write(batch)
        (known,) = await store.list_relations()
        await store.apply_outcome("s", Outcome.ACCEPTED, [ref(known)])
        later = clock.advance(days=1)
        report = await put(store, attrs.evolve(memory, text="Never mind."))
        assert report == WriteReport(memories=1, relations_retracted=1)
        assert [each.retracted_at for each in await store.get_relations([known.id])] == [later]
        clock.advance(days=1)
        await store.write(batch)
        assert await store.list_relations() == [attrs.evolve(known, feedback_weight=0.55)]

    async def test_claims_of_a_memory_that_moves_in_time_are_folded_again(self, store: GraphStore) -> None:
        memory = Memory(id="m", occurred_at=day(1))
        claims = (claim(memory, ADA, BOB),)
        await put(store, ADA, BOB, memory, *claims)
        await put(store, attrs.evolve(memory, occurred_at=day(5)), *claims)
        assert [(each.valid_from, each.supported_at) for each in await store.list_relations()] == [(day(5), day(5))]

    async def test_given_relations_are_left_alone(self, store: GraphStore) -> None:
        memory = Memory(id="m", occurred_at=day(1))
        given = relation(ADA, BOB, valid_from=day(30), confidence=0.7, evidence=("m",), created_at=day(3))
        claims = (claim(memory, ADA, BOB), claim(memory, ADA, EVE))
        await put(store, *PEOPLE, memory, *claims, given)
        await put(store, memory, *claims[1:])
        assert await store.get_relations([given.id]) == [given]
        assert {each.target_id for each in await store.list_relations()} == {BOB.id, EVE.id}

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

    @pytest.mark.parametrize("functional", [True, False])
    async def test_a_signature_includes_memories_of_the_same_fold(self, store: GraphStore, *, functional: bool) -> None:
        """Memories it was folded with: of another target of a functional type, or of another period."""
        name, other = ("works_at", EVE) if functional else ("knows", BOB)
        early = Memory(id="early", occurred_at=day(1), source="early")
        late = Memory(id="late", occurred_at=day(9), source="late")
        apart = Memory(id="apart", occurred_at=day(9), source="apart")
        claims = (
            claim(early, ADA, BOB, name, valid_to=day(5)),
            claim(late, ADA, other, name),
            claim(apart, EVE, BOB, name),
        )
        await put(store, *PEOPLE, early, late, apart, *claims)
        assert await self._folded_with(store) == {"early": {"late"}, "late": {"early"}, "apart": set()}
        moved = attrs.evolve(late, source="later")
        await put(store, moved, *claims[1:2])
        assert await self._folded_with(store) == {"early": {"later"}, "later": {"early"}, "apart": set()}
        given = relation(ADA, BOB, name, labels=("marked",))
        await put(store, given)
        assert [each.labels for each in await store.get_relations([given.id])] == [("marked",)]
        assert await self._folded_with(store) == {"early": {"later"}, "later": {"early"}, "apart": set()}
        await store.forget(["early"])
        assert await self._folded_with(store) == {"later": set(), "apart": set()}

    async def _folded_with(self, store: GraphStore) -> dict[str, set[str]]:
        """By source of the one memory behind each relation: the sources of the memories it was folded with."""
        by_memory = {}
        for content, (memory,), others in (await signed(store, *PEOPLE)).values():
            by_memory[memory.source] = {each.source for each in others if each.kind is ElementKind.MEMORY}
            assert content.shared is bool(others)
        return by_memory

    async def test_a_signature_includes_other_targets_of_a_functional_type(self, store: GraphStore) -> None:
        """With their current types and labels, which another memory or a merge may change."""
        early, late = Memory(id="early", occurred_at=day(1)), Memory(id="late", occurred_at=day(9))
        new = Entity(type="concept", name="New")
        claims = (claim(early, ADA, BOB, "works_at"), claim(late, ADA, new, "works_at"), claim(late, ADA, new))
        await put(store, *PEOPLE, early, late, *claims, named=(new,))
        assert await self._others(store) == {"early": {new.type}, "late": {BOB.type}}
        await put(store, attrs.evolve(BOB, labels=("private",)))
        assert await self._others(store) == {"early": {new.type}, "late": {BOB.type + " private"}}
        naming = Memory(id="naming")
        mention = Mention(memory_id="naming", entity_id=new.id, surface="New", type="tool")
        await put(store, naming, mention)
        assert await self._others(store) == {"early": {"tool"}, "late": {BOB.type + " private"}}
        await store.forget(["naming"])
        assert await self._others(store) == {"early": {new.type}, "late": {BOB.type + " private"}}
        merge = await store.merge(BOB.id, EVE.id)
        assert await self._others(store) == {"early": {new.type}, "late": {EVE.type}}
        await store.undo_merge(merge.id)
        assert await self._others(store) == {"early": {new.type}, "late": {BOB.type + " private"}}
        await store.delete(entities=[new.id])
        assert await self._others(store) == {"early": set()}

    async def _others(self, store: GraphStore) -> dict[str, set[str]]:
        """By memory behind each relation of Ada's work: type and labels of the other targets."""
        found = await signed(store, ADA)
        return {
            each.evidence[0]: {
                " ".join((other.type, *other.labels)) for other in found[each.id][2] if other.kind is ElementKind.ENTITY
            }
            for each in await store.list_relations(type="works_at")
        }


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


async def write_facts(store: GraphStore, number: int, *facts: str) -> Sequence[Relation]:
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

    async def test_a_folded_fact_that_changes_loses_its_vector(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        one, other = sorted(await write_facts(store, 1, "They met.", "They talked."), key=lambda each: each.type)
        await embed_facts(store, one, other)
        await write_facts(store, 2, "They met again.")
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({other.id}, [one.id])
        await embed_facts(store, one)
        await store.forget(["m2"])
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({other.id}, [one.id])


def _id(each: Relation) -> UUID:
    return each.id
