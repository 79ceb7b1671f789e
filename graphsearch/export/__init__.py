"""Exports of answers and graphs to formats of other programs: Mermaid, Graphviz DOT, GraphML, networkx."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.export.answers import Exportable as Exportable
    from graphsearch.export.answers import plain_graph as plain_graph
    from graphsearch.export.answers import to_dot as to_dot
    from graphsearch.export.answers import to_graphml as to_graphml
    from graphsearch.export.answers import to_mermaid as to_mermaid
    from graphsearch.export.answers import to_networkx as to_networkx

__getattr__, __dir__ = lazily(__name__)
