"""Finding sessions in place of passages: a session is as good as the best of its passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import attrs

from graphsearch.evaluation.question_set import EvalQuestion, QuestionSet
from graphsearch.model import validation as check

PASSAGES: Final = 100
"""How many passages are recalled to find sessions."""


class Level(StrEnum):
    """What is to be found."""

    PASSAGE = "passage"
    SESSION = "session"


def by_session(
    given: QuestionSet, run: Mapping[str, Iterable[str]]
) -> tuple[tuple[EvalQuestion, ...], dict[str, list[str]]]:
    """Questions with the sessions of their evidence, and sessions in the order of their first passage.

    Passages without a session are left out of rankings. Raises `InvalidInputError` for evidence without one.
    """
    session_of = {passage.id: passage.session for passage in given.passages}
    check.refuse(
        "question set",
        *(
            f"question {question.id!r}: passage {gold!r} is in no session"
            for question in given.questions
            for gold in question.gold_ids
            if not session_of[gold]
        ),
    )
    questions = tuple(
        attrs.evolve(question, gold_ids=tuple(dict.fromkeys(session_of[gold] for gold in question.gold_ids)))
        for question in given.questions
    )
    ranked = {
        id_: [*dict.fromkeys(session_of[found] for found in ids if session_of[found])] for id_, ids in run.items()
    }
    return questions, ranked
