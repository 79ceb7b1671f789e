"""Reads of rows: by key, by a column that their kind is found by, and by the page. Each is one statement."""

# ruff: noqa: S608 - statements are made of the names of columns alone

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import cache
from typing import Any, Final, Unpack
from uuid import UUID

from graphsearch.columns import Keys
from graphsearch.model import ElementKind, HealthRecord, Scope
from graphsearch.model.codec import decode
from graphsearch.protocols import Clock
from graphsearch.protocols.rows import Counts, Filters, Form, ScopeRow
from graphsearch.stores.in_postgres.session.gateway import Gateway
from graphsearch.stores.in_postgres.session.rows import storable, texts, types_of, uuids
from graphsearch.stores.in_postgres.session.sessions import Session, Tally
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.tables import TABLES

_HERE: Final = "e.org_id = %(org)s AND e.project_id = %(project)s"
_NO_TARGET: Final = UUID(int=0)
_FEW: Final = 50
"""Up to so many groups are looked up one by one; of more, the claims of their sources are read once."""

_EITHER_END: Final = "(e.source_id = ANY(%(a)s::uuid[]) OR e.target_id = ANY(%(a)s::uuid[]))"
_GIVEN_END: Final = "(e.original_source_id = ANY(%(a)s::uuid[]) OR e.original_target_id = ANY(%(a)s::uuid[]))"
FOUND_BY: Final[Mapping[tuple[str, str], str]] = {
    ("relation", "end"): _EITHER_END,
    ("relation", "written"): f"e.original_source_id IS NOT NULL AND {_GIVEN_END}",
    ("relation", "evidence"): "e.id = ANY(ARRAY(SELECT v.relation_id FROM evidence v WHERE v.org_id = %(org)s"
    " AND v.project_id = %(project)s AND v.memory_id = ANY(%(a)s::text[])))",
    ("mention", "memory"): "e.memory_id = ANY(%(a)s::text[])",
    ("mention", "entity"): "e.entity_id = ANY(%(a)s::uuid[])",
    ("mention", "written"): "(e.original_entity_id = ANY(%(a)s::uuid[])"
    " OR e.entity_id = ANY(%(a)s::uuid[]) AND e.original_entity_id IS NULL)",
    ("claim", "memory"): "e.memory_id = ANY(%(a)s::text[])",
    ("claim", "written"): f"(e.original_source_id IS NOT NULL AND {_GIVEN_END}"
    f" OR e.original_source_id IS NULL AND {_EITHER_END})",
    ("claim", "target"): "e.target_id = ANY(%(a)s::uuid[]) AND e.type = ANY(%(b)s::text[])",
    ("claim", "type"): "e.type = ANY(%(a)s::text[])",
    ("merge", "end"): _EITHER_END,
    ("member", "entity"): "e.entity_id = ANY(%(a)s::uuid[])",
    ("member", "community"): "e.community_id = ANY(%(a)s::uuid[])",
    ("link", "memory"): "(e.from_id = ANY(%(a)s::text[]) OR e.to_id = ANY(%(a)s::text[]))",
    ("distinct", "entity"): "(e.low_id = ANY(%(a)s::uuid[]) OR e.high_id = ANY(%(a)s::uuid[]))",
    ("outcome", "element"): "e.element_id = ANY(%(b)s::text[])"
    " AND ((e.kind, e.element_id) IN (SELECT * FROM unnest(%(a)s::text[], %(b)s::text[]))) IS TRUE",
    ("injection", "element"): "EXISTS (SELECT FROM unnest(e.element_kinds, e.element_ids) n (kind, id)"
    " WHERE n.id = ANY(%(b)s::text[]) AND (n.kind, n.id) IN (SELECT * FROM unnest(%(a)s::text[], %(b)s::text[])))",
    ("injection", "session"): "e.session_id = ANY(%(a)s::text[])",
    ("proposal", "state"): "e.state = ANY(%(a)s::text[])",
}
"""What is true of a row ``e`` with any of some values in a column; values that are tuples come as columns.

Statistics may be out of date. ARRAY and IS TRUE keep the planner from joining a table row by row: what is inside is
computed once, and hashed.
"""
_UNMERGED: Final[Mapping[tuple[str, str], str]] = {
    ("mention", "written"): FOUND_BY["mention", "entity"],
    ("claim", "written"): _EITHER_END,
    ("relation", "written"): "false",
}
"""What is true of them where nothing was ever merged."""
_GROUPS: Final = """unnest(%(a)s::uuid[], %(b)s::text[], %(c)s::uuid[]) g (source_id, type, target_id)
    JOIN claim e ON e.source_id = g.source_id AND e.type = g.type
        AND (g.target_id = %(none)s OR e.target_id = g.target_id)"""
