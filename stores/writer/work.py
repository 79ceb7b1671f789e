"""What one write has read and changed: rows by kind and key as they were, and as they are to be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from graphsearch.claims.folding import DatedClaim, group_of, periods_of, type_named
from graphsearch.model import Group
from graphsearch.model.identity import relation_id
from graphsearch.model.signatures import Signature
from graphsearch.stores.writer.rows import KINDS, Form, Port

_ORDER: Final = (
    *("type", "counter", "merge", "memory", "words", "entity", "mention", "claim", "relation", "link", "distinct"),
    *("community", "member", "injection", "entity_vector", "relation_vector", "memory_vector"),
)
"""The order in which changes are written: ends before the relations that copy from them."""


class Work:
    """The rows of one write. Reads go to the port once; changes are made here, and written at the end by `flush`."""

    def __init__(self, port: Port, now: datetime) -> None:
        self.port, self.now, self.scope = port, now, port.scope
        self.types_before = dict(port.scope.types)
        self.before: dict[str, dict[Any, Any]] = {kind: {} for kind in KINDS}
        """As stored; None for a row that does not exist."""
        self.after: dict[str, dict[Any, Any]] = {kind: {} for kind in KINDS}
        """Changed rows; None for a dropped one."""
        self._read: dict[tuple[str, str], set[Any]] = {}
        self.into: dict[UUID, UUID] = {}
        """The target of each merged entity, of the trees that were read; changed by `join` and `part`."""
        self._absorbed: dict[UUID, set[UUID]] = {}
        self._in_tree: set[UUID] = set()
        self.rewritten: set[str] = set()
        """The memories whose mentions and claims were read, and may be changed."""
        self._forms: dict[UUID, list[Form]] = {}
        self.repointed: set[UUID] = set()
        self.signatures: dict[int, Signature] = {}
        self.unvectored: dict[str, set[Any]] = {}
        self.forgotten: set[tuple[str, str]] = set()
        """The elements, by kind and id, whose outcomes go."""
        self.retracted: set[UUID] = set()
        """Relations that keep the signature they had when claims proved them."""

    # -- rows ------------------------------------------------------------------------------------------------------

    async def rows(self, kind: str, keys: Iterable[Any]) -> list[Any]:
        """The existing ones of some rows, as they are now, in the order of their keys."""
        wanted, known = list(dict.fromkeys(keys)), self.before[kind]
        missing = [key for key in wanted if key not in known]
        if missing:
            known.update(dict.fromkeys(missing))
            known.update((row.key, row) for row in await self.port.rows(kind, missing))
        return [row for key in wanted if (row := self.get(kind, key)) is not None]

    async def rows_by(self, kind: str, column: str, values: Iterable[Any]) -> list[Any]:
        """The rows with any of some values in a column, as they are now."""
        wanted, read, known = set(values), self._read.setdefault((kind, column), set()), self.before[kind]
        if unread := wanted - read:
            for row in await self.port.rows_by(kind, column, unread):
                known.setdefault(row.key, row)
            read |= unread
        of = KINDS[kind][column]
        return [row for row in self._now(kind) if not wanted.isdisjoint(of(row))] if wanted else []

    def _now(self, kind: str) -> Iterator[Any]:
        after = self.after[kind]
        yield from (row for key, row in self.before[kind].items() if row is not None and key not in after)
        yield from (row for row in after.values() if row is not None)

    def get(self, kind: str, key: Any) -> Any:
        """A row that was read or put, as it is now; None if there is none."""
        after = self.after[kind]
        return after[key] if key in after else self.before[kind].get(key)

    def put(self, kind: str, row: Any) -> None:
        """Write a row."""
        self.after[kind][row.key] = row

    def drop(self, kind: str, keys: Iterable[Any]) -> None:
        """Remove rows."""
        self.after[kind].update(dict.fromkeys(keys))

    def changed(self, kind: str) -> dict[Any, tuple[Any, Any]]:
        """By key: what was and what is to be, of rows that differ; None for none."""
        before = self.before[kind]
        return {key: (old, row) for key, row in self.after[kind].items() if (old := before.get(key)) != row}

    def proved_before(self, groups: Collection[Group]) -> set[UUID]:
        """The ids of the relations that the claims of groups proved when the write began; the claims were read."""
        dated: dict[Group, list[DatedClaim]] = {}
        for row in self.before["claim"].values():
            if row is not None and row.folds:
                claim = row.shown
                if (group := group_of(claim, self.types_before)) in groups:
                    dated.setdefault(group, []).append(DatedClaim(claim, row.occurred_at))
        return {
            relation_id(source, name, *period.key)
            for (source, name, _), own in dated.items()
            for period in periods_of(own, type_named(name, self.types_before))
        }

    # -- merged entities -------------------------------------------------------------------------------------------

    async def read_entities(self, keys: Iterable[UUID]) -> None:
        """Read entities with everything that they were merged into, and that was merged into those."""
        wanted = set(keys)
        if self.scope.merges and (unknown := wanted - self._in_tree):
            found = await self.port.tree(unknown)
            for source, target in found.items():
                self.join(source, target)
            self._in_tree |= unknown | found.keys() | set(found.values())
            wanted |= found.keys() | set(found.values())
        await self.rows("entity", wanted)

    def root(self, key: UUID) -> UUID:
        """The entity that one was finally merged into; itself if it was not merged."""
        while (above := self.into.get(key)) is not None:
            key = above
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
        found, waiting = [], list(self._absorbed.get(key, ()))
        while waiting:
            found.append(waiting.pop())
            waiting += self._absorbed.get(found[-1], ())
        return [key, *sorted(found)]

    def join(self, source: UUID, target: UUID) -> None:
        """Let an entity be merged into another."""
        self.into[source] = target
        self._absorbed.setdefault(target, set()).add(source)

    def part(self, source: UUID) -> None:
        """Let an entity be merged into none."""
        if (target := self.into.pop(source, None)) is not None:
            self._absorbed[target].discard(source)

    def merges(self, key: UUID) -> bool:
        """Whether an entity takes part in a merge, on either side."""
        return key in self.into or self.absorbs(key)

    def absorbs(self, key: UUID) -> bool:
        """Whether anything was merged into an entity."""
        return bool(self._absorbed.get(key))

    # -- forms -----------------------------------------------------------------------------------------------------

    async def read_forms(self, keys: Iterable[UUID]) -> None:
        """Read the forms of entities, of what was written for each, as they are now."""
        unknown = set(keys) - self._forms.keys()
        if not unknown:
            return
        self._forms.update({key: [] for key in unknown})
        stored = [key for key in unknown if self.before["entity"].get(key) is not None]
        for form in await self.port.forms(stored, self.rewritten) if stored else ():
            self._forms[form.entity_id].append(form)
        for row in self._now("mention"):
            mention = row.mention
            if mention.entity_id in unknown and mention.memory_id in self.rewritten:
                form = Form(mention.entity_id, mention.surface, mention.type, row.signature, 1)
                self._forms[mention.entity_id].append(form)

    def forms(self, keys: Iterable[UUID]) -> Iterator[Form]:
        """The forms of entities; they were read."""
        return (form for key in keys for form in self._forms[key])

    # -- the end ---------------------------------------------------------------------------------------------------

    def drop_vectors(self, kind: str, keys: Iterable[Any]) -> None:
        """Remove the vectors of elements, if they have any."""
        self.unvectored.setdefault(kind, set()).update(keys)

    async def flush(self) -> None:
        """Write what changed: each kind of row once."""
        roots = {key: self.root(key) for key in self.repointed}
        if roots:
            await self.port.repoint(roots)
        released: dict[str, set[int]] = {}
        dropped: list[tuple[str, list[Any]]] = []
        for kind in _ORDER:
            if not self.after[kind]:
                continue
            changed = self.changed(kind)
            rows = [row for _, row in changed.values() if row is not None]
            gone = [key for key, (old, row) in changed.items() if row is None]
            if kind in ("memory", "entity", "relation"):
                released[kind] = {
                    old.signature
                    for old, row in changed.values()
                    if old and (row is None or row.signature != old.signature)
                }
            if rows:
                before = {key: old for key, (old, row) in changed.items() if old is not None and row is not None}
                await self.port.put(kind, rows, before)
            if gone:
                dropped.append((kind, gone))
        for kind, gone in reversed(dropped):
            await self.port.drop(kind, gone, {key: self.before[kind][key] for key in gone})
        if self.forgotten:
            await self.port.drop_by("outcome", "element", self.forgotten)
        for kind, keys in self.unvectored.items():
            vectors = f"{kind}_vector"
            left = [key for key in keys if key not in self.after[vectors] and self.get(kind, key) is not None]
            if left:
                await self.port.drop(vectors, left, {})
        await self.port.finish(self.signatures, released)


def by(rows: Iterable[Any], key: Any) -> dict[Any, list[Any]]:
    """Rows by a function of each."""
    found: dict[Any, list[Any]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


Keys = Collection[UUID]
Rows = Mapping[Any, Any]
