"""Transactions in one scope: the only way in which the Postgres store reads and writes its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
from numpy.typing import NDArray

from graphsearch.columns import Expansion
from graphsearch.model import ElementKind, RelationType, Scope, View
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.stores.in_postgres.session.rows import packed, uuid_array
from graphsearch.stores.in_postgres.session.sending import Answer, Connection, Sender, Statement, literal_statements
from graphsearch.stores.in_postgres.session.statements import numbered, with_literals
from graphsearch.text.analyser import ENGLISH, Analyser

SCOPES: Final = 256
"""Maximum number of scopes with cached signatures."""
CODES: Final = 10_000
"""Maximum number of cached signatures per scope."""
KEPT: Final = 10_000
"""Maximum number of elements of a kind that a snapshot caches; when exceeded, the cache is emptied."""


@attrs.define
class SignatureCache:
    """The signatures of one scope read since ``dropped`` of its signatures had been dropped."""

    dropped: int
    contents: dict[int, Signature] = attrs.field(factory=dict)
    _table: tuple[Mapping[str, RelationType], SignatureTable] | None = None

    def table(self, types: Mapping[str, RelationType]) -> SignatureTable:
        """A table of all of them with the relation types; cached until there are more of either."""
        if self._table is None or self._table[0] != types or len(self._table[1]) != len(self.contents):
            self._table = types, SignatureTable.with_codes(self.contents, types)
        return self._table[1]

    def add(self, contents: Mapping[int, Signature]) -> None:
        """Add signatures. A full cache is emptied: the ones in use soon return."""
        if len(self.contents) + len(contents) > CODES:
            self.contents.clear()
        if len(contents) <= CODES:
            self.contents.update(contents)


@attrs.define
class SignatureCaches:
    """The signatures of the most recently read scopes.

    They may quote labels and sources of forgotten memories: those of a scope are discarded when any of its signatures
    is dropped, by whatever process.
    """

    _books: dict[Scope, SignatureCache] = attrs.field(factory=dict)

    def book(self, scope: Scope, dropped: int) -> SignatureCache:
        """The signatures of a scope. A snapshot from before the last drop gets a cache of its own."""
        book = self._books.pop(scope, None)
        if book is None or book.dropped < dropped:
            book = SignatureCache(dropped)
        self._books[scope] = book
        while len(self._books) > SCOPES:
            del self._books[next(iter(self._books))]
        return book if book.dropped == dropped else SignatureCache(dropped)


@attrs.define(eq=False)
class ReadOnce:
    """The elements that one snapshot has read: a search finds, ranks, compares and hydrates the same ones."""

    related: dict[View, Sequence[NDArray[Any]]] = attrs.field(factory=dict)
    """Relations as steps, in columns; the first holds their keys; see `read.walking`."""
    ahead: dict[tuple[int, View], Expansion] = attrs.field(factory=dict)
    """Relations that a walk was expected to need next, by fan-out and view."""
    words: dict[tuple[str, int], Sequence[tuple[UUID, bool]]] = attrs.field(factory=dict)
    """The first entities with a common word in a name, or in an alias, by the word and their number."""
    _elements: dict[ElementKind, dict[Any, Any]] = attrs.field(factory=dict)

    def elements(self, kind: ElementKind) -> dict[Any, Any]:
        """The elements of a kind by id, or by its bytes, which hash faster; mutable, for adding more."""
        known = self._elements.get(kind)
        if known is None or len(known) > KEPT:
            known = self._elements[kind] = {}
        return known


@attrs.frozen
class Tally:
    """Sums of one kind of element in a scope: documents, their terms, and vectors."""

    documents: int = 0
    total_length: float = 0.0
    vectors: int = 0
    rows: int = 0
    """The number of rows, also of kinds that are no elements."""


@attrs.frozen
class VectorIndex:
    """The vector index of one kind of element in a scope; see `index.vector_index`."""

    part: int | None = None
    """The part that holds it; None if the scope is searched exactly."""
    generation: int = 0
    """The generation of vectors that are written now: those of earlier ones are in the part."""
    built: int = 0
    """The number of vectors when an index was last built, kept or not."""
    candidates: int = 0
    """How many candidates are enough to find the ten nearest from anywhere; 0 if no affordable number is."""
    bound: float = 0.0
    """The distance of the tenth, as a share of the last one's, up to which few candidates are enough."""


