"""demo: its story is computed, short, the same again, and ends without a terminal."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from importlib.resources import files

import pytest
from click.testing import CliRunner

from graphsearch.cli import demo
from graphsearch.cli.app import app
from graphsearch.stores.memory import InMemoryGraphStore


@pytest.fixture
def stores(monkeypatch):
    stores = InMemoryGraphStore()

    @asynccontextmanager
    async def open_scopes(_server):
        yield stores

    monkeypatch.setattr(demo, "open_scopes", open_scopes)
    return stores


def tell(*arguments):
    done = CliRunner().invoke(app, ["demo", "--embedded", "unused", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_the_story_shows_an_answer_its_reason_the_past_what_is_hidden_a_weight_and_what_went(stores):
    story = tell()
    assert len(story) <= 40
    told = dict(re.findall(r"^(\d)\. (.*(?:\n.+)*)", "\n".join(story), re.MULTILINE))
    assert [*told] == [*"1234567"]
    assert "15 facts" in told["1"]
    assert "- Jonas Weber --leads--> Lighthouse backend (since 2025-03-03)" in told["2"]
    assert "2025-03-03 Ines Duarte: From today" in told["3"]
    assert "Ines Duarte --leads--> Lighthouse backend (2025-01-13 to 2025-03-03)" in told["4"]
    ines, guest = told["5"].splitlines()[1:]
    assert "Mira Lund --succeeds--> Jonas Weber" in ines
    assert "hidden by policy" in guest
    assert "succeeds" not in guest
    assert "moved from 0.500 to 0.550" in told["6"]
    assert "1 of memories, 1 of relations" in told["7"]
    assert story[-1] == "Look at it: graphsearch ui --org local --project demo --embedded unused"


def test_told_again_it_begins_with_the_weight_at_which_it_ended(stores):
    assert "from 0.500 to 0.550" in "\n".join(tell())
    again = "\n".join(tell("--no-page"))
    assert "from 0.550 to" in again
    assert "1 of memories, 1 of relations" in again


def test_the_chat_is_small():
    assert len(files("graphsearch.cli").joinpath("demo.jsonl").read_bytes()) < 40_000
