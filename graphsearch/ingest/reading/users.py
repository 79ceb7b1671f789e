"""Who the user is: by configuration, or by how users introduce themselves in a session."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.model import Memory
from graphsearch.names.lexicon import CALENDAR, DEMONYM, GIVEN, ORDINARY, flags
from graphsearch.names.spans import CERTAIN, Mention, Read
from graphsearch.names.word_marks import own_kind

USERS: Final = frozenset({"user", "human"})
"""Speakers that stand for the user."""
_FIRST_PERSON: Final = r"(?:^|[.!?,;:–—-] |\b(?:[Hh]i|[Hh]ello|[Hh]ey|and|but) )"
_PROPER: Final = r"[^\W\d_a-z][\w'’-]*\w"
_WHO: Final = rf"(?P<name>{_PROPER}(?: (?:(?:al|bin|da|de|del|den|der|di|dos|el|la|le|ten|van|von) )?{_PROPER}){{0,3}})"
_INTRODUCTIONS: Final = (
    re.compile(rf"(?i:\bmy (?:full )?name(?: is|['’]s)) {_WHO}"),
    re.compile(rf"{_FIRST_PERSON}(?:I['’]m|I am|[Tt]his is) {_WHO}(?=[.!,;:]| and\b| from\b| at\b| here\b| with\b|$)"),
    re.compile(rf"^(?:\w+,? )??{_WHO} here\b"),
)
"""How people introduce themselves; the first by words that leave no doubt."""
# "The user clicks a button" is about any user, but then nobody is configured as the user.
_USER: Final = re.compile(
    r"\b(?:[Tt]he user|User)(?=['’]s |[.,;:!?]|$| (?:and|or|to|in|on|at|with|from|for)\b| [a-z]+(?:s|ed|t)\b)"
)


def is_user(memory: Memory) -> bool:
    """Whether a memory is by a role that stands for the user."""
    return memory.speaker.strip().casefold() in USERS


def of_user(memory: Memory, user: str) -> Memory:
    """A memory by a role that stands for the user, as one by the person who is the user."""
    return attrs.evolve(memory, speaker=user) if user and is_user(memory) else memory


def introduced_users(memories: Sequence[Memory]) -> Mapping[str, str]:
    """The names by which users introduce themselves, by session: "I'm Leila Haddad", "my name is Jo".

    A user with two such names in a session has none. Without a session, nothing connects two memories.
    """
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for memory in memories:
        if memory.session_id and is_user(memory):
            found[memory.session_id].update(dict.fromkeys(_introduced_as(memory.text)))
    return {session: name for session, names in found.items() if names and (name := _longest(names))}


def _introduced_as(text: str) -> Iterator[str]:
    for sure, rule in zip((True, False, False), _INTRODUCTIONS, strict=True):
        for match in rule.finditer(text):
            name = match["name"]
            words = name.casefold().split()
            known = [flags(word) for word in words]
            plain = known[0] & (ORDINARY | GIVEN) == ORDINARY or any(flag & (CALENDAR | DEMONYM) for flag in known)
            named = len(words) > 1 and own_kind(name) in ("", "person") and not name.isupper()
            if not plain and (sure or named or known[0] & GIVEN):
                yield name


def _longest(names: Iterable[str]) -> str:
    """The longest of several names, if the words of the others are among its own; else none."""
    longest = max(names, key=len)
    words = {*longest.casefold().split()}
    return longest if all({*each.casefold().split()} <= words for each in names) else ""


def with_user(read: Read, user: str) -> Read:
    """What was read with the user's name where the text speaks of "the user"."""
    places = {match.start(): match.end() for match in _USER.finditer(read.text)}
    if not places:
        return read
    first = {word.start: number for number, word in enumerate(read.words)}
    end = {word.end: number + 1 for number, word in enumerate(read.words)}
    meant = [
        Mention(first[start], end[stop], user, "person", CERTAIN, hard=True)
        for start, stop in places.items()
        if start in first and stop in end
    ]
    taken = {place for each in meant for place in range(each.first, each.end)}
    others = (each for each in read.mentions if taken.isdisjoint(range(each.first, each.end)))
    return read._replace(mentions=sorted((*meant, *others)))
