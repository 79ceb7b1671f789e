"""Questions about a graph, read from lines."""

from __future__ import annotations

from typing import Any

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import GoldQuestion
from graphsearch.evaluation.question_set import faults_of, question_of

ASKED: dict[str, Any] = {"id": "q1", "question": "Where does billing run?"}


def test_the_gold_of_a_question_is_its_triplets() -> None:
    gold = frozenset({("billing", "runs_in", "Leeds")})
    assert question_of({**ASKED, "gold": [["billing", "runs_in", "Leeds"]]}, "triplets") == GoldQuestion(
        **ASKED, gold=gold
    )
    assert question_of({**ASKED, "gold": []}, "triplets") == GoldQuestion(**ASKED, gold=frozenset())


@pytest.mark.parametrize(
    ("line", "hops"),
    [
        ({"path": ["billing", "runs_in"]}, 1),
        ({"path": ["billing", "runs_in", "lies_in"]}, 2),
        ({"kind": "two_hop"}, 2),
        ({"kind": "multi_hop", "path": ["billing", "runs_in"]}, 1),
        ({"kind": "multi_hop"}, 2),
        ({}, 1),
    ],
)
def test_a_question_is_of_as_many_hops_as_its_path(line: dict[str, Any], hops: int) -> None:
    found = question_of({**ASKED, "expect_entities": ["Leeds"], **line}, "answers")
    assert (found.hops, found.within) == (hops, 3 if hops == 1 else 10)


def test_any_name_of_gold_or_accepted_is_an_entity_that_answers() -> None:
    found = question_of({**ASKED, "gold": ["a.b"], "also_accept": ["c.b"], "kind": "code"}, "entities")
    assert found == GoldQuestion(**ASKED, gold=frozenset({"a.b", "c.b"}), kind="code")
    assert question_of({**ASKED, "gold": []}, "entities").gold == frozenset()


@pytest.mark.parametrize(
    ("gold", "line", "fault"),
    [
        ("triplets", {"gold": "billing"}, "gold: must be a list"),
        ("triplets", {"gold": [["billing", "runs_in"]]}, "gold: 0: must be a list of 3"),
        ("triplets", {"gold": [["billing", "runs_in", None]]}, "gold: 0.2: must be text"),
        ("triplets", {}, "gold: must be a list"),
        ("entities", {}, "gold: must be a list"),
        ("entities", {"gold": [""]}, "gold: 0: must not be empty"),
        ("answers", {}, "expect_entities: must be a list"),
        ("answers", {"expect_entities": [], "id": [7]}, "id: must be text"),
        ("answers", {"expect_entities": [], "question": ""}, "question: must not be empty"),
        ("answers", {"expect_entities": [], "kind": [7]}, "kind: must be text"),
    ],
)
def test_a_wrong_line_is_refused(gold: str, line: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidInputError, match=fault):
        question_of({**ASKED, **line}, gold)


def test_a_set_needs_an_answer_and_ids_of_its_own() -> None:
    nothing: GoldQuestion[str] = GoldQuestion(**ASKED, gold=frozenset())
    assert [*faults_of([nothing, nothing])] == [
        "no question has an answer to be found",
        "questions: the id 'q1' is given 2 times",
    ]
    assert [*faults_of([GoldQuestion(**ASKED, gold=frozenset({"Leeds"}))])] == []
