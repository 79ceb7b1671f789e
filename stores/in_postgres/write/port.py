"""The rows of a scope in one write transaction: every change is one statement a kind, made of its table of columns.

Rows travel as an array for each column; COPY into a temporary table is hardly faster, and row-level security bars it
from others. What nobody needs the answer of is sent together with the next statement (`Session.later`), so that a small
write takes few round trips.
"""

# ruff: noqa: S608 - statements are made of the names of columns alone

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain, count
from struct import Struct
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from psycopg.types.json import Jsonb

from graphsearch.errors import InvalidInputError, StoreError
from graphsearch.model import ElementKind, Outcome
from graphsearch.model.codec import encode
from graphsearch.model.signatures import Signature
from graphsearch.model.stored import StoredOutcome
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import EntityRow, Entry, RelationRow, Weighed
from graphsearch.stores.in_postgres.index.upkeep import ELEMENTS, Upkeep
from graphsearch.stores.in_postgres.index.vector_index import drop_vectors, forget_vector_indexes, put_vectors
from graphsearch.stores.in_postgres.read.rows import COUNTED, FOUND_BY, SAME, RowReads, columns, scope_row, with_keys
from graphsearch.stores.in_postgres.session.rows import array, halfvec, text_of_json, text_of_list
from graphsearch.stores.in_postgres.session.sending import Statement
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.tables import NUMBERS, SIGNATURES, TABLES, Table

FEW: Final = 200
"""Statements over more keys or rows are planned for these."""
TOGETHER: Final = 1_000
"""The most rows of one statement."""
_IN_SCOPE: Final = "e.org_id = %(org)s AND e.project_id = %(project)s"
_MOST_ENDS: Final = 200_000
"""The most ends that a transaction remembers."""
_ENDPOINT: Final = Struct(">qd")
_SETTINGS: Final = (*SAME, "health")
"""What a write may change of the scope's row."""


