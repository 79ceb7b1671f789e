"""What the default rules find in one text, and in a conversation, in a short form."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from graphsearch.ingest.reading.assembling import CO_OCCURS
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory

AT = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)
EXTRACTOR = TextExtractor()


def read(text: str, *, speaker: str = "", subject: str = "", at: datetime | None = AT) -> ExtractedMemory:
    memory = Memory(id="m", text=text, speaker=speaker, subject=subject, occurred_at=at)
    (extracted,) = asyncio.run(EXTRACTOR.extract([memory]))
    return extracted


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


NOON = datetime(2024, 5, 15, 12, tzinfo=UTC)


def turns(*spoken: str) -> list[Memory]:
    """Memories of one session out of "speaker: text"."""
    return [
        Memory(
            id=str(number),
            text=text,
            speaker=speaker,
            session_id="s",
            position=number,
            occurred_at=NOON.replace(minute=number),
        )
        for number, (speaker, _, text) in enumerate(each.partition(": ") for each in spoken)
    ]


def hear(*spoken: str) -> list[ExtractedMemory]:
    return list(asyncio.run(EXTRACTOR.extract(turns(*spoken))))


def stated(*spoken: str) -> list[tuple[str, str, str]]:
    """What is stated, co-occurrence left out."""
    return [
        (one.source.name, one.type, one.target.name)
        for each in hear(*spoken)
        for one in each.statements
        if one.type != CO_OCCURS
    ]


def ended(*spoken: str) -> list[tuple[str, str, str]]:
    """What is stated to be over."""
    return [
        (one.source.name, one.type, one.target.name)
        for each in hear(*spoken)
        for one in each.statements
        if one.valid_to is not None
    ]
