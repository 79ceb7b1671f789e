"""What an entity is called: the name and aliases it was given, the surfaces of its mentions, and what it absorbed.

Aliases are a fold of these, so that forgetting a mention, or undoing a merge, takes along what only they told. So is
the type of an entity that was named without one: that of the first mention that tells one. Pure; both stores fold,
compare and index names alike.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import ceil
from typing import Final, NamedTuple

from graphsearch.model import validation as check
from graphsearch.model.identity import normalise_name
from graphsearch.text.trigrams import index_trigrams, name_words, trigrams

SLACK: Final = 1e-4  # similarity is rounded to float32
INDEXED_SIMILARITY: Final = 0.6
"""The least similarity that names are indexed for."""
MAX_TRIGRAMS: Final = 500
"""Trigrams of a name that is indexed for similarity: what has more is a text."""

UNKNOWN_TYPES: Final = frozenset({"concept", "unknown"})
"""Types of what may yet turn out to be a person, a tool, …"""
QUALIFIED_TYPES: Final = frozenset({"module", "class", "function"})
"""Types whose names are paths: that code says "connect" makes it no alias of every function that is called so."""


class Cell(NamedTuple):
    """Where a name is found: a trigram, how many trigrams it has, and which of them this is in the fixed order."""

    trigram: str
    size: int
    position: int


def folded_name(name: str) -> str:
    """The form in which names are compared: NFKC, spaces and case folded."""
    return normalise_name(name).casefold()


def fold_aliases(name: str, given: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """Aliases as they are shown: those given, in their order, then the others that are not among them, sorted.

    Of spellings that are equal when folded, the first by code point is shown.
    """
    known = {folded_name(each) for each in (name, *given)}
    spelt: dict[str, str] = {}
    for each in sorted(set(others)):
        spelt.setdefault(folded_name(each), each)
    return (*given, *(spelt[key] for key in sorted(spelt.keys() - known)))


def forgotten_name(name: str, unsaid: Iterable[str], said: Collection[str]) -> bool:
    """Whether a name stood in surfaces that are gone, and stands in none of those that are left."""
    return bool(said) and not any(name in each for each in said) and any(name in each for each in unsaid)


def may_be_told(type: str, *, named: bool) -> bool:
    """Whether mentions tell the type of an entity: of one that is only named, and was given none that says anything."""
    return named and type in UNKNOWN_TYPES


def told_types(types: Iterable[str]) -> frozenset[str]:
    """Those of the types that mentions have which say anything."""
    return frozenset(types) - UNKNOWN_TYPES - {""}


def words_of(names: Iterable[str]) -> frozenset[str]:
    """The words that an entity with these names is found by."""
    return frozenset(word for name in names for word in name_words(name))


def cells_of(folded: str) -> Iterator[Cell]:
    """Where a folded name is found when one like it is looked for."""
    size = len(trigrams(folded))
    if size <= MAX_TRIGRAMS:
        for position, trigram in enumerate(index_trigrams(folded, INDEXED_SIMILARITY)):
            yield Cell(trigram, size, position)


def sizes(size: int, threshold: float) -> range:
    """How many trigrams a name may have to be so similar to one that has ``size``: |A ∩ B| ≤ the smaller of both."""
    return range(max(1, ceil(size * threshold - SLACK)), min(int(size / threshold + SLACK), MAX_TRIGRAMS) + 1)


def prefix_lengths(size: int, other: int, threshold: float) -> tuple[int, int]:
    """How many of the first trigrams of each of two names, of these sizes, hold a common one if they are so similar.

    |A ∩ B| ≥ t · |A ∪ B| makes |A ∩ B| ≥ c = ⌈t · (|A| + |B|) / (1 + t)⌉, and of c common ones in one order the first
    comes before the last c − 1 of either.
    """
    common = ceil(threshold * (size + other) / (1 + threshold) - SLACK)
    return size - common + 1, other - common + 1


def refuse_limit(limit: int) -> None:
    """Raise `InvalidInputError` for a limit below 0."""
    check.refuse("names", check.number("limit", limit, 0))


def refuse_threshold(threshold: float, limit: int) -> None:
    """Raise `InvalidInputError` for a similarity that no index is made for, or a limit below 0."""
    check.refuse(
        "similar names",
        check.number("threshold", threshold, INDEXED_SIMILARITY, 1.0),
        check.number("limit", limit, 0),
    )