_MANY_GROUPS: Final = """e.source_id = ANY(%(sources)s::uuid[]) AND (
    (e.source_id, e.type, e.target_id) IN (SELECT * FROM unnest(%(a)s::uuid[], %(b)s::text[], %(c)s::uuid[]))
    OR (e.source_id, e.type) IN (
        SELECT g.source_id, g.type FROM unnest(%(a)s::uuid[], %(b)s::text[], %(c)s::uuid[])
            g (source_id, type, target_id) WHERE g.target_id = %(none)s
    ))"""

_ORDERS: Final[Mapping[str, Mapping[str, str]]] = {
    "merge": {"number": "integer"},
    "proposal": {"created_at": "timestamptz", "id": "uuid"},
}
"""What pages are ordered by, where it is not the key."""
_BESIDE: Final = """EXISTS (
    SELECT FROM {{kind}}_{0} v WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = e.id
)"""
_EMBEDDED: Final = _BESIDE.format("embedding")
_FLAGS: Final[Mapping[tuple[str, bool], str]] = {
    ("live", True): "e.retracted_at IS NULL",
    ("live", False): "e.retracted_at IS NOT NULL",
    ("embedded", True): _EMBEDDED,
    ("embedded", False): "e.fact <> '' AND e.retracted_at IS NULL",
    ("shadowed", False): f"NOT {_BESIDE.format('shadow')}",
}
"""What is true of a row ``e`` of a page with a filter that is true or false."""
_UNEMBEDDED: Final = """unembedded_fact f
    JOIN relation e ON f.org_id = %(org)s AND f.project_id = %(project)s AND e.id = f.id"""
"""Relations ``e`` with a fact that may have no vector, where any fact has one."""
_FILTERS: Final[Mapping[str, str]] = {
    "type": "e.type = %(type)s",
    "entity_id": "(e.source_id = %(entity_id)s OR e.target_id = %(entity_id)s)",
    "state": "e.state = %(state)s",
    "source": "e.source = %(source)s",
    "session_id": "e.session_id = %(session_id)s",
    "subject": "e.subject = %(subject)s",
    "label": "%(label)s::text = ANY(e.labels)",
    "before": "coalesce(e.occurred_at, e.created_at) < %(before)s",
    "owner": "e.signature IN (SELECT s.code FROM signature s WHERE s.org_id = %(org)s AND s.project_id = %(project)s"
    " AND s.content ->> 'owner' = %(owner)s)",
}
"""What is true of a row ``e`` that a page with a filter has."""


def columns(values: Collection[Any]) -> dict[str, list[Any]]:
    """Values as parameters: tuples as columns a, b and c, others as a. Texts that cannot be stored are left out."""
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    if not all(_are_storable(cells) for cells in zip(*rows, strict=True) if isinstance(cells[0], str)):
        rows = [row for row in rows if all(not isinstance(cell, str) or storable([cell]) for cell in row)]
    return {name: list(cells) for name, cells in zip("abc", zip(*rows, strict=True), strict=False)}


def _are_storable(texts: Collection[str]) -> bool:
    """Whether all of some texts can be stored, looked at together."""
    try:
        return b"\0" not in "".join(texts).encode()
    except UnicodeEncodeError:
        return False


