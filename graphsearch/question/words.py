"""Words in the forms in which they are compared: of questions, names, relations and entities.

Of an entity, a term of a name or an alias counts 1, one of a description the less the longer the description is, and
its additional words count by their stored weight (`graphsearch.model.Batch.words`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.model import Entity
from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.text.analyser import identifier_words, words
from graphsearch.text.bm25 import normal_length, searchable_text
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


USUAL: Final = 8.0
"""Number of words of a typical description."""

Terms = Callable[[str], Sequence[str]]


@attrs.frozen
class EntityTerms:
    """The terms of one entity: ``weights`` above 0, and in ``forms`` the commonest written form of each.

    ``document``: all terms by which lexical search finds it, including whole identifiers. ``code``: whether it is code,
    and ``called`` the terms of the last two parts of its path then, such as a method with its class.
    """

    weights: Mapping[str, float]
    forms: Mapping[str, str]
    document: frozenset[str]
    code: bool
    called: frozenset[str] = frozenset()


def entity_terms(entity: Entity, extra: Mapping[str, float], terms: Terms) -> EntityTerms:
    """The terms of an entity and of its additional words ``extra``; ``terms`` are those of a text."""
    named = words(identifier_words("\n".join((entity.name, *entity.aliases))))
    described = words(identifier_words(entity.description))
    weights = {term: 1.0 for word in named for term in terms(word)}
    share = 1.0 / normal_length(sum(len(terms(word)) for word in described), USUAL)
    for word in described:
        for term in terms(word):
            weights[term] = weights.get(term, 0.0) + share
    for word, weight in extra.items():
        for term in terms(word):
            weights[term] = weights.get(term, 0.0) + weight
    document = weights.keys() | set(terms(searchable_text(entity)))
    forms = _forms([*named, *described, *extra], terms)
    code = entity.type in CASE_SENSITIVE_TYPES
    called = words(identifier_words(" ".join(entity.name.split(".")[-2:]))) if code else ()
    named_terms = frozenset(term for word in called for term in terms(word))
    return EntityTerms(weights, forms, frozenset(document), code=code, called=named_terms)


def _forms(written: Sequence[str], terms: Terms) -> Mapping[str, str]:
    """The commonest form of each term, of several the first by name."""
    forms: dict[str, str] = {}
    for word, _ in sorted(Counter(written).items(), key=lambda counted: (-counted[1], counted[0])):
        for term in terms(word):
            forms.setdefault(term, word)
    return forms
