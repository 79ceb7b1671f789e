"""What is kept beside elements: links, marks, logs of what was shown, outcomes, health, proposals, a model's name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.errors import EmbeddingModelError, ForeignSessionError
from graphsearch.model import (
    ElementRef,
    HealthRecord,
    Injection,
    MemoryLink,
    OutcomeRecord,
    Scope,
    validation,
)
from graphsearch.model.proposals import Proposal, ProposalState
from graphsearch.model.stored import key_of
from graphsearch.protocols.rows import Entry, Port, Rows

Pair = tuple[UUID, UUID]
HEALTH_RECORDS: Final = 16
"""Most records of health that a scope keeps."""
_GROWN: Final = 1.25
"""How many times as many memories as the record before it a record of health has, unless it is the last."""


# -- links and marks -----------------------------------------------------------------------------------------------


async def link_memories(port: Port, links: Sequence[MemoryLink], now: datetime) -> int:
    """Link memories; return the number of new links (`GraphStore.link_memories`)."""
    given = {key_of(each): each for each in links}
    ends = {end for each in links for end in (each.from_id, each.to_id)}
    absent = ends.difference(row.key for row in await port.rows("memory", ends))
    validation.refuse("links", *(f"no memory {key!r}" for key in sorted(absent)))
    for row in await port.rows("link", given):
        del given[row.key]
    dated = (each if each.created_at else attrs.evolve(each, created_at=now) for each in given.values())
    await port.put("link", [Entry(key_of(each), each) for each in dated], {})
    await port.finish({})
    return len(given)


async def memory_links(rows: Rows, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
    """Links from and to any of the memories (`GraphStore.memory_links`)."""
    found = await rows.rows_by("link", "memory", memory_ids)
    return [row.value for row in sorted(found, key=lambda row: row.key)]


async def mark_distinct(port: Port, pairs: Sequence[Pair], *, distinct: bool = True) -> int:
    """Mark pairs of entities as distinct, or remove the mark; return how many changed (`GraphStore.mark_distinct`)."""
    ends = {end for pair in pairs for end in pair}
    absent = ends.difference(row.key for row in await port.rows("entity", ends))
    validation.refuse(
        "pairs",
        *(f"no entity {key}" for key in sorted(absent)),
        *(f"entity {one} is paired with itself" for one in sorted({one for one, other in pairs if one == other})),
    )
    marks = _ordered(pairs)
    marked = {row.key for row in await port.rows("distinct", marks)}
    changed = [pair for pair in marks if (pair in marked) is not distinct]
    if distinct:
        await port.put("distinct", [Entry(pair, None) for pair in changed], {})
    else:
        await port.drop("distinct", changed, {})
    await port.finish({})
    return len(changed)


async def distinct_pairs(rows: Rows, entity_ids: Sequence[UUID]) -> Sequence[Pair]:
    """Pairs marked as distinct with any of the entities (`GraphStore.distinct_pairs`)."""
    return sorted(row.key for row in await rows.rows_by("distinct", "entity", entity_ids))


def _ordered(pairs: Iterable[Pair]) -> list[Pair]:
    """Pairs without duplicates, the lower id first, in order."""
    return sorted({(one, other) if one < other else (other, one) for one, other in pairs})


# -- sessions ------------------------------------------------------------------------------------------------------


async def log_injection(port: Port, injection: Injection) -> None:
    """Record the elements surfaced to a session (`GraphStore.log_injection`); does not need the scope's lock."""
    opened = await port.rows("session", [injection.session_id])
    logged = await port.rows("injection", [injection.id])
    if not opened and not logged:  # another transaction may open it at the same time
        opened = [await port.add("session", Entry(injection.session_id, injection.principal))]
    if opened and opened[0].value != injection.principal:
        raise ForeignSessionError(injection.session_id)
    if not logged:
        await port.add("injection", Entry(injection.id, injection))
    await port.finish({})


