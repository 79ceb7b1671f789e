"""install and uninstall: graphsearch in the configuration of a coding agent, and what its hooks record."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.agent_hooks import record
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import Place, open_caller
from graphsearch.cli.installing import Agent, Change, apply, plan, plan_removal
from graphsearch.cli.principals import Asker, who
from graphsearch.cli.settings import source_of
from graphsearch.ingest import Ingestor
from graphsearch.model.codec import Says

_Agent = Annotated[Agent, Says("The coding agent.")]
_User = Annotated[bool, Says("In your home folder, for all projects.")]
_Yes = Annotated[bool, Says("Write the files, and do not only show what would change.")]


def install(
    agent: _Agent,
    *,
    user: _User = False,
    yes: _Yes = False,
    asker: Asker,
    place: Place,
) -> Answer:
    """Write the server and the hooks into a coding agent's configuration."""
    options = ["--org", place.org, "--project", place.project, "--principal", who(asker.principal, place)]
    options += [part for each in asker.attribute for part in ("--attribute", each)]
    if place.folder:
        options += ["--embedded", str(place.folder.absolute())]
    elif source_of("dsn") == "--dsn":  # one of the environment stays there
        options += ["--dsn", place.dsn]
    command = [shutil.which("graphsearch") or str(Path(sys.argv[0]).absolute())]
    return _made(plan(agent, _folder(user=user), command=command, options=options, user=user), "install", yes=yes)


def uninstall(agent: _Agent, *, user: _User = False, yes: _Yes = False) -> Answer:
    """Take the server and the hooks out of it again."""
    return _made(plan_removal(agent, _folder(user=user), user=user), "uninstall", yes=yes)


def _folder(*, user: bool) -> Path:
    return Path.home() if user else Path.cwd()


def _made(changes: Sequence[Change], what: str, *, yes: bool) -> Answer:
    if yes:
        apply(changes)
    done = "written" if yes else f"nothing is written yet: add --yes to {what}"
    data = {"files": [str(each.path) for each in changes], "written": yes and bool(changes)}
    return Answer(data, [*map(str, changes), done if changes else f"nothing to {what}"])


async def record_session(agent: _Agent, *, asker: Asker, place: Place) -> None:
    """Do the work of a hook, whose event is on standard input."""
    async with open_caller(place, embed=True) as caller:
        ingestor = Ingestor(caller.engine, gate=ALLOW_ALL)
        given = sys.stdin.read()
        await record(given, agent=agent, engine=caller.engine, ingestor=ingestor, gate=asker.gate(place))
