"""A question set: passages, questions, and the passages or sessions with the evidence for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeVar

import attrs

from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case

Fields = Mapping[str, Any]
_NO_FIELDS: Final[Fields] = MappingProxyType({})
PASSAGES: Final = 100
"""Passages recalled to find sessions."""


class Level(StrEnum):
    """The unit to be found."""

    PASSAGE = "passage"
    SESSION = "session"


@attrs.frozen(kw_only=True)
class Passage:
    """A text to be found. ``fields`` is its whole line, to group by."""

    id: str
    text: str
    title: str = ""
    time: datetime | None = None
    session: str = ""
    speaker: str = ""
    fields: Fields = attrs.field(default=_NO_FIELDS, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "passage",
            check.text("id", self.id),
            check.text("text", self.text),
            *(check.text(name, getattr(self, name), empty=True) for name in ("title", "session", "speaker")),
            check.instant("time", self.time),
        )


@attrs.frozen(kw_only=True)
class EvalQuestion:
    """A question and the ids of the passages with its evidence, none if nothing in the corpus answers it.

    ``answer`` is the answer in words, if known.
    """

    id: str
    question: str
    gold_ids: tuple[str, ...]
    type: str = ""
    answer: str = ""
    fields: Fields = attrs.field(default=_NO_FIELDS, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "question",
            check.text("id", self.id),
            check.text("question", self.question),
            check.texts("gold_ids", self.gold_ids),
            None if len({*self.gold_ids}) == len(self.gold_ids) else "gold_ids must not repeat an id",
            check.text("type", self.type, empty=True),
            check.text("answer", self.answer, empty=True),
        )


Item = TypeVar("Item", Passage, EvalQuestion)


@attrs.frozen(kw_only=True)
class Triple:
    """A triple that an extractor read from a passage."""

    passage_id: str
    subject: str
    predicate: str
    object: str

    def __attrs_post_init__(self) -> None:
        fields = ("passage_id", "subject", "predicate", "object")
        check.refuse("triple", *(check.text(name, getattr(self, name)) for name in fields))
        check.refuse("triple", None if snake_case(self.predicate) else "predicate must hold a letter or a digit")


@attrs.frozen(kw_only=True)
class QuestionSet:
    """Passages, questions about them, and optional triples.

    Raises `InvalidInputError` with every repeated id, and every reference to a missing passage.
    """

    passages: tuple[Passage, ...]
    questions: tuple[EvalQuestion, ...]
    triples: tuple[Triple, ...] = ()

    def __attrs_post_init__(self) -> None:
        ids = {passage.id for passage in self.passages}
        check.refuse(
            "question set",
            None if self.passages else "there are no passages",
            None if self.questions else "there are no questions",
            *_repeated("passages", (passage.id for passage in self.passages)),
            *_repeated("questions", (question.id for question in self.questions)),
            *(
                f"question {question.id!r}: there is no passage {gold!r}"
                for question in self.questions
                for gold in question.gold_ids
                if gold not in ids
            ),
            *(
                f"there is no passage {id_!r}, which a triple names"
                for id_ in dict.fromkeys(triple.passage_id for triple in self.triples)
                if id_ not in ids
            ),
        )

    def grouped_by(self, field: str) -> dict[str, QuestionSet]:
        """The parts whose lines have the same value of a field, by value; each question is asked within its own.

        Parts without questions are left out. Raises `InvalidInputError` for a passage or question without the field,
        and for evidence in another part than its question.
        """
        passages, questions = _parts("passage", self.passages, field), _parts("question", self.questions, field)
        part_of = {passage.id: part for part, passages_in_it in passages.items() for passage in passages_in_it}
        return {
            part: QuestionSet(
                passages=tuple(passages.get(part, ())),
                questions=tuple(asked),
                triples=tuple(triple for triple in self.triples if part_of[triple.passage_id] == part),
            )
            for part, asked in questions.items()
        }


def _repeated(name: str, ids: Iterable[str]) -> Iterator[str]:
    return (f"{name}: the id {id_!r} is given {times} times" for id_, times in Counter(ids).items() if times > 1)


def _parts(name: str, items: Iterable[Item], field: str) -> dict[str, list[Item]]:
    parts: dict[str, list[Item]] = {}
    faults = []
    for item in items:
        value = item.fields.get(field)
        if isinstance(value, (str, int)):
            parts.setdefault(str(value), []).append(item)
        else:
            faults.append(f"{name} {item.id!r} has no {field!r} that is text or a whole number")
    check.refuse("question set", *faults)
    return parts


def by_session(
    given: QuestionSet, run: Mapping[str, Iterable[str]]
) -> tuple[tuple[EvalQuestion, ...], dict[str, list[str]]]:
    """Questions with the sessions of their evidence, and rankings of sessions by their first passage.

    A session is as good as the best of its passages. Passages without a session are left out of rankings. Raises
    `InvalidInputError` for evidence without one.
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
