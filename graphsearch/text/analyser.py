"""What makes terms of texts. Documents and questions must meet the same one, so a scope keeps the name of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Final

import attrs

from graphsearch._support.extras import load
from graphsearch.model import validation as check
from graphsearch.text.inflection import folded
from graphsearch.text.stop_words import STOP_WORDS
from graphsearch.text.terms import MAX_TERM_LENGTH, words

Stem = Callable[[str], str]

_EXTRA: Final = {"extra": "languages", "purpose": "an analyser of another language"}


@attrs.frozen(kw_only=True)
class Analyser:
    """Words, less ``stop_words``, each as its ``stem``; either may be left out.

    ``name`` is stored with what was indexed: give another to whatever makes other terms. ``stem`` is called from any
    thread with a case-folded word, and always gives the same for it.
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
        """The terms of a text in their order, repetitions kept; each of 1 to `MAX_TERM_LENGTH` characters."""
        kept = [word for word in words(text) if word not in self.stop_words]
        if self.stem is None:
            return kept
        return [self.stem(word)[:MAX_TERM_LENGTH] or word for word in kept]


ENGLISH: Final = Analyser(name="english/1", stop_words=STOP_WORDS, stem=folded)
"""The default. Of words that are not English it touches those in plain letters that end like an English form."""

VERBATIM: Final = Analyser(name="verbatim/1")
"""Every word, as it is written but for its case."""


def analyser_of(language: str) -> Analyser:
    """For a language by its English name ("german"): its stop words, and Snowball's stemmer (Porter, 2001).

    Either is left out for a language that has only the other. Raises `InvalidInputError` for one that has neither, and
    `MissingExtraError` without the extra ``languages``.
    """
    listed, snowball = load("stop_words", **_EXTRA), load("Stemmer", **_EXTRA)
    stopped, stemmed = set(listed.LANGUAGE_MAPPING.values()), set(snowball.algorithms())
    check.refuse("analyser", check.one_of("language", language, tuple(sorted(stopped | stemmed))))
    return Analyser(
        name=f"snowball-{language}/1",
        stop_words=frozenset(words(" ".join(listed.get_stop_words(language)))) if language in stopped else frozenset(),
        stem=_shared(snowball.Stemmer(language).stemWord) if language in stemmed else None,
    )


def _shared(stem: Stem) -> Stem:
    """A stemmer that threads may share: Snowball's keep their place in a word in themselves."""
    lock = Lock()

    @lru_cache(maxsize=65_536)
    def locked(word: str) -> str:
        with lock:
            return stem(word)

    return locked
