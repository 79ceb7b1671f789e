"""Reading a whole scope as it is stored, page by page, and loading such pages into another scope."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from typing import Protocol

from graphsearch.model.stored import Key, Record, RecordKind, ScopeSettings
from graphsearch.protocols.effects import changes, reads


class Moving(Protocol):
    """A scope as records: two stores that have loaded the same ones give the same answers."""

    @reads
    async def settings(self) -> ScopeSettings:
        """The settings of the scope, with the numbers of its records."""
        ...

    @reads
    async def records(self, kind: RecordKind, *, after: Key | None = None, limit: int = 1_000) -> Sequence[Record]:
        """The next page of records of a kind, in order of key."""
        ...

    @changes(
        *("entities", "relations", "memories", "merges", "links", "communities", "types", "injections", "embedder"),
        "proposals",
    )
    async def load(
        self, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool = False
    ) -> None:
        """Load records, all or none, as the whole content of the scope; call `settle` afterwards.

        A page has records of one kind, in order of key; the pages come in the order of `RecordKind`. The scope is
        created if it does not exist, and is left as it was when anything raises, ``pages`` included. With ``replace``
        whatever it holds is removed first; without, a scope that holds anything raises `OccupiedScopeError`. Raises
        `AnalyserError` for records made with another analyser, and `RecordError` for a record out of order or one that
        refers to another that is not there.
        """
