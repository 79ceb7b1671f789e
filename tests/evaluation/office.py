"""A small set of one's own: two conversations, questions about each, and triples."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from graphsearch.evaluation import GoldQuestion, Passage, QuestionSet, Triple

LATER = datetime(2031, 5, 8, 13, 56, tzinfo=UTC)

LINES: list[dict[str, Any]] = [
    {"id": "a1", "conv": "a", "session": "1", "speaker": "Ada Lovelace", "text": "The espresso machine leaks again."},
    {"id": "a2", "conv": "a", "session": "1", "speaker": "Grace Hopper", "text": "Kestrel depends on Kafka."},
    {"id": "a3", "conv": "a", "session": "2", "speaker": "Ada Lovelace", "text": "My flight to Lisbon is at noon."},
    {"id": "b1", "conv": "b", "session": "1", "speaker": "Alan Turing", "text": "The espresso was excellent today."},
    {"id": "b2", "conv": "b", "session": "2", "speaker": "Alan Turing", "text": "I planted tulips behind the office."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "conv": "a", "question": "Who says the espresso machine leaks?", "gold_ids": ["a1"], "type": "who"},
    {"id": "q2", "conv": "a", "question": "Which flight goes to Lisbon?", "gold_ids": ["a3"], "type": "what"},
    {"id": "q3", "conv": "b", "question": "Where are the tulips?", "gold_ids": ["b2"], "type": "where"},
    {"id": "q4", "conv": "b", "question": "Who won the cup?", "gold_ids": [], "type": "who"},
]
TRIPLES: list[dict[str, Any]] = [
    {"passage_id": "a2", "subject": "Kestrel", "predicate": "streams to", "object": "Portugal"},
]


def office(*, triples: bool = False, time: datetime | None = LATER) -> QuestionSet:
    """All of it, as a question set."""
    return QuestionSet(
        passages=tuple(
            Passage(
                id=line["id"],
                text=line["text"],
                session=line["session"],
                speaker=line["speaker"],
                time=time,
                fields=line,
            )
            for line in LINES
        ),
        questions=tuple(
            GoldQuestion(
                id=line["id"],
                question=line["question"],
                gold=frozenset(line["gold_ids"]),
                kind=line["type"],
                fields=line,
            )
            for line in QUESTIONS
        ),
        triples=tuple(Triple(**line) for line in TRIPLES) if triples else (),
    )
