"""Arguments and options shared by several commands, and the parsers of their values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from graphsearch.access.gate import Gate
from graphsearch.access.reader import EntityRef
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.environment import Place
from graphsearch.model import Principal, Scope


def moment(text: str) -> datetime:
    """Parse a time in ISO 8601; UTC without an offset."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be a time such as 2024-05-01T09:00:00Z, not {text!r}") from error
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def reference(text: str) -> EntityRef:
    """Parse a reference to an entity: its id, a name or an alias."""
    try:
        return UUID(text)
    except ValueError:
        return text


def identifier(text: str) -> UUID:
    """Parse an id."""
    try:
        return UUID(text)
    except ValueError as error:
        raise typer.BadParameter(f"must be an id such as `search --json` prints, not {text!r}") from error


Question = Annotated[str, typer.Argument(help="The question.")]
Mode = Annotated[str, typer.Option(help="The search mode.")]
Limit = Annotated[int, typer.Option(min=1, help="The number of triplets to show.")]
Seeds = Annotated[int, typer.Option(min=1, help="The number of nearest entities to start from.")]
Depth = Annotated[int, typer.Option(min=0, max=10, help="The number of hops.")]
MaxHops = Annotated[int, typer.Option(min=1, max=10, help="The maximum number of hops.")]
AsOf = Annotated[datetime | None, typer.Option(parser=moment, help="Only what was valid at this time; default: now.")]
Since = Annotated[
    datetime | None, typer.Option(parser=moment, help="Only what was valid at any time from then to --as-of.")
]
KnownAt = Annotated[datetime | None, typer.Option(parser=moment, help="Only what was known at this time.")]
MinConfidence = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out relations with less confidence.")]
MinScore = Annotated[float, typer.Option(min=0.0, max=1.0, help="Leave out triplets with a lower score.")]
Diversity = Annotated[float, typer.Option(min=0.0, max=1.0, help="Weight of the diversity of triplets; 0: none.")]
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
    typer.Option(
        "--llm-url", envvar="GRAPHSEARCH_LLM_URL", show_envvar=True, help="The URL of its server, if not the vendor's."
    ),
]
Facts = Annotated[bool | None, typer.Option("--facts/--no-facts", help="Embed the facts of relations too (default).")]

PrincipalId = Annotated[str, typer.Option("--principal", help="The principal.")]
PrincipalType = Annotated[str, typer.Option(help="The type of the principal: User or Agent.")]
Attributes = Annotated[
    list[str] | None,
    typer.Option("--attribute", help="key=value of the principal; true, false and numbers are read as such."),
]
Policies = Annotated[
    list[Path] | None, typer.Option(exists=True, dir_okay=False, help="Cedar policies in place of the default ones.")
]
Schema = Annotated[Path | None, typer.Option(exists=True, dir_okay=False, help="The Cedar schema of those policies.")]


def principal_of(place: Place, id_: str, type_: str, attributes: Sequence[str]) -> Principal:
    """The principal described by the options, a member of the project that the command works in."""
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
    """The gate for the principal and the policies of the options."""
    return Gate(authorizer_of(policies or (), schema), principal_of(place, id_, type_, attributes or ()))


def authorizer_of(policies: Sequence[Path], schema: Path | None) -> CedarAuthorizer:
    """The policies named by the options, else the default ones."""
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