class PostgresPort(RowReads):
    """The rows of a scope in one transaction (`graphsearch.protocols.rows.Port`), which has locked the scope."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.scope = scope_row(session)
        self.version: Hashable = session.changes
        self.discarded = False
        self.written = 0
        """The number of elements put."""
        self._before = attrs.evolve(self.scope)
        self._upkeep = Upkeep(session)
        self._ends: dict[UUID, End] = {}
        """What relations copy from entities that were read or put, as these are now."""
        self._users: Counter[int] = Counter()
        """How many more elements have a signature."""
        self._rows: Counter[str] = Counter()
        """How many more rows there are of a kind."""
        self._weighed: set[Any] = set()
        """The elements whose outcomes are counted with their weights."""
        self._new: set[Any] = set()
        """The keys of new elements of kinds that have vectors: these have none."""
        self._vectors: set[str] = {kind for kind in ELEMENTS if session.tally(ELEMENTS[kind]).vectors}
        """The kinds of elements that may have vectors."""

    def discard(self) -> None:
        """Let the transaction end as if nothing had been written."""
        self.discarded = True

    async def rows(self, kind: str, keys: Collection[Any]) -> Sequence[Any]:
        """The rows with some keys."""
        if len(keys) > FEW:
            self.session.plan_for_values()
        found = await super().rows(kind, keys)
        if kind == "entity":
            for row in found:
                self._ends.setdefault(row.key, end_of(row))  # one that was put is newer
        return found

    async def rows_by(self, kind: str, column: str, values: Collection[Any]) -> Sequence[Any]:
        """The rows with any of some values in a column."""
        if len(values) > FEW:
            self.session.plan_for_values()
        return await super().rows_by(kind, column, values)

    # -- putting ---------------------------------------------------------------------------------------------------

    async def put(self, kind: str, rows: Sequence[Any], before: Mapping[Any, Any]) -> None:
        """Write rows; those without one before are new."""
        if not rows:
            return
        await self._upkeep.put(kind, rows, before)
        if kind.endswith("_vector"):
            await self._put_vectors(kind.removesuffix("_vector"), rows)
            return
        self._count(kind, rows, before)
        if kind == "words":
            return
        ordered = sorted(rows, key=_place)
        table, cells = TABLES[kind], [TABLES[kind].values(row) for row in ordered]
        if kind == "relation":
            await self._read_ends(ordered, before)
            cells = [[*own, *self._copied(row)] for own, row in zip(cells, ordered, strict=True)]
        await self._upsert(table, cells)
        if kind == "entity":
            self._copy_to_ends(ordered, before)
        elif kind == "relation":
            self._put_evidence(ordered, before)
        elif kind == "type":
            for row in ordered:
                self.session.run_later(statement("weigh relations"), name=row.value.name, prior=row.value.prior)
        elif kind == "outcome":
            self._count_outcomes(ordered, before)

    def _count(self, kind: str, rows: Collection[Any], before: Mapping[Any, Any]) -> None:
        """Count the rows of kinds that are counted, and the elements that have signatures."""
        if kind in COUNTED:
            self._rows[kind] += len(rows) - len(before)
        if kind in ELEMENTS:
            self.written += len(rows)
            if kind in self._vectors:
                self._new.update(row.key for row in rows if row.key not in before)
            self._users.update(row.signature for row in rows)
            self._users.subtract(row.signature for row in before.values())

    async def _upsert(self, table: Table, cells: Sequence[Sequence[Any]]) -> None:
        """Write the cells of rows, in order of key."""
        _refuse_large(table, cells)
        if len(cells) > FEW:
            self.session.plan_for_values()
        for at in range(0, len(cells), TOGETHER):
            self.session.later(self._values(table, cells[at : at + TOGETHER]))
            if len(cells) > TOGETHER:
                await self.session.flush()

    def _values(self, table: Table, cells: Sequence[Sequence[Any]]) -> Statement:
        """The statement that writes the cells of rows: from arrays, which takes the server half as long.

        A cluster is sent them as values: it sends these on to the node of the scope, in one phase. So are vectors, of
        which there is no array.
        """
        types = list(table.written.values())
        cell = [_SENT.get(type_) for type_ in types]
        columns = [
            column if convert is None else [None if each is None else convert(each) for each in column]
            for convert, column in zip(cell, zip(*cells, strict=True), strict=True)
        ]
        given = list(self.session.here.values()) if table.scoped else [*self.session.here.values()][:2]
        if self.session.distributed or "halfvec" in types:
            flat = chain.from_iterable(zip(*columns, strict=True))
            return Statement(_inserted(table, len(cells)), [*given, *flat])
        return Statement(_inserted(table), [*given, *map(array, types, columns)], kept=True)

    async def _read_ends(self, rows: Sequence[RelationRow], before: Mapping[Any, RelationRow]) -> None:
        """Read the ends that rows are to copy from."""
        moved = [row for row in rows if (old := before.get(row.key)) is None or old.ends != row.ends]
        await self.rows("entity", {end for row in moved for end in row.ends}.difference(self._ends))

    def _copied(self, row: RelationRow) -> Sequence[Any]:
        """The weight of a relation, which orders the steps of a walk, and what it copies from its ends.

        So a walk need not read an end, if whoever sees the relation sees it.
        """
        each = row.relation
        type_ = self.scope.types.get(each.type)
        ends = [self._ends.get(end, (None, each.created_at)) for end in row.ends]
        copied = [columns if _time(at) <= _time(each.created_at) else None for columns, at in ends]
        return (each.confidence * (type_.prior if type_ else 1.0), *copied)

    def _copy_to_ends(self, rows: Sequence[EntityRow], before: Mapping[Any, EntityRow]) -> None:
        """Copy what has changed of entities to their stored relations."""
        if len(self._ends) > _MOST_ENDS:
            self._ends.clear()
        self._ends.update((row.key, end_of(row)) for row in rows)
        changed = [row for row in rows if row.key in before and end_of(before[row.key]) != end_of(row)]
        if changed and self.session.tally(ElementKind.RELATION).rows:
            ends = [end_of(row) for row in changed]
            copied = [None if columns is None else str(columns) for columns, _ in ends]
            values = {"ids": [row.key for row in changed], "copied": copied, "created": [at for _, at in ends]}
            for end in ("source", "target"):
                query = statement("copy to ends", end=f"{end}_id", copy=f"{end}_columns")
                self.session.run_later(query, **values)

    def _put_evidence(self, rows: Sequence[RelationRow], before: Mapping[Any, RelationRow]) -> None:
        lost, found = list[tuple[str, UUID]](), list[tuple[str, UUID]]()
        for row in rows:
            old = before.get(row.key) if before else None
            had, has = set(old.relation.evidence) if old else set[str](), row.relation.evidence
            lost += [(each, row.key) for each in had.difference(has)]
            found += [(each, row.key) for each in has if each not in had]
        if lost:
            self.session.run_later(statement("lose evidence"), **columns(lost))
        if found:
            self.session.run_later(
                statement("put evidence"), **columns(sorted(found, key=lambda pair: (pair[0], pair[1].int)))
            )

    def _count_outcomes(self, rows: Sequence[Entry], before: Mapping[Any, Any]) -> None:
        new = Counter(row.key[:2] for row in rows if row.key not in before and row.key[:2] not in self._weighed)
        for kind in dict.fromkeys(kind for kind, _ in new):
            counted = [(key, number) for (of, key), number in new.items() if of == kind]
            self.session.run_later(statement("count outcomes", ELEMENTS[kind]), **columns(counted))

    async def _put_vectors(self, kind: str, rows: Sequence[Entry]) -> None:
        self.session.dimensions = self.scope.dimensions
        new = self._new if kind in self._vectors else {row.key for row in rows}
        for fresh in (True, False):
            own = sorted([row for row in rows if (row.key in new) is fresh], key=_place)
            vectors = np.array([row.value for row in own], np.float16)
            await put_vectors(self.session, ELEMENTS[kind], [row.key for row in own], vectors, fresh=fresh)
        self._vectors.add(kind)

    async def repoint(self, roots: Mapping[UUID, UUID]) -> None:
        """Let the mentions written for some entities mean others, each its root."""
        if roots:
            self.session.run_later(statement("repoint mentions"), **columns(list(roots.items())))

    async def add(self, kind: str, row: Any) -> Any:
        """Write a row unless its key has one; return the row that is there, whoever wrote it."""
        asked = self._values(TABLES[kind], [TABLES[kind].values(row)])
        self.session.later(Statement(asked.text.partition(b" DO UPDATE")[0] + b" DO NOTHING", asked.values))
        (there,) = await self.rows(kind, [row.key])
        return there

    # -- dropping --------------------------------------------------------------------------------------------------

    async def drop(self, kind: str, keys: Collection[Any], before: Mapping[Any, Any]) -> None:
        """Remove rows, if they exist; with an element goes all that belongs to it."""
        gone = sorted(keys, key=_order)
        if not gone:
            return
        if kind.endswith("_vector"):
            await self._drop_vectors(kind.removesuffix("_vector"), gone)
            return
        await self._upkeep.drop(kind, before)
        self._count(kind, (), before)
        if kind == "words":
            return
        if kind in ELEMENTS:
            await self._drop_vectors(kind, gone)
            if self.scope.next_embedder is not None:
                await self.drop(f"{kind}_shadow", gone, {})
        if kind == "relation":
            query = statement("remove rows", ElementKind.RELATION, table="evidence", column="relation_id")
            self.session.run_later(query, ids=gone)
        self.session.run_later(_deleted(TABLES[kind], with_keys(kind)), **columns(gone))

    async def _drop_vectors(self, kind: str, keys: Sequence[Any]) -> None:
        if kind in self._vectors:
            await drop_vectors(self.session, ELEMENTS[kind], keys)

    async def drop_by(self, kind: str, column: str, values: Collection[Any]) -> int:
        """Remove the rows with any of some values in a column; return their number."""
        given = columns(values)
        if not given:
            return 0
        return (await self.session.run(_deleted(TABLES[kind], FOUND_BY[kind, column]), **given)).count

    async def clear(self, kinds: Collection[str] | None = None) -> None:
        """Remove all rows of some kinds, or of all; of the scope's own row nothing changes."""
        if kinds is not None:
            for kind in kinds:
                self.session.run_later(_deleted(TABLES[kind], "true"))
            return
        await remove_rows(self.session, but=("scope",))
        self.session.run_later(statement("drop every signature"))
        self.session.tallies, self.session.shares, self._vectors = {}, False, set()
        self._rows.clear()
        self._users.clear()

    async def weighed(self, kind: str, keys: Collection[Any], session_id: str) -> Mapping[Any, Weighed]:
        """The feedback weights of those elements that exist, and the outcome of a session for each."""
        if len(keys) > FEW:
            self.session.plan_for_values()
        if not (asked := columns(keys)):
            return {}
        found = await self.session.rows(
            statement("weights of elements", ELEMENTS[kind]), session_id=session_id, **asked
        )
        fresh = StoredOutcome(session_id=session_id, seq=1, outcome=Outcome.ACCEPTED)
        return {
            key: Weighed(weight, number, revised(fresh, seq=seq, outcome=Outcome(outcome)) if seq else None)
            for key, weight, number, seq, outcome in found
        }

    async def weigh(self, kind: str, weights: Mapping[Any, tuple[float, int]]) -> None:
        """Let elements have other feedback weights, and numbers of outcomes with those that are put; nothing else."""
        moved, numbers = ([each[place] for each in weights.values()] for place in (0, 1))
        self._weighed.update((str(kind), str(key)) for key in weights)
        self.session.run_later(statement("move weights", ELEMENTS[kind]), a=list(weights), b=moved, c=numbers)

    async def switch_vectors(self) -> None:
        """Let all elements have the vectors of their shadows, and none of them a shadow."""
        await forget_vector_indexes(self.session)
        for kind in ElementKind:
            self.session.run_later(statement("remove scope", table=f"{kind}_embedding"))
            generation = self.session.vector_index(kind).generation
            taken = await self.session.run(statement("shadows to vectors", kind), generation=generation)
            lost = self.session.tally(kind).vectors - taken.count
            self.session.run_later(statement("count vectors", kind), step=-lost)
            if kind is ElementKind.RELATION and lost:
                self.session.run_later(statement("list all facts"))
            self.session.run_later(statement("remove scope", table=f"{kind}_shadow"))

    # -- the end ---------------------------------------------------------------------------------------------------

    async def finish(self, contents: Mapping[int, Signature]) -> None:
        """Store signatures and what changed of the scope, and bring the indexes up to date."""
        await self._upkeep.finish(partial(self.rows, "entity"))
        self._store_scope()
        if numbers := sorted((kind, step) for kind, step in self._rows.items() if step):
            self.session.later(self._values(NUMBERS, numbers))
        await self._keep_signatures(contents)
        await self.session.flush()

    async def _keep_signatures(self, contents: Mapping[int, Signature]) -> None:
        """Store the signatures that elements have now, and remove those that none has any more."""
        fewer = sorted((code, -step) for code, step in self._users.items() if step < 0)
        for name in ("drop unused signatures", "count fewer users") if fewer else ():
            self.session.run_later(statement(name), **columns(fewer))
        more = sorted(code for code, step in self._users.items() if step > 0)
        if not self.session.shares and any(contents[code].shared for code in more):
            self.session.run_later(statement("mark shared"))
        for some in (more[at : at + FEW] for at in range(0, len(more), FEW)):
            cells = [(code, encode(contents[code]), contents[code].shared, self._users[code]) for code in some]
            asked = self._values(SIGNATURES, cells)
            same = Statement(asked.text + b" WHERE t.content = excluded.content", asked.values)
            if (await self.session.ask(same)).count < len(some):
                raise StoreError("two signatures have the same code: write these elements with another label")

    def _store_scope(self) -> None:
        changed = {name: getattr(self.scope, name) for name in _SETTINGS}
        changed = {name: value for name, value in changed.items() if value != getattr(self._before, name)}
        if "health" in changed:
            changed["health"] = Jsonb(encode(changed["health"]))
        if changed:
            cells = ", ".join(f"{name} = %({name})s" for name in changed)
            self.session.run_later(f"UPDATE scope e SET {cells} WHERE {_IN_SCOPE}".encode(), **changed)


