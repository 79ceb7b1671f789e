"""Words around names, and short forms: the lists of ``words.txt`` and the tables of ``short_forms.txt``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from graphsearch.text.word_lists import data_lines

SAME_TYPES: Final = MappingProxyType(
    {
        "organization": "organisation",
        "org": "organisation",
        "company": "organisation",
        "people": "person",
        "document": "file",
    }
)
"""Synonyms of entity types, each with its normal form."""


@cache
def words(name: str) -> frozenset[str]:
    """The words of a list, such as "titles"."""
    return _lists()[name]


@cache
def short_forms(table: str) -> Mapping[str, str]:
    """The normal form for each other spelling of a table: "word", "vendor" or "tool"."""
    lines = (line.partition(": ") for line in data_lines("graphsearch.names", "short_forms.txt"))
    rows = ((head.split(), shorts.split()) for head, _, shorts in lines)
    return MappingProxyType({short: name for (of, name), shorts in rows if of == table for short in shorts})


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for line in data_lines("graphsearch.names", "words.txt"):
        name, _, some = line.partition(": ")
        found[name] |= frozenset(some.split())
    return MappingProxyType(dict(found))
