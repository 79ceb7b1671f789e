"""The configuration files are valid, and say what the command line understands."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
import tomllib
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
from mcp import Client, StdioServerParameters
from psycopg.conninfo import conninfo_to_dict

from graphsearch.cli.app import app
from tests.fix_postgres import folder_for_a_server

EXAMPLES = Path(__file__).parents[2] / "examples"
yaml: Any = importlib.import_module("yaml")  # comes without types


def command(name: str) -> Any:
    """A command of ours, as the command line parses it."""
    return app.get_command(click.Context(app), name)


# -- clients of the MCP server ------------------------------------------------------------------------------------

READERS = {".json": json.loads, ".toml": tomllib.loads}
CLIENTS = sorted(path for path in (EXAMPLES / "mcp").iterdir() if path.suffix in READERS)
SECTIONS = {
    "claude_desktop_config.json": "mcpServers",
    "claude_code.mcp.json": "mcpServers",
    "cursor.mcp.json": "mcpServers",
    "vscode.mcp.json": "servers",
    "zed.settings.json": "context_servers",
    "codex.config.toml": "mcp_servers",
}


def servers_of(path: Path) -> dict[str, dict[str, Any]]:
    content = READERS[path.suffix](path.read_text())
    servers: dict[str, dict[str, Any]] = content[SECTIONS[path.name]]
    return servers


def test_there_is_a_file_for_each_common_client_and_the_readme_names_them_all() -> None:
    assert {path.name for path in CLIENTS} == set(SECTIONS)
    readme = (EXAMPLES / "mcp" / "README.md").read_text()
    assert all(f"]({name})" in readme for name in SECTIONS)


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: path.name)
def test_the_command_of_a_client_is_one_that_the_command_line_understands(path: Path) -> None:
    server = servers_of(path)["graphsearch"]
    assert server["command"] == "graphsearch"
    name, *arguments = server["args"]
    assert name == "mcp"
    parsed = command(name).make_context(name, list(arguments))
    assert parsed.params["principal"] == "ada"
    assert (parsed.params["org"], parsed.params["project"]) == ("acme", "web")
    assert Path(parsed.params["embedded"]).is_absolute()
    assert not any("postgresql://" in argument for argument in arguments), "passwords are for the environment"


async def test_the_command_that_all_clients_have_serves_what_it_is_given():
    (arguments,) = {tuple(servers_of(path)["graphsearch"]["args"]) for path in CLIENTS}
    with folder_for_a_server() as folder:
        own = [str(folder) if argument.startswith("/home/") else argument for argument in arguments]
        graphsearch = ["-c", "from graphsearch.cli import main; main()"]
        async with Client(StdioServerParameters(command=sys.executable, args=[*graphsearch, *own])) as client:
            remembered = await client.call_tool("remember", {"text": "Priya Sharma reports to Sarah Chen."})
            assert not remembered.is_error, remembered
            found = await client.call_tool("recall", {"query": "who does Priya report to?"})
            assert not found.is_error, found
            assert "Priya Sharma reports to Sarah Chen." in str(found.content)


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: path.name)
def test_a_server_of_a_team_is_reached_by_https_with_a_token_that_does_not_stand_in_the_file(path: Path) -> None:
    for server in servers_of(path).values():
        if "command" in server:
            continue
        where = urlsplit(server["url"])
        assert (where.scheme, where.path) == ("https", "/mcp")
        token = server.get("bearer_token_env_var") or server["headers"]["Authorization"]
        assert token == "GRAPHSEARCH_TOKEN" or token.startswith(("Bearer ${", "Bearer put-the-token-here"))


def test_what_vs_code_asks_for_is_what_it_refers_to() -> None:
    content = json.loads((EXAMPLES / "mcp" / "vscode.mcp.json").read_text())
    (asked,) = content["inputs"]
    assert asked["password"] is True
    assert f"${{input:{asked['id']}}}" in json.dumps(content["servers"])


# -- Postgres -----------------------------------------------------------------------------------------------------


@pytest.fixture
def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((EXAMPLES / "postgres" / "compose.yaml").read_text())
    return content


@pytest.fixture
def environment() -> dict[str, str]:
    """The variables of the example, each of which may use those above it."""
    variables: dict[str, str] = {}
    for line in (EXAMPLES / "postgres" / "example.env").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            variables[name] = Template(value).substitute(variables)
    return variables


def test_the_environment_is_what_init_asks_for(environment):
    asked = {parameter.envvar for parameter in command("init").params}
    assert {"GRAPHSEARCH_ADMIN_DSN", "GRAPHSEARCH_DSN"} <= asked & set(environment)
    admin, app_role = (conninfo_to_dict(environment[f"GRAPHSEARCH_{name}"]) for name in ("ADMIN_DSN", "DSN"))
    assert admin["user"] != app_role["user"]
    assert admin["password"] != app_role["password"]
    assert all(admin[part] == app_role[part] for part in ("host", "port", "dbname"))


def test_the_server_of_the_compose_file_is_the_one_that_the_environment_names(compose, environment):
    server = compose["services"]["postgres"]
    admin = conninfo_to_dict(environment["GRAPHSEARCH_ADMIN_DSN"])
    made = server["environment"]
    assert (made["POSTGRES_USER"], made["POSTGRES_DB"]) == (admin["user"], admin["dbname"])
    name, _, _ = made["POSTGRES_PASSWORD"].removeprefix("${").partition(":?")
    assert environment[name] == admin["password"]
    (port,) = server["ports"]
    assert port == f"{admin['host']}:{admin['port']}:5432", "on this machine alone"
    assert server["image"].startswith("pgvector/pgvector:pg")
    assert admin["user"] in server["healthcheck"]["test"]
    assert {volume.partition(":")[0] for volume in server["volumes"]} == set(compose["volumes"])


async def test_init_makes_a_database_of_such_an_environment(empty_database, monkeypatch, capsys):
    """As the compose file's, but on the server of the tests, whose roles have other passwords."""
    monkeypatch.setenv("GRAPHSEARCH_ADMIN_DSN", empty_database.admin_dsn)
    monkeypatch.setenv("GRAPHSEARCH_DSN", empty_database.dsn)
    await asyncio.to_thread(app, ["init"], standalone_mode=False)
    role = conninfo_to_dict(empty_database.dsn)["user"]
    assert f"the database is ready for the role {role}" in capsys.readouterr().out
