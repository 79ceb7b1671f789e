"""The gatekeeper of one question: decides on columns of elements what may be seen, with as few requests as possible.

It decides once per signature if policies read no more than that, else once per element; inside one snapshot, and no
decision twice. Verdicts are ordered: the minimum of several is the verdict on all of them together.

An entity that exists through its mentions alone exists for a principal that sees one of them. It is named, typed and
known by what visible memories and entities attest: what is shown of it is what would be stored if its hidden memories
were forgotten (`graphsearch.claims.naming`).
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from itertools import accumulate, chain, pairwise
from typing import Any, Final, TypeAlias
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch._support.concurrency import aside
from graphsearch._support.paging import pages
from graphsearch.access.gate import BoundGate, StatisticsOf, resource_of
from graphsearch.claims.naming import (
    QUALIFIED_TYPES,
    fold_aliases,
    folded_name,
    forgotten_name,
    is_typed_by_mentions,
    known_types,
)
from graphsearch.columns import Codes, Expansion, Floats, Keys, Mask, Rows
from graphsearch.columns.key_index import KeyIndex, distinct
from graphsearch.errors import AccessDeniedError
from graphsearch.model import (
    AssertedEntity,
    Claim,
    ElementKind,
    Entity,
    Memory,
    Mention,
    NameMatch,
    Relation,
    RelationType,
    SimilarName,
    Vector,
)
from graphsearch.model.signatures import Resource, Signature, SignatureTable, memory_signature
from graphsearch.model.validation import revised
from graphsearch.stores.graph import GraphStore
from graphsearch.text.bm25 import TermCounts, grid
from graphsearch.text.trigrams import name_words, similarity

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


KEPT_TEXTS: Final = 50_000
"""Most texts whose words are in a cache, those of all principals together. More are read anew for each question."""


@attrs.frozen(eq=False)
class VisibleDocuments:
    """The statistics of BM25 over the visible texts of one kind of elements that have a term."""

    count: int
    average: float
    """The average length, as BM25 takes it."""
    containing: Mapping[str, Collection[int]]
    """The numbers of the documents that have a term."""

    @staticmethod
    def of(documents: Iterable[Mapping[str, float]]) -> VisibleDocuments:
        """Of the frequencies of each term of the texts."""
        filled = [each for each in documents if each]
        containing: defaultdict[str, set[int]] = defaultdict(set)
        for number, each in enumerate(filled):
            for term in each:
                containing[term].add(number)
        average = grid(sum(sum(each.values()) for each in filled) / max(len(filled), 1))
        return VisibleDocuments(len(filled), average, dict(containing))

    def having(self, group: Sequence[str]) -> int:
        """The number of documents that have all of some terms, of which there may be none."""
        if not group:
            return self.count
        return len(set.intersection(*(set(self.containing.get(term, ())) for term in group)))

    def counts(self, terms: Iterable[str]) -> TermCounts:
        """The numbers that the rarity of terms is computed from."""
        return TermCounts(self.count, {term: len(self.containing.get(term, ())) for term in terms}, self.average)


class DocumentCache:
    """What principals may see of one scope at its latest version.

    Another version replaces all of it: nothing forgotten survives the next question. Cached are the answers of gates
    that know what determines their decisions (`BoundGate.question`), unless a decision failed.
    """

    def __init__(self) -> None:
        self._version: Hashable = None
        self._kept: OrderedDict[Hashable, VisibleDocuments] = OrderedDict()

    def known(self, shown: Hashable, version: Hashable) -> VisibleDocuments | None:
        """What was kept for a gate and a kind, at this version."""
        if version != self._version:
            self._kept.clear()
            self._version = version
        if shown in self._kept:
            self._kept.move_to_end(shown)
        return self._kept.get(shown)

    def keep(self, shown: Hashable, version: Hashable, found: VisibleDocuments) -> None:
        """Keep what was read at a version, unless a question has met another version since; drop the least used."""
        if version != self._version or found.count > KEPT_TEXTS:
            return
        self._kept[shown] = found
        while sum(each.count for each in self._kept.values()) > KEPT_TEXTS:
            self._kept.popitem(last=False)


_NO_CODES: Final = frozenset[int]()
_EXPLAINED: Final = 500
"""The most denied elements of a kind whose policies are counted."""
_BATCH: Final = 64
"""Elements explained between two turns of the event loop."""


class Gatekeeper:
    """Queries a gate on behalf of one question, inside one snapshot. A gate that allows everything costs nothing.

    ``allows_all``: whether the gate is known to allow every element of the scope, though it may deny others.
    """

    def __init__(
        self,
        store: GraphStore,
        gate: BoundGate,
        book: SignatureInterner,
        cache: DocumentCache | None = None,
        *,
        allows_all: bool = False,
    ) -> None:
        self.hides = not gate.allows_all
        """Whether anything may be hidden."""
        self.allows_all = allows_all or gate.allows_all
        """Whether nothing is hidden in the scope as it is."""
        self._store = store
        self.gate = gate
        self.book = book
        self.cache = cache
        kind = SignatureDecider if gate.by_signature else ElementDecider
        self._decider: Decider = kind(store, gate, book)
        self.entities = VisibleEntities(store, gate, self._decider, allows_all=self.allows_all)
        self.documents: dict[ElementKind, VisibleDocuments] = {}
        """The texts of the visible, as far as the question has read them."""
        self._denied_keys = defaultdict[ElementKind, list[Keys]](list)

    @property
    def counts_visible(self) -> bool:
        """Whether statistics cover the visible alone; where nothing is hidden, those of the scope do."""
        return self.hides and self.gate.statistics is StatisticsOf.VISIBLE

    @property
    def denied(self) -> Mapping[ElementKind, int]:
        """The number of distinct elements denied so far, by kind."""
        if self.gate.policies.allows_all:  # what was not known yet was denied by nobody
            return dict.fromkeys(ElementKind, 0)
        counts = {kind: len(np.unique(np.concatenate(columns))) for kind, columns in self._denied_keys.items()}
        return {kind: counts.get(kind, 0) for kind in ElementKind}

    async def denied_by(self) -> Mapping[str, int]:
        """How many of the first denied elements each policy hides, by itself or by the memories that they rest on."""
        counts, store = Counter[str](), self._store
        for kind, columns in self._denied_keys.items() if self.gate.policies.explains else ():
            keys = np.unique(np.concatenate(columns))[:_EXPLAINED]
            read = store.get_memories(keys.tolist()) if kind is ElementKind.MEMORY else store.elements(kind, keys)
            found: Sequence[Entity | Relation | Memory] = await read
            own = dict(zip((each.id for each in found), await self._reasons(found), strict=True))
            proofs: dict[UUID, tuple[str, ...]] = {}
            proofs |= {each.id: each.evidence for each in found if isinstance(each, Relation) and not own[each.id]}
            named = [each.id for each in found if isinstance(each, Entity) and not own[each.id]]
            for mention in await store.list_mentions(entity_ids=named) if named else ():
                proofs[mention.entity_id] = (*proofs.get(mention.entity_id, ()), mention.memory_id)
            memories = await store.get_memories(sorted(set(chain.from_iterable(proofs.values()))))
            hiding = dict(zip((each.id for each in memories), await self._reasons(memories), strict=True))
            for id_, policies in own.items():
                resting = proofs.get(id_, ()) if isinstance(id_, UUID) else ()
                counts.update(policies or {name for memory in resting for name in hiding.get(memory, ())})
        return counts

    async def _reasons(self, elements: Sequence[Entity | Relation | Memory]) -> Sequence[Sequence[str]]:
        """The policies that deny each element by itself."""
        reasons: list[Sequence[str]] = []
        for start in range(0, len(elements), _BATCH):
            await asyncio.sleep(0)
            resources = [resource_of(each) for each in elements[start : start + _BATCH]]
            reasons += self.gate.policies.reasons(resources) or [()] * len(resources)
        return reasons

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Codes) -> Verdicts:
        """The verdict on each element; a relation with evidence needs at least one visible memory."""
        (rows,) = await self.book.rows(signatures)
        verdicts = await self._verdicts(kind, keys, rows)
        return each_allowed(len(keys)) if verdicts is None else verdicts

    async def admitted(self, kind: ElementKind, keys: Keys, signatures: Codes) -> Mask | None:
        """Which elements may be seen; None if all of them may."""
        (rows,) = await self.book.rows(signatures)
        verdicts = await self._verdicts(kind, keys, rows)
        return None if verdicts is None or verdicts.all() else verdicts != DENIED

    async def steps(self, found: Expansion) -> Decided:
        """The verdict on each row of an expansion: that on the relation, denied if its far end is denied."""
        signatures, end_signatures = await self.book.rows(found.signatures, found.ends.signatures)
        if self.allows_all or self._decider.allows_all:
            return Decided(found, signatures, None)
        verdicts = await self._verdicts(ElementKind.RELATION, found.relations, signatures)
        if verdicts is None:
            verdicts = each_allowed(len(found))
        (shown,) = verdicts.nonzero()  # the far ends of denied relations are not decided
        met, which = distinct(found.end.take(shown))
        ends = await self._verdicts(ElementKind.ENTITY, found.ends.keys.take(met), end_signatures.take(met))
        if ends is not None:  # an entity that is shown with another name does not change what the relation states
            allowed = np.where(ends == DENIED, DENIED, ALLOWED)
            verdicts[shown] = np.minimum(verdicts[shown], allowed.take(which))
        return Decided(found, signatures, None if (verdicts == ALLOWED).all() else verdicts)

    async def refolded(self) -> frozenset[int]:
        """Codes of signatures whose relations may differ when folded from visible memories alone."""
        if self.allows_all or self.book.table.shares_none:
            return _NO_CODES
        codes = await self._store.signature_codes(shared=True)
        (rows,) = await self.book.rows(codes)
        return frozenset(codes[await self._decider.partial(rows)].tolist())

    async def sees_everything(self, *, reads: bool) -> bool:
        """Whether all elements of the scope may be seen; where signatures do not show it, only if it ``reads`` all."""
        if self.allows_all:
            return True
        if not self.gate.by_signature:
            return reads and await self._sees_each()
        (rows,) = await self.book.rows(await self._store.signature_codes(shared=False))
        verdicts = await self._decider.verdicts(ElementKind.ENTITY, rows, rows)
        return verdicts is None or bool((verdicts == ALLOWED).all())

    async def _sees_each(self) -> bool:
        for listed in (self._store.list_memories, self._store.list_entities, self._store.list_relations):
            async for page in pages(listed):
                if not all(await self.gate.permits([resource_of(each) for each in page])):
                    return False
        return True

    async def _verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts | None:
        if self.allows_all:
            return None
        verdicts = await self._decider.verdicts(kind, keys, signatures)
        if kind is ElementKind.ENTITY and verdicts is not None:
            verdicts = await self._as_visible(keys, signatures, verdicts)
        if verdicts is not None and not verdicts.all():
            denied = keys[verdicts == DENIED]
            if kind is ElementKind.MEMORY:  # ids, as in `visible_memories`, since both may deny the same memory
                denied = np.array(self._store.memory_ids(denied), dtype=np.object_)
            self._denied_keys[kind].append(denied)
        return verdicts

    async def _as_visible(self, keys: Keys, signatures: Rows, verdicts: Verdicts) -> Verdicts:
        """The verdicts on entities; those that hidden memories may have named or typed are decided as shown."""
        partial = verdicts == PARTIAL
        self.entities.partial.update(self._store.entity_ids(keys[partial]))
        if self.gate.by_signature:  # an entity of a given type is denied or not, whatever its name
            partial &= self.book.table.typed.take(signatures)
        if not partial.any():
            return verdicts
        ids = self._store.entity_ids(keys[partial])
        shown = {each.id for each in await self.entities.shown(await self._store.get_entities(ids))}
        decided = verdicts.copy()
        decided[partial] = [PARTIAL if id_ in shown else DENIED for id_ in ids]
        return decided

    async def admits(self, elements: Sequence[Relation | Memory]) -> Sequence[bool]:
        """Whether each single element is permitted, regardless of its evidence and its ends."""
        return await self.gate.permits([resource_of(element) for element in elements])

    async def admitted_claims(self, claims: Sequence[Claim]) -> list[Claim]:
        """The claims whose relations are permitted by their types and, where policies read them, by their ends."""
        ends = "" if self.gate.by_signature else "source_id target_id"
        keys = [tuple(getattr(each, name) for name in f"type kind {ends}".split()) for each in claims]
        stated = {
            key: Relation(source_id=each.source_id, type=each.type, target_id=each.target_id, kind=each.kind)
            for key, each in zip(keys, claims, strict=True)
        }
        permitted = dict(zip(stated, await self.admits(list(stated.values())), strict=True))
        return [each for key, each in zip(keys, claims, strict=True) if permitted[key]]

    async def visible_memories(self, ids: Sequence[str]) -> set[str]:
        """The visible ones of some memories; behind a gate, only those that exist."""
        if not ids or self.allows_all:
            return set(ids)
        permitted = await self._decider.memories(ids)
        denied = [id_ for id_, allow in permitted.items() if not allow]
        self._denied_keys[ElementKind.MEMORY].append(np.array(denied, dtype=np.object_))
        return {id_ for id_, allow in permitted.items() if allow}


# -- entities as they are visible --------------------------------------------------------------------------------------

_READ: Final = 8
"""Memories read of each surface form at first: usually one of them is visible."""
_WIDER: Final = 8
"""The factor by which each further round reads more."""
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_NO_NAMES: Final = frozenset[str]()


@attrs.frozen
class _FirstWritten:
    """When the first memory that mentions an entity was written, and the first visible one, None if none is."""

    of_all: datetime
    visible: datetime | None


@attrs.frozen
class _Attested:
    """The names that memories and merged entities give to an entity, and its visible mentions where they are read."""

    visible: frozenset[str]
    """Surface forms in visible memories."""
    hidden: frozenset[str]
    """Surface forms in hidden memories alone."""
    absorbed: frozenset[str] = _NO_NAMES
    """Visible names of entities merged into it."""
    mentions: tuple[Mention, ...] = ()
    """The visible ones, the earliest first."""
    whole: bool = True
    """Whether all of the memories that mention it are read, and visible."""
    first: _FirstWritten | None = None
    """Of the memories that mention it, where not all are visible."""

    @property
    def by_nobody(self) -> bool:
        """Whether all of its mentions are hidden; a merged entity has some of its own, which the other has too."""
        return self.first is not None and self.first.visible is None


class VisibleEntities:
    """The visible forms of entities, for one question; each is read once."""

    def __init__(self, store: GraphStore, gate: BoundGate, decider: Decider, *, allows_all: bool) -> None:
        self._store = store
        self._gate = gate
        self._decider = decider
        self._allows_all = allows_all
        self._folded: dict[UUID, Entity | None] = {}
        """By id; None where all mentions of an entity that exists through them are hidden."""
        self._allowed: dict[UUID, bool] = {}
        self.partial = set[UUID]()
        """Visible entities that were met, of which some mentions may be hidden."""

    async def admitted(self, entities: Sequence[Entity]) -> list[Entity]:
        """The visible forms of entities that were admitted by their signatures, one for each."""
        if not self.partial:
            return list(entities)
        await self._fold([each for each in entities if each.id in self.partial])
        shown = [self._folded[each.id] if each.id in self.partial else each for each in entities]
        found = [each for each in shown if each is not None]
        if len(found) < len(entities):  # two decisions of the authorizer contradict each other
            raise AccessDeniedError(self._gate.action.value)
        return found

    async def shown(self, entities: Sequence[Entity]) -> list[Entity]:
        """The visible ones of any stored entities, in order, in their visible forms."""
        if self._allows_all:
            return list(entities)
        await self._fold(entities)
        folded = [found for each in entities if (found := self._folded[each.id])]
        undecided = list({each.id: each for each in folded if each.id not in self._allowed}.values())
        answers = await self._gate.permits([resource_of(each) for each in undecided])
        self._allowed.update((each.id, allow) for each, allow in zip(undecided, answers, strict=True))
        return [each for each in folded if self._allowed[each.id]]

    # -- the fold ------------------------------------------------------------------------------------------------

    async def _fold(self, entities: Iterable[Entity]) -> None:
        unread = list({each.id: each for each in entities if each.id not in self._folded}.values())
        if not unread:
            return
        given = {each.entity.id: each for each in await self._store.asserted([each.id for each in unread])}
        attested = await self._attested(unread, given)
        for each in unread:
            self._folded[each.id] = _visible(each, given[each.id], attested[each.id])

    async def _attested(
        self, entities: Sequence[Entity], given: Mapping[UUID, AssertedEntity]
    ) -> Mapping[UUID, _Attested]:
        roots = await self._roots(entities)
        found = await self._surfaces(sorted(set(roots.values())))
        absorbed = await self._absorbed([each.id for each in entities])
        attested = {each.id: attrs.evolve(found[roots[each.id]], absorbed=absorbed[each.id]) for each in entities}
        unclear = [each for each in entities if _needs_mentions(each, given[each.id], attested[each.id])]
        mentions = await self._mentions(sorted({roots[each.id] for each in unclear}))
        for each in unclear:
            attested[each.id] = attrs.evolve(attested[each.id], mentions=tuple(mentions[roots[each.id]]))
        dated = [each.id for each in entities if given[each.id].named and not attested[each.id].whole]
        first = await self._first_written(sorted(dated))
        for id_ in dated:
            attested[id_] = attrs.evolve(attested[id_], first=first.get(id_))
        return attested

    async def _roots(self, entities: Sequence[Entity]) -> dict[UUID, UUID]:
        """Of each entity the one that it was finally merged into, which has its mentions."""
        above = {each.id: each.merged_into for each in entities}
        while missing := {key for key in above.values() if key and key not in above}:
            above |= {each.id: each.merged_into for each in await self._store.get_entities(sorted(missing))}
        roots = {}
        for each in entities:
            root = each.id
            while further := above.get(root):
                root = further
            roots[each.id] = root
        return roots

    async def _surfaces(self, ids: Sequence[UUID]) -> Mapping[UUID, _Attested]:
        """The surface forms of entities, by whether a visible memory has them.

        One visible memory per surface form is enough, so that few are read first, and more if these are all hidden.
        """
        visible, forms = defaultdict[UUID, set[str]](set), defaultdict[UUID, set[str]](set)
        unread, limit, parts = ids, _READ, set[UUID]()
        while unread:
            found = await self._store.surface_forms(unread, limit=limit)
            waiting = [each for each in found if each.surface not in visible[each.entity_id]]
            seen = await self._decider.memories(sorted({id_ for each in waiting for id_ in each.memory_ids}))
            for each in waiting:
                forms[each.entity_id].add(each.surface)
                if any(seen.get(memory) for memory in each.memory_ids):
                    visible[each.entity_id].add(each.surface)
                if len(each.memory_ids) == limit or not all(seen.get(memory) for memory in each.memory_ids):
                    parts.add(each.entity_id)
            unread = sorted(
                {
                    each.entity_id
                    for each in waiting
                    if each.surface not in visible[each.entity_id] and len(each.memory_ids) == limit
                }
            )
            limit *= _WIDER
        return {
            id_: _Attested(frozenset(visible[id_]), frozenset(forms[id_] - visible[id_]), whole=id_ not in parts)
            for id_ in ids
        }

    async def _first_written(self, ids: Sequence[UUID]) -> Mapping[UUID, _FirstWritten]:
        """When the first memories that mention entities were written; more are read where the first are all hidden."""
        found: dict[UUID, _FirstWritten] = {}
        unread, limit = ids, _READ
        while unread:
            written = await self._store.first_written(unread, limit=limit)
            seen = await self._decider.memories(sorted({id_ for each in written.values() for _, id_ in each}))
            for entity, each in written.items():
                visible = next((at for at, id_ in each if seen.get(id_)), None)
                found[entity] = _FirstWritten(each[0][0], visible)
            unread = [id_ for id_, each in written.items() if len(each) == limit and found[id_].visible is None]
            limit *= _WIDER
        return found

    async def _absorbed(self, ids: Sequence[UUID]) -> Mapping[UUID, frozenset[str]]:
        """Names and asserted aliases of entities that were merged into others, as far as visible."""
        names: dict[UUID, frozenset[str]] = dict.fromkeys(ids, _NO_NAMES)
        merges = [each for each in await self._store.merges(ids) if each.target_id in names and each.undone_at is None]
        if not merges:
            return names
        sources = {each.id: each for each in await self._store.get_entities([merge.source_id for merge in merges])}
        answers = await self._gate.permits([resource_of(each) for each in sources.values()])
        permitted = dict(zip(sources, answers, strict=True))
        given = {each.entity.id: each for each in await self._store.asserted(list(sources))}
        attested = await self._surfaces(sorted(id_ for id_, each in given.items() if each.named))
        below = await self._absorbed(list(sources))
        for merge in merges:
            source, own = sources[merge.source_id], set[str]()
            if permitted[source.id]:
                own = {source.name, *given[source.id].entity.aliases}
                if source.id in attested and _only_hidden(source.name, attested[source.id]):
                    own.discard(source.name)
            names[merge.target_id] |= own | below[merge.source_id]
        return names

    async def _mentions(self, ids: Sequence[UUID]) -> Mapping[UUID, list[Mention]]:
        """The visible mentions of entities, the earliest first."""
        found = await self._store.list_mentions(entity_ids=ids) if ids else ()
        memory_ids = sorted({each.memory_id for each in found})
        seen = await self._decider.memories(memory_ids)
        visible = [id_ for id_ in memory_ids if seen.get(id_)]
        occurred_at = {memory.id: memory.occurred_at for memory in await self._store.get_memories(visible)}
        mentions: dict[UUID, list[Mention]] = {id_: [] for id_ in ids}
        for each in sorted(
            (each for each in found if each.memory_id in occurred_at),
            key=lambda each: _place(each, occurred_at[each.memory_id]),
        ):
            mentions[each.entity_id].append(each)
        return mentions


def _place(mention: Mention, occurred_at: datetime | None) -> tuple[datetime, str, tuple[int, int], str, str]:
    span = (mention.span.start, mention.span.end) if mention.span else (-1, -1)
    return (occurred_at or _EARLIEST, mention.memory_id, span, mention.surface, mention.type)


def _only_hidden(name: str, attested: _Attested) -> bool:
    """Whether a name occurs in hidden surface forms alone."""
    hidden = any(name in each for each in attested.hidden)
    return hidden and not any(name in each for each in attested.visible)


def _needs_mentions(entity: Entity, given: AssertedEntity, attested: _Attested) -> bool:
    """Whether the order of its mentions determines an entity's visible name, or their types its visible type."""
    hidden, visible = attested.hidden, attested.visible
    return given.named and (_typed(entity, given) or (bool(hidden) and forgotten_name(entity.name, hidden, visible)))