@attrs.define(kw_only=True)
class Session:
    """A transaction in one scope, with the scope's row as it was when the transaction began."""

    connection: Connection
    scope: Scope
    scope_hash: int
    id_key: UUID
    alpha: float = 0.1
    analyser: Analyser = ENGLISH
    embedder: str | None = None
    dimensions: int | None = None
    next_embedder: str | None = None
    """The model that the scope is being changed to."""
    next_dimensions: int | None = None
    tallies: Mapping[str, Tally] = attrs.field(factory=dict)
    vector_indexes: Mapping[str, VectorIndex] = attrs.field(factory=dict)
    types: Sequence[Mapping[str, Any]] = ()
    """The fields of the relation types registered in the scope."""
    signatures: SignatureCache = attrs.field(factory=lambda: SignatureCache(0))
    """The cache of signatures read before."""
    merges: int = 0
    """The number of merges ever made in the scope."""
    shares: bool = False
    """Whether a signature of the scope was ever shared."""
    health: Sequence[Mapping[str, Any]] = ()
    """The health that the scope had, the oldest first."""
    summarised: bool = False
    """Whether a community of the scope ever had a summary."""
    changes: int = 0
    """The version of the scope, increased by every change to elements and their names."""
    distributed: bool = False
    """Whether the tables are distributed over the nodes of a cluster."""
    keeps_plans: bool = False
    """Whether this is a read, whose plans are kept; see `run_kept`."""
    small: bool = False
    """Whether this is a write whose plans are kept; see `plan_for_values`."""
    open: bool = True
    sender: Sender = attrs.field(
        default=attrs.Factory(lambda self: Sender(self.connection, self.scope), takes_self=True)
    )
    once: ReadOnce = attrs.field(factory=ReadOnce)
    """The cache of what this transaction has read; valid in a snapshot only."""

    async def run(self, query: bytes, **values: Any) -> Answer:
        """Execute a statement, planned for its values; %(org)s and %(project)s are the scope."""
        if not self.keeps_plans:
            return await self.run_kept(query, **values)
        # Statements with literals are planned for these; kept plans are of statements with parameters.
        return await self.ask(Statement(with_literals(query, {**self.here, **values})))

    async def run_kept(self, query: bytes, **values: Any) -> Answer:
        """Execute a statement for which one plan is good for all values; a read keeps that plan.

        The planner must know how few rows are wanted: limits are written into the text.
        """
        return await self.ask(self._kept(query, values))

    def run_later(self, query: bytes, **values: Any) -> None:
        """Execute a statement as `run_kept` does, but see `later`."""
        self.later(self._kept(query, values))

    def _kept(self, query: bytes, values: Mapping[str, Any]) -> Statement:
        text, names = numbered(query, tuple((name, values[name]) for name in CONSTANTS if name in values))
        bound = self.here | _packed(values)
        return Statement(text, [bound[name] for name in names], kept=True)

    async def ask(self, asked: Statement) -> Answer:
        """The answer to a statement, in one round trip with those that other tasks ask at the same moment."""
        return await self.sender.execute(self.scope, asked)

    def later(self, asked: Statement) -> None:
        """Let a write send a statement whose answer it does not need together with the next one."""
        self.sender.later(self.scope, asked)

    def plan_for_values(self) -> None:
        """Let a write plan its statements for their values from now on: a plan for few keys is wrong for thousands."""
        if self.small:
            self.small = False
            for asked in literal_statements("write settings"):
                self.later(asked)

    async def flush(self) -> None:
        """Send what waits to be sent, as the end of a write does."""
        await self.sender.flush()

    async def rows(self, query: bytes, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, as `run` executes it."""
        return (await self.run(query, **values)).rows

    async def rows_kept(self, query: bytes, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, as `run_kept` executes it."""
        return (await self.run_kept(query, **values)).rows

    async def row(self, query: bytes, **values: Any) -> tuple[Any, ...]:
        """The one row of a statement that aggregates, as `run` executes it."""
        (row,) = await self.rows(query, **values)
        return row

    async def column(self, query: bytes, **values: Any) -> list[Any]:
        """The single column of a statement, as `run_kept` executes it."""
        return [key for (key,) in await self.rows_kept(query, **values)]

    def spans(self, scope: Scope) -> bool:
        """Whether another scope can be read in this transaction too, while it is open."""
        return self.open and (not self.distributed or scope.org_id == self.scope.org_id)

    def tally(self, kind: ElementKind) -> Tally:
        """The sums of a kind."""
        return self.tallies.get(kind.value, Tally())

    def vector_index(self, kind: ElementKind) -> VectorIndex:
        """The vector index of a kind."""
        return self.vector_indexes.get(kind.value, VectorIndex())

    @property
    def here(self) -> dict[str, Any]:
        """The parameters of every statement."""
        return {"org": self.scope.org_id, "project": self.scope.project_id, "scope": self.scope_hash}


def _packed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: uuid_array(packed(value)) if isinstance(value, list) and value and isinstance(value[0], UUID) else value
        for name, value in values.items()
    }


CONSTANTS: Final = ("limit", "most", "candidates", "dimensions", "part", "skipped", "only")
"""The parameters that are written into the text of a kept statement."""
