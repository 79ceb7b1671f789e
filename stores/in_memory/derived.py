"""Columns and arrays derived from a state, built on first use and cached while its parts are unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from graphsearch.model import ElementKind
from graphsearch.stores.in_memory.state import State
from graphsearch.stores.in_memory.steps import Adjacency, Ends
from graphsearch.stores.in_memory.tables import Rows, Table, Visibility

_VISIBILITY: Final[Mapping[ElementKind, Callable[[Table], Visibility]]] = {
    ElementKind.ENTITY: Visibility.of_entities,
    ElementKind.RELATION: Visibility.of_relations,
    ElementKind.MEMORY: Visibility.of_memories,
}


def table(state: State, kind: ElementKind) -> Table:
    """The rows of a kind."""
    return state.once(_table, kind)


def _table(state: State, kind: ElementKind) -> Table:
    elements = state.elements(kind)
    return state.derive(Table.build, elements.items, elements.codes)


def visibility(state: State, kind: ElementKind) -> Visibility:
    """The columns of a kind that views filter on."""
    return state.once(_visibility, kind)


def _visibility(state: State, kind: ElementKind) -> Visibility:
    return state.derive(_VISIBILITY[kind], table(state, kind))


def ends(state: State) -> Ends:
    """The rows at both ends of every relation."""
    return state.derive(Ends.build, table(state, ElementKind.ENTITY), table(state, ElementKind.RELATION))


def adjacency(state: State) -> Adjacency:
    """The relations at every entity."""
    return state.derive(Adjacency.build, ends(state), table(state, ElementKind.RELATION), state.types)


def degrees(state: State) -> Rows:
    """The number of unretracted relations of every entity, by row."""
    return state.derive(_degrees, adjacency(state), table(state, ElementKind.RELATION))


def _degrees(edges: Adjacency, rows: Table) -> Rows:
    return edges.degrees(np.array([relation.retracted_at is None for relation in rows.items], np.float64))
