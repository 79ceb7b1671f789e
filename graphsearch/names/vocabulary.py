"""Words around names, and short forms: the lists of ``words.txt`` and the tables of ``short_forms.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from graphsearch.text.word_lists import data_sections

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
    return frozenset(_lists()[name].split())


@cache
def short_forms(table: str) -> Mapping[str, str]:
    """The normal form for each other spelling of a table: "word", "vendor" or "tool"."""
    sections = data_sections("graphsearch.names", "short_forms.txt")
    rows = ((head.split(), shorts.split()) for head, shorts in sections.items())
    return MappingProxyType({short: name for (of, name), shorts in rows if of == table for short in shorts})


@cache
def _lists() -> Mapping[str, str]:
    return data_sections("graphsearch.names", "words.txt")
