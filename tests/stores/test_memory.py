"""What the store in memory promises beyond the suite: indexes that last, and a walk equal to a plain one."""

from __future__ import annotations

import gc
from datetime import datetime
from types import FunctionType, ModuleType
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphsearch._support.timing import SystemClock
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, ElementKind, ElementRef, Memory, Outcome, Relation, RelationType, View
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_memory.columns import feedback, listing, sorted_rows
from graphsearch.stores.in_memory.indexes import matrix, texts
from graphsearch.stores.in_memory.steps import adjacency, support
from graphsearch.stores.memory import InMemoryGraphStore, ScopedMemoryStore
from graphsearch.testing.fakes import NOON, FixedClock, HashEmbedder
from graphsearch.testing.samples import claim, day, person, portrait, ref, relation, rows_of, vector, view
from graphsearch.text.analyser import Analyser
from tests.strategies import graphs, instants, outcomes

ADA, BOB, EVE = person("Ada"), person("Bob"), person("Eve")
per_example = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=15)


def fresh() -> ScopedMemoryStore:
    return InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="o", project_id="p")


def test_the_clock_is_the_machines_unless_given() -> None:
    assert isinstance(InMemoryGraphStore().with_scope(org_id="o", project_id="p").clock, SystemClock)


def test_it_is_a_graph_store() -> None:
    store: GraphStore = fresh()
    assert store.scope.org_id == "o"


async def filled() -> ScopedMemoryStore:
    store = fresh()
    await store.bind_embedder("model", 2)
    memory = Memory(id="m", text="Ada knows Bob.", occurred_at=day(1))
    await store.write(
        Batch(
            entities=(ADA, BOB),
            memories=(memory,),
            claims=(claim(memory, ADA, BOB),),
            vectors={ADA.id: vector(1, 0), "m": vector(0, 1)},
        )
    )
    await portrait(store, vectors=[vector(1, 0)])
    return store


async def test_feedback_leaves_every_column_but_its_own() -> None:
    store = await filled()
    before = store._version
    await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA), ElementRef(ElementKind.MEMORY, "m")])
    after = store._version
    assert {adjacency, matrix, texts, listing, support} <= {build for build, *_ in after.memo}
    assert {build for build, *_ in before.memo.keys() - after.memo.keys()} <= {feedback, sorted_rows}
    assert all(before.memo[of] is made for of, made in after.memo.items())
    assert before.token == after.token


async def test_a_repeated_outcome_leaves_the_version_itself() -> None:
    store = await filled()
    await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
    version = store._version
    await store.apply_outcome("s", Outcome.ACCEPTED, [ref(ADA)])
    assert store._version is version


async def test_a_new_entity_leaves_the_columns_of_memories() -> None:
    store = await filled()
    memories = store._version.made(listing, ElementKind.MEMORY)
    edges = store._version.made(adjacency)
    await store.write(Batch(entities=(EVE,)))
    assert store._version.made(listing, ElementKind.MEMORY) is memories
    assert store._version.made(adjacency) is not edges


async def test_what_was_forgotten_is_in_no_table_index_or_column() -> None:
    store = await filled()
    secret = Memory(id="secret", text="xyzzy", source="plugh")
    await store.write(Batch(memories=(secret,), claims=(claim(secret, ADA, BOB, fact="xyzzy"),)))
    await portrait(store, questions=["xyzzy"])
    assert {"xyzzy", "plugh"} <= texts_in(store._version)
    await store.forget(["secret"])
    await portrait(store, questions=[])
    assert not {each for each in texts_in(store._version) if "xyzzy" in each or "plugh" in each}


def texts_in(value: Any, seen: set[int] | None = None) -> set[str]:
    """All texts that can be reached from a value; not the words that an analyser has stemmed."""
    seen = set() if seen is None else seen
    if isinstance(value, str):
        return {value}
    if id(value) in seen or isinstance(value, type | ModuleType | FunctionType | np.ndarray | Analyser):
        return set()
    seen.add(id(value))
    return {text for each in gc.get_referents(value) for text in texts_in(each, seen)}


async def test_a_malformed_reference_is_refused() -> None:
    store = await filled()
    with pytest.raises(InvalidInputError, match="UUID"):
        await store.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.ENTITY, "ada")])


@pytest.mark.parametrize(("name", "dimensions"), [("", 2), ("model", 0), ("model", 100_000)])
async def test_a_model_needs_a_name_and_a_length(name: str, dimensions: int) -> None:
    with pytest.raises(InvalidInputError):
        await fresh().bind_embedder(name, dimensions)


