"""Reports of an ingest: counts, faults and progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import attrs

from graphsearch.ingest.extract.extraction import Fault, Unread
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.ingest.write.echoes import Echo
from graphsearch.ingest.write.texts import ResolvedTexts
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import FactReport


@attrs.frozen(kw_only=True)
class WritingReport:
    """What an ingest wrote and what it could not read."""

    changed: int = 0
    """Files, parts of long ones, or memories that were completed and written because they are new or changed."""
    left: int = 0
    """Texts not completed because the budget for language models was spent: the next call continues with them."""
    entities: int = 0
    """Entities written because they, or their descriptions, are new."""
    removed: int = 0
    """Entities removed because nothing mentions them any more."""
    relations: int = 0
    """Relations written or retracted."""
    embedded: int = 0
    """Texts of entities and memories embedded."""
    facts: int = 0
    """Facts of relations that were embedded, if requested."""
    refused: tuple[str, ...] = ()
    """Statements of a language model that the texts do not prove, and why they were left out."""
    unanswered: tuple[str, ...] = ()
    """Why the judge failed to answer; nothing was merged for it."""
    stated: tuple[FactReport, ...] = ()
    """What became of each fact that is stated of memories, in their order; not of known, unchanged memories."""


@attrs.frozen(kw_only=True)
class IngestReport(WritingReport):
    """The result of an ingest of files. If nothing changed, ``changed``, ``forgotten`` and ``entities`` are 0."""

    files: int = 0
    """Files found."""
    forgotten: int = 0
    """Memories forgotten because they are no longer in the folder."""
    faults: tuple[Fault, ...] = ()
    """Files and lines that were left out, and why."""
    skipped: tuple[Fault, ...] = ()
    """What was not read: hidden files and folders, what may be private keys, and by suffix what has no reader."""


@attrs.frozen(kw_only=True)
class RememberReport(WritingReport):
    """The result of an ingest of memories. Known, unchanged ones are counted in ``memories`` alone."""

    memories: int = 0
    """Memories given, counted by distinct id."""
    resolutions: ResolutionCounts = attrs.field(factory=ResolutionCounts)
    """How the names in the texts were resolved."""
    conflicts: tuple[str, ...] = ()
    """Names shared with an entity of another type, which was not merged."""
    unread: tuple[Unread, ...] = ()
    """Memories that the extractor could not read, and why; they are not written, and the next call tries again."""
    echoes: tuple[Echo, ...] = ()
    """Memories that repeat what their session was shown, which is no new evidence; in order of id."""


def totals_of(writer: Writer, texts: ResolvedTexts, repeated: Sequence[FactReport] = ()) -> dict[str, Any]:
    """The fields of a report that count what was written, and what became of texts and of ``repeated`` facts."""
    written = {name: getattr(writer, name) for name in ("entities", "removed", "relations", "embedded")}
    read = {"refused": texts.refused, "unanswered": texts.unanswered, "stated": (*texts.stated, *repeated)}
    return {**written, **read, "left": len(texts.left)}


class Progress(Protocol):
    """A callback after every step of an ingest."""

    def __call__(self, done: int, total: int, name: str) -> None:
        """``done`` of ``total`` steps are completed; the last one concerned ``name``."""
