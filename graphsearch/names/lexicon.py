"""What is known of a word without any text: whether it is ordinary, a given name, a place, of the calendar, and so on.

The words are data, ``lexicon.txt``, which `tools/train_tagger` makes; ``NOTICE.txt`` names where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from graphsearch.names.vocabulary import formal_names
from graphsearch.text.word_lists import data_sections

ORDINARY: Final = 1
"""In the dictionary in small letters, or of chats."""
CAPITALISED: Final = 2
"""In the dictionary with a capital."""
GIVEN: Final = 4
"""A given name."""
PLACE: Final = 8
"""A city, a state, a country or a continent."""
CALENDAR: Final = 16
"""A month, a day of the week, or a day by its name."""
DEMONYM: Final = 32
"""Of a nationality or a faith, as in "Danish"."""
SURNAME: Final = 64
"""A surname."""
FUNCTION: Final = 128
"""A word that holds English sentences together, as "the" and "with"."""

LETTERS: Final[Mapping[str, int]] = MappingProxyType(
    {"o": ORDINARY, "c": CAPITALISED, "g": GIVEN, "p": PLACE, "k": CALENDAR, "d": DEMONYM, "s": SURNAME, "f": FUNCTION}
)
"""How ``lexicon.txt`` spells the flags."""


_STRETCHED: Final = re.compile(r"(.)\1\1+")
"""What no word has: the "ooo" of "sooo"."""


@cache
def _words() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for letters, words in data_sections("graphsearch.names", "lexicon.txt").items():
        found.update(dict.fromkeys(words.split(), sum(LETTERS[letter] for letter in letters)))
    for name in formal_names():
        found[name] = found.get(name, 0) | GIVEN
    return found


@lru_cache(1 << 15)
def flags(word: str) -> int:
    """The flags of a word in any case, or of a country of several words ("costa rica"); 0 for one that is unknown."""
    low = word.casefold().replace(" ", "_")
    return _words().get(low) or _words().get(_STRETCHED.sub(r"\1", low), 0)
