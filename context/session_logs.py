"""The logs of sessions: what each scope showed to a session, and the outcome on it, each scope's in its own store.

Nothing of one scope is written to another: an entry holds the elements of its scope alone, and the tokens of their
lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Final
from uuid import UUID, uuid5

from graphsearch.access.gate import Gate
from graphsearch.errors import ForeignSessionError
from graphsearch.feedback import FeedbackService
from graphsearch.model import ElementKind, ElementRef, FeedbackReport, Injection, Outcome, Principal, Scope, Triplet
from graphsearch.ranking.memories.result import RecalledMemory
from graphsearch.stores.graph import GraphStore

_INJECTION: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c03")
"""The namespace of the ids of log entries."""


class SessionLogs:
    """The logs of some scopes, one store for each."""

    def __init__(self, stores: Sequence[GraphStore]) -> None:
        self._stores = {store.scope: store for store in stores}

    async def record(
        self,
        session_id: str,
        principal: Principal,
        shown: Mapping[Scope, Sequence[ElementRef]],
        tokens: Mapping[Scope, int],
    ) -> Mapping[Scope, str]:
        """Record what a block shows, and the tokens of its lines, in the log of each scope; the id of each entry.

        Raises `ForeignSessionError`, before anything is written, where one of the logs has the session of another
        principal, and what `GraphStore.log_injection` raises.
        """
        if len(shown) > 1:
            await self._refuse_foreign(session_id, principal, [self._stores[scope] for scope in shown])
        ids = {}
        for scope, elements in shown.items():
            store = self._stores[scope]
            entry = _injection(session_id, principal, store.clock.now(), tokens[scope], elements)
            await store.log_injection(entry)
            ids[scope] = entry.id
        return ids

    async def apply(self, session_id: str, outcome: Outcome, gate: Gate) -> FeedbackReport:
        """Apply an outcome in each scope that the gate's principal may enter: see `FeedbackService.apply`."""
        entered = [store for scope, store in self._stores.items() if len(self._stores) == 1 or gate.enters(scope)]
        if len(entered) > 1:
            await self._refuse_foreign(session_id, gate.principal, entered)
        return _together([await FeedbackService(store).apply(session_id, outcome, gate=gate) for store in entered])

    async def _refuse_foreign(self, session_id: str, principal: Principal, stores: Sequence[GraphStore]) -> None:
        for store in stores:
            if any(each.principal != principal.qualified_id for each in await store.injections(session_id)):
                raise ForeignSessionError(session_id)


def _together(reports: Sequence[FeedbackReport]) -> FeedbackReport:
    """One report of several, in the order of the scopes; an element of two scopes is there twice."""
    if len(reports) == 1:
        return reports[0]

    names = ("applied", "replaced", "repeated", "missing")
    elements = {name: tuple(chain.from_iterable(getattr(each, name) for each in reports)) for name in names}
    return FeedbackReport(**elements, denied=sum(each.denied for each in reports))


def surfaced(scope: Scope, memories: Iterable[RecalledMemory], triplets: Iterable[Triplet]) -> tuple[ElementRef, ...]:
    """The shown memories of a scope, and every entity, relation and memory that triplets show or rest on there.

    In order. Results that state no scopes are of the one there is.
    """
    elements = {
        ElementRef(ElementKind.MEMORY, each.memory.id) for each in memories if scope in (each.scopes or (scope,))
    }
    for triplet in triplets:
        if scope not in (triplet.scopes or (scope,)):
            continue
        elements.update(
            (
                ElementRef(ElementKind.ENTITY, str(triplet.source.id)),
                ElementRef(ElementKind.RELATION, str(triplet.id_in(scope))),
                ElementRef(ElementKind.ENTITY, str(triplet.target.id)),
                *(
                    ElementRef(ElementKind.MEMORY, memory_id)
                    for memory_id in triplet.origins.get(scope, triplet.relation.evidence)
                ),
            )
        )
    return tuple(sorted(elements, key=lambda element: (element.kind, element.id)))


def _injection(
    session_id: str, principal: Principal, now: datetime, tokens: int, elements: Sequence[ElementRef]
) -> Injection:
    """The log entry; its id is derived from its content."""
    asked_by = principal.qualified_id
    content = [session_id, asked_by, now.isoformat(), [[element.kind, element.id] for element in elements]]
    return Injection(
        id=str(uuid5(_INJECTION, json.dumps(content))),
        session_id=session_id,
        principal=asked_by,
        created_at=now,
        tokens=tokens,
        elements=tuple(elements),
    )
