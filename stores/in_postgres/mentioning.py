"""Steps between memories and the entities they mention, and between the turns of a session, in Postgres."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphsearch.columns import Codes, Floats, Keys, Mentioned, Turns
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.copying import UuidArray
from graphsearch.stores.in_postgres.searching import view_values
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def mentioned(session: Session, kind: ElementKind, keys: Keys, limit: int, view: View) -> Mentioned:
    """What lies one mention away from memories, or from entities."""
    if kind is ElementKind.MEMORY:
        near, far, times, signatures = await _steps(session, "mentioned", ElementKind.ENTITY, keys, view, limit=limit)
    else:
        near, far, times, signatures = await _steps(session, "mentioning", ElementKind.MEMORY, keys, view, limit=limit)
    return Mentioned(near=near, far=far, times=times, far_signatures=signatures)


async def turns(session: Session, keys: Keys, view: View) -> Turns:
    """The memories right before and right after each in its session."""
    near, far, _, signatures = await _steps(session, "turns", ElementKind.MEMORY, keys, view)
    return Turns(near=near, far=far, far_signatures=signatures)


async def _steps(
    session: Session, name: str, to: ElementKind, keys: Keys, view: View, **values: Any
) -> tuple[Keys, Keys, Floats, Codes]:
    """Near and far end, number and signature of each step; the kind of the near end is that of the keys."""
    frontier: Any = keys.tolist() if keys.dtype.kind == "U" else UuidArray.of(rows.bytes_of(keys))
    query = statement("columns of steps", found=statement(name, to).decode())
    ((places, far, times, signatures),) = await (
        await session.run_kept(query, frontier=frontier, **values, **view_values(view))
    ).fetchall()
    return (
        keys[rows.codes(places) - 1],
        np.array(far, dtype=np.str_) if to is ElementKind.MEMORY else np.array([each.bytes for each in far], "S16"),
        rows.codes(times).astype(np.float64),
        rows.codes(signatures),
    )
