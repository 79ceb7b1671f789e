"""Decisions on columns of elements: one per signature if policies read no more than that, else one per element.

A decider serves one question, inside one snapshot, and requests no decision twice. Its verdicts are ordered: the
minimum of several is the verdict on all of them together.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.access.gate import BoundGate, resource_of
from graphsearch.columns import Codes, Expansion, Floats, Keys, Mask, Rows
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.model import ElementKind, Entity, Memory, Relation, RelationType, Vector
from graphsearch.model.signatures import Resource, Signature, SignatureTable, memory_signature
from graphsearch.stores.graph import GraphStore

ROUNDS: Final = 4
"""Most rounds of a search of which hidden hits are filtered out, each twice as wide, until enough are visible."""


def widest(limit: int) -> int:
    """The limit of the last round, each round being twice as wide as the one before."""
    return limit << (ROUNDS - 1)


Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Vector]]
"""Embeds texts as documents; one row of length 1 for each."""


class SignatureInterner:
    """The table of a store that has all of its signatures in one, where codes are rows.

    For other stores a table of the signatures at hand, extended by those that the question meets, in order of
    appearance, each read once.
    """

    def __init__(self, store: GraphStore, types: Mapping[str, RelationType], known: SignatureTable | None) -> None:
        self._store = store
        self._types = types
        self.table = SignatureTable.with_codes({}, types) if known is None else known
        self._places = None if self.table.codes is None else KeyIndex(self.table.codes)

    async def rows(self, *columns: Codes) -> Sequence[Rows]:
        """The row of each code, column by column."""
        if self._places is None:
            return columns
        rows = self._places.number(np.concatenate(columns))
        start = len(self.table)
        if start < len(self._places):
            listed = self._places.keys[start:].tolist()
            found = await self._store.signatures(listed)
            if len(self.table) < start + len(listed):  # else another task was faster
                contents = [*self.table.contents[:start], *map(found.get, listed)]
                self.table = SignatureTable.of(contents, self._types, self._places.keys[: len(contents)])
        return [rows[start:end] for start, end in pairwise(accumulate(map(len, columns), initial=0))]


Verdicts = NDArray[np.int8]

MOST_AT_ONCE: Final = 2_000
"""The most resources that are decided before any element is met."""
AT_ONCE: Final = 256
"""The most signatures that are decided together, whether they are met or not: usually those denied before."""
MAX_CACHED_QUESTIONS: Final = 256
"""The number of principals and actions whose decisions are cached."""

UNDECIDED: Final = -1
DENIED: Final = 0
PARTIAL: Final = 1
"""Some of what the element was folded from is denied: it may state less, and an entity may even be denied."""
ALLOWED: Final = 2


def each_allowed(count: int) -> Verdicts:
    """An array of ``count`` times `ALLOWED`."""
    return np.full(count, ALLOWED, dtype=np.int8)


async def allows_scope(gate: BoundGate, table: SignatureTable) -> bool:
    """Whether a gate allows every element of a scope, by a table of all its signatures.

    Decided once for a table, by the first question, and cached where the gate knows what determines its answers. False
    for other gates and tables, and where there are many to decide on: then elements are decided as they are met.
    """
    question = gate.question
    if question is None or not gate.by_signature or table.codes is not None:
        return False
    if question not in table.allowed:
        resources = dict.fromkeys(each.resource for each in table.contents if each)
        table.allowed[question] = len(resources) <= MOST_AT_ONCE and all(await gate.permits(list(resources)))
        drop_oldest(table.allowed)
    return table.allowed[question]


def drop_oldest(cached: dict[Hashable, Any]) -> None:
    """Drop all but the newest `MAX_CACHED_QUESTIONS`."""
    for oldest in list(cached)[:-MAX_CACHED_QUESTIONS]:
        cached.pop(oldest, None)


class Decider:
    """Decides for one question, by its gate; see the two kinds below."""

    def __init__(self, store: GraphStore, gate: BoundGate, book: SignatureInterner) -> None:
        self._store = store
        self._gate = gate
        self._book = book
        self._permitted: dict[str, bool] = {}
        """By id, for memories that exist."""

    @property
    def allows_all(self) -> bool:
        """Whether all elements met by the question so far are `ALLOWED`, without examining them."""
        return False

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts | None:
        """A verdict for each key, with its signature as a row of the question's `SignatureInterner`; a new array.

        None if all are `ALLOWED`.
        """
        raise NotImplementedError

    async def partial(self, signatures: Rows) -> Mask:
        """Which shared signatures may have relations that are `PARTIAL`."""
        return np.ones(len(signatures), dtype=np.bool_)

    async def memories(self, ids: Sequence[str]) -> Mapping[str, bool]:
        """Whether each of the existing memories may be seen."""
        if fresh := [id_ for id_ in dict.fromkeys(ids) if id_ not in self._permitted]:
            found = await self._store.get_memories(fresh)
            self._permitted.update(zip((memory.id for memory in found), await self._permits(found), strict=True))
        return {id_: self._permitted[id_] for id_ in ids if id_ in self._permitted}

    async def _permits(self, memories: Sequence[Memory]) -> Sequence[bool]:
        """Whether each memory is permitted."""
        return await self._gate.permits([resource_of(memory) for memory in memories])


class SignatureDecider(Decider):
    """Decides once per signature: policies read nothing else, so the elements of a signature are all allowed or none.

    Allowed signatures are cached from one question to the next, with the table of signatures, if the gate knows what
    determines its answers (`BoundGate.question`). Denials are not cached, since they may be failures to decide.
    """

    def __init__(self, store: GraphStore, gate: BoundGate, book: SignatureInterner) -> None:
        super().__init__(store, gate, book)
        self._question = gate.question
        self._decided = book.table.remembered.get(self._question, np.empty(0, dtype=np.int8))
        """Verdicts by row of the book."""
        self._all_allowed = bool(self._decided.min(initial=ALLOWED) == ALLOWED)
        self._answers: dict[Resource, bool] = {}
        """By resource of a memory."""

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts | None:  # noqa: ARG002
        """By signature, which includes the kind."""
        if self.allows_all:
            return None
        verdicts = self._decided.take(signatures)
        least = verdicts.min(initial=ALLOWED)
        if least == UNDECIDED:
            undecided = np.flatnonzero(self._decided == UNDECIDED)
            if len(undecided) > AT_ONCE:
                undecided = distinct(signatures[verdicts == UNDECIDED])[0]
            await self._decide(undecided.tolist())
            verdicts = self._decided.take(signatures)
            least = verdicts.min()
        return None if least == ALLOWED else verdicts

    async def partial(self, signatures: Rows) -> Mask:
        """By signature."""
        verdicts = await self.verdicts(ElementKind.RELATION, signatures, signatures)
        return np.zeros(len(signatures), dtype=np.bool_) if verdicts is None else verdicts == PARTIAL

    @property
    def allows_all(self) -> bool:
        """Whether every signature in the book is allowed."""
        self._extend()
        return self._all_allowed

    def _extend(self) -> None:
        """Extend the verdicts to the signatures added to the book."""
        if further := len(self._book.table) - len(self._decided):
            self._decided = np.concatenate((self._decided, np.full(further, UNDECIDED, dtype=np.int8)))
            self._all_allowed = False

    async def _decide(self, rows: Sequence[int]) -> None:
        """Decide on some rows of the book; a signature unknown to the store is denied."""
        contents, row_of = await self._closure(rows)
        known = {row: each for row, each in contents.items() if each}
        resources = list(dict.fromkeys(each.resource for each in known.values()))
        answers = dict(zip(resources, await self._gate.permits(resources), strict=True))
        decided = dict.fromkeys(contents, DENIED)
        certain = set[int]()
        """Rows that are visible; whether an entity of another visible type is, is decided when it is met."""
        for row in sorted(known, key=lambda row: _depth(known[row])):
            each, permit = known[row], answers[known[row].resource]
            if not each.evidence and not each.influences:
                decided[row] = ALLOWED if permit else DENIED
            elif permit or each.typed:
                seen = {code for code in (*each.evidence, *each.influences) if row_of[code] in certain}
                verdict = _verdict(each.evidence, seen, influences=each.influences)
                decided[row] = verdict if permit or verdict == PARTIAL else DENIED
            if decided[row] == ALLOWED or (decided[row] == PARTIAL and not each.typed):
                certain.add(row)
            if each.kind is ElementKind.MEMORY:
                self._answers[each.resource] = permit
        self._extend()
        self._decided = self._decided.copy()  # it may be the cached array
        self._decided[list(decided)] = list(decided.values())
        self._all_allowed = bool(self._decided.min() == ALLOWED)
        if self._question is not None:
            remembered = self._book.table.remembered
            remembered[self._question] = np.where(self._decided == ALLOWED, self._decided, np.int8(UNDECIDED))
            drop_oldest(remembered)

    async def _closure(self, rows: Iterable[int]) -> tuple[dict[int, Signature | None], dict[int, int]]:
        """The content of some rows and of all that they depend on, and the rows of the codes that they name."""
        contents: dict[int, Signature | None] = {}
        row_of: dict[int, int] = {}
        waiting = set(rows)
        while waiting:
            found = {row: self._book.table.contents[row] for row in waiting}
            contents |= found
            named = {code for each in found.values() if each for code in (*each.evidence, *each.influences)}
            if codes := sorted(named - row_of.keys()):
                (named_rows,) = await self._book.rows(np.array(codes, dtype=np.int64))
                row_of |= zip(codes, named_rows.tolist(), strict=True)
            waiting = set(row_of.values()) - contents.keys()
        return contents, row_of

    async def _permits(self, memories: Sequence[Memory]) -> Sequence[bool]:
        resources = [memory_signature(memory).resource for memory in memories]
        fresh = [each for each in dict.fromkeys(resources) if each not in self._answers]
        self._answers.update(zip(fresh, await self._gate.permits(fresh), strict=True))
        return [self._answers[each] for each in resources]


class ElementDecider(Decider):
    """Decides once per element: policies read names, ids or tags."""

    def __init__(self, store: GraphStore, gate: BoundGate, book: SignatureInterner) -> None:
        super().__init__(store, gate, book)
        self._known: dict[ElementKind, dict[Any, int]] = {kind: {} for kind in ElementKind}
        """Verdicts by key."""

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts:
        """By key. Elements absent from the store are denied.

        A relation that was folded from several memories is at most `PARTIAL`, since not all of them are examined here.
        """
        if kind is ElementKind.MEMORY:
            ids = self._store.memory_ids(keys)
            permitted = await self.memories(ids)
            return np.array([ALLOWED if permitted.get(id_) else DENIED for id_ in ids], dtype=np.int8)
        known, wanted = self._known[kind], keys.tolist()
        if unread := {key: row for row, key in enumerate(wanted) if key not in known}:
            known.update(zip(unread, await self._decide(kind, keys[list(unread.values())]), strict=True))
        decided = np.array([known[key] for key in wanted], dtype=np.int8)
        if kind is ElementKind.ENTITY:  # its name and type may be those of hidden memories: it is decided as visible
            return np.where(self._book.table.attested.take(signatures), np.int8(PARTIAL), decided)
        return np.where(self._book.table.shared.take(signatures), np.minimum(decided, PARTIAL), decided)

    async def _decide(self, kind: ElementKind, keys: Keys) -> Sequence[int]:
        store = self._store
        ids = store.entity_ids(keys) if kind is ElementKind.ENTITY else store.relation_ids(keys)
        found: Sequence[Entity | Relation] = await store.elements(kind, keys)
        answers = await self._gate.permits([resource_of(each) for each in found])
        evidence: dict[UUID, Sequence[str]] = {
            each.id: each.evidence if isinstance(each, Relation) else ()
            for each, allow in zip(found, answers, strict=True)
            if allow
        }
        permitted = await self.memories(list(chain.from_iterable(evidence.values())))
        seen = {memory for memory, allow in permitted.items() if allow}
        verdicts = {id_: _verdict(cited, seen) for id_, cited in evidence.items()}
        return [verdicts.get(id_, DENIED) for id_ in ids]


_KINDS: Final = (ElementKind.MEMORY, ElementKind.ENTITY, ElementKind.RELATION)


def _depth(signature: Signature) -> tuple[int, bool]:
    """Signatures depend only on those of a lesser depth; those of merged entities depend on none."""
    return _KINDS.index(signature.kind), bool(signature.evidence or signature.influences)


def _verdict(evidence: Collection[Any], seen: set[Any], *, influences: Collection[Any] = ()) -> int:
    """The verdict on an element that is itself permitted."""
    if seen.issuperset(evidence) and seen.issuperset(influences):
        return ALLOWED
    return DENIED if evidence and seen.isdisjoint(evidence) else PARTIAL


@attrs.frozen(eq=False)
class Decided:
    """An expansion with the verdict on each of its rows."""

    rows: Expansion
    signatures: Rows
    """The relation's signature, as its row in the `SignatureInterner`."""
    verdicts: Verdicts | None
    """None if all are `ALLOWED`."""

    @property
    def allowed(self) -> Mask | None:
        """Rows that are visible and whose far end holds; None if all are."""
        if self.verdicts is None:
            return self.rows.far_holds
        seen: Mask = self.verdicts != DENIED
        return self.rows.holding & seen

    @property
    def partial(self) -> Mask | None:
        """Rows with partly hidden evidence; None if there are none."""
        if self.verdicts is None:
            return None
        found: Mask = self.verdicts == PARTIAL
        return found if found.any() else None

    def keep(self, rows: Mask | Rows) -> Decided:
        """The rows that a mask or an index selects, in their order."""
        verdicts = None if self.verdicts is None else self.verdicts[rows]
        return Decided(self.rows.keep(rows), self.signatures[rows], verdicts)

    @staticmethod
    def concatenate(parts: list[Decided]) -> Decided:
        """Concatenate the rows of several. ``parts`` must not be empty."""
        if len(parts) == 1:
            return parts[0]
        verdicts = [each_allowed(len(part.rows)) if part.verdicts is None else part.verdicts for part in parts]
        return Decided(
            Expansion.concatenate([part.rows for part in parts]),
            np.concatenate([part.signatures for part in parts]),
            np.concatenate(verdicts),
        )


