"""The parts that the pages of all answers share: the question, its triplets, and how much was hidden. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphsearch.display.markup import Html, bar, element, quiet, table
from graphsearch.model import ElementKind, ScorePart, Triplet
from graphsearch.text.rendering import entity_name, safe_text


def answer(query: str, summary: str, found: Html, *, reason: str, denied: Mapping[ElementKind, int]) -> list[Html]:
    """The question, one line about the answer, and what was found, or the reason why nothing was."""
    line = "; ".join(filter(None, (summary, hidden(denied))))
    return [element("b", query), quiet(line), quiet(reason) if reason else found]


def triplet_table(found: tuple[Triplet, ...]) -> Html:
    """A table of triplets, best first, each score with its parts."""
    rows = (
        (
            bar(each.score, sum_of(each.parts)),
            entity_name(each.source),
            element("code", safe_text(each.relation.type)),
            entity_name(each.target),
            each.relation.fact,
        )
        for each in found
    )
    return table(["score", "source", "relation", "target", "fact"], rows)


def hidden(denied: Mapping[ElementKind, int]) -> str:
    """``hidden: 2 entity, 1 relation``; empty where nothing was."""
    counts = ", ".join(f"{count} {kind.value}" for kind, count in denied.items() if count)
    return f"hidden: {counts}" if counts else ""


def sum_of(parts: Iterable[ScorePart]) -> str:
    """``proximity 0.4000 + importance 0.1000 + feedback 0.0500``: what a score adds up from."""
    return " + ".join(f"{part.name} {part.contribution:.4f}" for part in parts)
