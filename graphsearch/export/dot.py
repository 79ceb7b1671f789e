"""Graphviz DOT."""

from __future__ import annotations

from typing import Final

from graphsearch._support.lazy import load
from graphsearch.export.answers import Exportable, plain_graph
from graphsearch.export.labels import edge_label, node_label

_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})  # Graphviz decodes HTML's entities


def to_dot(shown: Exportable) -> str:
    """A directed graph in DOT of an answer (`graphsearch.export.graph_data`).

    Names and types longer than 80 characters are cut. Raises `InvalidInputError` for a value without a graph, and
    `MissingExtraError` without the extra ``graphs``.
    """
    pydot = load("pydot", extra="graphs", purpose="DOT")
    graph = plain_graph(shown)
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    dot = pydot.Dot("graphsearch", graph_type="digraph", rankdir="LR")
    for node in graph.nodes:
        dot.add_node(pydot.Node(names[node.id], shape="box", label=_quoted(node_label(node, _escaped))))
    for edge in graph.edges:
        dot.add_edge(pydot.Edge(names[edge.source], names[edge.target], label=_quoted(edge_label(edge, _escaped))))
    return str(dot.to_string())


def _quoted(label: str) -> str:
    """Quoted here: pydot does not quote text that looks quoted, or like HTML, and a stored name may."""
    return f'"{label}"'


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)
