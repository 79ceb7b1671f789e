"""Vectors of new entities in bulk are stored in the rows of these: found all the same, and moved by settling."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.model import Batch, ElementKind, Entity, Memory, Mention, NameMatch, Vector, View
from graphsearch.stores.in_postgres.index import indexing
from graphsearch.stores.in_postgres.index.incoming import name_hashes
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON, FixedClock
from tests.fix_postgres import Database

VIEW = View(NOON, NOON)
MANY = [Entity(type="tool", name=f"Tool {n}", created_at=NOON) for n in range(40)]


def vectors_of(entities: Sequence[Entity], seed: int = 0) -> dict[Any, Vector]:
    rows = np.random.default_rng(seed).standard_normal((len(entities), 8)).astype(np.float32)
    return {entity.id: row for entity, row in zip(entities, rows, strict=True)}


@pytest.fixture
async def tools(postgres_database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScopedPostgresStore]:
    monkeypatch.setattr(indexing, "BULK", 20)
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as opened:
        store = opened.with_scope(org_id="o", project_id="p")
        await store.bind_embedder("m", 8)
        await store.write(Batch(entities=MANY, vectors=vectors_of(MANY)))
        yield store


@pytest.fixture
def unmoved(postgres_database: Database) -> Any:
    def count() -> int:
        with psycopg.connect(postgres_database.admin_dsn) as connection:
            query = "SELECT count(*) FROM graphsearch.entity WHERE embedding IS NOT NULL"
            found = connection.execute(query).fetchone()
            assert found is not None
            return int(found[0])

    return count


async def near(store: ScopedPostgresStore, seed: int = 0) -> list[Any]:
    """The order of all entities by distance from each of five vectors."""
    found = []
    for asked in list(vectors_of(MANY, seed).values())[:5]:
        hits = await store.search_by_embedding(ElementKind.ENTITY, asked, limit=100, view=VIEW)
        found.append((store.entity_ids(hits.keys), hits.values.tolist()))
    return found


async def test_new_vectors_are_found_before_and_after_settling(tools: ScopedPostgresStore, unmoved: Any) -> None:
    assert unmoved() == len(MANY)
    before = await near(tools)
    assert [ids[0] for ids, _ in before] == [each.id for each in MANY[:5]]
    assert {len(ids) for ids, _ in before} == {len(MANY)}
    await tools.settle(step=15)
    assert unmoved() == 0
    assert await near(tools) == before
    assert await tools.settle() == 0


async def test_a_vector_replaces_one_that_waits(tools: ScopedPostgresStore, unmoved: Any) -> None:
    others = vectors_of(MANY, 1)
    await tools.write(Batch(vectors={each.id: others[each.id] for each in MANY[:7]}))
    assert unmoved() == len(MANY) - 7
    found = await near(tools, 1)
    assert [ids[0] for ids, _ in found] == [each.id for each in MANY[:5]]
    assert {len(ids) for ids, _ in found} == {len(MANY)}


async def test_a_waiting_vector_goes_with_its_entity(
    tools: ScopedPostgresStore, unmoved: Any, postgres_database: Database
) -> None:
    await tools.delete(entities=[each.id for each in MANY[:10]])
    assert {len(ids) for ids, _ in await near(tools)} == {len(MANY) - 10}
    await tools.settle()
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        query = """SELECT (SELECT count(*) FROM graphsearch.entity_embedding),
            (SELECT vectors FROM graphsearch.tally WHERE kind = 'entity' AND project_id = 'p')"""
        assert connection.execute(query).fetchone() == (30, 30)


async def test_bulks_with_vectors_of_some_are_found_too(tools: ScopedPostgresStore, unmoved: Any) -> None:
    await tools.settle()
    more = [Entity(type="tool", name=f"Machine {n}", created_at=NOON) for n in range(30)]
    await tools.write(Batch(entities=more, vectors=vectors_of(more[:29])))
    assert unmoved() == 0
    assert {len(ids) for ids, _ in await near(tools)} == {len(MANY) + 29}


async def test_every_fault_among_vectors_of_new_entities_is_reported(tools: ScopedPostgresStore) -> None:
    more = [Entity(type="tool", name=f"Machine {n}", created_at=NOON) for n in range(30)]
    wrong = vectors_of(more) | {
        more[3].id: np.zeros(8, np.float32),
        more[7].id: np.full(8, np.nan, np.float32),
        more[9].id: np.full(8, 1e6, np.float32),
    }
    with pytest.raises(InvalidInputError) as raised:
        await tools.write(Batch(entities=more, vectors=wrong))
    faults = "\n".join(raised.value.faults)
    assert faults.count("must not be zero") == 1
    assert faults.count("must be finite") == 2
    assert await tools.get_entities([each.id for each in more]) == []
    with pytest.raises(EmbeddingModelError):
        await tools.write(Batch(entities=more, vectors={each.id: np.ones(4, np.float32) for each in more}))


async def test_names_of_new_entities_are_found_before_and_after_settling(
    tools: ScopedPostgresStore, unmoved: Any
) -> None:
    merged, kept = MANY[3], MANY[4]
    await tools.merge(merged.id, kept.id)
    asked = [each.name for each in MANY] + ["Nothing"]
    before = await tools.find_names(asked)
    assert {match.entity_id for match in before} == {each.id for each in MANY if each is not merged}
    assert NameMatch(name=merged.name, entity_id=kept.id, alias=True) in before
    assert unmoved() > 0
    await tools.settle()
    assert await tools.find_names(asked) == before


async def test_names_are_read_by_index_whatever_the_planner_guesses(tools: ScopedPostgresStore) -> None:
    await tools.settle()
    values = {"names": ["Tool 1"], "folded": ["tool 1"], "hashes": name_hashes(["tool 1"]).tolist()}
    async with tools._gateway.reading(tools.scope) as session:
        explained = await session.run(b"EXPLAIN " + statement("find names"), **values)
        assert "entity_name_hash on entity e" in "".join(line for (line,) in explained.rows)


async def test_a_vector_stays_that_comes_with_the_mention_that_gives_the_type(
    tools: ScopedPostgresStore, unmoved: Any
) -> None:
    kites = [Entity(type="concept", name=f"Kite {n}", created_at=NOON) for n in range(30)]
    memory = Memory(id="m", text="Kite 0, a tool", created_at=NOON)
    typed_mention = Mention(memory_id="m", entity_id=kites[0].id, surface="Kite 0", type="tool")
    rows = vectors_of(kites, 2)
    report = await tools.write(Batch(named=kites, vectors=rows, memories=[memory], mentions=[typed_mention]))
    assert report.reworded == ()
    assert [each.type for each in await tools.get_entities([kites[0].id])] == ["tool"]
    assert (await near(tools, 2))[0][0][0] == kites[0].id
    assert {len(ids) for ids, _ in await near(tools)} == {len(MANY) + len(kites)}
    again = Mention(memory_id="m", entity_id=kites[1].id, surface="Kite 1", type="tool")
    report = await tools.write(Batch(memories=[memory], mentions=[again]))
    assert set(report.reworded) == {kites[0].id, kites[1].id}
    assert {len(ids) for ids, _ in await near(tools)} == {len(MANY) + len(kites) - 2}