def _typed(entity: Entity, given: AssertedEntity) -> bool:
    """Whether an entity has a type that its mentions gave it."""
    return is_typed_by_mentions(given.entity.type, named=given.named) and entity.type != given.entity.type


def _visible(entity: Entity, given: AssertedEntity, attested: _Attested) -> Entity | None:
    """The visible form of an entity; None if it exists through hidden mentions alone."""
    if attested.by_nobody:
        return None
    type_ = _visible_type(given, attested.mentions) if _typed(entity, given) else entity.type
    name = entity.name
    if given.named and type_ not in QUALIFIED_TYPES and forgotten_name(name, attested.hidden, attested.visible):
        name = attested.mentions[0].surface
    surfaces: Collection[str] = () if type_ in QUALIFIED_TYPES else attested.visible
    aliases = fold_aliases(name, given.entity.aliases, {*surfaces, *attested.absorbed})
    return revised(entity, type=type_, name=name, aliases=aliases, created_at=_created(entity, attested.first))


def _created(entity: Entity, first: _FirstWritten | None) -> datetime | None:
    """When an entity was first mentioned; if a hidden memory did it, its first visible one."""
    stored = entity.created_at
    if stored is None or first is None or first.visible is None or first.of_all == first.visible:
        return stored
    return max(stored, first.visible) if first.of_all <= stored else stored


