"""Mermaid: diagrams as text, which code forges, notebooks and documentation render. Pure.

Mermaid reads a label as Markdown, looks for icons in it, and can quote a quotation mark only by its own character code,
``#34;``. So letters and digits, and a mark between two of them (``works_at``), are written as they are, and everything
else by its code.
"""

from __future__ import annotations

import re
from typing import Final

from graphsearch.export.answers import Exportable, plain_graph
from graphsearch.export.labels import edge_label, node_label

_MARK: Final = re.compile(r"(?<=[^\W_])[._/-](?=[^\W_])|([^\w ]|_)")


def to_mermaid(shown: Exportable) -> str:
    """A Mermaid flowchart, from left to right, of an answer (`graphsearch.export.graph_data`).

    Names and types longer than 80 characters are cut. Mermaid renders at most 500 edges by default. Raises
    `InvalidInputError` for a value without a graph.
    """
    graph = plain_graph(shown)
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    nodes = [f'    {names[node.id]}["{node_label(node, _encoded)}"]' for node in graph.nodes]
    edges = [
        f'    {names[edge.source]} -->|"{edge_label(edge, _encoded)}"| {names[edge.target]}' for edge in graph.edges
    ]
    return "\n".join(["flowchart LR", *nodes, *edges, ""])


def _encoded(text: str) -> str:
    return _MARK.sub(lambda mark: f"#{ord(mark[1])};" if mark[1] else mark[0], text)
