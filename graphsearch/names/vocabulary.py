"""Words around names, short forms, given names and known tools: the data files beside this one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Final

from graphsearch.text.word_lists import data_lines, data_sections, word_lists

SAME_TYPES: Final = {
    "organization": "organisation",
    "org": "organisation",
    "company": "organisation",
    "people": "person",
    "document": "file",
}
"""Synonyms of entity types, each with its normal form."""

_HERE: Final = "graphsearch.names"


def words(name: str) -> frozenset[str]:
    """The words of a list of ``words.txt``, such as "titles"."""
    return word_lists(_HERE)[name]


@cache
def short_forms(table: str) -> Mapping[str, str]:
    """The normal form for each other spelling of a table of ``short_forms.txt``: "word", "vendor" or "tool"."""
    rows = ((head.split(), shorts.split()) for head, shorts in data_sections(_HERE, "short_forms.txt").items())
    return {short: name for (of, name), shorts in rows if of == table for short in shorts}


@cache
def spellings() -> Mapping[str, frozenset[str]]:
    """The other spellings of each word and tool of the tables."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for table in ("word", "tool"):
        for short, name in short_forms(table).items():
            found[name].add(short)
    return {each: frozenset((name, *shorts)) for name, shorts in found.items() for each in (name, *shorts)}


@cache
def formal_names() -> Mapping[str, frozenset[str]]:
    """The formal names that a given name of ``given_names.txt`` may stand for, including itself if it is formal."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in data_lines(_HERE, "given_names.txt"):
        formal, _, short = line.partition(":")
        for name in (formal, *short.split()):
            found[name].add(formal)
    return {name: frozenset(formal) for name, formal in found.items()}


@cache
def _called() -> Mapping[str, frozenset[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for name, formal in formal_names().items():
        for each in formal:
            names[each].add(name)
    return {name: frozenset().union(*(names[each] for each in formal)) for name, formal in formal_names().items()}


def nicknames(given: str) -> frozenset[str]:
    """What somebody of a folded given name may be called."""
    return _called().get(given, frozenset())


def is_given_name(word: str) -> bool:
    """Whether a folded word is a given name."""
    return word in formal_names()


def is_nickname(given: str) -> bool:
    """Whether a folded given name is only a short form of others."""
    return is_given_name(given) and given not in formal_names()[given]


@cache
def known_tools() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The widely used tools of each section of ``known_tools.txt``, with their other spellings.

    Those of the sections "counted" and "mass" are also ordinary words, and count only where the words around them speak
    of a tool.
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    tools: dict[str, tuple[str, ...]] = {}
    for line in data_lines(_HERE, "known_tools.txt"):
        if line.startswith("["):
            tools = found.setdefault(line.strip("[]"), {})
        else:
            name, _, others = line.partition(": ")
            tools[name] = tuple(each.strip() for each in others.split(",") if each.strip())
    return found
