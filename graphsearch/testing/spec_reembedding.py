"""A change of the embedding model beside reads and writes: afterwards a scope is as if written with the other model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphsearch.errors import EmbeddingModelError, InvalidInputError, ReembeddingError, UnknownScopeError
from graphsearch.model import ElementKind, Entity, Memory, Relation, Vector
from graphsearch.model.reembedding import OutdatedVector
from graphsearch.protocols import GraphStore
from graphsearch.protocols.reembedding import NewVector
from graphsearch.reembedding import estimate_reembedding, reembed
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.testing.samples import ids_of, person, portrait, put, relation, vector, view
from graphsearch.testing.spec import FreshScope, StoreSpec
from graphsearch.testing.spec_moving import everything, merge_some, pages_of
from graphsearch.testing.strategies import (
    QUESTIONS,
    AnnotatedMemory,
    annotated_memories,
    embed,
    few_examples,
    write_memories,
)
from graphsearch.text.bm25 import embedding_text

OLD, NEW, THIRD = HashEmbedder(16, name="old"), HashEmbedder(24, name="new"), HashEmbedder(8, name="third")
ADA, BOB, EVE = person("Ada"), person("Bob"), person("Eve")
ONE, TWO = Memory(id="one", text="Ada knows Bob."), Memory(id="two", text="Eve is away.", speaker="Eve")
KNOWS: Final = relation(ADA, BOB, fact="Ada knows Bob.")
KINDS: Final = tuple(ElementKind)


async def remade(outdated: Sequence[OutdatedVector]) -> Sequence[NewVector]:
    """The vectors of the new model."""
    return [(each, NEW.vector(text) if (text := embedding_text(each.element)).strip() else None) for each in outdated]


async def step(store: GraphStore, kind: ElementKind, limit: int) -> None:
    """A page of a change to the new model."""
    page = await store.outdated_vectors(kind, NEW.name, limit=limit)
    await store.put_new_vectors(kind, NEW.name, await remade(page))


def made(embedder: HashEmbedder, *elements: Entity | Memory | Relation) -> dict[UUID | str, Vector]:
    """The vectors of elements."""
    return {each.id: embedder.vector(embedding_text(each)) for each in elements}


async def written(store: GraphStore, embedder: HashEmbedder = OLD) -> GraphStore:
    """A scope with vectors of every kind, and an entity and a memory without one."""
    await store.bind_embedder(embedder.name, embedder.dimensions)
    vectors = made(embedder, ADA, BOB, ONE, KNOWS)
    await put(store, ADA, BOB, EVE, ONE, TWO, KNOWS, vectors=vectors)
    return store


async def seen(store: GraphStore, embedder: HashEmbedder = NEW) -> Any:
    """All that can be read from a scope, its vectors, and what is found by them."""
    vectors = [embedder.vector(question) for question in QUESTIONS]
    own, records = await everything(store)
    return attrs.evolve(own, id_key=None), records, await portrait(store, questions=QUESTIONS, vectors=vectors)


@attrs.define(eq=False)
class Life:
    """What happens to a scope, with vectors by one model."""

    store: GraphStore
    embedder: HashEmbedder

    async def remember(self, annotated: Iterable[AnnotatedMemory], *, facts: bool) -> None:
        """Write memories with vectors of what they write; also of facts."""
        await write_memories(self.store, annotated, embedder=self.embedder)
        if facts:
            waiting = await self.store.unembedded_facts()
            await put(self.store, vectors=made(self.embedder, *waiting))

    async def forget(self, memory_ids: Sequence[str]) -> None:
        """Forget memories, and embed what this gives another name."""
        await embed(self.store, (await self.store.forget(memory_ids)).reworded, self.embedder)

    async def merge(self, pair: tuple[int, int]) -> None:
        """Merge two entities, by their places."""
        await merge_some(self.store, [pair])


class ReembeddingSpec(StoreSpec):
    """The capability `Reembeddable`, and `reembed` with it."""

    async def test_a_scope_is_as_if_written_with_the_new_model(self, store: GraphStore, fresh: FreshScope) -> None:
        await written(store)
        reports: list[tuple[int, int, str]] = []
        report = await reembed(
            store, NEW, batch=1, progress=lambda done, total, name: reports.append((done, total, name))
        )
        assert (report.switched, report.embedder, report.dimensions) == (True, NEW.name, NEW.dimensions)
        assert report.embedded == {ElementKind.ENTITY: 2, ElementKind.MEMORY: 1, ElementKind.RELATION: 1}
        assert [each[:2] for each in reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert await seen(store) == await seen(await written(fresh(), NEW))
        assert await store.reembedding() is None
        again = await reembed(store, NEW)
        assert (again.switched, sum(again.embedded.values())) == (False, 0)

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

    async def test_pages_are_in_order(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        first, last = sorted((ADA, BOB), key=lambda each: each.id)
        page = await store.outdated_vectors(ElementKind.ENTITY, NEW.name)
        assert [each.element.id for each in page] == [first.id, last.id]
        later = await store.outdated_vectors(ElementKind.ENTITY, NEW.name, after=first.id, limit=5)
        assert [each.element for each in later] == list(await store.get_entities([last.id]))
        assert await store.outdated_vectors(ElementKind.ENTITY, NEW.name, limit=0) == []
        await step(store, ElementKind.ENTITY, 2)
        assert await store.outdated_vectors(ElementKind.ENTITY, NEW.name) == []
        assert len(await store.outdated_vectors(ElementKind.ENTITY, THIRD.name)) == 2
        with pytest.raises(InvalidInputError):
            await store.outdated_vectors(ElementKind.ENTITY, NEW.name, limit=-1)

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

    @pytest.mark.parametrize("dimensions", [0, -1, 3.5, 3.0, True, 16_001, None, "3"])
    async def test_a_number_of_dimensions_is_whole(self, store: GraphStore, dimensions: Any) -> None:
        with pytest.raises(InvalidInputError, match="dimensions must be a whole number"):
            await store.bind_embedder("model", dimensions)
        await written(store)
        with pytest.raises(InvalidInputError, match="dimensions must be a whole number"):
            await store.begin_reembedding(NEW.name, dimensions)
        assert await store.embedder_name() == OLD.name

    async def test_faulty_vectors_are_refused(self, store: GraphStore) -> None:
        await written(store)
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        page = await store.outdated_vectors(ElementKind.MEMORY, NEW.name)
        with pytest.raises(EmbeddingModelError):
            await store.put_new_vectors(ElementKind.MEMORY, NEW.name, [(page[0], vector(1, 2))])
        with pytest.raises(InvalidInputError, match="must not be zero"):
            await store.put_new_vectors(ElementKind.MEMORY, NEW.name, [(page[0], np.zeros(NEW.dimensions, np.float32))])
        with pytest.raises(InvalidInputError):
            await store.begin_reembedding("", 3)

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

    async def test_an_estimate_counts_what_is_left(self, store: GraphStore) -> None:
        await written(store)
        found = await estimate_reembedding(store, NEW)
        assert (found.embedder, found.dimensions, found.present, found.unfinished) == ("new", 24, "old", None)
        assert found.texts == {ElementKind.ENTITY: 2, ElementKind.MEMORY: 1, ElementKind.RELATION: 1}
        assert found.characters == {
            ElementKind.ENTITY: sum(len(embedding_text(each)) for each in (ADA, BOB)),
            ElementKind.MEMORY: len(ONE.text),
            ElementKind.RELATION: len(KNOWS.fact),
        }
        assert found.seconds is not None
        assert found.seconds > 0
        await store.begin_reembedding(NEW.name, NEW.dimensions)
        await step(store, ElementKind.ENTITY, 1)
        later, other = [await estimate_reembedding(store, each, sample=0) for each in (NEW, THIRD)]
        assert (later.texts[ElementKind.ENTITY], later.seconds) == (1, None)
        assert later.unfinished == other.unfinished == await store.reembedding()
        assert other.texts[ElementKind.ENTITY] == 2

    @settings(few_examples, max_examples=4)
    @given(
        memories=st.lists(annotated_memories("m", max_size=3), min_size=1, max_size=4),
        happenings=st.lists(
            st.one_of(
                st.tuples(st.just("step"), st.sampled_from(KINDS), st.integers(1, 3)),
                st.tuples(st.just("remember"), st.integers(0, 3), st.booleans()),
                st.tuples(st.just("forget"), st.sampled_from(["m0", "m1", "m2"]), st.none()),
                st.tuples(st.just("merge"), st.integers(0, 3), st.integers(0, 3)),
                st.tuples(st.just("switch"), st.integers(0, 2), st.none()),
            ),
            max_size=12,
        ),
    )
    async def test_whatever_happens_meanwhile_the_scope_is_as_if_written_with_the_new_model(
        self,
        fresh: FreshScope,
        memories: Sequence[Sequence[AnnotatedMemory]],
        happenings: Sequence[tuple[str, Any, Any]],
    ) -> None:
        changed, whole = Life(fresh(), OLD), Life(fresh(), NEW)
        for life in (changed, whole):
            await life.store.bind_embedder(life.embedder.name, life.embedder.dimensions)
            await life.remember(memories[0], facts=True)
        await changed.store.begin_reembedding(NEW.name, NEW.dimensions)
        for name, one, other in happenings:
            if name == "step" and changed.embedder is OLD:
                await step(changed.store, one, other)
            if name == "switch" and changed.embedder is OLD:
                left = await changed.store.switch_embedder(NEW.name, remade, most=one)
                changed.embedder = OLD if left else NEW
            for life in (changed, whole):
                if name == "remember":
                    await life.remember(memories[one % len(memories)], facts=other)
                elif name == "forget":
                    await life.forget([one])
                elif name == "merge":
                    await life.merge((one, other))
            await self.check_shadows(changed.store)
        await reembed(changed.store, NEW)
        assert await seen(changed.store) == await seen(whole.store)

    async def check_shadows(self, store: GraphStore) -> None:
        """At most as many new vectors as old ones: those of what is forgotten are gone."""
        if (state := await store.reembedding()) is not None:
            assert all(state.done[kind] <= state.total[kind] for kind in KINDS)