@pytest.mark.parametrize("asked", [vector(0, 0), vector(np.nan, 1)])
async def test_a_query_without_a_direction_is_refused(asked: Any) -> None:
    store = await filled()
    with pytest.raises(InvalidInputError, match="query vector"):
        await store.search_by_embedding(ElementKind.ENTITY, asked, limit=1, view=view())


async def test_a_negative_page_is_refused() -> None:
    store = await filled()
    with pytest.raises(InvalidInputError, match="limit"):
        await store.list_entities(limit=-1)


# -- against a plain reading of the words -----------------------------------------------------------------------------


def expected_rows(
    relations: dict[UUID, Relation], near: UUID, seen: View, fan_out: int, priors: dict[str, float]
) -> list[tuple[UUID, bool, UUID, UUID]]:
    rows = []
    for outgoing in (True, False):
        passing = [
            each
            for each in relations.values()
            if (each.source_id if outgoing else each.target_id) == near
            and seen.holds(each.valid_from, each.valid_to)
            and seen.known(each.created_at, each.retracted_at)
            and each.confidence >= seen.min_edge_confidence
            and each.type not in seen.skipped_types
        ]
        passing.sort(key=lambda each: (-each.confidence * priors.get(each.type, 1.0), each.id))
        rows += [
            (near, outgoing, each.id, each.target_id if outgoing else each.source_id) for each in passing[:fan_out]
        ]
    return rows


@per_example
@given(
    batch=graphs(max_relations=20),
    as_of=instants,
    least=st.sampled_from([0.0, 0.5, 0.9]),
    skipped=st.sets(st.sampled_from(["knows", "uses"])),
    fan_out=st.integers(1, 4),
)
async def test_expansion_equals_a_plain_one(
    batch: Batch, as_of: datetime, least: float, skipped: set[str], fan_out: int
) -> None:
    store = fresh()
    await store.register_types([RelationType(name="knows", prior=0.5)])
    await store.write(batch)
    seen = View(as_of, NOON, least, frozenset(skipped))
    ids = sorted(entity.id for entity in batch.entities)
    relations = {each.id: each for each in await store.list_relations(limit=1000)}
    priors = {name: known.prior for name, known in (await store.relation_types()).items()}
    found = await store.expand(np.arange(len(ids)), fan_out=fan_out, view=seen)
    assert rows_of(store, found) == [
        row for near in ids for row in expected_rows(relations, near, seen, fan_out, priors)
    ]


@per_example
@given(graphs(), graphs())
async def test_writing_is_all_or_nothing_and_idempotent(one: Batch, two: Batch) -> None:
    store = fresh()
    await store.write(one)
    first = await portrait(store)
    report = await store.write(one)
    assert (report.entities, report.relations, report.memories) == (0, 0, 0)
    assert await portrait(store) == first
    broken = attrs.evolve(two, relations=(*two.relations, relation(ADA, EVE, "broken")))
    if not {ADA.id, EVE.id} <= {entity.id for entity in (*one.entities, *two.entities)}:
        with pytest.raises(InvalidInputError):
            await store.write(broken)
        assert await portrait(store) == first


@per_example
@given(graphs(), st.data())
async def test_indexes_after_any_writes_equal_indexes_built_anew(batch: Batch, data: st.DataObject) -> None:
    embedder = HashEmbedder(8)
    store, anew = fresh(), fresh()
    vectors: dict[UUID | str, Any] = {entity.id: embedder.vector(entity.name) for entity in batch.entities}
    for each in (store, anew):
        await each.bind_embedder(embedder.name, 8)
    batch = attrs.evolve(batch, vectors=vectors)
    for entity in batch.entities:
        await store.write(Batch(entities=(entity,), vectors={entity.id: vectors[entity.id]}))
        await portrait(store, vectors=[embedder.vector("x")])
    await store.write(batch)
    await anew.write(batch)
    session = data.draw(st.lists(st.tuples(st.sampled_from(["s", "t"]), outcomes), max_size=4))
    for name, outcome in session:
        for each in (store, anew):
            await each.apply_outcome(name, outcome, [ref(entity) for entity in batch.entities])
        await portrait(store)
    gone = (
        data.draw(st.lists(st.sampled_from([memory.id for memory in batch.memories]), max_size=3))
        if batch.memories
        else []
    )
    for each in (store, anew):
        await each.forget(gone)
    questions = ["x", *(memory.text for memory in batch.memories)]
    assert await portrait(store, questions=questions, vectors=[embedder.vector("x")]) == await portrait(
        anew, questions=questions, vectors=[embedder.vector("x")]
    )
