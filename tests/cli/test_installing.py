"""Configurations of coding agents: planned, written, and taken out again."""

import json
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise, product

import pytest
from click.testing import CliRunner

from graphsearch.cli.app import app
from graphsearch.cli.installing import Agent, apply, plan, plan_removal
from graphsearch.errors import InvalidInputError

OPTIONS = ("--org", "acme", "--project", 'it\'s "web" ü', "--embedded", "/srv/a b", "--principal", "ada")
COMMAND = ("/opt/my tools/graphsearch",)
BOTH = pytest.mark.parametrize(("agent", "user"), [*product(Agent, (False, True))])
SERVERS = {Agent.CLAUDE_CODE: ".mcp.json", Agent.CURSOR: ".cursor/mcp.json"}
HOOKS = {
    Agent.CLAUDE_CODE: ".claude/settings.json",
    Agent.CODEX: ".codex/hooks.json",
    Agent.CURSOR: ".cursor/hooks.json",
}
LAYOUTS = [
    lambda value: json.dumps(value, indent=2, ensure_ascii=False) + "\n",
    lambda value: json.dumps(value, indent="\t", ensure_ascii=False),
    lambda value: json.dumps(value, separators=(",", ":")),
]
OTHER = {"type": "command", "command": "notify-send 'graphsearch hook'", "timeout": 9}
"""A hook of somebody else, who has heard of us."""


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.is_dir() or path.read_bytes() for path in folder.rglob("*")}


def filled(settings):
    """Settings without lists and objects that are empty."""
    if not isinstance(settings, dict):
        return settings
    return {name: left for name, each in settings.items() if (left := filled(each)) not in ({}, [])}


def planned(agent, folder, user=False, options=OPTIONS):
    return plan(agent, folder, command=COMMAND, options=options, user=user)


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


@BOTH
def test_an_empty_folder_and_back(tmp_path, agent, user):
    changes = planned(agent, tmp_path, user)
    assert tree(tmp_path) == {}  # a plan changes nothing
    assert all(f"+++ {change.path}" in str(change) for change in changes)
    apply(changes)
    installed = tree(tmp_path)
    assert len(changes) == 2
    assert planned(agent, tmp_path, user) == ()
    apply(planned(agent, tmp_path, user, [*OPTIONS, "--also", "api"]))
    assert tree(tmp_path) != installed
    apply(planned(agent, tmp_path, user))
    assert tree(tmp_path) == installed
    apply(plan_removal(agent, tmp_path, user=user))
    assert tree(tmp_path) == {}
    assert plan_removal(agent, tmp_path, user=user) == ()


def test_what_an_agent_runs(tmp_path):
    for agent in Agent:
        apply(planned(agent, tmp_path))
    servers = [json.loads((tmp_path / SERVERS[agent]).read_text())["mcpServers"] for agent in SERVERS]
    servers.append(tomllib.loads((tmp_path / ".codex/config.toml").read_text())["mcp_servers"])
    for each in servers:
        assert (each["graphsearch"]["command"], *each["graphsearch"]["args"]) == (*COMMAND, "mcp", *OPTIONS)
    for agent, name in HOOKS.items():
        for entries in json.loads((tmp_path / name).read_text())["hooks"].values():
            [handler] = entries[0].get("hooks", entries)
            assert shlex.split(handler["command"]) == [*COMMAND, "hook", agent, *OPTIONS, "||", "true"]
    assert {*json.loads((tmp_path / HOOKS[Agent.CURSOR]).read_text())["hooks"]} == {
        "sessionStart",
        "stop",
        "sessionEnd",
    }


def test_a_hook_that_cannot_run_does_not_block_an_agent(tmp_path):
    apply(plan(Agent.CLAUDE_CODE, tmp_path, command=[sys.executable, "-m", "graphsearch.missing"], options=OPTIONS))
    hooks = json.loads((tmp_path / ".claude/settings.json").read_text())["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    ran = subprocess.run(command, shell=True, check=False, capture_output=True)  # noqa: S602 - as an agent does
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert b"graphsearch.missing" in ran.stderr


@pytest.mark.parametrize("agent", [*SERVERS])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "there", [{}, {"mcpServers": {}}, {"ü": [{}, None], "mcpServers": {"other": {"command": "x"}, "else": {}}, "n": 1}]
)
def test_other_servers_stay_as_they_are(tmp_path, agent, layout, there):
    path = write(tmp_path, SERVERS[agent], layout(there))
    before = tree(tmp_path)
    apply(planned(agent, tmp_path))
    written = json.loads(path.read_text())
    assert written["mcpServers"].pop("graphsearch")["args"][0] == "mcp"
    assert written == {**there, "mcpServers": there.get("mcpServers", {})}
    assert planned(agent, tmp_path) == ()
    apply(plan_removal(agent, tmp_path))
    assert filled(json.loads(path.read_text()) if path.exists() else {}) == filled(there)
    assert tree(tmp_path) == before or "n" not in there or layout is LAYOUTS[2], "to the byte, where it is indented"


