"""What one write has read and changed: rows as they are stored, and as they are to be.

Nothing is written before `Work.flush`, which writes every changed kind of row once: a write that is refused, or only
reports, has written nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Generic, Protocol, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import aside, in_slices
from graphsearch.claims.folding import Together
from graphsearch.errors import StoreError
from graphsearch.model import Group
from graphsearch.model.signatures import Signature
from graphsearch.model.stored import StoredMerge
from graphsearch.protocols.rows import (
    KINDS,
    ClaimRow,
    CommunityRow,
    EntityRow,
    Entry,
    MemberRow,
    MemoryRow,
    MentionRow,
    Port,
    RelationRow,
)
from graphsearch.text.bm25 import embedding_text


class _Keyed(Protocol):
    @property
    def key(self) -> Any: ...


T = TypeVar("T")
K = TypeVar("K")
R = TypeVar("R", bound=_Keyed)
Change = tuple[R | None, R | None]
"""A row as it is stored, and as it is to be; None where there is none."""
Surface = tuple[str, str, int]
"""A surface and a type that a mention states, and the signature of its memory."""
ELEMENTS: Final = ("memory", "entity", "relation")
_UNCHANGED: Final[Any] = object()
_ORDER: Final = (
    *("type", "counter", "merge", "memory", "words", "entity", "mention", "claim", "relation"),
    *("link", "distinct", "injection", "community", "member"),
)


class Tree:
    """Which entities were merged into which, as far as a write has read it."""

    def __init__(self) -> None:
        self.into: dict[UUID, UUID] = {}
        self._absorbed: dict[UUID, set[UUID]] = {}

    def join(self, source: UUID, target: UUID) -> None:
        """Let an entity be merged into another."""
        self.into[source] = target
        self._absorbed.setdefault(target, set()).add(source)

    def part(self, source: UUID) -> None:
        """Let an entity be merged into none."""
        if (target := self.into.pop(source, None)) is not None:
            self._absorbed[target].discard(source)

    def absorbs(self, key: UUID) -> bool:
        """Whether anything was merged into an entity."""
        return bool(self._absorbed.get(key))

    def root(self, key: UUID) -> UUID:
        """The entity that one was finally merged into; itself if it was not merged."""
        while self.into and (target := self.into.get(key)) is not None:
            key = target
        return key

    def above(self, keys: Iterable[UUID]) -> list[UUID]:
        """Entities and everything that they were merged into, without repeats."""
        found: dict[UUID, None] = {}
        for key in keys:
            each: UUID | None = key
            while each is not None and each not in found:
                found[each] = None
                each = self.into.get(each)
        return list(found)

    def below(self, key: UUID) -> list[UUID]:
        """The entity, and everything merged into it, in order of id."""
        found: list[UUID] = []
        waiting = list(self._absorbed[key]) if key in self._absorbed else []
        while waiting:
            found.append(waiting.pop())
            waiting += self._absorbed.get(found[-1], ())
        return [key, *sorted(found)]


class Table(Generic[K, R]):
    """The rows of one kind in one write. What was read once is not read again."""

    def __init__(self, kind: str, port: Port) -> None:
        self.kind = kind
        self.stored: dict[K, R | None] = {}
        """As they were read; None where there is no row."""
        self.new: dict[K, R | None] = {}
        """As they are to be, those that were put or dropped; None for a dropped one."""
        self._port = port
        self._read: dict[str, set[Any]] = {}

    async def read(self, keys: Iterable[K]) -> None:
        """Read rows by key."""
        if unread := [key for key in keys if key not in self.stored]:
            self.stored.update(dict.fromkeys(unread))
            self.stored.update((row.key, row) for row in await self._port.rows(self.kind, unread))

    async def those(self, keys: Iterable[K]) -> list[R]:
        """The existing ones of some rows, as they are now, in the order of their keys."""
        wanted = dict.fromkeys(keys)
        await self.read(wanted)
        return [row for key in wanted if (row := self.get(key)) is not None]

    async def by(self, column: str, values: Iterable[Any]) -> list[R]:
        """The rows with any of some values in a column, as they are now."""
        wanted = set(values)
        await self.read_by(column, wanted)
        if not wanted:
            return []
        of = KINDS[self.kind][column]
        return await aside(lambda: [row for row in self if not wanted.isdisjoint(of(row))], len(self))

    async def read_by(self, column: str, values: Iterable[Any]) -> None:
        """Read the rows with any of some values in a column."""
        read = self._read.setdefault(column, set())
        if unread := set(values) - read:
            read |= unread
            for row in await self._port.rows_by(self.kind, column, unread):
                self.stored.setdefault(row.key, row)

    def __iter__(self) -> Iterator[R]:
        """All that were read or put, as they are now."""
        new = self.new
        yield from [row for key, row in self.stored.items() if row is not None and key not in new]
        yield from [row for row in new.values() if row is not None]

    def __len__(self) -> int:
        """How many rows were read or changed."""
        return len(self.stored) + len(self.new)

    def get(self, key: K) -> R | None:
        """A row that was read or put, as it is now; None if there is none."""
        row = self.new.get(key, _UNCHANGED)  # keys are often ids, which take long to hash
        return self.stored.get(key) if row is _UNCHANGED else row

    def __getitem__(self, key: K) -> R:
        """A row that was read or put, and exists."""
        row = self.get(key)
        if row is None:
            raise KeyError(key)
        return row

    def __contains__(self, key: K) -> bool:
        """Whether a row that was read or put exists now."""
        return self.get(key) is not None

    def is_absent(self, key: K) -> bool:
        """Whether it was read that there is no such row."""
        return self.stored.get(key, self) is None

    def put(self, row: R) -> None:
        """Write a row."""
        self.new[row.key] = row

    def drop(self, keys: Iterable[K]) -> None:
        """Remove rows."""
        self.new.update(dict.fromkeys(keys))

    @property
    def changes(self) -> dict[K, Change[R]]:
        """By key, of the rows that differ from the stored ones."""
        pairs = ((key, self.stored.get(key), row) for key, row in self.new.items())
        return {
            key: (old, row) for key, old, row in pairs if old is not row and (old is None or row is None or old != row)
        }

    @property
    def gone(self) -> list[K]:
        """The keys of stored rows that are dropped."""
        return [key for key, row in self.new.items() if row is None and self.stored.get(key) is not None]


class Work:
    """The rows of one write, and what has to be done with what they touch before the end."""

    def __init__(self, port: Port, now: datetime) -> None:
        self.port, self.now, self.scope = port, now, port.scope
        self.types_before = dict(port.scope.types)
        tables: dict[str, Table[Any, Any]] = {kind: Table(kind, port) for kind in _ORDER}
        self.tables = tables
        """In the order in which they are written: ends before the relations that copy from them."""
        self.memories: Table[str, MemoryRow] = tables["memory"]
        self.entities: Table[UUID, EntityRow] = tables["entity"]
        self.relations: Table[UUID, RelationRow] = tables["relation"]
        self.mentions: Table[tuple[str, int], MentionRow] = tables["mention"]
        self.claims: Table[tuple[str, int], ClaimRow] = tables["claim"]
        self.merges: Table[UUID, StoredMerge] = tables["merge"]
        self.communities: Table[UUID, CommunityRow] = tables["community"]
        self.members: Table[UUID, MemberRow] = tables["member"]
        self.links: Table[tuple[str, str, str], Entry] = tables["link"]
        self.marks: Table[tuple[UUID, UUID], Entry] = tables["distinct"]
        self.injections: Table[str, Entry] = tables["injection"]
        self.types: Table[str, Entry] = tables["type"]
        self.counters: Table[str, Entry] = tables["counter"]
        self.words: Table[UUID, Entry] = tables["words"]
        self.tree = Tree()
        self._in_tree: set[UUID] = set()
        self._forms: dict[UUID, dict[Surface, int]] = {}

        self.rewritten: set[str] = set()
        """The memories whose mentions and claims this write replaces."""
        self.touched: set[UUID] = set()
        """Entities whose names, types or signatures may change."""
        self.lost: dict[UUID, set[str]] = {}
        """Surfaces that lost a mention, by the entity they were written for."""
        self.repointed: set[UUID] = set()
        """Entities whose mentions may mean another entity than they did."""
        self.folded: set[Group] = set()
        """The groups whose claims were folded again."""
        self.together: dict[UUID, Together] = {}
        """What the relations that these groups prove were folded from."""
        self.retracted: set[UUID] = set()
        """Relations that keep the signature they had when claims proved them."""
        self.vectors: dict[str, dict[Any, NDArray[np.float16] | None]] = {kind: {} for kind in ELEMENTS}
        """By kind and id of element: a new vector, or None if it is to have none."""
        self._signatures: dict[int, Signature] = {}

    # -- merged entities -------------------------------------------------------------------------------------------

    async def read_tree(self, keys: Iterable[UUID]) -> set[UUID]:
        """Read everything that entities were merged into, and that was merged into those; return all of them."""
        found = set(keys)
        if unknown := found - self._in_tree:
            into = await self.port.tree(unknown) if self.scope.merges else {}
            for source, target in into.items():
                self.tree.join(source, target)
            self._in_tree |= unknown.union(into, into.values())
        if not self.tree.into:
            return found
        return {each for key in self.tree.above(found) for each in self.tree.below(key)}

    async def read_entities(self, keys: Iterable[UUID]) -> None:
        """Read entities with everything that they were merged into, and that was merged into those."""
        await self.entities.read(await self.read_tree(keys))

    # -- forms -----------------------------------------------------------------------------------------------------

    async def read_forms(self, keys: Iterable[UUID]) -> None:
        """Read with what surfaces and types entities were written, each for itself, as it is now."""
        unknown = set(keys) - self._forms.keys()
        self._forms.update({key: {} for key in unknown})
        stored = [key for key in unknown if self.entities.stored.get(key) is not None]
        for form in await self.port.forms(stored, self.rewritten) if stored else ():
            self._forms[form.entity_id][form.surface, form.type, form.signature] = form.count
        if unknown:
            await aside(lambda: self._count_forms(unknown), len(self.mentions))

    def _count_forms(self, keys: Collection[UUID]) -> None:
        """Count the forms of entities in the memories that this write rewrites."""
        for row in self.mentions:
            if (mention := row.mention).entity_id in keys and mention.memory_id in self.rewritten:
                own, surface = self._forms[mention.entity_id], (mention.surface, mention.type, row.signature)
                own[surface] = own.get(surface, 0) + 1

    def forms(self, *keys: UUID) -> Iterator[Surface]:
        """The forms of entities; they were read."""
        return (form for key in keys for form in self._forms[key])

    def mentions_of(self, *keys: UUID) -> int:
        """The number of mentions that were written for entities; their forms were read."""
        return sum(sum(self._forms[key].values()) for key in keys)

    # -- signatures ------------------------------------------------------------------------------------------------

    def sign(self, signature: Signature) -> int:
        """The code of a signature that something has now."""
        code = code_of(signature)
        if self._signatures.setdefault(code, signature) != signature:
            raise StoreError(f"two signatures have the code {code}: write these elements with another label")
        return code

    # -- the end ---------------------------------------------------------------------------------------------------

    async def flush(self) -> None:
        """Write what changed, each kind of row once."""
        if self.repointed:
            await self.port.repoint({key: self.tree.root(key) for key in self.repointed})
        changes = await in_slices(self._changes())
        for kind, own in changes.items():
            if rows := [row for _, row in own.values() if row is not None]:
                before = {key: old for key, (old, row) in own.items() if old is not None and row is not None}
                await self.port.put(kind, rows, before)
        for kind, own in reversed(changes.items()):
            if gone := {key: old for key, (old, row) in own.items() if row is None}:
                await self.port.drop(kind, gone.keys(), gone)
        if elements := self.gone:
            await self.port.drop_by("outcome", "element", elements)
        for kind in ELEMENTS:
            await self._write_vectors(kind, changes.get(kind, {}))
        await self.port.finish(self._signatures)

    def _changes(self) -> Generator[None, None, dict[str, dict[Any, Change[Any]]]]:
        """The differences of each kind that has any, in steps."""
        found = {}
        for kind, table in self.tables.items():
            if table.new and (changes := table.changes):
                found[kind] = changes
            yield
        return found

    async def _write_vectors(self, kind: str, changes: Mapping[Any, Change[Any]]) -> None:
        """Write the vectors of a kind of element, and drop those of the next model that are not current any more."""
        table = self.tables[kind]
        there = {key: row for key, row in self.vectors[kind].items() if key in table}
        if rows := [Entry(key, row) for key, row in there.items() if row is not None]:
            await self.port.put(f"{kind}_vector", rows, {})
        if gone := [key for key, row in there.items() if row is None and not table.is_absent(key)]:
            await self.port.drop(f"{kind}_vector", gone, {})
        if self.scope.next_embedder is not None:
            kept = {key: (getattr(old, kind), getattr(row, kind)) for key, (old, row) in changes.items() if old and row}
            other = [key for key, (old, new) in kept.items() if embedding_text(old) != embedding_text(new)]
            if there or other:
                await self.port.drop(f"{kind}_shadow", there.keys() | set(other), {})

    @property
    def gone(self) -> set[tuple[str, str]]:
        """The elements that are dropped, by kind and id as text."""
        return {(kind, str(key)) for kind in ELEMENTS for key in self.tables[kind].gone}


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by a property of each."""
    found: dict[K, list[T]] = {}
    for each in items:
        found.setdefault(key(each), []).append(each)
    return found


@lru_cache(maxsize=65_536)
def code_of(signature: Signature) -> int:
    """Cached: thousands of elements share a few signatures."""
    return signature.code
