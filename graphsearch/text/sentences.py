"""Sentence segmentation by rules, in linear time.

A sentence ends at a mark (. ! ? … and those of other scripts) followed by a space and no lower-case letter, unless the
mark belongs to an abbreviation, an initial or the number of a list item; before a lower-case letter only after a word
that is clearly none of these, as in chats ("here i am. it works"). It also ends at a blank line, at a list item, a
heading or a table row, and at the end of a line too short to have been wrapped. Fenced code contains no sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from graphsearch.model import Span
from graphsearch.text.word_lists import word_set

MAX_SENTENCE: Final = 1_000
"""Maximum characters of a sentence; a longer one is cut at a space, or anywhere if it has none."""
WRAPPED_LINE: Final = 50
"""Least characters of a line that may have been wrapped, so that its sentence continues on the next line."""

# Abbreviations before a name or a number; after others ("etc.", "a.m.") a sentence may well end.
ABBREVIATIONS: Final = word_set(
    "mr mrs ms mx dr prof sr jr st mt rev hon gen col lt sgt capt cpt fr messrs pres gov sen rep vs cf fig figs "
    "nos vol pp ed eds approx est dept univ al e.g i.e eg ie Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon "
    "Tue Wed Thu Fri Sat Sun No"
)
"""Lower-case entries match in any case."""

_SHORT_WORDS: Final = word_set(
    "ago all and any are be but day did do end for go had has her him his in is it its let me met new no not now off "
    "old on one our out own ran saw set she so ten the too two up us use was way we who why yes yet you"
)
"""Short words that may end a sentence, and abbreviate nothing."""

_MARKER_LENGTH: Final = 20
_WHOLE_WORD: Final = 4
"""Least letters of a lower-case word before a full stop that is hardly an abbreviation."""
_LONG_WORD: Final = 6
"""The same for a capitalised word: "Corp." and "Assoc." are shorter."""
_PLAIN_MARKS: Final = frozenset({".", "!", "!!", "?", "??", "?!", "!?"})
_CONTRACTED: Final = re.compile(r"[a-z]['’](?:s|t|m|re|ve|ll|d)$")
# Words that begin a sentence and hardly ever follow "Acme Corp." within one.
_OPENER: Final = re.compile(
    r"(?<!\s)\s++(?:i|it|he|she|we|they|you|if|so|but|and|no|yes|yeah|ok|please|there|this|that|these|those|my|our|can|does|do"
    r"|is|are|not|now|then|also|when|what|who|where|why|how)\b"
)
_MARKS: Final = ".!?…"
_UNSPACED_MARKS: Final = "。！？｡؟।"
_END: Final = re.compile(
    rf"(?<![{_MARKS}])[{_MARKS}]++[\"'”’»)\]*_]*+(?=\s|\Z)|[{_UNSPACED_MARKS}]+[\"'”’」』）]*|\n",
)
_LINE_START: Final = re.compile(r"(?<![ \t])[ \t]*+(?:[-*+•–—>|#]|\d{1,3}[.)]\s|\n|\Z)")
_MARKER: Final = re.compile(r"(?:\s|[-*+•>|](?=\s)|#{1,6}(?=\s)|\d{1,3}[.)](?=\s)|\[[ xX]\](?=\s))+")
_WORD_BREAK: Final = re.compile(r"[\s(\[\"'“‘]")
_LETTER: Final = re.compile(r"\w")
_FENCE: Final = re.compile(r"^[ \t]{0,3}(```+|~~~+)[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEADING_LINE: Final = re.compile(r"[ \t]{0,3}#{1,6}\s")


def sentences(text: str) -> list[Span]:
    """Spans of the sentences, in order and without overlaps.

    Each contains a letter or a digit and has at most `MAX_SENTENCE` characters. Markers of lists, headings and
    quotations are excluded.
    """
    return [
        Span(start=first, end=last)
        for start, end in _prose(text)
        for whole in _split(text, start, end)
        for first, last in _pieces(text, *_trimmed(text, *whole))
        if _LETTER.search(text, first, last)
    ]


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of a text outside fenced code."""
    if "```" not in text and "~~~" not in text:
        yield 0, len(text)
        return
    start, fence = 0, ""
    for match in _FENCE.finditer(text):
        if not fence:
            yield start, match.start()
            fence = match[1]
        elif match[1].startswith(fence):
            start, fence = match.end(), ""
    if not fence:
        yield start, len(text)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    line = start
    for match in _END.finditer(text, start, end):
        at = match.end()
        if match[0] == "\n":
            ends = _line_ends_sentence(text, line, match.start(), at)
            line = at
        else:
            ends = _mark_ends_sentence(text, start, match)
        if ends:
            yield start, at
            start = at
    yield start, end


def _line_ends_sentence(text: str, line: int, end: int, following: int) -> bool:
    if _LINE_START.match(text, following) or _HEADING_LINE.match(text, line):
        return True
    return end - line < WRAPPED_LINE and not text[following : following + 1].islower()


def _mark_ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    if match[0][0] in _UNSPACED_MARKS:
        return True
    following = text[match.end() : match.end() + 8].lstrip()[:1]
    if following.islower():
        return _small_letter_starts_sentence(text, start, match)
    if match[0] != ".":
        return True
    word = _word_before(text, start, match)
    if not word:
        return True
    initial = len(word) == 1 and word.isupper() and word != "I"
    initials = len(word) > 2 and word[-2] == "." and word[-1].isupper() and following.isupper()  # noqa: PLR2004 - "J.K"
    numbered = word.isdecimal() and match.start() - start < _MARKER_LENGTH and _only_markers(text, start, match.start())
    return not (initial or initials or numbered or word in ABBREVIATIONS or word.casefold() in ABBREVIATIONS)


def _word_before(text: str, start: int, match: re.Match[str]) -> str:
    return _WORD_BREAK.split(text[max(start, match.start() - 12) : match.start()])[-1]


def _small_letter_starts_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends before a lower-case word: not after an abbreviation, exclaiming name or quotation."""
    if match[0] not in _PLAIN_MARKS:
        return False
    word = _word_before(text, start, match)
    if word.casefold() in ABBREVIATIONS or not word.isalpha():
        return _CONTRACTED.search(word) is not None
    if word.islower() and (len(word) >= _WHOLE_WORD or word in _SHORT_WORDS):
        return True
    return len(word) >= _LONG_WORD or (len(word) >= _WHOLE_WORD and _OPENER.match(text, match.end()) is not None)


def _only_markers(text: str, start: int, end: int) -> bool:
    """Whether a range contains nothing but list markers and numbers."""
    return not text[start:end].strip("-*+•># \t\n0123456789")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    marker = _MARKER.match(text, start, end)
    start = marker.end() if marker else start
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start + 1, start + MAX_SENTENCE)
        cut = start + MAX_SENTENCE if cut == -1 else cut
        yield _trimmed(text, start, cut)
        start, _ = _trimmed(text, cut, end)
    if start < end:
        yield start, end
