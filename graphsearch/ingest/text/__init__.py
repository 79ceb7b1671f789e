"""Texts to surfaces and statements: pure, without a store and without a model."""

from typing import TYPE_CHECKING

from graphsearch.lazily import lazily

if TYPE_CHECKING:
    from graphsearch.ingest.text.chunks import document_memories as document_memories
    from graphsearch.ingest.text.dates import IsoDates as IsoDates
    from graphsearch.ingest.text.dates import NaturalDates as NaturalDates
    from graphsearch.ingest.text.default_patterns import DEFAULT_PATTERNS as DEFAULT_PATTERNS
    from graphsearch.ingest.text.extractor import TextExtractor as TextExtractor
    from graphsearch.ingest.text.patterns import Phase as Phase
    from graphsearch.ingest.text.patterns import RelationPattern as RelationPattern
    from graphsearch.ingest.text.said import Said as Said
    from graphsearch.ingest.text.said import Statement as Statement
    from graphsearch.ingest.text.said import Surface as Surface
    from graphsearch.ingest.text.transcripts import transcript_memories as transcript_memories

_ROOM = "graphsearch.ingest.text"
_HOMES = {
    "DEFAULT_PATTERNS": f"{_ROOM}.default_patterns",
    "IsoDates": f"{_ROOM}.dates",
    "NaturalDates": f"{_ROOM}.dates",
    "Phase": f"{_ROOM}.patterns",
    "RelationPattern": f"{_ROOM}.patterns",
    "Said": f"{_ROOM}.said",
    "Statement": f"{_ROOM}.said",
    "Surface": f"{_ROOM}.said",
    "TextExtractor": f"{_ROOM}.extractor",
    "document_memories": f"{_ROOM}.chunks",
    "transcript_memories": f"{_ROOM}.transcripts",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
