"""The vocabulary of widely used tools and products: the sections of ``known_tools.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from graphsearch.text.word_lists import data_lines, word_set


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


FIRMS: Final = word_set(
    "adobe airbus alibaba amazon apple bbc boeing bloomberg cnn congress disney exxon facebook fifa ford gazprom "
    "google honda hollywood huawei ibm ikea instagram intel interpol kodak lego meta microsoft mercedes nasa nato "
    "netflix nike nintendo nokia nvidia openai oracle parliament pfizer pepsi philips reuters samsung siemens sony "
    "spotify starbucks tencent tesla tiktok toyota twitter uber unesco unicef verizon vodafone volkswagen volvo "
    "walmart washington whitehall wikipedia xerox youtube"
)
"""Firms, institutions and capitals of which one says, as of people, that they "said" or "want" something."""
