"""What a search, a recall, a ranking and a path look like. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from graphsearch.display.displayed import Shown
from graphsearch.display.markup import Html, bar, element, page, quiet, table
from graphsearch.model import ElementKind, Triplet
from graphsearch.rendering import entity_name, memory_line, path_steps, safe_text, triplet_line

if TYPE_CHECKING:
    from graphsearch.ranking.result import FoundEntity, RankResult
    from graphsearch.recall.result import RecalledMemory, RecallResult
    from graphsearch.results import Path, SearchResult
    from graphsearch.summarising.summary import Summary


def shown_search(result: SearchResult) -> Shown:
    """The summary if there is one, the triplets with their scores, what connects the names of the question."""
    told = f"{result.mode}, as of {result.as_of:%Y-%m-%d}; {len(result.triplets)} of the {result.found} relations found"
    content = _answer(result, told, triplets(result.triplets))
    content[2:2] = cited(result.summary) if result.summary else []
    for connection in result.connections:
        ways = "; ".join(" ".join(path_steps(path)) for path in connection.paths.values())
        content.append(quiet(f"{entity_name(connection.entity)}, {connection.score:.4f}: {ways}"))
    text = result.summary.text if result.summary else "\n".join(map(triplet_line, result.triplets))
    return Shown(page(*content), text or result.reason)


def shown_recall(result: RecallResult) -> Shown:
    """The memories with their scores, and what each channel gave."""
    told = f"{len(result.memories)} of the {result.found} memories found"
    content = _answer(result, told, table(["score", "when", "who", "memory"], map(_recalled, result.memories)))
    lines = [memory_line(each.memory) for each in result.memories]
    return Shown(page(*content), "\n".join(filter(None, lines)) or result.reason)


def shown_ranking(result: RankResult) -> Shown:
    """The entities with their scores, and what they are connected with."""
    told = (
        f"{result.ranking}, as of {result.as_of:%Y-%m-%d}; {len(result.entities)} of the {result.found} entities found"
    )
    content = _answer(result, told, table(["score", "entity", "type", "connected with"], map(_found, result.entities)))
    lines = [f"- {entity_name(each.entity)} ({safe_text(each.entity.type)})" for each in result.entities]
    return Shown(page(*content), "\n".join(lines) or result.reason)


def shown_path(path: Path) -> Shown:
    """The path on one line, each relation in its own direction, and its strength."""
    line = " ".join(path_steps(path))
    return Shown(page(element("code", line), quiet(f"strength {path.strength:.4f}")), line)


def triplets(found: tuple[Triplet, ...]) -> Html:
    """A table of triplets, best first, each score with its parts."""
    rows = (
        (
            bar(each.score.value, _parts(each)),
            entity_name(each.source),
            element("code", safe_text(each.relation.type)),
            entity_name(each.target),
            each.relation.fact,
        )
        for each in found
    )
    return table(["score", "source", "relation", "target", "fact"], rows)


def cited(summary: Summary) -> list[Html]:
    """Its sentences, each with its citations, and what was cited."""
    lines = {source.number: source.line for sentence in summary.sentences for source in sentence.sources}
    sources = (f"[{number}] {line.removeprefix('- ')}" for number, line in sorted(lines.items()))
    return [*(element("p", str(sentence)) for sentence in summary.sentences), *map(quiet, sources)]


def hidden(denied: Mapping[ElementKind, int]) -> str:
    """``hidden: 2 entity, 1 relation``; empty where nothing was."""
    counts = ", ".join(f"{count} {kind.value}" for kind, count in denied.items() if count)
    return f"hidden: {counts}" if counts else ""


def _answer(result: SearchResult | RecallResult | RankResult, told: str, found: Html) -> list[Html]:
    """What every answer says: the question, how many were found, these, or why there are none."""
    beside = "; ".join(filter(None, (told, hidden(result.denied))))
    return [element("b", result.query), quiet(beside), quiet(result.reason) if result.reason else found]


def _parts(triplet: Triplet) -> str:
    score = triplet.score
    return (
        f"proximity {score.proximity_part:.4f} + importance {score.importance_part:.4f}"
        f" + feedback {score.feedback_part:.4f}"
    )


def _recalled(recalled: RecalledMemory) -> tuple[str, ...]:
    memory = recalled.memory
    parts = " + ".join(f"{name} {part.contribution:.4f}" for name, part in recalled.channels.items())
    day = f"{memory.occurred_at:%Y-%m-%d}" if memory.occurred_at else ""
    return bar(recalled.score, parts), day, memory.speaker or memory.subject, memory.text


def _found(entity: FoundEntity) -> tuple[str, ...]:
    parts = " + ".join(f"{factor.name} {factor.contribution:.4f}" for factor in entity.factors)
    connected = ", ".join(map(safe_text, entity.connected_names))
    return bar(entity.score, f"relevance: {parts}"), entity_name(entity.entity), entity.entity.type, connected
