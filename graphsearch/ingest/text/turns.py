"""What a speaker goes on speaking of from one turn to the next."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.text.beside import speaker_of
from graphsearch.ingest.text.conversation import name_key
from graphsearch.ingest.text.corrections import Amends, claims
from graphsearch.ingest.text.pronouns import goes_on
from graphsearch.ingest.text.said import Said, Surface
from graphsearch.model import Memory

_NO_THINGS: Final = frozenset({"person", "place", "date", "url", "file", "function", "status"})


def topic(before: Memory, memory: Memory, read: tuple[Said, Amends | None] | None) -> Surface | None:
    """What a speaker spoke of in the turn before, which is "it" at the head of this one.

    That is the only thing that they named, or the only one of which they said anything.
    """
    same = (before.speaker, before.session_id) == (memory.speaker, memory.session_id)
    if read is None or not same or not goes_on(memory.text) or not speaker_of(memory):
        return None
    things = {name_key(each.name): each for each in read[0].surfaces if each.type not in _NO_THINGS}
    told = {name_key(each.source.name) for each in claims(read[0].statements)} & things.keys()
    chosen = told if told else things.keys()
    return things[next(iter(chosen))] if len(chosen) == 1 else None
