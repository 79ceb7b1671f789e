"""Word lists that distinguish names from other capitalised words: data, in lower case.

They are not lists of names, but of words next to names, and of capitalised words that are no names.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def data_lines(package: str, name: str) -> list[str]:
    """The lines of a data file of a package, without empty ones and comments."""
    lines = (line.strip() for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


@cache
def _tables() -> dict[str, frozenset[str]]:
    """The sections of ``word_lists.txt``."""
    found: dict[str, frozenset[str]] = {}
    for line in data_lines("graphsearch.text", "word_lists.txt"):
        name, _, words = line.partition(": ")
        found[name] = frozenset().union(*(found[each[1:]] if each[0] == "@" else {each} for each in words.split()))
    return found


if not TYPE_CHECKING:

    def __getattr__(name: str) -> frozenset[str]:
        """A list, read when it is first asked for, not at import."""
        if name not in __annotations__:
            raise AttributeError(name)
        return globals().setdefault(name, _tables()[name.lower()])


_LETTERS: Final = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))  # noqa: PLR2004 - ASCII


def ascii_words(text: str) -> list[bytes]:
    """The words of a text in lower case, without characters beyond ASCII; several times as fast as `str.translate`."""
    return text.lower().encode("ascii", "replace").translate(_LETTERS).split()


HONORIFICS: frozenset[str]
"""Before a name they make it a person's."""

PATRONS: frozenset[str]
"""Honorifics of those to whom institutions are dedicated."""

POSTS: frozenset[str]
"""Before "of" they are what somebody is."""

SURNAME_PARTICLES: frozenset[str]
"""Small words that begin a surname: "van der Berg"."""

GENERATIONS: frozenset[str]
"""After a name they tell namesakes of one family apart."""

GIVEN_WORDS: frozenset[str]
"""Ordinary words that are given names as well."""

SURNAME_WORDS: frozenset[str]
"""Small words that are names after a given name: "Minh An"."""

ROLES: frozenset[str]
"""Before the name of a person, not part of it."""

NAME_PARTICLES: frozenset[str]
"""Small words within a name."""

PERSON_NAME_PARTICLES: frozenset[str]

OF_HEADS: frozenset[str]
"""Words that begin a name with "of", "of the" or "for"; before "of", any single capitalised word does."""

ORGANISATION_ENDS: frozenset[str]
CLUB_ENDS: frozenset[str]
"""Last words of groups with members instead of employees."""
GROUP_HEADS: frozenset[str]
"""Before "Group" they name a group of people, not a company: "Working Group"."""
# Without words that are surnames as well (Park, Hill, Church, Hall).
PLACE_ENDS: frozenset[str]
FACILITY_ENDS: frozenset[str]
EVENT_ENDS: frozenset[str]
INSTITUTION_ENDS: frozenset[str]
PLACE_STARTS: frozenset[str]

PLACE_OPENINGS: frozenset[str]
"""First words of places of several words."""

PERSON_VERBS: frozenset[str]
"""After a name they make it a person's."""

NAME_VERBS: frozenset[str]
"""After a capitalised word they make it a name."""

OWNED_BY_PEOPLE: frozenset[str]
"""After "'s" they make the name before it a person's."""

COMMON: frozenset[str]
"""Capitalised at the beginning of a sentence or for emphasis; no names by themselves."""

ORDINARY: frozenset[str]
"""No names by themselves, though emphasis, a label or an interface writes them with a capital."""

GRAMMAR: frozenset[str]
"""Neither names nor the first or last words of names, anywhere in a sentence."""

NEVER_NAMES: frozenset[str]
"""No names anywhere, capitalised or not."""

NOT_ALONE: frozenset[str]
"""No names by themselves."""

YEARLY: frozenset[str]
"""What there is one of in a year, so that the year tells them apart."""

UNNUMBERED: frozenset[str]
"""Before a number they refer to a part of a text or of a time, and make no name with it."""

COUNTED: frozenset[str]
"""After a number they show that it counts them: "joined Acme 3 years ago"."""

SMALL_TEAM_WORDS: frozenset[str]
"""Before "team" they make no name of a team."""

NUMBERED: frozenset[str]
"""What numbers are given to: the number behind them is no year."""
