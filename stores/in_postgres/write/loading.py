"""Records entered into the tables of an empty scope: the rows, and what is derived from them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.model import Claim, Community, ElementKind, Injection, MemoryLink, Mention, RelationType
from graphsearch.model.signatures import entity_signature, memory_signature, relation_signature
from graphsearch.model.stored import (
    Counter,
    DistinctPair,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredRelation,
    StoredSession,
)
from graphsearch.stores.in_postgres.index import incoming
from graphsearch.stores.in_postgres.index.bulk import copy_in
from graphsearch.stores.in_postgres.index.incoming import Columns, Incoming
from graphsearch.stores.in_postgres.index.indexing import index_documents, is_bulk, put_vectors, put_words
from graphsearch.stores.in_postgres.index.signing import Codes, keep_signatures
from graphsearch.stores.in_postgres.rows import types_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.curating import insert_communities
from graphsearch.stores.in_postgres.write.folds import endpoints
from graphsearch.stores.in_postgres.write.renaming import index_entities
from graphsearch.stores.shared.loading import attested
from graphsearch.stores.shared.merging import Tree
from graphsearch.stores.shared.vectors import Matrix

_MERGE: Final = Incoming.of(
    "incoming_merge",
    "id uuid, number integer, source_id uuid, target_id uuid, created_at timestamptz, mentions bigint, "
    "claims bigint, relations bigint, held bigint, undone_at timestamptz",
)
_ENTITY_ORIGIN: Final = Incoming.of("incoming_entity_origin", "id uuid, outcomes integer, given_aliases text[]")
_MEMORY_ORIGIN: Final = Incoming.of("incoming_memory_origin", "id text, outcomes integer, merges integer")
_RELATION_ORIGIN: Final = Incoming.of(
    "incoming_relation_origin",
    "id uuid, outcomes integer, lapsed_at timestamptz, original_source_id uuid, original_target_id uuid",
)
_INJECTION: Final = Incoming.of(
    "incoming_injection",
    "id text, session_id text, principal text, created_at timestamptz, tokens bigint, element_kinds text[], "
    "element_ids text[]",
)


@attrs.define(eq=False)
class Loading:
    """Enters records into the tables of one scope, a page of one kind at a time."""

    session: Session
    types: list[RelationType] = attrs.field(factory=list)
    embeds_facts: bool = False
    """Whether any fact had a vector."""

    async def page(self, records: Sequence[Any], tree: Tree) -> None:
        """Enter a page; ``tree`` has the target of each merged entity."""
        enter: Mapping[type, Callable[[Any, Tree], Awaitable[None]]] = {
            RelationType: self._types,
            Counter: self._counters,
            StoredMerge: self._merges,
            StoredEntity: self._entities,
            StoredMemory: self._memories,
            StoredRelation: self._relations,
            DistinctPair: self._pairs,
            MemoryLink: self._links,
            Community: self._communities,
            StoredSession: self._sessions,
            Injection: self._injections,
        }
        await enter[type(records[0])](records, tree)

    async def _types(self, records: Sequence[RelationType], _: Tree) -> None:
        self.types += records
        for each in records:
            fields = attrs.asdict(each)
            await self.session.run(statement("register types"), **{**fields, "hop_scores": list(each.hop_scores)})

    async def _counters(self, records: Sequence[Counter], _: Tree) -> None:
        names, numbers = [each.name for each in records], [each.number for each in records]
        await self.session.run(statement("count"), names=names, numbers=numbers)

    async def _merges(self, records: Sequence[StoredMerge], _: Tree) -> None:
        rows = [
            {**attrs.asdict(each.merge, recurse=False), "number": each.number, "held": each.held} for each in records
        ]
        await copy_in(self.session, _MERGE, {name: [row[name] for row in rows] for name in _MERGE.columns})
        await self.session.run(statement("load merges"))

    async def _entities(self, records: Sequence[StoredEntity], tree: Tree) -> None:
        entities, codes = [each.entity for each in records], Codes()
        signed = [codes.code(attested(entity_signature(each.entity), each.attestation)) for each in records]
        given = {each.entity.id: each.given_type for each in records}
        named = {each.entity.id for each in records if each.named}
        created = entities[0].created_at
        columns = incoming.entity_columns(entities, signed, created, named, given)  # type: ignore[arg-type]
        await copy_in(self.session, incoming.ENTITY, columns)
        origin: Columns = {
            "id": [each.id for each in entities],
            "outcomes": [len(each.outcomes) for each in records],
            "given_aliases": [each.given_aliases for each in records],
        }
        await copy_in(self.session, _ENTITY_ORIGIN, origin)
        await self.session.run(statement("load entities"))
        await keep_signatures(self.session, codes)
        await put_words(self.session, {each.entity.id: each.words for each in records if each.words})
        merged = {each.id for each in entities if each.id in tree.into}
        await index_entities(self.session, entities, fresh=True, merged=merged)
        await self._learnt(ElementKind.ENTITY, records)

    async def _memories(self, records: Sequence[StoredMemory], tree: Tree) -> None:
        memories, codes = [each.memory for each in records], Codes()
        signed = [codes.code(memory_signature(each)) for each in memories]
        created = memories[0].created_at
        columns = incoming.memory_columns(memories, signed, created)  # type: ignore[arg-type]
        await copy_in(self.session, incoming.MEMORY, columns)
        origin: Columns = {
            "id": [each.id for each in memories],
            "outcomes": [len(each.outcomes) for each in records],
            "merges": [each.merges for each in records],
        }
        await copy_in(self.session, _MEMORY_ORIGIN, origin)
        await self.session.run(statement("load memories"))
        await keep_signatures(self.session, codes)
        mentions: list[Mention] = [mention for each in records for mention in each.mentions]
        claims: list[Claim] = [claim for each in records for claim in each.claims]
        root = tree.root if tree.into else None
        if mentions:
            await copy_in(self.session, incoming.MENTION, incoming.mention_columns(mentions, root))
            await self.session.run(statement("upsert mentions"))
        if claims:
            await copy_in(self.session, incoming.CLAIM, incoming.claim_columns(claims, root))
            await self.session.run(statement("upsert claims"))
        await index_documents(self.session, ElementKind.MEMORY, memories, fresh=True)
        await self._learnt(ElementKind.MEMORY, records)

    async def _relations(self, records: Sequence[StoredRelation], _: Tree) -> None:
        relations, codes = [each.relation for each in records], Codes()
        signed = [codes.code(attested(relation_signature(each.relation, ()), each.attestation)) for each in records]
        settled = not is_bulk(relations)
        ends = await endpoints(self.session, relations) if settled else {}
        created, types = relations[0].created_at, types_of(attrs.asdict(each) for each in self.types)
        columns = {
            **incoming.relation_columns(relations, signed, created, types, folded=False, ends=ends),  # type: ignore[arg-type]
            "folded": [each.folded for each in records],
        }
        await copy_in(self.session, incoming.RELATION, columns)
        given = [each.given_ends or (None, None) for each in records]
        origin: Columns = {
            "id": [each.id for each in relations],
            "outcomes": [len(each.outcomes) for each in records],
            "lapsed_at": [each.lapsed_at for each in records],
            "original_source_id": [source for source, _ in given],
            "original_target_id": [target for _, target in given],
        }
        await copy_in(self.session, _RELATION_ORIGIN, origin)
        await self.session.run(statement("load relations"), settled=settled)
        await self.session.run(statement("insert evidence"))
        await keep_signatures(self.session, codes)
        await index_documents(self.session, ElementKind.RELATION, relations, fresh=True)
        await self._learnt(ElementKind.RELATION, records)

    async def _learnt(self, kind: ElementKind, records: Sequence[StoredEntity | StoredMemory | StoredRelation]) -> None:
        """Enter the outcomes and the vectors of elements."""
        keys = [_id(each) for each in records]
        past = [(str(key), each) for key, record in zip(keys, records, strict=True) for each in record.outcomes]
        if past:
            await self.session.run(
                statement("load outcomes"),
                kind=kind.value,
                ids=[key for key, _ in past],
                sessions=[each.session_id for _, each in past],
                seqs=[each.seq for _, each in past],
                outcomes=[each.outcome.value for _, each in past],
            )
        there = {key: record.vector for key, record in zip(keys, records, strict=True) if record.vector is not None}
        if there:
            self.embeds_facts = self.embeds_facts or kind is ElementKind.RELATION
            await put_vectors(self.session, kind, Matrix(list(there), np.array(list(there.values()))), fresh=True)

    async def _pairs(self, records: Sequence[DistinctPair], _: Tree) -> None:
        low, high = [each.low_id for each in records], [each.high_id for each in records]
        await self.session.run(statement("mark distinct"), low_ids=low, high_ids=high)

    async def _links(self, records: Sequence[MemoryLink], _: Tree) -> None:
        names = {"from_ids": "from_id", "to_ids": "to_id", "types": "type", "created": "created_at"}
        values = {name: [getattr(each, field) for each in records] for name, field in names.items()}
        await self.session.run(statement("link memories"), **values)

    async def _communities(self, records: Sequence[Community], _: Tree) -> None:
        await insert_communities(self.session, records)

    async def _sessions(self, records: Sequence[StoredSession], _: Tree) -> None:
        ids, principals = [each.id for each in records], [each.principal for each in records]
        await self.session.run(statement("load sessions"), ids=ids, principals=principals)

    async def _injections(self, records: Sequence[Injection], _: Tree) -> None:
        plain = ("id", "session_id", "principal", "created_at", "tokens")
        columns = {
            **{name: [getattr(each, name) for each in records] for name in plain},
            "element_kinds": [tuple(str(ref.kind) for ref in each.elements) for each in records],
            "element_ids": [tuple(ref.id for ref in each.elements) for each in records],
        }
        await copy_in(self.session, _INJECTION, columns)
        await self.session.run(statement("load injections"))


def _id(record: StoredEntity | StoredMemory | StoredRelation) -> UUID | str:
    if isinstance(record, StoredEntity):
        return record.entity.id
    return record.memory.id if isinstance(record, StoredMemory) else record.relation.id
