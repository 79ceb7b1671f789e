"""The statements of a conversation, in a short form."""

import asyncio
from datetime import UTC, datetime

from graphsearch.ingest.extract.rules.relating import CO_OCCURS
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from tests.ingest.extract.rules.reading import EXTRACTOR

NOON = datetime(2024, 5, 15, 12, tzinfo=UTC)


def turns(*said: str) -> list[Memory]:
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
        for number, (speaker, _, text) in enumerate(each.partition(": ") for each in said)
    ]


def hear(*said: str) -> list[ExtractedMemory]:
    return list(asyncio.run(EXTRACTOR.extract(turns(*said))))


def stated(*said: str) -> list[tuple[str, str, str]]:
    """What is stated, co-occurrence left out."""
    return [
        (one.source.name, one.type, one.target.name)
        for each in hear(*said)
        for one in each.statements
        if one.type != CO_OCCURS
    ]


def ended(*said: str) -> list[tuple[str, str, str]]:
    """What is stated to be over."""
    return [
        (one.source.name, one.type, one.target.name)
        for each in hear(*said)
        for one in each.statements
        if one.valid_to is not None
    ]
