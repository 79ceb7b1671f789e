from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import attrs
import numpy as np
import psycopg
import pytest

from graphsearch._support.timing import SystemClock
from graphsearch.errors import InvalidInputError, StoreError
from graphsearch.model import Batch, Claim, ElementKind, ElementRef, Entity, Memory, Outcome, Relation, RelationType
from graphsearch.model.signatures import Signature
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.write.port import PostgresPort
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.stores.writer import work
from tests.fix_postgres import Database

ADA, BOB, EVE = (Entity(type="person", name=name) for name in ("Ada", "Bob", "Eve"))


@pytest.fixture
def scoped(postgres_store: PostgresGraphStore) -> ScopedPostgresStore:
    return postgres_store.with_scope(org_id="org", project_id="project")


def scalar(database: Database, query: str) -> object:
    with psycopg.connect(database.admin_dsn) as connection:
        row = connection.execute(query.encode()).fetchone()
        return row[0] if row else None


async def test_unchanged_rows_are_not_written_again(scoped: ScopedPostgresStore, postgres_database: Database) -> None:
    memory = Memory(id="m", text="Ada knows Bob", occurred_at=datetime(2024, 1, 1, tzinfo=UTC))
    claim = Claim(memory_id="m", source_id=ADA.id, type="knows", target_id=BOB.id, confidence=0.9, fact="Ada knows Bob")
    given = Relation(source_id=BOB.id, type="likes", target_id=ADA.id, evidence=("m",))
    batch = Batch(entities=(ADA, BOB), memories=(memory,), claims=(claim,), relations=(given,))
    await scoped.write(batch)
    await scoped.settle()
    tables = ("entity", "entity_alias", "memory", "claim", "relation", "evidence", "relation_posting", "tally", "term")
    query = " UNION ALL ".join(f"SELECT '{table}', array_agg(xmin::text) FROM graphsearch.{table}" for table in tables)  # noqa: S608 - names of tables
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        before = connection.execute(query.encode()).fetchall()
        assert (await scoped.write(batch)).relations == 0
        assert connection.execute(query.encode()).fetchall() == before


async def test_a_small_write_reads_little_of_tables_that_were_never_analysed(scoped: ScopedPostgresStore) -> None:
    known = [Entity(type="person", name=f"Person {number}") for number in range(900)]
    await scoped.write(Batch(entities=known))
    renamed = attrs.evolve(known[7], name="Somebody else", labels=("renamed",))
    read: dict[str, int] = {}

    class Watched(ScopedPostgresStore):
        @asynccontextmanager
        async def writing(self, **options: Any) -> AsyncIterator[PostgresPort]:
            async with super().writing(**options) as port:
                yield port
                found = await port.session.run(
                    b"SELECT relname, seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
                    b" WHERE relname IN ('name_posting', 'entity_posting', 'entity_alias', 'term')"
                )
                read.update(found.rows)

    watched = Watched(scoped.scope, scoped._gateway, scoped.clock, exact=True)
    await watched.write(Batch(entities=(renamed, BOB)))
    assert len(read) == 4
    assert max(read.values()) < 200, read


async def test_forgetting_leaves_no_trace_in_any_table(
    scoped: ScopedPostgresStore, postgres_database: Database
) -> None:
    await scoped.bind_embedder("m", 3)
    person = Entity(type="person", name="Xyzzy", labels=("plugh",))
    memory = Memory(id="frobozz", text="xyzzy knows plover", source="plugh")
    claim = Claim(
        memory_id=memory.id, source_id=person.id, type="knows", target_id=person.id, confidence=1, fact="plover"
    )
    await scoped.write(Batch(entities=(person,), memories=(memory,), claims=(claim,), vectors={memory.id: [1, 2, 3]}))  # type: ignore[dict-item]
    refs = [ElementRef(ElementKind.MEMORY, memory.id), ElementRef(ElementKind.ENTITY, str(person.id))]
    await scoped.apply_outcome("s", Outcome.ACCEPTED, refs)
    await scoped.forget([memory.id])
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r'"
        )
        for (table,) in tables.fetchall():
            left = connection.execute(f"SELECT t::text FROM graphsearch.{table} t".encode()).fetchall()  # noqa: S608 - names of tables
            assert not [
                row for row in left if any(word in str(row).lower() for word in ("xyzzy", "plugh", "plover", "frobozz"))
            ], table
            assert table in {"scope", "tally", "migration"} or not left


