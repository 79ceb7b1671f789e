"""Commands that answer a question: search, recall, rank-entities and explain.

They are for operators: unlike `context`, they evaluate no policy.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import attrs
import typer
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.arguments import (
    Also,
    AsOf,
    Depth,
    KnownAt,
    MaxHops,
    Mode,
    Model,
    ModelUrl,
    Question,
    TraversalName,
    TripletLimit,
    WorkloadName,
    identifier,
    moment,
)
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_asked, open_engine
from graphsearch.cli.output import (
    Format,
    as_json,
    connection_table,
    exported,
    pairs,
    projects_of,
    query_table,
    sorted_counts,
    summary_lines,
    table,
    time_pairs,
    triplet_table,
)
from graphsearch.explaining.explanation import Explanation
from graphsearch.model import ElementKind, ElementRef, ScorePart
from graphsearch.model.codec import encode
from graphsearch.modes.options import SearchMode
from graphsearch.ranking.options import Ranking
from graphsearch.ranking.result import FoundEntity, RankResult
from graphsearch.ranking.strategies import RankedEntity, Years
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text

AsGraph = Annotated[Format | None, typer.Option("--format", help="Print the result as a graph for other programs.")]


MinScore = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out what has a lower score.")]
Diversity = Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of the diversity of results; 0: none.")]


@attrs.frozen(kw_only=True)
class Moments:
    """When what is looked for held, and was known."""

    as_of: AsOf = None
    known_at: KnownAt = None
    min_score: MinScore = 0.0
    diversity: Diversity = 0.0


@attrs.frozen(kw_only=True)
class Searching(Moments):
    """The options of a search."""

    mode: Mode = SearchMode.GRAPH_COMPLETION
    limit: TripletLimit = 10
    seeds: Annotated[int, typer.Option(min=1, help="The number of nearest entities to start from.")] = 10
    depth: Depth = 2
    max_hops: MaxHops = 3
    since: Annotated[
        datetime | None, typer.Option(parser=moment, help="Only what was valid at any time from then to --as-of.")
    ] = None
    min_edge_confidence: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Leave out relations with less confidence.")
    ] = 0.5
    traversal: TraversalName = None


@attrs.frozen(kw_only=True)
class Recalling(Moments):
    """The options of recall."""

    limit: Annotated[int, typer.Option(min=1, help="The number of memories to show.")] = 10
    workload: WorkloadName = None


@attrs.frozen(kw_only=True)
class RankingBy(Moments):
    """The options of a ranking."""

    ranking: Annotated[Ranking, typer.Option(help="The features to use in addition to words and meaning.")] = (
        Ranking.QUESTION_AWARE
    )
    limit: Annotated[int, typer.Option(min=1, help="The number of entities to show.")] = 5
    candidates: Annotated[int, typer.Option(min=1, help="The number of candidates to rank.")] = 20


async def search(
    place: Place,
    question: Question,
    also: Also = None,
    format: AsGraph = None,
    llm: Model = "",
    llm_url: ModelUrl = "",
    *,
    searching: Searching,
) -> Answer:
    """Search for the triplets that answer a question, with score components or a written summary."""
    async with open_asked(place.asking(also), mode=searching.mode, llm=llm, llm_url=llm_url) as engine:
        found = await engine.search(question, **attrs.asdict(searching), gate=ALLOW_ALL)
    if format is not None:
        return exported(found, format)
    left_out = sorted_counts(found.left_out)
    data = {
        "query": found.query,
        "mode": str(found.mode),
        "as_of": found.as_of.isoformat(),
        "known_at": found.known_at.isoformat(),
        "found": found.found,
        "below_floor": found.below_floor,
        "left_out": left_out,
        "reason": found.reason,
        "plan": found.analysis.plan.value,
        "interpretation": as_json(found.interpretation),
        "timings_ms": dict(found.timings),
        "triplets": as_json(found.triplets),
        "entities": [entity.name for entity in found.entities],
        "connections": as_json(found.connections),
        "graph_query": as_json(found.graph_query),
        "summary": as_json(found.summary),
    }
    reasons = {**left_out, "below_floor": found.below_floor}.items()
    without = ", ".join(f"{number} {reason}" for reason, number in reasons if number) or "nothing"
    counts = f"{len(found.triplets)} of {found.found} relations in {found.timings['total']:.0f} ms"
    shown: list[str | Table] = [] if found.summary is None else [*summary_lines(found.summary)]
    if found.graph_query is not None:
        shown.append(query_table(found.graph_query))
    shown += [triplet_table(found.triplets), f"{counts}; left out: {without}"]
    if found.connections:
        shown.append(connection_table(found.connections))
    if found.reason:
        shown.append(found.reason)
    shown += [f"{name}: {time}" for name, time in time_pairs(found.interpretation)]
    return Answer(data, tuple(shown))


async def recall(
    place: Place,
    question: Question,
    also: Also = None,
    *,
    recalling: Recalling,
) -> Answer:
    """Recall the memories that answer a question, in their own words."""
    async with open_asked(place.asking(also), embed=True) as engine:
        found = await engine.recall(question, **attrs.asdict(recalling))
    shown = table("score", "when", "who", "memory", *(["projects"] if also else []), rows=map(_row, found.memories))
    summary = f"{len(found.memories)} of {found.found} memories in {found.timings['total']:.0f} ms"
    return Answer(encode(found), (shown, found.reason or summary))


def _row(recalled: RecalledMemory) -> tuple[object, ...]:
    """A memory in a table; the last cell, of its projects, is there where several were asked."""
    memory = recalled.memory
    cells = (recalled.score, memory.occurred_at, memory.speaker or memory.subject, memory.text)
    return (*cells, projects_of(recalled.scopes)) if recalled.scopes else cells


async def rank_entities(
    place: Place,
    question: Question,
    also: Also = None,
    *,
    ranked: RankingBy,
) -> Answer:
    """Rank the entities that answer a question, and show the components of their scores."""
    async with open_asked(place.asking(also), embed=True) as engine:
        found = await engine.rank_entities(question, **attrs.asdict(ranked))
        influence = engine.scoring.feedback_influence
    summary = f"{len(found.entities)} of {found.found} entities in {found.timings['total']:.0f} ms"
    return Answer(encode(found), (_tree(found, influence), found.reason or summary))


async def explain(
    place: Place,
    question: Question,
    relation: Annotated[UUID | None, typer.Argument(parser=identifier, help="The id of a relation.")] = None,
    memory: Annotated[str | None, typer.Option(help="Or the id of a memory.")] = None,
    entity: Annotated[str | None, typer.Option(help="Or an entity: its id, its name or an alias.")] = None,
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    ranking: Annotated[Ranking, typer.Option(help="The ranking, for an entity.")] = Ranking.QUESTION_AWARE,
    limit: Annotated[int, typer.Option(min=1, help="The number of results requested.")] = 10,
    traversal: TraversalName = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    llm: Model = "",
    llm_url: ModelUrl = "",
) -> Answer:
    """Explain why a relation, a memory or an entity is, or is not, among the results of a question."""
    options: dict[str, Any] = {"as_of": as_of, "known_at": known_at, "gate": ALLOW_ALL}
    match relation, memory, entity:
        case UUID(), None, None:
            element = ElementRef(ElementKind.RELATION, str(relation))
            options |= {"mode": mode, "limit": limit, "traversal": traversal}
        case None, str(), None:
            element = ElementRef(ElementKind.MEMORY, memory)
            options |= {"limit": limit}
        case None, None, str():
            element = ElementRef(ElementKind.ENTITY, entity)
            options |= {"limit": limit, "ranking": ranking}
        case _:
            raise typer.BadParameter("give the id of a relation, --memory or --entity")
    uses = options.get("mode", SearchMode.GRAPH_COMPLETION)
    async with open_engine(place, mode=uses, llm=llm, llm_url=llm_url) as engine:
        found = await engine.explain(question, element, **options)
    return Answer(encode(found), (pairs(_explained(found)),))


def _tree(found: RankResult, influence: float) -> Tree:
    analysis = [str(found.analysis.question_type), *map(str, found.analysis.years)]
    tree = Tree(Text(f"{found.ranking}: {', '.join(analysis)}", style="bold"))
    for each in found.entities:
        _branch(tree, each, influence)
    return tree


def _branch(tree: Tree, found: FoundEntity, influence: float) -> None:
    ranked = found.ranked
    head = f"{found.score:.4f}  {entity_name(found.entity)} ({safe_text(found.entity.type)})"
    branch = tree.add(Text(head, style="bold"))
    relevance = branch.add(Text(_relevance_line(ranked, 1.0 - influence)))
    for factor in found.factors:
        leaf = relevance.add(Text(_factor_line(factor)))
        if factor.name == "original":
            for channel, part in found.channels.items():
                leaf.add(Text(f"{channel}: rank {part.rank}, score {part.score:.4f}, adds {part.contribution:.6f}"))
    learnt = ScorePart(name="feedback", value=ranked.candidate.feedback_weight, weight=influence)
    branch.add(Text(_factor_line(learnt)))
    names = ", ".join(map(safe_text, found.connected_names)) or "none"
    types = ", ".join(map(safe_text, found.relation_types))
    branch.add(Text(f"connections {found.connections}: {names}" + (f" by {types}" if types else "")))
    if found.dates:
        branch.add(Text(f"dates {', '.join(map(_period, found.dates))}"))


def _factor_line(factor: ScorePart) -> str:
    """``name value × weight = contribution``."""
    return f"{factor.name} {factor.value:.4f} × {factor.weight:.4f} = {factor.contribution:.4f}"


def _relevance_line(ranked: RankedEntity, weight: float) -> str:
    """The relevance relative to the best, and its contribution to the score."""
    best = ranked.relevance * weight / ranked.relevance_part if ranked.relevance_part else ranked.relevance
    return f"relevance {ranked.relevance:.4f} / {best:.4f} × {weight:.4f} = {ranked.relevance_part:.4f}"


def _period(years: Years) -> str:
    if years.first == years.last:
        return str(years.first)
    return f"{'…' if years.first is None else years.first}–{'…' if years.last is None else years.last}"


def _explained(found: Explanation) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [] if found.rank is None else [("rank", f"{found.rank} of {found.of}")]
    rows.append(("score" if found.rank else "would score", f"{found.score:.4f}"))
    if found.triplet:
        score = found.triplet.breakdown
        product = f"confidence {score.confidence:.4f} × freshness {score.freshness:.4f} × prior {score.prior:.4f}"
        rows.append(("strength", f"{score.strength:.4f}, from {product}"))
    parts = ((part.name, f"{part.value:.4f} × {part.weight:.4f} = {part.contribution:.4f}") for part in found.parts)
    return [*rows, *parts, ("reason", found.reason)]
