"""Every command, over a server that the command line itself starts and stops."""

import asyncio
from contextlib import contextmanager

import pytest

from graphsearch.stores.embedded import EmbeddedPostgres
from tests.cli.conftest import CommandLine

QUESTION = "where is the TLS handshake done?"


@pytest.fixture
def server(tmp_path, monkeypatch):
    (tmp_path / "servers").mkdir()
    monkeypatch.setenv("GRAPHSEARCH_EMBEDDED", str(tmp_path / "servers" / "one"))
    return tmp_path / "servers" / "one"


@contextmanager
def kept_running(server):
    """Use the server beside the commands, so that none of them stops it, and the next need not start it."""
    embedded = EmbeddedPostgres(server)
    with asyncio.Runner() as runner:
        runner.run(embedded.__aenter__())
        try:
            yield
        finally:
            runner.run(embedded.__aexit__(None, None, None))


def test_the_whole_loop(server, folder):
    line = CommandLine("--org", "acme", "--project", "web")
    assert "is ready" in CommandLine().run("init").stdout
    new = line.json("context", QUESTION, "--principal", "bob")
    assert (new["text"], new["reason"].partition(":")[0]) == ("", "nothing was ever written to scope acme/web")
    assert not (server / "postmaster.pid").exists()
    with kept_running(server):
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
        block = line.json("context", QUESTION, "--principal", "bob", "--session-id", "s1")
        assert not any(block["denied"].values())
        report = line.json("feedback", "s1", "accepted", "--principal", "bob")
        assert len(report["applied"]) == len({(each["kind"], each["id"]) for each in report["applied"]}) > 0
    assert not (server / "postmaster.pid").exists()
    assert line.json("stats")["memories"] == 1
