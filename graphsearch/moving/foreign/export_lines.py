"""Files of JSON lines, or of one JSON document, read object by object."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import attrs

from graphsearch._support.files import UNREADABLE, unpacked
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Fault
from graphsearch.ingest.sources.files import lines_of
from graphsearch.model import validation
from graphsearch.text.word_lists import data_lines

Json = dict[str, Any]

MAX_BYTES: Final = 1 << 30
"""The most bytes of one file, unpacked: all of its objects are held at once."""


@attrs.frozen
class Line:
    """One object of an export, and its location."""

    path: str
    number: int
    """The line from 1; in a document, the place among all of its objects."""
    content: Json
    part: str = ""
    """The list of the document that it was in."""

    @property
    def place(self) -> str:
        """Its file and line."""
        return f"{self.path}:{self.number}"

    def text(self, name: str) -> str:
        """A text field, or an empty text."""
        return self.content.get(name) or ""


@attrs.frozen(kw_only=True)
class Shape:
    """The types of the fields that are read; each may be missing or null. A line of another shape is left out."""

    texts: frozenset[str]
    lists: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()

    def faults(self, content: object) -> list[str]:
        """The type errors of an object."""
        if not isinstance(content, dict) or not content:
            return ["must be an object with fields"]
        found = []
        for name, value in content.items():
            if name in self.texts and not isinstance(value, str | None):
                found.append(f"{name} must be text")
            if name in self.objects and not isinstance(value, dict | None):
                found.append(f"{name} must be an object")
            is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
            if name in self.lists and not (value is None or is_list):
                found.append(f"{name} must be a list of texts")
        return sorted(found)


@attrs.frozen
class Fields:
    """The fields of a format: the types of those that are read, and those that are ``carried``, by kind of object."""

    shape: Shape
    carried: Mapping[str, frozenset[str]]


@cache
def fields_of(format: str) -> Fields:
    """The section of a format in ``fields.txt``; what is carried has the fields in it that are generated anew."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    section = ""
    for line in data_lines("graphsearch.moving.foreign", "fields.txt"):
        kind, _, names = line.partition(":")
        section = line.strip("[]") if line.startswith("[") else section
        if section == format:
            found[kind].update(names.split())
    shape = Shape(**{types: frozenset(found.pop(types, ())) for types in ("texts", "lists", "objects")})
    return Fields(shape, {kind: frozenset(names | found["anew"]) for kind, names in found.items()})


def read_lines(files: Sequence[Path], shape: Shape) -> tuple[list[Line], list[Fault]]:
    """The objects of some files, and the lines that are no objects or of another shape.

    A file is one object a line, or one JSON document: a list of objects, or an object with such lists, under whatever
    names. Raises `InvalidInputError` for a file that cannot be read.
    """
    lines, faults = [], []
    for file in files:
        for number, part, content, wrong in _objects(file):
            found = wrong or shape.faults(content)
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
