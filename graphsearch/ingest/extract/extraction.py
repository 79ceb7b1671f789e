"""The result of extraction from files: their content, and the faults for which something was left out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import attrs

from graphsearch.model import Claim, Entity, Memory, Mention


@attrs.frozen(order=True)
class Fault:
    """A fault in a file. ``line`` counts from 1; 0 is the file as a whole."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


@attrs.frozen(order=True)
class Unread:
    """A memory that its extractor could not read, and why. It was not written, and is retried by the next ingest."""

    memory_id: str
    why: str

    def __str__(self) -> str:
        return f"{self.memory_id}: {self.why}"


class UnreadableError(Exception):
    """A file cannot be ingested; the ingest catches this and reports its `fault`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@attrs.frozen
class Described:
    """An entity that a file describes, with additional search words (`Batch.words`); None keeps the stored ones."""

    entity: Entity
    words: Mapping[str, float] | None = None


@attrs.frozen(kw_only=True)
class Extraction:
    """The content of one file, or of one part of a long file; written atomically.

    ``memory`` represents the file itself, with its mentions and claims. ``named`` are entities that the file only
    names, which are written unless described elsewhere. ``notes`` are complete memories in the file; ``texts`` are
    memories whose text is still to be extracted.
    """

    memory: Memory
    named: tuple[Entity, ...] = ()
    notes: tuple[Memory, ...] = ()
    texts: tuple[Memory, ...] = ()
    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()

    def digest(self) -> str:
        """The SHA-256 of the content, as hexadecimal digits."""
        content = (self.memory, self.named, self.notes, self.texts, self.mentions, self.claims)
        return hashlib.sha256(repr(content).encode()).hexdigest()
