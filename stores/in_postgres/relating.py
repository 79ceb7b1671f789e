"""Relations that a search found, as steps from source to target, with what is asked of both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import NONE, Expansion, FarEnds, Hits, Keys, Rows
from graphsearch.columns.key_index import Places, distinct
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.copying import UuidArray
from graphsearch.stores.in_postgres.once import KEPT
from graphsearch.stores.in_postgres.searching import view_values
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement

_Columns = Sequence[NDArray[Any]]
"""In the order of the statement's, each with a row for every relation; the first are the relations."""
_DECODED = (
    rows.keys,
    rows.floats,
    rows.seconds,
    rows.floats,
    rows.codes,
    *(rows.keys, rows.codes, rows.floats, rows.flags) * 2,
)


async def related(session: Session, keys: Keys, view: View) -> Expansion:
    """Relations as steps from their source to their target, in the order of their keys."""
    asked = np.asarray(keys, "S16")
    if not len(asked):
        return Expansion.none(asked)
    known = session.once.related.get(view)
    if known is None or len(known[0]) > KEPT:
        known = await _read(session, asked, view)
    elif len(unread := asked[Places(known[0]).of(asked) == NONE]):
        read = await _read(session, unread, view)
        known = [np.concatenate(columns) for columns in zip(known, read, strict=True)]
    session.once.related[view] = known
    found = Places(known[0]).of(asked)
    return _steps([column.take(found[found != NONE]) for column in known])


async def _read(session: Session, keys: Keys, view: View) -> _Columns:
    query = statement("related", ElementKind.RELATION)
    found = await session.run_kept(query, found=UuidArray.of_keys(keys), **view_values(view))
    (columns,) = await found.fetchall()
    return [decode(column) for decode, column in zip(_DECODED, columns, strict=True)]


def _steps(columns: _Columns) -> Expansion:
    relations, confidence, since, feedback, signatures, *ends_ = columns
    *near, near_holds = ends_[:4]
    *far, far_holds = ends_[4:]
    sources, start = _ends(*near)
    targets, end = _ends(*far)
    holds = np.zeros(len(sources), np.bool_)
    holds[start] = near_holds
    located = Hits(
        keys=sources.keys, signatures=sources.signatures, values=np.zeros(len(sources)), importance=sources.importance
    )
    return Expansion(
        starts=sources.keys,
        start=start,
        located=located.keep(holds),
        ends=targets,
        end=end,
        outgoing=np.ones(len(relations), np.bool_),
        relations=relations,
        confidence=confidence,
        since=since,
        feedback=feedback,
        signatures=signatures,
        far_holds=far_holds,
    )


def _ends(keys: NDArray[Any], signatures: NDArray[Any], importance: NDArray[Any]) -> tuple[FarEnds, Rows]:
    """The entities at one end of relations, each once, and the row of each relation's."""
    met, end = distinct(keys)
    ends = FarEnds(keys=met, signatures=np.zeros(len(met), np.int64), importance=np.zeros(len(met)))
    ends.signatures[end], ends.importance[end] = signatures, importance
    return ends, end
