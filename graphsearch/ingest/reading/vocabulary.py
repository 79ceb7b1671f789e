"""Names known beforehand, found in any case: widely used tools, names that users add, and names of the scope."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache

import attrs

from graphsearch.ingest.reading._parts import key
from graphsearch.ingest.stating.scope import kind_of
from graphsearch.model.extracted import KnownName
from graphsearch.names.known_tools import known_tools


@attrs.frozen(eq=False)
class Vocabulary:
    """Known names by the key of each of their spellings. ``digest`` is that of names that a user added."""

    names: Mapping[str, KnownName]
    digest: str = ""

    @classmethod
    def of(cls, added: Iterable[KnownName]) -> Vocabulary:
        """The vocabulary of tools with added names, which replace equal spellings."""
        own = list(added)
        listed = sorted((each.type, each.name, written) for each in own for written in each.spellings)
        digest = hashlib.sha256(repr(listed).encode()).hexdigest()[:12] if listed else ""
        return cls({**_tools(), **_by_spelling(own)}, digest)

    def knowing(self, others: Iterable[KnownName]) -> Vocabulary:
        """It, with names that hold where it has none of that spelling."""
        return Vocabulary({**_by_spelling(others), **self.names}, self.digest)

    def kinds(self) -> Mapping[str, str]:
        """The kind of each spelling."""
        return {form: kind_of(each.type) if each.type else "" for form, each in self.names.items()}


def _by_spelling(names: Iterable[KnownName]) -> dict[str, KnownName]:
    return {key(written): each for each in names for written in each.spellings}


@cache
def _tools() -> Mapping[str, KnownName]:
    """The tools whose names are no ordinary words."""
    return _by_spelling(KnownName(name=name, aliases=others) for name, others in known_tools()["sure"].items())
