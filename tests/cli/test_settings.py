"""Where commands work: options, the environment, graphsearch.toml and defaults, in this order."""

import pytest

from graphsearch.cli import environment

HERE = ("GRAPHSEARCH_ORG", "GRAPHSEARCH_PROJECT")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made = tmp_path / "home" / "my work" / "src"
    made.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def plain(line):
    line.shared = ()
    return line


def test_a_project_is_named_after_the_repository_else_the_folder(folder, plain):
    assert plain.json("where")["project"] == {"value": "src", "from": "default"}
    (folder.parent / ".git").write_text("gitdir: elsewhere")
    assert plain.json("where")["project"]["value"] == "my-work"


def test_options_come_before_the_environment_and_that_before_the_file(folder, plain, monkeypatch):
    file = folder.parent / "graphsearch.toml"
    file.write_text('org = "acme"\nproject = "web"\nembedded = "graph"\nalso = ["docs"]\nembedder = "minilm"\n')
    found = plain.json("where")
    assert found["project"] == {"value": "web", "from": str(file)}
    assert found["graph"] == {"value": str(folder.parent / "graph"), "from": str(file)}
    assert (found["also"]["value"], found["embedder"]["value"]) == ("docs", "minilm")
    monkeypatch.setenv("GRAPHSEARCH_PROJECT", "app")
    monkeypatch.setenv("GRAPHSEARCH_DSN", "postgresql://app:secret@nowhere/none")
    found = plain.json("where", "--org", "own")
    assert found["organisation"] == {"value": "own", "from": "--org"}
    assert found["project"] == {"value": "app", "from": "GRAPHSEARCH_PROJECT"}
    assert "secret" not in str(found["graph"])
    assert found["graph"]["from"] == "GRAPHSEARCH_DSN"
    assert plain.json("where", "--embedded", "x")["graph"] == {"value": "x", "from": "--embedded"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('projekt = "web"', "projekt: is unknown: did you mean project?"),
        ("project = 3", "project"),
        ("project =", "cannot be read"),
        ('llm_url = "http://elsewhere"', "llm_url: is unknown"),
    ],
)
def test_a_faulty_file_is_named_with_its_fault(folder, plain, text, fault):
    (folder / "graphsearch.toml").write_text(text)
    shown = plain.run("stats", code=1).stderr
    assert fault in shown
    assert "graphsearch.toml" in shown


def test_a_file_outside_of_the_home_and_of_a_repository_counts_in_its_folder_alone(tmp_path, plain, monkeypatch):
    (tmp_path / "shared" / "below").mkdir(parents=True)
    (tmp_path / "shared" / "graphsearch.toml").write_text('project = "theirs"')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "shared" / "below")
    assert plain.json("where")["project"]["value"] == "below"


def test_where_is_said_once_in_each_folder(folder, plain, monkeypatch):
    (folder / "graphsearch.toml").write_text('project = "web"')
    assert "the project is local/web" in plain.run("stats").stderr
    assert "the project is" not in plain.run("stats").stderr
    monkeypatch.chdir(folder.parent)
    assert f"so do commands in {folder}" in plain.run("stats", "--project", "web").stderr


def test_a_server_wants_a_principal(folder, line):
    assert "Missing option '--principal'" in line.run("context", "who?", code=2).stderr
    assert "--principal" in line.run("mcp", "--http", "127.0.0.1:0", code=2).stderr


def test_a_user_without_a_name_has_a_number(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: dict[str, str]()["no name"])
    assert environment.user_name().startswith("user-")
