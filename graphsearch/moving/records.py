"""Lines of JSON, and the records of a scope as such lines: the same bytes for the same record."""

from __future__ import annotations

import json
from typing import Any, Final

from graphsearch.errors import InvalidInputError
from graphsearch.model.codec import Json, decode, encode
from graphsearch.model.stored import KIND_OF, Record
from graphsearch.model.validation import parse_json

_CLASSES: Final = {kind.value: each for each, kind in KIND_OF.items()}
_UNORDERED: Final = ("mentions", "claims")


def line_of(content: Json) -> bytes:
    """One line of a file, names sorted: a database gives them back in an order of its own."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def object_of(line: bytes) -> dict[str, Any]:
    """The object of a line. Raises `InvalidInputError`."""
    try:
        content = parse_json(line)
    except ValueError as error:
        raise InvalidInputError("line", [f"is not valid JSON in UTF-8: {error}"]) from error
    if not isinstance(content, dict):
        raise InvalidInputError("line", ["must be an object"])
    return content


def json_of(record: Record) -> Json:
    """The object of a record: its kind, and under it what is not at its default."""
    fields = encode(record, sparse=True)
    ordered = {name: sorted(fields[name], key=line_of) for name in _UNORDERED if name in fields}
    return {KIND_OF[type(record)].value: {**fields, **ordered}}


def record_of(content: Json) -> Record:
    """The record of an object. Raises `InvalidInputError` with every fault, a foreign kind or field among them."""
    kind, fields = next(iter(content.items())) if len(content) == 1 else ("", None)
    if kind not in _CLASSES:
        raise InvalidInputError("line", [f"must be an object with one key of {', '.join(_CLASSES)}"])
    record: Record = decode(_CLASSES[kind], fields, kind)
    return record
