"""The base of all capabilities of a scope in Postgres: its sessions, snapshots and keys."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from graphsearch.columns import Keys
from graphsearch.model import ElementKind, Scope
from graphsearch.protocols import Clock
from graphsearch.protocols.rows import ScopeRow
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.read.rows import RowReads, scope_row
from graphsearch.stores.in_postgres.session.gateway import Gateway
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.text.analyser import Analyser


class PostgresScope(RowReads):
    """One scope in Postgres.

    A read runs in a read-only snapshot, a write in one transaction. A key is 16 bytes, or a memory's id as text.
    """

    def __init__(self, scope: Scope, gateway: Gateway, clock: Clock, *, exact: bool) -> None:
        self._scope = scope
        self._gateway = gateway
        self._clock = clock
        self._exact = exact

    @property
    def scope(self) -> Scope:
        return self._scope

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def analyser(self) -> Analyser:
        return self._gateway.analyser

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        return self._gateway.snapshot(self._scope)

    async def version(self) -> Hashable:
        async with self._reading() as session:
            return session.changes

    async def scope_row(self) -> ScopeRow:
        async with self._reading() as session:
            return scope_row(session)

    def ids(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        return rows.texts(keys) if kind is ElementKind.MEMORY else rows.uuids(keys)

    def _reading(self) -> AbstractAsyncContextManager[Session]:
        """The snapshot of the current task, else one of its own. Raises `UnknownScopeError`."""
        return self._gateway.reading(self._scope)
