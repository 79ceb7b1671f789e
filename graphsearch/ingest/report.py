"""The reports of an ingest: its counts, its faults and its progress."""

from __future__ import annotations

from typing import Protocol

import attrs

from graphsearch.ingest.extract.faults import Fault, Unread
from graphsearch.ingest.resolve.resolution import ResolutionCounts


@attrs.frozen(kw_only=True)
class IngestReport:
    """What an ingest did. An ingest that found everything as it was has changed, forgotten and entities all 0."""

    files: int = 0
    """Files found."""
    changed: int = 0
    """Files, or parts of long ones, that were written because what they say is new."""
    forgotten: int = 0
    """Memories forgotten because nothing in the folder says them any more."""
    entities: int = 0
    """Entities written because they are new or described anew."""
    removed: int = 0
    """Entities removed because nothing names them any more."""
    relations: int = 0
    """Relations that were written or retracted."""
    embedded: int = 0
    """Texts of entities and memories that were embedded."""
    facts: int = 0
    """Facts of relations that were embedded, where that is asked for."""
    faults: tuple[Fault, ...] = ()
    """What was left out, by file and line."""
    left: int = 0
    """Texts, or chunks of them, not read or not judged to the end, since the budget for language models was spent."""
    refused: tuple[str, ...] = ()
    """What a language model said of texts that they do not prove, and why it was left out."""
    unanswered: tuple[str, ...] = ()
    """Why the judge did not answer, wherever it did not; nothing was merged for it."""


@attrs.frozen(kw_only=True)
class RememberReport:
    """What taking in memories did. Memories that were known, unchanged, are counted in ``memories`` alone."""

    memories: int = 0
    """Memories given, those of one id counted once."""
    changed: int = 0
    """Memories that were read to the end, and written, because they are new or changed."""
    left: int = 0
    """Memories not read, or with names not judged, since the budget for language models was spent: the next call goes
    on with them."""
    entities: int = 0
    """Entities that were not known before."""
    removed: int = 0
    """Entities removed because nothing names them any more."""
    relations: int = 0
    """Relations that were written or retracted."""
    embedded: int = 0
    """Texts of entities and memories that were embedded."""
    facts: int = 0
    """Facts of relations that were embedded, where that is asked for."""
    resolutions: ResolutionCounts = attrs.field(factory=ResolutionCounts)
    """How the names in the texts were resolved."""
    conflicts: tuple[str, ...] = ()
    """Names that an entity of another type bears: they were left apart."""
    unanswered: tuple[str, ...] = ()
    """Why the judge did not answer, wherever it did not; nothing was merged for it."""
    refused: tuple[str, ...] = ()
    """What a language model said of memories that their texts do not prove, and why it was left out."""
    unread: tuple[Unread, ...] = ()
    """Memories that the extractor could not read, and why: they were not written, and the next call reads them."""


class Progress(Protocol):
    """Told after every step how far an ingest is."""

    def __call__(self, done: int, total: int, name: str) -> None:
        """``done`` of ``total`` steps are over; the last one was about ``name``."""
        ...
