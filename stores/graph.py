"""A graph in one scope, as rooms and users call it: every verb once, over the rows, searches and walks of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from typing import Any, Final, Unpack
from uuid import UUID

from graphsearch._support.garbage import rare_collections
from graphsearch.claims.folding import DatedClaim
from graphsearch.claims.naming import refuse_limit
from graphsearch.columns import Keys
from graphsearch.model import (
    AssertedEntity,
    Batch,
    Claim,
    ElementKind,
    Entity,
    Group,
    Memory,
    Mention,
    Merge,
    Relation,
    RelationType,
    Statistics,
    SurfaceForm,
    UndoReport,
    WriteReport,
    validation,
)
from graphsearch.model.identity import snake_case
from graphsearch.model.validation import revised
from graphsearch.protocols.rows import ClaimRow, EntityRow, Filters, MemoryFilters, MentionRow
from graphsearch.stores.writer import forgetting, merging, writing
from graphsearch.stores.writer.communities import Communities
from graphsearch.stores.writer.folding import cited_facts
from graphsearch.stores.writer.keeping import Keeping
from graphsearch.stores.writer.moving import Moving
from graphsearch.stores.writer.reembedding import Reembeddable

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


class GraphStore(Keeping, Communities, Moving, Reembeddable):
    """A graph in one scope: what a store implements, and everything that is written once over that.

    Unknown ids are left out of results. Lists are in order of id unless stated otherwise, by code point for memories;
    ``after`` is the last id of the previous page, and a negative ``limit`` raises `InvalidInputError`. Reads raise
    `UnknownScopeError` where nothing was ever written. Each change is atomic, and readers never see a part of it.
    Writing a batch, registering types, binding an embedder, loading and proposing create the scope; all other changes
    raise `UnknownScopeError` for a scope that was never written.
    """

    # -- elements --------------------------------------------------------------------------------------------------

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        return self.ids(ElementKind.ENTITY, keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        return self.ids(ElementKind.RELATION, keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        return self.ids(ElementKind.MEMORY, keys)

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        return await self._elements(ElementKind.ENTITY, ids)

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, including retracted ones."""
        return await self._elements(ElementKind.RELATION, ids)

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        return await self._elements(ElementKind.MEMORY, ids)

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page of entities, of one type if given."""
        return await self._page(ElementKind.ENTITY, after, limit, type=type)

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        """The next page of unretracted relations, of one type and of one entity if given."""
        kind = ElementKind.RELATION
        return await self._page(kind, after, limit, type=type, live=True, entity_id=entity_id)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, **filters: Unpack[MemoryFilters]
    ) -> Sequence[Memory]:
        """The next page of the memories that pass all filters."""
        return await self._page(ElementKind.MEMORY, after, limit, **filters)

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        async with self.snapshot():
            found = [
                *(await self.rows_by("mention", "memory", memory_ids) if memory_ids else ()),
                *(await self.rows_by("mention", "entity", entity_ids) if entity_ids else ()),
            ]
            return sorted({row.key: row.shown for row in found}.values(), key=_mention_place)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups.

        In fold order. A claim that a merge has turned into a claim of an entity about itself is not folded.
        """
        async with self.snapshot():
            found: list[ClaimRow] = []
            if memory_ids:
                found += await self.rows_by("claim", "memory", memory_ids)
            if relation_ids:
                cited = cited_facts(row.relation for row in await self.rows("relation", relation_ids))
                between = await self.rows_by("claim", "group", cited) if cited else ()
                found += [row for row in between if row.claim.memory_id in cited.get(row.fact, ())]
            if groups:
                found += [row for row in await self.rows_by("claim", "group", groups) if row.folds]
            dated = {DatedClaim(row.shown, row.occurred_at) for row in found}
            return [each.claim for each in sorted(dated, key=_claim_place)]

    async def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        """Entities as they were asserted, in the order of ``ids``: the form to change and write again."""
        found = {row.key: _asserted(row) for row in await self.rows(ElementKind.ENTITY, ids)}
        return [found[key] for key in ids if key in found]

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        return await self._page(ElementKind.RELATION, after, limit, embedded=False)

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """Words that entities are found by in addition to their texts, with their weights (`Batch.words`).

        Entities without any are left out. Weights are as stored: multiples of 1 / 64, at least 1 / 64.
        """
        return {row.key: row.value for row in await self.rows("words", ids)}

    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """The number of unretracted relations of each entity, in both directions."""
        async with self.snapshot():
            there = [row.key for row in await self.rows(ElementKind.ENTITY, ids)]
            found = await self.rows_by(ElementKind.RELATION, "end", there) if there else ()
            number = Counter(end for row in found if row.relation.retracted_at is None for end in row.ends)
            return {key: number[key] for key in there}

    async def surface_forms(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[SurfaceForm]:
        """Surface forms of mentions, by (entity, surface), each with the first ``limit`` of its memories.

        Those of a merged entity are the ones that mentioned it before, and count for the other as well.
        """
        async with self.snapshot():
            refuse_limit(limit)
            found: dict[tuple[UUID, str], set[str]] = {}
            for entity, row in await self._mentions_of(entity_ids):
                found.setdefault((entity, row.mention.surface), set()).add(row.mention.memory_id)
            return [
                SurfaceForm(entity_id=entity, surface=surface, memory_ids=nsmallest(limit, memories))
                for (entity, surface), memories in sorted(found.items())
            ]

    async def first_written(
        self, entity_ids: Sequence[UUID], *, limit: int
    ) -> Mapping[UUID, Sequence[tuple[datetime, str]]]:
        """The first ``limit`` memories that mention each entity, by (created_at, id); entities without any are absent.

        Of a merged entity as in `surface_forms`.
        """
        async with self.snapshot():
            refuse_limit(limit)
            found: dict[UUID, set[tuple[datetime, str]]] = {}
            for entity, row in await self._mentions_of(entity_ids):
                if row.created_at is not None:
                    found.setdefault(entity, set()).add((row.created_at, row.mention.memory_id))
            return {entity: first for entity, written in found.items() if (first := nsmallest(limit, written))}

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges in the order they were made, including undone ones; only those of ``entity_ids`` if given."""
        found = await (self.rows_by("merge", "end", entity_ids) if entity_ids else self.page("merge"))
        return [row.merge for row in sorted(found, key=lambda row: row.number)]

    # -- the scope -------------------------------------------------------------------------------------------------

    async def relation_types(self) -> Mapping[str, RelationType]:
        """Relation types by name: the defaults and the registered ones."""
        return (await self.scope_row()).types

    async def embedder_name(self) -> str | None:
        """The model declared by `bind_embedder`, or None."""
        return (await self.scope_row()).embedder

    async def id_key(self) -> UUID:
        """The secret of the scope, random, by which ingest mints ids: `graphsearch.model.identity.keyed_id`."""
        return (await self.scope_row()).id_key

    async def document_count(self, kind: ElementKind) -> int:
        """The number of elements of a kind with a word in their texts: the N of BM25, maintained without counting."""
        [number] = await self.document_frequencies(kind, [()])
        return number

    async def statistics(self) -> Statistics:
        """Element counts of the scope."""
        async with self.snapshot():
            scope, counts = await self.scope_row(), await self.counts([*ElementKind, "claim", "mention"])
            entities, relations = sum(counts.entities_by_type.values()), sum(counts.relations_by_type.values())
            return Statistics(
                entities=entities,
                relations=relations,
                memories=counts.rows["memory"],
                claims=counts.rows["claim"],
                mentions=counts.rows["mention"],
                entities_by_type=counts.entities_by_type,
                relations_by_type=counts.relations_by_type,
                embedder=scope.embedder,
                dimensions=scope.dimensions,
                max_degree=counts.max_degree,
                mean_degree=2 * relations / entities if entities else 0.0,
                counters={row.key: row.value for row in await self.page("counter")},
            )

    # -- writing ---------------------------------------------------------------------------------------------------

    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace relation types; claims of a type that becomes or ceases to be functional are folded again."""
        async with self.writing(create=True, changing=True) as port:
            await writing.register_types(port, types, self.clock.now())

    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id.

        What ingest has minted for the type and name of one of ``entities`` is then merged into it.
        """
        with rare_collections():
            async with self.writing(create=True, changing=True) as port:
                minted = await writing.minted(port, batch)
                report = await writing.write(port, batch, self.clock.now())
        for source, target in minted:  # once: whoever undoes it is right
            ends = await self.rows("entity", [source, target])
            if [each.entity.merged_into for each in ends] == [None, None] and not await self.merges([source]):
                await self.merge(source, target, retype=True)
        return report

    async def forget(self, memory_ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        """Delete memories with their mentions and claims, and fold the affected relations again.

        With ``dry_run``, only report what would be deleted.

        A relation without claims is deleted, and so is an affected entity without mentions and relations. Links are
        deleted with either end. The injection log no longer names what was deleted, and a relation whose fact has
        changed loses the vector of the old fact.
        """
        async with self.writing(changing=not dry_run) as port:
            return await forgetting.forget(port, memory_ids, self.clock.now(), dry_run=dry_run)

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        async with self.writing(changing=True) as port:
            return await forgetting.delete(port, entities, relations, self.clock.now())

    # -- curating --------------------------------------------------------------------------------------------------

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False, retype: bool = False) -> Merge:
        """Merge one entity into another, which takes over its mentions, claims, relations and names.

        The source remains as a row with ``merged_into`` and is excluded from every search. Relations are folded again;
        asserted relations keep their ids; relations from the target to itself are dropped. ``dry_run`` only reports
        what would move. With ``retype``, entities of two types can be merged: the target's is that of both. Raises
        `UnknownElementError` for an entity that does not exist, and `InvalidInputError` for an entity that is already
        merged, for an entity with itself, and without ``retype`` for entities of different types.
        """
        async with self.writing(changing=not dry_run) as port:
            now = self.clock.now()
            return await merging.merge(port, source_id, target_id, now, dry_run=dry_run, retype=retype)

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        A target that exists through mentions alone, all of which were forgotten since, is deleted as by `forget`.

        Restores the state before the merge if nothing was written since. Whatever was written since, also about the
        source, stays with the target, but for what a memory states between the two, and its mentions of the source;
        forgotten memories stay forgotten. Raises `UnknownElementError` for a merge that does not exist and
        `InvalidInputError` for one that was undone already.
        """
        async with self.writing(changing=True) as port:
            return await merging.undo_merge(port, merge_id, self.clock.now())

    # -- of rows ---------------------------------------------------------------------------------------------------

    async def _elements(self, kind: ElementKind, ids: Sequence[Any]) -> list[Any]:
        found = {row.key: getattr(row, kind) for row in await self.rows(kind, ids)}
        return [found[key] for key in ids if key in found]

    async def _page(
        self, kind: ElementKind, after: UUID | str | None, limit: int, **filters: Unpack[Filters]
    ) -> list[Any]:
        validation.refuse("page", validation.number("limit", limit, 0))
        if named := filters.get("type"):
            filters["type"] = snake_case(named)
        return [getattr(row, kind) for row in await self.page(kind, after=after, limit=limit, **filters)]

    async def _mentions_of(self, entity_ids: Collection[UUID]) -> list[tuple[UUID, MentionRow]]:
        """What mentions each of some entities: of merged ones, what was written for them."""
        wanted = set(entity_ids)
        found = [(row.entity_id, row) for row in await self.rows_by("mention", "entity", wanted)]
        if (await self.scope_row()).merges:
            written = [(row.mention.entity_id, row) for row in await self.rows_by("mention", "written", wanted)]
            found += [(end, row) for end, row in written if end != row.entity_id]
        return found


def _asserted(row: EntityRow) -> AssertedEntity:
    given = revised(row.entity, type=row.given_type, aliases=row.given_aliases)
    return AssertedEntity(entity=given, named=row.named)


def _mention_place(mention: Mention) -> tuple[Any, ...]:
    """By (memory, entity, span), one without a span first."""
    return (mention.memory_id, mention.entity_id, _span(mention), mention.surface, mention.type, mention.confidence)


def _claim_place(dated: DatedClaim) -> tuple[Any, ...]:
    """In the order of the fold, then by content."""
    claim = dated.claim
    ends = (claim.source_id, claim.type, claim.target_id)
    period = (claim.valid_from or _EARLIEST, claim.valid_to or _LATEST)
    content = (claim.extractor, claim.fact, claim.kind, claim.confidence, claim.ceiling, _span(claim))
    return (dated.order, ends, period, *content)


def _span(proof: Mention | Claim) -> tuple[int, int]:
    return (proof.span.start, proof.span.end) if proof.span else (-1, -1)
