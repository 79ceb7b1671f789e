"""Results of several scopes: each element with the scopes that it comes from, and ids as its own scope has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.federation.joint_reader import JointReader
from graphsearch.federation.scope_part import number_of, own_id, own_memory, own_relation, packed
from graphsearch.model import ElementKind, ElementRef, Relation, Scope, Triplet
from graphsearch.modes.result import Connection, SearchResult, Sentence, Source, Summary
from graphsearch.ranking.result import RankResult
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.traversal.paths import Path


def with_scopes(found: SearchResult, reader: Reader) -> SearchResult:
    """A result with the scopes that were searched, whose triplets have theirs."""
    own = _own_relation_ids([each.relation.id for each in found.triplets], reader)
    triplets = (
        attrs.evolve(
            each,
            relation=_as_walked(each),
            origins=_origins(each.relation, tuple(ids), reader),
            own_ids={scope: id_ for scope, id_ in ids.items() if id_ != each.relation.id},
        )
        for each, ids in zip(found.triplets, own, strict=True)
    )
    return attrs.evolve(found, triplets=tuple(triplets), scopes=_searched(reader))


def _own_relation_ids(ids: Sequence[UUID], reader: Reader) -> Sequence[Mapping[Scope, UUID]]:
    """The scopes of each relation, with the id that it has there."""
    return reader.own_relation_ids(ids) if isinstance(reader, JointReader) else [{reader.scope: id_} for id_ in ids]


def _as_walked(triplet: Triplet) -> Relation:
    """The relation between the ends of its triplet: where one scope merged an end, another scope has another one."""
    relation, ends = triplet.relation, (triplet.source.id, triplet.target.id)
    if (relation.source_id, relation.target_id) == ends:
        return relation
    return attrs.evolve(relation, source_id=ends[0], target_id=ends[1])


def _origins(relation: Relation, scopes: Sequence[Scope], reader: Reader) -> Mapping[Scope, tuple[str, ...]]:
    """The scopes of a relation, each with the evidence that it has of its own."""
    if not isinstance(reader, JointReader):
        return dict.fromkeys(scopes, relation.evidence)
    numbers = {part.scope: part.number for part in reader.parts}
    return {
        scope: tuple(own_id(each) for each in relation.evidence if number_of(each) == numbers[scope])
        for scope in scopes
    }


def with_own_ids(found: SearchResult) -> SearchResult:
    """A result in which memories are cited by their own ids; that of a single scope cites them so already."""
    if len(found.scopes) == 1:
        return found
    return attrs.evolve(
        found,
        triplets=_own(found.triplets),
        connections=_own(found.connections),
        summary=_own(found.summary),
    )


def recalled(found: RecallResult, reader: Reader, scopes: Sequence[Scope]) -> RecallResult:
    """A result whose memories have their scopes and their own ids; ``scopes`` are those of the engine, by number."""
    if isinstance(reader, JointReader):
        memories = tuple(_own_recalled(each, scopes) for each in found.memories)
    else:
        memories = tuple(attrs.evolve(each, scopes=(reader.scope,)) for each in found.memories)
    return attrs.evolve(found, memories=memories, scopes=_searched(reader))


def ranked(found: RankResult, reader: Reader) -> RankResult:
    """A result with the scopes that were searched, whose entities have theirs."""
    scopes = _scopes_of([each.entity.id for each in found.entities], reader)
    entities = (attrs.evolve(each, scopes=own) for each, own in zip(found.entities, scopes, strict=True))
    return attrs.evolve(found, entities=tuple(entities), scopes=_searched(reader))


def _scopes_of(ids: Sequence[UUID], reader: Reader) -> Sequence[tuple[Scope, ...]]:
    return (
        reader.scopes_of(ElementKind.ENTITY, packed(ids))
        if isinstance(reader, JointReader)
        else [(reader.scope,)] * len(ids)
    )


def _searched(reader: Reader) -> tuple[Scope, ...]:
    return tuple(part.scope for part in reader.parts) if isinstance(reader, JointReader) else (reader.scope,)


def _own_recalled(found: RecalledMemory, scopes: Sequence[Scope]) -> RecalledMemory:
    return attrs.evolve(
        found,
        memory=own_memory(found.memory),
        path=_own(found.path),
        scopes=(scopes[number_of(found.memory.id)],),
    )


_CITING: Final[Mapping[type, tuple[str, ...]]] = {
    Triplet: ("relation",),
    Connection: ("paths",),
    Path: ("relations",),
    Summary: ("sources", "sentences"),
    Sentence: ("sources",),
    Source: ("element",),
}
"""The fields of parts of a result in which memories are cited."""


def _own(part: Any) -> Any:
    """A part of a result, in which memories are cited by their own ids."""
    if isinstance(part, Relation):
        return own_relation(part)
    if isinstance(part, ElementRef):
        return ElementRef(part.kind, own_id(part.id)) if part.kind is ElementKind.MEMORY else part
    if isinstance(part, tuple):
        return tuple(map(_own, part))
    if isinstance(part, Mapping):
        return {key: _own(value) for key, value in part.items()}
    return part and attrs.evolve(part, **{name: _own(getattr(part, name)) for name in _CITING[type(part)]})
