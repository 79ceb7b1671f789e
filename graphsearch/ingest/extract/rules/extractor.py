"""The extractor by rules, which needs no model: memories in order, each sentence by sentence."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from functools import cache
from typing import Final

from graphsearch._support.concurrency import in_slices
from graphsearch.ingest.extract.rules.activity_patterns import MEETING, WORKING_ON
from graphsearch.ingest.extract.rules.amending import (
    Amendment,
    with_corrections,
)
from graphsearch.ingest.extract.rules.conversation import (
    NO_LOWER_CASE_NAMES,
    LowerCaseNames,
    introduced_users,
    lower_case_names,
    of_user,
    read_conversation,
)
from graphsearch.ingest.extract.rules.group_patterns import BELONGING
from graphsearch.ingest.extract.rules.memory_reader import MemoryReader
from graphsearch.ingest.extract.rules.patterns import PatternsByCue, RelationPattern, by_cue
from graphsearch.ingest.extract.rules.people_patterns import LIVING, REPORTING, WORKING
from graphsearch.ingest.extract.rules.persons import with_people
from graphsearch.ingest.extract.rules.thing_patterns import MAKING, PAYING
from graphsearch.ingest.extract.rules.vocabulary import KnownName, Vocabulary, default_vocabulary
from graphsearch.model import Memory
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.text.dates import Dates, NaturalDates

NAME: Final = "rules/7"
DEFAULT_PATTERNS: Final[tuple[RelationPattern, ...]] = (
    *REPORTING,
    *WORKING,
    *MEETING,
    *WORKING_ON,
    *BELONGING,
    *PAYING,
    *MAKING,
    *LIVING,
)
"""Relation patterns for English. If two patterns find the same relation type between two names, the earlier applies."""


class TextExtractor:
    """Extracts names, relations and dates from English text by rules; deterministic.

    ``patterns`` are tried in order; add your own to `DEFAULT_PATTERNS`. ``dates`` finds dates: `NaturalDates` by
    default; `IsoDates` reads ISO dates alone.

    ``known`` are names found in any case, in addition to the vocabulary of tools (`graphsearch.names.known_tools`).
    ``user`` is the person whom memories of the speaker "user" or "human" are by, and who is called "the user" in those
    without a speaker. Raises `InvalidInputError` if it is no text.
    """

    def __init__(
        self,
        patterns: Iterable[RelationPattern] = DEFAULT_PATTERNS,
        *,
        dates: Dates | None = None,
        name: str = NAME,
        known: Iterable[KnownName] = (),
        user: str = "",
    ) -> None:
        check.refuse("extractor", check.text("user", user, empty=True))
        added = tuple(known)
        self._patterns = _default_patterns() if patterns is DEFAULT_PATTERNS else by_cue(patterns)
        self._dates = NaturalDates() if dates is None else dates
        self._vocabulary = Vocabulary.of(added) if added else default_vocabulary()
        self._user = " ".join(user.split())
        self._name = name

    @property
    def name(self) -> str:
        """The name given, by default "rules/7", and a digest of the known names and the user, if there are any.

        With patterns of your own, give a name and change it with them: texts are read again when it changes.
        """
        options = (self._vocabulary.digest, self._user)
        return (
            "+".join((self._name, hashlib.sha256(repr(options).encode()).hexdigest()[:12]))
            if any(options)
            else self._name
        )

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The content of each memory, in order; runs in threads, in slices between which it can be cancelled."""
        return await in_slices(self._read(memories))

    def _read(self, memories: Sequence[Memory]) -> Generator[None, None, list[ExtractedMemory]]:
        """Read the memories, in steps; those in lower case last, when the names capitalised in others are known."""
        users = {} if self._user else introduced_users(memories)
        memories = [of_user(memory, self._user or users.get(memory.session_id, "")) for memory in memories]
        conversation = read_conversation(memories)
        read: dict[int, tuple[ExtractedMemory, Amendment | None]] = {}

        def read_each(
            numbers: Iterable[int], known: LowerCaseNames = NO_LOWER_CASE_NAMES
        ) -> Generator[None, None, None]:
            for number in numbers:
                memory = memories[number]
                reader = MemoryReader.of(memory, conversation, self._vocabulary, known, self._user)
                read[number] = yield from reader.read(self._patterns, self._dates)

        lower_case = [number for number, memory in enumerate(memories) if memory.text.islower()]
        yield from read_each(number for number, memory in enumerate(memories) if not memory.text.islower())
        if lower_case:
            yield from read_each(lower_case, lower_case_names(conversation, [each for each, _ in read.values()]))
        found = [read[number] for number in range(len(memories))]
        return with_people(memories, with_corrections(memories, found, conversation.whole))


@cache
def _default_patterns() -> PatternsByCue:
    return by_cue(DEFAULT_PATTERNS)
