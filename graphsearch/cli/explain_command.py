"""explain: show why an element is, or is not, among the results of a question."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.arguments import AsOf, KnownAt, Mode, Model, ModelUrl, Question, identifier
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_for
from graphsearch.cli.json_shapes import pairs
from graphsearch.explaining.explanation import Explanation
from graphsearch.explaining.options import ExplainOptions
from graphsearch.model import ElementKind, ElementRef
from graphsearch.modes.options import SearchMode
from graphsearch.ranking.strategies import Ranking


async def explain(
    place: Place,
    question: Question,
    relation: Annotated[UUID | None, typer.Argument(parser=identifier, help="The id of a relation.")] = None,
    memory: Annotated[str | None, typer.Option(help="Or the id of a memory.")] = None,
    entity: Annotated[str | None, typer.Option(help="Or an entity: its id, its name or an alias.")] = None,
    mode: Mode = SearchMode.GRAPH_COMPLETION,
    ranking: Annotated[Ranking, typer.Option(help="The ranking, for an entity.")] = Ranking.QUESTION_AWARE,
    limit: Annotated[int, typer.Option(min=1, help="The number of results requested.")] = 10,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    llm: Model = "",
    llm_url: ModelUrl = "",
) -> Answer:
    """Explain why a relation, a memory or an entity is, or is not, among the results of a question."""
    options: ExplainOptions = {"as_of": as_of, "known_at": known_at, "gate": ALLOW_ALL}
    match relation, memory, entity:
        case UUID(), None, None:
            element = ElementRef(ElementKind.RELATION, str(relation))
            options |= {"mode": mode, "limit": limit}
        case None, str(), None:
            element = ElementRef(ElementKind.MEMORY, memory)
            options |= {"limit": limit}
        case None, None, str():
            element = ElementRef(ElementKind.ENTITY, entity)
            options |= {"limit": limit, "ranking": ranking}
        case _:
            raise typer.BadParameter("give the id of a relation, --memory or --entity")
    uses = options.get("mode", SearchMode.GRAPH_COMPLETION)
    async with open_for(place, uses, llm=llm, llm_url=llm_url) as engine:
        found = await engine.explain(question, element, **options)
    return Answer(found.as_dict(), (pairs(_rows(found)),))


def _rows(found: Explanation) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [] if found.rank is None else [("rank", f"{found.rank} of {found.of}")]
    rows.append(("score" if found.rank else "would score", f"{found.score:.4f}"))
    if found.triplet:
        score = found.triplet.breakdown
        product = f"confidence {score.confidence:.4f} × freshness {score.freshness:.4f} × prior {score.prior:.4f}"
        rows.append(("strength", f"{score.strength:.4f}, from {product}"))
    parts = ((part.name, f"{part.value:.4f} × {part.weight:.4f} = {part.contribution:.4f}") for part in found.parts)
    return [*rows, *parts, ("reason", found.reason)]
