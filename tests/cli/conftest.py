"""A command line over a store in memory; one test module runs it over a server."""

import json
from contextlib import asynccontextmanager

import pytest
from click.testing import CliRunner

from graphsearch.cli import environment
from graphsearch.cli.app import app
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder

SOURCE = '''"""Sockets with TLS."""
def do_handshake():
    """Start the TLS handshake."""
    _check()

def _check():
    """Check that there is a connection."""

class Alone:
    """By itself."""
'''


class CommandLine:
    """Runs commands in the project acme/web."""

    def __init__(self, *shared):
        self.shared = shared

    def run(self, *arguments, code=0):
        found = CliRunner().invoke(app, [*map(str, arguments), *map(str, self.shared)])
        assert found.exit_code == code, found.output
        return found

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json").stdout)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tls.py").write_text(SOURCE)
    return tmp_path / "src"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch, tmp_path_factory):
    for name in ("DSN", "EMBEDDED", "ORG", "PROJECT", "ADMIN_DSN", "LLM", "LLM_URL", "EMBEDDER", "PRINCIPAL"):
        monkeypatch.delenv(f"GRAPHSEARCH_{name}", raising=False)
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("STATE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name)))


@pytest.fixture
def line(monkeypatch):
    stores = InMemoryGraphStore()

    @asynccontextmanager
    async def open_scopes(_place):
        yield stores

    monkeypatch.setattr(environment, "open_scopes", open_scopes)
    monkeypatch.setattr(environment, "choose_embedder", lambda: HashEmbedder(16))
    return CommandLine("--org", "acme", "--project", "web", "--dsn", "postgresql://app@nowhere/none")