async def test_concurrent_writers_of_one_scope_keep_the_statistics(
    scoped: ScopedPostgresStore, postgres_database: Database
) -> None:
    async def write(number: int) -> None:
        entities = [Entity(type="tool", name=f"hammer {number} {part}") for part in range(5)]
        shared = Entity(type="tool", name="shared", description=f"hammer {number}")
        await scoped.write(Batch(entities=(*entities, shared)))

    await asyncio.gather(*map(write, range(8)))
    assert scalar(postgres_database, "SELECT documents FROM graphsearch.term WHERE term = 'hammer'") == 41
    assert scalar(postgres_database, "SELECT documents FROM graphsearch.tally") == 41
    assert scalar(postgres_database, "SELECT sum(frequency) FROM graphsearch.entity_posting") == scalar(
        postgres_database, "SELECT total_length FROM graphsearch.tally"
    )


async def test_writers_and_outcomes_do_not_deadlock(scoped: ScopedPostgresStore) -> None:
    entities = [Entity(type="tool", name=f"hammer {part}") for part in range(30)]
    await scoped.write(Batch(entities=entities))
    refs = [ElementRef(ElementKind.ENTITY, str(entity.id)) for entity in entities]

    async def rename(number: int) -> None:
        changed = [Entity(id=each.id, type="tool", name=f"{each.name} {number}") for each in reversed(entities)]
        await scoped.write(Batch(entities=changed))

    async def learn(number: int) -> None:
        await scoped.apply_outcome(f"s{number}", Outcome.ACCEPTED, refs if number % 2 else refs[::-1])

    await asyncio.gather(*map(rename, range(4)), *map(learn, range(8)))
    weights = {entity.feedback_weight for entity in await scoped.get_entities([entity.id for entity in entities])}
    assert len(weights) == 1
    assert weights.pop() == pytest.approx(1 - 0.5 * 0.9**8, abs=1e-9)


async def test_registered_priors_decide_what_a_hop_takes_first(
    scoped: ScopedPostgresStore, postgres_database: Database
) -> None:
    strong = Relation(source_id=ADA.id, type="sees", target_id=BOB.id, confidence=0.9)
    weak = Relation(source_id=ADA.id, type="hears", target_id=EVE.id, confidence=0.8)
    await scoped.write(Batch(entities=(ADA, BOB, EVE), relations=(strong, weak)))
    await scoped.register_types([RelationType(name="sees", prior=0.5), RelationType(name="hears", prior=1.0)])
    assert scalar(postgres_database, "SELECT weight FROM graphsearch.relation WHERE type = 'sees'") == 0.45
    assert (await scoped.relation_types())["sees"].prior == 0.5


