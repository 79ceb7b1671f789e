"""A change of the embedding model in Postgres: bulk writes, vector indexes, walls, other writers, and kills."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence

import psycopg
import pytest
from psycopg import sql

from graphsearch.errors import EmbeddingModelError
from graphsearch.model import Batch, ElementKind, Entity, Memory, Vector
from graphsearch.protocols import InputType
from graphsearch.reembedding import reembed
from graphsearch.stores.in_postgres.index import vector_index
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.testing.samples import ids_of, view
from graphsearch.testing.spec_moving import NEW, OLD, everything, remade
from graphsearch.text.bm25 import embedding_text
from tests.fix_postgres import Database

SCOPE = {"org_id": "acme", "project_id": "web"}
TOOLS = tuple(Entity(type="tool", name=f"tool {number}") for number in range(40))
NOTES = tuple(Memory(id=f"{number:03}", text=f"note {number} on {number % 7}") for number in range(300))


def made(embedder: HashEmbedder, elements: Sequence[Entity | Memory]) -> Mapping[object, Vector]:
    return {each.id: embedder.vector(embedding_text(each)) for each in elements}


def shadows(database: Database) -> dict[str, int]:
    """The numbers of new vectors in the tables, whoever's they are."""
    query = sql.SQL("SELECT count(*) FROM {}")
    found: dict[str, int] = {}
    with psycopg.connect(database.admin_dsn) as connection:
        for kind in ElementKind:
            rows = connection.execute(query.format(sql.Identifier("graphsearch", f"{kind}_shadow"))).fetchall()
            found[kind.value] = rows[0][0]
    return found


async def begin(store: ScopedPostgresStore) -> None:
    """A change of which all that there is so far has new vectors."""
    await store.begin_reembedding(NEW.name, NEW.dimensions)
    for kind in ElementKind:
        page = await store.outdated_vectors(kind, NEW.name, limit=1_000)
        assert await store.put_new_vectors(kind, NEW.name, await remade(page)) == len(page)


@pytest.fixture
async def store(postgres_database: Database) -> AsyncIterator[ScopedPostgresStore]:
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as opened:
        yield opened.with_scope(**SCOPE)


async def test_nothing_of_what_is_forgotten_deleted_or_removed_is_left_in_the_tables(
    store: ScopedPostgresStore, postgres_database: Database
) -> None:
    await store.bind_embedder(OLD.name, OLD.dimensions)
    await store.write(Batch(memories=NOTES[:10], vectors=made(OLD, NOTES[:10])))
    await begin(store)
    assert shadows(postgres_database)["memory"] == 10
    await store.forget([each.id for each in NOTES[:4]])
    assert shadows(postgres_database)["memory"] == 6
    rewritten = Memory(id=NOTES[5].id, text="another text")
    await store.write(Batch(memories=[rewritten], vectors=made(OLD, [rewritten])))
    assert shadows(postgres_database)["memory"] == 5
    await store.remove_scope()
    assert not any(shadows(postgres_database).values())


async def test_a_large_scope_is_searched_exactly_until_its_index_is_made_again(
    store: ScopedPostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 200)
    monkeypatch.setattr(vector_index, "PER_CANDIDATE", 1)
    await store.bind_embedder(OLD.name, OLD.dimensions)
    await store.write(Batch(memories=NOTES, vectors=made(OLD, NOTES)))
    await store.settle()

    async def index() -> object:
        async with store._reading() as session:
            return session.vector_index(ElementKind.MEMORY).part

    async def found(number: int) -> list[float]:
        vector = NEW.vector(f"note {number} on {number % 7}")
        hits = await store.search_by_embedding(ElementKind.MEMORY, vector, limit=10, view=view(store.clock.now()))
        assert len(set(ids_of(store, ElementKind.MEMORY, hits))) == 10
        return list(map(float, hits.values.round(5)))

    before = await index()
    assert before is not None
    settle = store.settle
    monkeypatch.setattr(store, "settle", lambda: asyncio.sleep(0))
    await reembed(store, NEW)
    monkeypatch.setattr(store, "settle", settle)
    assert await index() is None
    exact = [await found(number) for number in range(20)]
    assert await store.settle() == len(NOTES)
    assert await index() not in (None, before)
    indexed = [await found(number) for number in range(20)]
    assert sum(one == other for one, other in zip(exact, indexed, strict=True)) >= 19


