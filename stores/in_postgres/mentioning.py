"""Steps between memories and the entities they mention, and between the turns of a session, in Postgres."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphsearch.columns import Keys, Mentioned, Turns
from graphsearch.model import ElementKind, View
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.copying import UuidArray
from graphsearch.stores.in_postgres.searching import view_values
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def mentioned(session: Session, kind: ElementKind, keys: Keys, limit: int, view: View) -> Mentioned:
    """What lies one mention away from memories, or from entities."""
    if kind is ElementKind.MEMORY:
        return await _steps(session, "mentioned", ElementKind.ENTITY, keys, view, limit=limit)
    return await _steps(session, "mentioning", ElementKind.MEMORY, keys, view, limit=limit)


async def turns(session: Session, keys: Keys, view: View) -> Turns:
    """The memories right before and right after each in its session."""
    found = await _steps(session, "turns", ElementKind.MEMORY, keys, view)
    return Turns(near=found.near, far=found.far, later=found.about, far_signatures=found.far_signatures)


async def _steps(session: Session, name: str, to: ElementKind, keys: Keys, view: View, **values: Any) -> Mentioned:
    frontier: Any = keys.tolist() if keys.dtype.kind == "U" else UuidArray.of_keys(keys)
    query = statement("columns of steps", to, found=statement(name, to).decode())
    ((places, far, times, about, signatures),) = await (
        await session.run_kept(query, frontier=frontier, **values, **view_values(view))
    ).fetchall()
    return Mentioned(
        near=keys[rows.codes(places) - 1],
        far=rows.keys_of(to, far),
        times=rows.codes(times).astype(np.float64),
        about=rows.flags(about),
        far_signatures=rows.codes(signatures),
    )
