"""The common part of all conversions: read an export, and collect it in the vocabulary of the lines that are ingested.

An export is files of JSON lines, or of one JSON document. A line that cannot be converted is a fault, a line converted
without some of its information is a loss; both are reported by file and line. Every output line is checked with the
reader that will ingest it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.files import UNREADABLE, unpacked, written
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Fault, UnreadableError
from graphsearch.ingest.sources.files import lines_of
from graphsearch.ingest.sources.json_lines import read_line
from graphsearch.model import validation
from graphsearch.model.codec import decode
from graphsearch.model.identity import entity_id
from graphsearch.model.validation import NOTHING

Json = dict[str, Any]

MAX_BYTES: Final = 1 << 30
"""The most bytes of one file, unpacked: all of its objects are held at once."""


@attrs.frozen(kw_only=True)
class Format:
    """A format: how its lines are collected, and its fields that are texts, lists of texts and objects.

    ``silent`` are fields that are left out without a loss: they are made anew, or say nothing of the graph. Names of
    fields have spaces between them.
    """

    collect: Callable[[Sequence[Line], Conversion], None]
    texts: str
    lists: str = ""
    objects: str
    silent: str

    def faults(self, content: object) -> list[str]:
        """What is wrong with the types of an object."""
        if not isinstance(content, dict) or not content:
            return ["must be an object with fields"]
        found: list[str] = []
        for names, kind in ((self.texts, str), (self.lists, list[str]), (self.objects, Json)):
            try:
                decode(Mapping[str, kind], present(**{name: content.get(name) for name in names.split()}))  # type: ignore[valid-type]
            except InvalidInputError as error:
                found += error.faults
        return found


@attrs.frozen
class Line:
    """One object of an export, and its location. It knows which of its fields were read: the others are lost."""

    path: str
    number: int
    """The line from 1; in a document, the place among all of its objects."""
    content: Json
    part: str = ""
    """The list of the document that it was in."""
    _read: set[str] = attrs.field(factory=set, eq=False)

    @property
    def place(self) -> str:
        """Its file and line."""
        return f"{self.path}:{self.number}"

    def get(self, name: str) -> Any:
        """A field; None if it is not there."""
        self._read.add(name)
        return self.content.get(name)

    def text(self, name: str) -> str:
        """A text field, or an empty text."""
        return self.get(name) or ""

    def unread(self) -> Json:
        """The fields with a value that nobody read."""
        return present(**{name: value for name, value in self.content.items() if name not in self._read})


def read_lines(files: Sequence[Path], format: Format) -> tuple[list[Line], list[Fault]]:
    """The objects of some files, and the lines that are no objects or have fields of another kind.

    A file is one object a line, or one JSON document: a list of objects, or an object with such lists, under whatever
    names. Raises `InvalidInputError` for a file that cannot be read.
    """
    lines, faults = [], []
    for file in files:
        for number, part, content, wrong in _objects(file):
            found = wrong or format.faults(content)
            if found:
                faults.append(Fault(str(file), number, "; ".join(found)))
            else:
                lines.append(Line(str(file), number, content, part))
    return lines, faults


def first_objects(file: Path, count: int) -> list[tuple[str, Json]]:
    """The first objects of a file, each with the list that it was in. Raises `InvalidInputError`."""
    found = ((part, content) for _, part, content, wrong in _objects(file) if not wrong and isinstance(content, dict))
    return list(islice(found, count))


def _objects(file: Path) -> Iterator[tuple[int, str, Any, list[str]]]:
    """The objects of a file with their place, the list they were in, and why they could not be parsed."""
    try:
        with file.open("rb") as raw:
            stream = unpacked(raw)
            document, wrong = _parsed(stream.read(validation.LARGEST_RECORD + 1))
            if not wrong and (isinstance(document, list) or _parts_of(document)):
                for number, (part, content) in enumerate(_listed(document), start=1):
                    yield number, part, content, []
                return
            stream.seek(0)
            for number, text in lines_of(stream, validation.LARGEST_RECORD):
                if stream.tell() > MAX_BYTES:
                    raise InvalidInputError("export", [f"{file} holds more than {MAX_BYTES:,} bytes: split it"])
                if text.strip():
                    yield number, "", *_parsed(text)
    except UNREADABLE as error:
        raise InvalidInputError("export", [f"cannot read {file}: {error}"]) from error


def _parts_of(document: Any) -> dict[str, list[Any]]:
    """The lists of objects in a document."""
    if not isinstance(document, dict):
        return {}
    return {
        name: value
        for name, value in document.items()
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    }


def _listed(document: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(document, list):
        yield from (("", each) for each in document)
        return
    shared = {name: document[name] for name in _OF_ALL if isinstance(document.get(name), str)}
    for part, objects in _parts_of(document).items():
        yield from ((part, {**shared, **each}) for each in objects)


_OF_ALL = ("session_id", "thread_id", "user_id")
"""What a document states once for all of its objects."""


def _parsed(text: bytes) -> tuple[Any, list[str]]:
    """The value of a text, or the reason why there is none."""
    try:
        return validation.parse_json(text), []
    except ValueError as error:
        return None, [f"not valid JSON in UTF-8: {error}"]


CONFIDENCE: Final = 0.85
"""The confidence of a relation extracted by a model and exported without one: clear, but not certain."""


@attrs.frozen(kw_only=True)
class ConversionReport:
    """The numbers of records written, and the problems.

    ``claims`` are relations with a memory as evidence, ``relations`` those without. ``faults`` are the lines that were
    left out, ``losses`` those converted without some of their information.
    """

    entities: int
    memories: int
    claims: int
    relations: int
    faults: tuple[Fault, ...]
    losses: tuple[Fault, ...]


@attrs.define
class Conversion:
    """Collects the records of an export in the vocabulary of graphsearch's JSON lines."""

    format: Format
    faults: list[Fault]
    """The faults found while reading the export."""
    entities: dict[str, Json] = attrs.field(factory=dict)
    """Records by their id in the export."""
    memories: dict[str, Json] = attrs.field(factory=dict)
    relations: list[Json] = attrs.field(factory=list)
    losses: list[Fault] = attrs.field(factory=list)
    _named: dict[UUID, tuple[Line, Json]] = attrs.field(factory=dict)

    def entity(self, line: Line, id_: str, entity: Json, lost: Mapping[str, Any] = NOTHING) -> None:
        """Add an entity, and report as `lose_rest`; those of one type and name become one, described by the first."""
        if not self._fresh(line, id_, self.entities) or not self._sound(line, {"entity": entity}):
            return
        first, known = self._named.setdefault(entity_id(entity["type"], entity["name"]), (line, entity))
        if known is not entity:
            self.lose(line, f"is one entity with {first.place}, of the same type and name, which describes it")
        self.entities[id_] = known
        self.lose_rest(line, lost)

    def memory(self, line: Line, id_: str, fields: Json, *, extracted: bool = True) -> None:
        """Add a memory, and report as `lose_rest`.

        The text of one that was ``extracted`` is not extracted again: the earlier extraction is converted. That of any
        other goes through extraction, unless mentions or claims are added.
        """
        memory = {"id": id_, **fields, **({"mentions": [], "claims": []} if extracted else {})}
        if self._fresh(line, id_, self.memories) and self._sound(line, {"memory": memory}):
            self.memories[id_] = memory
            self.lose_rest(line)

    def mention(self, memory: Json, entity: Json) -> None:
        """Add a mention of an entity in a memory."""
        memory.setdefault("mentions", []).append({"entity": _reference(entity), "surface": entity["name"]})

    def relation(
        self,
        line: Line,
        source: Json,
        target: Json,
        fields: Json,
        memories: Sequence[Json] = (),
        *,
        lost: Mapping[str, Any] = NOTHING,
    ) -> None:
        """Add a claim of some memories or, without any, a relation of the file, and report as `lose_rest`."""
        ends = {"source": _reference(source), "target": _reference(target)}
        claim = {**ends, "kind": "semantic", "confidence": CONFIDENCE, **present(**fields)}
        if self._sound(line, {"relation": claim}):
            for memory in memories:
                memory.setdefault("claims", []).append(claim)
            self.relations += [] if memories else [claim]
            self.lose_rest(line, lost)

    def found(self, line: Line, id_: str, among: Mapping[str, Json]) -> Json | None:
        """The record with this id; None, with a fault, if it was not converted."""
        if id_ not in among:
            self.leave_out(line, f"what it joins was not carried: {id_ or 'an end without an id'}")
        return among.get(id_)

    def leave_out(self, line: Line, why: str) -> None:
        """Report a line that is not converted."""
        self.faults.append(Fault(line.path, line.number, why))

    def lose(self, line: Line, what: str) -> None:
        """Report a line that is converted in part."""
        self.losses.append(Fault(line.path, line.number, what))

    def lose_rest(self, line: Line, lost: Mapping[str, Any] = NOTHING) -> None:
        """Report the fields with a value that nobody read, and what else was not carried."""
        named = {*line.unread(), *present(**lost)}.difference(self.format.silent.split())
        if named:
            self.lose(line, f"not carried: {', '.join(sorted(named))}")

    def write(self, out: Path) -> ConversionReport:
        """Write everything, or nothing. Raises `InvalidInputError` if there is nothing, or it cannot be written."""
        entities = [entity for _, entity in self._named.values()]
        records: list[Json] = [
            *({"entity": entity} for entity in entities),
            *({"memory": memory} for memory in self.memories.values()),
            *({"relation": relation} for relation in self.relations),
        ]
        if not records:
            raise InvalidInputError("export", [*map(str, self.faults)] or ["has nothing in it"])
        with written(out) as stream:
            stream.writelines(map(_written, records))
        return ConversionReport(
            entities=len(entities),
            memories=len(self.memories),
            claims=sum(len(memory.get("claims", ())) for memory in self.memories.values()),
            relations=len(self.relations),
            faults=tuple(sorted(self.faults)),
            losses=tuple(sorted(self.losses)),
        )

    def _fresh(self, line: Line, id_: str, known: Mapping[str, Json]) -> bool:
        if not id_ or id_ in known:
            self.leave_out(line, f"the id {id_} was given before" if id_ else "has no id")
        return bool(id_) and id_ not in known

    def _sound(self, line: Line, record: Json) -> bool:
        """Whether the reader that will ingest a record accepts it."""
        try:
            read_line(_written(record), path=line.path, line=line.number, memory_id="the file")
        except UnreadableError as error:
            self.faults.append(error.fault)
        except (UnicodeEncodeError, RecursionError) as error:
            self.leave_out(line, f"cannot be written as JSON in UTF-8: {error}")
        else:
            return True
        return False


def present(**fields: Any) -> Json:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def _written(record: Json) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _reference(entity: Json) -> Json:
    return {"type": entity["type"], "name": entity["name"]}