async def test_a_scope_with_an_index_is_changed_in_both_stores(
    store: ScopedPostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 400)
    monkeypatch.setattr(vector_index, "PER_CANDIDATE", 1)
    notes = [Memory(id=f"{number:04}", text=f"{number} and {number % 89}") for number in range(500)]
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(**SCOPE)
    for each in (store, other):
        await each.bind_embedder(OLD.name, OLD.dimensions)
        await each.write(Batch(memories=notes, vectors=made(OLD, notes)))
        report = await reembed(each, NEW)
        assert report.embedded[ElementKind.MEMORY] == len(notes)
        assert await each.embedder_name() == NEW.name
    async with store._reading() as session:
        assert session.vector_index(ElementKind.MEMORY).built == len(notes)
    assert await everything(store) == await everything(other)
    for note in notes[::100]:
        one, two = [
            await each.search_by_embedding(
                ElementKind.MEMORY, NEW.vector(note.text), limit=10, view=view(each.clock.now())
            )
            for each in (store, other)
        ]
        assert one.values == pytest.approx(two.values, abs=1e-5)


async def test_writers_and_readers_go_on_and_end_right(store: ScopedPostgresStore) -> None:
    other = InMemoryGraphStore(clock=FixedClock()).with_scope(**SCOPE)
    for each, embedder in ((store, OLD), (other, NEW)):
        await each.bind_embedder(embedder.name, embedder.dimensions)
        await each.write(Batch(memories=NOTES[:100], vectors=made(embedder, NOTES[:100])))

    async def write() -> None:
        for number in range(100, 130):
            batch = NOTES[number : number + 1]
            try:
                await store.write(Batch(memories=batch, vectors=made(OLD, batch), embedder=OLD.name))
            except EmbeddingModelError:  # after the switch
                await store.write(Batch(memories=batch, vectors=made(NEW, batch), embedder=NEW.name))
            await store.forget([NOTES[number - 100].id])
            await asyncio.sleep(0)

    await asyncio.gather(reembed(store, NEW, batch=3), write())
    await other.write(Batch(memories=NOTES[100:130], vectors=made(NEW, NOTES[100:130])))
    await other.forget([each.id for each in NOTES[:30]])
    assert await everything(store) == await everything(other)


class _Dying(HashEmbedder):
    """The new model, in a process that kills itself in the middle."""

    calls = 0

    async def embed(self, texts: Sequence[str], *, input_type: InputType = "document") -> Vector:
        self.calls += 1
        if self.calls > 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().embed(texts, input_type=input_type)


def die(dsn: str) -> None:
    """What the process does."""

    async def run() -> None:
        async with PostgresGraphStore.open(dsn, clock=FixedClock()) as opened:
            await reembed(opened.with_scope(**SCOPE), _Dying(24, name="new"), batch=10)

    asyncio.run(run())


async def test_whoever_is_killed_continues_where_it_was(
    store: ScopedPostgresStore, postgres_database: Database
) -> None:
    await store.bind_embedder(OLD.name, OLD.dimensions)
    await store.write(Batch(memories=NOTES[:100], vectors=made(OLD, NOTES[:100])))
    process = multiprocessing.get_context("forkserver").Process(target=die, args=(postgres_database.dsn,))
    process.start()
    await asyncio.to_thread(process.join)
    assert process.exitcode == -signal.SIGKILL
    state = await store.reembedding()
    assert state is not None
    assert state.done[ElementKind.MEMORY] == 50  # one call was for the number of dimensions
    assert (await reembed(store, NEW)).embedded[ElementKind.MEMORY] == 50
    assert not any(shadows(postgres_database).values())
