"""Answers and graphs in the formats that other programs draw and read: Mermaid, Graphviz DOT, GraphML, networkx."""

from typing import TYPE_CHECKING

from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.exporting.dot import to_dot as to_dot
    from graphsearch.exporting.graph import Edge as Edge
    from graphsearch.exporting.graph import Node as Node
    from graphsearch.exporting.graph import PlainGraph as PlainGraph
    from graphsearch.exporting.graphml import to_graphml as to_graphml
    from graphsearch.exporting.graphml import to_networkx as to_networkx
    from graphsearch.exporting.mermaid import to_mermaid as to_mermaid
    from graphsearch.exporting.plain import Exportable as Exportable
    from graphsearch.exporting.plain import plain_graph as plain_graph

_HOMES = {
    "Edge": "graphsearch.exporting.graph",
    "Exportable": "graphsearch.exporting.plain",
    "Node": "graphsearch.exporting.graph",
    "PlainGraph": "graphsearch.exporting.graph",
    "plain_graph": "graphsearch.exporting.plain",
    "to_dot": "graphsearch.exporting.dot",
    "to_graphml": "graphsearch.exporting.graphml",
    "to_mermaid": "graphsearch.exporting.mermaid",
    "to_networkx": "graphsearch.exporting.graphml",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
