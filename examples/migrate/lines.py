"""Files of JSON lines, read object by object and written atomically."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Fault

Json = dict[str, Any]


@attrs.frozen
class Line:
    """One object of an export, and its location."""

    path: str
    number: int
    content: Json

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
        wanted = (
            (self.texts, "text", _is_text),
            (self.lists, "a list of texts", _is_list_of_texts),
            (self.objects, "an object", _is_object),
        )
        return [
            f"{name} must be {what}"
            for names, what, right in wanted
            for name in sorted(names & {*content})
            if content[name] is not None and not right(content[name])
        ]


def read_lines(files: Sequence[Path], shape: Shape) -> tuple[list[Line], list[Fault]]:
    """The objects of some files, and the lines that are no objects or of another shape.

    Raises `InvalidInputError` for a file that cannot be read.
    """
    lines, faults = [], []
    for file in files:
        try:
            contents = file.read_bytes().split(b"\n")
        except OSError as error:
            raise InvalidInputError("export", [f"cannot read {file}: {error.strerror or error}"]) from error
        for number, text in enumerate(contents, start=1):
            if text.strip():
                content, wrong = _parsed(text, shape)
                lines.append(Line(str(file), number, content))
                faults += [Fault(str(file), number, "; ".join(wrong))] if wrong else []
    return [line for line in lines if line.content], faults


def _parsed(text: bytes, shape: Shape) -> tuple[Json, list[str]]:
    """The object of a line, or an empty one and the reason."""
    try:
        content: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, [f"not valid JSON in UTF-8: {error}"]
    faults = shape.faults(content)
    return ({}, faults) if faults else (content, [])


def write_whole(out: Path, content: bytes) -> None:
    """Write a file atomically, or leave the old one. Raises `InvalidInputError` if it cannot be written."""
    temporary = out.with_name(f".{out.name}.{uuid4().hex}")
    try:
        try:
            temporary.write_bytes(content)
            temporary.replace(out)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInputError("migration", [f"cannot write {out}: {error.strerror or error}"]) from error


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_object(value: object) -> bool:
    return isinstance(value, dict)