@pytest.mark.parametrize("agent", [*Agent])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "hooks",
    [
        None,
        {},
        {"Stop": [], "stop": [], "PreToolUse": [{"matcher": "Bash", "hooks": [OTHER]}]},
        {"Stop": [{"hooks": [OTHER, OTHER]}], "SessionEnd": [{"hooks": []}, {"hooks": None}, 7], "stop": [OTHER]},
    ],
)
def test_other_hooks_stay_as_they_are(tmp_path, agent, layout, hooks):
    there = {"version": 1, "model": "best"} | ({} if hooks is None else {"hooks": hooks})
    path = write(tmp_path, HOOKS[agent], layout(there))
    apply(planned(agent, tmp_path))
    written = json.loads(path.read_text())
    for event, entries in (hooks or {}).items():
        assert written["hooks"][event][: len(entries)] == entries
    assert planned(agent, tmp_path) == ()
    apply(plan_removal(agent, tmp_path))
    assert filled(json.loads(path.read_text())) == filled(there)


def test_a_plan_shows_no_secret_of_others(tmp_path):
    write(tmp_path, ".mcp.json", '{"mcpServers": {"other": {"env": {"TOKEN": "s3cr3t"}}}}')
    assert "s3cr3t" not in str(planned(Agent.CLAUDE_CODE, tmp_path)[0])


def test_what_others_add_later_stays(tmp_path):
    path = write(tmp_path, HOOKS[Agent.CLAUDE_CODE], '{"hooks": {"Stop": []}}')
    apply(planned(Agent.CLAUDE_CODE, tmp_path))
    settings = json.loads(path.read_text())
    settings["hooks"]["Stop"][0]["hooks"].append(OTHER)
    settings["hooks"]["Stop"].append({"hooks": [OTHER]})
    path.write_text(json.dumps(settings, indent=2))
    assert [change.path.name for change in planned(Agent.CLAUDE_CODE, tmp_path)] == ["settings.json"]
    apply(plan_removal(Agent.CLAUDE_CODE, tmp_path))
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": [OTHER]}, {"hooks": [OTHER]}]}}
    assert not (tmp_path / ".mcp.json").exists()


TOML = """# My settings
model = "best"   # the best

[mcp_servers.other]
command = "x"

[mcp_servers.other.env]
TOKEN = "secret"
"""


@pytest.mark.parametrize("text", [TOML, TOML.rstrip(), "", "\n", "# nothing\n"])
def test_comments_of_toml_stay(tmp_path, text):
    path = write(tmp_path, ".codex/config.toml", text)
    before = tree(tmp_path)
    changes = planned(Agent.CODEX, tmp_path)
    assert "secret" not in str(changes[0])
    apply(changes)
    written = path.read_text()
    assert written.startswith(text)
    assert tomllib.loads(written)["mcp_servers"].pop("graphsearch")["command"] == COMMAND[0]
    assert planned(Agent.CODEX, tmp_path) == ()
    apply(plan_removal(Agent.CODEX, tmp_path))
    assert tree(tmp_path) == before


