"""Analysers, which turn text into terms; documents and questions of a scope must share one, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Final

import attrs

from graphsearch._support.lazy import load
from graphsearch.model import validation as check
from graphsearch.text.inflection import stem
from graphsearch.text.terms import MAX_TERM_LENGTH, STOP_WORDS, words

Stem = Callable[[str], str]

_EXTRA: Final = {"extra": "languages", "purpose": "an analyser of another language"}


@attrs.frozen(kw_only=True)
class Analyser:
    """Splits text into words, drops ``stop_words`` and applies ``stem``; both are optional.

    ``name`` is stored with the index: an analyser that makes other terms needs another name. ``stem`` must be pure and
    thread-safe; it is called with case-folded words.
    """

    name: str
    stop_words: frozenset[str] = frozenset()
    stem: Stem | None = attrs.field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "analyser",
            check.text("name", self.name),
            check.texts("stop_words", self.stop_words),
            None if self.stem is None or callable(self.stem) else "stem must be a function, or None",
        )

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, with repetitions; each has 1 to `MAX_TERM_LENGTH` characters."""
        kept = [word for word in words(text) if word not in self.stop_words]
        if self.stem is None:
            return kept
        return [self.stem(word)[:MAX_TERM_LENGTH] or word for word in kept]


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
