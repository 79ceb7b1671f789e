"""Words in the forms in which they are compared: of questions, names and relations."""

from __future__ import annotations

import re
from typing import Final

import attrs

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


def name_words_as_written(name: str) -> list[str]:
    """The words of a name as written."""
    return _WORD.findall(name)


def spread(identifier: str) -> str:
    """An identifier as words: "reports_to" becomes "reports to", "servedBy" becomes "served by"."""
    return _CAMEL.sub(" ", identifier).replace("_", " ").lower()


def relation_line(source: str, type_: str, target: str, fact: str) -> str:
    """A relation as one text to compare with questions: both names, the type in words, and the fact."""
    return f"{source} {spread(type_)} {target} {fact}"
