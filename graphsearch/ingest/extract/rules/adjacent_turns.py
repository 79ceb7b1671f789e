"""What a speaker goes on speaking of from one turn to the next."""

from __future__ import annotations

from typing import Final

from graphsearch.ingest.extract.rules.beside import speaker_of
from graphsearch.ingest.extract.rules.corrections import Amends
from graphsearch.ingest.extract.rules.pronouns import goes_on
from graphsearch.ingest.extract.rules.speakers import name_key
from graphsearch.model import Memory
from graphsearch.model.extracted import Said, Surface
from graphsearch.text.name_spans import is_coined

_NO_THINGS: Final = frozenset({"person", "place", "date", "url", "file", "function", "status"})
_OF_THINGS: Final = frozenset({"uses", "depends_on", "has_status"})
"""Relation types whose source is never a person."""


def topic(before: Memory, memory: Memory, read: tuple[Said, Amends | None] | None) -> Surface | None:
    """The thing that "it" at the beginning of a turn refers to, named by the same speaker in the turn before.

    It is the only thing named there, or the only one that is the source of a relation of things.
    """
    same = (before.speaker, before.session_id) == (memory.speaker, memory.session_id)
    if read is None or not same or not goes_on(memory.text) or not speaker_of(memory):
        return None
    things = {name_key(each.name): each for each in read[0].surfaces if each.type not in _NO_THINGS}
    made = {each.target for each in read[0].statements if each.type == "created"}
    sources = {name_key(each.source.name) for each in read[0].statements if each.type in _OF_THINGS} & things.keys()
    chosen = sources or things.keys()
    meant = things[next(iter(chosen))] if len(chosen) == 1 else None
    # A single plain word may be an unknown person.
    plain = meant is not None and not (meant.type or meant in made or " " in meant.name or is_coined(meant.name))
    return None if plain and not sources else meant
