"""The JSON objects and the tables that commands print. The objects are stable, see docs/reference/command-line.md.

Tables are rendered through `safe_text`, so that stored text can neither colour a terminal nor move its cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs
from rich.table import Table
from rich.text import Text

from graphsearch.model import Entity, Relation, Triplet
from graphsearch.modes.graph_query import GraphQuery
from graphsearch.modes.result import Connection, Summary
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import Path, path_steps
from graphsearch.understanding.understood import Asked


def entity_json(entity: Entity) -> dict[str, Any]:
    """The id, type, name, description, labels and attributes of an entity."""
    return {
        "id": str(entity.id),
        "type": entity.type,
        "name": entity.name,
        "description": entity.description,
        "labels": list(entity.labels),
        "attributes": dict(entity.attributes),
    }


def relation_json(relation: Relation) -> dict[str, Any]:
    """All fields except the time of writing."""
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
    """A triplet: source, relation, target, score with components and features, and the path by relation ids."""
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
    """A recalled memory with its score, components, channels, path and end of validity."""
    return {**_fields(recalled), "parts": [part.as_dict() for part in recalled.parts]}


def path_json(path: Path) -> dict[str, Any]:
    """The entities and relations of a path in order, its hops and its strength."""
    return {
        "entities": [entity_json(entity) for entity in path.entities],
        "relations": [relation_json(relation) for relation in path.relations],
        "hops": path.hops,
        "strength": path.strength,
    }


def connection_json(connection: Connection) -> dict[str, Any]:
    """An entity, its score, and a path from every name."""
    paths = [path_json(path) for path in connection.paths.values()]
    return {"entity": entity_json(connection.entity), "score": connection.score, "paths": paths}


def counts_json(counts: Mapping[Any, int]) -> dict[str, int]:
    """Counts by name, sorted by name."""
    return {str(name): number for name, number in sorted(counts.items())}


def plain(value: Any) -> Any:
    """Any graphsearch value in JSON types; an object becomes an object of its public fields."""
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
    """The time named by a question and its resolved interval; empty for the present."""
    if asked is None or not asked.time.written:
        return []
    until = "now" if asked.time.as_of is None else asked.time.as_of.isoformat()
    since = "" if asked.time.since is None else f"{asked.time.since.isoformat()} to "
    return [("time", f"{safe_text(asked.time.written)}: {since}{until}")]


def triplet_table(triplets: Sequence[Triplet]) -> Table:
    """A row per triplet: its score, the components of the score, and its line in a prompt."""
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
    """A row per path from an entity of the question to a connection."""
    rows = [
        (connection.score, Text(entity_name(connection.entity)), Text(" ".join(path_steps(path))))
        for connection in connections
        for path in connection.paths.values()
    ]
    return table("score", "connection", "path", rows=rows)


def pairs(rows: Iterable[tuple[str, object]]) -> Table:
    """A table of names and values."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(safe_text(str(value))))
    return table


def table(*headings: str, rows: Iterable[Sequence[object]]) -> Table:
    """A table with headings."""
    found = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        found.add_column(heading, overflow="fold")
    for row in rows:
        found.add_row(*map(_cell, row))
    return found


def _cell(value: object) -> Text:
    """A cell for people; only a `Text` is rendered unescaped."""
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


def query_json(query: GraphQuery | None) -> dict[str, Any] | None:
    """All fields of a query."""
    fields: dict[str, Any] | None = None if query is None else plain(query)
    return fields


def query_table(query: GraphQuery) -> Table:
    """The fields of a query that have a value."""
    fields = ((name, value) for name, value in plain(query).items() if value)
    return pairs(
        (name.replace("_", " "), ", ".join(value) if isinstance(value, list) else value) for name, value in fields
    )


def summary_json(summary: Summary | None) -> dict[str, Any] | None:
    """A summary: text, sentences with the numbers of the cited sources, sources by number, and the other fields."""
    if summary is None:
        return None
    sentences = [{"text": each.text, "cites": [source.number for source in each.sources]} for each in summary.sentences]
    sources = [
        {"number": each.number, "kind": each.element.kind.value, "id": each.element.id, "line": each.line}
        for each in summary.sources
    ]
    return {**plain(summary), "text": summary.text, "sentences": sentences, "sources": sources}


def summary_lines(summary: Summary) -> Iterator[str]:
    """The text of a summary, the sources that it cites, and its problems."""
    yield summary.text or "The model found no answer in what was found."
    cited = {source.number: source.line for each in summary.sentences for source in each.sources}
    yield from (cited[number] for number in sorted(cited))
    if summary.unknown_citations:
        yield f"unknown citations removed: {', '.join(map(str, summary.unknown_citations))}"
    yield from (f"uncited, removed: {sentence}" for sentence in summary.uncited)
    if summary.beyond:
        yield f"{summary.beyond} more sentences were over the budget"
    if summary.note:
        yield summary.note
