"""What a load or a change of model refuses, and keys of nested snapshots. Beside the conformance suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs
import numpy as np
import pytest

import graphsearch.testing.conformance  # noqa: F401 - first: it registers the specs for pytest
from graphsearch.errors import (
    AnalyserError,
    EmbeddingModelError,
    ForeignSessionError,
    InvalidInputError,
    OccupiedScopeError,
    RecordError,
    ReembeddingError,
    UnknownScopeError,
)
from graphsearch.model import (
    ElementKind,
    RelationType,
)
from graphsearch.model.stored import Record, RecordKind, StoredRelation, key_of
from graphsearch.reembedding import reembed
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import (
    ADA,
    BOB,
    EVE,
    ids_of,
    injection,
    put,
    relation,
    vector,
    view,
)
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_moving import (
    KINDS,
    KNOWS,
    NEW,
    OLD,
    THIRD,
    everything,
    lived_in,
    made,
    pages_of,
    remade,
    seen,
    written,
)
from tests.stores.on_both import InMemory, InPostgres


async def step(store: GraphStore, kind: ElementKind, limit: int) -> None:
    """A page of a change to the new model."""
    page = await store.outdated_vectors(kind, NEW.name, limit=limit)
    await store.put_new_vectors(kind, NEW.name, await remade(page))


def _claiming(record: Record, claimed: tuple[int, ...] | str) -> Record:
    """A relation that memories prove, with other evidence in its signature; anything else as it is."""
    if not isinstance(record, StoredRelation) or not record.attestation.evidence:
        return record
    codes = (*record.attestation.evidence, 1) if isinstance(claimed, str) else claimed
    return attrs.evolve(record, attestation=attrs.evolve(record.attestation, evidence=codes))


class LoadingDetails(StoreSpec):
    """What a load or a change of model refuses, and keys of nested snapshots."""

    async def test_a_scope_without_elements_is_empty(self, store: GraphStore, fresh: FreshScope) -> None:
        await lived_in(store)
        other = fresh()
        await other.bind_embedder("another", 3)
        await other.register_types([RelationType(name="uses", prior=0.1)])
        await other.load(await store.settings(), pages_of(store))
        assert await everything(other) == await everything(store)

    async def test_nothing_is_half_loaded(self, store: GraphStore, fresh: FreshScope) -> None:
        await lived_in(store)
        given_settings = await store.settings()
        pages = [page async for page in pages_of(store)]

        async def broken() -> AsyncIterator[Sequence[Record]]:
            for page in pages[: len(pages) // 2]:
                yield page
            raise ValueError("cut")

        there = fresh()
        await put(there, EVE)
        before = await everything(there)
        for other, replace in ((fresh(), False), (there, True)):
            with pytest.raises(ValueError, match="cut"):
                await other.load(given_settings, broken(), replace=replace)
        assert await everything(there) == before

    @pytest.mark.parametrize("claimed", [(), (1,), "more"])
    async def test_a_relation_that_claims_other_evidence_than_it_has_is_refused(
        self, store: GraphStore, fresh: FreshScope, claimed: tuple[int, ...] | str
    ) -> None:
        """Else a gate, which decides by what a relation's signature names, would show it without its evidence."""
        await lived_in(store)

        async def forged() -> AsyncIterator[Sequence[Record]]:
            async for page in pages_of(store):
                yield [_claiming(each, claimed) for each in page]

        with pytest.raises(RecordError, match="names other evidence"):
            await fresh().load(await store.settings(), forged())

    async def test_records_out_of_order_or_twice_are_refused(self, store: GraphStore, fresh: FreshScope) -> None:
        await lived_in(store)
        named, entities = await store.settings(), await store.records(RecordKind.ENTITY)
        for page, why in ((entities[::-1], "out of order"), ([entities[0], entities[0]], "is there twice")):

            async def only(page: Sequence[Record] = page) -> AsyncIterator[Sequence[Record]]:
                yield page

            with pytest.raises(RecordError, match=why) as raised:
                await fresh().load(attrs.evolve(named, merges=2), only())
            assert raised.value.place == 1

    async def test_records_that_the_settings_do_not_allow_are_refused(
        self, store: GraphStore, fresh: FreshScope
    ) -> None:
        await lived_in(store)
        own = await store.settings()
        for other, why in (
            (attrs.evolve(own, embedder=None, dimensions=None), "no embedder"),
            (attrs.evolve(own, dimensions=3), r"numbers, not of 3"),
            (attrs.evolve(own, merges=1), "is number 2, of 1"),
        ):
            with pytest.raises(RecordError, match=why):
                await fresh().load(other, pages_of(store))
        with pytest.raises(AnalyserError):
            await fresh().load(attrs.evolve(own, analyser="another"), pages_of(store))

    async def test_until_the_switch_the_old_vectors_are_read_and_written(
        self, store: GraphStore, fresh: FreshScope
    ) -> None:
        await written(store)
        before = await seen(store, OLD)
        assert await store.begin_reembedding(NEW.name, NEW.dimensions)
        for kind in KINDS:
            await step(store, kind, 1)
        assert await seen(store, OLD) == before
        with pytest.raises(EmbeddingModelError):
            await put(store, vectors=made(NEW, ADA))
        with pytest.raises(EmbeddingModelError):
            await store.bind_embedder(NEW.name, NEW.dimensions)
        other = fresh()
        async with store.snapshot():
            await other.load(await store.settings(), pages_of(store))
        assert (await everything(other), await other.reembedding()) == (await everything(store), None)

    async def test_a_change_is_continued_where_it_was_left(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        await step(store, ElementKind.ENTITY, 1)
        state = await store.reembedding()
        assert state is not None
        assert (state.embedder, state.dimensions) == (NEW.name, NEW.dimensions)
        assert state.done == {ElementKind.ENTITY: 1, ElementKind.MEMORY: 0, ElementKind.RELATION: 0}
        assert state.total == {ElementKind.ENTITY: 2, ElementKind.MEMORY: 1, ElementKind.RELATION: 1}
        assert (await reembed(store, NEW)).embedded[ElementKind.ENTITY] == 1

    async def test_another_model_waits_for_the_unfinished_one_or_discards_it(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        await step(store, ElementKind.ENTITY, 2)
        for other in (THIRD, OLD, HashEmbedder(16, name=NEW.name)):
            with pytest.raises(ReembeddingError, match="unfinished"):
                await store.begin_reembedding(other.name, other.dimensions)
        assert not await store.begin_reembedding(OLD.name, OLD.dimensions, restart=True)
        assert await store.reembedding() is None
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        assert len(await store.outdated_vectors(ElementKind.ENTITY, NEW.name)) == 2
        report = await reembed(store, THIRD, restart=True)
        assert (report.embedder, await store.embedder_name()) == (THIRD.name, THIRD.name)

    async def test_what_was_discarded_takes_no_vectors(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        page = await remade(await store.outdated_vectors(ElementKind.ENTITY, NEW.name))
        assert await store.cancel_reembedding()
        assert not await store.cancel_reembedding()
        with pytest.raises(ReembeddingError):
            await store.put_new_vectors(ElementKind.ENTITY, NEW.name, page)
        with pytest.raises(ReembeddingError):
            await store.switch_embedder(NEW.name, remade, most=100)
        assert await store.embedder_name() == OLD.name

    async def test_faulty_vectors_are_refused(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        page = await store.outdated_vectors(ElementKind.MEMORY, NEW.name)
        with pytest.raises(EmbeddingModelError):
            await store.put_new_vectors(ElementKind.MEMORY, NEW.name, [(page[0], vector(1, 2))])
        with pytest.raises(InvalidInputError, match="must not be zero"):
            await store.put_new_vectors(ElementKind.MEMORY, NEW.name, [(page[0], np.zeros(NEW.dimensions, np.float32))])
        for name, dimensions in (("", 3), ("model", 0), ("model", 16_001)):
            with pytest.raises(InvalidInputError):
                await store.begin_reembedding(name, dimensions)

    async def test_scopes_without_vectors_are_refused(self, store: GraphStore) -> None:
        with pytest.raises(UnknownScopeError):
            await reembed(store, NEW)
        await put(store, ADA)
        with pytest.raises(EmbeddingModelError, match="no vectors"):
            await reembed(store, NEW)

    async def test_the_switch_waits_for_what_is_outdated(self, store: GraphStore, fresh: FreshScope) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        await step(store, ElementKind.ENTITY, 2)
        assert await store.switch_embedder(NEW.name, remade, most=1) == 2
        assert await store.embedder_name() == OLD.name
        assert await store.switch_embedder(NEW.name, remade, most=2) == 0
        assert await seen(store) == await seen(await written(fresh(), NEW))

    async def test_a_text_that_became_blank_has_no_vector(self, store: GraphStore) -> None:
        await written(store)
        blank = relation(ADA, BOB, fact=" ")
        await put(store, attrs.evolve(blank, id=KNOWS.id), vectors=made(OLD, KNOWS))
        await reembed(store, NEW)
        assert (await store.settings()).vectors["relation"] == 0
        assert [each.id for each in await store.unembedded_facts()] == [KNOWS.id]

    async def test_whoever_has_the_old_model_is_refused_afterwards(self, store: GraphStore) -> None:
        same = HashEmbedder(OLD.dimensions, name="same length")
        await written(store)
        version = await store.version()
        await reembed(store, same)
        assert await store.version() != version
        with pytest.raises(EmbeddingModelError):
            await store.bind_embedder(OLD.name, OLD.dimensions)
        with pytest.raises(EmbeddingModelError, match="not by 'old'"):
            await put(store, vectors=made(OLD, ADA), embedder=OLD.name)
        await put(store, EVE, embedder=OLD.name)
        await put(store, vectors=made(same, EVE), embedder=same.name)
        await reembed(store, NEW)
        with pytest.raises(EmbeddingModelError):
            await store.search_by_embedding(ElementKind.ENTITY, OLD.vector("Ada"), limit=1, view=view())
        found = await store.search_by_embedding(ElementKind.ENTITY, NEW.vector("Eve (person)"), limit=1, view=view())
        assert ids_of(store, ElementKind.ENTITY, found) == [EVE.id]

    async def test_keys_of_a_snapshot_inside_that_of_another_scope_are_of_their_own_scope(
        self, fresh: FreshScope
    ) -> None:
        one, two = fresh(), fresh()
        await put(one, ADA)
        await put(two, BOB, EVE)
        async with one.snapshot():
            outer = await one.search_lexical(ElementKind.ENTITY, "ada bob eve", limit=9, view=view())
            async with two.snapshot():
                inner = await two.search_lexical(ElementKind.ENTITY, "ada bob eve", limit=9, view=view())
                assert list(one.entity_ids(outer.keys)) == [ADA.id]
                assert set(two.entity_ids(inner.keys)) == {BOB.id, EVE.id}
            assert list(one.entity_ids(outer.keys)) == [ADA.id]

    async def test_an_error_inside_ends_the_snapshot(self, store: GraphStore) -> None:
        await put(store, ADA)
        with pytest.raises(RuntimeError, match="mine"):
            async with store.snapshot():
                raise RuntimeError("mine")
        await put(store, BOB)
        assert len(await store.list_entities()) == 2
        assert len(await store.search_lexical(ElementKind.ENTITY, "bob", limit=1, view=view())) == 1

    async def test_a_scope_made_again_has_another_version(self, store: GraphStore) -> None:
        await put(store, ADA)
        first = await store.version()
        await store.remove_scope()
        await put(store, ADA)
        assert await store.version() != first

    async def test_vectors_come_back_by_their_keys_as_they_are_searched(self, store: GraphStore) -> None:
        given = {ADA.id: (3.0, 4.0), BOB.id: (0.0, -2.0)}
        await store.bind_embedder("model", 2)
        vectors = {key: np.array(value, np.float32) for key, value in given.items()}
        await put(store, ADA, BOB, EVE, vectors=vectors)
        hits = await store.locate([ADA.id, BOB.id, EVE.id], view=view())
        for _ in range(2):
            there = (await store.vectors(ElementKind.ENTITY, hits.keys)).tolist()
            found = dict(zip(store.entity_ids(hits.keys), there, strict=True))
            assert np.allclose(found[ADA.id], (0.6, 0.8), atol=1e-3)
            assert np.allclose(found[BOB.id], (0.0, -1.0), atol=1e-3)
            assert found[EVE.id] == [0.0, 0.0]
            await store.settle()
        assert (await store.vectors(ElementKind.ENTITY, hits.keys[:0])).shape == (0, 2)

    async def test_each_scope_has_its_own_owner_of_a_session(self, store: GraphStore, fresh: FreshScope) -> None:
        other = fresh()
        for each, principal in ((store, "ada"), (other, "bob")):
            await put(each, ADA)
            await each.log_injection(injection("injection", "session", 1, principal=principal))
        for each, principal in ((store, "bob"), (other, "ada")):
            with pytest.raises(ForeignSessionError):
                await each.log_injection(injection("another", "session", 1, principal=principal))

    async def test_records_come_in_order_and_page_by_page(self, store: GraphStore) -> None:
        await lived_in(store)
        for kind in RecordKind:
            whole = await store.records(kind, limit=1_000)
            keys = [key_of(each) for each in whole]
            assert keys == sorted(set(keys))
            assert (await store.settings()).counts[kind] == len(keys)
            assert [key_of(each) for each in await store.records(kind, after=keys[0], limit=2)] == keys[1:3]
            assert await store.records(kind, after=keys[-1]) == []

    async def test_a_scope_that_holds_anything_is_left_alone(self, store: GraphStore, fresh: FreshScope) -> None:
        await lived_in(store)
        other = fresh()
        await put(other, EVE)
        before = await everything(other)
        with pytest.raises(OccupiedScopeError):
            await other.load(await store.settings(), pages_of(store))
        assert await everything(other) == before
        await other.load(await store.settings(), pages_of(store), replace=True)
        assert await everything(other) == await everything(store)

    @pytest.mark.parametrize(
        ("kind", "why"),
        [
            (RecordKind.ENTITY, "refers to the entity"),
            (RecordKind.MEMORY, "refers to the memory"),
            (RecordKind.SESSION, "refers to the session"),
        ],
    )
    async def test_a_record_that_refers_to_none_is_refused(
        self, store: GraphStore, fresh: FreshScope, kind: RecordKind, why: str
    ) -> None:
        await lived_in(store)

        async def without() -> AsyncIterator[Sequence[Record]]:
            for each in RecordKind:
                if each is not kind:
                    yield await store.records(each)

        with pytest.raises(RecordError, match=why):
            await fresh().load(await store.settings(), without())


class TestInMemory(InMemory, LoadingDetails):
    pass


class TestPostgres(InPostgres, LoadingDetails):
    pass
