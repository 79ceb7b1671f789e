from __future__ import annotations

from itertools import pairwise
from uuid import UUID

import numpy as np
import psycopg
import pytest

from graphsearch.errors import EmbeddingModelError
from graphsearch.model import Batch, ElementKind, Entity, Memory, Relation, Vector, View
from graphsearch.stores.in_postgres.index import vector_index
from graphsearch.stores.in_postgres.session import rows
from graphsearch.stores.in_postgres.session.migrating import MAINTAIN_SINCE
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON, FixedClock
from tests.fix_postgres import Database

VIEW = View(NOON, NOON)
WORDS = [
    *("graph", "search", "handshake", "socket", "tls", "agent", "memory", "token"),
    *("budget", "policy", "scope", "entity", "relation", "vector"),
]


def some_entities(count: int, seed: int = 0) -> list[Entity]:
    random = np.random.default_rng(seed)
    return [
        Entity(type="thing", name=f"{seed} {number}", description=" ".join(random.choice(WORDS, 1 + number % 7)))
        for number in range(count)
    ]


def vectors_of(entities: list[Entity], dimensions: int, seed: int = 0) -> dict[UUID | str, Vector]:
    found = np.random.default_rng(seed).standard_normal((len(entities), dimensions)).astype(np.float32)
    return {entity.id: found[row] for row, entity in enumerate(entities)}


@pytest.fixture
def small_scopes_use_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 100)
    monkeypatch.setattr(vector_index, "PER_CANDIDATE", 1)


async def nearest(store: ScopedPostgresStore, query: Vector, limit: int = 10) -> list[UUID]:
    hits = await store.search_by_embedding(ElementKind.ENTITY, query, limit=limit, view=VIEW)
    return list(store.entity_ids(hits.keys))


async def test_the_index_finds_what_an_exact_search_finds(
    postgres_database: Database, small_scopes_use_the_index: None
) -> None:
    clock = FixedClock()
    async with (
        PostgresGraphStore.open(postgres_database.dsn, clock=clock) as indexed,
        PostgresGraphStore.open(postgres_database.dsn, clock=clock, exact=True) as exact,
    ):
        own = set[UUID]()
        for seed, (org, count) in enumerate((("small", 150), ("large", 900))):
            store = indexed.with_scope(org_id=org, project_id="p")
            await store.bind_embedder("m", 256)
            entities = some_entities(count, seed)
            await store.write(Batch(entities=entities, vectors=vectors_of(entities, 256, seed)))
            assert await store.settle() == count
            own |= {entity.id for entity in entities} if org == "small" else set()
        small = indexed.with_scope(org_id="small", project_id="p")
        truth = exact.with_scope(org_id="small", project_id="p")
        found = total = 0
        for query in np.random.default_rng(9).standard_normal((20, 256)).astype(np.float32):
            near, true = await nearest(small, query), await nearest(truth, query)
            assert set(near) <= own
            found += len(set(near) & set(true))
            total += len(true)
        assert found / total >= 0.95


async def test_answers_are_the_same_before_and_after_settling(
    postgres_database: Database, small_scopes_use_the_index: None
) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as unscoped:
        store = unscoped.with_scope(org_id="o", project_id="p")
        await store.bind_embedder("m", 256)
        entities = some_entities(300)
        vectors = vectors_of(entities, 256)
        await store.write(Batch(entities=entities, vectors=vectors))
        assert not_in_the_index(postgres_database) == 300
        queries = [vectors[entity.id] for entity in entities[:5]]

        async def answers() -> list[object]:
            lexical = await store.search_lexical(ElementKind.ENTITY, "graph socket", limit=50, view=VIEW)
            return [
                lexical.keys.tolist(),
                lexical.values.tolist(),
                [(await nearest(store, each))[0] for each in queries],
            ]

        before = await answers()
        assert before[2] == [entity.id for entity in entities[:5]]
        await store.settle()
        assert not_in_the_index(postgres_database) == 0
        assert await answers() == before


def not_in_the_index(database: Database) -> int:
    with psycopg.connect(database.admin_dsn) as connection:
        query = """SELECT count(*) FROM graphsearch.entity_embedding
            WHERE generation >= coalesce((SELECT generation FROM graphsearch.vector_index WHERE kind = 'entity'), 0)"""
        found = connection.execute(query).fetchone()
        assert found is not None
        return int(found[0])


