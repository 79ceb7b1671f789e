"""The vector index of large scopes in Postgres: recall beside any others, how it is made and dropped, and rights."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import attrs
import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from graphsearch.model import Batch, ElementKind, Memory, View
from graphsearch.stores.in_postgres.index import vector_index
from graphsearch.stores.in_postgres.index.vector_index import settle_vectors
from graphsearch.stores.in_postgres.session.sessions import Session, VectorIndex
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON, FixedClock
from tests.fix_postgres import Database
from tests.waiting import LONGEST

VIEW = View(NOON, NOON)
DIMENSIONS = 64
Matrix = NDArray[np.float32]


def directions(count: int, seed: int) -> Matrix:
    return np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)


def shape_of(name: str, count: int) -> Matrix:
    """Vectors as a tenant may have them, exact as float16."""
    seed = sum(map(ord, name))
    spread = directions(count, seed)
    if name == "tight":
        spread = 0.1 * spread + directions(1, 1)
    elif name == "clusters":
        spread = 0.3 * spread + np.repeat(directions(20, 2), -(-count // 20), axis=0)[:count]
    elif name == "duplicates":
        spread[: count // 2] = spread[0]
    return spread.astype(np.float16).astype(np.float32)


def questions(vectors: Matrix) -> Matrix:
    """Points near some vectors, between two, opposite to some, and far from all."""
    some, others, noise = vectors[:8], vectors[-8:], directions(8, 3)
    slight = np.float32(0.02) * noise
    return np.concatenate([some + slight, some + others, slight - some, noise]).astype(np.float32)


@pytest.fixture
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 200)
    monkeypatch.setattr(vector_index, "PER_CANDIDATE", 1)


pytestmark = pytest.mark.usefixtures("_low_limits")


@attrs.frozen
class Tenant:
    """A scope, and its vectors in the order of its memories."""

    store: ScopedPostgresStore
    vectors: Matrix

    async def recalls(self, points: Matrix, limit: int = 10) -> list[float]:
        """The share of the nearest that is found from each point; equally near ones are as good."""
        units = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        found = []
        for point in points:
            distances = 1 - units @ (point / np.linalg.norm(point))
            hits = await self.store.search_by_embedding(ElementKind.MEMORY, point, limit=limit, view=VIEW)
            rows = [int(key) for key in self.store.memory_ids(hits.keys)]
            assert len(set(rows)) == min(limit, len(units))
            assert hits.values.tolist() == sorted(hits.values.tolist())
            found.append(float(np.mean(distances[rows] <= np.sort(distances)[len(rows) - 1] + 1e-5)))
        return found

    async def index(self) -> VectorIndex:
        async with self.store._gateway.reading(self.store.scope) as session:
            return session.vector_index(ElementKind.MEMORY)

    async def write(self, vectors: Matrix, start: int = 0, **fields: Any) -> Tenant:
        """This tenant with more vectors."""
        memories = [Memory(id=str(start + row), text="-", created_at=NOON, **fields) for row in range(len(vectors))]
        await self.store.write(
            Batch(memories=memories, vectors={each.id: row for each, row in zip(memories, vectors, strict=True)})
        )
        return Tenant(self.store, np.concatenate([self.vectors[:start], vectors]))


@pytest.fixture
async def opened(postgres_database: Database) -> AsyncIterator[PostgresGraphStore]:
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as store:
        yield store


async def tenant(opened: PostgresGraphStore, name: str, count: int = 600, *, settled: bool = True) -> Tenant:
    store = opened.with_scope(org_id=name, project_id="p")
    await store.bind_embedder("m", DIMENSIONS)
    made = await Tenant(store, np.empty((0, DIMENSIONS), np.float32)).write(shape_of(name, count))
    if settled:
        await store.settle()
    return made


def parts(database: Database) -> list[str]:
    query = """SELECT relname FROM pg_class
        WHERE relnamespace = 'graphsearch_part'::regnamespace AND relkind = 'r' ORDER BY 1"""
    with psycopg.connect(database.admin_dsn) as connection:
        return [name for (name,) in connection.execute(query).fetchall()]


# -- recall -------------------------------------------------------------------------------------------------------


async def test_every_scope_finds_its_nearest_beside_any_other_and_from_anywhere(opened: PostgresGraphStore) -> None:
    names = ("uniform", "another uniform", "tight", "clusters", "duplicates")
    tenants = {name: await tenant(opened, name) for name in names} | {"small": await tenant(opened, "small", 150)}
    for name, each in tenants.items():
        points = np.concatenate([questions(each.vectors)[::2], questions(tenants["uniform"].vectors)[::4]])
        assert np.mean(await each.recalls(points)) >= 0.95, name
        assert ((await each.index()).part is None) == (name == "small")


async def test_an_index_that_finds_too_little_or_too_slowly_is_not_kept(
    opened: PostgresGraphStore, postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(vector_index, "PER_CANDIDATE", 25)  # 600 vectors are compared while it finds 24 candidates
        each = await tenant(opened, "uniform")
        assert await each.index() == VectorIndex(part=None, generation=1, built=600)
        assert parts(postgres_database) == []
        assert await each.store.settle() == 0
        assert await each.recalls(questions(each.vectors)) == [1.0] * 32
    assert await each.store.settle() == 0  # it is tried again when the scope has doubled
    await (await each.write(shape_of("more", 700), 600)).store.settle()
    assert (await each.index()).part is not None


async def test_where_the_nearest_do_not_stand_out_from_few_candidates_all_vectors_are_compared(
    opened: PostgresGraphStore, postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = await tenant(opened, "clusters")
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        connection.execute("UPDATE graphsearch.vector_index SET candidates = 0, bound = 0.6")
    sent: list[str] = []
    run = vector_index._run

    async def counted(session: Session, kind: ElementKind, name: str, **values: Any) -> tuple[Any, ...]:
        sent.append(name)
        return await run(session, kind, name, **values)

    monkeypatch.setattr(vector_index, "_run", counted)
    assert np.mean(await each.recalls(each.vectors[:8])) >= 0.95
    assert sent == ["nearest by index"] * 8
    sent.clear()
    assert await each.recalls(directions(8, 3)) == [1.0] * 8
    assert sent == ["nearest by index", "nearest exactly"] * 8


def test_the_bound_is_the_greatest_at_which_few_candidates_are_enough() -> None:
    shares = np.array([0.5, 0.6, 0.82, 0.88, 0.95])
    assert vector_index.bound_of(shares, np.array([1.0, 1.0, 1.0, 1.0, 0.3])) == 0.9
    assert vector_index.bound_of(shares, np.array([1.0, 1.0, 1.0, 0.5, 1.0])) == 0.85
    assert vector_index.bound_of(shares, np.array([0.5, 1.0, 1.0, 1.0, 1.0])) == 0.0
    assert vector_index.bound_of(np.full(3, 0.95), np.ones(3)) == 0.0


async def test_as_many_are_found_as_requested(opened: PostgresGraphStore) -> None:
    each = await tenant(opened, "clusters")
    for limit in (1, 10, 60, 600, 900):
        assert np.mean(await each.recalls(questions(each.vectors)[::4], limit)) >= 0.95, limit


async def test_a_view_that_hides_most_gets_as_many(opened: PostgresGraphStore) -> None:
    each = await tenant(opened, "uniform")
    later, fate = NOON + timedelta(days=1), np.random.default_rng(0).random(600)
    for hidden in (0.5, 0.9, 0.99):
        shown, gone = np.flatnonzero(fate >= hidden), np.flatnonzero(fate < hidden)
        await each.store.write(
            Batch(memories=[Memory(id=str(row), text="-", created_at=NOON, occurred_at=later) for row in gone])
        )
        await each.store.settle()
        assert (await each.index()).part is not None
        units = each.vectors[shown] / np.linalg.norm(each.vectors[shown], axis=1, keepdims=True)
        recall = []
        for point in questions(each.vectors)[::2]:
            hits = await each.store.search_by_embedding(ElementKind.MEMORY, point, limit=10, view=VIEW)
            best = shown[np.argsort(-(units @ point), kind="stable")[:10]]
            rows = [int(key) for key in each.store.memory_ids(hits.keys)]
            assert len(rows) == len(best)
            recall.append(len(set(rows) & set(best.tolist())) / len(best))
        assert np.mean(recall) >= 0.95, hidden


# -- growing and shrinking ----------------------------------------------------------------------------------------


async def test_settling_again_changes_nothing(opened: PostgresGraphStore, postgres_database: Database) -> None:
    each = await tenant(opened, "uniform")
    index, made = await each.index(), parts(postgres_database)
    assert await each.store.settle() == 0
    assert (await each.index(), parts(postgres_database)) == (index, made)


async def test_a_few_vectors_are_added_and_many_make_a_new_index(
    opened: PostgresGraphStore, postgres_database: Database
) -> None:
    each = await tenant(opened, "uniform")
    first = await each.index()
    assert first == VectorIndex(part=first.part, generation=1, built=600, candidates=first.candidates)
    each = await each.write(shape_of("few", 40), 600)
    assert np.mean(await each.recalls(shape_of("few", 40))) == 1.0
    assert await each.store.settle() == 40
    assert await each.index() == attrs.evolve(first, generation=2)
    each = await each.write(shape_of("many", 300), 640)
    assert await each.store.settle() == 300
    second = await each.index()
    assert second.part != first.part
    assert second.built == 940
    assert parts(postgres_database) == [f"memory_{second.part}"]
    assert np.mean(await each.recalls(questions(each.vectors))) >= 0.95


async def test_changed_and_forgotten_vectors_leave_the_part(
    opened: PostgresGraphStore, postgres_database: Database
) -> None:
    each = await tenant(opened, "uniform")
    await each.store.write(Batch(vectors={"7": -each.vectors[7], "8": each.vectors[8]}))
    await each.store.forget(["9"])
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        query = "SELECT id FROM graphsearch.memory_embedding_part WHERE id IN ('7', '8', '9')"
        assert connection.execute(query).fetchall() == [("8",)]
    hits = await each.store.search_by_embedding(ElementKind.MEMORY, -each.vectors[7], limit=1, view=VIEW)
    assert each.store.memory_ids(hits.keys) == ["7"]


async def test_a_scope_that_shrinks_and_one_that_is_removed_drop_their_parts(
    opened: PostgresGraphStore, postgres_database: Database
) -> None:
    shrunk, removed, kept = [await tenant(opened, name) for name in ("uniform", "clusters", "tight")]
    assert len(parts(postgres_database)) == 3
    await shrunk.store.forget([str(row) for row in range(150, 600)])
    await shrunk.store.settle()
    assert (await shrunk.index()).part is None
    assert await Tenant(shrunk.store, shrunk.vectors[:150]).recalls(questions(shrunk.vectors)) == [1.0] * 32
    await removed.store.remove_scope()
    assert parts(postgres_database) == [f"memory_{(await kept.index()).part}"]
    again = await tenant(opened, "clusters")
    assert (await again.index()).part is not None


# -- while others read and write ------------------------------------------------------------------------------------


async def test_readers_and_other_writers_go_on_while_an_index_is_built(opened: PostgresGraphStore) -> None:
    each, other = [await tenant(opened, name, settled=name == "tight") for name in ("uniform", "tight")]
    async with each.store._gateway.writing(each.store.scope) as session:
        assert await settle_vectors(session, ElementKind.MEMORY) == 600
        async with asyncio.timeout(LONGEST):
            assert await each.recalls(questions(each.vectors)) == [1.0] * 32
            assert np.mean(await other.recalls(questions(other.vectors))) >= 0.95
            await other.write(shape_of("more", 20), 600)
            await other.store.forget(["3"])
    assert (await each.index()).part is not None


async def test_a_failure_in_the_middle_leaves_all_as_it_was(
    opened: PostgresGraphStore, postgres_database: Database
) -> None:
    each = await tenant(opened, "uniform", settled=False)
    with pytest.raises(ZeroDivisionError):
        await _settle_and_fail(each)
    assert await each.index() == VectorIndex()
    assert parts(postgres_database) == []
    await each.store.settle()
    index, made = await each.index(), parts(postgres_database)
    each = await each.write(shape_of("many", 300), 600)
    with pytest.raises(ZeroDivisionError):
        await _settle_and_fail(each)
    assert (await each.index(), parts(postgres_database)) == (index, made)
    assert np.mean(await each.recalls(questions(each.vectors))) >= 0.95


async def _settle_and_fail(each: Tenant) -> None:
    async with each.store._gateway.writing(each.store.scope) as session:
        assert await settle_vectors(session, ElementKind.MEMORY)
        raise ZeroDivisionError


@pytest.mark.parametrize("searched_before", [False, True])
async def test_a_snapshot_outlives_the_part_that_it_reads(
    opened: PostgresGraphStore, postgres_database: Database, *, searched_before: bool
) -> None:
    """The part is gone, or its rows are deleted because the snapshot holds it; either way nothing is missed."""
    each = await tenant(opened, "uniform")
    async with each.store.snapshot():
        if searched_before:
            assert np.mean(await each.recalls(questions(each.vectors))) >= 0.95
        await asyncio.create_task(_grow(opened))
        assert np.mean(await each.recalls(questions(each.vectors))) >= 0.95
    assert len(parts(postgres_database)) == 1 + searched_before
    grown = Tenant(each.store, np.concatenate([each.vectors, shape_of("many", 300)]))
    assert np.mean(await grown.recalls(questions(grown.vectors))) >= 0.95


async def _grow(opened: PostgresGraphStore) -> None:
    """Replace the index of the scope, outside of any snapshot."""
    store = PostgresGraphStore(opened._gateway.pool, clock=FixedClock()).with_scope(org_id="uniform", project_id="p")
    await Tenant(store, np.empty((600, DIMENSIONS), np.float32)).write(shape_of("many", 300), 600)
    await store.settle()


async def test_an_emptied_part_is_dropped_with_the_next(
    opened: PostgresGraphStore, postgres_database: Database
) -> None:
    each, other = [await tenant(opened, name) for name in ("uniform", "tight")]
    async with other.store.snapshot():
        await other.recalls(questions(other.vectors)[:1])  # holds the parent
        await asyncio.create_task(_grow(opened))
    assert len(parts(postgres_database)) == 3
    await each.store.remove_scope()
    assert parts(postgres_database) == [f"memory_{(await other.index()).part}"]


# -- rights -------------------------------------------------------------------------------------------------------


async def test_row_level_security_holds_on_parts(opened: PostgresGraphStore, postgres_database: Database) -> None:
    each = await tenant(opened, "uniform")
    part = (await each.index()).part
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        query = """SELECT relrowsecurity AND relforcerowsecurity,
                (SELECT qual || with_check FROM pg_policies WHERE tablename = relname),
                (SELECT qual || with_check FROM pg_policies WHERE tablename = 'memory_embedding')
            FROM pg_class WHERE relnamespace = 'graphsearch_part'::regnamespace AND relkind = 'r'"""
        ((forced, policy, usual),) = connection.execute(query).fetchall()
        assert forced
        assert policy == usual
    count = "SELECT count(*) FROM graphsearch.memory_embedding_part"
    assert await _run_as_app(postgres_database, "uniform", count) == [(600,)]
    for scope in ("tight", ""):
        assert await _run_as_app(postgres_database, scope, count) == [(0,)]
        assert await _run_as_app(postgres_database, scope, f"{count} WHERE part = {part}") == [(0,)]
    for forbidden in (
        f"TABLE graphsearch_part.memory_{part}",
        f"DROP TABLE graphsearch_part.memory_{part}",
        f"INSERT INTO graphsearch.memory_embedding_part SELECT {part}, 'uniform', 'p', 'x', '[1]'",
        "UPDATE graphsearch.memory_embedding_part SET id = 'x'",
        "UPDATE graphsearch.vector_index SET part = 1",
        "DELETE FROM graphsearch.vector_index",
        f"SELECT graphsearch.discard_vector_part('memory', {part})",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await _run_as_app(postgres_database, "uniform", forbidden)


async def test_functions_act_on_the_scope_of_the_transaction_alone(
    opened: PostgresGraphStore, postgres_database: Database
) -> None:
    each = await tenant(opened, "uniform")
    await tenant(opened, "small", 20)
    named = ("extend_vector_index('memory')",)
    calls = ("build_vector_index('memory')", "keep_vector_index('memory', NULL, 0)", *named)
    for call in calls:
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="entered no scope"):
            await _run_as_app(postgres_database, "", f"SELECT graphsearch.{call}")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="no kind of element"):
            await _run_as_app(postgres_database, "small", f"SELECT graphsearch.{call.replace('memory', 'scope')}")
    index = await each.index()
    await _run_as_app(postgres_database, "small", f"SELECT graphsearch.{calls[0]}; SELECT graphsearch.{calls[1]}")
    assert await each.index() == index
    assert parts(postgres_database) == [f"memory_{index.part}"]


async def _run_as_app(database: Database, org: str, query: str) -> Sequence[Any]:
    async with await psycopg.AsyncConnection.connect(database.dsn) as connection:
        if org:
            await connection.execute(
                f"SET LOCAL graphsearch.org_id = '{org}'; SET LOCAL graphsearch.project_id = 'p'".encode()
            )
        cursor = await connection.execute(query.encode())
        return await cursor.fetchall() if query.startswith("SELECT count") else ()
