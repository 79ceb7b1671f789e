"""Given names with their short forms and spellings, folded: the lines of ``given_names.txt``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from graphsearch.text.word_lists import data_lines


@cache
def formal_names() -> Mapping[str, frozenset[str]]:
    """The formal names that a given name may stand for, including itself if it is formal."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in data_lines("graphsearch.names", "given_names.txt"):
        formal, _, short = line.partition(":")
        for name in (formal, *short.split()):
            found[name].add(formal)
    return MappingProxyType({name: frozenset(formal) for name, formal in found.items()})


@cache
def names_of() -> Mapping[str, frozenset[str]]:
    """All names that may stand for a formal name."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, formal in formal_names().items():
        for each in formal:
            found[each].add(name)
    return MappingProxyType({formal: frozenset(names) for formal, names in found.items()})


def is_given_name(word: str) -> bool:
    """Whether a folded word is a given name of the table."""
    return word in formal_names()


def is_nickname(given: str) -> bool:
    """Whether a folded given name is only a short form of others."""
    return is_given_name(given) and given not in formal_names()[given]
