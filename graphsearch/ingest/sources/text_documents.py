"""Markdown and plain text, in chunks that are memories: what they say is read out of their text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import attrs

from graphsearch.ingest.extract.file_extraction import Described, Extraction
from graphsearch.ingest.sources.chunks import document_memories
from graphsearch.ingest.sources.files import Folder, read, utf8_text
from graphsearch.model import Memory

MAX_TEXT_BYTES: Final = 20_000_000
"""The largest document that is read."""
MARKDOWN: Final = ".md"


@attrs.frozen
class DocumentSource:
    """Documents describe nothing by themselves: their chunks are texts that are still to be read."""

    folder: Folder

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """Nothing; raises `UnreadableError` for a file that cannot be read."""
        utf8_text(path, read(self.folder, path, limit=MAX_TEXT_BYTES))
        yield ()

    def extract(self, path: str) -> Iterator[Extraction]:
        """One extraction."""
        text = utf8_text(path, read(self.folder, path, limit=MAX_TEXT_BYTES))
        pure = PurePosixPath(path)
        chunks = document_memories(
            text, document_id=path, subject=pure.stem, source=path, markdown=pure.suffix == MARKDOWN
        )
        notes = sorted(chunk.id for chunk in chunks)
        yield Extraction(memory=Memory(id=f"file:{path}", source=path, attributes={"notes": notes}), texts=chunks)