def runs_to_widen(found: Decided, limit: int) -> Rows:
    """The starts of those runs that were cut at ``limit`` and of which a row is hidden, at least in part."""
    run, rows = _runs(found.rows), found.rows
    doubtful = np.zeros(len(rows), np.bool_) if found.partial is None else found.partial
    if found.allowed is not None:
        doubtful = doubtful | ~found.allowed
    wider = (np.bincount(run) == limit) & (np.bincount(run, doubtful) > 0)
    starts: Rows = np.unique(rows.start[wider.take(run)])
    return starts


def strongest(found: Decided, priors: Floats, limit: int) -> Decided:
    """The ``limit`` strongest visible rows of each run, by their corrected confidence; ``priors`` are of signatures."""
    if found.allowed is not None:
        found = found.keep(found.allowed)
    run, weight = _runs(found.rows), found.rows.confidence * priors.take(found.signatures)
    found = found.keep(np.lexsort((found.rows.relations, -weight, run)))
    return found.keep(np.arange(len(run)) - np.searchsorted(run, run) < limit)


def _runs(rows: Expansion) -> Rows:
    """The run of each row: a run shares a start and a direction."""
    begins = np.zeros(len(rows), np.intp)
    begins[1:] = (rows.start[1:] != rows.start[:-1]) | (rows.outgoing[1:] != rows.outgoing[:-1])
    return np.cumsum(begins)
