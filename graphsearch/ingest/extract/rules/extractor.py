"""The extractor by rules, which needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from graphsearch.ingest.extract.rules.amending import with_corrections
from graphsearch.ingest.extract.rules.context_names import speaker_of
from graphsearch.ingest.extract.rules.corrections import Amendment
from graphsearch.ingest.extract.rules.group_patterns import BELONGING
from graphsearch.ingest.extract.rules.memory_reader import read_memory
from graphsearch.ingest.extract.rules.patterns import RelationPattern, by_cue
from graphsearch.ingest.extract.rules.people_patterns import LIVING, REPORTING, WORKING
from graphsearch.ingest.extract.rules.pronouns import begins_with_it
from graphsearch.ingest.extract.rules.shortened import with_whole_names
from graphsearch.ingest.extract.rules.speakers import lower_case_names, name_key, read_conversation
from graphsearch.ingest.extract.rules.thing_patterns import MAKING, PAYING
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.text.dates import Dates, NaturalDates
from graphsearch.text.name_spans import is_coined

NAME: Final = "rules/3"
DEFAULT_PATTERNS: Final[tuple[RelationPattern, ...]] = (*REPORTING, *WORKING, *BELONGING, *PAYING, *MAKING, *LIVING)
"""Relation patterns for English. If two patterns find the same relation type between two names, the earlier applies."""

_NO_THINGS: Final = frozenset({"person", "place", "date", "url", "file", "function", "status"})
_OF_THINGS: Final = frozenset({"uses", "depends_on", "has_status"})
"""Relation types whose source is never a person."""


class TextExtractor:
    """Extracts names, relations and dates from English text by rules; deterministic.

    ``patterns`` are tried in order; add your own to `DEFAULT_PATTERNS`. ``dates`` finds dates: `NaturalDates` by
    default, which raises `MissingExtraError` without the extra ``text``; `IsoDates` needs no extra.
    """

    def __init__(
        self, patterns: Iterable[RelationPattern] = DEFAULT_PATTERNS, *, dates: Dates | None = None, name: str = NAME
    ) -> None:
        self._patterns = by_cue(patterns)
        self._dates = NaturalDates() if dates is None else dates
        self._name = name

    @property
    def name(self) -> str:
        """The name given, by default "rules/3"; with patterns of your own, give a name and change it with them."""
        return self._name

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The content of each memory, in order; runs in a thread."""
        return await asyncio.to_thread(self._read, memories)

    def _read(self, memories: Sequence[Memory]) -> list[ExtractedMemory]:
        """Read the memories; those in lower case last, when the names capitalised in others are known."""
        conversation = read_conversation(memories)
        read: dict[int, tuple[ExtractedMemory, Amendment | None]] = {}
        lower_case: list[int] = []
        for number, memory in enumerate(memories):
            if memory.text.islower():
                lower_case.append(number)
            else:
                before = _topic_before(memories[number - 1], memory, read.get(number - 1)) if number else None
                read[number] = read_memory(memory, self._patterns, self._dates, conversation, topic=before)
        if lower_case:
            known = lower_case_names(conversation, [each for each, _ in read.values()])
            for number in lower_case:
                before = _topic_before(memories[number - 1], memories[number], read.get(number - 1)) if number else None
                read[number] = read_memory(memories[number], self._patterns, self._dates, conversation, known, before)
        whole = with_whole_names([read[number] for number in range(len(memories))], conversation.whole)
        return with_corrections(memories, whole, conversation.whole)


def _topic_before(
    before: Memory, memory: Memory, read: tuple[ExtractedMemory, Amendment | None] | None
) -> ExtractedName | None:
    """The thing that "it" at the beginning of a turn refers to, named by the same speaker in the turn before.

    It is the only thing named there, or the only one that is the source of a relation of things.
    """
    same = (before.speaker, before.session_id) == (memory.speaker, memory.session_id)
    if read is None or not same or not begins_with_it(memory.text) or not speaker_of(memory):
        return None
    things = {name_key(each.name): each for each in read[0].surfaces if each.type not in _NO_THINGS}
    made = {each.target for each in read[0].statements if each.type == "created"}
    sources = {name_key(each.source.name) for each in read[0].statements if each.type in _OF_THINGS} & things.keys()
    chosen = sources or things.keys()
    meant = things[next(iter(chosen))] if len(chosen) == 1 else None
    # A single plain word may be an unknown person.
    plain = meant is not None and not (meant.type or meant in made or " " in meant.name or is_coined(meant.name))
    return None if plain and not sources else meant
