"""Results of several scopes: each element with the scopes that it comes from, and ids as its own scope has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.federation.joint_keys import number_of, own_id, own_memory, own_relation, packed
from graphsearch.federation.joint_reader import JointReader
from graphsearch.model import ElementKind, ElementRef, Relation, Scope, Triplet
from graphsearch.modes.result import Connection, SearchResult, Sentence, Source, Summary
from graphsearch.ranking.result import RankResult
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.traversal.paths import GraphPath


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
        triplets=tuple(map(_own_triplet, found.triplets)),
        connections=tuple(map(_own_connection, found.connections)),
        summary=found.summary and _own_summary(found.summary),
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
        path=tuple(map(_own_element, found.path)),
        scopes=(scopes[number_of(found.memory.id)],),
    )


def _own_triplet(triplet: Triplet) -> Triplet:
    return attrs.evolve(triplet, relation=own_relation(triplet.relation))


def _own_connection(connection: Connection) -> Connection:
    paths = {id_: _own_path(path) for id_, path in connection.paths.items()}
    return attrs.evolve(connection, paths=paths)


def _own_path(path: GraphPath) -> GraphPath:
    return attrs.evolve(path, relations=tuple(map(own_relation, path.relations)))


def _own_summary(summary: Summary) -> Summary:
    return attrs.evolve(
        summary,
        sources=tuple(map(_own_source, summary.sources)),
        sentences=tuple(map(_own_sentence, summary.sentences)),
    )


def _own_sentence(sentence: Sentence) -> Sentence:
    return attrs.evolve(sentence, sources=tuple(map(_own_source, sentence.sources)))


def _own_source(source: Source) -> Source:
    return attrs.evolve(source, element=_own_element(source.element))


def _own_element(element: ElementRef) -> ElementRef:
    return ElementRef(element.kind, own_id(element.id)) if element.kind is ElementKind.MEMORY else element
