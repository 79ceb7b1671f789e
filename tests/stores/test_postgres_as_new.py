from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import attrs
import pytest
from psycopg.errors import UniqueViolation

from graphsearch._support.timing import SystemClock
from graphsearch.model import Batch, Claim, ElementKind, Entity, Memory, Relation
from graphsearch.protocols import GraphStore
from graphsearch.stores.in_postgres.index.bulk import LOOKED_FOR, as_new
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PEOPLE = sorted((Entity(type="person", name=f"Person {n}") for n in range(2 * LOOKED_FOR + 500)), key=lambda e: e.id)
KNOWN = tuple(Relation(source_id=source.id, type="knows", target_id=target.id) for source, target in pairwise(PEOPLE))
UNSEEN = 5
"""A place among these that is not looked up."""


@pytest.fixture
def scoped(postgres_store: PostgresGraphStore) -> ScopedPostgresStore:
    return postgres_store.with_scope(org_id="org", project_id="project")


@pytest.fixture
def other() -> GraphStore:
    return InMemoryGraphStore(clock=SystemClock()).with_scope(org_id="org", project_id="project")


async def test_few_that_are_there_are_found_among_many_that_are_new(
    scoped: ScopedPostgresStore, other: GraphStore
) -> None:
    renamed = attrs.evolve(PEOPLE[UNSEEN], description="as it was", created_at=NOW)
    there = attrs.evolve(KNOWN[UNSEEN], fact="as it was", labels=("old",), created_at=NOW)
    ends = (renamed, PEOPLE[UNSEEN + 1])
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
        await store.write(Batch(entities=tuple(PEOPLE), relations=(KNOWN[UNSEEN],)))
        report = await store.write(Batch(memories=(memory,), claims=claims))
        assert report.relations == len(KNOWN)
        found = await store.list_relations(limit=10_000)
        assert {each.confidence for each in found} == {0.9}
        assert {each.evidence for each in found} == {("m",)}


async def test_other_keys_that_are_there_are_refused_as_ever(scoped: ScopedPostgresStore) -> None:
    await scoped.write(Batch(entities=tuple(PEOPLE[:2])))

    async def put(fresh: bool) -> None:
        assert fresh
        await session.run(b"INSERT INTO scope SELECT * FROM scope WHERE org_id = %(org)s")

    session: Session
    with pytest.raises(Exception, match="scope_pkey") as caught:
        async with scoped._gateway.writing(scoped.scope) as session:
            await as_new(session, ElementKind.ENTITY, PEOPLE[2:], put)
    assert isinstance(caught.value.__cause__, UniqueViolation)
