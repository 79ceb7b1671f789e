"""Names read by the type of what they name, and by every type where it is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.model.identity import CASE_SENSITIVE_TYPES, snake_case
from graphsearch.names.file_paths import file_form
from graphsearch.names.forms import Form, plain_form, verbatim_form
from graphsearch.names.organisations import organisation_form, project_form
from graphsearch.names.persons import person_form
from graphsearch.names.tools import tool_form
from graphsearch.names.vocabulary import SAME_TYPES

_READERS: Final[Mapping[str, Callable[[str], Form]]] = MappingProxyType(
    {
        "person": person_form,
        "organisation": organisation_form,
        "project": project_form,
        **dict.fromkeys(("tool", "technology", "library", "framework", "language", "software"), tool_form),
        **dict.fromkeys(CASE_SENSITIVE_TYPES, verbatim_form),
        **dict.fromkeys(("date", "quantity"), verbatim_form),
        "file": file_form,
        "": plain_form,
    }
)
COINED: Final = frozenset(_READERS) - {"", "person"}
"""Types whose names are made up, and unlike each other."""
_GUESSES: Final = ("", "person", "organisation", "project", "tool", "file")
"""What a name of unknown type may be of."""

ONLY_LETTERS: Final = frozenset({"person", "people", "date", "quantity", "document"}) | CASE_SENSITIVE_TYPES
"""Types whose names mean nothing: that vectors are near says nothing of them."""


def known_type(given: str) -> str:
    """A type's name, "" where it says nothing."""
    kind = snake_case(given)
    return "" if kind in UNKNOWN_TYPES else kind


@attrs.frozen
class Named:
    """A name and the type of what it names, "" where that is not known."""

    name: str
    type: str = attrs.field(converter=known_type)

    @property
    def untyped(self) -> bool:
        """Whether the type is not known."""
        return not self.type

    @property
    def form(self) -> Form:
        """The name read by its type."""
        return read(self.name, self.type)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The name in each of its readings."""
        return tuple(read(self.name, guess) for guess in _GUESSES) if self.untyped else (self.form,)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all readings, each once."""
        return _keys(self)


@lru_cache(maxsize=1 << 14)
def _keys(named: Named) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for form in named.forms for key in sorted(form.keys)))


def shared_type(a: str, b: str) -> str | None:
    """The type by which two names are compared, that of the one that has one; None where their types conflict."""
    if not b or SAME_TYPES.get(a, a) == SAME_TYPES.get(b, b):
        return a
    return None if a else b


@lru_cache(maxsize=1 << 16)
def read(name: str, type: str) -> Form:
    """A name read by a type, as `Named` has it."""
    return _READERS.get(SAME_TYPES.get(type, type), plain_form)(name)
