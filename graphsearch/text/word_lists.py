"""Word lists that distinguish names from other capitalised words: data, in lower case.

They are not lists of names, but of words next to names, and of capitalised words that are no names.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final


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
        found[name] = word_set(words)
    return found


def _listed(name: str) -> frozenset[str]:
    return _tables()[name]


_LETTERS: Final = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))  # noqa: PLR2004 - ASCII


def ascii_words(text: str) -> list[bytes]:
    """The words of a text in lower case, without characters beyond ASCII; several times as fast as `str.translate`."""
    return text.lower().encode("ascii", "replace").translate(_LETTERS).split()


HONORIFICS: Final = _listed("honorifics")
"""Before a name they make it a person's."""

PATRONS: Final = word_set("king lady lord pope president prince princess queen saint")
"""Honorifics of those to whom institutions are dedicated."""

POSTS: Final = _listed("posts")
"""Before "of" they are what somebody is."""

SURNAME_PARTICLES: Final = word_set("af al av da das de della der di dos du ibn van von zu zur")
"""Small words that begin a surname: "van der Berg"."""

GENERATIONS: Final = word_set("jr sr ii iii iv")
"""After a name they tell namesakes of one family apart."""

GIVEN_WORDS: Final = _listed("given_words")
"""Ordinary words that are given names as well."""

SURNAME_WORDS: Final = word_set("an be do ha he ho in la may my no on so to ye you will")
"""Small words that are names after a given name: "Minh An"."""

ROLES: Final = _listed("roles")
"""Before the name of a person, not part of it."""

NAME_PARTICLES: Final = _listed("name_particles")
"""Small words within a name."""

PERSON_NAME_PARTICLES: Final = NAME_PARTICLES - {"of"}

OF_HEADS: Final = _listed("of_heads")
"""Words that begin a name with "of", "of the" or "for"; before "of", any single capitalised word does."""

ORGANISATION_ENDS: Final = _listed("organisation_ends")
CLUB_ENDS: Final = _listed("club_ends")
"""Last words of groups with members instead of employees."""
GROUP_HEADS: Final = _listed("group_heads")
"""Before "Group" they name a group of people, not a company: "Working Group"."""
# Without words that are surnames as well (Park, Hill, Church, Hall).
PLACE_ENDS: Final = _listed("place_ends")
FACILITY_ENDS: Final = _listed("facility_ends")
EVENT_ENDS: Final = _listed("event_ends")
PLACE_STARTS: Final = word_set("cape fort lake mount mt")

PLACE_OPENINGS: Final = PLACE_STARTS | _listed("place_openings")
"""First words of places of several words."""

PERSON_VERBS: Final = _listed("person_verbs")
"""After a name they make it a person's."""

NAME_VERBS: Final = PERSON_VERBS | _listed("name_verbs")
"""After a capitalised word they make it a name."""

OWNED_BY_PEOPLE: Final = _listed("owned_by_people")
"""After "'s" they make the name before it a person's."""

_CALENDAR: Final = _listed("calendar")

_GRAMMAR = _listed("grammar")

_OPENINGS: Final = _listed("openings")

# Written in haste: "Im", "Thats".
_GRAMMAR |= frozenset(word.replace("'", "") for word in _GRAMMAR if "'" in word)

COMMON: Final = _GRAMMAR | _OPENINGS | _CALENDAR
"""Capitalised at the beginning of a sentence or for emphasis; no names by themselves."""


@cache
def ordinary_words() -> frozenset[str]:
    """Words that are no names by themselves, though emphasis, a label or an interface writes them with a capital."""
    return COMMON | word_set(files("graphsearch.text").joinpath("ordinary_words.txt").read_text(encoding="utf-8"))


GRAMMAR: Final = _GRAMMAR | _CALENDAR
"""Neither names nor the first or last words of names, anywhere in a sentence."""

NEVER_NAMES: Final = _CALENDAR | _listed("never_names")
"""No names anywhere, capitalised or not."""

NOT_ALONE: Final = (
    NEVER_NAMES
    | HONORIFICS
    | ROLES
    | GENERATIONS
    | word_set("api apis ceos cli co corp ctos faq hr id inc llc ltd pdf prs qa ui url ux")
)
"""No names by themselves."""

YEARLY: Final = EVENT_ENDS | _listed("yearly")
"""What there is one of in a year, so that the year tells them apart."""

UNNUMBERED: Final = GRAMMAR | _listed("unnumbered")
"""Before a number they refer to a part of a text or of a time, and make no name with it."""

COUNTED: Final = _listed("counted")
"""After a number they show that it counts them: "joined Acme 3 years ago"."""

SMALL_TEAM_WORDS: Final = _listed("small_team_words")
"""Before "team" they make no name of a team."""

NUMBERED: Final = _listed("numbered")
"""What numbers are given to: the number behind them is no year."""
