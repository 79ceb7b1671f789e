"""What holds across the memories of one call: speakers and subjects, and names known from other memories.

The latter are declared aliases, and names written in lower case.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import attrs

from graphsearch.ingest.extract.context import speaker_of
from graphsearch.ingest.extract.rules.declarations import DeclaredAlias, declarations
from graphsearch.ingest.extract.rules.phrases import undertakings
from graphsearch.ingest.extract.rules.relating import CO_OCCURS
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.names.given_names import is_given_name
from graphsearch.text import word_lists as known
from graphsearch.text.name_spans import NameSpan, type_of

USERS: Final = frozenset({"user", "human"})
"""Speakers that stand for the user."""


def of_user(memory: Memory, user: str) -> Memory:
    """A memory by a role that stands for the user, as one by the person who is the user."""
    return attrs.evolve(memory, speaker=user) if user and _is_user(memory) else memory


def _is_user(memory: Memory) -> bool:
    return memory.speaker.strip().casefold() in USERS


_FIRST_PERSON: Final = r"(?:^|[.!?,;:–—-] |\b(?:[Hh]i|[Hh]ello|[Hh]ey|and|but) )"
_PROPER: Final = r"[^\W\d_a-z][\w'’-]*\w"
_WHO: Final = rf"(?P<name>{_PROPER}(?: (?:(?:al|bin|da|de|del|den|der|di|dos|el|la|le|ten|van|von) )?{_PROPER}){{0,3}})"
_INTRODUCTIONS: Final = (
    re.compile(rf"(?i:\bmy (?:full )?name(?: is|['’]s)) {_WHO}"),
    re.compile(rf"{_FIRST_PERSON}(?:I['’]m|I am|[Tt]his is) {_WHO}(?=[.!,;:]| and\b| from\b| at\b| here\b| with\b|$)"),
    re.compile(rf"^(?:\w+,? )??{_WHO} here\b"),
)
"""How people introduce themselves; the first by words that leave no doubt."""


def introduced_users(memories: Sequence[Memory]) -> Mapping[str, str]:
    """The names by which users introduce themselves, by session: "I'm Leila Haddad", "my name is Jo".

    A user with two such names in a session has none. Without a session, nothing connects two memories.
    """
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for memory in memories:
        if memory.session_id and _is_user(memory):
            for name in _introduced_as(memory.text):
                found[memory.session_id][name] = None
    return {session: name for session, names in found.items() if (name := _longest(names))}


def _introduced_as(text: str) -> Iterator[str]:
    for sure, rule in zip((True, False, False), _INTRODUCTIONS, strict=True):
        for match in rule.finditer(text):
            words = match["name"].casefold().split()
            plain = not any(word in known.COMMON or word in known.NOT_ALONE for word in words)
            named = len(words) > 1 and not type_of(words[0], words[-2], words[-1]) and not match["name"].isupper()
            if plain and (sure or named or is_given_name(words[0])):
                yield match["name"]


def _longest(names: Iterable[str]) -> str:
    """The longest of several names, if the words of the others are among its own; else none."""
    longest = max(names, key=len)
    words = {*longest.casefold().split()}
    return longest if all({*each.casefold().split()} <= words for each in names) else ""


# -- known names ------------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CONFIDENCE: Final = 0.8
_NOT_NAMED: Final = frozenset({"date", "url", "file", "function"})


@lru_cache(maxsize=1024)
def name_key(name: str) -> str:
    """A key that is equal for all spellings of a name within a text."""
    return " ".join(name.split()).casefold()


@attrs.frozen(eq=False)
class LowerCaseNames:
    """Names to be found in lower case, by their last word, longer ones first."""

    by_word: Mapping[str, Sequence[tuple[str, ...]]]

    @classmethod
    def of(cls, names: Iterable[str]) -> LowerCaseNames:
        """Index names, given in any case."""
        found: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for name in dict.fromkeys(names):
            words = tuple(_WORD.findall(name.casefold()))
            if words:
                found[words[-1]].append(words)
        return cls({word: sorted(listed, key=len, reverse=True) for word, listed in found.items()})

    def within(self, text: str) -> LowerCaseNames:
        """These names, or none if a text contains the last word of none."""
        small = text.lower() if self.by_word else ""
        return self if any(word in small for word in self.by_word) else NO_LOWER_CASE_NAMES

    def find(self, text: str, start: int, end: int) -> Iterator[NameSpan]:
        """Occurrences in [start, end) of a text in order; of names with the same end only the longest."""
        if not self.by_word:
            return
        read = [(_bare(match[0].casefold()), match.start()) for match in _WORD.finditer(text, start, end)]
        words = [word for word, _ in read]
        for at, word in enumerate(words):
            for name in self.by_word.get(word, ()):
                first = at + 1 - len(name)
                if first >= 0 and tuple(words[first : at + 1]) == name:
                    close = read[at][1] + len(word)
                    yield NameSpan(start=read[first][1], end=close, type="", confidence=_CONFIDENCE, pattern="known")
                    break


def _bare(word: str) -> str:
    """A word without a possessive ending."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


