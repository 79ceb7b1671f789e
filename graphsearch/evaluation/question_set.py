"""Question sets and graphs, and reading them from files of JSON lines, which the reference of `eval` describes.

The gold of a question are passages, triplets or entities of a graph, or names that must be shown. Every fault of a file
is named with its line. Ids and sessions are texts or whole numbers; a time is ISO 8601, in UTC unless it names another
zone, or as in "1:56 pm on 8 May, 2023".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.model import EdgeKind, Entity, Relation
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case
from graphsearch.moving.records import object_of

Line = dict[str, Any]
Fields = Mapping[str, Any]
_NO_FIELDS: Final[Fields] = MappingProxyType({})
PASSAGES: Final = 100
"""Passages recalled to find sessions."""
ONE_HOP: Final = 3
"""Triplets among which a question of one hop must be answered: as many as are read at a glance."""
TWO_HOPS: Final = 10
"""The same for two hops: the default limit of a search."""

_TWO_HOPS: Final = frozenset({"two_hop", "multi_hop"})
"""Kinds of questions that take two hops where no path says so."""
_PATH: Final = 3
"""Length of a path of two hops: an entity and two relations."""
_TRIPLE: Final = 3

TripletNames = tuple[str, str, str]
"""The names of source, type and target."""
Gold = TypeVar("Gold", TripletNames, str)
Known = dict[tuple[str, str | None], set[UUID]]
"""Ids of entities by name and type, and by name alone."""


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
class GoldQuestion(Generic[Gold]):
    """A question and what answers it; nothing known does if ``gold`` is empty.

    ``gold`` is a set of passages (by id) or triplets to find completely, of entities to find any of, or of names to
    show completely. ``hops`` is 1 or 2; ``answer`` the answer in words, if known; ``fields`` the line, to group by.
    """

    id: str
    question: str
    gold: frozenset[Gold]
    kind: str = ""
    hops: int = 1
    answer: str = ""
    fields: Fields = attrs.field(default=_NO_FIELDS, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "question",
            check.text("id", self.id),
            check.text("question", self.question),
            *(check.text(name, getattr(self, name), empty=True) for name in ("kind", "answer")),
            *(check.texts("gold", [each] if isinstance(each, str) else each) for each in self.gold),
            check.number("hops", self.hops, 1, 2),
        )

    @property
    def within(self) -> int:
        """Number of triplets that count: `ONE_HOP` or `TWO_HOPS`."""
        return ONE_HOP if self.hops == 1 else TWO_HOPS


Item = TypeVar("Item", Passage, GoldQuestion[str])
Made = TypeVar("Made")


@attrs.frozen(kw_only=True)
class Triple:
    """A triple that an extractor read from a passage."""

    passage_id: str
    subject: str
    predicate: str
    object: str

    def __attrs_post_init__(self) -> None:
        check.refuse("triple", *(check.text(name, value) for name, value in attrs.asdict(self).items()))
        check.refuse("triple", None if snake_case(self.predicate) else "predicate must hold a letter or a digit")


@attrs.frozen(kw_only=True)
class QuestionSet:
    """Passages, questions about them, and optional triples.

    Raises `InvalidInputError` with every repeated id, and every reference to a missing passage.
    """

    passages: tuple[Passage, ...]
    questions: tuple[GoldQuestion[str], ...]
    triples: tuple[Triple, ...] = ()

    def __attrs_post_init__(self) -> None:
        ids = {passage.id for passage in self.passages}
        check.refuse(
            "question set",
            None if self.passages else "there are no passages",
            None if self.questions else "there are no questions",
            *repeated("passages", (passage.id for passage in self.passages)),
            *repeated("questions", (question.id for question in self.questions)),
            *missing(self.questions, "passage", ids),
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
                questions=tuple(questions_in_it),
                triples=tuple(triple for triple in self.triples if part_of[triple.passage_id] == part),
            )
            for part, questions_in_it in questions.items()
        }


def faults_of(questions: Sequence[GoldQuestion[Gold]]) -> Iterator[str]:
    """The faults that make questions unfit as a set."""
    if not any(question.gold for question in questions):
        yield "no question has an answer to be found"
    yield from repeated("questions", (question.id for question in questions))


def repeated(name: str, ids: Iterable[str]) -> Iterator[str]:
    """A fault for each id that is given more than once."""
    return (f"{name}: the id {id_!r} is given {times} times" for id_, times in Counter(ids).items() if times > 1)


def missing(questions: Iterable[GoldQuestion[Gold]], what: str, known: Iterable[Gold]) -> Iterator[str]:
    """A fault for each gold of a question that is not known."""
    known = frozenset(known)
    for question in questions:
        for gold in sorted(question.gold - known):
            yield f"question {question.id!r}: there is no {what} {gold if isinstance(gold, str) else ' '.join(gold)!r}"


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
) -> tuple[tuple[GoldQuestion[str], ...], dict[str, list[str]]]:
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
            for gold in sorted(question.gold)
            if not session_of[gold]
        ),
    )
    questions = tuple(
        attrs.evolve(each, gold=frozenset(sessions_in(each.gold, session_of))) for each in given.questions
    )
    return questions, {id_: sessions_in(ids, session_of) for id_, ids in run.items()}


def sessions_in(passages: Iterable[str], session_of: Mapping[str, str]) -> list[str]:
    """The sessions of passages, each where its first passage is; passages without one are left out."""
    return [*dict.fromkeys(session for id_ in passages if (session := session_of[id_]))]


def read_question_set(corpus: Path, questions: Path | Iterable[Path], triples: Path | None = None) -> QuestionSet:
    """The question set in two or three files; the questions can be in several.

    Raises `InvalidInputError` that names the file and every faulty line in it.
    """
    return QuestionSet(
        passages=read_passages(corpus),
        questions=read_rows(questions, _question),
        triples=read_rows(triples, _triple) if triples else (),
    )


def read_passages(corpus: Path) -> tuple[Passage, ...]:
    """The passages of one file. Raises the same errors as `read_question_set`."""
    return read_rows(corpus, _passage)


def read_rows(paths: Path | Iterable[Path], make: Callable[[Line], Made]) -> tuple[Made, ...]:
    """The result of ``make`` for each object in files of JSON lines.

    Raises `InvalidInputError` that names the file, and every line for which ``make`` raises one.
    """
    made: list[Made] = []
    for path in (paths,) if isinstance(paths, Path) else paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InvalidInputError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
        faults: list[str] = []
        for number, line in enumerate(content.split(b"\n"), start=1):
            try:
                made += [make(object_of(line))] if line.strip() else []
            except InvalidInputError as error:
                faults.append(f"line {number}: {error}")
        check.refuse(str(path), *faults)
    return tuple(made)


def _passage(line: Line) -> Passage:
    given = {name: line[name] for name in ("title", "speaker") if line.get(name)}
    ids = {"id": _name(line.get("id")), "session": _name(line.get("session")) or ""}
    return Passage(text=line.get("text", ""), fields=line, **_times("passage", line, "time"), **ids, **given)


def _question(line: Line) -> GoldQuestion[str]:
    gold, answer = line.get("gold_ids"), line.get("answer")
    if not isinstance(gold, list):
        raise InvalidInputError("question", ["gold_ids must be a list of the ids of passages"])
    check.refuse("question", check.texts("gold_ids", [*map(_name, gold)]))
    return GoldQuestion(
        id=_name(line.get("id")),
        question=line.get("question", ""),
        gold=frozenset(map(_name, gold)),
        kind=line.get("type") or "",
        answer=str(answer) if isinstance(answer, str | int | float) and not isinstance(answer, bool) else "",
        fields=line,
    )


def _triple(line: Line) -> Triple:
    parts = {name: line.get(name, "") for name in ("subject", "predicate", "object")}
    return Triple(passage_id=_name(line.get("passage_id")), **parts)


def _name(value: Any) -> Any:
    """An id as text; other values unchanged, to be refused by validation."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_FORMS: Final = ("", "%I:%M %p on %d %B, %Y", "%d %B, %Y", "%d %B %Y")
