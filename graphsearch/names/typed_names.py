"""Typed names: names parsed by entity type, and the words by which they are looked up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.model.identity import CASE_SENSITIVE_TYPES, snake_case
from graphsearch.names import forms
from graphsearch.names.forms import Form, flat, singular
from graphsearch.names.slips import LONG_WORD, SHORTEST_FOR_A_VOWEL, respelt
from graphsearch.names.vocabulary import SAME_TYPES, nicknames, spellings, words
from graphsearch.text.trigrams import MAX_NAME_WORDS, SMALL_WORDS, name_words, spoken_words

PREFIX: Final = 5
"""Length of the prefix by which words with a typing error after it are looked up."""
LONGEST: Final = 24
"""Maximum letters of a word that is also looked up by other spellings and by its parts."""

_READERS: Final[Mapping[str, Callable[[str], Form]]] = MappingProxyType(
    {
        "person": forms.person_form,
        "organisation": forms.organisation_form,
        "project": forms.project_form,
        **dict.fromkeys(("place", "city", "country", "location", "region"), forms.place_form),
        **dict.fromkeys(("tool", "technology", "library", "framework", "language", "software"), forms.tool_form),
        **dict.fromkeys((*CASE_SENSITIVE_TYPES, "date", "quantity"), forms.exact_form),
        "file": forms.file_form,
        "": forms.thing_form,
    }
)
OPAQUE_NAME_TYPES: Final = frozenset({"person", "people", "date", "quantity", "document"}) | CASE_SENSITIVE_TYPES
"""Types whose names carry no meaning, so that similar embeddings are no evidence."""
_UMLAUTS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe", "Å": "Aa"}
)


def known_type(given: str) -> str:
    """The normalised name of a type; "" for a type that stands for unknown."""
    kind = snake_case(given)
    return "" if kind in UNKNOWN_TYPES else kind


@attrs.frozen(cache_hash=True)
class TypedName:
    """A name and its entity type, "" if unknown."""

    name: str
    type: str = attrs.field(converter=known_type)

    @property
    def form(self) -> Form:
        """The name parsed by its type."""
        return read(self.name, self.type)


def shared_type(a: str, b: str) -> str | None:
    """The type by which two names are compared: the known one; None if their types conflict."""
    if not b or SAME_TYPES.get(a, a) == SAME_TYPES.get(b, b):
        return a
    return None if a else b


@lru_cache(maxsize=1 << 16)
def read(name: str, type: str) -> Form:
    """Parse a name by an entity type, "" if unknown."""
    return _READERS.get(SAME_TYPES.get(type, type), forms.plain_form)(name)


@lru_cache(maxsize=1 << 14)
def lookups(named: TypedName) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words and word prefixes by which a name is looked up."""
    form = named.form
    found = form_lookups(form)
    if len(form.words) > 1 or len(form.whole) > LONGEST or form.kind in ("file", "exact"):
        return found, ()
    found += tuple(form.whole[at:] for at in range(1, len(form.whole) - 2))  # "vscode", "psharma"
    if form.kind != "person" and (form.kind not in ("", "place") or len(form.whole) >= LONG_WORD - 1):
        prefixes = (form.whole[:PREFIX],) if len(form.whole) >= SHORTEST_FOR_A_VOWEL else ()
        return tuple(dict.fromkeys((*found, *respelt(form.whole)))), prefixes
    return tuple(dict.fromkeys(found)), ()


def form_lookups(form: Form) -> tuple[str, ...]:
    """The words of names that are like a form."""
    if form.kind == "file":
        return tuple(sorted(spoken_words(form.words[-1]), key=len)[-1:])
    found = [*name_words(form.shown), *form.words, *map(flat, form.words), form.whole, form.stem]
    if not form.shown.isascii():
        found += spoken_words(form.shown.translate(_UMLAUTS))
    found += _of_person(form) if form.kind == "person" else _of_thing(form)
    left_out = words("particles") if form.kind == "person" else SMALL_WORDS
    return tuple(each for each in dict.fromkeys(found) if len(each) > 1 and each not in left_out)


def _of_person(form: Form) -> list[str]:
    """Nicknames, and parts of a handle."""
    given, last = form.words[0], form.words[-1]
    handle = [given[1:], given[:-1]] if form.single else [given[0] + last, given + last[0], *form.initials]
    return [*sorted(nicknames(given)), *handle]


def _of_thing(form: Form) -> list[str]:
    """Words cut to initials, other spellings, singular and plural."""
    last, parts = form.words[-1], form.parts[:MAX_NAME_WORDS]
    cut = ["".join((*(word[0] for word in parts[:at]), *parts[at:])) for at in range(1, len(parts))]
    found = [*sorted(form.initials), *cut, singular(last), f"{last}s"]
    for word in (*form.words, form.stem):
        found += sorted(spellings().get(word, ()))
    if form.kind == "organisation" and form.partial:
        found.append(f"{last}c")  # "IBM" of a corporation
    return found
