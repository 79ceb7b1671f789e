"""Question sets read from files, and the errors for files that cannot be read."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from graphsearch.errors import InvalidInputError, MissingExtraError
from graphsearch.evaluation import EvalQuestion, Passage, Triple, read_question_set

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
        EvalQuestion(id="q1", question="Who built what runs?", gold_ids=("p1", "2"), type="bridge", answer="Ada"),
        EvalQuestion(id="9", question="Who sold it?", gold_ids=()),
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
        ('{"id": "p\\ud800", "text": "t"}', "surrogate"),
        ([1], "must be an object"),
        ({"text": "t"}, "id must be text, not NoneType"),
        ({"id": True, "text": "t"}, "id must be text, not bool"),
        ({"id": "p"}, "text must not be empty"),
        ({"id": "p", "text": ["t"]}, "text must be text, not list"),
        ({"id": "p", "text": "t", "title": 1}, "title must be text"),
        ({"id": "p", "text": "t", "session": [1]}, "session must be text"),
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
        ({"id": "q", "question": "?"}, "gold_ids must be a list"),
        ({"id": "q", "question": "?", "gold_ids": "p1"}, "gold_ids must be a list"),
        ({"id": "q", "question": "?", "gold_ids": [None]}, "each of gold_ids must be text"),
        ({"id": "q", "question": "?", "gold_ids": ["p1", "p1"]}, "must not repeat"),
        ({"id": "q", "question": " ", "gold_ids": ["p1"]}, "question must not be empty"),
        ({"id": "q", "question": "?", "gold_ids": ["p1"], "type": 2}, "type must be text"),
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
    assert all(f"{name} must not be empty" in first for name in ("subject", "predicate", "object"))
    assert second == "line 3: triple: passage_id must be text, not NoneType"


def test_a_file_that_is_not_there_is_named(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    _, questions, _ = files
    with pytest.raises(InvalidInputError, match=r"none\.jsonl: cannot be read: No such file"):
        read_question_set(tmp_path / "none.jsonl", questions)


def test_times_in_words_need_an_extra(files: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, questions, _ = files
    written(corpus, [{"id": "p1", "text": "t", "time": "the 9th of May, 2021"}])
    monkeypatch.setitem(sys.modules, "dateparser", None)
    with pytest.raises(MissingExtraError, match=r"graphsearch\[text\]"):
        read_question_set(corpus, questions)
