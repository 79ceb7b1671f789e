"""The whole store of a graph: one scope of it, and the sum of its capabilities."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from graphsearch.columns import Keys
from graphsearch.model import Scope
from graphsearch.protocols.curating import Curating
from graphsearch.protocols.effects import reads
from graphsearch.protocols.learning import Learning
from graphsearch.protocols.moving import Moving
from graphsearch.protocols.parts import Clock
from graphsearch.protocols.reading import Reading
from graphsearch.protocols.reembedding import Reembeddable
from graphsearch.protocols.reviewing import Reviewing
from graphsearch.protocols.searching import Searching
from graphsearch.protocols.walking import Walking
from graphsearch.protocols.writing import Writing
from graphsearch.text.analyser import Analyser


class Scoped(Protocol):
    """A graph in one scope.

    Keys are the store's compact ids, in numpy arrays: comparable within one snapshot, each array for one kind of
    elements, and sorted like the ids.
    """

    @property
    def scope(self) -> Scope:
        """The scope of all reads and writes."""
        ...

    @property
    def clock(self) -> Clock:
        """The source of ``created_at`` and of the defaults of ``as_of`` and ``known_at``."""
        ...

    @property
    def analyser(self) -> Analyser:
        """The analyser that produces the terms of texts and of questions."""
        ...

    @reads
    def snapshot(self) -> AbstractAsyncContextManager[None]:
        """Let all reads inside, of this task and of those it starts, see one state of the graph. May be nested."""
        ...

    @reads
    async def version(self) -> Hashable:
        """A token that changes with every change to elements, names, words or types.

        Equal tokens of one store mean that none of these has changed. Feedback and logs do not change it.
        """
        ...

    @reads
    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        ...

    @reads
    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        ...

    @reads
    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        ...


class GraphStore(
    Scoped, Reading, Searching, Walking, Writing, Curating, Learning, Moving, Reembeddable, Reviewing, Protocol
):
    """A graph in one scope.

    Each capability is a protocol of its own, for code that needs only that one. Every method declares with `reads` or
    `changes` what it changes (`graphsearch.protocols.effects`). Reads raise `UnknownScopeError` where nothing was ever
    written. Lists are in order of id unless stated otherwise.
    """