"""Forms of a time; the empty one is ISO 8601."""


def parse_time(subject: str, field: str, written: Any) -> datetime:
    """A time in a file, in UTC unless it names another zone. Raises `InvalidInputError`."""
    for form in _FORMS:
        try:
            found = datetime.strptime(written, form) if form else datetime.fromisoformat(written)  # noqa: DTZ007
        except (TypeError, ValueError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    raise InvalidInputError(subject, [f"{field} must be one such as 2024-05-01T09:00:00Z, not {written!r}"])


def _times(subject: str, line: Line, *fields: str) -> dict[str, Any]:
    return {field: parse_time(subject, field, line[field]) for field in fields if line.get(field)}


# -- graphs and questions about them ----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class GivenGraph:
    """Entities, and relations between them."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    @property
    def triples(self) -> frozenset[TripletNames]:
        """All relations, as names of source, type and target."""
        names = {entity.id: entity.name for entity in self.entities}
        return frozenset((names[each.source_id], each.type, names[each.target_id]) for each in self.relations)


def read_graph(entities: Path, relations: Path) -> GivenGraph:
    """The graph in two files. Raises `InvalidInputError` that names the file and every faulty line."""
    described = read_rows(entities, _entity)
    known: Known = {}
    for entity in described:
        for type_ in (entity.type, None):
            known.setdefault((entity.name, type_), set()).add(entity.id)
    return GivenGraph(entities=described, relations=read_rows(relations, lambda line: _relation(line, known)))


def _entity(line: Line) -> Entity:
    return Entity(
        type=line.get("type") or line.get("kind") or "",
        name=line.get("name", ""),
        description=line.get("description") or "",
        aliases=_aliases(line),
    )


def _aliases(line: Line) -> tuple[str, ...]:
    """The aliases of an entity, texts or objects with a ``name``; a first name that nobody else has is one more."""
    aliases = line.get("aliases") or []
    if not isinstance(aliases, list):
        raise InvalidInputError("entity", ["aliases must be a list of names"])
    names: list[Any] = [alias.get("name") if isinstance(alias, dict) else alias for alias in aliases]
    names += [first] if (first := line.get("first_name_unique")) else []
    check.refuse("entity", check.texts("aliases", names))
    return tuple(names)


def _relation(line: Line, known: Known) -> Relation:
    confidence = line.get("confidence")
    return Relation(
        source_id=_end("source", line, known),
        type=line.get("type", ""),
        target_id=_end("target", line, known),
        fact=line.get("fact") or "",
        kind=EdgeKind.STRUCTURAL,
        confidence=1.0 if confidence is None else confidence,
        **_times("relation", line, "valid_from", "valid_to"),
    )


def _end(end: str, line: Line, known: Known) -> UUID:
    name, type_ = line.get(end), line.get(f"{end}_type")
    check.refuse("relation", check.text(end, name))
    found = known.get((str(name), snake_case(str(type_)) if type_ else None), ())
    if len(found) == 1:
        return next(iter(found))
    missing = f"{end}: there is no entity {name!r}{f' of type {type_!r}' if type_ else ''}"
    raise InvalidInputError("relation", [f"{end}_type must state which {name!r}" if found else missing])


def read_names(path: Path) -> dict[str, frozenset[str]]:
    """The other names of each name, from a file of entities as `read_graph` reads it, without types.

    Raises `InvalidInputError` that names every faulty line.
    """

    def names(line: Line) -> tuple[str, frozenset[str]]:
        check.refuse("name", check.text("name", line.get("name")))
        return line["name"], frozenset(_aliases(line))

    return dict(read_rows(path, names))


def triplet_question(line: Line) -> GoldQuestion[TripletNames]:
    """A question from a line of a file. Raises `InvalidInputError`."""
    gold = line.get("gold")
    if not isinstance(gold, list) or not all(map(_is_triple, gold)):
        raise InvalidInputError("question", ["gold must be a list of [source, type, target]"])
    return _asked(line, [(source, snake_case(type_), target) for source, type_, target in gold])


def entity_question(line: Line) -> GoldQuestion[str]:
    """A question from a line of a file. Raises `InvalidInputError`."""
    return _asked(line, [*_names("gold", line), *_names("also_accept", {"also_accept": [], **line})])


def name_question(line: Line) -> GoldQuestion[str]:
    """A question from a line of a file. Raises `InvalidInputError`."""
    return _asked(line, _names("expect_entities", line))


def _asked(line: Line, gold: Iterable[Gold]) -> GoldQuestion[Gold]:
    kind, path = line.get("kind") or "", line.get("path")
    two = len(path) >= _PATH if isinstance(path, list) else kind in _TWO_HOPS
    question = {"id": line.get("id", ""), "question": line.get("question", ""), "kind": kind}
    return GoldQuestion(gold=frozenset(gold), hops=2 if two else 1, **question)


def _names(field: str, line: Line) -> list[str]:
    names = line.get(field)
    if not isinstance(names, list):
        raise InvalidInputError("question", [f"{field} must be a list of names"])
    return names


def _is_triple(value: object) -> bool:
    return isinstance(value, list) and len(value) == _TRIPLE and check.texts("triple", value) is None
