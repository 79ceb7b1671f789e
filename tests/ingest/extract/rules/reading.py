"""The names and relations that the default rules find in one text, in a short form."""

import asyncio
from datetime import UTC, datetime

from graphsearch.ingest.extract.rules.extractor import TextExtractor
from graphsearch.ingest.extract.rules.relating import CO_OCCURS
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory

AT = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)
EXTRACTOR = TextExtractor()


def read(text: str, *, speaker: str = "", subject: str = "", at: datetime | None = AT) -> ExtractedMemory:
    memory = Memory(id="m", text=text, speaker=speaker, subject=subject, occurred_at=at)
    (said,) = asyncio.run(EXTRACTOR.extract([memory]))
    return said


def names(text: str, **given) -> dict[str, str]:
    """Names to their types."""
    return {surface.name: surface.type for surface in read(text, **given).surfaces}


def triples(text: str, **given) -> list[tuple[str, str, str]]:
    """What is stated, co-occurrence left out."""
    return [
        (each.source.name, each.type, each.target.name)
        for each in read(text, **given).statements
        if each.type != CO_OCCURS
    ]


def together(text: str, **given) -> set[tuple[str, str]]:
    return {(each.source.name, each.target.name) for each in read(text, **given).statements if each.type == CO_OCCURS}
