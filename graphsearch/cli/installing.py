"""Write what a coding agent has to know of graphsearch into its configuration, and take it out again.

A plan holds files as they are and as they would be; to show it changes nothing. All that others wrote stays, in its
order: JSON with its indent, and TOML, which is edited as text, with its comments and layout.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import attrs

from graphsearch._support.files import written
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.cli.agent_hooks import record
from graphsearch.cli.commands import Answer
from graphsearch.cli.environment import EDITOR, Asker, Place, open_caller, source_of, who
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.model.codec import Says

NAME: Final = "graphsearch"
"""The name of the server in every configuration."""
_EVENTS: Final = {"SessionStart": 10, "Stop": 10, "SessionEnd": 3}
"""Events with a hook, and the seconds that it has to hand its work over: Codex allows 3 at the end of a session."""
_FORWARDED: Final = ("GRAPHSEARCH_DSN", "GRAPHSEARCH_EMBEDDER", "VOYAGE_API_KEY")
"""Variables that Codex, by their names, hands from its own environment to the server."""
_MARK: Final = "# Written by `graphsearch install codex`; `graphsearch uninstall codex` removes it."
_TABLES: Final = (f"[mcp_servers.{NAME}]", f"[mcp_servers.{NAME}.")


class Agent(StrEnum):
    """A coding agent."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"


_FILES: Final[Mapping[tuple[Agent, bool], tuple[str, str]]] = {
    (Agent.CLAUDE_CODE, False): (".mcp.json", ".claude/settings.json"),
    (Agent.CLAUDE_CODE, True): (".claude.json", ".claude/settings.json"),
    **dict.fromkeys([(Agent.CODEX, False), (Agent.CODEX, True)], (".codex/config.toml", ".codex/hooks.json")),
    **dict.fromkeys([(Agent.CURSOR, False), (Agent.CURSOR, True)], (".cursor/mcp.json", ".cursor/hooks.json")),
}
"""The file of servers and that of hooks, in a project's folder or in the home folder of a user."""


@attrs.frozen
class Change:
    """A file as it is and as it would be; None where there is none."""

    path: Path
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """The lines that change, without their neighbours: these may be secrets of other servers."""
        both = [text or "" for text in (self.before, self.after)]
        if self.path.suffix == ".json":  # a value a line, however they are laid out
            both = [text and json.dumps(json.loads(text), indent=2, ensure_ascii=False) for text in both]
        before, after = (text.splitlines() for text in both)
        old, new = ("/dev/null" if text is None else str(self.path) for text in (self.before, self.after))
        return "\n".join(unified_diff(before, after, old, new, n=0, lineterm=""))


def plan(
    agent: Agent, folder: Path, *, command: Sequence[str], options: Sequence[str], user: bool = False
) -> tuple[Change, ...]:
    """Plan to install the server and the hooks of an agent in a project's folder, or in the home folder of a ``user``.

    ``command`` starts graphsearch; ``options`` name the scope, the principal, and a server if the environment does not.
    Raises `InvalidInputError` for a password among them, and for a file that cannot be edited, saying what to add.
    """
    dsns = [value for option, value in pairwise(options) if option == "--dsn"]
    if any("password" in dsn.casefold() or urlsplit(dsn).password for dsn in dsns):
        raise InvalidInputError("--dsn", ["it has a password, which is not written to files: set GRAPHSEARCH_DSN"])
    if not any(NAME in each for each in command):
        raise InvalidInputError("command", [f"it has to name {NAME}, so that a removal knows what it started"])
    program, arguments = command[0], [*command[1:], "mcp", *options]
    server: dict[str, Any] = {"type": "stdio", "command": program, "args": arguments}
    if agent is Agent.CODEX:
        server = {"command": program, "args": arguments, "env_vars": [*_FORWARDED]}
    elif agent is Agent.CURSOR and not {"--dsn", "--embedded"} & {*options}:
        server["env"] = {"GRAPHSEARCH_DSN": "${env:GRAPHSEARCH_DSN}"}  # Cursor fills it in when it starts the server
    never_fails = f"{shlex.join([*command, 'hook', agent, *options])} || true"  # code 2, wrong usage, blocks an agent
    hook = {"type": "command", "command": never_fails}
    hooks: dict[str, Any] = {name: [{"hooks": [{**hook, "timeout": limit}]}] for name, limit in _EVENTS.items()}
    if agent is Agent.CURSOR:
        hooks = {name[0].lower() + name[1:]: [{**hook, "timeout": limit}] for name, limit in _EVENTS.items()}
    version = {"version": 1} if agent is Agent.CURSOR else {}
    servers = server if agent is Agent.CODEX else {"mcpServers": {NAME: server}}
    return _plan(agent, folder, user, servers, {**version, "hooks": hooks})


