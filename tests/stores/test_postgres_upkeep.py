"""What searches by words and by names read follows from rows, however they came to be as they are."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

import attrs
import psycopg
import pytest

from graphsearch.model import Entity, Memory, Scope
from graphsearch.protocols.rows import EntityRow, Entry, MemoryRow
from graphsearch.stores.in_postgres.index import upkeep
from graphsearch.stores.in_postgres.index.upkeep import Upkeep
from graphsearch.stores.in_postgres.read.rows import RowReads
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from tests.fix_postgres import Database

TABLES = {
    "entity_posting": "term, id::text, frequency, length",
    "memory_posting": "term, id, frequency, length",
    "term": "kind, term, documents",
    "tally": "kind, documents, total_length",
    "name_posting": "term, size, entity_id::text, ordinal, position",
    "entity_alias": "entity_id::text, ordinal, name, hash",
    "entity_words": "id::text, words::text",
}
WORDS = "ada bob copper kettle likes the river Øresund c++ naïve".split()  # noqa: SIM905 - as it is read


def contents(database: Database, scope: Scope) -> dict[str, list[Any]]:
    with psycopg.connect(database.admin_dsn) as connection:
        return {
            table: connection.execute(
                f"SELECT {columns} FROM graphsearch.{table} WHERE project_id = %s ORDER BY {columns}".encode(),  # noqa: S608
                (scope.project_id,),
            ).fetchall()
            for table, columns in TABLES.items()
        }


async def changed(
    store: ScopedPostgresStore, before: Mapping[str, Mapping[Any, Any]], after: Mapping[str, Mapping[Any, Any]]
) -> None:
    """One transaction that turns some rows into others; those of entities are stored as well, for their words."""
    async with store._gateway.writing(store.scope, create=True) as session:
        kept = Upkeep(session)
        for kind in after:
            old, new = before.get(kind, {}), after[kind]
            rows = [row for key, row in new.items() if old.get(key) != row]
            await kept.put(kind, rows, {row.key: old[row.key] for row in rows if row.key in old})
            await kept.drop(kind, {key: old[key] for key in old.keys() - new.keys() if kind != "words"})
        await kept.finish(partial(RowReads(session).rows, "entity"))
        await session.flush()


def world(choice: random.Random) -> dict[str, dict[Any, Any]]:
    """Some entities and memories, of few ids and words."""

    def text(most: int) -> str:
        return " ".join(choice.choices(WORDS, k=choice.randint(1, most)))

    entities = {
        key: EntityRow(
            attrs.evolve(
                Entity(type="thing", name=text(2), aliases=tuple({text(2) for _ in range(choice.randint(0, 3))})),
                id=key,
                description=text(5),
                merged_into=UUID(int=99) if choice.random() < 0.1 else None,
            ),
            given_type="thing",
        )
        for key in map(UUID, map("{:032x}".format, choice.sample(range(1, 9), 5)))
    }
    memories = {key: MemoryRow(Memory(id=key, text=text(8))) for key in choice.sample("abcdefgh", 5)}
    words = {key: Entry(key, {choice.choice(WORDS): choice.random()}) for key in choice.sample(sorted(entities), 2)}
    return {"entity": entities, "memory": memories, "words": words}


@pytest.mark.parametrize("waiting", [2, upkeep.WAITING])
async def test_the_index_follows_from_the_rows(
    postgres_store: PostgresGraphStore, postgres_database: Database, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    monkeypatch.setattr(upkeep, "WAITING", waiting)
    monkeypatch.setattr(upkeep, "TOGETHER", 7)
    choice = random.Random(7)  # noqa: S311 - not for secrets
    before: dict[str, dict[Any, Any]] = {}
    changing = postgres_store.with_scope(org_id="org", project_id="changed")
    for step in range(8):
        after = world(choice)
        known = {key: each for key, each in before.get("words", {}).items() if key in after["entity"]}
        after["words"] = {**known, **after["words"]}
        await changed(changing, before, after)
        anew = postgres_store.with_scope(org_id="org", project_id=f"new {step}")
        await changed(anew, {}, after)
        assert contents(postgres_database, changing.scope) == contents(postgres_database, anew.scope)
        before = after
    await changed(changing, before, {kind: {} for kind in before})
    assert not any(rows for table, rows in contents(postgres_database, changing.scope).items() if table != "tally")


async def test_nothing_stays_of_a_text_that_was_analysed_differently(
    postgres_store: PostgresGraphStore, postgres_database: Database
) -> None:
    store = postgres_store.with_scope(org_id="org", project_id="project")
    before = world(random.Random(1))  # noqa: S311 - not for secrets
    kept = {kind: dict(list(rows.items())[:2]) for kind, rows in before.items() if kind != "words"}
    await changed(store, {}, {**before, "words": {}})
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        for table in ("memory_posting", "entity_posting", "name_posting", "term"):
            connection.execute(f"UPDATE graphsearch.{table} SET term = term || '\N{COMBINING DIAERESIS}'".encode())  # noqa: S608
    await changed(store, before, kept)
    found = contents(postgres_database, store.scope)
    assert {id_ for _, id_, *_ in found["memory_posting"]} == set(kept["memory"])
    ids = {str(key) for key, row in before["entity"].items() if key in kept["entity"]}
    assert {id_ for _, id_, *_ in found["entity_posting"]} <= ids
    assert {id_ for _, _, id_, *_ in found["name_posting"]} <= ids
    await changed(store, kept, {kind: {} for kind in kept})
    found = contents(postgres_database, store.scope)
    assert not any(rows for table, rows in found.items() if table.endswith("_posting"))
