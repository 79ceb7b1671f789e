"""Commands for the types of relations: relation-types and register-type."""

from __future__ import annotations

from typing import Annotated

import typer

from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_engine
from graphsearch.cli.output import as_json, in_words, pairs, table
from graphsearch.curation import Curator
from graphsearch.model import RelationType


async def relation_types(place: Place) -> Answer:
    """List the types of relations known from the start or registered, with their properties."""
    async with open_engine(place) as engine:
        found = await Curator(engine).relation_types()
    shown = table("type", "prior", "half-life", "hop scores", "", rows=map(_row, found))
    return Answer({"relation_types": as_json(found)}, (shown,))


def _row(known: RelationType) -> tuple[object, ...]:
    half_life = "" if known.half_life_days is None else f"{known.half_life_days:g} days"
    hops = ", ".join(f"{score:g}" for score in known.hop_scores)
    return (known.name, known.prior, half_life, hops, ", ".join(known.flags))


def _half_life(text: str) -> float:
    """The days, or 0 for "none"."""
    if text.casefold() == "none":
        return 0.0
    try:
        return float(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be a number of days or none, not {text!r}") from error


HalfLife = Annotated[
    float | None,
    typer.Option(parser=_half_life, metavar="DAYS|none", help="The age at which its relations count half."),
]
HopScores = Annotated[
    list[float] | None, typer.Option("--hop-score", help="The score by distance, from 0 hops on; repeated.")
]


async def register_type(
    place: Place,
    name: Annotated[str, typer.Argument(help="The type, such as blocked_by.")],
    prior: Annotated[float | None, typer.Option(help="The reliability of its relations, in [0, 1].")] = None,
    half_life: HalfLife = None,
    hop_scores: HopScores = None,
    functional: Annotated[bool | None, typer.Option(help="A source has one target at a time.")] = None,
    causal: Annotated[bool | None, typer.Option(help="The source is a cause of the target.")] = None,
    skip: Annotated[bool | None, typer.Option(help="Searches leave its relations out.")] = None,
    state: Annotated[bool | None, typer.Option(help="Its relations hold until something ends them.")] = None,
) -> Answer:
    """Register a type of relation, or change a known one: what is not given stays as it is."""
    async with open_engine(place) as engine:
        found = await Curator(engine).register_type(
            name,
            prior=prior,
            half_life_days=half_life,
            hop_scores=hop_scores or None,
            functional=functional,
            causal=causal,
            skip=skip,
            state=state,
        )
    known = as_json(found)
    return Answer(known, (pairs(in_words(known)),))
