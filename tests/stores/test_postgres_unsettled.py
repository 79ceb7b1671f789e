"""What a bulk write leaves out of the indexes of a walk: found all the same, and entered there by settling."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs
import psycopg
import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor, IngestReport, RememberReport
from graphsearch.model import Batch, Claim, Entity, Memory, Relation, RelationType, View
from graphsearch.stores.in_postgres.index import indexing as deferred
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write import folds
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON, FixedClock
from tests.fix_postgres import Database

VIEW = View(NOON, NOON, min_edge_confidence=0.3)
COLUMNS = (
    *("near", "far", "outgoing", "relations", "confidence", "since", "feedback", "signatures"),
    *("far_signatures", "far_importance", "holding"),
)
ENTITIES = [Entity(type="person", name=f"Person {n}", created_at=NOON) for n in range(12)]
HUB, *OTHERS = ENTITIES


def relation(source: Entity, target: Entity, confidence: float, type_: str = "knows", **fields: Any) -> Relation:
    given = {"type": type_, "confidence": confidence, "created_at": NOON, **fields}
    return Relation(source_id=source.id, target_id=target.id, **given)


FEW = [relation(HUB, other, 0.35 + 0.05 * n) for n, other in enumerate(OTHERS)]
"""Fewer than a bulk: settled at once."""
BULK = [
    *(relation(HUB, other, 0.9 - 0.05 * n, "trusts", fact=f"trust {n}") for n, other in enumerate(OTHERS)),
    *(relation(one, other, 0.5, "trusts") for one, other in pairwise(OTHERS)),
    relation(HUB, HUB, 0.6, "praises"),
    relation(OTHERS[0], HUB, 0.2, "doubts"),
    relation(OTHERS[1], HUB, 0.8, "left", valid_to=NOON - timedelta(days=1)),
    relation(OTHERS[2], HUB, 0.8, "forgot", retracted_at=NOON),
]


@pytest.fixture
async def store(postgres_database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScopedPostgresStore]:
    monkeypatch.setattr(deferred, "BULK", 20)
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as opened:
        scoped = opened.with_scope(org_id="o", project_id="p")
        await scoped.write(Batch(entities=ENTITIES, relations=FEW))
        await scoped.write(Batch(relations=BULK))
        yield scoped


@pytest.fixture
def unsettled(postgres_database: Database) -> Any:
    def count() -> int:
        with psycopg.connect(postgres_database.admin_dsn) as connection:
            found = connection.execute("SELECT count(*) FROM graphsearch.relation WHERE NOT settled").fetchone()
            assert found is not None
            return int(found[0])

    return count


async def answers(store: ScopedPostgresStore) -> list[Any]:
    """Everything that is read by the ends of relations."""
    found: list[Any] = []
    for frontier in ([HUB.id], [each.id for each in ENTITIES]):
        keys = (await store.locate(frontier, view=VIEW)).keys
        for fan_out in (0, 1, 5, 25):
            steps = await store.expand(keys, fan_out=fan_out, view=VIEW)
            found.append({name: getattr(steps, name).tolist() for name in COLUMNS})
        found.append(await store.left_out(keys, view=VIEW))
    found.append(await store.degrees([each.id for each in ENTITIES]))
    found.append([await store.list_relations(entity_id=each.id) for each in ENTITIES[:3]])
    found.append((await store.statistics()).max_degree)
    return found


async def test_walks_find_the_same_before_and_after_settling(store: ScopedPostgresStore, unsettled: Any) -> None:
    assert unsettled() == len(BULK)
    before = await answers(store)
    assert before[3]["confidence"][:3] == [0.9, 0.85, 0.85]  # of the bulk, of the bulk, of the few
    assert await store.settle(step=10) >= len(BULK)
    assert unsettled() == 0
    assert await answers(store) == before
    assert await store.settle() == 0


async def test_a_step_of_nothing_is_refused(store: ScopedPostgresStore, unsettled: Any) -> None:
    for step in (0, -1):
        with pytest.raises(InvalidInputError, match="step"):
            await store.settle(step=step)
    assert unsettled() == len(BULK)


async def test_walks_find_what_would_have_been_written_at_once(
    store: ScopedPostgresStore, postgres_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    async with PostgresGraphStore.open(postgres_database.dsn, clock=FixedClock()) as opened:
        other = opened.with_scope(org_id="o", project_id="settled")
        await other.write(Batch(entities=ENTITIES, relations=FEW))
        await other.write(Batch(relations=BULK))
        assert await answers(other) == await answers(store)


async def test_only_new_relations_in_bulk_wait(store: ScopedPostgresStore, unsettled: Any) -> None:
    await store.settle()
    again = [attrs.evolve(each, fact=f"again {each.fact}") for each in BULK]
    await store.write(Batch(relations=[*again, relation(OTHERS[3], OTHERS[7], 0.5, "likes")]))
    assert unsettled() == 0


async def test_small_writes_settle_what_bulk_writes_left(store: ScopedPostgresStore, unsettled: Any) -> None:
    await store.write(Batch(relations=[relation(one, OTHERS[9], 0.5, "likes") for one in OTHERS[:3]]))
    assert 0 < unsettled() < len(BULK)
    for number in range(6):
        await store.write(Batch(relations=[relation(one, OTHERS[8], 0.5, f"likes {number}") for one in OTHERS[:3]]))
    assert unsettled() == 0
    assert await store.settle() == 0


async def test_a_changed_relation_is_still_found(store: ScopedPostgresStore, unsettled: Any) -> None:
    await store.write(Batch(relations=[attrs.evolve(BULK[0], confidence=0.31)]))
    keys = (await store.locate([HUB.id], view=VIEW)).keys
    steps = await store.expand(keys, fan_out=25, view=VIEW)
    assert dict(zip(store.relation_ids(steps.relations), steps.confidence, strict=True))[BULK[0].id] == 0.31
    assert unsettled() > 0


async def test_what_hangs_on_a_deleted_entity_goes(store: ScopedPostgresStore, unsettled: Any) -> None:
    assert unsettled() > 0
    report = await store.delete(entities=[HUB.id])
    assert report.relations_retracted == sum(HUB.id in (each.source_id, each.target_id) for each in [*FEW, *BULK])
    assert all(HUB.id not in (each.source_id, each.target_id) for each in await store.list_relations(limit=1_000))


async def test_claims_close_a_period_that_waits(store: ScopedPostgresStore, unsettled: Any) -> None:
    homes = [Entity(type="place", name=name, created_at=NOON) for name in ("Here", "There")]
    lives = [
        relation(one, homes[0], 0.9, "lives_in", valid_from=NOON - timedelta(days=9)) for one in (*OTHERS, *ENTITIES)
    ]
    await store.settle()
    await store.register_types([RelationType(name="lives_in", functional=True)])
    await store.write(Batch(entities=homes, relations=[*lives, *(relation(homes[0], each, 0.5) for each in ENTITIES)]))
    assert unsettled() > 0
    memory = Memory(id="m", text="moved", occurred_at=NOON - timedelta(days=2), created_at=NOON)
    claim = Claim(memory_id="m", source_id=HUB.id, type="lives_in", target_id=homes[1].id, confidence=0.9)
    await store.write(Batch(memories=[memory], claims=[claim]))
    waiting = await answers(store)
    await store.settle()
    assert await answers(store) == waiting


async def test_an_entity_with_unsettled_relations_is_not_isolated(store: ScopedPostgresStore, unsettled: Any) -> None:
    isolated = Entity(type="person", name="Nobody", created_at=NOON)
    memory = Memory(id="m", text="Nobody knows", created_at=NOON)
    ends = (OTHERS[0].id, isolated.id)
    claim = Claim(memory_id="m", source_id=ends[0], type="ignores", target_id=ends[1], confidence=0.9)
    await store.settle()
    await store.write(Batch(entities=[isolated], memories=[memory], claims=[claim]))
    assert unsettled() == 0
    await store.write(Batch(relations=[relation(one, two, 0.5, "calls") for one in OTHERS[:5] for two in OTHERS[:5]]))
    assert unsettled() == 25
    report = await store.forget(["m"])
    assert report.entities_removed == 1
    assert [each.id for each in await store.get_entities([*ends])] == [OTHERS[0].id]


async def test_what_a_small_write_touches_is_found_without_reading_all(
    store: ScopedPostgresStore, postgres_database: Database
) -> None:
    many = [Entity(type="tool", name=f"Tool {number}", created_at=NOON) for number in range(2_000)]
    await store.write(Batch(entities=many, relations=[relation(one, other, 0.5) for one, other in pairwise(many)]))
    await store.settle()
    with psycopg.connect(postgres_database.admin_dsn, autocommit=True) as connection:
        connection.execute("ANALYZE graphsearch.relation, graphsearch.entity")
    groups = folds.keys_of([(many[0].id, "knows")])
    async with store._gateway.writing(store.scope) as session:
        for name in (
            "relations of groups",
            "relations by original ends",
            "faded entities",
            "unmentioned entities",
        ):
            query = b"EXPLAIN " + statement(name)
            explained = await session.run(query, ids=[many[0].id], named=False, isolated=True, **groups)
            assert "Seq Scan on relation" not in "\n".join(line for (line,) in explained.rows)


async def test_what_a_run_that_was_cut_off_left_is_settled_by_the_next(
    store: ScopedPostgresStore, unsettled: Any, tmp_path: Path
) -> None:
    ingestor = Ingestor(GraphSearchEngine(store=store))
    tmp_path.joinpath("a.py").write_text("import b")
    runs: list[Callable[[], Awaitable[IngestReport | RememberReport]]] = [
        lambda: ingestor.add(tmp_path),
        lambda: ingestor.remember([Memory(id="m", text="Ada met Bob.")]),
    ]
    for run in runs:
        await run()
        await store.write(Batch(relations=[attrs.evolve(each, id=uuid4()) for each in BULK]))
        assert unsettled() == len(BULK)
        assert (await run()).changed == 0
        assert unsettled() == 0
