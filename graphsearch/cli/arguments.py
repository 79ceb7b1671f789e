"""Arguments and options that several commands share, and how their text is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from graphsearch.access.gate import Gate
from graphsearch.access.references import EntityRef
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.environment import Place
from graphsearch.model import Principal, Scope


def moment(text: str) -> datetime:
    """A time in ISO 8601, in UTC unless it says otherwise."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be a time such as 2024-05-01T09:00:00Z, not {text!r}") from error
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def reference(text: str) -> EntityRef:
    """An entity by its id, else by a name or an alias."""
    try:
        return UUID(text)
    except ValueError:
        return text


def identifier(text: str) -> UUID:
    """An id."""
    try:
        return UUID(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be an id such as `search --json` prints, not {text!r}") from error


Question = Annotated[str, typer.Argument(help="The question.")]
Mode = Annotated[str, typer.Option(help="The search mode.")]
Limit = Annotated[int, typer.Option(min=1, help="How many triplets to show.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many nearest entities to start from.")]
Depth = Annotated[int, typer.Option(min=0, max=10, help="How many hops to go.")]
MaxHops = Annotated[int, typer.Option(min=1, max=10, help="How many hops to go at most.")]
AsOf = Annotated[datetime | None, typer.Option(parser=moment, help="What held at this time; now unless given.")]
Since = Annotated[
    datetime | None, typer.Option(parser=moment, help="With it, what held at any time from then to --as-of.")
]
KnownAt = Annotated[datetime | None, typer.Option(parser=moment, help="What was known at this time.")]
MinConfidence = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out relations less sure than this.")]
MinScore = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out triplets that score less than this.")]
Diversity = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="How much triplets should differ from each other; 0: not at all.")
]
Model = Annotated[
    str,
    typer.Option(
        "--llm",
        envvar="GRAPHSEARCH_LLM",
        show_envvar=True,
        metavar="VENDOR:MODEL",
        help="A language model, such as openai:gpt-5-mini or anthropic:claude-sonnet-5.",
    ),
]
ModelUrl = Annotated[
    str,
    typer.Option("--llm-url", envvar="GRAPHSEARCH_LLM_URL", show_envvar=True, help="Where it is served, if elsewhere."),
]
Facts = Annotated[
    bool | None, typer.Option("--facts/--no-facts", help="Embed the sentences of relations too, as is usual.")
]

PrincipalId = Annotated[str, typer.Option("--principal", help="Who asks.")]
PrincipalType = Annotated[str, typer.Option(help="What kind of principal asks: User or Agent.")]
Attributes = Annotated[
    list[str] | None,
    typer.Option("--attribute", help="key=value of the principal; true, false and numbers are read as such."),
]
Policies = Annotated[
    list[Path] | None, typer.Option(exists=True, dir_okay=False, help="Cedar policies in place of the default ones.")
]
Schema = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="The Cedar schema of those policies.")]


def principal_of(place: Place, id_: str, type_: str, attributes: Sequence[str]) -> Principal:
    """The principal that the options describe, a member of the project that the command works in."""
    read: dict[str, Any] = {}
    for attribute in attributes:
        key, equals, value = attribute.partition("=")
        if not key or not equals:
            raise typer.BadParameter(f"--attribute must be key=value, not {attribute!r}")
        read[key] = _value(value)
    return Principal(id=id_, type=type_, attributes=read, projects=(Scope(place.org, place.project),))


def gate_of(
    place: Place,
    id_: str,
    type_: str,
    attributes: Sequence[str] | None,
    policies: Sequence[Path] | None,
    schema: Path | None,
) -> Gate:
    """Who asks, as the options say it."""
    return Gate(authorizer_of(policies or (), schema), principal_of(place, id_, type_, attributes or ()))


def authorizer_of(policies: Sequence[Path], schema: Path | None) -> CedarAuthorizer:
    """The policies of the options, else the default ones."""
    if not policies:
        if schema is not None:
            raise typer.BadParameter("--schema comes with --policies")
        return CedarAuthorizer.default()
    return CedarAuthorizer.from_files(policies) if schema is None else CedarAuthorizer.from_files(policies, schema)


def _value(text: str) -> object:
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, (bool, int, float)) else text
