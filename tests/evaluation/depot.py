"""A small graph of one's own, questions about it, and a conversation with the same content."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphsearch.evaluation.evaluator import TripletSet
from graphsearch.evaluation.question_set import GivenGraph, question_of, read_graph

NOW = datetime(2025, 10, 31, tzinfo=UTC)

ENTITIES: list[dict[str, Any]] = [
    {"name": "billing", "type": "service", "description": "sends invoices"},
    {"name": "Leeds", "type": "region"},
    {"name": "Oslo", "type": "region"},
    {"name": "Ada Quist", "kind": "person", "aliases": [{"name": "Addy"}], "first_name_unique": "Ada"},
]
RELATIONS: list[dict[str, Any]] = [
    {
        "source": "billing",
        "source_type": "service",
        "type": "runs_in",
        "target": "Oslo",
        "fact": "Billing ran in Oslo.",
        "valid_from": "2020-01-01",
        "valid_to": "2024-01-01",
        "confidence": 0.9,
    },
    {
        "source": "billing",
        "type": "runs_in",
        "target": "Leeds",
        "fact": "Billing runs in Leeds.",
        "valid_from": "2024-01-01",
    },
    {"source": "billing", "type": "alerts_to", "target": "Ada Quist", "fact": "Billing pages Ada at night."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Where does billing run?", "kind": "now", "gold": [["billing", "runs_in", "Leeds"]]},
    {
        "id": "q2",
        "question": "Where was billing run in 2022?",
        "kind": "old",
        "gold": [["billing", "runs_in", "Oslo"]],
    },
    {"id": "q3", "question": "Who brews zymurgical kvass?", "kind": "foreign", "gold": []},
    {
        "id": "q4",
        "question": "Whom does billing alert?",
        "kind": "now",
        "gold": [["billing", "alerts_to", "Ada Quist"]],
    },
]
TURNS: list[dict[str, Any]] = [
    {"id": "t1", "session": "s", "speaker": "Ada Quist", "time": "2025-01-01", "text": "I report to Bea Lorne."},
    {"id": "t2", "session": "s", "speaker": "Bea Lorne", "time": "2025-01-02", "text": "Keelbook depends on Kafka."},
]
ANSWERS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Who does Ada report to?", "kind": "current", "expect_entities": ["Beatrice Lorne"]},
    {"id": "q2", "question": "What does Keelbook depend on?", "kind": "multi_hop", "expect_entities": ["Kafka"]},
    {"id": "q3", "question": "Who brews zymurgical kvass?", "kind": "negative", "expect_entities": []},
]
NAMES: list[dict[str, Any]] = [{"name": "Beatrice Lorne", "aliases": ["Bea Lorne"]}]


def written(path: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def depot_graph(folder: Path) -> GivenGraph:
    """The graph, read from files."""
    return read_graph(written(folder / "entities.jsonl", ENTITIES), written(folder / "relations.jsonl", RELATIONS))


def depot(folder: Path) -> TripletSet:
    """The graph and its questions."""
    return TripletSet(graph=depot_graph(folder), questions=tuple(question_of(each, "triplets") for each in QUESTIONS))