def _visible_type(given: AssertedEntity, mentions: Sequence[Mention]) -> str:
    """The type that the visible mentions state first; the given one if they state none."""
    stated = known_types(each.type for each in mentions)
    return next((each.type for each in mentions if each.type in stated), given.entity.type)


Forms = Mapping[UUID, Entity | None]
"""The visible ones of some entities: the visible form of each if it may differ from the stored one, else None."""
KeysOf = Callable[[str], Collection[str]]
"""What a name is found by: its words, or the whole of it."""


def whole(name: str) -> tuple[str]:
    """What a whole name is found by."""
    return (folded_name(name),)


async def visible_matches(
    matches: Sequence[NameMatch], forms: Forms, keys_of: KeysOf, *, prefix: bool = False
) -> list[NameMatch]:
    """The matches of visible entities by a visible name; each name is read once, however many matches it has."""

    def seen() -> list[NameMatch]:
        read = {
            id_: [{*keys_of(form.name)}, {key for each in form.aliases for key in keys_of(each)}]
            for id_, form in forms.items()
            if form
        }
        found = []
        for match in matches:
            if match.entity_id not in read:
                found += [match] if match.entity_id in forms else []
                continue
            (written,) = keys_of(match.name) if keys_of is whole else (match.name,)
            own = [_has(keys, written, prefix=prefix) for keys in read[match.entity_id]]
            if any(own):
                found.append(attrs.evolve(match, alias=not own[0]))
        return found

    return await aside(seen, sum(len(form.aliases) for form in forms.values() if form))


