"""The JSON objects and the tables that commands print. The objects are stable, see docs/reference/command-line.md.

Tables are rendered through `safe_text`, so that stored text can neither colour a terminal nor move its cursor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs
from rich.table import Table
from rich.text import Text

from graphsearch.cli.commands import Answer
from graphsearch.context import ContextBlock
from graphsearch.curation import Duplicate
from graphsearch.export import Exportable, to_dot, to_graphml, to_mermaid
from graphsearch.model import Community, CommunitySummary, Entity, Relation, Scope, ScorePart, Triplet
from graphsearch.model.reports import Statistics
from graphsearch.modes.graph_query import GraphQuery
from graphsearch.modes.result import Connection, Sentence, Source, Summary
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import GraphPath, path_steps
from graphsearch.understanding.interpreting import Interpretation

_PRINTED: Final[Mapping[type, str]] = MappingProxyType(
    {
        Community: "id members strengths density top label size summary",
        CommunitySummary: "text sentences fingerprint model written_at",
        ContextBlock: "text tokens budget skipped skipped_memories reason interpretation denied injection_id memories"
        " triplets summary",
        Duplicate: "one other similarity likeness verdict",
        Entity: "id type name description labels attributes",
        GraphPath: "entities relations hops strength",
        RecalledMemory: "memory score channels path until parts",
        Relation: "id source_id type target_id fact kind confidence feedback_weight valid_from valid_to evidence",
        ScorePart: "name value weight contribution",
        Statistics: "entities relations memories claims mentions entities_by_type relations_by_type embedder dimensions"
        " max_degree mean_degree",
        Summary: "sentences sources unknown_citations uncited beyond communities note calls prompt_tokens answer_tokens"
        " text",
        Triplet: "source relation target score parts breakdown path",
    }
)
"""The fields and properties that are printed of a type, in order; of any other type, all fields."""


def as_json(value: Any) -> Any:
    """Any graphsearch value in JSON types."""
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
            return {str(as_json(key)): as_json(item) for key, item in value.items()}
        case Connection():
            return {**_fields(value), "paths": as_json(value.paths.values())}
        case Sentence():
            return {"text": value.text, "cites": [source.number for source in value.sources]}
        case Source():
            return {"number": value.number, **as_json(value.element._asdict()), "line": value.line}
        case Iterable():
            return [as_json(item) for item in value]
    return _fields(value)


def _fields(value: Any) -> dict[str, Any]:
    printed = _PRINTED.get(type(value))
    names = printed.split() if printed else [field.name for field in attrs.fields(type(value))]
    fields = {name: as_json(getattr(value, name)) for name in names}
    scopes = getattr(value, "scopes", ()) if isinstance(value, RecalledMemory | Triplet) else ()
    return {**fields, "scopes": list(map(str, scopes))} if scopes else fields


def sorted_counts(counts: Mapping[Any, int]) -> dict[str, int]:
    """Counts by name, sorted by name."""
    return {str(name): number for name, number in sorted(counts.items())}


def time_pairs(interpretation: Interpretation | None) -> list[tuple[str, str]]:
    """The time named by a question and its resolved interval; empty for the present."""
    if interpretation is None or not interpretation.time.written:
        return []
    until = "now" if interpretation.time.as_of is None else interpretation.time.as_of.isoformat()
    since = "" if interpretation.time.since is None else f"{interpretation.time.since.isoformat()} to "
    return [("time", f"{safe_text(interpretation.time.written)}: {since}{until}")]


def triplet_table(triplets: Sequence[Triplet]) -> Table:
    """A row per triplet: its score, the components of the score, and its line in a prompt."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("score", "= proximity", "+ importance", "+ feedback"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("triplet", overflow="fold")
    for triplet in triplets:
        score = triplet.breakdown
        parts = (score.value, score.proximity_part, score.importance_part, score.feedback_part)
        origin = f"[{projects_of(triplet.scopes)}] " if triplet.scopes else ""
        line = Text(origin + triplet_line(triplet).removeprefix("- "))
        table.add_row(*(f"{part:.4f}" for part in parts), line)
    return table


def projects_of(scopes: Iterable[Scope]) -> str:
    """The projects that something comes from, where several were asked."""
    return ", ".join(safe_text(scope.project_id) for scope in scopes)


def connection_table(connections: Iterable[Connection]) -> Table:
    """A row per path from an entity of the question to a connection."""
    rows = [
        (connection.score, Text(entity_name(connection.entity)), Text(" ".join(path_steps(path))))
        for connection in connections
        for path in connection.paths.values()
    ]
    return table("score", "connection", "path", rows=rows)


def query_table(query: GraphQuery) -> Table:
    """The fields of a query that have a value."""
    fields = {name: value for name, value in as_json(query).items() if value}
    return pairs(
        in_words({name: ", ".join(value) if isinstance(value, list) else value for name, value in fields.items()})
    )


def in_words(fields: Mapping[str, object]) -> list[tuple[str, object]]:
    """Fields, their names as words."""
    return [(name.replace("_", " "), value) for name, value in fields.items()]


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


class Format(StrEnum):
    """The graph formats of other programs."""

    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"


def exported(shown: Exportable, format: Format) -> Answer:
    """A graph in a format. The format quotes stored text, so that none of it moves a terminal's cursor."""
    match format:
        case Format.MERMAID:
            text = to_mermaid(shown)
        case Format.DOT:
            text = to_dot(shown)
        case Format.GRAPHML:  # keeps all text, so control characters are written as character references
            text = to_graphml(shown).encode("ascii", "xmlcharrefreplace").decode()
    return Answer({"format": format.value, "text": text}, (text.removesuffix("\n"),))
