"""The extractor that needs no model: rules to surfaces and statements."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from graphsearch.ingest.extract.rules.adjacent_turns import topic
from graphsearch.ingest.extract.rules.amending import with_corrections
from graphsearch.ingest.extract.rules.corrections import Amends
from graphsearch.ingest.extract.rules.default_patterns import DEFAULT_PATTERNS
from graphsearch.ingest.extract.rules.memory_reader import said
from graphsearch.ingest.extract.rules.patterns import RelationPattern, by_cue
from graphsearch.ingest.extract.rules.shortened import with_whole_names
from graphsearch.ingest.extract.rules.speakers import conversation, small_names
from graphsearch.model import Memory
from graphsearch.model.extracted import Said
from graphsearch.text.dates import Dates, NaturalDates

NAME: Final = "rules/3"


class TextExtractor:
    """Reads names, relations and dates out of English text by rules: the same text always says the same.

    ``patterns`` are tried in their order; add your own to `DEFAULT_PATTERNS`. ``dates`` finds dates: `NaturalDates` by
    default, which raises `MissingExtraError` without the extra ``text``; `IsoDates` needs nothing.
    """

    def __init__(
        self, patterns: Iterable[RelationPattern] = DEFAULT_PATTERNS, *, dates: Dates | None = None, name: str = NAME
    ) -> None:
        self._patterns = by_cue(patterns)
        self._dates = NaturalDates() if dates is None else dates
        self._name = name

    @property
    def name(self) -> str:
        """rules/3, unless another was given: give one to rules of your own, and change it when they change."""
        return self._name

    async def extract(self, memories: Sequence[Memory]) -> Sequence[Said]:
        """What each memory says, in their order; read in a thread."""
        return await asyncio.to_thread(self._read, memories)

    def _read(self, memories: Sequence[Memory]) -> list[Said]:
        """Those without any capital come last: names are known then that others write with one."""
        told = conversation(memories)
        read: dict[int, tuple[Said, Amends | None]] = {}
        small: list[int] = []
        for number, memory in enumerate(memories):
            if memory.text.islower():
                small.append(number)
            else:
                before = topic(memories[number - 1], memory, read.get(number - 1)) if number else None
                read[number] = said(memory, self._patterns, self._dates, told, topic=before)
        if small:
            known = small_names(told, [each for each, _ in read.values()])
            for number in small:
                before = topic(memories[number - 1], memories[number], read.get(number - 1)) if number else None
                read[number] = said(memories[number], self._patterns, self._dates, told, known, before)
        whole = with_whole_names([read[number] for number in range(len(memories))], told.whole)
        return with_corrections(memories, whole, told.whole)
