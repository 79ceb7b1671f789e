"""networkx graphs and GraphML, which Gephi, yEd, Cytoscape and igraph read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from graphsearch._support.lazy import load
from graphsearch.export.answers import Exportable, plain_graph
from graphsearch.export.graph_data import Edge, Node, PlainGraph, Value

_NOT_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINE_END: Final = re.compile("\r\n?")


def to_networkx(shown: Exportable) -> Any:
    """An answer (`graphsearch.export.graph_data`) as a ``networkx.MultiDiGraph``, nothing cut.

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
        told = {**element.attributes, "type": element.type}
        return {name: text(value) if isinstance(value, str) else value for name, value in told.items()}

    drawn = load("networkx", extra="graphs", purpose="a networkx graph").MultiDiGraph()
    for node in graph.nodes:
        drawn.add_node(text(node.id), **{**attributes(node), "name": text(node.name)})
    for edge in graph.edges:
        drawn.add_edge(text(edge.source), text(edge.target), key=text(edge.id), **attributes(edge))
    return drawn


def _writable(text: str) -> str:
    return _NOT_XML.sub("\ufffd", _LINE_END.sub("\n", text))
