"""What a snapshot reads from the server: nothing twice, and concurrent reads of its tasks in one round trip."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import attrs
import numpy as np
import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import StoreError
from graphsearch.model import Batch, ElementKind, Entity, Principal, Relation, View
from graphsearch.stores.in_postgres.read import walking
from graphsearch.stores.in_postgres.session import sending, sessions
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON, HashEmbedder
from tests.fix_postgres import Database
from tests.waiting import until, working_on

VIEW = View(NOON, NOON)
ADA, BOB, EVE = (Entity(type="person", name=name, created_at=NOON) for name in ("Ada", "Bob", "Eve"))
PAST = Entity(type="person", name="Past", created_at=NOON, valid_to=NOON.replace(year=2001))


def relation(source: Entity, type_: str, target: Entity) -> Relation:
    fact = f"{source.name} {type_} {target.name}"
    return Relation(source_id=source.id, type=type_, target_id=target.id, fact=fact, created_at=NOON)


KNOWS, LEADS, LED = relation(ADA, "knows", BOB), relation(BOB, "leads", EVE), relation(PAST, "led", ADA)


@pytest.fixture
async def store(shared_pool: AsyncConnectionPool[Any]) -> ScopedPostgresStore:
    scoped = PostgresGraphStore(shared_pool, exact=True).with_scope(org_id="o", project_id=uuid4().hex)
    await scoped.write(Batch(entities=(ADA, BOB, EVE, PAST), relations=(KNOWS, LEADS, LED)))
    return scoped


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many statements each round trip of a snapshot had."""
    counted: list[int] = []
    send = sending.Sender._send

    async def counting(sender: Any) -> None:
        counted.append(len(sender._asked))
        await send(sender)

    monkeypatch.setattr(sending.Sender, "_send", counting)
    return counted


async def keys_of(store: ScopedPostgresStore, *relations: Relation) -> Any:
    pages = await store.edges(view=attrs.evolve(VIEW, since=NOON.replace(year=2000)))
    of = dict(zip(store.relation_ids(pages.relations), pages.relations, strict=True))
    return np.array([of[each.id] for each in relations])


# -- elements -----------------------------------------------------------------------------------------------------


async def test_a_snapshot_reads_an_element_once(store: ScopedPostgresStore, trips: list[int]) -> None:
    ada, bob, eve = (np.frombuffer(each.id.bytes, "S16") for each in (ADA, BOB, EVE))
    async with store.snapshot():
        assert await store.elements(ElementKind.ENTITY, np.concatenate([ada, bob])) == [ADA, BOB]
        every = np.concatenate([eve, bob, ada, ada])
        assert await store.elements(ElementKind.ENTITY, every) == [EVE, BOB, ADA, ADA]
        assert await store.elements(ElementKind.ENTITY, np.concatenate([ada, eve])) == [ADA, EVE]
        assert await store.elements(ElementKind.ENTITY, every[:0]) == []
    assert trips == [1, 1]


async def test_another_snapshot_reads_what_was_written_since(store: ScopedPostgresStore) -> None:
    renamed = attrs.evolve(ADA, description="Countess")
    async with store.snapshot():
        await store.get_entities([ADA.id])
        await asyncio.create_task(_written(store, renamed))
        assert await store.get_entities([ADA.id]) == [ADA]
    assert await store.get_entities([ADA.id]) == [renamed]


async def _written(store: ScopedPostgresStore, entity: Entity) -> None:
    await store.write(Batch(entities=(entity,)))


async def test_no_more_is_kept_than_there_is_room_for(
    store: ScopedPostgresStore, trips: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sessions, walking):
        monkeypatch.setattr(module, "KEPT", 1)
    keys = await keys_of(store, KNOWS, LEADS)
    trips.clear()
    async with store.snapshot():
        for _ in range(2):
            assert await store.get_entities([ADA.id, BOB.id]) == [ADA, BOB]
            assert (await store.related(keys, view=VIEW)).relations.tolist() == keys.tolist()
    assert len(trips) == 4


# -- relations as steps -------------------------------------------------------------------------------------------


async def test_relations_are_returned_as_steps_once(store: ScopedPostgresStore, trips: list[int]) -> None:
    knows, leads, led = keys = await keys_of(store, KNOWS, LEADS, LED)
    apart = [await store.related(np.array([key]), view=VIEW) for key in keys]
    trips.clear()
    async with store.snapshot():
        await store.related(np.array([leads, knows]), view=VIEW)
        every = await store.related(keys, view=VIEW)
        again = await store.related(np.array([led, knows]), view=VIEW)
        assert len(await store.related(keys[:0], view=VIEW)) == 0
    assert trips == [1, 1]
    for found, alone in ((every, apart), (again, [apart[2], apart[0]])):
        for name in ("near", "far", "relations", "confidence", "since", "feedback", "signatures", "far_signatures"):
            expected = np.concatenate([getattr(each, name) for each in alone])
            assert getattr(found, name).tolist() == expected.tolist()


async def test_steps_mark_which_sources_hold(store: ScopedPostgresStore) -> None:
    async with store.snapshot():
        found = await store.related(await keys_of(store, KNOWS, LEADS, LED), view=VIEW)
        expected = await store.locate([ADA.id, BOB.id, PAST.id], view=VIEW)
    assert found.located is not None
    for name in ("keys", "signatures", "values", "importance"):
        assert getattr(found.located, name).tolist() == getattr(expected, name).tolist()


