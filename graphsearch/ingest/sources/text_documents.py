"""Markdown and plain text, split into chunks that are memories."""

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
"""Size limit of a document."""
MARKDOWN: Final = ".md"


@attrs.frozen
class DocumentSource:
    """Reads documents: they describe no entities; their chunks are texts for extraction."""

    folder: Folder

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """No entities. Raises `UnreadableError` for a file that cannot be read."""
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
