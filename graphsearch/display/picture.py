"""A small graph as a drawing: concentric rings of nodes, the central entity in the middle. Pure and deterministic.

The graph around an entity is shown as such a drawing if it is small, as a table, and as text.

One ring per hop, wide enough for its labels; a node is placed near its neighbours of the inner rings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeAlias

from graphsearch.display.pages import Html, Shown, bar, cut, element, page, quiet, table
from graphsearch.model import Entity, Relation
from graphsearch.text.rendering import safe_text

MOST: Final = 30
"""Most nodes of a drawing; larger graphs read better as a table."""

_GAP: Final = 170.0
_ROOM: Final = 15.0
"""Width of a ring, in addition to its radius, for each node on it."""
_MARGIN_X: Final = 130.0
_MARGIN_Y: Final = 30.0
_LABEL: Final = 24

Point: TypeAlias = tuple[float, float]


Json: TypeAlias = Mapping[str, Any]
"""A node with its id, its name as it is shown, and its hops from the middle; or a link with source, target and type."""


def node_of(entity: Entity, **more: Any) -> dict[str, Any]:
    """An entity as a node of node-link JSON."""
    return {
        "id": str(entity.id),
        "name": entity.name,
        "type": entity.type,
        "description": entity.description,
        "aliases": list(entity.aliases),
        "labels": list(entity.labels),
        "importance_weight": entity.importance_weight,
        **more,
    }


def link_of(relation: Relation, **more: Any) -> dict[str, Any]:
    """A relation as a link of node-link JSON."""
    return {
        "source": str(relation.source_id),
        "target": str(relation.target_id),
        "key": str(relation.id),
        "type": relation.type,
        "fact": relation.fact,
        "kind": relation.kind.value,
        "confidence": relation.confidence,
        "valid_from": relation.valid_from.isoformat() if relation.valid_from else None,
        "valid_to": relation.valid_to.isoformat() if relation.valid_to else None,
        **more,
    }


def picture(nodes: Sequence[Json], links: Sequence[Json]) -> Html:
    """An SVG of at most `MOST` nodes; loops are left out, parallel edges are one line."""
    places = _places(nodes, links)
    width, height = (max(abs(place[axis]) for place in places.values()) for axis in (0, 1))
    box = (-width - _MARGIN_X, -height - _MARGIN_Y, 2 * (width + _MARGIN_X), 2 * (height + _MARGIN_Y))
    together: dict[tuple[str, str], list[str]] = {}
    for link in links:
        if link["source"] != link["target"]:
            together.setdefault((link["source"], link["target"]), []).append(link["type"])
    return element(
        "svg",
        *(_line(places[source], places[target], ", ".join(labels)) for (source, target), labels in together.items()),
        *(_dot(places[node["id"]], node["name"]) for node in nodes),
        viewBox=" ".join(map(_number, box)),
        width=_number(box[2]),
        style="max-width:100%;height:auto;font:12px sans-serif;color:CanvasText;background:Canvas",
    )


def _places(nodes: Sequence[Json], links: Sequence[Json]) -> dict[str, Point]:
    joined: dict[str, list[str]] = {node["id"]: [] for node in nodes}
    for link in links:
        joined[link["source"]].append(link["target"])
        joined[link["target"]].append(link["source"])
    angles: dict[str, float] = {}
    places: dict[str, Point] = {}
    radius = 0.0
    for hops, ring in groupby(sorted(nodes, key=itemgetter("hops")), key=itemgetter("hops")):
        ordered = sorted(ring, key=lambda node: _mean(joined[node["id"]], angles))
        radius = max(radius + _GAP, _ROOM * len(ordered)) if hops or len(ordered) > 1 else 0.0
        for row, node in enumerate(ordered):
            angle = math.tau * (row + 0.5 * (hops % 2)) / len(ordered)
            # labels are wider than high
            places[node["id"]] = 1.6 * radius * math.cos(angle), radius * math.sin(angle)
            angles[node["id"]] = angle
    return places


def _mean(joined: Sequence[str], angles: Mapping[str, float]) -> float:
    """The mean angle of those nodes that already have one."""
    known = [angles[id_] for id_ in joined if id_ in angles]
    return sum(known) / len(known) if known else 0.0


def _dot(place: Point, label: str) -> Html:
    shown = cut(label, _LABEL)
    half = 4.0 * len(shown) + 6
    box = {"x": _number(place[0] - half), "y": _number(place[1] - 11), "width": _number(2 * half), "height": "22"}
    return element(
        "g",
        element("title", label),
        element("rect", rx="5", fill="Canvas", stroke="currentColor", **box),
        _text(place, shown),
    )


def _line(source: Point, target: Point, label: str) -> Html:
    """A line, an arrowhead a little beyond its middle, and its label a little before it."""
    ends = {"x1": source[0], "y1": source[1], "x2": target[0], "y2": target[1]}
    turn = _number(math.degrees(math.atan2(target[1] - source[1], target[0] - source[0])))
    at = " ".join(map(_number, _between(source, target, 0.62)))
    return element(
        "g",
        element("title", label),
        element("line", stroke="currentColor", opacity="0.4", **{name: _number(end) for name, end in ends.items()}),
        element("path", d="M-5 -4 L5 0 L-5 4 Z", fill="currentColor", transform=f"translate({at}) rotate({turn})"),
        _text(_between(source, target, 0.42), cut(label, _LABEL), opacity="0.8"),
    )


def _between(source: Point, target: Point, part: float) -> Point:
    return source[0] + part * (target[0] - source[0]), source[1] + part * (target[1] - source[1])


def _text(place: Point, text: str, **attributes: str) -> Html:
    centred = {"text-anchor": "middle", "dominant-baseline": "central", "fill": "currentColor"}
    return element("text", text, x=_number(place[0]), y=_number(place[1]), **centred, **attributes)


def _number(value: float) -> str:
    return f"{round(value, 1) + 0.0:g}"


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
    nodes = [{**node, "name": names[node["id"]]} for node in nodes]
    links = [{**link, "type": safe_text(link["type"])} for link in links]
    rows = []
    for link in links:
        triplet = (names[link["source"]], element("code", link["type"]), names[link["target"]])
        rows.append((*triplet, bar(link["confidence"]), _period(link), link["fact"]))
    listed = table(["source", "relation", "target", "confidence", "period", "fact"], rows)
    return [picture(nodes, links), listed] if len(nodes) <= MOST else [listed]


def _count(elements: list[Any], one: str, many: str) -> str:
    return f"{len(elements)} {one if len(elements) == 1 else many}"


def _period(link: Mapping[str, Any]) -> str:
    """``2023-05-07 – `` for a relation that holds since a day; empty if neither end is known."""
    start, end = ((link[side] or "")[:10] for side in ("valid_from", "valid_to"))
    return f"{start} – {end}" if start or end else ""
