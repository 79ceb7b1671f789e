"""Node-link JSON: entities as nodes and relations as links, and such a graph as a table of text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphsearch.display.printing import text_table
from graphsearch.model import Entity, Relation
from graphsearch.model.codec import encode
from graphsearch.text.rendering import safe_text

_NODE: Final = ("id", "name", "type", "description", "aliases", "labels", "importance_weight")
_LINK: Final = {"source": "source_id", "target": "target_id", "key": "id"} | {
    name: name for name in ("type", "fact", "kind", "confidence", "valid_from", "valid_to")
}


def node_of(entity: Entity, **more: Any) -> dict[str, Any]:
    """An entity as a node of node-link JSON."""
    return {**{name: encode(getattr(entity, name)) for name in _NODE}, **more}


def link_of(relation: Relation, **more: Any) -> dict[str, Any]:
    """A relation as a link of node-link JSON."""
    return {**{name: encode(getattr(relation, field)) for name, field in _LINK.items()}, **more}


def print_graph(graph: Mapping[str, Any]) -> str:
    """The relations as a table, and entities without one; ``graph`` is node-link JSON."""
    nodes, links = graph["nodes"], graph["links"]
    names = {node["id"]: safe_text(node["name"]) or "(unnamed)" for node in nodes}
    joined = {end for link in links for end in (link["source"], link["target"])}
    alone = [f"{names[node['id']]} ({safe_text(node['type'])})" for node in nodes if node["id"] not in joined]
    rows = [
        (names[each["source"]], each["type"], names[each["target"]], f"{each['confidence']:.2f}", _period(each))
        for each in links
    ]
    lines = [f"{len(nodes)} entities, {len(links)} relations"]
    lines += [text_table(("source", "relation", "target", "confidence", "period"), rows)] if rows else []
    lines += [f"without a relation: {', '.join(alone)}"] if alone else []
    return "\n".join(lines)


def _period(link: Mapping[str, Any]) -> str:
    """``2023-05-07 – `` for a relation that holds since a day; empty if neither end is known."""
    start, end = ((link[side] or "")[:10] for side in ("valid_from", "valid_to"))
    return f"{start} – {end}" if start or end else ""
