"""The conformance suite over the example of a store in a file of SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from examples import sqlite_store
from examples.sqlite_store import SqliteGraphStore
from graphsearch.errors import UnknownScopeError
from graphsearch.model import Batch, Memory
from graphsearch.protocols.rows import KINDS
from graphsearch.testing.conformance import StoreConformance
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import ADA, BOB
from graphsearch.testing.spec_moving import lived_in
from graphsearch.testing.spec_rows import every_row, plain


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sqlite") / "graphs.db"


class TestSqliteGraphStore(StoreConformance):
    @pytest.fixture
    def unscoped(self, clock: FixedClock, path: Path) -> Iterator[SqliteGraphStore]:
        with closing(SqliteGraphStore(path, clock=clock)) as store:
            yield store


async def test_all_rows_are_there_when_the_file_is_opened_again(path: Path) -> None:
    with closing(SqliteGraphStore(path)) as first, closing(SqliteGraphStore(path)) as second:
        one, other = (each.with_scope(org_id="again", project_id="p") for each in (first, second))
        await lived_in(one)
        for kind in KINDS:
            assert plain(await every_row(other, kind)) == plain(await every_row(one, kind))
        assert await other.scope_row() == await one.scope_row()
        codes = [code for row in await one.page("entity") if (code := row.signature)]
        assert await other.signatures(codes) == await one.signatures(codes)


async def test_two_that_have_a_file_open_see_what_the_other_writes(path: Path) -> None:
    with closing(SqliteGraphStore(path)) as first, closing(SqliteGraphStore(path)) as second:
        one, other = (each.with_scope(org_id="shared", project_id="p") for each in (first, second))
        await one.write(Batch(entities=[ADA]))
        async with other.snapshot():
            await one.write(Batch(entities=[BOB]))
            assert [each.name for each in await other.list_entities()] == ["Ada"]
        await other.delete(entities=[ADA.id])
        assert [each.name for each in await one.list_entities()] == [each.name for each in await other.list_entities()]
        assert [each.name for each in await one.list_entities()] == ["Bob"]
        await other.remove_scope()
        with pytest.raises(UnknownScopeError):
            await one.list_entities()


async def test_a_file_has_no_byte_of_what_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "graphs.db"
    with closing(SqliteGraphStore(path)) as opened:
        store = opened.with_scope(org_id="o", project_id="p")
        await store.write(Batch(memories=[Memory(id="m", text="Ada has a secret.")]))
        assert b"has a secret" in path.read_bytes()
        await store.forget(["m"])
        assert b"has a secret" not in path.read_bytes()


async def test_what_was_not_committed_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(SqliteGraphStore(tmp_path / "graphs.db")) as opened:
        store = opened.with_scope(org_id="o", project_id="p")
        await store.write(Batch(entities=[ADA]))
        with monkeypatch.context() as patched:
            patched.setattr(sqlite_store, "store_changes", fail)
            with pytest.raises(OSError, match="disk is full"):
                await store.write(Batch(entities=[BOB]))
        assert [each.name for each in await store.list_entities()] == ["Ada"]
        await store.write(Batch(entities=[BOB]))
        assert len(await store.list_entities()) == 2


def fail(*_: object) -> int:
    raise OSError("the disk is full")


async def test_a_graph_in_a_file_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "notes.db")
    await sqlite_store.main(path, ["Ada Lane works at Acme."], "where does Ada Lane work?")
    await sqlite_store.main(path, [], "who works at Acme?")
    assert capsys.readouterr().out == "Ada Lane works_at Acme\n" * 2
