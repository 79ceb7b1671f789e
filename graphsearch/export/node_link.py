"""Node-link JSON, as returned by `graphsearch.curation.Curator.entity_graph`, as a plain graph. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphsearch.errors import InvalidInputError
from graphsearch.export.graph_data import Edge, Node, PlainGraph, Value, known, value_of


def node_link_graph(graph: Mapping[str, Any]) -> PlainGraph:
    """The nodes and links. Raises `InvalidInputError` for JSON of another form, and for links to missing nodes."""
    try:
        nodes = {node.id: node for node in map(_node_of, graph["nodes"])}
        edges = {edge.id: edge for edge in map(_edge_of, graph["links"])}
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError("node-link graph", [f"not as entity_graph gives it: {error!r}"]) from error
    ends = {end for edge in edges.values() for end in (edge.source, edge.target)}
    if lost := sorted(ends - nodes.keys()):
        raise InvalidInputError("node-link graph", [f"a link leads to {end!r}, which is no node" for end in lost])
    return PlainGraph(tuple(nodes.values()), tuple(edges.values()))


def _node_of(node: Mapping[str, Any]) -> Node:
    attributes = _plain(node, without=("id", "name", "type"))
    return Node(id=str(node["id"]), name=str(node["name"]), type=str(node["type"]), attributes=attributes)


def _edge_of(link: Mapping[str, Any]) -> Edge:
    return Edge(
        id=str(link["key"]),
        source=str(link["source"]),
        target=str(link["target"]),
        type=str(link["type"]),
        attributes=_plain(link, without=("key", "source", "target", "type")),
    )


def _plain(element: Mapping[str, Any], *, without: Iterable[str]) -> dict[str, Value]:
    return known(**{name: value_of(value) for name, value in element.items() if name not in without})
