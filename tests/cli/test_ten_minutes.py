"""The first ten minutes of a new user: an empty folder, an empty home, no option, and a real embedded graph."""

import getpass
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from graphsearch.cli.app import app
from tests.cli.test_end_to_end import kept_running

NOTES = """# Backend

Ada Lovelace leads the backend team since March 2024. Grace Hopper works at Acme.

Grace Hopper reports to Ada Lovelace.
"""
QUESTION = "who leads the backend?"


class User:
    """Someone with a home of their own, who types commands in a folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "notes"
        self.folder.mkdir(parents=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GRAPHSEARCH_", "XDG_"))}
        self.environment = {**kept, "HOME": str(home)}

    def command(self, *arguments: str) -> list[str]:
        return [str(Path(sys.executable).with_name("graphsearch")), *arguments]

    def types(self, *arguments: str, given: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
        found = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == code, found.stderr
        return found

    def types_here(self, *arguments: str, given: str = "", code: int = 0) -> Result:
        """The same without a new process."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name in os.environ.keys() - self.environment.keys():
                patch.delenv(name)
            patch.setenv("HOME", self.environment["HOME"])
            found = CliRunner().invoke(app, arguments, input=given)
        assert found.exit_code == code, found.output
        return found

    def reads(self, *arguments: str) -> Any:
        return json.loads(self.types_here(*arguments, "--json").stdout)


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path / "home")
    (made.folder / "notes.md").write_text(NOTES)
    return made


def test_the_first_ten_minutes(user):
    remembered = user.types("remember", "notes.md")
    assert "the project is local/notes" in remembered.stderr
    assert "memories" in remembered.stdout

    asked = user.types(QUESTION)
    assert "Ada Lovelace leads the backend team" in asked.stdout
    assert "tokens" not in asked.stdout, "what is said about the answer is no part of the prompt"
    assert "tokens" in asked.stderr
    assert "the project is" not in asked.stderr, "it is said once"

    where = user.reads("where")
    assert {name: where[name]["value"] for name in ("organisation", "project", "principal")} == {
        "organisation": "local",
        "project": "notes",
        "principal": getpass.getuser(),
    }
    assert where["graph"]["value"].startswith(user.environment["HOME"])

    with kept_running(Path(where["graph"]["value"])):
        read_and_forget(user)


def read_and_forget(user):
    table = user.types_here("search", "who does Grace Hopper report to?").stdout.splitlines()
    assert table[0].split()[:2] == ["#", "score"]
    number = next(row.split()[0] for row in table[1:] if "reports_to" in row)
    assert "rank" in user.types_here("explain", number).stdout
    assert "Grace Hopper reports to Ada Lovelace." in user.types_here("why", number).stdout

    assert user.types_here("recall", QUESTION).stdout.splitlines()[1].startswith("1 ")
    assert "Remove this memory?" in user.types_here("forget", "1", given="n\n", code=1).stderr
    user.types_here("forget", "1", given="y\n")
    assert user.types_here(QUESTION).stdout == ""
    assert "has no row" in user.types_here("why", number, code=1).stderr, "no row is left of what was forgotten"


def test_two_commands_at_once_share_the_graph(user):
    texts = ("Ada Lovelace leads Acme.", "Grace Hopper works at Acme.")
    running = [
        subprocess.Popen(
            user.command("remember", "--text", text), cwd=user.folder, env=user.environment, stderr=subprocess.PIPE
        )
        for text in texts
    ]
    assert [(each.communicate()[1], each.returncode)[1] for each in running] == [0, 0]
    assert user.reads("stats")["memories"] == 2


def test_commands_beside_a_server_are_the_same(user):
    with subprocess.Popen(
        user.command("serve"), cwd=user.folder, env=user.environment, stderr=subprocess.PIPE, text=True
    ) as served:
        try:
            assert served.stderr is not None
            assert "ready" in served.stderr.readline()
            assert "memories" in user.types("remember", "notes.md").stdout
            block = user.types(QUESTION)
            assert "Ada Lovelace leads the backend team" in block.stdout
            assert "did you mean" in user.types("serch", code=2).stderr
            assert "Remove this memory?" in user.types("forget", "1", given="n\n", code=1).stderr
            served.send_signal(signal.SIGTERM)
            assert served.wait() == 0
            assert "Traceback" not in served.stderr.read()
        finally:
            served.terminate()
    assert user.types_here(QUESTION).stdout == block.stdout
