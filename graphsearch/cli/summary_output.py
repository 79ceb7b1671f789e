"""What a language model made of a question, or of what was found: as JSON, and for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from graphsearch.cli.json_shapes import pairs, plain
from graphsearch.graph_query.query import GraphQuery
from graphsearch.summaries.cited_summary import Summary


def query_json(query: GraphQuery | None) -> dict[str, Any] | None:
    """All of its fields."""
    fields: dict[str, Any] | None = None if query is None else plain(query)
    return fields


def query_table(query: GraphQuery) -> Table:
    """What the query asks for."""
    asked = ((name, value) for name, value in plain(query).items() if value)
    return pairs(
        (name.replace("_", " "), ", ".join(value) if isinstance(value, list) else value) for name, value in asked
    )


def summary_json(summary: Summary | None) -> dict[str, Any] | None:
    """Its text, its sentences with the numbers that they cite, its sources by number, and all else that it tells."""
    if summary is None:
        return None
    sentences = [{"text": each.text, "cites": [source.number for source in each.sources]} for each in summary.sentences]
    sources = [
        {"number": each.number, "kind": each.element.kind.value, "id": each.element.id, "line": each.line}
        for each in summary.sources
    ]
    return {**plain(summary), "text": summary.text, "sentences": sentences, "sources": sources}


def summary_lines(summary: Summary) -> Iterator[str]:
    """The text, the sources that it cites, and what was wrong with it."""
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