NO_LOWER_CASE_NAMES: Final = LowerCaseNames({})


@attrs.frozen(kw_only=True, eq=False)
class Conversation:
    """Names that hold in all memories of one call.

    ``whole`` maps the names of persons to full names: full names of speakers, their unambiguous first names and
    surnames, and declared aliases. ``declared`` are the aliases that each memory declares, by its id, without ambiguous
    ones. ``small`` are the aliases in lower case.
    """

    whole: Mapping[str, str] = attrs.field(factory=dict)
    declared: Mapping[str, Sequence[DeclaredAlias]] = attrs.field(factory=dict)
    small: LowerCaseNames = NO_LOWER_CASE_NAMES
    undertakings: frozenset[str] = frozenset()
    """Keys of undertakings in lower case, which are among ``small``."""

    @property
    def people(self) -> Collection[str]:
        """All names of persons."""
        return self.whole.keys()


def read_conversation(memories: Sequence[Memory]) -> Conversation:
    """Read the conversation of memories, in time linear in their text."""
    speakers = {speaker: None for memory in memories if (speaker := speaker_of(memory))}
    bearers: defaultdict[str, set[str]] = defaultdict(set)
    for speaker in speakers:
        for key in {name_key(speaker), *_parts(speaker)}:
            bearers[key].add(speaker)
    found = [*_found(memories)]
    whole: defaultdict[str, set[str]] = defaultdict(set)
    resolved = [(id_, DeclaredAlias(each.short, _whole(each.full, bearers))) for id_, each in found]
    for _, each in resolved:
        whole[name_key(each.short)].add(each.full)
    declared: defaultdict[str, dict[DeclaredAlias, None]] = defaultdict(dict)
    called: dict[str, str] = {}
    for id_, each in resolved:
        key = name_key(each.short)
        if len(whole[key]) == 1 and not bearers.get(key, set()) - {each.full}:
            declared[id_][each] = None
            if each.full in speakers:
                called[key] = name_key(each.full)
    people = {key: name_key(next(iter(named))) for key, named in bearers.items() if len(named) == 1} | called
    undertaken = undertakings(memory.text for memory in memories)
    return Conversation(
        whole=people,
        declared={id_: tuple(each) for id_, each in declared.items()},
        small=LowerCaseNames.of(
            (
                *(each.short for several in declared.values() for each in several if each.short.startswith("the ")),
                *sorted(undertaken),
            )
        ),
        undertakings=frozenset(name_key(each) for each in undertaken),
    )


def _found(memories: Iterable[Memory]) -> Iterator[tuple[str, DeclaredAlias]]:
    heard: set[str] = set()
    for memory in memories:
        speaker = speaker_of(memory)
        for each in declarations(memory.text, speaker, first=speaker not in heard):
            yield memory.id, each
        heard.add(speaker)


def _parts(speaker: str) -> Iterator[str]:
    """First name and surname, unless they are common words."""
    words = speaker.split()
    for word in {words[0], words[-1]} if len(words) > 1 else ():
        if name_key(word) not in known.GRAMMAR:
            yield name_key(word)


def _whole(name: str, bearers: Mapping[str, set[str]]) -> str:
    """The full name of the only speaker with a name, else the name."""
    named = bearers.get(name_key(name), set())
    return next(iter(named)) if len(named) == 1 else name


def lower_case_names(conversation: Conversation, read: Collection[ExtractedMemory]) -> LowerCaseNames:
    """Names that memories write with capitals, to be found in memories without capitals.

    A single word must be a person's name, have a known type, or be related to another name: otherwise it may be a
    common word.
    """
    named = {
        surface.name
        for each in read
        for surface in each.surfaces
        if surface.type not in _NOT_NAMED and (surface.type or " " in surface.name)
    }
    named |= {
        end.name
        for each in read
        for one in each.statements
        if one.type != CO_OCCURS
        for end in (one.source, one.target)
    }
    return LowerCaseNames.of(
        sorted(name for name in {*named, *conversation.people} if name_key(name) not in known.COMMON)
    )
