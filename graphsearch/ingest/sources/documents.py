"""Markdown and plain text, in chunks that are memories: what they say is read out of their text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import attrs

from graphsearch.ingest.extraction import Extraction
from graphsearch.ingest.files import Folder, read
from graphsearch.ingest.report import Fault, UnreadableError
from graphsearch.ingest.text.chunks import document_memories
from graphsearch.model import Entity, Memory

MAX_TEXT_BYTES: Final = 20_000_000
"""The largest document that is read."""
MARKDOWN: Final = ".md"


@attrs.frozen
class DocumentSource:
    """Documents describe nothing by themselves: their chunks are texts that are still to be read."""

    folder: Folder

    def describe(self, path: str) -> Iterator[tuple[Entity, ...]]:
        """Nothing; raises `UnreadableError` for a file that cannot be read."""
        _text(path, read(self.folder, path, limit=MAX_TEXT_BYTES))
        yield ()

    def extract(self, path: str) -> Iterator[Extraction]:
        """One extraction."""
        text = _text(path, read(self.folder, path, limit=MAX_TEXT_BYTES))
        pure = PurePosixPath(path)
        chunks = document_memories(
            text, document_id=path, subject=pure.stem, source=path, markdown=pure.suffix == MARKDOWN
        )
        notes = sorted(chunk.id for chunk in chunks)
        yield Extraction(memory=Memory(id=f"file:{path}", source=path, attributes={"notes": notes}), texts=chunks)


def _text(path: str, content: bytes) -> str:
    """The file as text. Raises `UnreadableError` with the line of the first byte that is no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UnreadableError(Fault(path, line, f"not valid UTF-8: {error.reason}")) from error
    if "\0" in text:
        raise UnreadableError(Fault(path, text.count("\n", 0, text.index("\0")) + 1, "holds a NUL character"))
    return text
