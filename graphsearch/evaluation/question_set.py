"""Question sets and graphs, and reading them from files of JSON lines, which the reference of `eval` describes.

The gold of a question are passages, triplets or entities of a graph, or names that must be shown. Every fault of a file
is named with its line. Ids and sessions are texts or whole numbers; a time is ISO 8601, in UTC unless it names another
zone, or as in "1:56 pm on 8 May, 2023".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Generic, TypeVar
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.model import EdgeKind, Entity, Relation
from graphsearch.model import validation as check
from graphsearch.model.codec import Says, decode
from graphsearch.model.identity import snake_case
from graphsearch.moving.scope_file import object_of

Line = Mapping[str, Any]
Text = Annotated[str, Says(least=1)]
_NO_FIELDS: Final[Line] = MappingProxyType({})
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

TripletNames = tuple[str, str, str]
"""The names of source, type and target."""
Gold = TypeVar("Gold", TripletNames, str)


class Level(StrEnum):
    """The unit to be found."""

    PASSAGE = "passage"
    SESSION = "session"


@attrs.frozen(kw_only=True)
class Passage:
    """A text to be found. ``fields`` is its whole line, to group by."""

    id: Text
    text: Text
    title: str = ""
    time: datetime | None = None
    session: str = ""
    speaker: str = ""
    fields: Line = attrs.field(default=_NO_FIELDS, eq=False, repr=False)


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
    fields: Line = attrs.field(default=_NO_FIELDS, eq=False, repr=False)

    @property
    def within(self) -> int:
        """Number of triplets that count: `ONE_HOP` or `TWO_HOPS`."""
        return ONE_HOP if self.hops == 1 else TWO_HOPS


@attrs.frozen(kw_only=True)
class Triple:
    """A triple that an extractor read from a passage."""

    passage_id: Text
    subject: Text
    predicate: Text
    object: Text


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
            *repeated("passages", self.passages),
            *repeated("questions", self.questions),
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
        given: list[Passage | GoldQuestion[str]] = [*self.passages, *self.questions]
        part_of = {(isinstance(each, Passage), each.id): each.fields.get(field) for each in given}
        astray = [key for key, part in part_of.items() if not isinstance(part, str | int)]
        named = [f"{'passage' if is_passage else 'question'} {id_!r}" for is_passage, id_ in astray]
        check.refuse("question set", *(f"{each} has no {field!r} that is text or a whole number" for each in named))
        passages, questions, triples = (defaultdict[str, list[Any]](list) for _ in range(3))
        for each in given:
            is_passage = isinstance(each, Passage)
            (passages if is_passage else questions)[str(part_of[is_passage, each.id])].append(each)
        for triple in self.triples:
            triples[str(part_of[True, triple.passage_id])].append(triple)
        return {
            part: QuestionSet(passages=tuple(passages[part]), questions=tuple(some), triples=tuple(triples[part]))
            for part, some in questions.items()
        }


def faults_of(questions: Sequence[GoldQuestion[Gold]]) -> Iterator[str]:
    """The faults that make questions unfit as a set."""
    if not any(question.gold for question in questions):
        yield "no question has an answer to be found"
    yield from repeated("questions", questions)


def repeated(name: str, given: Iterable[Passage | GoldQuestion[Any]]) -> Iterator[str]:
    """A fault for each id that is given more than once."""
    times = Counter(each.id for each in given)
    return (f"{name}: the id {id_!r} is given {count} times" for id_, count in times.items() if count > 1)


def missing(questions: Iterable[GoldQuestion[Gold]], what: str, known: Iterable[Gold]) -> Iterator[str]:
    """A fault for each gold of a question that is not known."""
    known = frozenset(known)
    for question in questions:
        for gold in sorted(question.gold - known):
            yield f"question {question.id!r}: there is no {what} {gold if isinstance(gold, str) else ' '.join(gold)!r}"


def sessions_in(passages: Iterable[str], session_of: Mapping[str, str]) -> list[str]:
    """The sessions of passages, each where its first passage is; passages without one are left out."""
    return [*dict.fromkeys(session for id_ in passages if (session := session_of[id_]))]


# -- files ------------------------------------------------------------------------------------------------------------

Made = TypeVar("Made")


def read_question_set(corpus: Path, questions: Path | Iterable[Path], triples: Path | None = None) -> QuestionSet:
    """The question set in two or three files; the questions can be in several.

    Raises `InvalidInputError` that names the file and every faulty line in it.
    """
    return QuestionSet(
        passages=read_passages(corpus),
        questions=read_questions(questions, "passages"),
        triples=read_rows(triples, lambda line: read_row(Triple, line)) if triples else (),
    )


def read_passages(corpus: Path) -> tuple[Passage, ...]:
    """The passages of one file. Raises the same errors as `read_question_set`."""
    return read_rows(corpus, lambda line: attrs.evolve(read_row(Passage, line), fields=line))


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


def read_row(kind: type[Made], line: Line) -> Made:
    """What a line says of a class; fields that are none of its own are for others. Raises `InvalidInputError`."""
    subject = kind.__name__.strip("_").lower()
    names = attrs.fields_dict(kind).keys() - {"fields"}  # type: ignore[arg-type]
    given = {name: value for name, value in line.items() if name in names}
    given |= {
        name: parse_time(subject, name, given[name]).isoformat()
        for name in ("time", "valid_from", "valid_to")
        if given.get(name)
    }
    return decode(kind, given, subject, lenient=True)


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


@attrs.frozen(kw_only=True)
class _Question:
    id: Text
    question: Text
    kind: str = ""
    type: str = ""
    answer: str = ""
    path: tuple[str, ...] | None = None
    also_accept: tuple[Text, ...] = ()


GOLD: Final[Mapping[str, tuple[str, Any]]] = MappingProxyType(
    {
        "passages": ("gold_ids", Text),
        "triplets": ("gold", tuple[Text, Text, Text]),
        "entities": ("gold", Text),
        "answers": ("expect_entities", Text),
    }
)
"""The field of a line that holds a kind of gold, and what it lists."""


def read_questions(paths: Path | Iterable[Path], gold: str) -> tuple[GoldQuestion[Any], ...]:
    """The questions in files, with a kind of gold: one of `GOLD`. Raises the same errors as `read_question_set`."""
    return read_rows(paths, lambda line: question_of(line, gold))


def question_of(line: Line, gold: str) -> GoldQuestion[Any]:
    """A question from a line of a file. Raises `InvalidInputError`."""
    (field, kind), row = GOLD[gold], read_row(_Question, line)
    found: Any = decode(tuple[kind, ...], line.get(field), f"question: {field}", lenient=True)  # type: ignore[valid-type]
    if gold == "triplets":
        found = [(source, snake_case(type_), target) for source, type_, target in found]
    known = row.kind or row.type
    two = known in _TWO_HOPS if row.path is None else len(row.path) >= _PATH
    accepted = row.also_accept if gold == "entities" else ()
    hops = 2 if two else 1
    return GoldQuestion(
        id=row.id,
        question=row.question,
        gold=frozenset((*found, *accepted)),
        kind=known,
        hops=hops,
        answer=row.answer,
        fields=line,
    )


# -- graphs -----------------------------------------------------------------------------------------------------------


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


@attrs.frozen(kw_only=True)
class _Entity:
    """An entity in a file; a first name that nobody else has is one more alias."""

    name: Text
    type: str = ""
    kind: str = ""
    description: str = ""
    aliases: tuple[Text | Mapping[str, Any], ...] = ()
    first_name_unique: str = ""

    @property
    def other_names(self) -> tuple[str, ...]:
        """Its aliases, texts or objects with a ``name``."""
        names = [each if isinstance(each, str) else each.get("name") for each in self.aliases]
        names += [self.first_name_unique] if self.first_name_unique else []
        return decode(tuple[Text, ...], names, "entity: aliases")


@attrs.frozen(kw_only=True)
class _Relation:
    source: Text
    type: Text
    target: Text
    source_type: str = ""
    target_type: str = ""
    fact: str = ""
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def read_graph(entities: Path, relations: Path) -> GivenGraph:
    """The graph in two files. Raises `InvalidInputError` that names the file and every faulty line."""
    described = read_rows(entities, _entity)
    known = defaultdict[tuple[str, str], set[UUID]](set)  # by name and type, and by name alone
    for entity in described:
        known[entity.name, entity.type].add(entity.id)
        known[entity.name, ""].add(entity.id)

    def end(side: str, name: str, type_: str) -> UUID:
        found = known.get((name, snake_case(type_) if type_ else ""), ())
        of_type = f" of type {type_!r}" if type_ else ""
        wrong = f"{side}_type must state which {name!r}" if found else f"{side}: there is no entity {name!r}{of_type}"
        check.refuse("relation", None if len(found) == 1 else wrong)
        return next(iter(found))

    def relation(line: Line) -> Relation:
        row = read_row(_Relation, line)
        return Relation(
            source_id=end("source", row.source, row.source_type),
            type=row.type,
            target_id=end("target", row.target, row.target_type),
            fact=row.fact,
            kind=EdgeKind.STRUCTURAL,
            confidence=row.confidence,
            valid_from=row.valid_from,
            valid_to=row.valid_to,
        )

    return GivenGraph(entities=described, relations=read_rows(relations, relation))


def _entity(line: Line) -> Entity:
    row = read_row(_Entity, line)
    return Entity(type=row.type or row.kind, name=row.name, description=row.description, aliases=row.other_names)


def read_names(path: Path) -> dict[str, frozenset[str]]:
    """The other names of each name, from a file of entities as `read_graph` reads it, without types.

    Raises `InvalidInputError` that names every faulty line.
    """
    return {row.name: frozenset(row.other_names) for row in read_rows(path, lambda line: read_row(_Entity, line))}
