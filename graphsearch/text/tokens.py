"""Tokens and sentences of a text as chats, notes and articles are written, with their places.

One regular expression, each alternative of which decides by at most the next few characters: a text of any content
takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

_PATTERN: Final = r"""
    [A-Za-z]++(?=\s)                                      # most words
  | https?://[^\s<>)\]]+
  | [@#]\w(?:[\w.-]*\w)?                                  # accounts, tags
  | `[^`\n]++`                                            # code; an open mark is a token of its own
  | (?:Dr|Mr|Mrs|Ms|Prof|St|Lt|Col|Gen|Sen|Rep|Gov|Capt|Sgt|Maj|Rev|[Hh]on|Jr|Sr|Inc|Ltd|Co|Corp)\.(?=\s)
  | (?:[A-Z]\.){2,} | (?<!\w)[A-Z]\.(?=\s[A-Z][a-z.])     # U.S., Ana B. Costa
  | \d+(?:[.,:/-]\d+)*+(?:st|nd|rd|th|-[A-Z](?![\w-]))?       # 1,000, 5th, 42-B
  | [A-Za-z]{2,6}?(?=n['’]t\b) | n['’]t\b                 # is|n't
  | ['’](?:s|re|ve|ll|d|m)\b
  | [^\W_](?:[^\W_]|&|[@_-](?=\w)|–(?=[A-Z])|\.(?=[a-z0-9])|['’](?=[A-Z]))*+[+#]*   # co-op, node.js, c++, a@b.org
  | \.\.\. | [^\w\s] | _++
"""
_ENDS: Final = frozenset({".", "?", "!", "…", "...", "。", "？", "！"})
_UNSPACED: Final = frozenset({"。", "？", "！"})

LONGEST: Final = 250
"""Most tokens of a sentence; a longer one is cut."""


class Token(NamedTuple):
    """A token of a text: ``text[start:end]``."""

    text: str
    start: int
    end: int


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(_PATTERN, re.VERBOSE)


def tokens(text: str) -> list[Token]:
    """Cut a text into words, numbers and marks, in order; nothing but white space is left out."""
    return [Token(found[0], *found.span()) for found in _pattern().finditer(text)]


def sentences(text: str, words: Sequence[Token]) -> list[tuple[int, int]]:
    """Cut tokens into sentences, as ranges [first, end) of at most `LONGEST`.

    A sentence ends after . ? ! before a space, and at a line break. What follows need not have a capital: chats often
    have none.
    """
    found, first = [], 0
    for number, word in enumerate(words, 1):
        following = words[number] if number < len(words) else None
        if following is None or number - first == LONGEST:
            ends = True
        elif following.start == word.end:
            ends = word.text in _UNSPACED
        else:
            ends = (word.text in _ENDS and following.text not in _ENDS) or "\n" in text[word.end : following.start]
        if ends:
            found.append((first, number))
            first = number
    return found


def sentence_starts(text: str) -> list[int]:
    """Where the sentences of a text begin but the first, so that a long text can be cut there.

    A line that goes on in the next one is not cut.
    """
    words = tokens(text)
    return [words[first].start for first, _ in sentences(text, words) if first and words[first - 1].text in _ENDS]
