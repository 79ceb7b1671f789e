"""Rows of a page: a relation, a memory, an entity, each with its score and no more of it than a list shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.context.material import key_of
from graphsearch.model import Entity, Scope, ScorePart, Triplet
from graphsearch.ranking.entity_ranking import FoundEntity
from graphsearch.ranking.recall_result import RecalledMemory

LONGEST: Final = 600
"""Characters of a text in a list."""
DIGITS: Final = 6


@attrs.frozen
class Named:
    """An element with its name; that of a memory is empty."""

    id: str
    name: str
    type: str


@attrs.frozen(kw_only=True)
class RelationRow:
    """A triplet. ``parts``: by name, those contributions to the ``score`` that are not 0; they add up to it.

    ``key`` as in `graphsearch.context.material.BlockLine`; ``evidence``: the number of its memories.
    """

    key: str
    source: Named
    type: str
    target: Named
    fact: str
    kind: str
    valid_from: datetime | None
    valid_to: datetime | None
    confidence: float
    weight: float
    evidence: int
    hops: int
    score: float
    parts: Mapping[str, float]
    scopes: tuple[Scope, ...]


@attrs.frozen(kw_only=True)
class MemoryRow:
    """A recalled memory, its text cut. ``path``: how the graph led to it, each element with its name."""

    key: str
    text: str
    cut: bool
    speaker: str
    occurred_at: datetime | None
    until: datetime | None
    now: str
    path: tuple[Named, ...]
    score: float
    parts: Mapping[str, float]
    scopes: tuple[Scope, ...]


@attrs.frozen(kw_only=True)
class EntityRow:
    """A ranked entity, with the number of its relations."""

    id: UUID
    name: str
    type: str
    connections: int
    score: float
    parts: Mapping[str, float]


def named(entity: Entity) -> Named:
    """An entity with its name."""
    return Named(str(entity.id), entity.name[:LONGEST], entity.type)


def relation_row(found: Triplet) -> RelationRow:
    """The row of a triplet."""
    relation = found.relation
    return RelationRow(
        key=key_of(found),
        source=named(found.source),
        type=relation.type,
        target=named(found.target),
        fact=relation.fact[:LONGEST],
        kind=relation.kind,
        valid_from=relation.valid_from,
        valid_to=relation.valid_to,
        confidence=round(relation.confidence, DIGITS),
        weight=round(relation.feedback_weight, DIGITS),
        evidence=len(relation.evidence),
        hops=found.breakdown.hops,
        score=round(found.score, DIGITS),
        parts=_parts(found.parts),
        scopes=found.scopes,
    )


def memory_row(found: RecalledMemory, names: Mapping[str, Named]) -> MemoryRow:
    """The row of a memory; ``names`` are those of the entities on its path."""
    memory = found.memory
    return MemoryRow(
        key=key_of(found),
        text=memory.text[:LONGEST],
        cut=len(memory.text) > LONGEST,
        speaker=memory.speaker or memory.subject,
        occurred_at=memory.occurred_at,
        until=found.until,
        now=found.now,
        path=tuple(names.get(each.id) or Named(each.id, "", each.kind) for each in found.path),
        score=round(found.score, DIGITS),
        parts=_parts(found.parts),
        scopes=found.scopes,
    )


def entity_row(found: FoundEntity) -> EntityRow:
    """The row of an entity."""
    return EntityRow(
        id=found.entity.id,
        name=found.entity.name[:LONGEST],
        type=found.entity.type,
        connections=found.connections,
        score=round(found.score, DIGITS),
        parts=_parts(found.parts),
    )


def _parts(parts: Iterable[ScorePart]) -> Mapping[str, float]:
    return {each.name: round(each.contribution, DIGITS) for each in parts if each.contribution}
