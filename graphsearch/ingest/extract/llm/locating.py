"""Locating quoted words in a text: models cannot count characters, and may invent words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from graphsearch.model import Span

MOST_PLACES: Final = 50
"""Maximum occurrences of one name."""


def places(words: str, text: str, within: Span) -> list[Span]:
    """The occurrences of words in a text, exact up to whitespace; at most 50.

    In scripts with upper and lower case, not within longer words: "Ada" does not occur in "Adam".
    """
    found = (span for span in _occurrences(words, text, within) if not _cuts_a_word(text, span))
    return [span for span, _ in zip(found, range(MOST_PLACES), strict=False)]


def outermost(found: Iterable[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Names with their spans in order, without those within the span of a longer name."""
    kept: list[tuple[str, Span]] = []
    for name, span in sorted(found, key=lambda each: (each[1].start, -each[1].end)):
        if not kept or span.end > kept[-1][1].end:
            kept.append((name, span))
    return kept


def _occurrences(words: str, text: str, within: Span) -> Iterator[Span]:
    pattern = r"\s+".join(map(re.escape, words.split()))
    if pattern:
        for match in re.compile(pattern).finditer(text, within.start, within.end):
            yield Span(start=match.start(), end=match.end())


def _cuts_a_word(text: str, span: Span) -> bool:
    before = span.start > 0 and _joined(text[span.start - 1], text[span.start])
    return before or (span.end < len(text) and _joined(text[span.end - 1], text[span.end]))


def _joined(one: str, other: str) -> bool:
    return _of_words(one) and _of_words(other)


def _of_words(character: str) -> bool:
    """Whether a character is a digit or a letter of a script with upper and lower case."""
    return character.isdigit() or character.lower() != character.upper()
