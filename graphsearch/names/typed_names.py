"""Typed names: names parsed by entity type, or by every type if it is unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from graphsearch.claims.naming import UNKNOWN_TYPES
from graphsearch.model.identity import CASE_SENSITIVE_TYPES, snake_case
from graphsearch.names.forms import Form, plain_form, verbatim_form
from graphsearch.names.persons import person_form
from graphsearch.names.things import concept_form, file_form, organisation_form, place_form, project_form, tool_form
from graphsearch.names.vocabulary import SAME_TYPES

PLACE_TYPES: Final = ("place", "city", "country", "location", "region")
_READERS: Final[Mapping[str, Callable[[str], Form]]] = MappingProxyType(
    {
        "person": person_form,
        "organisation": organisation_form,
        "project": project_form,
        **dict.fromkeys(PLACE_TYPES, place_form),
        **dict.fromkeys(("tool", "technology", "library", "framework", "language", "software"), tool_form),
        **dict.fromkeys(CASE_SENSITIVE_TYPES, verbatim_form),
        **dict.fromkeys(("date", "quantity"), verbatim_form),
        "file": file_form,
        "": concept_form,
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
    return _READERS.get(SAME_TYPES.get(type, type), plain_form)(name)
