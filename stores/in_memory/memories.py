"""Pages of memories of one source or session, from an index made when it is first asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice

from graphsearch.model import ElementKind, Memory, validation
from graphsearch.stores.in_memory.index import Table
from graphsearch.stores.in_memory.reading import table
from graphsearch.stores.in_memory.state import State


def page_of_memories(
    state: State, after: str | None, limit: int, source: str | None, session_id: str | None
) -> list[Memory]:
    """The next memories in order of id, of a source and of a session where they are given."""
    validation.refuse("page", validation.number("limit", limit, 0))
    rows, items = table(state, ElementKind.MEMORY), state.memories.items
    ids: Sequence[str] = rows.ids
    if session_id is not None:
        ids = state.derive(_by_session, rows).get(session_id, ())
    elif source is not None:
        ids = state.derive(_by_source, rows).get(source, ())
    start = 0 if after is None else bisect_right(ids, after)
    kept = (key for key in islice(ids, start, None) if source is None or items[key].source == source)
    return [memory for key in islice(kept, limit) if (memory := state.memories.get(key))]


def _by_session(rows: Table) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for memory in rows.items:
        found.setdefault(memory.session_id, []).append(memory.id)
    return found


def _by_source(rows: Table) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for memory in rows.items:
        found.setdefault(memory.source, []).append(memory.id)
    return found
