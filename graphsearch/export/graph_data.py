"""Graphs as nodes and edges of plain data, which every format can hold. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from graphsearch.text.rendering import safe_text

Value: TypeAlias = str | int | float


@attrs.frozen(kw_only=True)
class Node:
    """An entity or a memory; ``attributes`` are its other known properties."""

    id: str
    name: str
    type: str
    attributes: Mapping[str, Value] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Edge:
    """A directed edge between two nodes, by their ids; ``attributes`` are its other known properties."""

    id: str
    source: str
    target: str
    type: str
    attributes: Mapping[str, Value] = attrs.field(factory=dict)


@attrs.frozen
class PlainGraph:
    """Nodes and edges, distinct, in the order of the answer; both ends of every edge are among the nodes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def value_of(value: Any) -> Value | None:
    """Numbers and text unchanged, other values as JSON text, which every format can hold; nothing for an empty list."""
    if value is None or (isinstance(value, Value) and not isinstance(value, bool)):
        return value
    return "" if value in ([], (), {}) else json.dumps(value, ensure_ascii=False)


def known(**attributes: Value | None) -> dict[str, Value]:
    """Attributes without those that have no value."""
    return {name: value for name, value in attributes.items() if value not in (None, "")}


LONGEST: Final = 80
"""Most characters of a label; GraphML has the full text."""

Escape: TypeAlias = Callable[[str], str]
"""How a format escapes arbitrary text."""


def node_label(node: Node, escape: Escape) -> str:
    """``Ada Lovelace (person)``."""
    return f"{escape(_short(node.name))} ({escape(_short(node.type))})"


def edge_label(edge: Edge, escape: Escape) -> str:
    """``works_at``, with its score if it has one: ``works_at 0.54``."""
    score, type_ = edge.attributes.get("score"), escape(_short(edge.type))
    return f"{type_} {score:.2f}" if isinstance(score, float) else type_


def _short(text: str) -> str:
    shown = safe_text(text) or "(unnamed)"
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
