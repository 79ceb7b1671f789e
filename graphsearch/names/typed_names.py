"""Typed names: names parsed by entity type, or by every type if it is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.model.identity import CASE_SENSITIVE_TYPES, snake_case
from graphsearch.names import forms
from graphsearch.names.comparing import nicknames
from graphsearch.names.forms import Form, transcribed
from graphsearch.names.persons import flat, person_form
from graphsearch.names.slips import SHORTEST_FOR_A_VOWEL, respelt
from graphsearch.names.vocabulary import SAME_TYPES, words
from graphsearch.text.trigrams import spoken_words

PREFIX: Final = 5
"""Length of the prefix by which words with a typing error after it are looked up."""
LONGEST: Final = 24
"""Maximum letters of a word that is also looked up by other spellings and by its parts."""

PLACE_TYPES: Final = ("place", "city", "country", "location", "region")
_READERS: Final[Mapping[str, Callable[[str], Form]]] = MappingProxyType(
    {
        "person": person_form,
        "organisation": forms.organisation_form,
        "project": forms.project_form,
        **dict.fromkeys(PLACE_TYPES, forms.place_form),
        **dict.fromkeys(("tool", "technology", "library", "framework", "language", "software"), forms.tool_form),
        **dict.fromkeys((*CASE_SENSITIVE_TYPES, "date", "quantity"), forms.exact_form),
        "file": forms.file_form,
        "": forms.thing_form,
    }
)
COINED_NAME_TYPES: Final = frozenset(_READERS) - {"", "person", *PLACE_TYPES}
"""Types whose names are usually coined, and so distinctive."""
_GUESSES: Final = ("", "person", "organisation", "project", "tool", "file")
"""Types by which a name of unknown type is parsed."""

OPAQUE_NAME_TYPES: Final = frozenset({"person", "people", "date", "quantity", "document"}) | CASE_SENSITIVE_TYPES
"""Types whose names carry no meaning, so that similar embeddings are no evidence."""


def known_type(given: str) -> str:
    """The normalised name of a type; "" for a type that stands for unknown."""
    kind = snake_case(given)
    return "" if kind in UNKNOWN_TYPES else kind


@attrs.frozen
class TypedName:
    """A name and its entity type, "" if unknown."""

    name: str
    type: str = attrs.field(converter=known_type)

    @property
    def untyped(self) -> bool:
        """Whether the type is unknown."""
        return not self.type

    @property
    def form(self) -> Form:
        """The name parsed by its type."""
        return read(self.name, self.type)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The name parsed by its type, or by each possible type if unknown."""
        return tuple(read(self.name, guess) for guess in _GUESSES) if self.untyped else (self.form,)

    @property
    def keys(self) -> tuple[str, ...]:
        """The distinct keys of all forms."""
        return _keys(self)


@lru_cache(maxsize=1 << 14)
def _keys(named: TypedName) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for form in named.forms for key in sorted(form.keys)))


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
    """The words and word prefixes by which a store looks a name up; `CandidateIndex.by_word` uses the same."""
    found = dict.fromkeys(word for form in named.forms for word in form_lookups(form))
    prefixes: tuple[str, ...] = ()
    whole = named.form.whole
    if len(named.form.words) == 1 and len(whole) <= LONGEST and named.type != "file":
        found.update(dict.fromkeys((*respelt(whole), *_ends(whole))))
        prefixes = (whole[:PREFIX],) if len(whole) >= SHORTEST_FOR_A_VOWEL else ()
    return tuple(found), prefixes


def form_lookups(form: Form) -> tuple[str, ...]:
    """Words by which names like a form are found; of a person also its nicknames and the parts of a handle."""
    if form.kind != "person":
        return form.lookups()
    given, *_, last = (*form.words, form.words[-1])
    handle = (given[1:], given[:-1]) if form.single else (given[0] + last, given + last[0], *form.initials)
    written = spoken_words(transcribed(form.shown))
    found = (*form.words, *map(flat, form.words), *written, form.whole, *sorted(nicknames(given)), *handle)
    return tuple(dict.fromkeys(word for word in found if len(word) > 1 and word not in words("particles")))


def _ends(word: str) -> Iterator[str]:
    """Prefixes and suffixes of at least three letters, for compounds such as "psharma" and "vscode"."""
    for at in range(3, len(word)):
        yield word[:at]
        yield word[len(word) - at :]
