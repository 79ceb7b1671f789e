"""What stands behind one line: the parts of its score, its proofs with their quotes, the history of its weight."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, Unpack

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, When, reading
from graphsearch.context.builder import CANDIDATES
from graphsearch.context.material import MEMORIES
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.explaining.elements import Explanation, Proof, Provenance, WeightChange, visible, weight_history, why
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import ElementKind, ElementRef, Entity, Memory, Relation, Span
from graphsearch.page.asking import ENTITIES, best_mode
from graphsearch.page.rows import LONGEST, Named, named

PROOFS: Final = 25
AROUND: Final = 300
"""Characters of a memory on each side of a quote."""
TEXT: Final = 20_000
"""The most characters of a memory."""


@attrs.frozen(kw_only=True)
class Statement:
    """What a memory states: a claim, with its ends by name and the words that it was read from."""

    source: Named
    type: str
    target: Named
    confidence: float
    quote: str


@attrs.frozen(kw_only=True)
class Evidence:
    """The evidence for an element as part of the answer to a question.

    * ``element``: of a memory the beginning of its text.
    * ``explanation``: with the options of `graphsearch.page.asking.ask`.
    * ``provenance``: of a relation: at most 25 of its ``proofs``, those that add most first, each with the words around
      its quote: the span of a claim is that of the quote in them. Their memories are this many: ``proved_by``.
    * ``states``: what a memory states, at most 25 of it.
    * ``history``: of the weight, the oldest change first.
    """

    element: Entity | Relation | Memory
    explanation: Explanation
    provenance: Provenance | None = None
    proved_by: int = 0
    states: tuple[Statement, ...] = ()
    history: tuple[WeightChange, ...]


async def evidence(
    engine: GraphSearchEngine | FederatedEngine,
    kind: ElementKind,
    id: str,
    *,
    query: str,
    mode: str | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    gate: Gate,
) -> Evidence:
    """Show what stands behind an element of an answer: the parts of its score, its proofs, how its weight changed.

    In one snapshot; of several scopes, in the first that has it. Raises `UnknownElementError` for an element that does
    not exist or is not visible.
    """
    engines = engine.engines if isinstance(engine, FederatedEngine) else (engine,)
    entered = [each for each in engines if gate.enters(each.store.scope)] or engines[:1]
    when: When = {"as_of": as_of, "known_at": known_at}
    read = partial(_evidence, ref=ElementRef(kind, id), query=query, mode=mode, gate=gate, **when)
    for each in entered[:-1]:
        with suppress(UnknownElementError):
            return await read(each)
    return await read(entered[-1])


async def _evidence(
    engine: GraphSearchEngine, *, ref: ElementRef, query: str, mode: str | None, gate: Gate, **when: Unpack[When]
) -> Evidence:
    async with engine.store.snapshot():
        async with reading(engine.store, gate=gate, **when) as reader:
            element = await visible(ref, reader)
            provenance = await why(element.id, reader) if isinstance(element, Relation) else None
            states = await _statements(element, reader) if isinstance(element, Memory) else ()
        history = await weight_history(element, engine.store, gate)
        asked = partial(engine.explain, query, ref, gate=gate, **when)
        match element:
            case Relation():
                explanation = await asked(limit=CANDIDATES, mode=mode or best_mode(engine))
            case Memory():
                explanation = await asked(limit=MEMORIES, min_relevance=0.0)
                element = _cut(element, None)
                explanation = attrs.evolve(explanation, found=None)  # which has the whole text again
            case Entity():
                explanation = await asked(limit=ENTITIES)
    return Evidence(
        element=element,
        explanation=explanation,
        provenance=provenance and _most(provenance),
        proved_by=len(provenance.relation.evidence) if provenance else 0,
        states=states,
        history=history,
    )


def _most(provenance: Provenance) -> Provenance:
    """The proofs that add most, each with the words around its quote."""
    proofs = sorted(provenance.proofs, key=lambda each: -each.adds)[:PROOFS]
    return attrs.evolve(provenance, proofs=tuple(map(_around, proofs)))


def _around(proof: Proof) -> Proof:
    """A proof with the words around its quote in place of the memory's text."""
    claim = proof.claim
    if claim is None or claim.span is None:
        return attrs.evolve(proof, memory=_cut(proof.memory, None))
    start, end = max(0, claim.span.start - AROUND), min(claim.span.end, claim.span.start + LONGEST)
    span = Span(start=claim.span.start - start, end=end - start)
    memory = _cut(proof.memory, slice(start, end + AROUND))
    return attrs.evolve(proof, memory=memory, quote=proof.quote[:LONGEST], claim=attrs.evolve(claim, span=span))


def _cut(memory: Memory, part: slice | None) -> Memory:
    return attrs.evolve(memory, text=memory.text[part or slice(TEXT)], facts=(), entities=())


async def _statements(memory: Memory, reader: Reader) -> tuple[Statement, ...]:
    claims = (await reader.claims(memory_ids=[memory.id]))[:PROOFS]
    ids = {end for each in claims for end in (each.source_id, each.target_id)}
    names = {each.id: named(each) for each in await reader.get_entities(sorted(ids))}
    return tuple(
        Statement(
            source=names[each.source_id],
            type=each.type,
            target=names[each.target_id],
            confidence=each.confidence,
            quote=memory.text[each.span.start : each.span.end][:LONGEST] if each.span else "",
        )
        for each in claims
    )
