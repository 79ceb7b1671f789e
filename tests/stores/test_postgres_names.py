"""Names in Postgres: by indexes alone, as the app role, settled or not."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest

from graphsearch.errors import MigrationError
from graphsearch.model import Batch, Entity, Memory, Mention
from graphsearch.stores.in_postgres.index import indexing
from graphsearch.stores.in_postgres.read.names import unnamed
from graphsearch.stores.in_postgres.session import migrating
from graphsearch.stores.in_postgres.session.migrating import migrate
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.samples import person
from tests.fix_postgres import APP_ROLE, Database


def people(count: int) -> list[Entity]:
    """With names made of syllables; as in real names, a few beginnings and ends are frequent, most are rare."""
    draw = random.Random(7)  # noqa: S311 - the same names every time
    syllables = [a + b + c for a in "bdfghjklmnprstvz" for b in "aeiou" for c in ("", "l", "n", "r", "s", "th")]

    def word() -> str:
        return "".join(draw.choices(syllables, k=draw.choice([2, 3]))).title()

    return [person(f"{word()} {word()} {at}", aliases=(f"{word()}{at}",)) for at in range(count)]


@pytest.fixture
def scoped(postgres_store: PostgresGraphStore) -> ScopedPostgresStore:
    return postgres_store.with_scope(org_id="org", project_id="project")


async def answers(store: ScopedPostgresStore) -> Any:
    known = people(4)
    names = [known[3].name, known[2].name.replace("a", "o"), known[1].aliases[0], f"{known[0].name[2:]}5", "nobody"]
    words = [known[3].name.split()[0].lower(), known[2].name.split()[1].lower(), "x"]
    return (
        await store.find_names(names),
        await store.find_name_words(words, limit=5),
        await store.find_name_words([words[0][:3], words[1][:2], "zo"], prefix=True, limit=5),
        await store.similar_names(names, threshold=0.6),
        await store.similar_names(names, threshold=0.85, limit=3),
    )


async def test_answers_are_the_same_before_and_after_settling(
    scoped: ScopedPostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "BULK", 50)
    everybody = people(300)
    await scoped.write(Batch(entities=everybody[:20]))
    await scoped.write(
        Batch(
            entities=everybody[20:],
            memories=(Memory(id="m"),),
            mentions=(Mention(memory_id="m", entity_id=everybody[40].id, surface="Nobody"),),
        )
    )
    merged = await scoped.merge(everybody[50].id, everybody[60].id)
    await scoped.mark_distinct([(everybody[70].id, everybody[170].id)])
    async with scoped._gateway.reading(scoped.scope) as session:
        assert len(await unnamed(session)) > 200
    before = await answers(scoped)
    assert await scoped.settle() > 200
    async with scoped._gateway.reading(scoped.scope) as session:
        assert await unnamed(session) == []
    assert await answers(scoped) == before
    await scoped.undo_merge(merged.id)
    assert len(await scoped.find_names([everybody[50].name])) == 1


async def test_lookups_read_no_table_from_end_to_end(
    scoped: ScopedPostgresStore, postgres_store: PostgresGraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scoped.write(Batch(entities=people(4_000)))
    await scoped.settle()
    other = postgres_store.with_scope(org_id="other", project_id="project")
    await other.write(Batch(entities=people(10)))
    plans: list[str] = []

    def explained(run: Any) -> Any:
        async def explaining(session: Session, query: bytes, **values: Any) -> Any:
            plan = await run(session, b"EXPLAIN " + query, **values)
            plans.append("\n".join(line for (line,) in plan.rows))
            return await run(session, query, **values)

        return explaining

    for name in ("run", "run_kept"):
        monkeypatch.setattr(Session, name, explained(getattr(Session, name)))
    for store in (scoped, other):
        await answers(store)
    monkeypatch.undo()
    assert len(plans) >= 10
    for plan in plans:
        read = [line for line in plan.splitlines() if "Seq Scan" in line]
        assert not any(table in line for line in read for table in ("entity", "name_posting", "entity_alias")), plan


async def test_a_scope_without_the_extension_is_refused(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "_EXTENSION", "no_such_extension")
    with pytest.raises(MigrationError, match="vector"):
        await migrate(empty_database.admin_dsn, app_role=APP_ROLE)


async def test_every_way_to_find_a_name_forgets_it(scoped: ScopedPostgresStore, postgres_database: Database) -> None:
    xyzzy, other = person("Xyzzy Plugh"), person("Other")
    await scoped.write(
        Batch(
            entities=(other,),
            named=(xyzzy,),
            memories=(Memory(id="a"), Memory(id="b")),
            mentions=(
                Mention(memory_id="a", entity_id=xyzzy.id, surface="Xyzzy Plugh"),
                Mention(memory_id="a", entity_id=other.id, surface="Frobozz"),
                Mention(memory_id="b", entity_id=xyzzy.id, surface="Somebody"),
            ),
        )
    )
    merged = await scoped.merge(xyzzy.id, other.id)
    await scoped.forget(["a"])
    await scoped.undo_merge(merged.id)
    with psycopg.connect(postgres_database.admin_dsn) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r'"
        )
        for (table,) in tables.fetchall():
            left = connection.execute(f"SELECT t::text FROM graphsearch.{table} t".encode()).fetchall()  # noqa: S608 - names of tables
            assert not [row for row in left if any(word in str(row).lower() for word in ("xyz", "plugh", "frob"))], (
                table
            )