def plan_removal(agent: Agent, folder: Path, *, user: bool = False) -> tuple[Change, ...]:
    """Plan to take out what `plan` adds, whatever else changed since. Raises `InvalidInputError` like it."""
    return _plan(agent, folder, user, {}, {})


def apply(changes: Sequence[Change]) -> None:
    """Make planned changes; an agent's own folder that is empty then goes too.

    Raises `InvalidInputError`, before anything is written, for a file that changed since it was planned.
    """
    for change in changes:
        if _text(change.path) != change.before:
            raise InvalidInputError(str(change.path), ["it has changed since it was planned: plan it again"])
    for change in changes:
        parent = change.path.parent
        if change.after is not None:
            parent.mkdir(parents=True, exist_ok=True)
            with written(change.path.resolve()) as file:  # a link stays one
                file.write(change.after.encode())
        else:
            change.path.unlink()
            if parent.name in {".claude", ".codex", ".cursor"} and not any(parent.iterdir()):
                parent.rmdir()


def _plan(
    agent: Agent, folder: Path, user: bool, servers: Mapping[str, Any], hooks: Mapping[str, Any]
) -> tuple[Change, ...]:
    """Plan two files with these entries and no others of ours."""
    changes = []
    for name, wanted in zip(_FILES[agent, user], (servers, hooks), strict=True):
        path = folder / name
        try:
            before = _text(path)
            after = (_edit_toml if path.suffix == ".toml" else _edit_json)(before, wanted)
        except ValueError as error:
            todo = f"add by hand: {json.dumps(wanted)}" if wanted else f"remove {NAME} by hand"
            raise InvalidInputError(str(path), [f"it cannot be edited ({error})", todo]) from error
        changes += [] if after == before else [Change(path, before, after)]
    return tuple(changes)


def _text(path: Path) -> str | None:
    return path.read_bytes().decode() if path.exists() else None