def test_what_codex_adds_to_its_server_goes_and_what_follows_stays(tmp_path):
    path = write(tmp_path, ".codex/config.toml", TOML)
    apply(planned(Agent.CODEX, tmp_path))
    added = '\n[mcp_servers.graphsearch.tools.remember]\napproval_mode = "approve"\n'
    trusted = '\n# trusted\n[projects."/srv"]\ntrust_level = "trusted"\n'
    path.write_text(path.read_text() + added + trusted)
    assert planned(Agent.CODEX, tmp_path) == ()
    apply(plan_removal(Agent.CODEX, tmp_path))
    assert path.read_text() == TOML + trusted


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        (Agent.CLAUDE_CODE, ".mcp.json", '{"mcpServers": {}, // mine\n}'),
        (Agent.CLAUDE_CODE, ".mcp.json", ""),
        (Agent.CLAUDE_CODE, ".mcp.json", "[]"),
        (Agent.CLAUDE_CODE, ".claude/settings.json", '{"hooks": null}'),
        (Agent.CURSOR, ".cursor/hooks.json", '{"hooks": {"stop": {}}}'),
        (Agent.CURSOR, ".cursor/mcp.json", '{"mcpServers": "none"}'),
        (Agent.CODEX, ".codex/config.toml", "model = "),
        (Agent.CODEX, ".codex/config.toml", 'mcp_servers = {other = {command = "x"}}'),
        (Agent.CODEX, ".codex/config.toml", 'mcp_servers.graphsearch.command = "x"'),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused(tmp_path, agent, name, text):
    path = write(tmp_path, name, text)
    with pytest.raises(InvalidInputError, match="add by hand") as refused:
        planned(agent, tmp_path)
    assert str(path) in str(refused.value)
    assert path.read_text() == text


def test_a_file_that_cannot_be_read_is_not_uninstalled_from(tmp_path):
    write(tmp_path, ".mcp.json", "{,}")
    with pytest.raises(InvalidInputError, match="remove graphsearch by hand"):
        plan_removal(Agent.CLAUDE_CODE, tmp_path)
    (tmp_path / ".mcp.json").write_bytes(b"\xff")
    with pytest.raises(InvalidInputError, match="remove graphsearch by hand"):
        plan_removal(Agent.CLAUDE_CODE, tmp_path)


def test_a_plan_that_is_out_of_date_writes_nothing(tmp_path):
    changes = planned(Agent.CLAUDE_CODE, tmp_path)
    write(tmp_path, ".claude/settings.json", "{}")
    before = tree(tmp_path)
    with pytest.raises(InvalidInputError, match="plan it again"):
        apply(changes)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("dsn", ["postgresql://app:secret@db/graphs", "host=db password=secret"])
def test_a_password_is_not_written(tmp_path, dsn):
    with pytest.raises(InvalidInputError, match="GRAPHSEARCH_DSN"):
        planned(Agent.CODEX, tmp_path, options=["--dsn", dsn])


def test_a_command_that_a_removal_would_not_know_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="graphsearch"):
        plan(Agent.CODEX, tmp_path, command=["/opt/gs"], options=OPTIONS)


def test_the_environment_names_the_server(tmp_path):
    apply(planned(Agent.CURSOR, tmp_path, options=["--org", "acme"]))
    apply(planned(Agent.CODEX, tmp_path, options=["--dsn", "postgresql://app@db/graphs"]))
    server = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["graphsearch"]
    assert server["env"] == {"GRAPHSEARCH_DSN": "${env:GRAPHSEARCH_DSN}"}
    assert "GRAPHSEARCH_DSN" in (tmp_path / ".codex/config.toml").read_text()


def test_modes_and_links_stay(tmp_path):
    kept = write(tmp_path, "dotfiles.json", "{}")
    kept.chmod(0o640)
    (tmp_path / ".claude.json").symlink_to(kept)
    apply(planned(Agent.CLAUDE_CODE, tmp_path, user=True))
    assert (tmp_path / ".claude.json").is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o640
    assert "graphsearch" in kept.read_text()


@pytest.mark.parametrize(
    ("options", "attributes"),
    [
        ([], ["role=editor"]),
        (["--principal", "ada"], []),
        (["--principal", "ada", "--attribute", "role=viewer"], ["role=viewer"]),
        (["--attribute", "role=viewer"], ["role=viewer"]),
    ],
)
def test_the_agent_of_whoever_holds_the_store_may_write(tmp_path, monkeypatch, options, attributes):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["graphsearch"])
    place = ("--embedded", str(tmp_path / "graph"), *options)
    CliRunner().invoke(app, ["install", "cursor", *place, "--yes"], catch_exceptions=False)
    [server] = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"].values()
    assert [value for option, value in pairwise(server["args"]) if option == "--attribute"] == attributes

    served = []

    async def serve(serving, *_: object, **__: object) -> None:
        served.extend(serving.attribute)

    monkeypatch.setattr("graphsearch.cli.serving._serve", serve)
    CliRunner().invoke(app, ["mcp", *place], catch_exceptions=False)
    assert served == attributes
