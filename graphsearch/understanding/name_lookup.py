"""Look up the entities that the words of a question may name, through a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Final
from uuid import UUID

from graphsearch._support.concurrency import both
from graphsearch.access.aliases import visible_matches, with_visible_aliases
from graphsearch.access.reader import Reader, widest
from graphsearch.claims.naming import folded_name
from graphsearch.model import NameMatch
from graphsearch.query.anchor_candidates import runs
from graphsearch.text.terms import STOP_WORDS
from graphsearch.text.trigrams import spoken_words
from graphsearch.understanding.asked_time import AskedTime, asked_time
from graphsearch.understanding.linking import Nameable
from graphsearch.understanding.question_tokens import Token

SHARED: Final = 25
"""A word that occurs in this many names is not looked up alone, only as part of whole names."""


async def candidate_ids(question: str, tokens: Sequence[Token], reader: Reader) -> list[UUID]:
    """The entities, visible or not, of which a name or a word of a name occurs in a question."""
    asked = [
        token.text
        for token in tokens
        if len(token.text) > 1 and (token.text not in STOP_WORDS or (token.capitalised and token.start > 0))
    ]
    words = dict.fromkeys((*asked, *(word for word in spoken_words(question) if word not in STOP_WORDS)))
    names = sorted({run.name for run in runs(question)})
    whole, partly = await both(reader.store.find_names(names), by_words(list(words), reader))
    return sorted({each.entity_id for each in (*whole, *partly)})


async def by_words(words: Sequence[str], reader: Reader) -> list[NameMatch]:
    """The entities with one of some distinctive words in a name; hidden entities do not make a word common."""
    limit = SHARED
    while True:
        found = await reader.store.find_name_words(words, limit=limit)
        number = Counter(match.name for match in found)
        many = {word for word, times in number.items() if times >= SHARED}
        crowded = await _crowded(found, many, reader) if reader.gatekeeper.hides and many else many
        unknown = {word for word in many - crowded if number[word] >= limit}
        if not unknown or limit >= widest(SHARED):
            return [match for match in found if match.name not in crowded | unknown]
        limit *= 2


async def _crowded(found: Sequence[NameMatch], words: Collection[str], reader: Reader) -> set[str]:
    """The words that occur in a visible name of at least `SHARED` entities."""
    matches = [match for match in found if match.name in words]
    hits = await reader.locate(sorted({match.entity_id for match in matches}))
    seen = set(reader.store.entity_ids(hits.keys))
    visible = await visible_matches([match for match in matches if match.entity_id in seen], reader)
    return {word for word, number in Counter(match.name for match in visible).items() if number >= SHARED}


async def time_asked(
    question: str, now: datetime, snapshot: Callable[[], AbstractAsyncContextManager[Reader]]
) -> AskedTime:
    """The time that a question asks about; a date that is part of a name of the snapshot does not count."""
    time = asked_time(question, now)
    if not time.spans:
        return time
    async with snapshot() as reader:
        return asked_time(question, now, await dated_names(question, time.spans, reader))


async def dated_names(question: str, dates: Sequence[tuple[int, int]], reader: Reader) -> list[tuple[int, int]]:
    """The characters [start, end) of known, visible whole names that contain a date and more: "Euro 2024"."""
    around = [
        run
        for run in runs(question)
        if any(run.start <= start and end <= run.end and end - start < len(run.written) for start, end in dates)
    ]
    found = await reader.store.find_names(sorted({run.name for run in around}))
    known = await nameable(sorted({match.entity_id for match in found}), reader)
    names = {folded_name(name) for each in known for name in each.names}
    return [(run.start, run.end) for run in around if folded_name(run.name) in names]


async def nameable(ids: Sequence[UUID], reader: Reader) -> list[Nameable]:
    """The entities that hold and are visible, with their visible names."""
    hits = await reader.locate(ids)
    entities = await with_visible_aliases(await reader.entities(hits.keys), reader)
    return [Nameable(id=each.id, type=each.type, names=(each.name, *each.aliases)) for each in entities]
