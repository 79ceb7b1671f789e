"""The fold of an entity's names: its given name and aliases, the surfaces of its mentions, and merged entities.

As a fold, it drops an alias when the last mention or merge that contributed it is forgotten or undone. An entity that
was named without a type takes that of its first mention with one. Pure functions, shared by all stores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Final, NamedTuple
from uuid import UUID

from graphsearch.model import Entity, SimilarName
from graphsearch.model import validation as check
from graphsearch.model.identity import normalise_name
from graphsearch.text.trigrams import index_trigrams, name_words, trigrams

SLACK: Final = 1e-4  # a share is rounded
INDEXED_SIMILARITY: Final = 0.6
"""Least similarity that the index of names supports."""
MAX_TRIGRAMS: Final = 500
"""Maximum trigrams of a name that is indexed for similarity: longer text is no name."""

UNKNOWN_TYPES: Final = frozenset({"thing", "concept", "unknown"})
"""Types of entities whose actual type is not known yet: new ones are "thing", "concept" was what they were called."""
QUALIFIED_TYPES: Final = frozenset({"module", "class", "function"})
"""Types whose names are qualified: "connect" in code is no alias of every function of that name."""


class Cell(NamedTuple):
    """An index entry of a name: a trigram, the number of the name's trigrams, the trigram's rank among them."""

    trigram: str
    size: int
    position: int


def folded_name(name: str) -> str:
    """Fold a name for comparison: NFKC, whitespace collapsed, case-folded."""
    return normalise_name(name).casefold()


def names_of(entity: Entity | None) -> tuple[str, ...]:
    """The names by which an entity is found: none of one that was merged into another, which has them."""
    if entity is None or entity.merged_into is not None:
        return ()
    return (entity.name, *entity.aliases)


def fold_aliases(name: str, given: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """The aliases of an entity: those given, in order, then all others, sorted.

    Of spellings that are equal when folded, the first by code point is kept; of more than `MOST_NAMES`, the first.
    """
    known = {folded_name(each) for each in (name, *given)}
    spelt: dict[str, str] = {}
    for each in sorted(set(others)):
        spelt.setdefault(folded_name(each), each)
    return (*given, *(spelt[key] for key in sorted(spelt.keys() - known)))[: check.MOST_NAMES]


def forgotten_name(name: str, removed: Iterable[str], remaining: Collection[str]) -> bool:
    """Whether a name occurs in removed surfaces, and in none of the remaining ones, of which there are some."""
    return bool(remaining) and not any(name in each for each in remaining) and any(name in each for each in removed)


def is_typed_by_mentions(type: str, *, named: bool) -> bool:
    """Whether an entity takes its type from mentions: it is only ``named``, and its own type is unknown."""
    return named and type in UNKNOWN_TYPES


def known_types(types: Iterable[str]) -> frozenset[str]:
    """The known types among those of mentions."""
    return frozenset(types) - UNKNOWN_TYPES - {""}


def words_of(names: Iterable[str]) -> frozenset[str]:
    """The words by which an entity with these names is found."""
    return frozenset(word for name in names for word in name_words(name))


def cells_of(folded: str) -> Iterator[Cell]:
    """The index entries of a folded name, by which similar names find it."""
    size = len(trigrams(folded))
    if size <= MAX_TRIGRAMS:
        for position, trigram in enumerate(index_trigrams(folded, INDEXED_SIMILARITY)):
            yield Cell(trigram, size, position)


def sizes(size: int, threshold: float) -> range:
    """The possible sizes of trigram sets that are similar to one of ``size``: |A ∩ B| ≤ min(|A|, |B|)."""
    return range(max(1, ceil(size * threshold - SLACK)), min(int(size / threshold + SLACK), MAX_TRIGRAMS) + 1)


def prefix_lengths(size: int, other: int, threshold: float) -> tuple[int, int]:
    """The lengths of the prefixes of two ordered trigram sets that must intersect if the names are so similar.

    |A ∩ B| ≥ t · |A ∪ B| implies |A ∩ B| ≥ c = ⌈t · (|A| + |B|) / (1 + t)⌉, and the first of c common trigrams comes
    before the last c − 1 of either set.
    """
    common = ceil(threshold * (size + other) / (1 + threshold) - SLACK)
    return size - common + 1, other - common + 1


def best_first(found: Mapping[UUID, tuple[float, str]]) -> list[SimilarName]:
    """Entities, each with its similarity and its most similar name, best first, ties by id."""
    similar = [SimilarName(name=name, entity_id=key, similarity=score) for key, (score, name) in found.items()]
    return sorted(similar, key=lambda each: (-each.similarity, each.entity_id))


def refuse_limit(limit: int) -> None:
    """Raise `InvalidInputError` for a negative limit."""
    check.refuse("names", check.number("limit", limit, 0))


def refuse_threshold(threshold: float, limit: int) -> None:
    """Raise `InvalidInputError` for a similarity that the index does not support, or a negative limit."""
    check.refuse(
        "similar names",
        check.number("threshold", threshold, INDEXED_SIMILARITY, 1.0),
        check.number("limit", limit, 0),
    )
