"""A graph store in one file of SQLite, for graphs that fit into memory: what it takes to put graphsearch on a database.

    python examples/sqlite_store.py notes.db "Ada works at Acme." "who works at Acme?"

A store is rows, searches and walks (`graphsearch.protocols.Store`); all else is written once, in `GraphStore`. Here
rows are JSON in a table of SQLite. A scope is read whole when it is first used, and again when another process has
changed it. Searches and walks are those of the store in memory, over columns that it makes of rows. A write collects
what it changes, as in memory; its rows are stored in one transaction of SQLite before any reader sees them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast
from uuid import UUID, uuid4, uuid5

import attrs
import numpy as np

from graphsearch import GraphSearchEngine, Ingestor, Memory
from graphsearch._support.concurrency import finished
from graphsearch._support.timing import SystemClock
from graphsearch.model import Injection, MemoryLink, RelationType, Scope
from graphsearch.model.codec import decode, encode
from graphsearch.model.proposals import Proposal
from graphsearch.model.stored import StoredMerge, StoredOutcome
from graphsearch.protocols import Clock
from graphsearch.protocols import rows as of
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_memory.port import MemoryPort
from graphsearch.stores.in_memory.rows import SignatureRow
from graphsearch.stores.in_memory.scope import InMemoryScope
from graphsearch.stores.in_memory.versions import Cell, Version
from graphsearch.text.analyser import ENGLISH, Analyser

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS file (secret TEXT NOT NULL, changes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS scope (
    org_id TEXT, project_id TEXT, changed INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (org_id, project_id)
);
CREATE TABLE IF NOT EXISTS row (
    org_id TEXT, project_id TEXT, kind TEXT, key TEXT, content TEXT NOT NULL,
    PRIMARY KEY (org_id, project_id, kind, key)
) WITHOUT ROWID;
"""
PATIENCE: Final = 60.0
"""Seconds that a writer waits for another one."""

CLASSES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "entity": of.EntityRow,
        "memory": of.MemoryRow,
        "mention": of.MentionRow,
        "claim": of.ClaimRow,
        "relation": of.RelationRow,
        "merge": StoredMerge,
        "community": of.CommunityRow,
        "member": of.MemberRow,
        "signature": SignatureRow,
    }
)
"""The class of the rows of a kind."""
ENTRIES: Final[Mapping[str, tuple[Any, Any]]] = MappingProxyType(
    {
        "link": (tuple[str, str, str], MemoryLink),
        "distinct": (tuple[UUID, UUID], None),
        "outcome": (tuple[str, str, str], StoredOutcome),
        "injection": (str, Injection),
        "session": (str, str),
        "proposal": (UUID, Proposal),
        "counter": (str, int),
        "type": (str, RelationType),
        "words": (UUID, Mapping[str, float]),
    }
)
"""The types of keys and values of all other kinds, but vectors."""


# -- rows as text ---------------------------------------------------------------------------------------------------


def written(kind: str, row: Any) -> str:
    """A row as JSON."""
    return json.dumps(encode(row) if kind in CLASSES else [encode(row.key), encode(row.value)])


def read(kind: str, text: str) -> Any:
    """The row of what was `written`."""
    content = json.loads(text)
    if kind in CLASSES:
        return decode(CLASSES[kind], content)
    key, value = content
    if kind.endswith(("_vector", "_shadow")):
        key = key if kind.startswith("memory") else UUID(key)
        return of.Entry(key, None if value is None else decode(np.ndarray, value))
    types = ENTRIES[kind]
    return of.Entry(decode(types[0], key), None if types[1] is None else decode(types[1], value))


def key_text(key: Any) -> str:
    """A key as text, a different one for each key."""
    return json.dumps(encode(key))


# -- the file -------------------------------------------------------------------------------------------------------


@attrs.frozen
class Stored:
    """A scope as it is in the file, and the number of the change that made it so."""

    changed: int
    scope: of.ScopeRow
    rows: Mapping[str, Mapping[Any, Any]]


