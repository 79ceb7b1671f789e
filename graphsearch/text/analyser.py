"""Text to terms: words, the English stemmer, and analysers, which join them.

Documents and questions of a scope must share one analyser, by name.

The stemmer is a light one: "cities" and "city" share a stem, so do "hopes", "hoped", "hoping" and "hope". It removes
the plural (the S-stemmer of Harman, How Effective Is Suffixing?, 1991), then -ed, -ing, a silent -e and -y, much as the
first step of Porter, An Algorithm for Suffix Stripping (1980). Derivational endings (-ation, -ness, -al) are kept:
recall is nearly that of a full stemmer, with fewer conflations ("hop" and "hope" is one that remains).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from threading import Lock
from typing import Final

import attrs

from graphsearch._support.lazy import load
from graphsearch.model import validation as check

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
# Korean words end in particles; Russian texts mostly write е for ё.
_VARIED: Final = re.compile("[\uac00-\ud7a3ёЁ]")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]{2,}")
_PARTICLE: Final = re.compile(
    "(?<=.)(?:에서|에게|으로|부터|까지|한테|처럼|보다|에는|에도|이나|이라|은|는|이|가|을|를|에|의|와|과|도|로|만)$"
)


def terms(text: str) -> list[str]:
    """The `words` of a text without English stop words."""
    return [word for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """The case-folded words of a text in order, with repetitions, in linear time.

    An identifier yields itself, its dotted parts and their words: "ssl.SSLSocket" is found by "ssl.sslsocket",
    "sslsocket", "ssl" and "socket". Each word has 1 to `MAX_TERM_LENGTH` characters.
    """
    return VERBATIM.terms(text)


def _identifiers(text: str) -> list[str]:
    """The words of a text as they are written, dotted ones whole, without the ends of contractions."""
    ascii_only = text.isascii()
    if not ascii_only:
        text = unicodedata.normalize("NFKC", text)
    if "'" in text or "’" in text:
        text = _CONTRACTION.sub("", text)
    return (_ASCII_IDENTIFIER if ascii_only else _IDENTIFIER).findall(text)


def _each_word(identifier: str) -> Iterator[str]:
    found = _unspaced(identifier) if _UNSPACED_RUN.search(identifier) else _names(identifier)
    for word in found:
        for each in _variants(word) if _VARIED.search(word) else (word,):
            yield each[:MAX_TERM_LENGTH]


def plain_identifiers(text: str) -> list[str] | None:
    """The identifiers of a text if its terms are those of one after the other; None if they are not."""
    return _ASCII_IDENTIFIER.findall(text) if text.isascii() and "'" not in text else None


def _variants(word: str) -> Iterator[str]:
    """A word, with е for ё, or without its Korean particle and by pairs of syllables: one finds the other."""
    yield word
    if "ё" in word:
        yield word.replace("ё", "е")
    if _HANGUL.fullmatch(word):
        bare = _PARTICLE.sub("", word)
        pairs = (word[at : at + 2] for at in range(len(word) - 1))
        yield from (each for each in dict.fromkeys((bare, *pairs)) if each != word)


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


# -- stems ------------------------------------------------------------------------------------------------------------

_VOWEL: Final = re.compile("[aeiouy]")
_SHORTEST: Final = 3
"""Least letters of a stem before -ed and -ing: in "red" and "king" these are no endings."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word, never empty; a word that is not all a to z is its own stem."""
    if not (word.isascii() and word.isalpha()):
        return word
    word = _uninflected(_singular(word))
    if len(word) > _SHORTEST and word.endswith("e"):
        return word[:-1]
    if word.endswith("y") and not _VOWEL.match(word[-2:-1] or "a"):
        return f"{word[:-1]}i"
    return word


def _singular(word: str) -> str:
    if len(word) <= _SHORTEST or not word.endswith("s") or word.endswith(("us", "ss")):
        return word
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return f"{word[:-3]}y"
    return word[:-1]


def _uninflected(word: str) -> str:
    if word.endswith("eed"):  # "agreed", but not "need"
        return word[:-1] if _VOWEL.search(word, 0, len(word) - 3) else word
    ending = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    stem = word[: len(word) - ending]
    if not ending or len(stem) < _SHORTEST or not _VOWEL.search(stem):
        return word
    doubled = stem[-1] == stem[-2] and stem[-1] not in "aeioulsz"  # "stopped", but not "seeing", "called", "passing"
    return stem[:-1] if doubled else stem


# -- analysers --------------------------------------------------------------------------------------------------------

Stem = Callable[[str], str]

_EXTRA: Final = {"extra": "languages", "purpose": "an analyser of another language"}


@attrs.frozen(kw_only=True)
@check.checked(
    "analyser",
    stop_words=check.texts,
    stem=lambda _, stem: None if stem is None or callable(stem) else "stem must be a function, or None",
)
class Analyser:
    """Splits text into words, drops ``stop_words`` and applies ``stem``; both are optional.

    ``name`` is stored with the index: an analyser that makes other terms needs another name. ``stem`` must be pure and
    thread-safe; it is called with case-folded words.
    """

    name: str
    stop_words: frozenset[str] = frozenset()
    stem: Stem | None = attrs.field(default=None, eq=False)
    _kept_terms: Callable[[str], Sequence[str]] = attrs.field(
        default=attrs.Factory(lambda self: lru_cache(maxsize=1 << 16)(self._terms), takes_self=True),
        init=False,
        eq=False,
        repr=False,
    )
    """The terms of a short identifier: a text takes as long as to look its words up."""

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, with repetitions; each has 1 to `MAX_TERM_LENGTH` characters."""
        kept = self._kept_terms
        return [
            term
            for each in _identifiers(text)
            for term in (kept(each) if len(each) <= MAX_TERM_LENGTH else self._terms(each))
        ]

    def _terms(self, identifier: str) -> Sequence[str]:
        kept = tuple(word for word in _each_word(identifier) if word not in self.stop_words)
        return kept if self.stem is None else tuple(self.stem(word)[:MAX_TERM_LENGTH] or word for word in kept)


ENGLISH: Final = Analyser(name="english/1", stop_words=STOP_WORDS, stem=stem)
"""The default. It changes words of other languages only where they are ASCII and end like an inflected English word."""

VERBATIM: Final = Analyser(name="verbatim/1")
"""Every word, case-folded and otherwise unchanged."""


def analyser_of(language: str) -> Analyser:
    """The analyser of a language, by its English name ("german"): stop words and Snowball stemmer (Porter, 2001).

    A language that lacks one of them uses only the other. Raises `InvalidInputError` for a language that has neither,
    and `MissingExtraError` without the extra ``languages``.
    """
    listed, snowball = load("stop_words", **_EXTRA), load("Stemmer", **_EXTRA)
    stopped, stemmed = set(listed.LANGUAGE_MAPPING.values()), set(snowball.algorithms())
    check.refuse("analyser", check.one_of("language", language, tuple(sorted(stopped | stemmed))))
    return Analyser(
        name=f"snowball-{language}/1",
        stop_words=frozenset(words(" ".join(listed.get_stop_words(language)))) if language in stopped else frozenset(),
        stem=_thread_safe(snowball.Stemmer(language).stemWord) if language in stemmed else None,
    )


def _thread_safe(stem: Stem) -> Stem:
    """Lock and cache a stemmer: Snowball stemmers keep mutable state."""
    lock = Lock()

    @lru_cache(maxsize=65_536)
    def locked(word: str) -> str:
        with lock:
            return stem(word)

    return locked
