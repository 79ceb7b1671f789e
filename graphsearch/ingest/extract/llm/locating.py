"""Where words stand in a text that a model says are in it: models cannot count, and may make words up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from graphsearch.model import Span

MOST_PLACES: Final = 50
"""Places of one name that are looked at."""


def places(words: str, text: str, within: Span) -> list[Span]:
    """Where a text has these words as they are written, but for how much space is between them; at most 50 places.

    Not inside of longer words, in scripts that tell capitals from small letters: "Ada" is not in "Adam".
    """
    found = (span for span in _occurrences(words, text, within) if not _cuts_a_word(text, span))
    return [span for span, _ in zip(found, range(MOST_PLACES), strict=False)]


def outermost(found: Iterable[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Names at their places, without those inside of the places of longer ones, in order."""
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
    """Whether it is a letter of a script that has capitals, where spaces stand between words, or a digit."""
    return character.isdigit() or character.lower() != character.upper()
