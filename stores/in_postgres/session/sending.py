"""Statements sent together: one round trip, and one wait, for all that the tasks of a snapshot ask at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import count
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import attrs
import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult

from graphsearch._support.concurrency import finished
from graphsearch.errors import StoreError
from graphsearch.model import Scope
from graphsearch.stores.in_postgres.session.statements import statement, with_literals
from graphsearch.stores.in_postgres.session.watching import unbroken

Connection: TypeAlias = psycopg.AsyncConnection[Any]

MOST_PLANS: Final = 200
"""Most statements that a connection keeps prepared."""
_FAILED: Final = (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED)
_numbers: Final = count()


@attrs.frozen(eq=False)
class Statement:
    """A statement with the values of its numbered parameters."""

    text: bytes
    values: Sequence[Any] = ()
    kept: bool = False
    """Whether the connection prepares it, and keeps its plan."""


@attrs.frozen(eq=False)
class Answer:
    """The result of a statement, decoded when it is asked for."""

    _result: PGresult
    _connection: Connection

    @property
    def count(self) -> int:
        """The number of rows that were changed or returned."""
        return self._result.command_tuples or 0

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""
        loading = Transformer(self._connection)
        loading.set_pgresult(self._result)
        return loading.load_rows(0, self._result.ntuples, tuple)

    @property
    def dicts(self) -> list[dict[str, Any]]:
        """All rows, each by column name."""
        names = [(self._result.fname(column) or b"").decode() for column in range(self._result.nfields)]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    @property
    def packed(self) -> list[bytes]:
        """The columns of the only row as the server sent them, empty for NULL."""
        return [self._result.get_value(0, column) or b"" for column in range(self._result.nfields)]


# -- one round trip -----------------------------------------------------------------------------------------------


Key: TypeAlias = tuple[bytes, tuple[int, ...]]
"""The text of a statement, and the types of its parameters."""


@attrs.define(eq=False)
class Plans:
    """The statements that a connection has prepared, by name."""

    allowed: bool
    names: dict[Key, bytes] = attrs.field(factory=dict)

    @classmethod
    def of(cls, connection: Connection) -> Plans:
        """Those of a connection. From then on psycopg prepares none: after a rollback it would drop all there are."""
        found = _plans.get(connection)
        if found is None:
            found = _plans[connection] = cls(connection.prepare_threshold is not None)
            connection.prepare_threshold = None
        return found


_plans: Final[WeakKeyDictionary[Connection, Plans]] = WeakKeyDictionary()


async def send_together(connection: Connection, statements: Sequence[Statement]) -> list[Answer]:
    """Send statements in one round trip; return their answers. Raises the error of the first that fails.

    psycopg's own pipeline waits for each statement, which takes the client three times as long.
    """
    plans = Plans.of(connection)
    preparing: dict[int, tuple[Key, bytes]] = {}
    commands: list[Callable[[], None]] = []
    answering: list[int] = []
    for each in statements:
        dumping = Transformer(connection)
        values = dumping.dump_sequence(each.values, [PyFormat.AUTO] * len(each.values))
        types, formats, pgconn = tuple(dumping.types or ()), dumping.formats, connection.pgconn
        if each.kept and plans.allowed:
            key = (each.text, types)
            name = plans.names.get(key) or next((new for known, new in preparing.values() if known == key), None)
            if name is None:
                name = b"graphsearch_%d" % next(_numbers)
                preparing[len(commands)] = key, name
                commands.append(partial(pgconn.send_prepare, name, each.text, types))
            answering.append(len(commands))
            commands.append(partial(pgconn.send_query_prepared, name, values, formats, Format.BINARY))
        else:
            answering.append(len(commands))
            commands.append(partial(pgconn.send_query_params, each.text, values, types, formats, Format.BINARY))
    while plans.names and len(plans.names) + len(preparing) > MOST_PLANS:
        dropped = plans.names.pop(next(iter(plans.names)))
        commands.append(partial(connection.pgconn.send_query_params, b"DEALLOCATE " + dropped, None))
    results = await connection.wait(_exchange(connection.pgconn, commands))
    plans.names.update(made for place, made in preparing.items() if results[place].status == ExecStatus.COMMAND_OK)
    for result in results:
        if result.status in _FAILED:
            error = error_from_result(result, connection.info.encoding)
            if isinstance(error, InvalidSqlStatementName):  # somebody else dropped what was prepared
                plans.names.clear()
            raise error
    return [Answer(results[place], connection) for place in answering]


def _exchange(pgconn: PGconn, commands: Sequence[Callable[[], None]]) -> PQGen[list[PGresult]]:
    """The result of each command of a pipeline."""
    pgconn.enter_pipeline_mode()
    for command in commands:
        command()
    pgconn.pipeline_sync()
    yield from send(pgconn)
    results: list[PGresult] = []
    for _ in commands:
        results += yield from fetch_many(pgconn)
    yield from fetch_many(pgconn)  # of the synchronisation
    pgconn.exit_pipeline_mode()
    return results


# -- those of several tasks ---------------------------------------------------------------------------------------


@attrs.define(eq=False)
class _Asked:
    """A statement waiting to be sent, and its outcome."""

    scope: Scope
    statement: Statement
    outcome: Answer | Exception = attrs.field(factory=lambda: StoreError("a statement was not sent"))


@attrs.define(eq=False)
class Sender:
    """Sends the statements of one connection, in the order of their requests, each in the scope of its session.

    ``scope`` is that which the transaction is in.
    """

    connection: Connection
    scope: Scope
    _asked: list[_Asked] = attrs.field(factory=list)
    _turn: asyncio.Lock = attrs.field(factory=asyncio.Lock)
    _closed: bool = False

    def later(self, scope: Scope, statement: Statement) -> _Asked:
        """Let a statement be sent with the next one; what is wrong with it is raised then."""
        self._asked.append(_Asked(scope, statement))
        return self._asked[-1]

    async def execute(self, scope: Scope, statement: Statement) -> Answer:
        """The answer to a statement in a scope. Raises `StoreError` when the snapshot has ended."""
        mine = self.later(scope, statement)
        await asyncio.sleep(0)  # other tasks may be about to request theirs
        return await self._answer(mine)

    async def flush(self) -> None:
        """Send what waits to be sent."""
        if self._asked:
            await self._answer(self._asked[-1])

    async def _answer(self, mine: _Asked) -> Answer:
        async with self._turn:
            if self._closed:
                raise StoreError("the snapshot of this read has ended: await its reads inside")
            if mine in self._asked:
                await unbroken(self._send())
        if isinstance(mine.outcome, Exception):
            raise mine.outcome
        return mine.outcome

    async def close(self) -> None:
        """Refuse all statements from now on; one that is being sent for another task has ended first."""
        self._closed = True
        if self._turn.locked():
            try:
                await finished(self._turn.acquire())
            finally:
                self._turn.release()  # whoever waits is refused

    async def _send(self) -> None:
        """Send all that waits. A failure fails all of it: the transaction is aborted."""
        together, self._asked = self._asked, []
        sending: list[Statement] = []
        places: list[int] = []
        for each in together:
            if each.scope != self.scope:  # whose rows alone row-level security shows from then on
                sending += entering(each.scope)
                self.scope = each.scope
            places.append(len(sending))
            sending.append(each.statement)
            each.outcome = psycopg.OperationalError("a statement that was sent with this one was cancelled")
        try:
            answers = await send_together(self.connection, sending)
            for each, place in zip(together, places, strict=True):
                each.outcome = answers[place]
        except Exception as error:  # noqa: BLE001 - raised for each of those who asked
            for each in together:
                each.outcome = error


@lru_cache(maxsize=1_024)
def entering(scope: Scope) -> Sequence[Statement]:
    """The statements that move an open transaction to a scope."""
    return literal_statements("enter scope", org=scope.org_id, project=scope.project_id)


def literal_statements(name: str, **values: Any) -> Sequence[Statement]:
    """The statements of a text, one by one, with literals in the places of its parameters."""
    return [Statement(with_literals(each, values)) for each in statement(name).rstrip(b";").split(b";\n")]
