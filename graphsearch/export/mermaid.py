"""Mermaid: a picture as text that forges, notebooks and documentation draw. Pure.

Mermaid reads a label as markdown, looks for icons in it, and has no way to quote a quotation mark but its own code of a
character, ``#34;``. So letters and digits stand for themselves, a mark between two of them too (``works_at``), and
everything else is its code.
"""

from __future__ import annotations

import re
from typing import Final

from graphsearch.export.answers import Exportable, plain_graph
from graphsearch.export.labels import edge_label, node_label

_MARK: Final = re.compile(r"(?<=[^\W_])[._/-](?=[^\W_])|([^\w ]|_)")


def to_mermaid(shown: Exportable) -> str:
    """A Mermaid flowchart, from left to right, of what an answer shows (`graphsearch.export.graph_data`).

    Names and types longer than 80 characters are cut. Mermaid itself draws at most 500 edges unless told otherwise.
    Raises `InvalidInputError` for what shows no graph.
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
