"""What documents state by their form: definitions and topics."""

from __future__ import annotations

import asyncio

import pytest

from graphsearch.ingest.extract.rules.documents import HAS_TOPIC, IS_A
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.model import Memory
from graphsearch.model.extracted import Statement
from tests.ingest.extract.rules.reading import EXTRACTOR


def document(text: str) -> list[Statement]:
    chunks = document_memories(text, document_id="doc", source="doc.md")
    return [each for extracted in asyncio.run(EXTRACTOR.extract(chunks)) for each in extracted.statements]


def of_type(stated: list[Statement], type: str) -> list[tuple[str, str]]:
    return [(each.source.name, each.target.name) for each in stated if each.type == type]


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("Foghorn is a job runner for small teams.", "job runner"),
        ("Foghorn, built in 2020, is the alerting component of it.", "alerting component"),
        ("Foghorn (beta) was an open-source collar that measures.", "open-source collar"),
        ("Foghorn is a kind of bridge.", "bridge"),
        ("- **Foghorn**: a refrigerated vessel for milk.", "refrigerated vessel"),
        ("**Foghorn** — a cow that is not milked.", "cow"),
        ("A *Foghorn* is a message without a body.", "message"),
    ],
)
def test_definitions(text: str, noun: str) -> None:
    assert of_type(document(text), IS_A) == [("Foghorn", noun)]


@pytest.mark.parametrize(
    "text",
    [
        "Foghorn is a lot of fun.",
        "Foghorn is one of the best.",
        "Foghorn is not a runner.",
        "Ilse is the head of the Platform team.",
        "We think that Foghorn is a runner.",
        "Is Foghorn a runner?",
    ],
)
def test_what_defines_nothing(text: str) -> None:
    assert of_type(document(text), IS_A) == []


def test_a_conversation_defines_nothing() -> None:
    memory = Memory(id="m", text="Foghorn is a job runner.", speaker="Ada", source="chat")
    (extracted,) = asyncio.run(EXTRACTOR.extract([memory]))
    assert [each for each in extracted.statements if each.type == IS_A] == []


def test_it_is_the_subject_of_the_sentence_before() -> None:
    stated = document("Foghorn is a job runner. It was built by Noor Haddad in 2022 and it uses redis. Its cat is old.")
    assert of_type(stated, "created") == [("Noor Haddad", "Foghorn")]
    assert of_type(stated, "uses") == [("Foghorn", "redis")]
    assert of_type(document("We like Foghorn. It uses redis."), "uses") == []


def test_headings_are_topics() -> None:
    stated = document("# Foghorn\n\n## Terms\n\n- **Dark Frame**: an exposure.\n\n## Beacon\n\nBeacon uses Grafana.\n")
    assert of_type(stated, HAS_TOPIC) == [("Dark Frame", "Foghorn")]
    (topic,) = [each for each in stated if each.type == HAS_TOPIC]
    assert topic.fact == "**Dark Frame**: an exposure."
    assert topic.confidence < 0.65
