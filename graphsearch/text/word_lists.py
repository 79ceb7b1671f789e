"""Words and lines of data files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def data_lines(package: str, name: str) -> list[str]:
    """The lines of a data file of a package, without empty ones and comments."""
    lines = (line.strip() for line in files(package).joinpath(name).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def data_sections(package: str, name: str) -> dict[str, str]:
    """What stands behind each name of a data file of lines "name: words", joined where a name stands again."""
    found: dict[str, str] = {}
    for line in data_lines(package, name):
        section, _, words = line.partition(": ")
        found[section] = f"{found[section]} {words}" if section in found else words
    return found


@cache
def word_lists(package: str) -> Mapping[str, frozenset[str]]:
    """The lists of the ``words.txt`` of a package, by name."""
    return {name: frozenset(words.split()) for name, words in data_sections(package, "words.txt").items()}