async def test_two_hops_take_one_round_trip(store: ScopedPostgresStore, trips: list[int]) -> None:
    async with store.snapshot():
        ada, bob = [(await store.locate([each.id], view=VIEW)).keys for each in (ADA, BOB)]
        trips.clear()
        await store.expand(ada, fan_out=5, view=VIEW, ahead=1)
        further = await store.expand(bob, fan_out=5, view=VIEW)
        assert store.relation_ids(further.relations) == [LEADS.id, KNOWS.id]
        assert trips == [1]
        await store.expand(ada, fan_out=5, view=VIEW)
        assert trips == [1, 1]


async def test_relations_are_read_with_their_ends(store: ScopedPostgresStore, trips: list[int]) -> None:
    keys = await keys_of(store, KNOWS, LEADS)
    trips.clear()
    async with store.snapshot():
        ends = np.array([EVE.id.bytes, ADA.id.bytes], "S16")
        assert await store.elements(ElementKind.RELATION, keys) == [KNOWS, LEADS]
        assert await store.elements(ElementKind.ENTITY, ends) == [EVE, ADA]
    assert trips == [2]


# -- together -----------------------------------------------------------------------------------------------------


async def test_what_tasks_ask_for_in_the_same_moment_takes_one_round_trip(
    store: ScopedPostgresStore, trips: list[int]
) -> None:
    async with store.snapshot():
        names, words, hits = await asyncio.gather(
            store.find_names(["Ada"]), store.find_name_words(["bob"]), store.locate([EVE.id], view=VIEW)
        )
    assert [each.entity_id for each in (*names, *words)] == [ADA.id, BOB.id]
    assert store.entity_ids(hits.keys) == [EVE.id]
    assert trips == [3]


async def test_a_failure_is_raised_in_all_that_were_sent_with_it(store: ScopedPostgresStore) -> None:
    async with store.snapshot():
        session = store._gateway.current(store.scope)
        assert session is not None
        failed = await asyncio.gather(
            session.run_kept(b"SELECT 1 / 0"), store.get_entities([ADA.id]), return_exceptions=True
        )
    assert "division by zero" in str(failed[0])
    assert isinstance(failed[1], StoreError)


async def test_what_failed_before_it_was_prepared_is_prepared_anew(shared_database: Database) -> None:
    async def ask(*queries: bytes) -> Any:
        async with alone.snapshot():
            session = alone._gateway.current(alone.scope)
            assert session is not None
            return await asyncio.gather(*map(session.run_kept, queries), return_exceptions=True)

    async with AsyncConnectionPool(shared_database.dsn, min_size=1, max_size=1, open=False) as pool:
        alone = PostgresGraphStore(pool, exact=True).with_scope(org_id="o", project_id=uuid4().hex)
        await alone.write(Batch(entities=(ADA,)))
        for _ in range(2):
            await ask(b"SELECT 2")
        await ask(b"SELECT 1 / 0", b"SELECT 2")
        [again] = await ask(b"SELECT 2")
        assert again.rows == [(2,)]


async def test_a_cancelled_task_fails_those_that_were_sent_with_it(
    store: ScopedPostgresStore, shared_database: Database
) -> None:
    async with store.snapshot():
        session = store._gateway.current(store.scope)
        assert session is not None
        slow = asyncio.create_task(session.run_kept(b"SELECT pg_sleep(600)"))
        other = asyncio.create_task(store.get_entities([ADA.id]))
        await until(lambda: working_on(shared_database.admin_dsn, "pg_sleep"))
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        with pytest.raises(StoreError):
            await other
    assert await store.get_entities([ADA.id]) == [ADA]


# -- a search -----------------------------------------------------------------------------------------------------


async def test_a_search_takes_few_round_trips(store: ScopedPostgresStore, trips: list[int]) -> None:
    embedder = HashEmbedder()
    people = (ADA, BOB, EVE)
    vectors = await embedder.embed([each.name for each in people], input_type="document")
    await store.bind_embedder(embedder.name, embedder.dimensions)
    await store.write(Batch(vectors=dict(zip((each.id for each in people), vectors, strict=True))))
    engine = GraphSearchEngine(store=store, embedder=embedder)
    gate = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[store.scope]))
    await engine.search("who does Ada know?", gate=gate)
    trips.clear()
    found = await engine.search("who does Ada know?", gate=gate)
    assert found.triplets[0].relation == KNOWS
    assert len(trips) <= 6


@pytest.mark.parametrize("few", [4, 2_000])
async def test_a_search_by_words_scores_alike_whether_or_not_any_is_common(
    few: int, shared_pool: AsyncConnectionPool[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphsearch.text.bm25.FEW", few)
    random = np.random.default_rng(3)
    words = ["tls", "socket", "handshake", "token", "agent", "budget"]
    shares = [0.5, 0.3, 0.1, 0.05, 0.03, 0.02]
    entities = [
        attrs.evolve(ADA, id=UUID(int=number), description=" ".join(random.choice(words, 1 + number % 5, p=shares)))
        for number in range(60)
    ]
    ids: list[list[UUID]] = []
    scores: list[list[float]] = []
    for store in (InMemoryGraphStore(), PostgresGraphStore(shared_pool, exact=True)):
        scoped = store.with_scope(org_id="o", project_id=f"words {few}")
        await scoped.write(Batch(entities=tuple(entities)))
        for query in ("tls handshake", "tls socket budget", "budget", "nothing of this", ""):
            for limit in (0, 3, 100):
                hits = await scoped.search_lexical(ElementKind.ENTITY, query, limit=limit, view=VIEW)
                ids.append(list(scoped.entity_ids(hits.keys)))
                scores.append(hits.values.tolist())
    half = len(ids) // 2
    assert any(ids)
    assert ids[:half] == ids[half:]
    for in_memory, in_postgres in zip(scores[:half], scores[half:], strict=True):
        assert in_postgres == pytest.approx(in_memory, abs=1e-6)
