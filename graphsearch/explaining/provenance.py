"""How an element came about: the memories that state a relation, in which words; the sessions that moved its weight."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader
from graphsearch.access.references import known
from graphsearch.claims.folding import confidence_within, group_of, surest_claims
from graphsearch.errors import UnknownElementError
from graphsearch.model import ALPHA, Claim, ElementKind, ElementRef, Entity, Memory, Outcome, Relation
from graphsearch.model.identity import id_or_name
from graphsearch.stores.graph import GraphStore


@attrs.frozen(kw_only=True)
class Proof:
    """The proof of a relation by one memory.

    * ``claim``: None for a memory that was asserted as evidence without a claim.
    * ``quote``: the words of the memory that the claim was read from; empty without a span or a stored text.
    * ``extractor`` and ``pattern``: what read it, by which rule; empty if the claim does not record it.
    * ``adds``: by how much it raises the relation's confidence, after those before it. Of several claims of one memory
      the most confident counts.
    """

    memory: Memory
    claim: Claim | None
    quote: str
    extractor: str
    pattern: str
    adds: float


@attrs.frozen(kw_only=True)
class Provenance:
    """A relation, its ends, and its proofs, in the order of the fold.

    ``relation.confidence`` is 1 − Π(1 − c) over the most confident claim of each memory, co-occurrence capped at 0.65:
    the sum of what the ``proofs`` add. Without claims it is the asserted one: then ``given`` is that confidence,
    otherwise 0.
    """

    source: Entity
    relation: Relation
    target: Entity
    proofs: tuple[Proof, ...]
    given: float


async def why(relation_id: UUID, reader: Reader) -> Provenance:
    """The provenance of a relation as far as visible: hidden memories are left out, and add nothing.

    Raises `UnknownElementError` if there is no such relation, or it is hidden: the error does not distinguish the two.
    """
    relation = await reader.relation(relation_id)
    if relation is None:
        raise UnknownElementError(f"no relation {relation_id} in {reader.scope}")
    ends = {end.id: end for end in await reader.get_entities([relation.source_id, relation.target_id])}
    visible = set(relation.evidence)
    # by its group, not by its id: a hidden memory may have given it another period
    group_claims = await reader.claims(groups=[group_of(relation, reader.types)])
    claims = [claim for claim in group_claims if claim.memory_id in visible and claim.target_id == relation.target_id]
    memories = {memory.id: memory for memory in await reader.get_memories(sorted(visible))}
    silent = [
        Proof(memory=memories[id_], claim=None, quote="", extractor="", pattern="", adds=0.0)
        for id_ in sorted(memories.keys() - {claim.memory_id for claim in claims})
    ]
    return Provenance(
        source=ends[relation.source_id],
        relation=relation,
        target=ends[relation.target_id],
        proofs=(*_proofs(claims, memories), *silent),
        given=0.0 if claims else relation.confidence,
    )


def _proofs(claims: Sequence[Claim], memories: dict[str, Memory]) -> list[Proof]:
    """A proof for each claim, with what it adds."""
    surest = surest_claims(claims)
    counted: list[Claim] = []
    proofs = []
    for claim in claims:
        before = confidence_within(counted)
        if surest[claim.memory_id] is claim:
            counted.append(claim)
        proofs.append(_proof(claim, memories[claim.memory_id], confidence_within(counted) - before))
    return proofs


def _proof(claim: Claim, memory: Memory, adds: float) -> Proof:
    extractor, pattern = _read_by(claim.extractor)
    quote = memory.text[claim.span.start : claim.span.end] if claim.span else ""
    return Proof(memory=memory, claim=claim, quote=quote, extractor=extractor, pattern=pattern, adds=adds)


def _read_by(extractor: str) -> tuple[str, str]:
    """The extractor and its pattern, written "extractor:pattern"."""
    name, colon, pattern = extractor.rpartition(":")
    return (name, pattern) if colon else (extractor, "")


LATEST: Final = 50
"""The most outcomes that are listed: the log of each session is read for them."""


@attrs.frozen(kw_only=True)
class WeightChange:
    """The outcome of a session that was shown an element, and its weight then.

    * ``session_id``: empty where another principal opened the session.
    * ``shown_at``: when it was last shown the element; None where the log does not say so any more.
    """

    session_id: str
    shown_at: datetime | None
    outcome: Outcome
    weight: float


async def visible(element: ElementRef, reader: Reader) -> Entity | Relation | Memory:
    """The element, whether it passes the view or not.

    Raises `UnknownElementError` if there is none, or it is hidden: the error does not distinguish the two.
    """
    found: Entity | Relation | Memory | None
    named = id_or_name(element.id)
    match element.kind:
        case ElementKind.ENTITY:
            return await known(named, reader)
        case ElementKind.RELATION:
            found = await reader.relation(named) if isinstance(named, UUID) else None
        case ElementKind.MEMORY:
            found = await reader.memory(element.id)
    if found is None:
        raise UnknownElementError(f"no {element.kind} {element.id!r} in {reader.scope}")
    return found


async def weight_history(
    element: Entity | Relation | Memory, store: GraphStore, gate: Gate
) -> tuple[WeightChange, ...]:
    """The last outcomes for an element that the principal may see, the oldest first.

    Weights are computed backwards from the present one, which the principal sees with the element. A session counts for
    whatever it was shown: that it was shown something hidden, too, changes nothing here.
    """
    kind = {Entity: ElementKind.ENTITY, Relation: ElementKind.RELATION, Memory: ElementKind.MEMORY}[type(element)]
    ref, weight = ElementRef(kind, str(element.id)), element.feedback_weight
    changes = []
    for record in reversed((await store.outcomes([ref]))[-LATEST:]):
        logged = await store.injections(record.session_id)
        own = gate.allows_all or any(each.principal == gate.principal.qualified_id for each in logged)
        changes.append(
            WeightChange(
                session_id=record.session_id if own else "",
                shown_at=max((each.created_at for each in logged if ref in each.elements), default=None),
                outcome=record.outcome,
                weight=weight,
            )
        )
        weight = min(max((weight - ALPHA * record.outcome.value) / (1.0 - ALPHA), 0.0), 1.0)
    return tuple(reversed(changes))
