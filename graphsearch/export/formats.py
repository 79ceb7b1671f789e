"""Formats of other programs: Mermaid, Graphviz DOT, GraphML and networkx."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from graphsearch._support.lazy import load
from graphsearch.export.answers import Edge, Exportable, Node, PlainGraph, Value, plain_graph
from graphsearch.text.rendering import safe_text

_LONGEST: Final = 80
"""Most characters of a label; GraphML has the full text."""

_Escape: TypeAlias = Callable[[str], str]
"""How a format escapes arbitrary text."""

# Mermaid reads a label as Markdown, looks for icons in it, and can quote a quotation mark only by its character code,
# #34;. So letters and digits, and a mark between two of them (works_at), are written as they are, all else by its code.
_MARK: Final = re.compile(r"(?<=[^\W_])[._/-](?=[^\W_])|([^\w ]|_)")


def to_mermaid(shown: Exportable) -> str:
    """A Mermaid flowchart, from left to right, of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Mermaid renders at most 500 edges by default. Raises
    `InvalidInputError` for a value without a graph.
    """
    graph = plain_graph(shown)
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    nodes = [f'    {names[node.id]}["{_node_label(node, _encoded)}"]' for node in graph.nodes]
    edges = [
        f'    {names[edge.source]} -->|"{_edge_label(edge, _encoded)}"| {names[edge.target]}' for edge in graph.edges
    ]
    return "\n".join(["flowchart LR", *nodes, *edges, ""])


def _encoded(text: str) -> str:
    return _MARK.sub(lambda mark: f"#{ord(mark[1])};" if mark[1] else mark[0], text)


_ESCAPED: Final = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})  # Graphviz decodes HTML's entities


def to_dot(shown: Exportable) -> str:
    """A directed graph in DOT of an answer (`graphsearch.export.plain_graph`).

    Names and types longer than 80 characters are cut. Raises `InvalidInputError` for a value without a graph, and
    `MissingExtraError` without the extra ``graphs``.
    """
    pydot = load("pydot", extra="graphs", purpose="DOT")
    graph = plain_graph(shown)
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    dot = pydot.Dot("graphsearch", graph_type="digraph", rankdir="LR")
    for node in graph.nodes:
        dot.add_node(pydot.Node(names[node.id], shape="box", label=_quoted(_node_label(node, _escaped))))
    for edge in graph.edges:
        dot.add_edge(pydot.Edge(names[edge.source], names[edge.target], label=_quoted(_edge_label(edge, _escaped))))
    return str(dot.to_string())


def _quoted(label: str) -> str:
    """Quoted here: pydot does not quote text that looks quoted, or like HTML, and a stored name may."""
    return f'"{label}"'


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)


_NOT_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END: Final = re.compile("\r\n?")


def to_networkx(shown: Exportable) -> Any:
    """An answer (`graphsearch.export.plain_graph`) as a ``networkx.MultiDiGraph``, nothing cut.

    Nodes and edges are identified by their ids, the key of an edge being that of its relation, and have ``name``
    (nodes), ``type`` and their other known properties as attributes. Raises `InvalidInputError` for a value without a
    graph, and `MissingExtraError` without the extra ``graphs``.
    """
    return _drawn(plain_graph(shown))


def to_graphml(shown: Exportable) -> str:
    """`to_networkx` as GraphML, nothing cut.

    XML cannot represent most control characters: they become U+FFFD, and every line break is a line feed. Raises what
    `to_networkx` raises.
    """
    networkx = load("networkx", extra="graphs", purpose="GraphML")
    return "\n".join(networkx.generate_graphml(_drawn(plain_graph(shown), text=_writable)))


def _drawn(graph: PlainGraph, text: Callable[[str], str] = str) -> Any:
    """A networkx graph with ``text`` applied to every text."""

    def attributes(element: Node | Edge) -> dict[str, Value]:
        values = {**element.attributes, "type": element.type}
        return {name: text(value) if isinstance(value, str) else value for name, value in values.items()}

    drawn = load("networkx", extra="graphs", purpose="a networkx graph").MultiDiGraph()
    for node in graph.nodes:
        drawn.add_node(text(node.id), **{**attributes(node), "name": text(node.name)})
    for edge in graph.edges:
        drawn.add_edge(text(edge.source), text(edge.target), key=text(edge.id), **attributes(edge))
    return drawn


def _writable(text: str) -> str:
    return _NOT_XML.sub("\ufffd", _LINE_END.sub("\n", text))


def _node_label(node: Node, escape: _Escape) -> str:
    """``Ada Lovelace (person)``."""
    return f"{escape(_short(node.name))} ({escape(_short(node.type))})"


def _edge_label(edge: Edge, escape: _Escape) -> str:
    """``works_at``, with its score if it has one: ``works_at 0.54``."""
    score, type_ = edge.attributes.get("score"), escape(_short(edge.type))
    return f"{type_} {score:.2f}" if isinstance(score, float) else type_


def _short(text: str) -> str:
    shown = safe_text(text) or "(unnamed)"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
