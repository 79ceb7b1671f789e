"""The JSON objects and the tables that commands print. The objects are stable; see docs/reference/command-line.md.

Tables are rendered through `safe_text`, so that stored text can neither colour a terminal nor move its cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs
from rich.table import Table
from rich.text import Text

from graphsearch.model import Entity, Relation, Triplet
from graphsearch.modes.result import Connection
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import Path, path_steps
from graphsearch.understanding.understood import Asked


def entity_json(entity: Entity) -> dict[str, Any]:
    """id, type, name, description, labels and attributes."""
    return {
        "id": str(entity.id),
        "type": entity.type,
        "name": entity.name,
        "description": entity.description,
        "labels": list(entity.labels),
        "attributes": dict(entity.attributes),
    }


def relation_json(relation: Relation) -> dict[str, Any]:
    """Everything but when it was written."""
    return {
        "id": str(relation.id),
        "source_id": str(relation.source_id),
        "type": relation.type,
        "target_id": str(relation.target_id),
        "fact": relation.fact,
        "kind": relation.kind.value,
        "confidence": relation.confidence,
        "feedback_weight": relation.feedback_weight,
        "valid_from": _iso(relation.valid_from),
        "valid_to": _iso(relation.valid_to),
        "evidence": list(relation.evidence),
    }


def triplet_json(triplet: Triplet) -> dict[str, Any]:
    """source, relation, target, score, its parts, all that goes into it, and the path by relation ids."""
    return {
        "source": entity_json(triplet.source),
        "relation": relation_json(triplet.relation),
        "target": entity_json(triplet.target),
        "score": triplet.score,
        "parts": [part.as_dict() for part in triplet.parts],
        "breakdown": attrs.asdict(triplet.breakdown),
        "path": [str(id_) for id_ in triplet.path],
    }


def recalled_json(recalled: RecalledMemory) -> dict[str, Any]:
    """memory, score, its parts, what each channel made of it, path and until."""
    return {**_fields(recalled), "parts": [part.as_dict() for part in recalled.parts]}


def path_json(path: Path) -> dict[str, Any]:
    """Its entities and relations in order, hops and strength."""
    return {
        "entities": [entity_json(entity) for entity in path.entities],
        "relations": [relation_json(relation) for relation in path.relations],
        "hops": path.hops,
        "strength": path.strength,
    }


def connection_json(connection: Connection) -> dict[str, Any]:
    """Its entity, score, and a path from every name."""
    paths = [path_json(path) for path in connection.paths.values()]
    return {"entity": entity_json(connection.entity), "score": connection.score, "paths": paths}


def counts_json(counts: Mapping[Any, int]) -> dict[str, int]:
    """Counts by name, in order of the name."""
    return {str(name): number for name, number in sorted(counts.items())}


def plain(value: Any) -> Any:
    """Any value of graphsearch as JSON has it: an object for a class, with the fields that its documentation names."""
    if shape := _SHAPES.get(type(value)):
        return shape(value)
    match value:
        case Enum():
            return value.value
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat()
        case str() | int() | float() | None:
            return value
        case Mapping():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case Iterable():
            return [plain(item) for item in value]
    return _fields(value)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: plain(getattr(value, field.name)) for field in attrs.fields(type(value))}


_SHAPES: Final[Mapping[type, Callable[[Any], dict[str, Any]]]] = MappingProxyType(
    {Entity: entity_json, Relation: relation_json, Triplet: triplet_json, RecalledMemory: recalled_json}
)


def asked_time_pairs(asked: Asked | None) -> list[tuple[str, str]]:
    """The time that a question names, with the moments that its answer is for; nothing for the present."""
    if asked is None or not asked.time.written:
        return []
    until = "now" if asked.time.as_of is None else asked.time.as_of.isoformat()
    since = "" if asked.time.since is None else f"{asked.time.since.isoformat()} to "
    return [("time", f"{safe_text(asked.time.written)}: {since}{until}")]


def triplet_table(triplets: Sequence[Triplet]) -> Table:
    """A row for each triplet: its score, the parts that add up to it, and the line that a prompt would hold."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("score", "= proximity", "+ importance", "+ feedback"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("triplet", overflow="fold")
    for triplet in triplets:
        score = triplet.breakdown
        parts = (score.value, score.proximity_part, score.importance_part, score.feedback_part)
        table.add_row(*(f"{part:.4f}" for part in parts), Text(triplet_line(triplet).removeprefix("- ")))
    return table


def connection_table(connections: Iterable[Connection]) -> Table:
    """A row for each path that leads to a connection from what the question names."""
    rows = [
        (connection.score, Text(entity_name(connection.entity)), Text(" ".join(path_steps(path))))
        for connection in connections
        for path in connection.paths.values()
    ]
    return table("score", "connection", "path", rows=rows)


def pairs(rows: Iterable[tuple[str, object]]) -> Table:
    """Names and values, a line each."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(safe_text(str(value))))
    return table


def table(*headings: str, rows: Iterable[Sequence[object]]) -> Table:
    """Rows under headings."""
    found = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        found.add_column(heading, overflow="fold")
    for row in rows:
        found.add_row(*map(_cell, row))
    return found


def _cell(value: object) -> Text:
    """A value as people read it; only what is given as `Text` is taken as it stands."""
    match value:
        case Text():
            return value
        case None:
            return Text()
        case datetime():
            return Text(value.date().isoformat())
        case float():
            return Text(f"{value:.4f}")
    return Text(safe_text(str(value)))


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