def _has(keys: Collection[str], written: str, *, prefix: bool) -> bool:
    """Whether one of some keys is a word, or begins with it."""
    return any(key.startswith(written) for key in keys) if prefix else written in keys


def are_called(entities: Sequence[Entity], names: Collection[str], words: AbstractSet[str]) -> Mask:
    """Which entities have one of some names, or one of some words in a name."""
    wanted = {(name,) for name in map(folded_name, names)}
    called = [(each.name, *each.aliases) for each in entities]
    return np.array(
        [any(whole(name) in wanted or not words.isdisjoint(name_words(name)) for name in own) for own in called],
        np.bool_,
    )


def first_matches(matches: Sequence[NameMatch], limit: int) -> list[NameMatch]:
    """The matches with the lowest ids, at most ``limit`` for each name."""
    return [matches[row] for row in first_of_each([each.name for each in matches], Counter(), limit)]


def first_of_each(names: Sequence[str], taken: Counter[str], most: int) -> list[int]:
    """The rows of at most ``most`` of each name, including those ``taken`` before."""
    rows = []
    for row, name in enumerate(names):
        if taken[name] < most:
            taken[name] += 1
            rows.append(row)
    return rows


def rare_entities(matches: Sequence[NameMatch], limit: int) -> set[UUID]:
    """The entities with one of the words that are in less than ``limit`` names."""
    having = Counter(match.name for match in matches)
    return {match.entity_id for match in matches if having[match.name] < limit}


def most_similar(name: str, stored: Sequence[SimilarName], forms: Forms, threshold: float) -> list[SimilarName]:
    """The visible ones of some entities with similar names, best first, compared by their visible names."""
    wanted, found = folded_name(name), []
    for each in stored:
        if form := forms.get(each.entity_id):
            best = max(similarity(wanted, folded_name(own)) for own in (form.name, *form.aliases))
            found.append(attrs.evolve(each, similarity=best))
        elif each.entity_id in forms:
            found.append(each)
    return sorted(
        (each for each in found if each.similarity >= threshold), key=lambda each: (-each.similarity, each.entity_id)
    )
