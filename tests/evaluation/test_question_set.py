"""Question sets: their parts and sessions, and reading them from files with every fault."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import GoldQuestion, Passage, QuestionSet, Triple, read_question_set


def passage(id_: str, **fields: Any) -> Passage:
    return Passage(id=id_, text=f"text of {id_}", fields=fields)


def question(id_: str, *gold: str, **fields: Any) -> GoldQuestion[str]:
    return GoldQuestion(id=id_, question=f"question {id_}?", gold=frozenset(gold), fields=fields)


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


def test_a_part_that_cannot_be_determined_is_refused() -> None:
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


CORPUS = [
    {"id": "p1", "title": "Ada", "text": "Ada built the engine.", "time": "2024-05-01T09:00:00+02:00", "page": 3},
    {"id": 2, "text": "The engine runs.", "time": "2024-05-01", "session": 7, "speaker": "Bob", "title": None},
]
QUESTIONS = [
    {"id": "q1", "question": "Who built what runs?", "gold_ids": ["p1", 2], "type": "bridge", "answer": "Ada"},
    {"id": 9, "question": "Who sold it?", "gold_ids": []},
]
TRIPLES = [{"passage_id": 2, "subject": "the engine", "predicate": "does", "object": "run"}]


def written(path: Path, lines: list[object]) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    return (
        written(tmp_path / "corpus.jsonl", [*CORPUS]),
        written(tmp_path / "questions.jsonl", [*QUESTIONS]),
        written(tmp_path / "triples.jsonl", [*TRIPLES]),
    )


def test_a_set_is_read_from_its_files(files: tuple[Path, Path, Path]) -> None:
    found = read_question_set(*files)
    assert found.passages == (
        Passage(
            id="p1",
            title="Ada",
            text="Ada built the engine.",
            time=datetime(2024, 5, 1, 9, tzinfo=timezone(timedelta(hours=2))),
        ),
        Passage(id="2", text="The engine runs.", time=datetime(2024, 5, 1, tzinfo=UTC), session="7", speaker="Bob"),
    )
    assert found.passages[0].fields["page"] == 3
    assert found.questions == (
        GoldQuestion(
            id="q1", question="Who built what runs?", gold=frozenset({"p1", "2"}), kind="bridge", answer="Ada"
        ),
        GoldQuestion[str](id="9", question="Who sold it?", gold=frozenset()),
    )
    assert found.triples == (Triple(passage_id="2", subject="the engine", predicate="does", object="run"),)


def test_triples_may_be_left_out_and_lines_blank(files: tuple[Path, Path, Path]) -> None:
    corpus, questions, _ = files
    corpus.write_text("\n" + corpus.read_text() + "\r\n\n  \n")
    assert read_question_set(corpus, questions).triples == ()
    assert len(read_question_set(corpus, questions).passages) == 2


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("8 May 2023", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08 13:56", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("", None),
        (None, None),
    ],
)
def test_times(tmp_path: Path, time: str | None, expected: datetime | None) -> None:
    corpus = written(tmp_path / "c.jsonl", [{"id": "p", "text": "t", "time": time}])
    questions = written(tmp_path / "q.jsonl", [QUESTIONS[1]])
    assert read_question_set(corpus, questions).passages[0].time == expected


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not valid"),
        ("[" * 100_000, "not valid"),
        ([1], "must be an object"),
        ({"text": "t"}, "id: is needed"),
        ({"id": True, "text": "t"}, "id: must be text, not true"),
        ({"id": "p"}, "text: is needed"),
        ({"id": "p", "text": ["t"]}, "text: must be text, not a list"),
        ({"id": "p", "text": "t", "title": [1]}, "title: must be text"),
        ({"id": "p", "text": "t", "session": [1]}, "session: must be text"),
        ({"id": "p", "text": "t", "time": "05/06/2023"}, "time must be one such as"),
        ({"id": "p", "text": "t", "time": "yesterday"}, "time must be one such as"),
        ({"id": "p", "text": "t", "time": "May 2023"}, "time must be one such as"),
        ({"id": "p", "text": "t", "time": 2023}, "time must be one such as"),
    ],
)
def test_a_bad_passage_is_refused_with_its_line(files: tuple[Path, Path, Path], line: object, fault: str) -> None:
    corpus, questions, _ = files
    written(corpus, [CORPUS[0], "", line])
    with pytest.raises(InvalidInputError, match=rf"corpus\.jsonl: line 3: .*{fault}"):
        read_question_set(corpus, questions)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"id": "q", "question": "?"}, "gold_ids: must be a list"),
        ({"id": "q", "question": "?", "gold_ids": "p1"}, "gold_ids: must be a list"),
        ({"id": "q", "question": "?", "gold_ids": [None]}, "gold_ids: 0: must be text"),
        ({"id": "q", "question": "", "gold_ids": ["p1"]}, "question: must not be empty"),
        ({"id": "q", "question": "?", "gold_ids": ["p1"], "type": [2]}, "type: must be text"),
    ],
)
def test_a_bad_question_is_refused_with_its_line(files: tuple[Path, Path, Path], line: object, fault: str) -> None:
    corpus, questions, _ = files
    written(questions, [line])
    with pytest.raises(InvalidInputError, match=rf"questions\.jsonl: line 1: .*{fault}"):
        read_question_set(corpus, questions)


def test_every_bad_line_is_named(files: tuple[Path, Path, Path]) -> None:
    corpus, questions, triples = files
    written(triples, [{"passage_id": "p1"}, TRIPLES[0], {"subject": "s", "predicate": "p", "object": "o"}])
    with pytest.raises(InvalidInputError, match=r"triples\.jsonl") as caught:
        read_question_set(corpus, questions, triples)
    first, second = caught.value.faults
    assert first.startswith("line 1: ")
    assert all(f"{name}: is needed" in first for name in ("subject", "predicate", "object"))
    assert second == "line 3: triple: passage_id: is needed"


def test_a_file_that_is_not_there_is_named(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, questions, _ = files
    with pytest.raises(InvalidInputError, match=r"none\.jsonl: cannot be read: No such file"):
        read_question_set(tmp_path / "none.jsonl", questions)
