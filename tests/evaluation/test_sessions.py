"""A session is found with the first of its passages."""

from __future__ import annotations

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import EvalQuestion, Passage, QuestionSet, by_session


def given(gold: tuple[str, ...]) -> QuestionSet:
    sessions = {"p1": "s1", "p2": "s2", "p3": "s1", "p4": ""}
    return QuestionSet(
        passages=tuple(Passage(id=id_, text="x", session=session) for id_, session in sessions.items()),
        questions=(EvalQuestion(id="q", question="what?", gold_ids=gold),),
    )


def test_rankings_and_evidence_become_sessions() -> None:
    (question,), run = by_session(given(("p3", "p1", "p2")), {"q": ["p4", "p3", "p2", "p1"]})
    assert question.gold_ids == ("s1", "s2")
    assert run == {"q": ["s1", "s2"]}


def test_evidence_without_a_session_is_named() -> None:
    with pytest.raises(InvalidInputError, match="question 'q': passage 'p4' is in no session"):
        by_session(given(("p1", "p4")), {"q": []})
