"""Merges, and what is deleted between merge and undo. Beside the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import InvalidInputError
from graphsearch.model import (
    ElementKind,
    Entity,
    Memory,
)
from graphsearch.model.identity import keyed_id
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    claim,
    ids_of,
    mention,
    put,
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


class TestInMemory(InMemory, MergesDetails):
    pass


class TestPostgres(InPostgres, MergesDetails):
    pass
