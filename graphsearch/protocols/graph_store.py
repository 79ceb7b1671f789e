"""The whole store of a graph: the sum of its capabilities."""

from __future__ import annotations

from typing import Protocol

from graphsearch.protocols.curating import Curating
from graphsearch.protocols.learning import Learning
from graphsearch.protocols.reading import Reading
from graphsearch.protocols.scoped import Scoped
from graphsearch.protocols.searching import Searching
from graphsearch.protocols.walking import Walking
from graphsearch.protocols.writing import Writing


class GraphStore(Scoped, Reading, Searching, Walking, Writing, Curating, Learning, Protocol):
    """A graph in one scope.

    Each capability is a protocol of its own, for code that needs only that one. Every method declares with `reads` or
    `changes` what it changes (`graphsearch.protocols.effects`). Reads raise `UnknownScopeError` where nothing was ever
    written. Lists are in order of id unless stated otherwise.
    """
