"""How a gate is asked for columns of elements: once a signature where policies read no more, else once an element.

A judge serves one question, inside one snapshot, and asks nothing twice. Its verdicts are ordered: the least of
several is the verdict on all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Keys, Rows
from graphsearch.gate import fail_closed, resource_of
from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.places import Places
from graphsearch.protocols import Gate, GraphStore
from graphsearch.signature import Signature, memory_signature
from graphsearch.signature_book import SignatureBook

Verdicts = NDArray[np.int8]

DENIED: Final = 0
PARTLY: Final = 1
"""Allowed, but some of a relation's evidence is denied."""
ALLOWED: Final = 2


class Judge(Protocol):
    """Decides on elements."""

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts:
        """A verdict for each key, its signature given as a row of the question's `SignatureBook`; a new array."""
        ...

    async def memories(self, ids: Sequence[str]) -> Mapping[str, bool]:
        """Whether each of those memories that exist may be seen."""
        ...


class Lenient:
    """Allows everything, and reads nothing."""

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts:  # noqa: ARG002
        """`ALLOWED` for each key."""
        return np.full(len(keys), ALLOWED, dtype=np.int8)

    async def memories(self, ids: Sequence[str]) -> Mapping[str, bool]:
        """True for each id."""
        return dict.fromkeys(ids, True)


class SignatureJudge:
    """Asks once a signature: policies read nothing else, so all elements of one are allowed or none."""

    def __init__(self, store: GraphStore, gate: Gate, book: SignatureBook) -> None:
        self._store = store
        self._gate = gate
        self._book = book
        self._decided: list[int] = []
        """Verdicts by row of the book."""
        self._verdicts = np.empty(0, dtype=np.int8)
        """The same as a column."""
        self._permitted: dict[Signature, bool] = {}
        """Memories' signatures."""

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts:  # noqa: ARG002
        """By signature, which tells of the kind as well."""
        if len(self._decided) < len(self._book):
            await self._decide()
        return self._verdicts.take(signatures)

    async def _decide(self) -> None:
        """Verdicts on what the book has met since; a signature that the store does not know is denied."""
        start = len(self._decided)
        while True:
            met = self._book.contents[start:]
            proved = [(row, each.evidence) for row, each in enumerate(met, start) if each and each.evidence]
            row_of = await self._rows([code for _, evidence in proved for code in evidence])
            if len(self._book) == start + len(met):  # the evidence is met too
                break
        answers = iter(await fail_closed(self._gate.permits, [each.resource for each in met if each]))
        decided = [ALLOWED if each and next(answers) else DENIED for each in met]
        self._decided[start : start + len(met)] = decided  # another task may have been faster
        for row, evidence in proved:
            if self._decided[row]:
                self._decided[row] = _verdict([self._decided[row_of[code]] != DENIED for code in evidence])
        for row in row_of.values():
            if signature := self._book.contents[row]:
                self._permitted[signature] = self._decided[row] != DENIED
        self._verdicts = np.array(self._decided, dtype=np.int8)

    async def _rows(self, evidence: Sequence[int]) -> Mapping[int, int]:
        """Rows of the book by code."""
        codes = sorted(set(evidence))
        rows = await self._book.rows(np.array(codes, dtype=np.int64)) if codes else ()
        return dict(zip(codes, map(int, rows), strict=True))

    async def memories(self, ids: Sequence[str]) -> Mapping[str, bool]:
        """By the memories' signatures."""
        found = await self._store.get_memories(list(dict.fromkeys(ids)))
        signatures = {memory.id: memory_signature(memory) for memory in found}
        fresh = [each for each in dict.fromkeys(signatures.values()) if each not in self._permitted]
        answers = await fail_closed(self._gate.permits, [signature.resource for signature in fresh])
        self._permitted.update(zip(fresh, answers, strict=True))
        return {id_: self._permitted[signature] for id_, signature in signatures.items()}


class ElementJudge:
    """Asks once an element: policies read names, ids or tags."""

    def __init__(self, store: GraphStore, gate: Gate) -> None:
        self._store = store
        self._gate = gate
        self._places: dict[ElementKind, Places] = {}
        self._verdicts = {kind: np.empty(0, dtype=np.int8) for kind in ElementKind}
        """By row of the places."""
        self._permitted: dict[str, bool] = {}
        """Memories that exist."""

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts:  # noqa: ARG002
        """By key. What the store does not have is denied."""
        if kind is ElementKind.MEMORY:
            ids = self._store.memory_ids(keys)
            permitted = await self.memories(ids)
            return np.array([ALLOWED if permitted.get(id_) else DENIED for id_ in ids], dtype=np.int8)
        places = self._places.setdefault(kind, Places(keys[:0]))
        rows, _ = places.number(keys)
        start = len(self._verdicts[kind])
        if start < len(places):
            verdicts = np.concatenate((self._verdicts[kind], await self._decide(kind, places.keys[start:])))
            if len(verdicts) > len(self._verdicts[kind]):  # else another task was faster
                self._verdicts[kind] = verdicts
        return self._verdicts[kind].take(rows)

    async def _decide(self, kind: ElementKind, keys: Keys) -> Verdicts:
        store = self._store
        ids = store.entity_ids(keys) if kind is ElementKind.ENTITY else store.relation_ids(keys)
        found: Sequence[Entity | Relation] = await (
            store.get_entities(ids) if kind is ElementKind.ENTITY else store.get_relations(ids)
        )
        answers = await fail_closed(self._gate.permits, [resource_of(each) for each in found])
        evidence: dict[UUID, Sequence[str]] = {
            each.id: each.evidence if isinstance(each, Relation) else ()
            for each, allow in zip(found, answers, strict=True)
            if allow
        }
        seen = await self.memories(list(chain.from_iterable(evidence.values())))
        verdicts = {id_: _verdict([seen.get(memory, False) for memory in cited]) for id_, cited in evidence.items()}
        return np.array([verdicts.get(id_, DENIED) for id_ in ids], dtype=np.int8)

    async def memories(self, ids: Sequence[str]) -> Mapping[str, bool]:
        """By id."""
        fresh = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._permitted]
        if fresh:
            found: Sequence[Memory] = await self._store.get_memories(fresh)
            answers = await fail_closed(self._gate.permits, [resource_of(memory) for memory in found])
            self._permitted.update(zip((memory.id for memory in found), answers, strict=True))
        return {id_: self._permitted[id_] for id_ in ids if id_ in self._permitted}


def _verdict(evidence_seen: Sequence[bool]) -> int:
    """On a relation that is itself permitted."""
    if all(evidence_seen):
        return ALLOWED
    return PARTLY if any(evidence_seen) else DENIED
