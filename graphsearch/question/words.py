"""Words in the forms in which they are compared: of questions, names and relations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.text.trigrams import fold

MAX_TOKENS: Final = 256
"""Most words of a question that are read: a longer text is pasted."""

_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@attrs.frozen
class Token:
    """Characters [start, end) of a text. ``text`` is the folded word, ``written`` the word as written."""

    text: str
    written: str
    start: int
    end: int

    @property
    def capitalised(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.written[0].isupper()


def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text in order, at most `MAX_TOKENS`."""
    found: list[Token] = []
    for match in _WORD.finditer(text):
        if len(found) == MAX_TOKENS:
            break
        found.append(Token(fold(match[0]), match[0], match.start(), match.end()))
    return tuple(found)


def name_tokens(name: str) -> tuple[str, ...]:
    """The folded words of a name; camelCase is one word, as questions write it."""
    return tuple(fold(word) for word in _WORD.findall(name))


def spread(identifier: str) -> str:
    """An identifier as words: "reports_to" becomes "reports to", "servedBy" becomes "served by"."""
    return _CAMEL.sub(" ", identifier).replace("_", " ").lower()


def relation_line(source: str, type_: str, target: str, fact: str) -> str:
    """A relation as one text to compare with questions: both names, the type in words, and the fact."""
    return f"{source} {spread(type_)} {target} {fact}"


MAX_WORDS: Final = 8
"""Most words of a part of a name, and of a name that is looked up."""

Words = tuple[str, ...]


@attrs.frozen(kw_only=True)
class Nameable:
    """An entity with its visible names, its own name first; and the runs of folded words that name it, computed once.

    * ``whole``: those of its names, with whether that is an alias. ``parts``: all runs inside of a name.
    * ``words``: all words. ``ends``: the last words of names of several, if written in small letters.
    * ``components``: of code, the parts between the dots of its names.
    """

    id: UUID
    type: str
    names: tuple[str, ...]

    @cached_property
    def _tokens(self) -> tuple[Words, ...]:
        return tuple(map(name_tokens, (*self.names, *self._paths())))

    @cached_property
    def whole(self) -> Mapping[Words, bool]:
        """The runs of its whole names."""
        found: dict[Words, bool] = {}
        for place, own in enumerate(self._tokens):
            if own:
                found.setdefault(own, place > 0)
                found.setdefault(("".join(own),), place > 0)
        return found

    @cached_property
    def parts(self) -> frozenset[Words]:
        """The runs inside of its names."""
        return frozenset(
            words[start:end]
            for words in self._tokens
            for start in range(len(words))
            for end in range(start + 1, min(start + MAX_WORDS, len(words)) + 1)
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for words in self._tokens for word in words)

    @cached_property
    def ends(self) -> frozenset[str]:
        """The last words of its names."""
        written = (_WORD.findall(name) for name in self.names)
        return frozenset(words[-1] for words in written if len(words) > 1 and words[-1].islower())

    @cached_property
    def components(self) -> frozenset[str]:
        """The parts of its paths."""
        if self.type not in CASE_SENSITIVE_TYPES:
            return frozenset()
        return frozenset(part for name in self.names for part in name.split("."))

    def _paths(self) -> list[str]:
        """Other paths that code is written by: without its first packages, or as the top package offers it."""
        parts = self.names[0].split(".") if self.type in CASE_SENSITIVE_TYPES else []
        shorter = [".".join(parts[start:]) for start in range(1, len(parts) - 1)]
        inside = max(self.names[1:], key=len, default="")
        return [*shorter, f"{parts[0]}.{inside}"] if inside and len(parts) > 1 else shorter
