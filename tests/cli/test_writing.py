"""init and ingest, where to work, and what is missing."""

import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphsearch import __version__
from graphsearch.cli import commands, environment, main, writing
from graphsearch.cli.app import app
from graphsearch.embedders import VoyageEmbedder, WordLlamaEmbedder
from tests.cli.conftest import CommandLine

ROOT = Path(__file__).parents[2]
SCOPE = ("--org", "acme", "--project", "web")


def test_ingest_reports_what_it_did(line, folder):
    (folder / "broken.py").write_text("def f(:\n")
    found = line.json("add", folder)
    assert {name: found[name] for name in ("files", "changed", "entities", "relations", "embedded")} == {
        "files": 2,
        "changed": 1,
        "entities": 4,
        "relations": 4,
        "embedded": 4,
    }
    assert [(fault["path"], fault["line"]) for fault in found["faults"]] == [("broken.py", 1)]
    shown = line.run("add", folder).stdout
    assert "changed  0" in shown
    assert "broken.py:1: not valid Python: invalid syntax" in shown


def test_ingest_of_parts_and_under_another_name(line, folder):
    (folder / "other.py").write_text("")
    assert line.json("add", folder, "--only", "tls.py", "--only", "none.py", "--name", "mine")["files"] == 1


def test_ingest_of_nothing_is_an_error(line, tmp_path):
    assert "there is no file or folder at" in line.run("add", tmp_path / "nothing", code=1).stderr


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self):
        return True


def test_the_progress_bar_is_shown_on_a_terminal(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with commands.progress_bar() as progress:
        progress(1, 2, "tls.py")
        progress(2, 2, "\x1b[31mred.py")
    assert "tls.py" in screen.getvalue()
    assert "\x1b[31m" not in screen.getvalue()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp936"])
@pytest.mark.parametrize(
    "words", [("recall", "Who works at Acme?"), ("stats",), ("recall", "Who works at Acme?", "--json"), ("--help",)]
)
def test_a_console_prints_what_it_can_encode(line, monkeypatch, encoding, words):
    line.run("remember", "--id", "m1", "--text", "李雷 (Lei Li) works at Acme \N{ROCKET} → Zürich.")
    monkeypatch.setattr(sys, "argv", ["graphsearch", *words, *(() if "--help" in words else line.shared)])
    with io.BytesIO() as printed, io.TextIOWrapper(printed, encoding, errors="strict") as console:
        monkeypatch.setattr(sys, "stdout", console)
        with pytest.raises(SystemExit) as ended:
            main()
        console.flush()
        assert not ended.value.code
        assert printed.getvalue()


def test_the_version_is_one_number():
    said = CliRunner().invoke(app, ["--version"]).stdout
    assert said == f"graphsearch {__version__}\n"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    heading = re.search(r"^## \[Unreleased\] – (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert {__version__, heading and heading[1]} == {project}
    assert f'"library":"{project}"' in (ROOT / "docs" / "reference" / "scope-files.md").read_text()


# -- where to work --------------------------------------------------------------------------------------------------


def test_a_place_is_named_by_flag_or_environment(line, folder, monkeypatch):
    line.run("add", folder)
    line.shared = ()
    monkeypatch.setenv("GRAPHSEARCH_ORG", "acme")
    monkeypatch.setenv("GRAPHSEARCH_PROJECT", "web")
    monkeypatch.setenv("GRAPHSEARCH_DSN", "postgresql://app@nowhere/none")
    assert line.json("stats")["entities"] == 4


def test_one_store_is_named():
    found = CommandLine(*SCOPE, "--dsn", "x", "--embedded", "none").run("stats", code=2)
    assert "either --dsn" in found.stderr


def test_a_server_that_is_not_there_is_an_error():
    found = CommandLine(*SCOPE, "--dsn", "postgresql://app@127.0.0.1:1/none").run("stats", code=1)
    assert found.stdout == ""
    assert found.stderr.startswith("error:")


def test_the_embedder_follows_the_environment(monkeypatch):
    assert isinstance(environment.choose_embedder(), WordLlamaEmbedder)
    monkeypatch.setenv("VOYAGE_API_KEY", "key")
    assert isinstance(environment.choose_embedder(), VoyageEmbedder)


# -- init -----------------------------------------------------------------------------------------------------------


def test_init_prepares_the_database_of_the_app_role(monkeypatch):
    asked: dict[str, object] = {}

    async def migrate(admin_dsn, *, app_role, app_password, lock_timeout, distributed):
        asked.update(
            admin=admin_dsn, role=app_role, password=app_password, lock_timeout=lock_timeout, distributed=distributed
        )
        return ["0001_first.sql"]

    monkeypatch.setattr(writing, "migrate", migrate)
    line = CommandLine("--dsn", "postgresql://app:secret@host/db", "--admin-dsn", "postgresql://owner@host/db")
    assert line.json("init", "--lock-timeout", "3") == {"applied": ["0001_first.sql"], "ready": True}
    named = {"admin": "postgresql://owner@host/db", "role": "app", "password": "secret"}
    assert asked == {**named, "lock_timeout": 3, "distributed": False}
    shown = line.run("init", "--distributed").output
    assert asked["distributed"] is True
    assert "the database is ready for the role app" in shown
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dsn", "postgresql://app@host/db"), "--admin-dsn"),
        (("--dsn", "postgresql://host/db", "--admin-dsn", "x"), "must name the app role"),
        (("--dsn", "nonsense", "--admin-dsn", "x"), "is no connection string"),
        (("--embedded", "x", "--distributed"), "an embedded server is no cluster"),
    ],
)
def test_init_says_what_it_needs(options, message):
    assert message in CommandLine(*options).run("init", code=2).stderr


# -- main -----------------------------------------------------------------------------------------------------------


def test_main_runs_the_command_that_was_typed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["graphsearch", "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "remember" in capsys.readouterr().out


def test_without_the_extra_the_command_line_names_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "graphsearch.cli.app")
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == "error: the command line needs the extra 'cli': pip install 'graphsearch[cli]'"


def test_another_missing_module_is_not_taken_for_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "graphsearch.cli.app")
    monkeypatch.setitem(sys.modules, "graphsearch._support.version", None)
    with pytest.raises(ModuleNotFoundError, match="version"):
        main()


def test_the_help_does_not_load_the_engine():
    script = (
        "import sys; sys.argv[1:] = ['--help']; import atexit; from graphsearch.cli import main; atexit.register("
        "lambda: print({'numpy', 'graphsearch.engine'} & sys.modules.keys())); main()"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "search-entities" in shown
    assert shown.endswith("set()\n")
