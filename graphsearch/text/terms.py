"""Terms: the case-folded words of a text, with identifiers also split into their parts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about above after again against all also am an and any are as at
    be because been before being below between both but by
    can could did do does doing down during each few for from further
    had has have having he her here hers herself him himself his how
    i if in into is it its itself just me more most must my myself
    no nor not now of off on once only or other our ours ourselves out over own
    same shall she should so some such
    than that the their theirs them themselves then there these they this those through to too
    under until up upon very was we were what when where which while who whom whose why will with within without would
    you your yours yourself yourselves
    """.split()  # noqa: SIM905 - prose reads better than 170 quoted words
)
"""English words that carry no topic."""

MAX_TERM_LENGTH: Final = 128
"""Maximum characters of a term; a longer one (a key, a blob) is truncated."""

# Python's \w excludes combining marks, which are essential in the scripts of India and South-East Asia.
_MARKS: Final = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
# Scripts without spaces between words: their terms are pairs of neighbouring characters.
_UNSPACED: Final = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u1000-\u1049\u1780-\u17d3\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
)
_LETTER: Final = rf"[\w{_MARKS}{_UNSPACED}]"
_CONTRACTION: Final = re.compile(r"(?:n?['’]t|['’](?:s|re|ve|ll|d|m))\b", re.IGNORECASE)
_IDENTIFIER: Final = re.compile(rf"{_LETTER}+(?:\.(?!\d){_LETTER}+)*")
_ASCII_IDENTIFIER: Final = re.compile(r"\w+(?:\.(?!\d)\w+)*", re.ASCII)
_UNSPACED_RUN: Final = re.compile(f"([{_UNSPACED}]+)")


def terms(text: str) -> list[str]:
    """The `words` of a text without English stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """The case-folded words of a text in order, with repetitions, in linear time.

    An identifier yields itself, its dotted parts and their words: "ssl.SSLSocket" is found by "ssl.sslsocket",
    "sslsocket", "ssl" and "socket". Each word has 1 to `MAX_TERM_LENGTH` characters.
    """
    ascii_only = text.isascii()
    if not ascii_only:
        text = unicodedata.normalize("NFKC", text)
    if "'" in text or "’" in text:
        text = _CONTRACTION.sub("", text)
    found: list[str] = []
    for identifier in (_ASCII_IDENTIFIER if ascii_only else _IDENTIFIER).findall(text):
        if ascii_only and identifier.isalpha() and (identifier.islower() or identifier[1:].islower()):
            found.append(identifier.lower())  # a short cut for most words
        elif not ascii_only and _UNSPACED_RUN.search(identifier):
            found.extend(_unspaced(identifier))
        else:
            found.extend(_names(identifier))
    return [word[:MAX_TERM_LENGTH] for word in found]


def identifier_words(text: str) -> str:
    """Split the identifiers of a text: "ssl.SSLSocket.do_handshake" becomes "ssl SSL Socket do handshake"."""
    return _IDENTIFIER.sub(lambda match: " ".join(_words(match[0])), text)


def _names(identifier: str) -> Iterator[str]:
    """The identifier, its dotted parts, and the words of each part, all case-folded, nothing twice in a row."""
    parts = [part for part in identifier.split(".") if part.strip("_")]
    if len(parts) > 1:
        yield identifier.casefold()
    for part in parts:
        own = list(_words(part))
        if own != [part]:
            yield part.casefold()
        yield from (word.casefold() for word in own)


def _words(identifier: str) -> Iterator[str]:
    for part in identifier.replace(".", "_").split("_"):
        start = 0
        for end in _capitals(part):
            yield part[start:end]
            start = end
        if part:
            yield part[start:]


def _capitals(part: str) -> Iterator[int]:
    """Where words start in camelCase: at a capital after a lower-case letter, and at the last of several capitals."""
    if part.islower() or part.isupper():
        return
    for at in range(1, len(part)):
        if part[at].isupper() and (not part[at - 1].isupper() or part[at + 1 : at + 2].islower()):
            yield at


def _unspaced(identifier: str) -> Iterator[str]:
    """Pairs of neighbouring characters of unspaced scripts, and the names between them."""
    for position, run in enumerate(_UNSPACED_RUN.split(identifier)):
        if position % 2 == 0:
            yield from _names(run)
        elif len(run) == 1:
            yield run
        else:
            yield from (run[at : at + 2] for at in range(len(run) - 1))
