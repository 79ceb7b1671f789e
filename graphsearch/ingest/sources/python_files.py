"""Python files, with names resolved across files."""

from __future__ import annotations

import codecs
import io
import tokenize
from collections.abc import Iterator
from typing import Final

import attrs

from graphsearch.ingest.extract.code import extractor as code
from graphsearch.ingest.extract.code.definitions import Index, module_name, outline
from graphsearch.ingest.extract.extraction import Described, Extraction, Fault, UnreadableError
from graphsearch.ingest.sources.files import Folder, read, utf8_text

_NO_CHARSETS: Final = frozenset({"punycode", "idna", "unicode-escape", "raw-unicode-escape", "undefined"})
"""Codecs that decode bytes to text and are no encodings of a file; the first two take quadratic time."""


@attrs.define(eq=False)
class PythonSource:
    """Reads Python files, with names resolved across files."""

    folder: Folder
    index: Index = attrs.field(factory=Index)

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """The definitions of a module. Raises `UnreadableError` also if another file is the same module."""
        module = module_name(path)
        if self.index.module(module):
            raise UnreadableError(Fault(path, 0, f"the module {module} is already defined by another file; remove one"))
        found = outline(path, decoded(path, read(self.folder, path)))
        self.index.add(found)
        yield code.described(found)

    def extract(self, path: str) -> Iterator[Extraction]:
        """One extraction."""
        yield code.extract(outline(path, decoded(path, read(self.folder, path))), self.index)


def decoded(path: str, content: bytes) -> str:
    """Python source as text, by its declared encoding. Raises `UnreadableError` with the line of the first bad byte."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if codecs.lookup(encoding).name in _NO_CHARSETS:
            raise UnreadableError(Fault(path, 1, f"cannot be decoded: {encoding} is no encoding of text"))
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(Fault(path, line, f"not valid {error.encoding}: {error.reason}")) from error
    except (SyntaxError, LookupError, ValueError) as error:  # such as rot13 or zlib, which are no encodings of text
        if isinstance(error, SyntaxError):
            utf8_text(path, content)  # which names the line
        raise UnreadableError(Fault(path, 1, f"cannot be decoded: {error}")) from error
