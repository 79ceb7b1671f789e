"""Labels of nodes and edges in a picture: short, on one line, in visible characters. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from graphsearch.export.graph_data import Edge, Node
from graphsearch.text.rendering import safe_text

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
