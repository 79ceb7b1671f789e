"""Every command, over a server that the command line itself starts and stops."""

import pytest

from tests.cli.conftest import CommandLine

QUESTION = "where is the TLS handshake done?"


@pytest.fixture
def line(tmp_path, monkeypatch):
    (tmp_path / "servers").mkdir()
    monkeypatch.setenv("GRAPHSEARCH_EMBEDDED", str(tmp_path / "servers" / "one"))
    return CommandLine("--org", "acme", "--project", "web")


def test_the_whole_loop(line, folder):
    assert "is ready" in CommandLine().run("init").stdout
    new = line.json("context", QUESTION, "--principal", "bob")
    assert (new["text"], new["reason"].partition(":")[0]) == ("", "nothing was ever written to scope acme/web")
    first = line.json("add", folder)
    assert (first["changed"], first["entities"], first["relations"]) == (1, 4, 4)
    with (folder / "tls.py").open("a") as file:
        file.write("# a remark\n")
    second = line.json("add", folder)  # a remark is of words of its module
    assert (second["changed"], second["entities"], second["relations"], second["embedded"]) == (
        1,
        1,
        0,
        0,
    )
    best = line.json("search", QUESTION)["triplets"][0]
    assert line.json("explain", QUESTION, best["relation"]["id"])["rank"] == 1
    assert line.json("neighbors", "tls")["triplets"]
    assert line.json("path", "Alone", "_check")["path"]["hops"] == 2
    block = line.json("context", QUESTION, "--principal", "bob", "--session", "s1")
    assert block["denied"]["entity"] == 1
    report = line.json("feedback", "s1", "accepted", "--principal", "bob")
    assert len(report["applied"]) == len({(each["kind"], each["id"]) for each in report["applied"]}) > 0
    assert line.json("stats")["memories"] == 1
