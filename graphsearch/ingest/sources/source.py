"""What reads files of one kind, each twice: once for what it describes, once for all that it says.

The first reading lets any file refer to what another describes, without keeping either in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from graphsearch.ingest.extract.file_extraction import Described, Extraction


class Source(Protocol):
    """Reads files of one kind. Both methods raise `UnreadableError` for a file that cannot be read at all."""

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """The first reading: the entities that a file describes, a few at a time."""
        ...

    def extract(self, path: str) -> Iterator[Extraction]:
        """The second reading, after the first of all files: everything that a file says, in parts; at least one."""
        ...
