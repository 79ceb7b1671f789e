"""Steps in Postgres from elements to their neighbours: statements with results in columns, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import NONE, Codes, Edges, Expansion, FarEnds, Hits, Keys, Mentioned, Rows, Turns
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, View, validation
from graphsearch.model.codec import decode
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.stores.in_postgres.read.rows import PostgresScope
from graphsearch.stores.in_postgres.session import rows
from graphsearch.stores.in_postgres.session.rows import key_array
from graphsearch.stores.in_postgres.session.sending import Answer
from graphsearch.stores.in_postgres.session.sessions import KEPT, Session
from graphsearch.stores.in_postgres.session.statements import statement

READ_AHEAD: Final = 501
"""A hop that reaches fewer entities is read together with the next one."""
COUNTED: Final = 1_000
"""Relations per entity and direction that `left_out` counts at most."""
_Columns = Sequence[NDArray[Any]]
"""The columns of the statement, in its order, each with a row per relation; the first holds the relations."""
_DECODED = (
    rows.keys,
    rows.codes,
    rows.floats,
    rows.seconds,
    rows.floats,
    *(rows.keys, rows.endpoint_columns) * 2,
)


class PostgresWalking(PostgresScope):
    """Steps by the indexes of relations, mentions and sessions; a snapshot reads each relation as a step once."""

    async def expand(self, keys: Keys, *, fan_out: int, view: View, ahead: int = 0) -> Expansion:
        async with self._reading() as session:
            frontier = np.asarray(keys, "S16")
            if not len(frontier):
                return Expansion.none(frontier)
            known = session.once.ahead.get((fan_out, view))
            if known is not None and (served := _from(frontier, known)) is not None:
                return served
            most = READ_AHEAD if ahead else 0
            answer = await _walk(session, "expand", frontier, fan_out, view, most=most)
            walked, further, *columns = answer.packed
            (count,) = rows.codes(walked).tolist()
            steps = [decode(column) for decode, column in zip(_WALKED, columns, strict=False)]
            if most:
                beyond = _hop(session, rows.keys(further), [each[count:] for each in steps], columns[8:])
                session.once.ahead[fan_out, view] = beyond
            return _hop(session, frontier, [each[:count] for each in steps], columns[8:])

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        async with self._reading() as session:
            requested = np.asarray(keys, "S16")
            if not len(requested):
                return Expansion.none(requested)
            known = session.once.related.get(view)
            if known is None or len(known[0]) > KEPT:
                known = await _read_relations(session, requested, view)
            elif len(unread := requested[KeyIndex(known[0]).of(requested) == NONE]):
                read = await _read_relations(session, unread, view)
                known = [np.concatenate(columns) for columns in zip(known, read, strict=True)]
            session.once.related[view] = known
            found = KeyIndex(known[0]).of(requested)
            return _steps_of(session, [column.take(found[found != NONE]) for column in known])

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            ids, sources, targets, weights = await session.row(
                statement("edges"), after=after, limit=limit, **rows.view_values(view)
            )
            return Edges(
                relations=rows.keys(ids),
                sources=rows.keys(sources),
                targets=rows.keys(targets),
                weights=rows.floats(weights),
            )

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        name, to = (
            ("mentioned", ElementKind.ENTITY) if kind is ElementKind.MEMORY else ("mentioning", ElementKind.MEMORY)
        )
        async with self._reading() as session:
            return await _steps(session, name, to, keys, view, limit=limit)

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        async with self._reading() as session:
            found = await _steps(session, "turns", ElementKind.MEMORY, keys, view)
            return Turns(near=found.near, far=found.far, later=found.about, far_signatures=found.far_signatures)

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        async with self._reading() as session:
            return dict((await _walk(session, "left out", keys, COUNTED, view)).rows)

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        async with self._reading() as session:
            known = session.signatures.contents
            requested = [int(code) for code in codes]
            contents = {code: known[code] for code in requested if code in known}
            if unknown := [code for code in requested if code not in contents]:
                found = await session.rows_kept(statement("signatures"), codes=unknown)
                read = {code: decode(Signature, content) for code, content in found}
                session.signatures.add(read)
                contents |= read
            return contents

    async def signature_codes(self, *, shared: bool) -> Codes:
        async with self._reading() as session:
            if shared and not session.shares:
                return np.empty(0, dtype=np.int64)
            (codes,) = await session.column(statement("shared signatures" if shared else "every signature"))
            return rows.codes(codes)

    async def signed(self, codes: Sequence[int], *, limit: int) -> Keys:
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            (ids,) = await session.column(statement("relations signed"), codes=list(codes), limit=limit)
            return rows.keys(ids)

    def signature_table(self) -> SignatureTable | None:
        """The signatures cached for a snapshot."""
        session = self._gateway.current(self.scope)
        return None if session is None else session.signatures.table(rows.types_of(session.types))


async def _walk(session: Session, name: str, keys: Keys, limit: int, view: View, *, most: int = 0) -> Answer:
    """The answer to a statement over at most ``limit`` relations per entity and direction."""
    values = {"limit": max(limit, 0), "most": most, **rows.view_values(view)}
    return await session.run_kept(statement(name), frontier=key_array(keys), **values)


_WALKED = (rows.codes, rows.keys, rows.keys, rows.endpoint_columns, rows.floats, rows.seconds, rows.floats, rows.codes)
"""Of the columns of steps: signed places, relations, far ends, columns of these, and what is known of relations."""


def _hop(session: Session, frontier: Keys, steps: _Columns, others: Sequence[bytes]) -> Expansion:
    """One hop; ``others`` are the far ends whose columns its relations do not have."""
    places, relations, far, far_columns, confidence, since, feedback, signatures = steps
    ends, end = _ends(far, far_columns)
    looked_up = KeyIndex(ends.keys).of(rows.keys(others[0]))
    there = looked_up != NONE
    ends.signatures[looked_up[there]] = rows.codes(others[1])[there]
    ends.importance[looked_up[there]] = rows.floats(others[2])[there]
    _refuse_missing(session, ends)
    holding = ~np.isnan(ends.importance)
    return Expansion(
        starts=frontier,
        start=np.abs(places) - 1,
        ends=ends,
        end=end,
        outgoing=places > 0,
        relations=relations,
        confidence=confidence,
        since=since,
        feedback=feedback,
        signatures=signatures,
        far_holds=None if holding.all() else holding.take(end),
    )


def _from(frontier: Keys, known: Expansion) -> Expansion | None:
    """The part of an expansion that begins at a frontier, in its order; None if some of it was not read."""
    place = KeyIndex(known.starts).of(frontier)
    if (place == NONE).any():
        return None
    number = np.full(len(known.starts), NONE)
    number[place] = np.arange(len(frontier))
    start = number.take(known.start)
    order = np.argsort(start, kind="stable")
    found = known.keep(order[np.searchsorted(start[order], 0) :])
    return attrs.evolve(found, starts=frontier, start=number.take(found.start))


async def _read_relations(session: Session, keys: Keys, view: View) -> _Columns:
    values = rows.view_values(view)
    return decoded_steps((await session.run_kept(statement("related"), found=key_array(keys), **values)).packed)


def decoded_steps(columns: Sequence[bytes]) -> _Columns:
    """The columns of relations as steps."""
    return [decode(column) for decode, column in zip(_DECODED, columns, strict=True)]


def keep_steps(session: Session, view: View, columns: Sequence[bytes]) -> None:
    """Let a snapshot know relations that a search has read as steps."""
    read, known = decoded_steps(columns), session.once.related.get(view)
    if known is not None:
        new = KeyIndex(known[0]).of(read[0]) == NONE
        read = [np.concatenate((one, other[new])) for one, other in zip(known, read, strict=True)]
    session.once.related[view] = read


def _steps_of(session: Session, columns: _Columns) -> Expansion:
    relations, signatures, confidence, since, feedback, near, near_columns, far, far_columns = columns
    sources, start = _ends(near, near_columns)
    targets, end = _ends(far, far_columns)
    _refuse_missing(session, sources)
    _refuse_missing(session, targets)
    located = Hits(
        keys=sources.keys, signatures=sources.signatures, values=np.zeros(len(sources)), importance=sources.importance
    )
    return Expansion(
        starts=sources.keys,
        start=start,
        located=located.keep(~np.isnan(sources.importance)),
        ends=targets,
        end=end,
        outgoing=np.ones(len(relations), np.bool_),
        relations=relations,
        confidence=confidence,
        since=since,
        feedback=feedback,
        signatures=signatures,
        far_holds=~np.isnan(targets.importance).take(end),
    )


def _ends(keys: Keys, columns: NDArray[Any]) -> tuple[FarEnds, Rows]:
    """The distinct entities at one end of relations, and the row of each relation's entity."""
    met, end = distinct(keys)
    ends = FarEnds(keys=met, signatures=np.zeros(len(met), np.int64), importance=np.zeros(len(met)))
    ends.signatures[end], ends.importance[end] = columns["signature"], columns["importance"]
    return ends, end


def _refuse_missing(session: Session, ends: FarEnds) -> None:
    if not ends.signatures.all():
        raise StoreError(f"relations of {session.scope} lead to entities that are not there: repair what deleted them")


async def _steps(session: Session, name: str, to: ElementKind, keys: Keys, view: View, **values: Any) -> Mentioned:
    frontier: Any = keys.tolist() if keys.dtype.kind == "U" else key_array(keys)
    values |= rows.view_values(view)
    (found,) = await session.rows_kept(statement(name, to), frontier=frontier, **values)
    places, far, times, about, signatures = found
    return Mentioned(
        near=keys[rows.codes(places) - 1],
        far=rows.keys_of(to, far),
        times=rows.codes(times).astype(np.float64),
        about=rows.flags(about),
        far_signatures=rows.codes(signatures),
    )