def _edit_json(text: str | None, wanted: Mapping[str, Any]) -> str | None:
    """Replace our entries in a JSON file by the wanted ones; None for a file that is not needed."""
    given = {} if text is None else json.loads(text)
    if not isinstance(given, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - of the file
    entries = [(part, name, each) for part in wanted if part != "version" for name, each in wanted[part].items()]
    if wanted and all(_has(_object(given.get(part)).get(name), each) for part, name, each in entries):
        return text
    after = _without_ours(given)
    if not wanted:
        return text if after == given else None if after in ({}, {"version": 1}) else _laid_out(after, text)
    for part, name, each in entries:
        beside = after.setdefault(part, {})
        if not isinstance(beside, dict) or not isinstance(beside.get(name, each), type(each)):
            raise ValueError(f"{part}.{name} is of another kind")  # noqa: TRY004
        after[part] = {**beside, name: [*beside.get(name, ()), *each] if isinstance(each, list) else each}
    return _laid_out({**wanted, **after} if text is None else after, text)


def _laid_out(value: Any, like: str | None) -> str:
    """The JSON of a value, with the indent and the end of a text."""
    indent = re.search(r'\n([ \t]+)"', like or '\n  "')
    end = "\n" if like is None else like[len(like.rstrip()) :]
    return json.dumps(value, indent=indent and indent[1], ensure_ascii=False) + end


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _has(found: Any, wanted: Any) -> bool:
    """Whether an entry is as wanted, beside what a person or the agent added to it."""
    if isinstance(wanted, list):
        return isinstance(found, list) and wanted[0] in found
    return all(_object(found).get(key) == value for key, value in wanted.items())


def _without_ours(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without our server and handlers, nor what is empty without them."""
    servers, hooks = (_object(settings.get(part)) for part in ("mcpServers", "hooks"))
    left = {event: [*filter(None, map(_of_others, each))] for event, each in hooks.items() if isinstance(each, list)}
    kept = {
        "mcpServers": {name: each for name, each in servers.items() if name != NAME},
        "hooks": {event: left.get(event, each) for event, each in hooks.items() if left.get(event, True) or not each},
    }
    parts = {part: kept.get(part, each) if isinstance(each, dict) else each for part, each in settings.items()}
    return {part: each for part, each in parts.items() if each or not settings[part]}


def _of_others(entry: Any) -> Any:
    """A group of handlers, or one, without ours; None where nothing else is in it."""
    inner = _object(entry).get("hooks")
    if not isinstance(inner, list):
        return None if _is_ours(_object(entry).get("command")) else entry
    others = [each for each in inner if not _is_ours(_object(each).get("command"))]
    return entry if others == inner else {**entry, "hooks": others} if others else None


def _is_ours(command: Any) -> bool:
    return NAME in (shown := f"{command} ") and any(f" hook {agent} " in shown for agent in Agent)


def _edit_toml(text: str | None, server: Mapping[str, Any]) -> str | None:
    """Replace our table in a TOML file by the wanted one; None for a file that is not needed."""
    if server and text is not None and _has(_split(text)[0], server):
        return text
    kept = None if text is None else _without_table(text)
    if not server:
        return kept
    block = "\n".join([_MARK, _TABLES[0], *(f"{key} = {json.dumps(value)}" for key, value in server.items())])
    if kept is None:
        return f"{block}\n"
    ended = kept.endswith("\n")  # a last line without an end is one again after a removal
    after = kept + ("" if ended or not kept else "\n") + block + ("\n" if ended else "")
    if _split(after) != (server, _split(kept)[1]):
        raise ValueError("a table at its end would change the others")
    return after


def _without_table(text: str) -> str | None:
    """Take out the table of the server, and those in it that Codex may have added; comments behind them stay."""
    kept: list[str] = []
    behind: list[str] = []
    ours = False
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        ours = bare.startswith(_TABLES) if bare.startswith("[") else ours
        if ours:
            behind = [*behind, line] if not bare or bare.startswith("#") else []
        else:
            kept += [*behind, line]
            behind = []
    after = "".join(line for line in (*kept, *behind) if line.strip() != _MARK)
    after = after if text.endswith("\n") else after.removesuffix("\n")
    if _split(after) != (None, _split(text)[1]):
        raise ValueError(f"mcp_servers.{NAME} is not a table of its own")
    return after or (None if text.endswith("\n") else "")


def _split(text: str) -> tuple[Any, Mapping[str, Any]]:
    """The server in a TOML file, and all the rest."""
    rest = tomllib.loads(text)
    servers = {**_object(rest.pop("mcp_servers", {}))}
    return servers.pop(NAME, None), {**rest, "mcp_servers": servers}


# -- commands ---------------------------------------------------------------------------------------------------------

_Agent = Annotated[Agent, Says("The coding agent.")]
_User = Annotated[bool, Says("In your home folder, for all projects.")]
_Yes = Annotated[bool, Says("Write the files, and do not only show what would change.")]


def install(agent: _Agent, *, user: _User = False, yes: _Yes = False, asker: Asker, place: Place) -> Answer:
    """Write the server and the hooks into a coding agent's configuration."""
    options = ["--org", place.org, "--project", place.project, "--principal", who(asker.principal, place)]
    own = () if asker.principal else EDITOR
    options += [part for each in asker.attribute or own for part in ("--attribute", each)]
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
