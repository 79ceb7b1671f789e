"""The vocabulary of widely used tools and products: the sections of ``known_tools.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from graphsearch.text.word_lists import data_lines


@cache
def known_tools() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The tools of each section with their other spellings: "sure", "counted" and "mass".

    Those of the last two are also ordinary words, and count only where the words around them speak of a tool.
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    tools: dict[str, tuple[str, ...]] = {}
    for line in data_lines("graphsearch.names", "known_tools.txt"):
        if line.startswith("["):
            tools = found.setdefault(line.strip("[]"), {})
        else:
            name, _, others = line.partition(": ")
            tools[name] = tuple(each.strip() for each in others.split(",") if each.strip())
    return MappingProxyType(found)
