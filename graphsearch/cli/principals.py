"""Whom a command acts for, and under which policies."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final

import attrs
import click

from graphsearch.access.gate import Gate, StatisticsOf
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.environment import Place, Server
from graphsearch.cli.options import Options, refuse
from graphsearch.cli.settings import user_name
from graphsearch.model import Principal
from graphsearch.model import validation as check
from graphsearch.model.codec import Says

FILE: Final = {"type": click.Path(exists=True, dir_okay=False, path_type=Path)}
PRINCIPAL: Final = {"envvar": "GRAPHSEARCH_PRINCIPAL"}
_ATTRIBUTE: Final = Says("An attribute of the principal; true, false and numbers are read as such.")

Log = Annotated[bool, Says("Log what a block shows, for feedback; a standby takes only --no-log.")]
Statistics = Annotated[StatisticsOf, Says("What scores by words are computed from: the scope, or what is visible.")]


@attrs.frozen(kw_only=True, slots=False)
class Principals(Options):
    """The type and the attributes of principals, and the policies that they are under."""

    principal_type: Annotated[str, Says("The type of the principal: User or Agent.")] = "User"
    attribute: Annotated[tuple[str, ...], _ATTRIBUTE, {"metavar": "KEY=VALUE"}] = ()
    policies: Annotated[tuple[Path, ...], Says("Cedar policies in place of the default ones."), FILE] = ()
    schema: Annotated[Path | None, Says("The Cedar schema of those policies."), FILE] = None

    @property
    def authorizer(self) -> CedarAuthorizer:
        """The policies named by the options, else the default ones."""
        if self.policies:
            return CedarAuthorizer.from_files(self.policies, *([self.schema] if self.schema else ()))
        refuse(self.schema, "--schema comes with --policies")
        return default_policies()

    def called(self, id_: str, place: Place) -> Principal:
        """The principal of an id, a member of the projects that the command works in."""
        pairs = [each.partition("=") for each in self.attribute]
        for key, equals, value in pairs:
            refuse(not key or not equals, f"--attribute must be key=value, not {key + equals + value!r}")
        attributes = {key: _value(value) for key, _, value in pairs}
        return Principal(id=id_, type=self.principal_type, attributes=attributes, projects=place.scopes)


@attrs.frozen(kw_only=True)
class Asker(Principals):
    """The principal that a command acts for."""

    principal: Annotated[str, Says("The principal; default: the user."), PRINCIPAL] = ""

    def gate(self, place: Place) -> Gate:
        """The gate for the principal and the policies."""
        statistics = getattr(self, "statistics", StatisticsOf.SCOPE)
        return Gate(self.authorizer, self.called(who(self.principal, place), place), statistics)


@attrs.frozen(kw_only=True)
class BlockAsker(Asker):
    """The principal that a block is for."""

    log: Log = True
    statistics: Statistics = StatisticsOf.SCOPE


@cache
def default_policies() -> CedarAuthorizer:
    """The default policies, read once."""
    return CedarAuthorizer.default()


def who(given: str, place: Server) -> str:
    """The name of a principal: for an embedded graph by default the user; for a server it must be given."""
    refuse(not given and place.folder is None, "Missing option '--principal' (or GRAPHSEARCH_PRINCIPAL), for a DSN")
    return given or user_name()


def _value(text: str) -> object:
    try:
        read = check.parse_json(text)
    except ValueError:
        return text
    return read if isinstance(read, bool | int | float) else text