class File:
    """The statements; each call has a connection of its own, so that any thread may call any of them."""

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)
        with self._connection() as connection:
            connection.executescript(SCHEMA)
            if connection.execute("SELECT secret FROM file").fetchone() is None:
                connection.execute("INSERT INTO file VALUES (?, 0)", [str(uuid4())])
            self.secret = UUID(connection.execute("SELECT secret FROM file").fetchone()[0])
        self._looking = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)

    def close(self) -> None:
        """Close the file."""
        self._looking.close()

    def changed(self, scope: Scope) -> int | None:
        """The number of the last change of a scope; None if it does not exist."""
        found = self._looking.execute(_CHANGED, _parts(scope)).fetchone()
        return None if found is None else cast("int", found[0])

    def stored(self, scope: Scope) -> Stored | None:
        """All of a scope."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            found = connection.execute(_SCOPE, _parts(scope)).fetchone()
            every = connection.execute(_ROWS, _parts(scope)).fetchall()
        if found is None:
            return None
        rows: dict[str, dict[Any, Any]] = {}
        for kind, text in every:
            row = read(kind, text)
            rows.setdefault(kind, {})[row.key] = row
        return Stored(found[0], decode(of.ScopeRow, json.loads(found[1])), rows)

    def begin(self) -> sqlite3.Connection:
        """A transaction that is the only writer of the file, of all processes."""
        connection = self._connect()
        connection.execute("BEGIN IMMEDIATE")
        return connection

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(self._connect()) as connection, connection:
            yield connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=PATIENCE, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves no bytes
        return connection


def store_changes(
    connection: sqlite3.Connection, scope: Scope, row: of.ScopeRow, changes: Mapping[str, Mapping[Any, Any]]
) -> int:
    """Write the changed rows of a scope, None for those that are gone; return the number of the change."""
    number = _next_change(connection)
    connection.execute(_PUT_SCOPE, [*_parts(scope), number, json.dumps(encode(row))])
    for kind, rows in changes.items():
        gone = ([*_parts(scope), kind, key_text(key)] for key, each in rows.items() if each is None)
        there = (
            [*_parts(scope), kind, key_text(key), written(kind, each)] for key, each in rows.items() if each is not None
        )
        connection.executemany(_DROP, gone)
        connection.executemany(_PUT, there)
    return number


def remove(connection: sqlite3.Connection, scope: Scope) -> None:
    """Delete a scope and its rows."""
    _next_change(connection)
    for statement in ("DELETE FROM row", "DELETE FROM scope"):
        connection.execute(f"{statement} WHERE org_id = ? AND project_id = ?", _parts(scope))


def _next_change(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("UPDATE file SET changes = changes + 1 RETURNING changes").fetchone()
    return cast("int", number)


def _parts(scope: Scope) -> tuple[str, str]:
    return scope.org_id, scope.project_id


_CHANGED: Final = "SELECT changed FROM scope WHERE org_id = ? AND project_id = ?"
_SCOPE: Final = "SELECT changed, content FROM scope WHERE org_id = ? AND project_id = ?"
_ROWS: Final = "SELECT kind, content FROM row WHERE org_id = ? AND project_id = ?"
_PUT_SCOPE: Final = "INSERT OR REPLACE INTO scope VALUES (?, ?, ?, ?)"
_PUT: Final = "INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?)"
_DROP: Final = "DELETE FROM row WHERE org_id = ? AND project_id = ? AND kind = ? AND key = ?"


# -- the store ------------------------------------------------------------------------------------------------------


class SqliteGraphStore:
    """A source of scopes in a file, which is made if there is none. Close it at the end."""

    def __init__(self, path: Path | str, *, clock: Clock | None = None, analyser: Analyser = ENGLISH) -> None:
        self._file = File(path)
        self._clock = clock or SystemClock()
        self._analyser = analyser
        self._cells: dict[Scope, FileCell] = {}

    def with_scope(self, *, org_id: str, project_id: str) -> SqliteScope:
        """The graph of one scope. Raises `InvalidInputError` if either part is empty."""
        scope = Scope(org_id, project_id)
        cell = FileCell(self._analyser, scope, self._file)
        return SqliteScope(scope, self._clock, self._cells.setdefault(scope, cell))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class FileCell(Cell):
    """The present version of one scope, read from the file."""

    def __init__(self, analyser: Analyser, scope: Scope, file: File) -> None:
        super().__init__(analyser, uuid5(file.secret, scope.org_id))
        self.scope = scope
        self.file = file
        self.changed: int | None = None
        """The number of the change that the present version shows."""

    def refresh(self) -> None:
        """Read the scope if another process has changed it; only for who holds the lock."""
        if self.file.changed(self.scope) == self.changed:
            return
        stored = self.file.stored(self.scope)
        if stored is None:
            self.version, self.changed = None, None
            return
        self.numbers = count(1 + max((row.number for row in stored.rows.get("signature", {}).values()), default=0))
        self.version = Version.of_nothing(stored.scope, self.analyser).advance(stored.rows, stored.scope)
        self.changed = stored.changed


class SqliteScope(InMemoryScope, GraphStore):
    """One scope of a `SqliteGraphStore`; a `graphsearch.stores.graph.GraphStore`."""

    _cell: FileCell

    @property
    def _version(self) -> Version:
        if self._cell.lock.acquire(blocking=False):  # else one who writes has seen to it
            try:
                self._cell.refresh()
            finally:
                self._cell.lock.release()
        return super()._version

    @asynccontextmanager
    async def writing(
        self,
        *,
        create: bool = False,
        alone: bool = True,  # noqa: ARG002 - all writers are
        changing: bool = False,  # noqa: ARG002 - of another store
        renewing: bool = False,  # noqa: ARG002 - of another store
    ) -> AsyncIterator[MemoryPort]:
        """Store what is written in one transaction; see `graphsearch.protocols.Store`."""
        async with self._transaction() as connection:
            port = self._begin(create=create)
            yield port
            if port.is_kept:
                cell = self._cell
                number = await finished(
                    asyncio.to_thread(store_changes, connection, cell.scope, port.scope, port.changes)
                )
                connection.execute("COMMIT")
                await port.commit()
                cell.changed = number

    async def remove_scope(self) -> None:
        """Delete the scope and everything in it."""
        async with self._transaction() as connection:
            remove(connection, self._cell.scope)
            connection.execute("COMMIT")
            self._cell.version, self._cell.changed = None, None

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[sqlite3.Connection]:
        """The only writer of the file, whose version is the present one; what is not committed is rolled back."""
        async with self._alone():
            connection = await finished(asyncio.to_thread(self._cell.file.begin))
            with closing(connection):
                await finished(asyncio.to_thread(self._cell.refresh))
                yield connection


# -- to try it ------------------------------------------------------------------------------------------------------


async def main(path: str, texts: Iterable[str], question: str) -> None:
    """Remember texts in a file, and ask a question."""
    with closing(SqliteGraphStore(path)) as opened:
        engine = GraphSearchEngine(store=opened.with_scope(org_id="examples", project_id="notes"))
        await Ingestor(engine).remember([Memory(id=text, text=text) for text in texts])
        for triplet in (await engine.search(question, mode="neighborhood")).triplets:
            print(triplet.source.name, triplet.relation.type, triplet.target.name)


if __name__ == "__main__":
    if len(sys.argv) < 4:  # noqa: PLR2004 - a file, a text and a question
        raise SystemExit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2:-1], sys.argv[-1]))
