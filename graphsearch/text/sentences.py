"""Sentence segmentation by rules, in linear time.

A sentence ends at a mark (. ! ? … and those of other scripts) before a space, unless the mark belongs to an
abbreviation, an initial or the number of a list item; several marks end none before a lower-case letter ("or... not").
It also ends at a blank line, at a list item, a heading or a table row, and at the end of a line that is too short to
have been wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from graphsearch.model import Span

# Abbreviations before a name or a number; after others ("etc.", "a.m.") a sentence may well end.
_ABBREVIATIONS: Final = frozenset(
    """
    mr mrs ms mx dr prof sr jr st mt rev hon gen col lt sgt capt cpt fr messrs pres gov sen rep vs cf fig figs nos vol
    pp ed eds approx est dept univ al e.g i.e eg ie jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()  # noqa: SIM905 - prose reads better than fifty quoted words
)
_LONGEST_SHORTENED: Final = 5  # most letters of "Corp." and "Assoc.", behind which a sentence goes on
_SHORTEST_WRAPPED: Final = 50  # least characters of a line whose sentence may go on in the next one
_END: Final = re.compile(
    r"^[ \t]{0,3}#{1,6}\s[^\n]*+(?:\n|\Z)"
    r"|(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s|\Z)|[。！？｡؟।]+[\"'”’」』）]*"
    rf"|\n(?=[ \t]*+(?:\n|[-*+•–—>|#]|\d{{1,3}}[.)]\s|\Z))|(?<![^\n]{{{_SHORTEST_WRAPPED}}})\n(?![a-z])",
    re.MULTILINE,
)
_MARKER: Final = re.compile(r"(?:\s|[-*+•>|](?=\s)|#{1,6}(?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s))+")
_INITIAL: Final = re.compile(r"(?:.*\.)?(?!I\Z)[^\W\d_a-z]")
_WORD_BREAK: Final = re.compile(r"[\s(\[\"'“‘]")
_LETTER: Final = re.compile(r"\w")


def sentences(text: str) -> list[Span]:
    """Spans of the sentences, in order and without overlaps.

    Each contains a letter or a digit. Markers of lists, headings and quotations are excluded.
    """
    trimmed = (_trim(text, start, end) for start, end in _split(text))
    return [Span(start=start, end=end) for start, end in trimmed if _LETTER.search(text, start, end)]


def _split(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, start, match):
            yield start, match.end()
            start = match.end()
    yield start, len(text)


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether what looks like the end of a sentence is one; only marks may be none."""
    mark = match[0]
    if mark[0] not in ".!?…":
        return True
    small = text[match.end() : match.end() + 8].lstrip()[:1].islower()
    if mark != ".":
        return mark in ("!", "?") or not small
    word = _WORD_BREAK.split(text[max(start, match.start() - 12) : match.start()])[-1]
    lead = text[max(start, match.start() - 20) : match.start()]
    numbered = word.isdecimal() and not lead.strip("-*+•># \t\n0123456789")
    shortened = small and word[:1].isupper() and len(word) <= _LONGEST_SHORTENED
    return not (numbered or shortened or word.casefold() in _ABBREVIATIONS or _INITIAL.fullmatch(word))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    marker = _MARKER.match(text, start, end)
    start = marker.end() if marker else start
    return start, start + len(text[start:end].rstrip())
