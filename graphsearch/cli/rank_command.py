"""rank-entities: the entities that answer a question, with the components of their scores."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text
from rich.tree import Tree

from graphsearch.cli.arguments import AsOf, KnownAt, Question
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine
from graphsearch.model import ScorePart
from graphsearch.ranking.result import FoundEntity, RankResult
from graphsearch.ranking.strategies import RankedEntity, Ranking
from graphsearch.ranking.temporal import Years
from graphsearch.text.rendering import entity_name, safe_text


async def rank_entities(
    place: Place,
    question: Question,
    ranking: Annotated[Ranking, typer.Option(help="The features to use in addition to words and meaning.")] = (
        Ranking.QUESTION_AWARE
    ),
    limit: Annotated[int, typer.Option(min=1, help="The number of entities to show.")] = 5,
    candidates: Annotated[int, typer.Option(min=1, help="The number of candidates to rank.")] = 20,
    min_score: Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out entities with a lower score.")] = 0.0,
    diversity: Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of the diversity of entities.")] = 0.0,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> Answer:
    """Rank the entities that answer a question, and show the components of their scores."""
    async with open_engine(place, embed=True) as engine:
        found = await engine.rank_entities(
            question,
            ranking=ranking,
            limit=limit,
            candidates=candidates,
            min_score=min_score,
            diversity=diversity,
            as_of=as_of,
            known_at=known_at,
        )
        influence = engine.scoring.feedback_influence
    summary = f"{len(found.entities)} of {found.found} entities in {found.timings['total']:.0f} ms"
    return Answer(found.as_dict(), (_tree(found, influence), found.reason or summary))


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
        leaf = relevance.add(Text(factor_line(factor)))
        if factor.name == "original":
            for channel, part in found.channels.items():
                leaf.add(Text(f"{channel}: rank {part.rank}, score {part.score:.4f}, adds {part.contribution:.6f}"))
    learnt = ScorePart(name="feedback", value=ranked.candidate.feedback_weight, weight=influence)
    branch.add(Text(factor_line(learnt)))
    names = ", ".join(map(safe_text, found.connected_names)) or "none"
    types = ", ".join(map(safe_text, found.relation_types))
    branch.add(Text(f"connections {found.connections}: {names}" + (f" by {types}" if types else "")))
    if found.dates:
        branch.add(Text(f"dates {', '.join(map(_period, found.dates))}"))


def factor_line(factor: ScorePart) -> str:
    """Format value × weight = contribution."""
    return f"{factor.name} {factor.value:.4f} × {factor.weight:.4f} = {factor.contribution:.4f}"


def _relevance_line(ranked: RankedEntity, weight: float) -> str:
    """The relevance relative to the best, and its contribution to the score."""
    best = ranked.relevance * weight / ranked.relevance_part if ranked.relevance_part else ranked.relevance
    return f"relevance {ranked.relevance:.4f} / {best:.4f} × {weight:.4f} = {ranked.relevance_part:.4f}"


def _period(years: Years) -> str:
    if years.first == years.last:
        return str(years.first)
    return f"{'…' if years.first is None else years.first}–{'…' if years.last is None else years.last}"
