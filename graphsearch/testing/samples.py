"""Small graphs, hostile texts, and the portrait of a scope, for the conformance suite."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Expansion, Hits
from graphsearch.model import (
    Batch,
    Claim,
    ElementKind,
    ElementRef,
    Entity,
    Injection,
    Memory,
    Mention,
    Relation,
    Vector,
    View,
    WriteReport,
)
from graphsearch.model.signatures import Signature
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import NOON

HOSTILE_TEXTS: Final = (
    *("%", "_", "a_b", "a%b", "aXb", "a\\b", "a.b", "a*b", "a?b", "foo", "foobar", "foo/bar", "foo:bar"),
    *("'; DROP TABLE entity; --", '"quoted"', "it''s", "$1", "%s", "%(org)s", "{0}", "{}", "[1, 2]", "NULL", "null"),
    *("a", "A", "ä", "Ä", "ß", "SS", "İstanbul", "ıspanak", "é", "e\u0301", "ﬁ", "日本語", "～", "😀", "👩‍👩‍👧"),
    *("שלום", "\u202eevil", "zero\u200bwidth", "a\nb", "a\tb", "\x7f", "\ufeffbom", "0", "-1", "1e309", "true"),
    *("the", "&|!", "a & b", "<->", "x" * 800, " ".join(f"word{number}" for number in range(85))),
)
"""Texts that a store must keep unchanged, and never confuse with each other."""


def day(number: float) -> datetime:
    """The given number of days after the start of 2025."""
    return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=number)


def view(as_of: datetime = NOON, known_at: datetime | None = None, **options: Any) -> View:
    """The view of what held at ``as_of``, as known then or at ``known_at``."""
    return View(as_of, known_at or as_of, **options)


def person(name: str, **fields: Any) -> Entity:
    """A person."""
    return Entity(type="person", name=name, **fields)


ADA, BOB, EVE = person("Ada"), person("Bob"), person("Eve")


def relation(source: Entity, target: Entity, type: str = "knows", **fields: Any) -> Relation:
    """A relation between two entities."""
    return Relation(source_id=source.id, type=type, target_id=target.id, **fields)


def claim(memory: Memory | str, source: Entity, target: Entity, type: str = "knows", **fields: Any) -> Claim:
    """A claim of a memory about two entities, with confidence 0.8 unless given."""
    memory_id = memory if isinstance(memory, str) else memory.id
    given = {"confidence": 0.8, **fields}
    return Claim(memory_id=memory_id, source_id=source.id, type=type, target_id=target.id, **given)


def mention(memory: Memory, entity: Entity, **fields: Any) -> Mention:
    """A mention of an entity, by its name unless a surface is given."""
    given = {"surface": entity.name, **fields}
    return Mention(memory_id=memory.id, entity_id=entity.id, **given)


def batch_of(*elements: Entity | Relation | Memory | Mention | Claim, **fields: Any) -> Batch:
    """A batch of elements of any kinds, those of each kind in the order given, and of other fields by their names."""
    kinds = {"entities": Entity, "relations": Relation, "memories": Memory, "mentions": Mention, "claims": Claim}
    given = {name: tuple(each for each in elements if isinstance(each, kind)) for name, kind in kinds.items()}
    return Batch(**{**given, **fields})


async def put(store: GraphStore, *elements: Entity | Relation | Memory | Mention | Claim, **fields: Any) -> WriteReport:
    """Write a batch, made as by `batch_of`."""
    return await store.write(batch_of(*elements, **fields))


def vector(*numbers: float) -> Vector:
    """A float32 vector."""
    return np.array(numbers, np.float32)


def ref(element: Entity | Relation | Memory) -> ElementRef:
    """The reference to an element."""
    kinds = {Entity: ElementKind.ENTITY, Relation: ElementKind.RELATION, Memory: ElementKind.MEMORY}
    return ElementRef(kinds[type(element)], str(element.id))


def injection(id: str, session: str, hours: float, *elements: ElementRef, principal: str = "User:ada") -> Injection:
    """What a session was shown, so many hours after the start of 2025."""
    whose: dict[str, Any] = {"session_id": session, "principal": principal, "created_at": day(hours / 24)}
    return Injection(id=id, tokens=12, elements=elements, **whose)


def ids_of(store: GraphStore, kind: ElementKind, hits: Hits) -> list[UUID | str]:
    """The ids that a search found, best first."""
    if kind is ElementKind.MEMORY:
        return list(store.memory_ids(hits.keys))
    return list(store.entity_ids(hits.keys) if kind is ElementKind.ENTITY else store.relation_ids(hits.keys))


async def near(
    store: GraphStore, kind: ElementKind, asked: Vector, *, limit: int = 10, **options: Any
) -> list[UUID | str]:
    """The ids of the elements nearest to a vector; ``options`` are those of `view`."""
    async with store.snapshot():
        return ids_of(store, kind, await store.search_by_embedding(kind, asked, limit=limit, view=view(**options)))


async def matching(
    store: GraphStore, kind: ElementKind, asked: str, *, limit: int = 10, **options: Any
) -> list[UUID | str]:
    """The ids of the elements that a search by words finds; ``options`` are those of `view`."""
    async with store.snapshot():
        return ids_of(store, kind, await store.search_lexical(kind, asked, limit=limit, view=view(**options)))


@asynccontextmanager
async def expanded(store: GraphStore, *near: Entity, fan_out: int = 25, **options: Any) -> AsyncIterator[Expansion]:
    """The expansion of entities in a snapshot; ``options`` are those of `view`."""
    async with store.snapshot():
        keys = (await store.locate([each.id for each in near], view=view())).keys
        yield await store.expand(keys, fan_out=fan_out, view=view(**options))


def rows_of(store: GraphStore, found: Expansion) -> list[tuple[UUID, bool, UUID, UUID]]:
    """An expansion's rows as (near, outgoing, relation, far)."""
    ends = store.entity_ids(found.near), store.entity_ids(found.far)
    return list(zip(ends[0], map(bool, found.outgoing), store.relation_ids(found.relations), ends[1], strict=True))


