"""What a claim changes beside its own relation. Beside the conformance suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError
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
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    batch_of,
    claim,
    day,
    near,
    put,
    ref,
    relation,
    vector,
    view,
)
from graphsearch.testing.spec import StoreSpec
from graphsearch.testing.spec_claims import (
    KNOWS,
    LIKES,
    PEOPLE,
    embed_facts,
    relations_with_vectors,
    signed,
    waiting_facts,
)
from graphsearch.text.bm25 import embedding_text
from tests.stores.on_both import InMemory, InPostgres


async def write_facts(store: GraphStore, number: int, *facts: str) -> Sequence[Relation]:
    """Write a memory with facts of Ada and Bob, each of a type of its own; return the relations of the scope."""
    memory = Memory(id=f"m{number}", text=" ".join(facts), occurred_at=day(number))
    claims: list[Claim] = [claim(memory, ADA, BOB, f"type_{at}", fact=fact) for at, fact in enumerate(facts)]
    await put(store, *PEOPLE, memory, *claims)
    return await store.list_relations()


class ClaimsDetails(StoreSpec):
    """What a claim changes beside its own relation."""

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

    async def test_claims_of_a_memory_that_moves_in_time_are_folded_again(self, store: GraphStore) -> None:
        memory = Memory(id="m", occurred_at=day(1))
        claims = (claim(memory, ADA, BOB),)
        await put(store, ADA, BOB, memory, *claims)
        await put(store, attrs.evolve(memory, occurred_at=day(5)), *claims)
        assert [(each.valid_from, each.supported_at) for each in await store.list_relations()] == [(day(5), day(5))]

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

    async def test_claims_are_listed_by_the_groups_that_they_are_folded_in(self, store: GraphStore) -> None:
        one, two = Memory(id="one", occurred_at=day(9)), Memory(id="two", occurred_at=day(2))
        claims = (
            claim(one, ADA, BOB, "works_at"),
            claim(two, ADA, EVE, "works_at"),
            claim(two, ADA, BOB),
            claim(two, ADA, EVE),
        )
        await put(store, *PEOPLE, one, two, *claims)
        assert await store.list_claims(groups=[(ADA.id, "works_at", None)]) == [claims[1], claims[0]]
        assert await store.list_claims(groups=[(ADA.id, "knows", BOB.id)]) == [claims[2]]
        assert await store.list_claims(groups=[(BOB.id, "knows", ADA.id), (EVE.id, "nothing", None)]) == []
        assert await store.list_claims(memory_ids=["one"], groups=[(ADA.id, "knows", EVE.id)]) == [claims[3], claims[0]]
        await store.merge(EVE.id, ADA.id)
        assert await store.list_claims(groups=[(ADA.id, "knows", ADA.id)]) == []

    async def test_a_folded_fact_that_changes_loses_its_vector(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        one, other = sorted(await write_facts(store, 1, "They met.", "They talked."), key=lambda each: each.type)
        await embed_facts(store, one, other)
        await write_facts(store, 2, "They met again.")
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({other.id}, [one.id])
        await embed_facts(store, one)
        await store.forget(["m2"])
        assert (await relations_with_vectors(store), await waiting_facts(store)) == ({other.id}, [one.id])

    async def test_relations_are_the_fold_of_their_claims(self, store: GraphStore, clock: FixedClock) -> None:
        first, second = Memory(id="a", occurred_at=day(1)), Memory(id="b", occurred_at=day(5))
        old = claim(first, ADA, BOB, confidence=0.5, fact="old")
        new = claim(second, ADA, BOB, confidence=0.6, fact="new", kind=EdgeKind.STRUCTURAL)
        await put(store, ADA, BOB, first, second, old, new)
        (folded,) = await store.list_relations()
        told: dict[str, Any] = {"fact": "new", "kind": EdgeKind.STRUCTURAL, "confidence": folded.confidence}
        proof: dict[str, Any] = {"evidence": ("a", "b"), "supported_at": day(5), "created_at": clock.now()}
        assert folded == relation(ADA, BOB, valid_from=day(1), **told, **proof)
        assert folded.confidence == pytest.approx(0.8)

    async def test_a_functional_relation_has_one_target_at_a_time(self, store: GraphStore) -> None:
        late, early = Memory(id="late", occurred_at=day(9)), Memory(id="early", occurred_at=day(2))
        await put(store, *PEOPLE, late, claim(late, ADA, EVE, "reports_to"))
        await put(store, early, claim(early, ADA, BOB, "reports_to"))
        periods = {each.target_id: (each.valid_from, each.valid_to) for each in await store.list_relations()}
        assert periods == {BOB.id: (day(2), day(9)), EVE.id: (day(9), None)}

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

    async def test_given_relations_are_left_alone(self, store: GraphStore) -> None:
        memory = Memory(id="m", occurred_at=day(1))
        given = relation(ADA, BOB, valid_from=day(30), confidence=0.7, evidence=("m",), created_at=day(3))
        claims = (claim(memory, ADA, BOB), claim(memory, ADA, EVE))
        await put(store, *PEOPLE, memory, *claims, given)
        await put(store, memory, *claims[1:])
        assert await store.get_relations([given.id]) == [given]
        assert {each.target_id for each in await store.list_relations()} == {BOB.id, EVE.id}

    async def test_vectors_of_texts_that_have_changed_or_gone_are_left_out(self, store: GraphStore) -> None:
        await store.bind_embedder("model", 2)
        gone = relation(ADA, EVE, "met", fact="Ada met Eve.")
        memory = Memory(id="m", text="Ada and Bob.")
        await put(store, *PEOPLE, KNOWS, LIKES, memory)
        texts = {KNOWS.id: KNOWS.fact, LIKES.id: "Bob loved Eve.", gone.id: gone.fact, "m": "Ada.", "n": "Ada."}
        before = await store.version()
        await put(store, vectors=dict.fromkeys(texts, vector(1, 1)), embedded=texts)
        assert await store.version() != before
        assert await relations_with_vectors(store) == {KNOWS.id}
        assert await waiting_facts(store) == [LIKES.id]
        async with store.snapshot():
            hits = await store.search_by_embedding(ElementKind.MEMORY, vector(1, 0), limit=5, view=view())
            assert not len(hits.keys)
        text = embedding_text(memory)
        await put(store, vectors={"m": vector(1, 1), ADA.id: vector(1, 0)}, embedded={"m": text})
        async with store.snapshot():
            assert await near(store, ElementKind.MEMORY, vector(1, 0)) == ["m"]
        with pytest.raises(InvalidInputError, match="no element"):
            await put(store, vectors={gone.id: vector(1, 1)})


class TestInMemory(InMemory, ClaimsDetails):
    pass


class TestPostgres(InPostgres, ClaimsDetails):
    pass