@cache
def with_keys(kind: str) -> str:
    """What is true of a row ``e`` with any of some keys, as `columns` makes parameters of them."""
    table = TABLES[kind]
    first, *others = zip("abc", table.key, strict=False)
    types = {name: f"%({name})s::{table.columns[column]}[]" for name, column in (first, *others)}
    scoped = "e.scope_hash = %(scope)s AND " if table.scoped else ""
    condition = f"{scoped}e.{first[1]} = ANY({types['a']})"
    if others:
        key = ", ".join(f"e.{name}" for name in table.key)
        condition += f" AND (({key}) IN (SELECT * FROM unnest({', '.join(types.values())}))) IS TRUE"
    return condition


@cache
def select(kind: str, condition: str, source: str = "") -> bytes:
    """The statement that reads the rows ``e`` of a kind of which a condition is true."""
    table = TABLES[kind]
    return f"SELECT {table.selected} FROM {source or f'{table.name} e'} WHERE {_HERE} AND {condition}".encode()


class RowReads:
    """Reads of rows, in a transaction: one that it is given, or that of the snapshot of its task."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def _reading(self) -> AbstractAsyncContextManager[Session]:
        return nullcontext(self.session)

    async def rows(self, kind: str, keys: Collection[Any]) -> Sequence[Any]:
        given = columns(keys)
        async with self._reading() as session:
            if not given or _has_none(session, kind):
                return []
            return _built(kind, await session.rows_kept(select(kind, with_keys(kind)), **given))

    async def rows_by(self, kind: str, column: str, values: Collection[Any]) -> Sequence[Any]:
        if column == "group":
            values = sorted(values, key=lambda group: (group[0].int, group[1]))
            values = [(source, type_, target or _NO_TARGET) for source, type_, target in values]
        given: dict[str, Any] = columns(values)
        async with self._reading() as session:
            if not given or _has_none(session, kind):
                return []
            if column == "group":
                given |= {"none": _NO_TARGET, "sources": list(dict.fromkeys(given["a"]))}
                condition, source = ("true", _GROUPS) if len(values) <= _FEW else (_MANY_GROUPS, "")
            else:
                condition, source = _present(session, kind, column), ""
            found = _built(kind, await session.rows_kept(select(kind, condition, source), **given))
            return list({row.key: row for row in found}.values())

    async def page(
        self, kind: str, *, after: Any = None, limit: int | None = None, **filters: Unpack[Filters]
    ) -> Sequence[Any]:
        given: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
        if any(isinstance(each, str) and not storable([each]) for each in given.values()):
            return []
        values = {name: value for name, value in given.items() if name in _FILTERS}
        flags = [each for each in given.items() if each in _FLAGS]
        if after is not None:
            values |= zip("abc", after if isinstance(after, tuple) else (after,), strict=False)
        async with self._reading() as session:
            listed = given.get("embedded") is False and session.tally(ElementKind.RELATION).vectors > 0
            names = tuple(given.keys() & _FILTERS.keys())
            query = page_of(kind, names, tuple(flags), follows=after is not None, listed=listed)
            return _built(kind, await session.rows(query, limit=limit, **values))

    async def forms(self, entity_ids: Collection[UUID], without: Collection[str] = ()) -> Sequence[Form]:
        async with self._reading() as session:
            if not entity_ids or _has_none(session, "mention"):
                return []
            query = _forms(_present(session, "mention", "written"), leaves_out=bool(without))
            rows = await session.rows_kept(query, a=list(entity_ids), without=storable(without))
            return [Form(*row) for row in rows]

    async def tree(self, entity_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
        async with self._reading() as session:
            if not entity_ids or not session.merges:
                return {}
            return dict(await session.rows(statement("merge tree"), ids=list(entity_ids)))

    async def counts(self, kinds: Collection[str]) -> Counts:
        async with self._reading() as session:
            numbers = {kind: session.tallies.get(kind, Tally()).rows for kind in kinds if kind in COUNTED}
            if others := sorted(set(kinds) - COUNTED):
                numbers |= zip(others, await session.row(_count(tuple(others))), strict=True)
            entities, relations, degree = list[Any](), list[Any](), 0
            if "entity" in kinds:
                entities = await session.rows(statement("entities by type"))
            if "relation" in kinds:
                relations = await session.rows(statement("relations by type"))
                (degree,) = await session.row(statement("largest degree"))
            return Counts(numbers, dict(entities), dict(relations), degree)


def _present(session: Session, kind: str, column: str) -> str:
    """What is true of a row ``e`` with any of some values, as far as anything was merged."""
    found = FOUND_BY[kind, column]
    return found if session.merges else _UNMERGED.get((kind, column), found)


def _has_none(session: Session, kind: str) -> bool:
    """Whether the scope is known to have no rows of a kind, so that nothing need be read."""
    return kind in COUNTED and not session.tallies.get(kind, Tally()).rows


def _built(kind: str, rows: Collection[Sequence[Any]]) -> list[Any]:
    return [*map(TABLES[kind].row, rows)]


COUNTED: Final = frozenset({"entity", "memory", "relation", "mention", "claim"})
"""Kinds of which the number of rows is kept."""


@cache
def _forms(condition: str, *, leaves_out: bool) -> bytes:
    others = " AND e.memory_id <> ALL(%(without)s::text[])" if leaves_out else ""
    return (
        "SELECT coalesce(e.original_entity_id, e.entity_id), e.surface, e.type, e.signature, count(*) FROM mention e"
        f" WHERE {_HERE} AND {condition}{others} GROUP BY 1, 2, 3, 4"
    ).encode()


@cache
def page_of(
    kind: str, filters: tuple[str, ...], flags: tuple[tuple[str, bool], ...], *, follows: bool, listed: bool = False
) -> bytes:
    """The statement of a page with some filters, that begins after parameters a, b and c if it ``follows``.

    ``listed`` are relations whose facts have no vector.
    """
    table = TABLES[kind]
    order = _ORDERS.get(kind) or {name: table.columns[name] for name in table.key}
    conditions = [_FILTERS[name] for name in filters]
    conditions += [_FLAGS[flag].format(kind=kind) for flag in flags]
    if table.scoped:
        conditions.append("e.scope_hash = %(scope)s")
    names = ", ".join(f"e.{name}" for name in order)
    if follows:
        bounds = ", ".join(f"%({place})s::{type_}" for place, type_ in zip("abc", order.values(), strict=False))
        conditions.append(f"({names}) > ({bounds})")
    chosen = select(kind, " AND ".join(conditions or ["true"]), _UNEMBEDDED if listed else "")
    return chosen + f" ORDER BY {names} LIMIT %(limit)s".encode()


@cache
def _count(kinds: Sequence[str]) -> bytes:
    numbers = [f"(SELECT count(*) FROM {TABLES[kind].name} e WHERE {_HERE})" for kind in kinds]
    return f"SELECT {', '.join(numbers)}".encode()


SAME: Final = (
    *("id_key", "alpha", "merges", "embedder", "dimensions", "next_embedder", "next_dimensions", "summarised"),
)
"""What a session knows of its scope under the same name."""


def scope_row(session: Session) -> ScopeRow:
    """What the row of a scope says."""
    same = {name: getattr(session, name) for name in SAME}
    return ScopeRow(**same, health=decode(tuple[HealthRecord, ...], session.health), types=types_of(session.types))


class PostgresScope(RowReads):
    """One scope in Postgres.

    A read runs in a read-only snapshot, a write in one transaction. A key is 16 bytes, or a memory's id as text.
    """

    def __init__(self, scope: Scope, gateway: Gateway, clock: Clock, *, exact: bool) -> None:
        self.scope = scope
        self.clock = clock
        self.analyser = gateway.analyser
        self._gateway = gateway
        self._exact = exact

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        return self._gateway.snapshot(self.scope)

    async def version(self) -> Hashable:
        async with self._reading() as session:
            return session.changes

    async def scope_row(self) -> ScopeRow:
        async with self._reading() as session:
            return scope_row(session)

    def ids(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        return texts(keys) if kind is ElementKind.MEMORY else uuids(keys)

    def _reading(self) -> AbstractAsyncContextManager[Session]:
        """The snapshot of the current task, else one of its own. Raises `UnknownScopeError`."""
        return self._gateway.reading(self.scope)
