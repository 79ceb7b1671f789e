"""reembed, with the real embedders."""

import pytest

from graphsearch.cli import environment
from graphsearch.cli.environment import choose_embedder, embedder_called, is_known
from graphsearch.embedders import MiniLMEmbedder, WordLlamaEmbedder

MEMORIES = "Ada Lovelace works at Globex.", "Priya Sharma leads the Kestrel project."


@pytest.fixture
def real(line, monkeypatch):
    """A project of two memories, embedded by WordLlama."""
    monkeypatch.setattr(environment, "choose_embedder", choose_embedder)
    for number, text in enumerate(MEMORIES):
        line.run("remember", "--id", f"m{number}", "--text", text)
    return line


def test_a_project_gets_another_model_and_is_asked_as_before(real):
    planned = real.json("reembed", "--model", "minilm", "--dry-run")
    assert (planned["present"], planned["embedder"]) == ("wordllama-l2-supercat-256", "all-minilm-l6-v2")
    assert (planned["texts"]["memory"], planned["unfinished"]) == (2, None)
    assert planned["seconds"] > 0
    assert "seconds" in real.run("reembed", "--model", "minilm", "--dry-run").stdout
    assert "all-minilm-l6-v2" in real.run("reembed", "--model", "minilm").stdout
    assert real.json("stats")["embedder"] == "all-minilm-l6-v2"
    assert real.json("search", "where does Ada work?")["triplets"][0]["target"]["name"] == "Globex"
    assert real.json("reembed", "--model", "minilm")["switched"] is False
    assert real.json("reembed", "--model", "wordllama")["embedded"] == planned["texts"]
    assert "cancelled  no" in real.run("reembed", "--cancel").stdout


def test_the_variable_names_the_model_of_all_commands(real, monkeypatch):
    monkeypatch.setenv("GRAPHSEARCH_EMBEDDER", "minilm")
    assert "not of 'all-minilm-l6-v2'" in real.run("remember", "--id", "m9", "--text", "Bob is here.", code=1).stderr
    monkeypatch.setenv("GRAPHSEARCH_EMBEDDER", "strange")
    assert "not 'strange'" in real.run("search", "who?", code=2).stderr


def test_what_contradicts_itself_is_refused(line):
    assert "either --model or --cancel" in line.run("reembed", code=2).stderr
    assert "not 'strange'" in line.run("reembed", "--model", "strange", code=2).stderr


def test_the_models_of_local_embedders_are_known_by_name(monkeypatch):
    for embedder in (WordLlamaEmbedder(), MiniLMEmbedder()):
        assert type(embedder_called(embedder.name)) is type(embedder)
    assert is_known("voyage-3.5")
    monkeypatch.setenv("VOYAGE_API_KEY", "key")
    assert [embedder_called(name).name for name in ("voyage", "voyage-4")] == ["voyage-3.5", "voyage-4"]
