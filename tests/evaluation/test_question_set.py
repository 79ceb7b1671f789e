"""What makes a question set, and its parts."""

from __future__ import annotations

from typing import Any

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import EvalQuestion, Passage, QuestionSet, Triple


def passage(id_: str, **fields: Any) -> Passage:
    return Passage(id=id_, text=f"text of {id_}", fields=fields)


def question(id_: str, *gold: str, **fields: Any) -> EvalQuestion:
    return EvalQuestion(id=id_, question=f"question {id_}?", gold_ids=gold, fields=fields)


def triple(passage_id: str) -> Triple:
    return Triple(passage_id=passage_id, subject="a", predicate="is", object="b")


def test_every_fault_between_the_parts_is_named() -> None:
    with pytest.raises(InvalidInputError) as caught:
        QuestionSet(
            passages=(passage("p1"), passage("p1")),
            questions=(question("q1", "p1", "p2"), question("q1")),
            triples=(triple("p1"), triple("p3"), triple("p3")),
        )
    assert caught.value.faults == (
        "passages: the id 'p1' is given 2 times",
        "questions: the id 'q1' is given 2 times",
        "question 'q1': there is no passage 'p2'",
        "there is no passage 'p3', which a triple names",
    )


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="there are no passages; there are no questions"):
        QuestionSet(passages=(), questions=())


def test_parts_have_the_passages_questions_and_triples_of_one_value() -> None:
    ada = (passage("p1", conv="ada"), passage("p2", conv="ada"))
    bob = (passage("p3", conv=2),)
    cyd = (passage("p4", conv="cyd"),)
    asked = (question("q1", "p2", conv="ada"), question("q2", "p3", conv="2"), question("q3", conv="dee"))
    whole = QuestionSet(passages=(*ada, *bob, *cyd), questions=asked[:2], triples=(triple("p3"), triple("p1")))
    assert whole.grouped_by("conv") == {
        "ada": QuestionSet(passages=ada, questions=asked[:1], triples=(triple("p1"),)),
        "2": QuestionSet(passages=bob, questions=asked[1:2], triples=(triple("p3"),)),
    }
    with pytest.raises(InvalidInputError, match="there are no passages"):
        QuestionSet(passages=ada, questions=asked[2:]).grouped_by("conv")


def test_a_part_that_cannot_be_told_is_refused() -> None:
    whole = QuestionSet(passages=(passage("p1"), passage("p2", conv=["x"])), questions=(question("q1", conv="ada"),))
    with pytest.raises(InvalidInputError) as caught:
        whole.grouped_by("conv")
    assert caught.value.faults == (
        "passage 'p1' has no 'conv' that is text or a whole number",
        "passage 'p2' has no 'conv' that is text or a whole number",
    )
    with pytest.raises(InvalidInputError, match="question 'q1' has no 'day'"):
        QuestionSet(passages=(passage("p1", day=1),), questions=(question("q1"),)).grouped_by("day")


def test_evidence_in_another_part_is_refused() -> None:
    whole = QuestionSet(
        passages=(passage("p1", conv="ada"), passage("p2", conv="bob")), questions=(question("q1", "p2", conv="ada"),)
    )
    with pytest.raises(InvalidInputError, match="question 'q1': there is no passage 'p2'"):
        whole.grouped_by("conv")


def test_a_predicate_must_make_a_type_of_relation() -> None:
    with pytest.raises(InvalidInputError, match="predicate must hold a letter or a digit"):
        Triple(passage_id="p1", subject="a", predicate="--", object="b")
