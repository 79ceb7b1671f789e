"""Which words of a scope are names and which are ordinary, counted over some of its facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

ORDINARY: Final = 0.5
"""A word that is part of a name in a smaller share of its occurrences is an ordinary word."""


@attrs.frozen(kw_only=True)
class Wording:
    """The usage of words in a scope.

    * ``naming``: the number of facts in which a word is part of the name of an end; ``telling``: in which it is not.
    * ``type_terms``: the terms of the names of relation types and entity types; such a word alone names nothing.
    """

    naming: Mapping[str, int]
    telling: Mapping[str, int]
    type_terms: frozenset[str]

    def nameness(self, word: str, terms: Iterable[str]) -> float:
        """The share of its facts in which a word is part of a name, in [0, 1]; 1 for a word of no fact.

        ``terms`` are the word's terms: one that is a term of a type's name is never part of a name by itself.
        """
        if not self.type_terms.isdisjoint(terms):
            return 0.0
        return self.usage(word)

    def usage(self, word: str) -> float:
        """Like `nameness`, whether the word is in a type's name or not."""
        naming, telling = self.naming.get(word, 0), self.telling.get(word, 0)
        return naming / (naming + telling) if naming + telling else 1.0
