"""Provenance of a relation: the memories that state it, in which words, and what each of them adds."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.folding import confidence_within, group_of, surest_claims
from graphsearch.errors import UnknownElementError
from graphsearch.model import Claim, Entity, Memory, Relation


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