async def test_two_signatures_of_one_code_are_refused(
    scoped: ScopedPostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scoped.write(Batch(entities=(ADA,)))

    def same(signature: Signature) -> int:
        return 7

    monkeypatch.setattr(work, "code_of", same)
    await scoped.write(Batch(entities=(BOB,)))
    with pytest.raises(StoreError, match="another label"):
        await scoped.write(Batch(entities=(Entity(type="tool", name="Hammer"),)))
    assert (await scoped.statistics()).entities == 2


async def test_numbers_that_postgres_cannot_hold_are_refused(scoped: ScopedPostgresStore) -> None:
    with pytest.raises(InvalidInputError, match="whole number"):
        await scoped.write(Batch(counters={"read": 2**70}))


async def test_a_batch_of_new_and_stored_elements_writes_the_new(scoped: ScopedPostgresStore) -> None:
    await scoped.bind_embedder("m", 3)
    entities = [Entity(type="tool", name=f"hammer {part}", aliases=(f"mallet {part}",)) for part in range(10)]
    relations = [Relation(source_id=entities[0].id, type="near", target_id=each.id) for each in entities[1:]]
    vectors = {each.id: np.array([1, 2, place], np.float32) for place, each in enumerate(entities)}
    await scoped.write(Batch(entities=entities[:5], vectors={each.id: vectors[each.id] for each in entities[:5]}))
    report = await scoped.write(Batch(entities=entities, relations=relations, vectors=vectors))
    assert (report.entities, report.relations) == (5, 9)
    again = await scoped.write(Batch(entities=entities, relations=relations, vectors=vectors))
    assert (again.entities, again.relations) == (0, 0)
    assert {each.name for each in await scoped.list_entities()} == {each.name for each in entities}
    assert {each.id for each in await scoped.list_relations()} == {each.id for each in relations}
    assert [each.alias for each in await scoped.find_names([f"mallet {part}" for part in range(10)])] == [True] * 10


async def test_what_came_in_is_not_left_lying_in_the_connection(postgres_database: Database) -> None:
    async with PostgresGraphStore.open(postgres_database.dsn, max_connections=1) as store:
        scoped = store.with_scope(org_id="org", project_id="project")
        await scoped.write(Batch(entities=PEOPLE[:500]))
        async with store._gateway.pool.connection() as connection:
            assert await (await connection.execute("SELECT * FROM incoming_entity")).fetchall() == []


async def test_attributes_keep_nested_values(scoped: ScopedPostgresStore) -> None:
    attributes = {"a": {"b": [1, 2.5, None, True, {"c": "ü%s'"}]}, "empty": {}, "big": 10**30}
    await scoped.write(Batch(entities=(Entity(type="tool", name="Hammer", attributes=attributes),)))
    assert (await scoped.list_entities())[0].attributes == attributes


NOW = datetime(2026, 1, 1, tzinfo=UTC)
PEOPLE = sorted((Entity(type="person", name=f"Person {n}") for n in range(2_500)), key=lambda e: e.id)
KNOWN = tuple(Relation(source_id=source.id, type="knows", target_id=target.id) for source, target in pairwise(PEOPLE))
THERE = 5


@pytest.fixture
def other() -> GraphStore:
    return InMemoryGraphStore(clock=SystemClock()).with_scope(org_id="org", project_id="project")


async def test_few_that_are_there_are_found_among_many_that_are_new(
    scoped: ScopedPostgresStore, other: GraphStore
) -> None:
    renamed = attrs.evolve(PEOPLE[THERE], description="as it was", created_at=NOW)
    there = attrs.evolve(KNOWN[THERE], fact="as it was", labels=("old",), created_at=NOW)
    ends = (renamed, PEOPLE[THERE + 1])
    everybody = tuple(attrs.evolve(each, created_at=NOW) for each in PEOPLE)
    everything = tuple(attrs.evolve(each, created_at=NOW) for each in KNOWN)
    for store in (scoped, other):
        await store.write(Batch(entities=ends, relations=(there,)))
        assert (await store.write(Batch(entities=everybody))).entities == len(everybody) - 1
        assert (await store.write(Batch(relations=everything))).relations == len(everything)
        await store.settle()
    for read in ("list_entities", "list_relations"):
        ours, theirs = [await getattr(store, read)(limit=10_000) for store in (scoped, other)]
        assert [attrs.evolve(each, created_at=None) for each in ours] == [
            attrs.evolve(each, created_at=None) for each in theirs
        ]
    assert (await scoped.statistics()) == (await other.statistics())


async def test_claims_fold_into_a_relation_that_was_given_among_many_new_ones(
    scoped: ScopedPostgresStore, other: GraphStore
) -> None:
    memory = Memory(id="m", text="who knows whom", created_at=NOW)
    claims = tuple(
        Claim(memory_id="m", source_id=each.source_id, type=each.type, target_id=each.target_id, confidence=0.9)
        for each in KNOWN
    )
    for store in (scoped, other):
        await store.write(Batch(entities=tuple(PEOPLE), relations=(KNOWN[THERE],)))
        report = await store.write(Batch(memories=(memory,), claims=claims))
        assert report.relations == len(KNOWN)
        found = await store.list_relations(limit=10_000)
        assert {each.confidence for each in found} == {0.9}
        assert {each.evidence for each in found} == {("m",)}