async def injections(rows: Rows, session_id: str) -> Sequence[Injection]:
    """The recorded injections of a session, oldest first (`GraphStore.injections`)."""
    found = [row.value for row in await rows.rows_by("injection", "session", [session_id])]
    return sorted(found, key=lambda each: (each.created_at, each.id))


async def outcomes(rows: Rows, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
    """The outcomes that moved the weights of elements, by (element, seq) (`GraphStore.outcomes`)."""
    of = {(str(each.kind), str(each.key)): each for each in sorted(set(elements), reverse=True)}
    found = [
        OutcomeRecord(element=of[row.key[:2]], **attrs.asdict(row.value, recurse=False))
        for row in await rows.rows_by("outcome", "element", of)
    ]
    return sorted(found, key=lambda each: (each.element, each.seq))


# -- health, proposals and the model ---------------------------------------------------------------------------------


async def record_health(port: Port, record: HealthRecord) -> None:
    """Store the health that a graph has now (`GraphStore.record_health`).

    It takes the place of the last record if the graph has hardly grown before.
    """
    known = list(port.scope.health)
    if len(known) > 1 and known[-2].memories <= known[-1].memories < _GROWN * known[-2].memories:
        known.pop()
    port.scope.health = tuple([*known, record][-HEALTH_RECORDS:])
    await port.finish({})


async def propose(port: Port, proposal: Proposal) -> None:
    """Store a new proposal (`GraphStore.propose`); does not need the scope's lock."""
    await port.add("proposal", Entry(proposal.id, proposal))
    await port.finish({})


async def proposals(
    rows: Rows,
    ids: Collection[UUID] | None = None,
    *,
    state: ProposalState | None = None,
    after: UUID | None = None,
    limit: int = 1_000,
) -> Sequence[Proposal]:
    """Proposals, the oldest first (`GraphStore.proposals`)."""
    validation.refuse("page", validation.number("limit", limit, 0))
    place = None
    if after is not None:
        last = await rows.rows("proposal", [after])
        if not last:
            return []
        place = _age(last[0].value)
    if ids is None:
        return [row.value for row in await rows.page("proposal", after=place, limit=limit, state=state)]
    found = [row.value for row in await rows.rows("proposal", ids)]
    kept = [each for each in found if state in (None, each.state) and (place is None or _age(each) > place)]
    return sorted(kept, key=_age)[:limit]


async def decide(port: Port, before: Proposal, after: Proposal) -> bool:
    """Put a proposal in the place of another, if that is still in its state of the same time (`GraphStore.decide`)."""
    stored = {row.key: row for row in await port.rows("proposal", [before.id])}
    same = [row for row in stored.values() if _since(row.value) == _since(before)]
    if same:
        await port.put("proposal", [Entry(before.id, after)], stored)
    await port.finish({})
    return bool(same)


def _since(proposal: Proposal) -> tuple[ProposalState, datetime | None]:
    return proposal.state, proposal.decided_at


def _age(proposal: Proposal) -> tuple[datetime, UUID]:
    return proposal.created_at, proposal.id


async def bind_embedder(port: Port, scope: Scope, name: str, dimensions: int) -> None:
    """Declare the model of the scope's vectors (`GraphStore.bind_embedder`)."""
    refuse_model(name, dimensions)
    held = port.scope.embedder
    if held is None:
        port.scope.embedder, port.scope.dimensions = name, dimensions
    elif (held, port.scope.dimensions) != (name, dimensions):
        raise EmbeddingModelError(
            f"scope {scope} holds vectors of {held!r} ({port.scope.dimensions} numbers), not of {name!r} "
            f"({dimensions}): use that model, or write to another scope"
        )
    await port.finish({})


def refuse_model(name: str, dimensions: int) -> None:
    """Raise `InvalidInputError` for a model without a name, or with an impossible number of dimensions."""
    validation.refuse("embedder", validation.text("name", name), validation.dimensions(dimensions))
