"""The frame of an exported scope: a header, one record a line, and a trailer by which a cut file is refused.

    {"graphsearch": {"format": "scope", "library": "…", "settings": {…}, "version": 3, "with_vectors": true}}
    {"entity": {…}}
    …
    {"end": {"counts": {…}, "sha256": "…"}}

The digest is of all bytes before the trailer. See docs/project/scope-files.md.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter as Tally
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, Literal

import attrs

from graphsearch._support.files import UNREADABLE
from graphsearch._support.version import __version__
from graphsearch.errors import InvalidInputError, ScopeFileError
from graphsearch.model.codec import Json, decode, encode
from graphsearch.model.stored import KIND_OF, Record, RecordKind, ScopeSettings
from graphsearch.model.validation import LARGEST_RECORD, parse_json
from graphsearch.moving.earlier import EARLIER, header_now, record_now

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


# -- records ----------------------------------------------------------------------------------------------------------

FORMAT: Final = "scope"
VERSION: Final = 3
"""Increased with whatever is added or read differently: readers refuse what they do not know."""
_PROOFS: Final = ("mentions", "claims", "outcomes")
COUNTED: Final = (*map(str, RecordKind), *_PROOFS)


@attrs.frozen(kw_only=True)
class Header:
    """The header of a file; without vectors, the settings state which kinds of elements had any."""

    settings: ScopeSettings
    library: str
    with_vectors: bool
    format: Literal["scope"] = FORMAT
    version: Literal[3] = VERSION


def no_counts() -> Tally[str]:
    """The numbers of records by kind, with those of mentions, claims and outcomes in them, before there are any."""
    return Tally(dict.fromkeys(COUNTED, 0))


def count_record(record: Record, counts: Tally[str]) -> None:
    """Count one record."""
    counts[KIND_OF[type(record)].value] += 1
    counts.update({name: len(getattr(record, name, ())) for name in _PROOFS})


@attrs.define(eq=False)
class ScopeWriter:
    """Writes one scope to a binary stream."""

    stream: BinaryIO
    counts: Tally[str] = attrs.field(factory=no_counts)
    _digest: Any = attrs.field(factory=hashlib.sha256)

    def header(self, settings: ScopeSettings, *, vectors: bool) -> None:
        """Write the header."""
        header = Header(settings=settings, library=__version__, with_vectors=vectors)
        self._write(line_of({"graphsearch": encode(header)}))

    def record(self, record: Record) -> None:
        """Write one record."""
        count_record(record, self.counts)
        self._write(line_of(json_of(record)))

    def trailer(self) -> None:
        """Write the trailer."""
        self.stream.write(line_of({"end": {"counts": self.counts, "sha256": self._digest.hexdigest()}}))

    def _write(self, line: bytes) -> None:
        self._digest.update(line)
        self.stream.write(line)


@attrs.define(eq=False)
class ScopeReader:
    """Reads one scope from a binary stream, line by line. Each fault raises `ScopeFileError` with its line."""

    stream: BinaryIO
    name: str
    line: int = 0
    read: int = 0
    """The bytes read so far, unpacked."""
    counts: Tally[str] = attrs.field(factory=no_counts)
    _digest: Any = attrs.field(factory=hashlib.sha256)
    _is_earlier: bool = False

    def header(self) -> Header:
        """Read the header."""
        line, content = self._next()
        self._digest.update(line)
        found = content.get("graphsearch")
        if len(content) != 1 or not isinstance(found, dict) or found.get("format") != FORMAT:
            raise self._fault("is no header of a scope exported by graphsearch")
        self._is_earlier = found.get("version") in EARLIER
        if not self._is_earlier and found.get("version") != VERSION:
            raise self._fault(f"has version {found.get('version')!r}, and this library reads versions 1 to {VERSION}")
        try:
            return decode(Header, header_now(found, VERSION) if self._is_earlier else found)
        except InvalidInputError as error:
            raise self._fault(*error.faults) from error

    def records(self) -> Iterator[Record]:
        """Read the records, and check the trailer after the last."""
        while True:
            line, content = self._next()
            if "end" in content:
                self._trailer(content)
                return
            self._digest.update(line)
            try:
                record = record_of(record_now(content) if self._is_earlier else content)
            except InvalidInputError as error:
                raise self._fault(str(error)) from error
            count_record(record, self.counts)
            yield record

    def _trailer(self, content: Json) -> None:
        found = content["end"]
        if len(content) != 1 or not isinstance(found, dict) or set(found) != {"counts", "sha256"}:
            raise self._fault("is no trailer of a scope")
        if found["counts"] != self.counts:
            raise self._fault("the trailer counts other records than the file has: lines are missing or were added")
        if found["sha256"] != self._digest.hexdigest():
            raise self._fault("the digest is another: the file was changed after it was written")
        if self.stream.readline(LARGEST_RECORD).strip():
            self.line += 1
            raise self._fault("comes after the trailer")

    def _next(self) -> tuple[bytes, Json]:
        """The next line, and the object in it."""
        self.line += 1
        try:
            line = self.stream.readline(LARGEST_RECORD + 1)
        except UNREADABLE as error:
            raise self._fault(f"cannot be read: {error}") from error
        if len(line) > LARGEST_RECORD:
            raise self._fault(f"is longer than {LARGEST_RECORD:,} bytes: no record of a scope is")
        self.read += len(line)
        if not line.endswith(b"\n"):
            raise self._fault("the file ends before its trailer: it was cut")
        try:
            return line, object_of(line)
        except InvalidInputError as error:
            raise self._fault(*error.faults) from error

    def _fault(self, *faults: str) -> ScopeFileError:
        return ScopeFileError(self.name, self.line, faults)