async def remove_rows(session: Session, *, but: Collection[str] = ()) -> None:
    """Remove the rows of a scope from all tables but some."""
    for table in await session.column(statement("scoped tables")):
        if table not in but:
            session.run_later(statement("remove scope", table=table))


# -- statements ----------------------------------------------------------------------------------------------------

_SENT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "text[]": text_of_list,
    "float8[]": text_of_list,
    "jsonb": text_of_json,
    "halfvec": halfvec,
}
"""How values of types are sent that psycopg would not take for what they are."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def _refuse_large(table: Table, cells: Sequence[Sequence[Any]]) -> None:
    """Raise `InvalidInputError` for a number that no column holds."""
    places = [at for at, type_ in enumerate(table.written.values()) if type_ == "bigint"]
    for own in cells:
        for at in places:
            if own[at] is not None and not _LEAST <= own[at] <= _MOST:
                raise InvalidInputError("batch", [f"a number is too large to be stored: {own[at]}"])


def _head(table: Table) -> str:
    scope = ("org_id", "project_id", *(("scope_hash",) if table.scoped else ()))
    return f"INSERT INTO {table.name} AS t ({', '.join([*scope, *table.written])})"


def _tail(table: Table) -> str:
    key = ("scope_hash", *table.key, "org_id", "project_id") if table.scoped else ("org_id", "project_id", *table.key)
    fixed = {*table.key, *table.kept, *table.added}
    updates = [f"{name} = t.{name} + excluded.{name}" for name in table.added]
    updates += [
        f"{name} = CASE WHEN t.{end} = excluded.{end} THEN t.{name} ELSE excluded.{name} END"
        if name != (end := name.replace("_columns", "_id"))
        else f"{name} = excluded.{name}"
        for name in table.written
        if name not in fixed
    ]
    return f" ON CONFLICT ({', '.join(key)}) DO " + (f"UPDATE SET {', '.join(updates)}" if updates else "NOTHING")


@lru_cache(maxsize=128)
def _inserted(table: Table, rows: int | None = None) -> bytes:
    """The statement that writes a number of rows, given as values after those of the scope; without it, as arrays."""
    scope = ["$1", "$2", *(["$3"] if table.scoped else [])]
    types, first = table.written, len(scope) + 1
    if rows is None:
        arrays = [
            f"${first + at}::{'text' if type_ in _SENT or type_ == 'json' else type_}[]"
            for at, type_ in enumerate(types.values())
        ]
        cells = [f"new.{name}::{type_}" for name, type_ in types.items()]
        given = f"SELECT {', '.join(scope + cells)} FROM unnest({', '.join(arrays)}) new ({', '.join(types)})"
    else:
        numbers = count(first)
        own = [", ".join([*scope, *(f"${next(numbers)}::{type_}" for type_ in types.values())]) for _ in range(rows)]
        given = f"VALUES {', '.join(f'({each})' for each in own)}"
    return f"{_head(table)} {given}{_tail(table)}".encode()


@lru_cache
def _deleted(table: Table, condition: str) -> bytes:
    return f"DELETE FROM {table.name} e WHERE {_IN_SCOPE} AND {condition}".encode()


# -- rows ----------------------------------------------------------------------------------------------------------


def _order(key: Any) -> Any:
    """What keys are in order of: ids as numbers, which is faster."""
    return key.int if isinstance(key, UUID) else key


def _place(row: Any) -> Any:
    """The place of a row in the order of keys."""
    return _order(row.key)


End = tuple[UUID | None, datetime | None]


def end_of(row: EntityRow) -> End:
    """What relations copy from an entity: signature and importance, unless some views hide it; and its creation."""
    each = row.entity
    if each.valid_from is None and each.valid_to is None and each.merged_into is None:
        return UUID(bytes=_ENDPOINT.pack(row.signature, each.importance_weight)), each.created_at
    return None, each.created_at


def _time(moment: datetime | None) -> datetime:
    if moment is None:
        raise StoreError("a stored element has no time of creation")
    return moment