async def portrait(
    store: GraphStore, *, questions: Iterable[str] = ("ada", "knows the lab"), vectors: Iterable[Vector] = ()
) -> Mapping[str, Any]:
    """Everything that can be read from a scope, in values that can be compared."""
    async with store.snapshot():
        now = view(store.clock.now(), min_edge_confidence=0.0)
        entities = await _all(store.list_entities)
        relations = await _all(store.list_relations)
        memories = await _all(store.list_memories)
        everything = [*entities, *relations, *memories]
        found = await store.locate([entity.id for entity in entities], view=now)
        expansion = await store.expand(found.keys, fan_out=25, view=now)
        columns = {
            name: getattr(expansion, name).tolist() for name in ("confidence", "since", "feedback", "far_importance")
        }
        searches = [
            (kind, asked, ids_of(store, kind, hits), hits.values.round(6).tolist())
            for kind in ElementKind
            for asked, hits in [
                *[(question, await store.search_lexical(kind, question, limit=10, view=now)) for question in questions],
                *[
                    (each.tobytes(), await store.search_by_embedding(kind, each, limit=10, view=now))
                    for each in vectors
                ],
            ]
        ]
        return {
            "entities": entities,
            "relations": relations,
            "memories": memories,
            "mentions": await store.list_mentions(memory_ids=[memory.id for memory in memories]),
            "claims": await store.list_claims(memory_ids=[memory.id for memory in memories]),
            "names": await store.find_names(sorted({entity.name for entity in entities})),
            "types": await store.relation_types(),
            "signatures": [
                await signature_of(store, code) for code in (*found.signatures.tolist(), *expansion.signatures.tolist())
            ],
            "rows": rows_of(store, expansion),
            "columns": columns,
            "searches": searches,
            "links": await store.memory_links([memory.id for memory in memories]),
            "distinct": await store.distinct_pairs([entity.id for entity in entities]),
            "communities": await store.communities(),
            "outcomes": await store.outcomes([ref(element) for element in everything]),
            "degrees": await store.degrees([entity.id for entity in entities]),
            "statistics": await store.statistics(),
        }


async def signature_of(store: GraphStore, code: int) -> tuple[Signature, set[Signature], set[Signature]]:
    """A signature with those of its evidence and of its influences, without codes, which differ between stores."""
    content = (await store.signatures([code]))[code]
    evidence, influences = await store.signatures(content.evidence), await store.signatures(content.influences)
    assert {*evidence, *influences} == {*content.evidence, *content.influences}
    return (
        _without_codes(content),
        set(map(_without_codes, evidence.values())),
        set(map(_without_codes, influences.values())),
    )


def _without_codes(signature: Signature) -> Signature:
    return attrs.evolve(signature, evidence=(), influences=())


async def _all(read: Any) -> list[Any]:
    found: list[Any] = []
    while page := await read(after=found[-1].id if found else None, limit=50):
        found += page
    return found


def without_history(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """A portrait without what forgetting need not undo: creation times, feedback and curation."""
    curated = {"links", "distinct", "communities"}
    kept = {name: value for name, value in content.items() if name not in {"outcomes", "columns", *curated}}
    for name in ("entities", "relations", "memories"):
        kept[name] = [attrs.evolve(each, created_at=None, feedback_weight=0.5) for each in content[name]]
    return kept
