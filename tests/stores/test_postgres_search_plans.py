"""What makes searches of Postgres fast: plans that read indexes alone, and signatures that are read once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import attrs
import numpy as np
import psycopg
import pytest

from graphsearch.errors import StoreError
from graphsearch.model import (
    Batch,
    ElementKind,
    ElementRef,
    Entity,
    Memory,
    Outcome,
    Relation,
    RelationType,
    Scope,
    View,
)
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.stores.in_postgres.index import vector_index
from graphsearch.stores.in_postgres.read.rows import select, with_keys
from graphsearch.stores.in_postgres.session import rows, sessions
from graphsearch.stores.in_postgres.session.sessions import SignatureCaches
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON
from tests.fix_postgres import Database

VIEW = View(NOON, NOON)
ADA, BOB = (Entity(type="person", name=name, created_at=NOON) for name in ("Ada", "Bob"))
NOTE = Memory(id="note", text="Ada knows Bob", source="diary", created_at=NOON)


def knows(**fields: Any) -> Relation:
    return Relation(source_id=ADA.id, target_id=BOB.id, created_at=NOON, **{"type": "knows", **fields})


@pytest.fixture
async def store(postgres_store: PostgresGraphStore) -> ScopedPostgresStore:
    scoped = postgres_store.with_scope(org_id="o", project_id="p")
    await scoped.write(Batch(entities=(ADA, BOB), memories=(NOTE,), relations=(knows(evidence=("note",)),)))
    return scoped


# -- plans --------------------------------------------------------------------------------------------------------


async def plan(store: ScopedPostgresStore, query: bytes) -> str:
    asked = {"frontier": [ADA.id], "limit": 25, "most": 500, "a": [ADA.id], **rows.view_values(VIEW)}
    async with store._gateway.reading(store.scope) as session:
        explained = await session.run_kept(b"EXPLAIN " + query, **asked)
        return "\n".join(line for (line,) in explained.rows)


async def test_walks_read_indexes_alone_also_by_plans_made_for_a_small_table(store: ScopedPostgresStore) -> None:
    walks = [await plan(store, statement(name)) for name in ("expand", "left out")]
    for walk in walks:
        assert "Index Only Scan using relation_outgoing on relation e" in walk
        assert "Index Only Scan using relation_incoming on relation e" in walk
    assert "Index Only Scan using entity_pkey on entity" in walks[0]
    for walk in (*walks, await plan(store, select("relation", with_keys("relation")))):
        assert "Seq Scan" not in walk


async def test_kept_plans_are_of_one_scope_and_one_limit(postgres_store: PostgresGraphStore) -> None:
    scopes = [postgres_store.with_scope(org_id=org, project_id="100%(limit)s") for org in ("o'b", "o\\b", "50% {org}")]
    entities = [
        Entity(type="person", name=f"{name} {number}", created_at=NOON) for name in "abc" for number in range(3)
    ]
    for row, scope in enumerate(scopes):
        own = entities[3 * row : 3 * row + 3]
        vectors = {each.id: np.array([1.0, place], np.float32) for place, each in enumerate(own)}
        await scope.bind_embedder("fake", 2)
        await scope.write(Batch(entities=own, vectors=vectors))
    for _ in range(7):  # a statement is kept when it has been executed five times
        for row, scope in enumerate(scopes):
            for limit in (1, 2):
                found = await scope.search_by_embedding(
                    ElementKind.ENTITY, np.array([1.0, 0.0], np.float32), limit=limit, view=VIEW
                )
                assert list(scope.entity_ids(found.keys)) == [each.id for each in entities[3 * row : 3 * row + limit]]


async def test_the_kept_plan_for_the_nearest_facts_goes_by_their_index(
    postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 100)
    monkeypatch.setattr(vector_index, "PER_CANDIDATE", 1)
    random = np.random.default_rng(0)
    facts = [knows(valid_from=NOON - timedelta(days=day), fact=f"fact {day}") for day in range(2_000)]
    vectors = {each.id: random.standard_normal(256).astype(np.float32) for each in facts}
    async with PostgresGraphStore.open(postgres_database.dsn, max_connections=1) as unscoped:
        store = unscoped.with_scope(org_id="o", project_id="p")
        await store.bind_embedder("fake", 256)
        await store.write(Batch(entities=(ADA, BOB), relations=tuple(facts), vectors=vectors))
        await store.settle()
        async with await psycopg.AsyncConnection.connect(postgres_database.admin_dsn, autocommit=True) as admin:
            await admin.execute("ANALYZE")
        async with store.snapshot():
            for fact in facts[:8]:
                found = await store.search_by_embedding(ElementKind.RELATION, vectors[fact.id], limit=100, view=VIEW)
                assert store.relation_ids(found.keys)[0] == fact.id
            plan = await kept_plan(store, "relation_embedding_part")
    assert re.search(r"Index Scan using relation_\d+_embedding_idx", plan)


async def kept_plan(store: ScopedPostgresStore, table: str) -> str:
    """The plans of the statements over a table that the connection has kept."""
    session = store._gateway.current(store.scope)
    assert session is not None
    cursor = session.connection.cursor()
    prepared = "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements WHERE statement LIKE %s"
    await cursor.execute(prepared, [f"%{table}%"], prepare=False)
    plans = []
    for name, count in await cursor.fetchall():
        await cursor.execute(f"EXPLAIN EXECUTE {name} ({', '.join(['NULL'] * count)})".encode(), prepare=False)
        plans += [line for (line,) in await cursor.fetchall()]
    return "\n".join(plans)


# -- what the indexes leave out -----------------------------------------------------------------------------------


async def test_scopes_of_one_hash_are_distinguished(
    store: ScopedPostgresStore, postgres_store: PostgresGraphStore, postgres_database: Database
) -> None:
    other = postgres_store.with_scope(org_id="o", project_id="q")
    await other.write(Batch(entities=(attrs.evolve(ADA, importance_weight=0.9), BOB), relations=(knows(type="likes"),)))
    with psycopg.connect(postgres_database.admin_dsn, autocommit=True) as connection:
        connection.execute("""
            SET search_path = graphsearch;
            ALTER TABLE entity DISABLE ROW LEVEL SECURITY, DROP CONSTRAINT entity_scope_hash;
            ALTER TABLE relation DISABLE ROW LEVEL SECURITY, ALTER COLUMN scope_hash DROP EXPRESSION;
            UPDATE entity SET scope_hash = hashtextextended('o', hashtextextended('p', 0));
            UPDATE relation SET scope_hash = hashtextextended('o', hashtextextended('p', 0));
        """)
    hits = await store.locate([BOB.id], view=VIEW)
    found = await store.expand(hits.keys, fan_out=25, view=VIEW)
    assert list(store.relation_ids(found.relations)) == [knows().id]
    assert found.far_importance.tolist() == [ADA.importance_weight]


async def test_a_walk_reads_feedback_that_was_moved(store: ScopedPostgresStore) -> None:
    given = knows(type="trusts", feedback_weight=0.9)
    await store.write(Batch(relations=(given,)))
    await store.apply_outcome("s", Outcome.ACCEPTED, [ElementRef(ElementKind.RELATION, str(knows().id))])
    hits = await store.locate([ADA.id], view=VIEW)
    found = await store.expand(hits.keys, fan_out=25, view=VIEW)
    weights = dict(zip(store.relation_ids(found.relations), found.feedback.tolist(), strict=True))
    assert weights == {knows().id: pytest.approx(0.55), given.id: pytest.approx(0.9)}


async def test_types_too_long_for_an_index_are_walked_and_skipped(store: ScopedPostgresStore) -> None:
    letters = np.random.default_rng(0).choice(list("abcdefghijklmnopqrstuvwxyz"), 9_000)
    names = ["".join(letters.tolist()) + end for end in "xy"]
    long = [knows(type=name) for name in names]
    await store.write(Batch(relations=long))
    hits = await store.locate([ADA.id], view=VIEW)
    for skipped, left in (((), 0), (names[:1], 1), ((*names, "knows"), 3)):
        view = View(NOON, NOON, skipped_types=frozenset(skipped))
        found = await store.expand(hits.keys, fan_out=25, view=view)
        kept = {each.id for each in (*long, knows()) if each.type not in skipped}
        assert set(store.relation_ids(found.relations)) == kept
        assert await store.left_out(hits.keys, view=view) == ({"skipped_type": left} if left else {})


async def test_types_of_one_hash_are_distinguished(store: ScopedPostgresStore, postgres_database: Database) -> None:
    with psycopg.connect(postgres_database.admin_dsn, autocommit=True) as connection:
        connection.execute("ALTER TABLE graphsearch.relation ALTER COLUMN type_hash DROP EXPRESSION")
        connection.execute("ALTER TABLE graphsearch.relation DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY")
        connection.execute("UPDATE graphsearch.relation SET type_hash = hashtextextended('likes', 0)")
    hits = await store.locate([ADA.id], view=VIEW)
    view = View(NOON, NOON, skipped_types=frozenset({"likes"}))
    assert len(await store.expand(hits.keys, fan_out=25, view=view)) == 1
    assert await store.left_out(hits.keys, view=view) == {}


async def test_a_walk_to_an_entity_that_is_gone_is_refused(
    store: ScopedPostgresStore, postgres_database: Database
) -> None:
    """Whether the walk reads the entity, or the relation has a copy of its columns and it is to be shown."""
    eve = Entity(type="person", name="Eve", valid_from=NOON, created_at=NOON)
    likes = Relation(source_id=ADA.id, target_id=eve.id, type="likes", created_at=NOON)
    hits = await store.locate([ADA.id], view=VIEW)
    (key,) = (await store.expand(hits.keys, fan_out=25, view=VIEW)).far
    await store.write(Batch(entities=(eve,), relations=(likes,)))
    with psycopg.connect(postgres_database.admin_dsn, autocommit=True) as connection:
        connection.execute("ALTER TABLE graphsearch.entity NO FORCE ROW LEVEL SECURITY")
        connection.execute("DELETE FROM graphsearch.entity WHERE id = ANY(%s)", [[BOB.id, eve.id]])
    with pytest.raises(StoreError, match="relations of o/p lead to entities that are not there"):
        await store.expand(hits.keys, fan_out=25, view=VIEW)
    with pytest.raises(StoreError, match="entity rows of o/p that others lead to are not there"):
        await store.elements(ElementKind.ENTITY, np.array([key]))


# -- signatures ---------------------------------------------------------------------------------------------------


async def codes(store: ScopedPostgresStore) -> list[int]:
    hits = await store.locate([ADA.id], view=VIEW)
    found = await store.expand(hits.keys, fan_out=25, view=VIEW)
    memories = [code for each in (await store.signatures(found.signatures.tolist())).values() for code in each.evidence]
    return [*hits.signatures.tolist(), *found.signatures.tolist(), *memories]


async def test_signatures_are_read_once(store: ScopedPostgresStore, postgres_database: Database) -> None:
    read = await store.signatures(await codes(store))
    assert {each.kind for each in read.values()} == set(ElementKind)
    with psycopg.connect(postgres_database.admin_dsn, autocommit=True) as connection:
        connection.execute("ALTER TABLE graphsearch.signature NO FORCE ROW LEVEL SECURITY")
        connection.execute("DELETE FROM graphsearch.signature")
    assert await store.signatures(list(read)) == read


async def test_what_follows_from_signatures_is_kept_until_more_is_known(store: ScopedPostgresStore) -> None:
    async def table() -> SignatureTable:
        async with store.snapshot():
            found = store.signature_table()
        assert found is not None
        return found

    assert store.signature_table() is None
    assert len(await table()) == 0
    read = await store.signatures(await codes(store))
    kept = await table()
    assert kept.codes is not None
    assert dict(zip(kept.codes.tolist(), kept.contents, strict=True)) == read
    assert await table() is kept
    await store.register_types([RelationType(name="knows", prior=0.25)])
    again = await table()
    assert (set(kept.priors.tolist()), set(again.priors.tolist())) == ({1.0}, {1.0, 0.25})
    assert await table() is again


async def test_signatures_that_another_process_dropped_are_given_up(
    store: ScopedPostgresStore, postgres_database: Database
) -> None:
    asked = await codes(store)
    read = await store.signatures(asked)
    async with PostgresGraphStore.open(postgres_database.dsn) as elsewhere:
        other = elsewhere.with_scope(org_id="o", project_id="p")
        async with other.snapshot():
            await store.forget(["note"])
            assert await other.signatures(asked) == read
    assert await store.signatures(asked) == {}
    (book,) = store._gateway._library._books.values()
    assert not book.contents


def test_a_snapshot_from_before_a_drop_keeps_signatures_for_itself() -> None:
    library = SignatureCaches()
    scope = Scope("o", "p")
    now = library.book(scope, 2)
    past = library.book(scope, 1)
    past.add({1: Signature(kind=ElementKind.MEMORY, source="forgotten")})
    assert library.book(scope, 2) is now
    assert not now.contents
    assert library.book(scope, 3) is not now


def test_few_scopes_and_few_signatures_of_each_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "SCOPES", 2)
    monkeypatch.setattr(sessions, "CODES", 3)
    library = SignatureCaches()
    scopes = [Scope("o", name) for name in "abc"]
    books = [library.book(scope, 0) for scope in scopes[:2]]
    assert library.book(scopes[0], 0) is books[0]
    library.book(scopes[2], 0)
    assert library.book(scopes[0], 0) is books[0]
    assert library.book(scopes[1], 0) is not books[1]
    signature = Signature(kind=ElementKind.ENTITY)
    books[0].add(dict.fromkeys((1, 2), signature))
    books[0].add(dict.fromkeys((3,), signature))
    assert set(books[0].contents) == {1, 2, 3}
    books[0].add(dict.fromkeys((4, 5), signature))
    assert set(books[0].contents) == {4, 5}
    books[0].add(dict.fromkeys(range(10, 20), signature))
    assert not books[0].contents
