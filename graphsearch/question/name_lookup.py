"""Until modes and recall have moved to `graphsearch.question.linking` and `graphsearch.question.understanding`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.ingest.stating.scope import VALUE
from graphsearch.question.asked_time import AskedTime, asked_time
from graphsearch.question.linking import FITS as FITS
from graphsearch.question.linking import dated_names, link_names, look_up
from graphsearch.question.words import Nameable, Token, tokens

__all__ = ["FITS", "link_names"]


async def candidate_ids(question: str, words: Sequence[Token], reader: Reader) -> list[UUID]:
    """The entities of which a name or a word of a name occurs in a question."""
    found = await look_up(question, words, reader.whenever(), {})
    return sorted(reader.entity_ids(found.hits.keys))


async def nameable(ids: Sequence[UUID], reader: Reader) -> Sequence[Nameable]:
    """The entities that hold and are visible."""
    found = await reader.entities((await reader.locate(ids)).keys)
    return [Nameable(id=e.id, type=e.type, names=(e.name, *e.aliases)) for e in found if e.type != VALUE]


async def time_asked(
    question: str, now: datetime, snapshot: Callable[[], AbstractAsyncContextManager[Reader]]
) -> AskedTime:
    """The time that a question asks about; a date that is part of a name of the snapshot does not count."""
    time = asked_time(question, now)
    if not time.spans:
        return time
    async with snapshot() as reader:
        found = await look_up(question, tokens(question), reader, {})
        return asked_time(question, now, dated_names(question, time.spans, found.nameable))
