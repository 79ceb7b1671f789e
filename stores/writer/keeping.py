"""What is kept beside elements: links, marks, logs of what was shown, outcomes, health, proposals, a model's name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.errors import EmbeddingModelError, ForeignSessionError
from graphsearch.model import (
    ElementKind,
    ElementRef,
    FeedbackReport,
    HealthRecord,
    Injection,
    MemoryLink,
    Outcome,
    OutcomeRecord,
    validation,
)
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.model.stored import StoredOutcome, key_of
from graphsearch.protocols import Store
from graphsearch.protocols.rows import Entry, Port, Weighed

Pair = tuple[UUID, UUID]
HEALTH_RECORDS: Final = 16
"""Most records of health that a scope keeps."""
_GROWN: Final = 1.25
"""How many times as many memories as the record before it a record of health has, unless it is the last."""


@asynccontextmanager
async def beside(store: Store, *, create: bool = False, alone: bool = True) -> AsyncIterator[Port]:
    """One transaction of a store that changes no element."""
    async with store.writing(create=create, alone=alone) as port:
        yield port
        await port.finish({})


class Keeping(Store):
    """What a graph keeps beside its elements."""

    # -- links and marks -------------------------------------------------------------------------------------------

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; return the number of new links. `InvalidInputError` names every memory that does not exist."""
        given, now = {key_of(each): each for each in links}, self.clock.now()
        ends = {end for each in links for end in (each.from_id, each.to_id)}
        async with beside(self) as port:
            absent = ends.difference(row.key for row in await port.rows("memory", ends))
            validation.refuse("links", *(f"no memory {key!r}" for key in sorted(absent)))
            for row in await port.rows("link", given):
                del given[row.key]
            dated = (each if each.created_at else attrs.evolve(each, created_at=now) for each in given.values())
            await port.put("link", [Entry(key_of(each), each) for each in dated], {})
        return len(given)

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, without repeats, by (from, to, type)."""
        found = await self.rows_by("link", "memory", memory_ids)
        return [row.value for row in sorted(found, key=lambda row: row.key)]

    async def mark_distinct(self, pairs: Sequence[Pair], *, distinct: bool = True) -> int:
        """Mark pairs of entities as distinct, not duplicates, or remove the mark; return the number of changed marks.

        `InvalidInputError` names every entity that does not exist, and every pair of an entity with itself.
        """
        ends, marks = {end for pair in pairs for end in pair}, _ordered(pairs)
        async with beside(self) as port:
            absent = ends.difference(row.key for row in await port.rows("entity", ends))
            alone = {one for one, other in pairs if one == other}
            validation.refuse(
                "pairs",
                *(f"no entity {key}" for key in sorted(absent)),
                *(f"entity {one} is paired with itself" for one in sorted(alone)),
            )
            marked = {row.key for row in await port.rows("distinct", marks)}
            changed = [pair for pair in marks if (pair in marked) is not distinct]
            if distinct:
                await port.put("distinct", [Entry(pair, None) for pair in changed], {})
            else:
                await port.drop("distinct", changed, {})
        return len(changed)

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[Pair]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        return sorted(row.key for row in await self.rows_by("distinct", "entity", entity_ids))

    # -- sessions --------------------------------------------------------------------------------------------------

    async def log_injection(self, injection: Injection) -> None:
        """Record the elements surfaced to a session; recording the same id again changes nothing.

        The first injection of a session opens it for its principal: of several principals who try at the same moment,
        one does. Raises `ForeignSessionError` for an injection of another principal, and records nothing of it. A
        session keeps its owner until the scope is removed, even when all that was surfaced to it is forgotten.
        """
        async with beside(self, alone=False) as port:
            opened = await port.rows("session", [injection.session_id])
            logged = await port.rows("injection", [injection.id])
            if not opened and not logged:  # another transaction may open it at the same time
                opened = [await port.add("session", Entry(injection.session_id, injection.principal))]
            if opened and opened[0].value != injection.principal:
                raise ForeignSessionError(injection.session_id)
            if not logged:
                await port.add("injection", Entry(injection.id, injection))

    async def injections(self, session_id: str) -> Sequence[Injection]:
        """The recorded injections of a session, oldest first; all are of the principal who opened it."""
        found = [row.value for row in await self.rows_by("injection", "session", [session_id])]
        return sorted(found, key=lambda each: (each.created_at, each.id))

    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        """Move the feedback weights of elements, exactly once per (session, element).

        A first outcome y changes the weight w to α·y + (1 − α)·w, an exponentially weighted mean with α = 0.1. A later
        outcome of the same session replaces the first, as if it had been the only one: at the place seq among n it
        changes w by α·(1 − α)^(n − seq)·(y − the first).

        ``logged`` are the ids of the injections that surfaced them. Where one of these is not in the session's log, the
        scope was removed and made anew since the log was read: nothing moves, and all elements are missing.
        """
        at = cache(lambda seq: StoredOutcome(session_id=session_id, seq=seq, outcome=outcome))
        wanted = sorted(set(elements))
        became: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
        async with beside(self) as port:
            log = {row.key for row in await port.rows("injection", logged) if row.value.session_id == session_id}
            if not log.issuperset(logged):
                return FeedbackReport(missing=tuple(wanted))
            outcomes, known, moved = list[Entry](), dict[Any, Any](), dict[ElementKind, dict[Any, tuple[float, int]]]()
            for kind in sorted(ElementKind):
                refs = {ref.key: ref for ref in reversed(wanted) if ref.kind is kind}
                weighed = await port.weighed(kind, refs, session_id) if refs else {}
                for id_, ref in reversed(refs.items()):
                    if (own := weighed.get(id_)) is None:
                        became["missing"].append(ref)
                        continue
                    key, given = (str(kind), str(id_), session_id), own.given
                    if given is not None and given.outcome is outcome:
                        became["repeated"].append(ref)
                        continue
                    became["applied" if given is None else "replaced"].append(ref)
                    weight, seq = _moved(own, outcome, port.scope.alpha)
                    moved.setdefault(kind, {})[id_] = (weight, max(own.number, seq))
                    known |= {} if given is None else {key: given}
                    outcomes.append(Entry(key, at(seq)))
            # An outcome of nothing is refused too where nothing can be written.
            for kind, weights in (moved or {ElementKind.MEMORY: {}}).items():
                await port.weigh(kind, weights)
            await port.put("outcome", outcomes, known)
        applied, replaced, repeated, missing = (tuple(found) for found in became.values())
        return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The outcomes that moved the weights of elements, by (element, seq)."""
        of = {(str(each.kind), str(each.key)): each for each in sorted(set(elements), reverse=True)}
        found = [
            OutcomeRecord(element=of[row.key[:2]], **attrs.asdict(row.value, recurse=False))
            for row in await self.rows_by("outcome", "element", of)
        ]
        return sorted(found, key=lambda each: (each.element, each.seq))

    # -- the scope -------------------------------------------------------------------------------------------------

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        """Declare the model of the scope's vectors; `EmbeddingModelError` if it already has another model."""
        refuse_model(name, dimensions)
        async with beside(self, create=True) as port:
            scope = port.scope
            if scope.embedder is None:
                scope.embedder, scope.dimensions = name, dimensions
            elif (scope.embedder, scope.dimensions) != (name, dimensions):
                raise EmbeddingModelError(
                    f"scope {self.scope} holds vectors of {scope.embedder!r} ({scope.dimensions} numbers), not of "
                    f"{name!r} ({dimensions}): use that model, or write to another scope"
                )

    async def health_history(self) -> Sequence[HealthRecord]:
        """What `record_health` has stored, the oldest first; the last one is the present health."""
        return (await self.scope_row()).health

    async def record_health(self, record: HealthRecord) -> None:
        """Store the health that a graph has now.

        At most `HEALTH_RECORDS` are kept, each of at least 1.25 times as many memories as the one before, or fewer; the
        last one is replaced until it is.
        """
        async with beside(self) as port:
            known = list(port.scope.health)
            if len(known) > 1 and known[-2].memories <= known[-1].memories < _GROWN * known[-2].memories:
                known.pop()
            port.scope.health = tuple([*known, record][-HEALTH_RECORDS:])

    # -- proposals -------------------------------------------------------------------------------------------------
    # They lie beside the graph: no other read shows or counts them, and `records` leaves them out. They are removed
    # with their scope alone; forgetting does not reach the request of one that waits.

    async def propose(self, proposal: Proposal) -> None:
        """Store a new proposal, in a scope that is created if it does not exist; one of a known id changes nothing."""
        async with beside(self, create=True, alone=False) as port:
            await port.add("proposal", Entry(proposal.id, proposal))

    async def proposals(
        self,
        ids: Sequence[UUID] | None = None,
        *,
        state: ProposalState | None = None,
        after: UUID | None = None,
        limit: int = 1_000,
    ) -> Sequence[Proposal]:
        """Proposals, the oldest first: of some ids, in a state, and after the one with the id ``after``."""
        validation.refuse("page", validation.number("limit", limit, 0))
        async with self.snapshot():
            last = await self.rows("proposal", [] if after is None else [after])
            place = _age(last[0].value) if last else None
            if after is not None and place is None:
                return []
            if ids is None:
                return [row.value for row in await self.page("proposal", after=place, limit=limit, state=state)]
            found = [row.value for row in await self.rows("proposal", ids)]
        kept = [each for each in found if state in (None, each.state) and (place is None or _age(each) > place)]
        return sorted(kept, key=_age)[:limit]

    async def decide(self, before: Proposal, after: Proposal) -> bool:
        """Put ``after`` in the place of ``before``, if that is still in its state of the same time; return whether.

        Of several who decide at once one does.
        """
        async with beside(self) as port:
            stored = {row.key: row for row in await port.rows("proposal", [before.id])}
            same = [row for row in stored.values() if _since(row.value) == _since(before)]
            if same:
                await port.put("proposal", [Entry(before.id, after)], stored)
        return bool(same)


def refuse_model(name: str, dimensions: int) -> None:
    """Raise `InvalidInputError` for a model without a name, or with an impossible number of dimensions."""
    validation.refuse("embedder", validation.text("name", name), validation.dimensions("dimensions", dimensions))


def _moved(own: Weighed, outcome: Outcome, alpha: float) -> tuple[float, int]:
    """The weight of an element after an outcome of a session, and that one's place among all, from 1."""
    given = own.given
    seq, before = (own.number + 1, own.weight) if given is None else (given.seq, given.outcome.value)
    step = alpha * (1 - alpha) ** max(own.number - seq, 0) * (outcome.value - before)
    return min(max(own.weight + step, 0.0), 1.0), seq  # rounding may exceed the bounds


def _ordered(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs without duplicates, the lower id first, in order."""
    return sorted({(one, other) if one < other else (other, one) for one, other in pairs})


def _age(proposal: Proposal) -> tuple[datetime, UUID]:
    return proposal.created_at, proposal.id


def _since(proposal: Proposal) -> tuple[ProposalState, datetime | None]:
    return proposal.state, proposal.decided_at
