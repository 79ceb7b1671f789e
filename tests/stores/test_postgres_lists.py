"""What makes lists, pages and forgetting fast in Postgres: reads by index, and no joins chosen by wrong estimates."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from graphsearch.model import Batch, Community, ElementKind, ElementRef, Entity, Injection, Memory, Scope
from graphsearch.stores.in_postgres.read.rows import page_of
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON

SCOPE = Scope("o", "p")


@pytest.fixture
async def store(postgres_store: PostgresGraphStore) -> ScopedPostgresStore:
    scoped = postgres_store.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    memories = [Memory(id=f"m{n:04}", session_id=f"s{n % 97}", source=f"f{n % 89}") for n in range(2_000)]
    await scoped.write(Batch(memories=memories))
    return scoped


async def plan(store: ScopedPostgresStore, query: bytes, **values: Any) -> str:
    async with store._gateway.reading(store.scope) as session:
        explained = await session.run(b"EXPLAIN " + query, **values)
        return "\n".join(line for (line,) in explained.rows)


async def test_memories_of_a_session_or_source_are_read_by_index(store: ScopedPostgresStore) -> None:
    for field, given in (("session", {"session_id": "s1"}), ("source", {"source": "f1"})):
        shown_plan = await plan(store, page_of("memory", tuple(given), (), follows=True), a="m0100", limit=10, **given)
        assert f"Index Scan using memory_{field} on memory e" in shown_plan
        assert f"({field}" in shown_plan.split("Index Cond:")[1].splitlines()[0]
        assert "Sort" not in shown_plan


async def test_a_page_begins_where_the_last_one_ended(store: ScopedPostgresStore) -> None:
    for kind in (ElementKind.ENTITY, ElementKind.RELATION):
        shown_plan = await plan(store, page_of(kind.value, (), (), follows=True), a=UUID(int=7), limit=10)
        assert f"Index Scan using {kind}_pkey on {kind} e" in shown_plan
        assert "id > " in shown_plan.split("Index Cond:")[1].splitlines()[0]


async def test_references_are_found_among_many(store: ScopedPostgresStore) -> None:
    elements = [ElementRef(ElementKind.MEMORY, f"m{n:04}") for n in range(50)]
    for number in range(20):
        injection = Injection(
            id=f"i{number}",
            session_id=f"s{number % 2}",
            principal="p",
            created_at=NOON,
            tokens=0,
            elements=elements[number : number + 30],
        )
        await store.log_injection(injection)
    assert (await store.forget(["m0000", "m0025", "m1999"])).references_removed == 21
    left = {element for each in await store.injections("s0") for element in each.elements}
    assert left == {each for each in elements[:48] if each.id not in {"m0000", "m0025"}}


async def test_thousands_of_communities_come_and_go(store: ScopedPostgresStore) -> None:
    people = sorted((Entity(type="person", name=f"P{n}") for n in range(3_000)), key=lambda each: each.id)
    await store.write(Batch(entities=people))
    ids = [each.id for each in people]
    found = [
        Community(
            id=UUID(int=n + 1), members=ids[n : n + 3], strengths=[1, 2, 3], density=1, top=ids[n : n + 2], label=""
        )
        for n in range(0, 3_000, 3)
    ]
    await store.write_communities(found)
    stored = await store.communities()
    assert [(each.id, each.members, each.strengths, each.top) for each in stored] == [
        (each.id, each.members, each.strengths, each.top) for each in found
    ]
    await store.delete(entities=[*ids[:2], *ids[3:4]])
    assert [each.size for each in await store.communities()] == [3] * 998 + [2]
