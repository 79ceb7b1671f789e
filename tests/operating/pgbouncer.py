"""PgBouncer in front of a server, in transaction mode."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.operating.servers import user
from tests.waiting import until_then

PGBOUNCER = shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
_SETTINGS = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = {processes}
logfile = {folder}/pgbouncer.log
"""


@contextmanager
def pooled(dsn: str, folder: Path, *, processes: int) -> Iterator[str]:
    """The DSN of the same database through PgBouncer, whose clients share some processes of the server."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    parts = conninfo_to_dict(dsn)
    settings = folder / "pgbouncer.ini"
    server = {"host": parts["host"], "port": parts.get("port") or 5432, "user": parts["user"]}
    settings.write_text(_SETTINGS.format(**server, folder=folder, processes=processes))
    with subprocess.Popen(
        [str(PGBOUNCER), str(settings)], user=user(), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait(folder / ".s.PGSQL.6432", process)
            yield make_conninfo(dsn, host=str(folder), port="6432")
        finally:
            process.terminate()


def _wait(address: Path, process: subprocess.Popen[bytes]) -> None:
    def listens() -> bool:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as trying:
            trying.connect(str(address))
            return True
        assert process.poll() is None, (address.parent / "pgbouncer.log").read_text()
        return False

    until_then(listens)
