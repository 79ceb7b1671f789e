"""What an explanation looks like. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsearch.display.displayed import Shown
from graphsearch.display.markup import bar, element, page, quiet, table
from graphsearch.model import Triplet
from graphsearch.ranking.result import FoundEntity
from graphsearch.recall.result import RecalledMemory
from graphsearch.rendering import entity_name, memory_line, safe_text, short_triplet_line

if TYPE_CHECKING:
    from graphsearch.explaining.explanation import Explanation


def shown_explanation(explanation: Explanation) -> Shown:
    """What is explained, what became of it, and the factors that add up to its score."""
    name = _name(explanation)
    rows = (
        (factor.name, f"{factor.value:.4f}", f"{factor.weight:.4f}", bar(factor.contribution))
        for factor in explanation.factors
    )
    content = page(
        element("b", name),
        quiet(f"for {explanation.query!r}, {explanation.mode}: {explanation.reason}"),
        table(["factor", "value", "weight", "contribution"], rows),
        element("p", "score ", bar(explanation.score)),
    )
    parts = (
        f"  {each.name}: {each.value:.4f} × {each.weight:.4f} = {each.contribution:.4f}" for each in explanation.factors
    )
    lines = [
        f"{name}: {explanation.reason}",
        *parts,
        f"  score: {explanation.score:.4f}",
    ]
    return Shown(content, "\n".join(lines))


def _name(explanation: Explanation) -> str:
    found, which = explanation.found, explanation.element
    if isinstance(found, Triplet):
        return short_triplet_line(found).removeprefix("- ")
    if isinstance(found, FoundEntity):
        return entity_name(found.entity)
    said = memory_line(found.memory).removeprefix("- ") if isinstance(found, RecalledMemory) else ""
    return said or f"{which.kind.value} {safe_text(which.id)}"