async def test_a_changed_vector_leaves_the_index(
    postgres_database: Database, postgres_store: PostgresGraphStore, small_scopes_use_the_index: None
) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as unscoped:
        store = unscoped.with_scope(org_id="o", project_id="p")
        await store.bind_embedder("m", 256)
        entities = some_entities(200)
        vectors = vectors_of(entities, 256)
        await store.write(Batch(entities=entities, vectors=vectors))
        await store.settle()
        moved = entities[7].id
        await store.write(Batch(vectors={moved: -vectors[moved]}))
        assert moved not in await nearest(store, vectors[moved], 20)
        assert (await nearest(store, -vectors[moved], 1)) == [moved]
        await store.delete(entities=[moved])
        assert moved not in await nearest(store, -vectors[moved], 20)


async def test_lengths_without_an_index_are_searched_exactly(
    postgres_database: Database, small_scopes_use_the_index: None
) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as unscoped:
        store = unscoped.with_scope(org_id="o", project_id="p")
        await store.bind_embedder("m", 7)
        entities = some_entities(300)
        vectors = vectors_of(entities, 7)
        await store.write(Batch(entities=entities, vectors=vectors))
        await store.settle()
        for entity in entities[:10]:
            assert (await nearest(store, vectors[entity.id], 1)) == [entity.id]
        with pytest.raises(EmbeddingModelError, match="7 numbers by 'm', not of 3"):
            await nearest(store, np.ones(3, np.float32))


async def test_both_stores_give_the_same_scores(postgres_store: PostgresGraphStore) -> None:
    clock = FixedClock()
    entities = some_entities(400)
    memories = [Memory(id=f"m{number}", text=" ".join(WORDS[: 1 + number % 14])) for number in range(60)]
    relations = [
        Relation(source_id=a.id, type="near", target_id=b.id, fact=f"{a.description} near {b.name}", created_at=NOON)
        for a, b in pairwise(entities)
    ]
    entities = [Entity(type=e.type, name=e.name, description=e.description, created_at=NOON) for e in entities]
    memories = [Memory(id=m.id, text=m.text, created_at=NOON) for m in memories]
    batch = Batch(entities=entities, memories=memories, relations=relations, vectors=vectors_of(entities, 16))
    ours = postgres_store.with_scope(org_id="o", project_id="p")
    theirs = InMemoryGraphStore(clock=clock).with_scope(org_id="o", project_id="p")
    for store in (ours, theirs):
        await store.bind_embedder("m", 16)
        await store.write(batch)
    for text in (
        "graph",
        "tls handshake socket",
        "0 17 near",
        "vector relation entity scope policy budget",
        "nothing",
        "",
    ):
        for kind in ElementKind:
            mine = await ours.search_lexical(kind, text, limit=500, view=VIEW)
            other = await theirs.search_lexical(kind, text, limit=500, view=VIEW)
            assert len(mine) == len(other)
            np.testing.assert_allclose(mine.values, other.values, atol=1e-5)
    for query in np.random.default_rng(3).standard_normal((5, 16)).astype(np.float32):
        near = await ours.search_by_embedding(ElementKind.ENTITY, query, limit=30, view=VIEW)
        same = await theirs.search_by_embedding(ElementKind.ENTITY, query, limit=30, view=VIEW)
        assert list(ours.entity_ids(near.keys)) == list(theirs.entity_ids(same.keys))
        np.testing.assert_allclose(near.values, same.values, atol=1e-6)
        mine_known, their_known = (
            await ours.signatures(near.signatures.tolist()),
            await theirs.signatures(same.signatures.tolist()),
        )
        assert [mine_known[code] for code in near.signatures] == [their_known[code] for code in same.signatures]


def test_keys_keep_their_zero_bytes() -> None:
    ids = [UUID(int=0), UUID(int=1 << 120), UUID(int=(7 << 120) + 256), UUID(int=2**128 - 1)]
    keys = rows.keys(b"".join(each.bytes for each in ids))
    assert rows.uuids(keys) == ids
    assert rows.uuids(np.unique(keys[::-1])) == sorted(ids)
    assert rows.uuids(np.concatenate([keys[:1], keys[3:]])) == [ids[0], ids[3]]


async def test_tables_that_grew_are_analysed(postgres_database: Database, postgres_store: PostgresGraphStore) -> None:
    def analysed() -> float:
        with psycopg.connect(postgres_database.admin_dsn) as connection:
            query = "SELECT reltuples FROM pg_class WHERE oid = 'graphsearch.entity'::regclass"
            row = connection.execute(query).fetchone()
            return float(row[0]) if row else 0.0

    store = postgres_store.with_scope(org_id="o", project_id="p")
    text = "".join(map(chr, range(32, 127))) * 10
    await store.write(Batch(entities=some_entities(10)))
    assert analysed() <= 0
    entities = [Entity(type="tool", name=f"hammer {number}", description=text) for number in range(9_000)]
    await store.write(Batch(entities=entities))
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        maintained = connection.info.server_version >= MAINTAIN_SINCE
    assert analysed() == pytest.approx(9_010, rel=0.1) if maintained else analysed() <= 0
