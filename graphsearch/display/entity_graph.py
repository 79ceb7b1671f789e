"""The HTML and text of a graph around an entity. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphsearch.display.displayed import Shown
from graphsearch.display.markup import Html, bar, element, page, quiet, table
from graphsearch.display.picture import MOST, Dot, Line, picture
from graphsearch.text.rendering import safe_text


def shown_entity_graph(graph: Mapping[str, Any]) -> Shown:
    """A drawing if it is small, the relations, and entities without one; ``graph`` is node-link JSON with hops."""
    nodes, links = graph["nodes"], graph["links"]
    names = {node["id"]: safe_text(node["name"]) or "(unnamed)" for node in nodes}
    joined = {end for link in links for end in (link["source"], link["target"])}
    alone = [f"{names[node['id']]} ({safe_text(node['type'])})" for node in nodes if node["id"] not in joined]
    content = [quiet(f"{_count(nodes, 'entity', 'entities')}, {_count(links, 'relation', 'relations')}")]
    if links:
        content += _drawn(nodes, links, names)
    if alone:
        content.append(quiet(f"without a relation: {', '.join(alone)}"))
    lines = [f"- {names[link['source']]} --{safe_text(link['type'])}--> {names[link['target']]}" for link in links]
    return Shown(page(*content), "\n".join([*lines, *(f"- {name}" for name in alone)]))


def _drawn(nodes: list[Any], links: list[Any], names: Mapping[str, str]) -> list[Html]:
    """The relations as a drawing, if that is readable, and as a table."""
    dots = [Dot(node["id"], names[node["id"]], node["hops"]) for node in nodes]
    lines = [Line(link["source"], link["target"], safe_text(link["type"])) for link in links]
    rows = (
        (
            names[link["source"]],
            element("code", safe_text(link["type"])),
            names[link["target"]],
            bar(link["confidence"]),
            _period(link),
            link["fact"],
        )
        for link in links
    )
    told = table(["source", "relation", "target", "confidence", "period", "fact"], rows)
    return [picture(dots, lines), told] if len(dots) <= MOST else [told]


def _count(elements: list[Any], one: str, many: str) -> str:
    return f"{len(elements)} {one if len(elements) == 1 else many}"


def _period(link: Mapping[str, Any]) -> str:
    """``2023-05-07 – `` for a relation that holds since a day; empty if neither end is known."""
    start, end = ((link[side] or "")[:10] for side in ("valid_from", "valid_to"))
    return f"{start} – {end}" if start or end else ""
