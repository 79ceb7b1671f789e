"""Question sets from files of JSON lines.

    corpus.jsonl     {"id": "p1", "text": "…", "title": "…", "time": "2024-05-01", "session": "s1", "speaker": "Ada"}
    questions.jsonl  {"id": "q1", "question": "…", "gold_ids": ["p1"], "type": "…", "answer": "…"}
    triples.jsonl    {"passage_id": "p1", "subject": "…", "predicate": "…", "object": "…"}

A passage requires ``id`` and ``text`` only, a question all but ``type`` and ``answer``. Other fields are allowed, to
group by. Ids and sessions are texts or whole numbers. A time is ISO 8601, in UTC unless it names another zone, or in
English words ("1:56 pm on 8 May, 2023", which requires the extra ``text``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from graphsearch._support.lazy import load
from graphsearch.errors import InvalidInputError
from graphsearch.evaluation.question_set import EvalQuestion, Passage, QuestionSet, Triple

_WRITTEN_OUT: Final = re.compile(r"[A-Za-z]{3}")  # a month's name: "05/06/2023" has two readings

Made = TypeVar("Made")
Line = dict[str, Any]


def read_question_set(corpus: Path, questions: Path | Iterable[Path], triples: Path | None = None) -> QuestionSet:
    """The question set in two or three files; the questions can be in several.

    Raises `InvalidInputError` that names the file and every faulty line in it, and `MissingExtraError` for times in
    words without the extra ``text``.
    """
    asked = (questions,) if isinstance(questions, Path) else questions
    return QuestionSet(
        passages=read_passages(corpus),
        questions=tuple(question for path in asked for question in read_rows(path, _question)),
        triples=read_rows(triples, _triple) if triples else (),
    )


def read_passages(corpus: Path) -> tuple[Passage, ...]:
    """The passages of one file. Raises the same errors as `read_question_set`."""
    return read_rows(corpus, _passage)


def read_rows(path: Path, make: Callable[[Line], Made]) -> tuple[Made, ...]:
    """The result of ``make`` for each object in a file of JSON lines.

    Raises `InvalidInputError` that names the file, and every line for which ``make`` raises one.
    """
    made: list[Made] = []
    faults: list[str] = []
    for number, content in _lines(path):
        try:
            made.append(make(_object(content)))
        except InvalidInputError as error:
            faults.append(f"line {number}: {error}")
    if faults:
        raise InvalidInputError(str(path), faults)
    return tuple(made)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The non-blank lines with their numbers."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
    return ((number, line) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip())


def _object(content: bytes) -> Line:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError("JSON", [f"not valid: {error}"]) from error
    if not isinstance(found, dict):
        raise InvalidInputError("JSON", ["must be an object"])
    return found


def _passage(line: Line) -> Passage:
    return Passage(
        id=_name(line.get("id")),
        text=line.get("text", ""),
        title=line.get("title") or "",
        time=_time(line.get("time")),
        session=_name(line.get("session")) or "",
        speaker=line.get("speaker") or "",
        fields=line,
    )


def _question(line: Line) -> EvalQuestion:
    gold = line.get("gold_ids")
    if not isinstance(gold, list):
        raise InvalidInputError("question", ["gold_ids must be a list of the ids of passages"])
    return EvalQuestion(
        id=_name(line.get("id")),
        question=line.get("question", ""),
        gold_ids=tuple(_name(id_) for id_ in gold),
        type=line.get("type") or "",
        answer=_answer(line.get("answer")),
        fields=line,
    )


def _triple(line: Line) -> Triple:
    return Triple(
        passage_id=_name(line.get("passage_id")),
        subject=line.get("subject", ""),
        predicate=line.get("predicate", ""),
        object=line.get("object", ""),
    )


def _answer(value: object) -> str:
    """An answer in words; empty for a value that is neither text nor a number, such as a list."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _name(value: Any) -> Any:
    """An id as text; other values unchanged, to be refused by validation."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _time(written: object) -> datetime | None:
    if written is None or written == "":
        return None
    return parse_time("passage", "time", written)


def parse_time(subject: str, field: str, written: object) -> datetime:
    """A time in a file, in UTC unless it names another zone. Raises `InvalidInputError`."""
    found = _moment(written) if isinstance(written, str) else None
    if found is None:
        raise InvalidInputError(subject, [f"{field} must be one such as 2024-05-01T09:00:00Z, not {written!r}"])
    return found


@lru_cache(maxsize=4096)  # the turns of a session share their time, and parsing words takes a millisecond
def _moment(written: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return _in_words(written) if _WRITTEN_OUT.search(written) else None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _in_words(written: str) -> datetime | None:
    settings = {
        "PARSERS": ["absolute-time"],
        "STRICT_PARSING": True,  # day, month and year are all required
        "TIMEZONE": "UTC",
        "RETURN_AS_TIMEZONE_AWARE": True,
    }
    dateparser = load("dateparser", extra="text", purpose="reading times in words")
    found: datetime | None = dateparser.parse(written, languages=["en"], settings=settings)
    return found
