"""Merges, and what is deleted between merge and undo. Beside the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError, UnknownElementError
from graphsearch.model import (
    ElementKind,
    ElementRef,
    Entity,
    Memory,
    Merge,
)
from graphsearch.model.identity import keyed_id
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    claim,
    day,
    ids_of,
    injection,
    mention,
    person,
    put,
    ref,
    relation,
    view,
)
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_forgetting import COUNTESS, ONE, two_people
from graphsearch.testing.strategies import (
    EMBEDDER,
    PEOPLE,
    AnnotatedMemory,
    annotated_memories,
    answers,
    embed,
    few_examples,
    forget,
    write_memories,
)
from tests.stores.on_both import InMemory, InPostgres


async def _of_one_type(store: GraphStore, ids: Sequence[UUID]) -> list[UUID]:
    """The entities that can be merged into the first."""
    entities = await store.get_entities(ids)
    return [each.id for each in entities if each.type == entities[0].type]


class MergesDetails(StoreSpec):
    """Merges, and what is deleted between merge and undo."""

    async def test_what_ingest_minted_is_merged_into_what_an_application_writes(self, store: GraphStore) -> None:
        await put(store)
        minted = attrs.evolve(ADA, id=keyed_id(ADA.id, await store.id_key()), type="concept")
        assert minted.id != ADA.id
        await put(store, ONE, mention(ONE, minted), named=(minted,))
        await put(store, ADA, BOB)
        assert [each.merged_into for each in await store.get_entities([minted.id, ADA.id])] == [ADA.id, None]
        assert [each.entity_id for each in await store.list_mentions(memory_ids=["one"])] == [ADA.id]
        [made] = await store.merges()
        await store.undo_merge(made.id)
        await put(store, attrs.evolve(ADA, description="Again."))  # once is enough
        assert [each.merged_into for each in await store.get_entities([minted.id, ADA.id])] == [None, None]

    async def test_entities_of_two_types_are_merged_and_retyped_in_one_step(self, store: GraphStore) -> None:
        tool, firm = Entity(type="tool", name="Mercury"), Entity(type="organisation", name="Mercury")
        memories = [Memory(id="m"), Memory(id="n")]
        mentions = [mention(memories[0], tool), mention(memories[1], firm)]
        await put(store, tool, firm, *memories, *mentions)
        before = await store.get_entities([tool.id, firm.id])
        with pytest.raises(InvalidInputError, match="or merge with retype"):
            await store.merge(tool.id, firm.id)
        assert (await store.merge(tool.id, firm.id, dry_run=True, retype=True)).mentions == 1
        assert await store.get_entities([tool.id, firm.id]) == before
        merge = await store.merge(tool.id, firm.id, retype=True)
        [kept] = await store.get_entities([firm.id])
        assert (kept.type, kept.name) == ("organisation", "Mercury")
        assert [each.memory_id for each in await store.list_mentions(entity_ids=[firm.id])] == ["m", "n"]
        assert [each.entity_id for each in await store.find_names(["Mercury"])] == [firm.id]
        await store.undo_merge(merge.id)
        assert await store.get_entities([tool.id, firm.id]) == before
        assert [each.memory_id for each in await store.list_mentions(entity_ids=[tool.id])] == ["m"]

    async def test_the_source_is_found_no_more_but_by_its_names(self, store: GraphStore) -> None:
        await two_people(store)
        await store.merge(COUNTESS.id, ADA.id)
        for found in (
            await store.find_names(["countess", "aal", "c."]),
            await store.find_name_words(["countess"]),
            (await store.similar_names(["countess"], threshold=0.6))["countess"],
        ):
            assert {each.entity_id for each in found} == {ADA.id}
        async with store.snapshot():
            near = await store.search_by_embedding(
                ElementKind.ENTITY, EMBEDDER.vector("Countess"), limit=5, view=view()
            )
            worded = await store.search_lexical(ElementKind.ENTITY, "countess", limit=5, view=view())
            assert ids_of(store, ElementKind.ENTITY, near) == ids_of(store, ElementKind.ENTITY, worded) == [ADA.id]
        assert await store.degrees([COUNTESS.id, ADA.id]) == {COUNTESS.id: 0, ADA.id: 3}

    async def test_deleting_the_target_takes_along_what_was_merged_into_it(self, store: GraphStore) -> None:
        await two_people(store)
        await store.merge(COUNTESS.id, ADA.id)
        await store.delete(entities=[ADA.id])
        assert {each.id for each in await store.list_entities()} == {BOB.id, EVE.id}
        assert await store.list_relations() == []
        assert await store.merges() == []

    @few_examples
    @given(annotated_memories("a"), st.permutations(PEOPLE), st.booleans())
    async def test_a_chain_undone_in_any_order_is_as_before(
        self, fresh: FreshScope, memories: Sequence[AnnotatedMemory], order: Sequence[UUID], last_first: bool
    ) -> None:
        store = fresh()
        await write_memories(store, memories)
        known = await _of_one_type(store, order)
        before, middle = await answers(store), list[Mapping[str, Any]]()
        made = []
        for source, target in pairwise(known):
            made.append(await store.merge(source, target))
            middle.append(await answers(store))
        for at, each in reversed(list(enumerate(made))) if last_first else enumerate(made):
            report = await store.undo_merge(each.id)
            assert (report.stayed, report.forgotten) == (0, 0)
            if last_first and at:
                assert await answers(store) == middle[at - 1]
        assert await answers(store) == before

    @few_examples
    @given(annotated_memories("a"), annotated_memories("b"), st.permutations(PEOPLE))
    async def test_forgetting_while_merged_equals_never_having_written(
        self,
        fresh: FreshScope,
        first: Sequence[AnnotatedMemory],
        second: Sequence[AnnotatedMemory],
        order: Sequence[UUID],
    ) -> None:
        alone, both = fresh(), fresh()
        for store in (alone, both):
            await write_memories(store, first)
        there = [each.id for each in await alone.get_entities(order)]
        await write_memories(both, second)
        known = (await _of_one_type(both, there))[:2]
        made = await both.merge(*known) if len(known) == 2 else None
        await forget(both, second)
        if made is not None:
            undone = await both.undo_merge(made.id)
            await embed(both, undone.reworded)
        assert await answers(both) == await answers(alone)

    async def test_deleting_the_source_leaves_what_it_brought(self, store: GraphStore) -> None:
        await two_people(store)
        first = await store.merge(BOB.id, COUNTESS.id)
        await store.merge(COUNTESS.id, ADA.id)
        before = await store.list_relations()
        await store.delete(entities=[COUNTESS.id])
        assert await store.list_relations() == before
        assert await store.merges() == [attrs.evolve(first, target_id=ADA.id)]
        (target,) = await store.get_entities([ADA.id])
        assert target.aliases == ("Bob", "C.", "Countess")
        assert (await store.get_entities([BOB.id]))[0].merged_into == ADA.id
        await store.undo_merge(first.id)
        assert [each.entity_id for each in await store.list_mentions(memory_ids=["one"])] == [ADA.id, ADA.id]
        assert {each.entity_id for each in await store.list_mentions(memory_ids=["two"])} == {ADA.id, BOB.id}

    async def test_deleting_the_source_folds_what_was_claimed_between_the_two(self, store: GraphStore) -> None:
        await put(store, ADA, COUNTESS, ONE, claim(ONE, COUNTESS, ADA))
        await store.merge(COUNTESS.id, ADA.id)
        assert await store.list_relations() == []
        report = await store.delete(entities=[COUNTESS.id])
        [own] = await store.list_relations()
        assert (own.source_id, own.target_id, own.evidence, report.relations) == (ADA.id, ADA.id, ("one",), 1)
        await store.forget(["one"])
        assert await store.get_relations([own.id]) == []

    async def test_what_merges_turned_on_itself_moves_with_what_was_merged_since(self, store: GraphStore) -> None:
        given = relation(ADA, COUNTESS)
        await put(store, ADA, COUNTESS, BOB, given)
        first = await store.merge(COUNTESS.id, ADA.id)
        await store.merge(ADA.id, BOB.id)
        await store.undo_merge(first.id)
        [meant] = await store.list_relations()
        assert (meant.id, meant.source_id, meant.target_id) == (given.id, BOB.id, COUNTESS.id)

    async def test_a_retracted_relation_goes_with_what_once_proved_it(
        self, store: GraphStore, clock: FixedClock
    ) -> None:
        memory = Memory(id="m", text="one")
        await put(store, ADA, BOB, memory, claim(memory, ADA, BOB, fact="A secret."))
        (known,) = await store.list_relations()
        clock.advance(days=1)
        await put(store, attrs.evolve(memory, text="two"))
        await store.forget(["m"])
        assert await store.get_relations([known.id]) == []

    @pytest.mark.parametrize("rewritten", [False, True])
    async def test_signatures_that_quote_the_forgotten_or_rewritten_go(
        self, store: GraphStore, *, rewritten: bool
    ) -> None:
        memory = Memory(id="m", text="word", source="a secret source")
        await put(store, ADA, BOB, memory, claim(memory, ADA, BOB))
        hits = await store.search_lexical(ElementKind.MEMORY, "word", limit=1, view=view())
        codes = hits.signatures.tolist()
        assert set(await store.signatures(codes)) == set(codes)
        if rewritten:
            await put(store, attrs.evolve(memory, source="wiki"), claim(memory, ADA, BOB))
        else:
            await store.forget(["m"])
        assert await store.signatures(codes) == {}

    async def test_claims_of_the_source_become_claims_of_the_target(self, store: GraphStore, clock: FixedClock) -> None:
        await two_people(store)
        clock.advance(hours=1)
        made = await store.merge(COUNTESS.id, ADA.id)
        ends: dict[str, Any] = {"source_id": COUNTESS.id, "target_id": ADA.id}
        assert made == Merge(id=made.id, created_at=clock.now(), mentions=2, claims=2, relations=4, **ends)
        assert (
            await store.merges() == await store.merges([ADA.id]) == await store.merges([COUNTESS.id, EVE.id]) == [made]
        )
        assert await store.merges([EVE.id]) == []
        source, target = await store.get_entities([COUNTESS.id, ADA.id])
        assert (source.merged_into, target.merged_into) == (ADA.id, None)
        assert target.aliases == ("AAL", "C.", "Countess")
        assert {each.entity_id for each in await store.list_mentions(memory_ids=["one"])} == {ADA.id}
        assert await store.list_mentions(entity_ids=[COUNTESS.id]) == []
        left = {(each.source_id, each.type, each.target_id) for each in await store.list_relations()}
        assert left == {(ADA.id, "knows", BOB.id), (EVE.id, "knows", ADA.id), (ADA.id, "likes", EVE.id)}
        (known,) = [each for each in await store.list_relations() if each.target_id == BOB.id]
        assert (known.evidence, known.fact, known.valid_from) == (("one", "two"), "new", day(1))
        (likes,) = await store.get_relations([relation(COUNTESS, EVE, "likes").id])
        assert (likes.source_id, likes.retracted_at) == (ADA.id, None)
        (loop,) = await store.get_relations([relation(COUNTESS, ADA, "is_like").id])
        assert (loop.source_id, loop.target_id, loop.retracted_at) == (ADA.id, ADA.id, clock.now())

    async def test_a_dry_run_changes_nothing(self, store: GraphStore) -> None:
        await two_people(store)
        before = await answers(store)
        trial = await store.merge(COUNTESS.id, ADA.id, dry_run=True)
        assert await answers(store) == before
        assert await store.merges() == []
        assert await store.merge(COUNTESS.id, ADA.id) == trial

    async def test_what_cannot_be_merged_or_undone_is_refused(self, store: GraphStore) -> None:
        await two_people(store)
        await put(store, Entity(type="tool", name="Engine"))
        for source, target in ((uuid4(), ADA.id), (ADA.id, uuid4())):
            with pytest.raises(UnknownElementError, match="no entity"):
                await store.merge(source, target)
        with pytest.raises(InvalidInputError, match="itself"):
            await store.merge(ADA.id, ADA.id)
        with pytest.raises(InvalidInputError, match="a person and a tool"):
            await store.merge(ADA.id, Entity(type="tool", name="Engine").id)
        made = await store.merge(COUNTESS.id, ADA.id)
        with pytest.raises(InvalidInputError, match="already"):
            await store.merge(COUNTESS.id, BOB.id)
        with pytest.raises(InvalidInputError, match="undo that first"):
            await store.merge(ADA.id, COUNTESS.id)
        with pytest.raises(InvalidInputError, match="merge into that"):
            await store.merge(BOB.id, COUNTESS.id)
        with pytest.raises(UnknownElementError, match="no merge"):
            await store.undo_merge(uuid4())
        await store.undo_merge(made.id)
        before = await answers(store)
        with pytest.raises(InvalidInputError, match="undone"):
            await store.undo_merge(made.id)
        assert await answers(store) == before

    async def test_an_entity_stays_as_long_as_it_has_a_mention_or_a_relation(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        lonely = person("Lonely")
        mentions = mention(one, ADA), mention(two, ADA), mention(one, BOB), mention(one, lonely)
        await put(store, ADA, BOB, EVE, lonely, one, two, *mentions, relation(BOB, EVE))
        await store.forget(["one"])
        assert {each.name for each in await store.list_entities()} == {"Ada", "Bob", "Eve"}

    async def test_a_given_relation_goes_with_the_last_of_its_evidence(self, store: GraphStore) -> None:
        given = relation(ADA, BOB, evidence=("one", "two"), valid_from=day(1), created_at=day(2))
        await put(store, ADA, BOB, Memory(id="one"), Memory(id="two"), given)
        await store.forget(["two"])
        assert await store.get_relations([given.id]) == [attrs.evolve(given, evidence=("one",))]
        await store.forget(["one"])
        assert await store.get_relations([given.id]) == []

    async def test_the_log_of_what_was_surfaced_names_nothing_forgotten(self, store: GraphStore) -> None:
        one, two = Memory(id="one"), Memory(id="two")
        claims = (claim(one, ADA, BOB), claim(two, ADA, EVE))
        await put(store, ADA, BOB, EVE, one, two, mention(one, ADA), *claims)
        known, lost = sorted(await store.list_relations(), key=lambda each: each.target_id == EVE.id)
        absent = ElementRef(ElementKind.MEMORY, "absent")
        before = (ref(two), ref(ADA), ref(lost), ref(known), ref(EVE), absent, ref(two), ref(one))
        logged = [
            injection("i1", "s", 1, *before),
            injection("i2", "s", 2, ref(two)),
            injection("i3", "s", 3, ref(one), ref(BOB)),
        ]
        for each in logged:
            await store.log_injection(each)
        report = await store.forget(["two"])
        assert report.references_removed == 5
        kept = (ref(ADA), ref(known), absent, ref(one))
        expected = [attrs.evolve(logged[0], elements=kept), attrs.evolve(logged[1], elements=()), logged[2]]
        assert await store.injections("s") == expected
        report = await store.delete(entities=[BOB.id])
        assert report.references_removed == 0
        assert await store.injections("s") == expected  # so that feedback can report it as missing


class TestInMemory(InMemory, MergesDetails):
    pass


class TestPostgres(InPostgres, MergesDetails):
    pass
