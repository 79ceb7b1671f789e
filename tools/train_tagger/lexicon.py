"""Build the lexicon of single words out of word lists, names of a census, and names of places."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from graphsearch.names.lexicon import CALENDAR, CAPITALISED, DEMONYM, FUNCTION, GIVEN, LETTERS, ORDINARY, PLACE, SURNAME
from graphsearch.names.vocabulary import formal_names
from graphsearch.text.word_lists import word_set

DICTIONARIES: Final = ("american-english", "british-english")
NAMES: Final = (("dist.female.first", GIVEN, 3000), ("dist.male.first", GIVEN, 1200), ("dist.all.last", SURNAME, 12000))
"""Files of the census of the United States, most frequent names first, and how many of each are taken."""
CITY: Final = 100_000
"""The least number of people of a city."""
OWN: Final = Path(__file__).with_name("words.txt")
HEADER: Final = """\
# Flags of words, made by tools/train_tagger; sources and their licences are in NOTICE.txt.
# o ordinary, c written with a capital, g given name, p place, k calendar, d of a nationality or a faith, s surname,
# f of grammar.
"""
_DEMONYM_ENDS: Final = ("ese", "ish", "ian", "ians", "ean", "eans")
_DEMONYM_OF_PLACE: Final = ("n", "an", "ans", "ian", "ians", "i", "ese", "ish", "er", "ers")
_LEAST_LETTERS: Final = 5


def build(folder: Path) -> str:
    """Build the text of the lexicon from the sources in a folder."""
    small, capital = _dictionary(folder)
    own = _own_words()
    flags: dict[str, int] = defaultdict(int)

    def mark(words: Iterable[str], flag: int) -> None:
        for word in words:
            flags[word] |= flag

    mark(small | own["chat"], ORDINARY)
    mark(capital, CAPITALISED)
    for file, flag, most in NAMES:
        lines = (folder / file).read_text(encoding="utf-8").splitlines()[:most]
        mark({line.split()[0].lower() for line in lines} - small, flag)
    places = {*_cities(folder)} - small | {*_countries(folder)} | own["place"]
    mark(places, PLACE)
    mark(own["calendar"], CALENDAR)
    mark(own["given"], GIVEN)
    mark(own["function"], ORDINARY | FUNCTION)
    called = {word for word, flag in flags.items() if flag & (GIVEN | SURNAME)} | formal_names().keys()
    ending = {each for each in capital if each.endswith(_DEMONYM_ENDS) and len(each) > _LEAST_LETTERS}
    of_places = {word for place in places for word in _people_of(place)} & capital
    mark((ending | of_places) - small - places - called | own["demonym"], DEMONYM)
    return HEADER + "".join(f"{line}\n" for line in _lines(flags))


def _dictionary(folder: Path) -> tuple[set[str], set[str]]:
    """Words of the dictionaries in small letters, and those with a capital, folded.

    Those with an accent are left out: SCOWL takes its accents from a list with a notice of its own.
    """
    words = {word for file in DICTIONARIES for word in (folder / file).read_text(encoding="utf-8").split()}
    plain = {word for word in words if word.isalpha() and word.isascii()}
    small = {word for word in plain if word.islower()}
    return small, {word.lower() for word in plain - small}


def _own_words() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for line in OWN.read_text(encoding="utf-8").splitlines():
        name, _, words = line.partition(": ")
        found[name] |= word_set(words)
    return found


def _rows(folder: Path, file: str) -> Iterator[Mapping[str, Any]]:
    yield from json.loads((folder / file).read_text(encoding="utf-8")).values()


def _cities(folder: Path) -> Iterator[str]:
    for row in _rows(folder, "cities15000.json"):
        if row["population"] >= CITY and row["name"].replace("-", "").isalpha():
            yield row["name"].casefold()


def _countries(folder: Path) -> Iterator[str]:
    """The names of countries and of states of the United States; "_" stands for a blank."""
    for file in ("countries.json", "us_states.json"):
        yield from ("_".join(row["name"].casefold().split()) for row in _rows(folder, file))


def _people_of(place: str) -> Iterator[str]:
    """What the people of a place may be called, most of which is no word."""
    for stem in (place, place[:-1], place[:-2]):
        if len(stem) > 2:  # noqa: PLR2004 - shorter ones are the stem of anything
            yield from (stem + end for end in _DEMONYM_OF_PLACE)


def _lines(flags: Mapping[str, int]) -> Iterator[str]:
    """The words by their flags, short lines."""
    grouped: dict[int, list[str]] = defaultdict(list)
    for word in sorted(flags):
        grouped[flags[word]].append(word)
    for flag in sorted(grouped):
        name = "".join(letter for letter, bit in LETTERS.items() if flag & bit)
        for line in wrap(" ".join(grouped[flag]), 110, break_long_words=False, break_on_hyphens=False):
            yield f"{name}: {line}"
