"""The curator: every curation operation on one graph."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Unpack
from uuid import UUID

import attrs
import numpy as np

from graphsearch._support.concurrency import in_order
from graphsearch._support.observing import all_observed
from graphsearch._support.paging import PAGE, pages
from graphsearch.access.gate import ALLOW_ALL, Gate, demand_everything
from graphsearch.access.reader import Reader, When, reading
from graphsearch.access.references import EntityRef, known
from graphsearch.claims.naming import folded_name, is_typed_by_mentions
from graphsearch.columns import Subgraph
from graphsearch.curation import browsing, communities, judging, receipts, summarising
from graphsearch.curation.browsing import Backlink, EntityGraph, EntityRecall, Event, Related, Standing
from graphsearch.curation.entity_search import EntityHit, find_entities
from graphsearch.curation.judging import Finding, Judged, JudgeReport
from graphsearch.curation.receipts import Receipt, Verification
from graphsearch.curation.summarising import SummariesReport
from graphsearch.display.node_link import link_of, node_of
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import (
    AccessDeniedError,
    EmbeddingModelError,
    InvalidInputError,
    MissingDependencyError,
    PartialViewError,
    UnknownElementError,
    UnknownScopeError,
)
from graphsearch.explaining.elements import Provenance, why
from graphsearch.health.duplicates import ALIKE, Ambiguity, Duplicate, ambiguities, compared
from graphsearch.health.formula import Health
from graphsearch.health.keeping import count_health, follow_repair, record_health
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.llms.structured import Answer, ask_numbered, failure_text
from graphsearch.llms.usage import ByteCounter, metered
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    Action,
    AssertedEntity,
    Batch,
    Community,
    CommunitySummary,
    Contradiction,
    Entity,
    Memory,
    MemoryLink,
    Mention,
    Merge,
    Relation,
    RelationType,
    Statistics,
    Triplet,
    UndoReport,
    Vector,
    WriteReport,
)
from graphsearch.model import validation as check
from graphsearch.model.identity import relation_id, snake_case
from graphsearch.model.reports import refuse_merge
from graphsearch.modes.natural_language import visible_schema
from graphsearch.modes.summary import content_of
from graphsearch.protocols import LLM, TokenCounter
from graphsearch.protocols.rows import MemoryFilters, MemoryGroup
from graphsearch.stores.graph import GraphStore
from graphsearch.text.bm25 import embedding_text

_LATEST: Final = datetime.max.replace(tzinfo=UTC)
_GROUPS: Final = 300
"""Groups of relations folded from visible memories at a time."""
_NOBODY: Final = UUID(int=0)
_REFUSALS: Final = (AccessDeniedError, InvalidInputError, UnknownElementError)
_ALREADY_DISTINCT: Final = "entities merged into these were marked as distinct: undo that merge, or merge these by hand"


@all_observed
class Curator:
    """Curates the graph of an engine on behalf of the principal of a ``gate``; without a gate, of the owner.

    Elements that the principal may not read are treated as absent. A change needs permission for every visible element
    it touches; otherwise `AccessDeniedError` is raised before anything is written. Without a gate all is allowed.

    Entities are given by id, or by a name or alias that is unique; the id of a merged entity resolves to the entity
    that it was merged into. Every method raises `UnknownElementError` for what does not exist or is not visible,
    `InvalidInputError` for a negative limit, and `UnknownScopeError` for a scope that was never written to. What needs
    the whole graph (communities, health, counts, registering a type, removing a scope, checking a receipt) raises
    `PartialViewError` for a principal that may not see everything. Reads that take ``as_of`` and ``known_at`` show what
    held then, and what was known then; by default at present.
    """

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None = None) -> None:
        self._engine = engine
        self._gate = gate
        self._hides = gate is not None and not gate.allows_all
        """Whether anything may be hidden or denied."""

    # -- one graph, not fragments ------------------------------------------------------------------------------------

    async def merge_entities(
        self, source: EntityRef, target: EntityRef, *, dry_run: bool = False, retype: bool = False
    ) -> Merge:
        """Merge an entity into another that is the same; try it with dry_run first. undo_merge reverts it.

        Mentions, claims, relations and names of the source become the target's. With ``dry_run``, only report what
        would move; behind a gate that hides, of the visible alone. Touches (merge) both entities, the source's
        relations, and the memories that mention it. `InvalidInputError` for an entity with itself, for entities of two
        types, and if either was merged into another already, which rules out cycles. With ``retype``, entities of two
        types are merged in one step, and the target's type is that of both until the merge is undone.
        """
        async with self._reading() as reader:
            one, other = [await _as_stored(end, reader) for end in (source, target)]
            relations, mentions, memories = await self._moving_with(one, reader)
            proofs = {id_ for each in relations for id_ in each.evidence}.union(each.memory_id for each in mentions)
            claims = await reader.claims(memory_ids=sorted(proofs)) if proofs else ()
        await self._demand(Action.MERGE, [one, other, *relations, *memories])
        if self._hides:
            refuse_merge(one.id, other.id, one, other, retype=retype)  # by shown types: hidden ones may differ
        merge = await self._store.merge(one.id, other.id, dry_run=dry_run, retype=retype or self._hides)
        merge = attrs.evolve(merge, source_name=one.name, target_name=other.name)
        if not dry_run:
            await follow_repair(self._store)
        if not self._hides:
            return merge
        stated = sum(one.id in (each.source_id, each.target_id) for each in claims)
        return attrs.evolve(merge, mentions=len(mentions), claims=stated, relations=len(relations))

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge: separate the two entities again.

        What was written since stays with the target, and what was forgotten stays forgotten. Touches (merge) both
        entities, their relations, and the memories that mention them, any of which may move back. Behind a gate that
        may hide anything of the scope the report has no counts. Raises `InvalidInputError` for a merge that was undone
        already.
        """
        async with self._reading() as reader:
            merge = next((each for each in await self._store.merges() if each.id == merge_id), None)
            ends = await reader.get_entities([merge.source_id, merge.target_id]) if merge else []
            if len(ends) < 2:  # noqa: PLR2004 - the two that were merged
                raise UnknownElementError(f"no merge {merge_id} in {self._store.scope}")
            touched: list[Entity | Relation | Memory] = [*ends]
            for end in ends:
                relations, _, memories = await self._moving_with(end, reader)
                touched += [*relations, *memories]
        await self._demand(Action.MERGE, touched)
        report = await self._store.undo_merge(merge_id)
        await follow_repair(self._store)
        await self._embed_again(report.reworded)
        return report.uncounted() if self._hides else report

    async def merges(self, entity: EntityRef | None = None) -> tuple[Merge, ...]:
        """List merges, including undone ones, in the order in which they were made; of an entity, its own."""
        async with self._reading() as reader:
            ids = () if entity is None else ((await _as_stored(entity, reader)).id,)
            found = await self._store.merges(ids)
            ends = sorted({end for merge in found for end in (merge.source_id, merge.target_id)})
            told = not self._hides or (self._gate is not None and self._gate.explains)
            names = {  # that of a merged entity may be of hidden mentions, which count as those of the other
                each.id: each.name if told or each.merged_into is None else ""
                for each in await reader.get_entities(ends)
            }
        shown = [merge.uncounted() if self._hides else merge for merge in found]
        return tuple(
            attrs.evolve(each, source_name=names[each.source_id], target_name=names[each.target_id])
            for each in shown
            if {each.source_id, each.target_id} <= names.keys()
        )

    async def find_duplicates(self, *, limit: int = 20, threshold: float = ALIKE) -> tuple[Duplicate, ...]:
        """List pairs of entities that may be one, the most similar first: merge them, or mark them as distinct.

        Their names are more alike than ``threshold``, in [0.6, 1]: by letters, or by a rule of names (`Likeness`):
        nicknames, short forms, a part of a name that fits one person alone, one name of two types. Code, files,
        addresses, dates and quantities have exact names and are left out, as are pairs that are merged or marked as
        distinct. Nothing is merged: above 0.92 a pair is near certain, other pairs are for review.
        """
        check.refuse("duplicates", check.number("limit", limit, 0), check.number("threshold", threshold, 0.6, 1))
        async with self._reading() as reader:
            return (await compared(self._store, reader, threshold=threshold, limit=limit)).pairs

    async def find_ambiguous(self, *, limit: int = 20) -> tuple[Ambiguity, ...]:
        """List first names and surnames that several people have, with these people: whom they mean is open.

        Whom their mentions mean is open: `merge_entities` settles it, and `mark_distinct` rules a candidate out. The
        candidates are found when they are asked for, among what may be seen: a hidden one is neither shown nor counted.
        """
        check.refuse("ambiguities", check.number("limit", limit, 0))
        async with self._reading() as reader:
            return tuple((await ambiguities(self._store, reader))[:limit])

    async def judge_duplicates(
        self,
        llm: LLM | AskFunction,
        *,
        limit: int = 20,
        threshold: float = ALIKE,
        skip: Iterable[tuple[UUID, UUID]] = (),
    ) -> JudgeReport:
        """Have a language model judge possible duplicates: merge the same, mark the distinct.

        They are at most ``limit`` pairs of `find_duplicates`. Pairs judged to be one entity are merged into the older
        one (`undo_merge` reverts it). Neither comes up again, so that the next call continues where this one ended.
        Pairs that the model is unsure of stay unchanged and would be judged again unless ``skip`` has their ids: see
        ``report.unsure``. A model that fails changes nothing. Once every question of a round fails, for example because
        the budget of a `graphsearch.llms.BudgetedLLM` is spent, the model is not called again: changes made so far
        stay, and the report lists the pairs that are left, and why.

        Touches what `merge_entities` and `mark_distinct` touch; pairs for which either is denied are not judged, and
        are reported as left. The model sees names of the graph: therefore a curator without a gate raises
        `MissingDependencyError`; pass ``gate=ALLOW_ALL`` if all names may be shown.
        """
        model, judged, done = as_llm(llm), 0, list[Judged]()
        self._demand_gate("judge_duplicates(…) shows names of the graph")
        check.refuse("duplicates", check.number("limit", limit, 0), check.number("threshold", threshold, 0.6, 1))
        passed = {frozenset(pair) for pair in skip}
        while judged < limit:
            wanted = limit - judged
            alike = await self.find_duplicates(limit=wanted + len(passed), threshold=threshold)
            ahead = [pair for pair in alike if frozenset((pair.one.id, pair.other.id)) not in passed][:wanted]
            if not ahead:
                break
            passed.update(frozenset((pair.one.id, pair.other.id)) for pair in ahead)
            while ahead:
                some, ahead = await self._current(ahead[: judging.ROUND]), ahead[judging.ROUND :]
                obstacles = [(pair, await self._obstacle(pair)) for pair in some]
                done += [judging.left(pair, obstacle) for pair, obstacle in obstacles if obstacle]
                free = [pair for pair, obstacle in obstacles if not obstacle]
                questions = list(map(judging.question, free))
                answers = await ask_numbered(model, judging.TASK, questions, answered_by="entities")
                done += await self._apply(free, answers)
                judged += len(free)
                if free and all(isinstance(answer, Exception) for answer in answers):
                    rest = [judging.left(pair, done[-1].why) for pair in await self._current(ahead)]
                    return JudgeReport((*done, *rest))
        return JudgeReport(tuple(done))

    async def mark_distinct(self, one: EntityRef, other: EntityRef, *, distinct: bool = True) -> bool:
        """Record that two entities are distinct, so that find_duplicates leaves them out; or remove the mark.

        True if that changed anything. Touches (write) both.
        """
        async with self._reading() as reader:
            pair = [await known(each, reader, exactly=True) for each in (one, other)]
        await self._demand(Action.WRITE, pair)
        changed = await self._store.mark_distinct([(pair[0].id, pair[1].id)], distinct=distinct)
        await follow_repair(self._store)
        return changed > 0

    async def update_entity(
        self,
        entity: EntityRef,
        *,
        name: str | None = None,
        type: str | None = None,
        description: str | None = None,
        aliases: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        attributes: Mapping[str, Any] | None = None,
        importance_weight: float | None = None,
    ) -> Entity:
        """Correct an entity: what is not given stays as it is, and a former name becomes an alias.

        Returns the corrected entity, whose id stays.

        * ``aliases``, ``labels`` and ``attributes``: the complete new values. Aliases found in memories are shown too.
        * ``importance_weight``: how much the entity matters, in [0, 1].

        An entity that memories name has its name and type from its mentions until its name is corrected, or its type
        is set to an unknown one. If the text that is embedded changes and the scope has vectors, it is embedded again:
        raises `MissingDependencyError` if the engine has no embedder, and `EmbeddingModelError` if it has another than
        the scope. Touches (write) the entity before and after the change.
        Raises `InvalidInputError` that names every fault, including a name that another entity of the type has.
        """
        corrections = _given(
            name=name,
            type=type,
            description=description,
            aliases=aliases,
            labels=labels,
            attributes=attributes,
            importance_weight=importance_weight,
        )
        async with self._reading() as reader:
            stored = await known(entity, reader, exactly=True)
            [given] = await self._store.asserted([stored.id])
            corrected = await _corrected(given, stored.name, corrections, reader)
            # a name that is not corrected stays as it is seen: the given one may be that of hidden memories
            seen = {each: getattr(stored, each) for each in ("name", "type") if each not in corrections}
            shown = attrs.evolve(corrected, **seen)
            await self._demand(Action.WRITE, [stored, shown])
            await _refuse_namesake(shown, stored, reader)
        settled = shown.name != stored.name or (
            type is not None and is_typed_by_mentions(shown.type, named=given.named)
        )
        if corrected != given.entity or settled:
            vectors = await self._vectors(shown, stored)
            only_named = given.named and not settled  # mentions continue to determine its name
            entities, named = ((), (corrected,)) if only_named else ((shown,), ())
            model = self._engine.embedder.name if self._engine.embedder else ""
            await self._store.write(Batch(entities=entities, named=named, vectors=vectors, embedder=model))
        async with self._reading() as reader:
            now = await reader.get_entities([stored.id])
        return now[0] if now else shown  # its new labels may hide it

    async def contradictions(self, *, limit: int = 20, **when: Unpack[When]) -> tuple[Contradiction, ...]:
        """List pairs of relations that cannot both hold, for a person to decide between them.

        Relations of functional types, by (source, type, ids), with their ends. They are those of the relations as
        folded from visible memories: as stored, pairs are missing that something hidden settled. They are in the order
        of the ids that the relations have in a graph without what is hidden.
        """
        check.refuse("contradictions", check.number("limit", limit, 0))
        found: list[Contradiction] = []
        async with self._reading(**when) as reader:
            groups = await self._with_several_targets(reader)
            for start in range(0, len(groups), _GROUPS):
                stored = {each.id: each for group in groups[start : start + _GROUPS] for each in group}
                own = {_own_id(each, stored.get(each.id)): each for each in await reader.shown(list(stored.values()))}
                pairs = Contradiction.among(attrs.evolve(each, id=id_) for id_, each in own.items())
                found += [Contradiction(one=own[each.one.id], other=own[each.other.id]) for each in pairs]
                if len(found) >= limit:
                    break
            ids = {id_ for each in found[:limit] for id_ in (each.source_id, each.one.target_id, each.other.target_id)}
            ends = {each.id: each for each in await reader.get_entities(sorted(ids))}
        return tuple(
            attrs.evolve(each, ends=(ends[each.source_id], ends[each.one.target_id], ends[each.other.target_id]))
            for each in found[:limit]
        )

    # -- finding and recalling ---------------------------------------------------------------------------------------

    async def search_entities(
        self, query: str, *, limit: int = 10, type: str | None = None, **when: Unpack[When]
    ) -> tuple[EntityHit, ...]:
        """Find entities by a name, a part of one, or a misspelt one, the best first."""
        check.refuse(
            "entity search",
            check.text("query", query, empty=True, longest=check.LONGEST_QUESTION),
            check.number("limit", limit, 0),
        )
        if not query.strip() or not limit:
            return ()
        async with self._reading(**when) as reader:
            return await find_entities(query, reader, type=type and snake_case(type), limit=limit)

    async def recall_entity(self, entity: EntityRef, *, limit: int = 10, **when: Unpack[When]) -> EntityRecall:
        """Show everything known of an entity: relations, memories that mention it, role, place and community.

        At most ``limit`` relations, and as many memories.
        """
        check.refuse("recall", check.number("limit", limit, 0))
        async with self._reading(**when) as reader:
            stored = await known(entity, reader)
            around = await reader.shown(await self._stored_relations(stored.id))
            return EntityRecall(
                entity=stored,
                triplets=await self._triplets(stored, reader, limit, when),
                memories=tuple(each.memory for each in await _mentioning(stored, reader, limit)),
                most_recent_role=await _standing("works_at", stored, around, reader),
                most_recent_location=await _standing("lives_in", stored, around, reader),
                community=next(iter(await reader.communities(entity_ids=[stored.id], limit=1)), None),
            )

    async def recall_related(
        self, entity: EntityRef, *, max_hops: int = 2, limit: int = 20, **when: Unpack[When]
    ) -> tuple[Related, ...]:
        """List the entities that can be reached from one, the nearest first, with the relations in between.

        They are those within ``max_hops`` by the engine's traversal, by hops, then by strength.
        """
        check.refuse("recall", check.number("max_hops", max_hops, 0), check.number("limit", limit, 0))
        async with self._reading(**when) as reader:
            graph = await self._walk(entity, max_hops, reader)
            order, strength = browsing.nearest(graph)
            rows = [row for row in order if graph.hops[row]][:limit]
            entities = await _entities_at(rows, graph, reader)
            paths = [tuple(await reader.relations(graph.relations[graph.path_to(row)])) for row in rows]
            ends = {end for path in paths for each in path for end in (each.source_id, each.target_id)}
            names = {each.id: each.name for each in await reader.get_entities(sorted(ends))}
        return tuple(
            Related(
                entity=entity_at,
                hops=int(graph.hops[row]),
                strength=float(strength[row]),
                path=path,
                names={end: names[end] for each in path for end in (each.source_id, each.target_id) if end in names},
            )
            for row, entity_at, path in zip(rows, entities, paths, strict=True)
        )

    async def entity_graph(
        self, entity: EntityRef, *, depth: int = 1, limit: int = 100, **when: Unpack[When]
    ) -> EntityGraph:
        """Show the entities around one and the relations among them, as node-link JSON.

        They are at most ``limit`` within ``depth`` hops:
        ``{"directed", "multigraph", "graph", "nodes", "links"}``, as ``networkx.node_link_graph(…, edges="links")``
        reads it; the key of a link is the id of its relation.
        """
        check.refuse("entity graph", check.number("depth", depth, 0), check.number("limit", limit, 1))
        async with self._reading(**when) as reader:
            graph = await self._walk(entity, depth, reader)
            rows = sorted(browsing.nearest(graph)[0][:limit])
            entities = await _entities_at(rows, graph, reader)
            among = np.flatnonzero(np.isin(graph.source, rows) & np.isin(graph.target, rows))
            relations = await reader.relations(graph.relations[among])
        nodes = [node_of(each, hops=int(graph.hops[row])) for row, each in zip(rows, entities, strict=True)]
        links = [link_of(relation) for relation in sorted(relations, key=browsing.link_order)]
        return EntityGraph(directed=True, multigraph=True, graph={}, nodes=nodes, links=links)

    async def entity_timeline(
        self, entity: EntityRef, *, since: datetime | None = None, until: datetime | None = None, **when: Unpack[When]
    ) -> tuple[Event, ...]:
        """List what happened to an entity, in order: relations that began or ended, memories that mention it.

        Events at ``since`` ≤ t < ``until``.
        """
        check.refuse("timeline", check.instant("since", since), check.instant("until", until))
        check.refuse("timeline", check.in_order("since", since, "until", until))
        async with self._reading(**when) as reader:
            id_ = (stored := await known(entity, reader)).id
            relations = await reader.shown(await self._stored_relations(id_))
            others = [each.target_id if each.source_id == id_ else each.source_id for each in relations]
            ends = {each.id: each for each in await reader.get_entities(sorted(set(others)))}
            memories = [each.memory for each in await _mentioning(stored, reader, None)]
        joined = [(each, ends[other]) for each, other in zip(relations, others, strict=True)]
        events = browsing.events_of(joined, memories)
        return tuple(each for each in events if (since or each.at) <= each.at and (until is None or each.at < until))

    async def why(self, relation_id: UUID, **when: Unpack[When]) -> Provenance:
        """Show why the graph holds a relation: the memories that support it, their words, and what each contributes."""
        async with self._reading(**when) as reader:
            return await why(relation_id, reader)

    # -- memories ----------------------------------------------------------------------------------------------------

    async def link_memories(self, from_id: str, to_id: str, *, type: str = "relates_to") -> bool:
        """Link a memory to another; backlinks of the second then lists the first.

        True if the link is new. Touches (write) both.
        """
        link = MemoryLink(from_id=from_id, to_id=to_id, type=type)
        async with self._reading() as reader:
            ends = await self._memories([from_id, to_id], reader)
        await self._demand(Action.WRITE, ends)
        return await self._store.link_memories([link]) > 0

    async def backlinks(
        self,
        *,
        entity: EntityRef | None = None,
        memory: str | None = None,
        limit: int | None = None,
        **when: Unpack[When],
    ) -> tuple[Backlink, ...]:
        """List the memories that mention an entity, newest first, or those that refer to a memory; give one of the two.

        Those that `link_memories` linked to the memory come first, newest first; then those that share entities with
        it, by the sum of the rarity of these. What is hidden neither appears nor counts.
        """
        check.refuse(
            "backlinks",
            None if limit is None else check.number("limit", limit, 0),
            None if (entity is None) != (memory is None) else "give either an entity or a memory",
        )
        async with self._reading(**when) as reader:
            if entity is not None:
                return tuple(await _mentioning(await known(entity, reader), reader, limit))
            return tuple((await self._referring(str(memory), reader))[:limit])

    async def forget(
        self, memory: str | None = None, *, dry_run: bool = False, **of: Unpack[MemoryGroup]
    ) -> WriteReport:
        """Forget a memory, or all of a session, source, subject, owner or label. Irreversible; try it with dry_run.

        Give one of ``memory``, ``session_id``, ``source``, ``subject`` (what the memories are about, as they state it),
        ``owner`` (their attribute of that name, as policies read it) and ``label``; `InvalidInputError` otherwise. With
        ``dry_run``, only report what would be removed. Everything that rests on them alone goes with them.
        Returns what was removed, behind a gate that hides memories alone; an unknown memory changes nothing, and all
        counts are 0. Each transaction covers a thousand memories. Touches (forget) each of them.
        """
        return await self._forget(await self._to_forget(memory, of), dry_run=dry_run)

    async def forget_with_receipt(self, memory: str | None = None, **of: Unpack[MemoryGroup]) -> Receipt:
        """Forget as forget does, and return a receipt that verify_receipt checks. Irreversible.

        A third party can check it. The content that its hash covers is read before anything is forgotten, in another
        transaction. Reads all relations of the scope.
        """
        ids = await self._to_forget(memory, of)
        salt, content = secrets.token_hex(16), list[bytes]()
        for start in range(0, len(ids), PAGE):
            content += receipts.digests(salt, await receipts.read_content(ids[start : start + PAGE], self._store))
        report = await self._forget(ids)
        left = await receipts.count_remains(ids, self._store) if ids else {}
        return self._receipt(report, salt, content, memories=sorted(ids), left=left)

    async def expire(self, age: timedelta, *, label: str | None = None, source: str | None = None) -> WriteReport:
        """Forget the memories with a label, from a source, or both, that are older than ``age``, as `forget` does.

        The age counts from ``occurred_at``, or, where it is not known, from when the memory was written. Call it
        regularly: a memory lives until the first call after its time. Raises `InvalidInputError` without a label or a
        source, and for an age of 0 or less.
        """
        given = _given(label=label, source=source)
        check.refuse(
            "expiry",
            None if age > timedelta() else f"age must be more than nothing, not {age}",
            None if given else "give a label, a source or both",
            *(check.text(name, value) for name, value in given.items()),
        )
        now = self._store.clock.now()
        before = now - min(age, now - browsing.EARLIEST)
        return await self._forget(await self._forgettable(label=label, source=source, before=before))

    async def remove_scope(self) -> Receipt:
        """Remove the project and everything in it, and return a receipt, which verify_receipt checks.

        Touches (forget) every element. What is written between reading the content for the receipt and the removal is
        removed as well, and not covered by its hash.
        """
        salt, content = secrets.token_hex(16), list[bytes]()
        try:
            async with self._whole("the removal of a scope"):
                held = await self._store.statistics()
                await demand_everything(self._store, self._gate, Action.FORGET)
                async for page in pages(self._store.list_memories):
                    found = await receipts.read_content([memory.id for memory in page], self._store)
                    content += receipts.digests(salt, found)
        except UnknownScopeError:  # nothing was ever written
            return self._receipt(WriteReport(), salt, (), whole=True)
        await self._store.remove_scope()
        removed = WriteReport(
            memories=held.memories,
            entities_removed=held.entities,
            relations_retracted=held.relations,
            mentions_removed=held.mentions,
            claims_removed=held.claims,
        )
        return self._receipt(removed, salt, content, whole=True)

    async def verify_receipt(self, receipt: Receipt) -> Verification:
        """Check a receipt of forgetting: that it is as it was made, and that nothing of what it names is left.

        Raises `InvalidInputError` for a receipt of another scope. Reads all relations of the scope.
        """
        store = self._store
        foreign = f"is of the scope {receipt.scope}, and the store of {store.scope}"
        check.refuse("receipt", foreign if receipt.scope != store.scope else None)
        try:
            async with self._whole("the check of a receipt"):
                if receipt.whole:
                    return Verification(intact=receipt.intact, left=await receipts.count_older(receipt.at, store))
                stored = await store.get_memories(receipt.memories)
                again = {each.id for each in stored if each.created_at is not None and each.created_at > receipt.at}
                gone = [id_ for id_ in receipt.memories if id_ not in again]
                left = await receipts.count_remains(gone, store, again)
        except UnknownScopeError:  # removed
            return Verification(intact=receipt.intact, left={})
        return Verification(intact=receipt.intact, left=left, again=tuple(sorted(again)))

    # -- the graph as a whole ----------------------------------------------------------------------------------------

    async def detect_communities(self, *, limit: int | None = None, seed: int = 0) -> tuple[Community, ...]:
        """Detect and store all communities again, from the whole graph; list them, the largest first.

        Of all relations that hold now. Touches (write) every member.
        """
        found, _ = await self._grouped(seed, anew=True)
        return (await self._store_communities(found, None))[:limit]

    async def refresh_communities(self, *, limit: int | None = None, seed: int = 0) -> tuple[Community, ...]:
        """Update the communities whose relations changed; list those that changed, the largest first.

        Touches (write) every member of those that changed.
        """
        found, former = await self._grouped(seed)
        before = {each.id: each for each in former}
        after = {each.id for each in found}
        fresh = [each for each in found if not communities.is_same(each, before.get(each.id))]
        gone = [each for each in former if each.id not in after]
        return (await self._store_communities(fresh, gone))[:limit] if fresh or gone else ()

    async def communities(self, entity: EntityRef | None = None, *, limit: int | None = 20) -> tuple[Community, ...]:
        """List the stored communities (groups of related entities), the largest first; of an entity, its own."""
        check.refuse("communities", None if limit is None else check.number("limit", limit, 0))
        async with self._whole("communities") as reader:
            ids = None if entity is None else [(await known(entity, reader)).id]
            return tuple(await self._store.communities(entity_ids=ids, limit=limit))

    async def summarise_communities(
        self,
        llm: LLM | AskFunction,
        *,
        limit: int | None = None,
        min_size: int = summarising.MIN_SIZE,
        counter: TokenCounter | None = None,
        prompt_tokens: int = summarising.PROMPT_TOKENS,
        answer_tokens: int = summarising.ANSWER_TOKENS,
    ) -> SummariesReport:
        """Have a language model summarise the communities that are new or have changed; run it again to go on.

        Its sentences cite relations and memories. At most ``limit`` communities are asked for, the largest first, of at
        least ``min_size`` members, and only those without a summary of their present content. Each summary is stored
        once it is answered. Unusable answers, and prompts that the model turns down, are counted, and the others go on,
        unless the first four are turned down; once the budget of a `graphsearch.llms.BudgetedLLM` is spent, the rest is
        left. Any other error of the model is raised; what was stored before stays. ``prompt_tokens`` bounds each
        prompt, and ``answer_tokens`` each answer, by ``counter``; the default counts bytes, more than there are tokens.

        Touches (write) every member of a community that is asked for. The model sees texts of the graph: therefore a
        curator without a gate raises `MissingDependencyError`; pass ``gate=ALLOW_ALL`` if all may be shown.
        """
        model, tally = as_llm(llm), summarising.Tally(limit)
        check.refuse(
            "summaries",
            None if limit is None else check.number("limit", limit, 0),
            check.number("min_size", min_size, 2),
            check.number("prompt_tokens", prompt_tokens, 1),
            check.number("answer_tokens", answer_tokens, 1),
        )
        self._demand_gate("summarise_communities(…) shows texts of the graph")
        limits = {"prompt_tokens": prompt_tokens, "answer_tokens": answer_tokens}
        async with self._whole("communities"):
            ahead = [each for each in await self._store.communities() if each.size >= min_size]

        async def summarise(read: summarising.Read) -> summarising.Outcome:
            try:
                return await self._summarise(read, model, counter or ByteCounter(), **limits)
            except Exception as error:  # noqa: BLE001 - the tally raises it, once the other prompts have been answered
                return error

        with metered() as meter:
            for start in range(0, len(ahead), summarising.AT_ONCE):
                found = [await self._read(each) for each in ahead[start : start + summarising.AT_ONCE]]
                due = [read for read in found if read is not None and tally.takes(read.content)]
                outcomes = await in_order(summarise, due, limit=summarising.AT_ONCE)
                tally.add([read.content.community for read in due], outcomes)
        return tally.report(meter.total)

    async def graph_health(self) -> Health:
        """Report the health of the graph and its problems, and store it, for recall and blocks."""
        async with self._whole("the counts of health") as reader:
            counts = await count_health(self._store, reader)
        return await record_health(counts, self._store)

    async def stats(self) -> Statistics:
        """Return the numbers of the scope."""
        async with self._whole("the counts of the project"):
            return await self._store.statistics()

    # -- the types of relations --------------------------------------------------------------------------------------

    async def relation_types(self) -> tuple[RelationType, ...]:
        """List the types of relations known from the start or registered, with their properties.

        A principal that may not see everything gets registered ones only if a visible relation has the type.
        """
        async with self._reading() as reader:
            found = await self._store.relation_types()
            if not await reader.sees_everything():
                used = (await visible_schema(reader)).relation_types
                found = {name: each for name, each in found.items() if name in KNOWN_RELATION_TYPES or name in used}
        return tuple(found[name] for name in sorted(found))

    async def register_type(
        self,
        name: str,
        *,
        prior: float | None = None,
        half_life_days: float | None = None,
        hop_scores: Sequence[float] | None = None,
        functional: bool | None = None,
        causal: bool | None = None,
        skip: bool | None = None,
        state: bool | None = None,
    ) -> RelationType:
        """Register a type of relation, or change a known one: what is not given stays as it is.

        A type determines how its relations are folded, scored and printed; they are folded again.

        * ``prior``: the reliability of the type's relations, in [0, 1].
        * ``half_life_days``: the age at which they count half, in days; 0: they do not age.
        * ``hop_scores``: the scores by distance, see `RelationType`.
        * ``functional``: a source has one target at a time. ``causal``: the source is printed before the target.
        * ``skip``: searches leave them out. ``state``: they hold until something ends them.

        Touches (write) a relation of the type. Raises `InvalidInputError` that names every fault.
        """
        properties = _given(
            prior=prior, hop_scores=hop_scores, functional=functional, causal=causal, skip=skip, state=state
        )
        if half_life_days is not None:
            properties["half_life_days"] = half_life_days or None
        fresh = RelationType(name=name, **properties)
        await self._demand(Action.WRITE, [Relation(source_id=_NOBODY, target_id=_NOBODY, type=fresh.name)])
        try:
            async with self._whole("the relations of a type"):  # all of them are folded again
                types = await self._store.relation_types()
        except UnknownScopeError:  # nothing was ever written: there are the types known from the start
            types = KNOWN_RELATION_TYPES
        before = types.get(fresh.name)
        changed = fresh if before is None else attrs.evolve(before, **properties)
        if changed != before:
            await self._store.register_types([changed])
        return changed

    # -- what the principal may see and do ---------------------------------------------------------------------------

    @property
    def _store(self) -> GraphStore:
        return self._engine.store

    def _reading(self, **when: Unpack[When]) -> AbstractAsyncContextManager[Reader]:
        """Open a snapshot through the gate."""
        return reading(self._store, gate=self._gate, **when)

    @asynccontextmanager
    async def _whole(self, wanted: str) -> AsyncIterator[Reader]:
        """Open a snapshot; raise `PartialViewError` if anything of it may be hidden from the principal."""
        async with self._reading() as reader:
            if not await reader.sees_everything():
                raise PartialViewError(wanted)
            yield reader

    async def _demand(self, action: Action, elements: Iterable[Entity | Relation | Memory]) -> None:
        """Raise `AccessDeniedError` unless the action is allowed for every element."""
        await (self._gate or ALLOW_ALL).bind(self._store.scope, action).demand(elements)

    def _demand_gate(self, what: str) -> None:
        """Raise `MissingDependencyError` without a gate, for what a language model is shown."""
        if self._gate is None:
            raise MissingDependencyError(
                f"{what} to a language model and needs a gate: pass Curator(engine, gate=Gate(authorizer, principal)),"
                " or gate=ALLOW_ALL where all of it may be shown"
            )

    # -- parts of entities -------------------------------------------------------------------------------------------

    async def _stored_relations(self, entity_id: UUID) -> list[Relation]:
        """Every unretracted relation of an entity, in either direction, by id; not yet filtered by a gate."""
        return [each async for page in pages(self._store.list_relations, entity_id=entity_id) for each in page]

    async def _moving_with(
        self, entity: Entity, reader: Reader
    ) -> tuple[Sequence[Relation], Sequence[Mention], Sequence[Memory]]:
        """The visible relations and mentions of an entity that move with it, and the memories; none without a gate."""
        if not self._hides:
            return (), (), ()
        relations = await reader.shown(await self._stored_relations(entity.id))
        mentions = await reader.mentions(entity_ids=[entity.id])
        return relations, mentions, await reader.get_memories(sorted({each.memory_id for each in mentions}))

    async def _vectors(self, after: Entity, before: Entity) -> dict[UUID, Vector]:
        """The vector of the corrected text, if the text changed and the scope has vectors."""
        engine, scope = self._engine, self._store.scope
        bound = await self._store.embedder_name()
        if bound is None or embedding_text(after) == embedding_text(before):
            return {}
        if engine.embedder is None:
            raise MissingDependencyError(
                f"the text of an entity in {scope} is embedded by {bound!r}: pass it as"
                " GraphSearchEngine(store=…, embedder=…)"
            )
        if engine.embedder.name != bound:
            raise EmbeddingModelError(
                f"the vectors of {scope} were made by {bound!r}, and this engine embeds with {engine.embedder.name!r}:"
                " pass the first"
            )
        [vector] = await engine.embedder.embed([embedding_text(after)], input_type="document")
        return {after.id: vector}

    async def _embed_again(self, ids: Collection[UUID]) -> None:
        """Write the vectors of entities that the store lists as reworded.

        An engine without the embedder of its scope leaves them without: they are found by their words, and embedded
        when they are next written.
        """
        embedder = self._engine.embedder
        if not ids or embedder is None or embedder.name != await self._store.embedder_name():
            return
        texts = {each.id: embedding_text(each) for each in await self._store.get_entities(sorted(set(ids)))}
        rows = await embedder.embed(list(texts.values()), input_type="document")
        vectors = dict(zip(texts, rows, strict=True))
        await self._store.write(Batch(vectors=vectors, embedded=texts, embedder=embedder.name))

    async def _with_several_targets(self, reader: Reader) -> list[list[Relation]]:
        """The groups of stored relations of functional types whose targets differ, in order of (source, type)."""
        groups: dict[tuple[UUID, str], list[Relation]] = {}
        for name in (name for name, each in reader.types.items() if each.functional):
            async for page in pages(self._store.list_relations, type=name):
                for each in page:
                    groups.setdefault((each.source_id, name), []).append(each)
        return [groups[key] for key in sorted(groups) if len({each.target_id for each in groups[key]}) > 1]

    async def _triplets(self, entity: Entity, reader: Reader, limit: int, when: When) -> tuple[Triplet, ...]:
        """The best triplets around an entity, with their ends as they are seen; none if it does not hold now."""
        if not limit or not len(await reader.locate([entity.id])):
            return ()
        found = await self._engine.neighbors(entity.id, limit=limit, gate=self._gate, **when)
        ends = sorted({end.id for each in found for end in (each.source, each.target)})
        seen = {end.id: end for end in await reader.get_entities(ends)}
        return tuple(attrs.evolve(each, source=seen[each.source.id], target=seen[each.target.id]) for each in found)

    async def _walk(self, entity: EntityRef, depth: int, reader: Reader) -> Subgraph:
        """Walk from an entity, by the engine's traversal."""
        start = await known(entity, reader)
        return await self._engine.traversal.traverse(await reader.locate([start.id]), depth=depth, reader=reader)

    # -- parts of judging --------------------------------------------------------------------------------------------

    async def _current(self, pairs: Sequence[Duplicate]) -> list[Duplicate]:
        """The pairs as they are visible now, without those with a merged or deleted entity."""
        async with self._reading() as reader:
            seen = await reader.get_entities(sorted({end.id for pair in pairs for end in (pair.one, pair.other)}))
        here = {entity.id: entity for entity in seen if entity.merged_into is None}
        return [
            attrs.evolve(pair, one=here[pair.one.id], other=here[pair.other.id])
            for pair in pairs
            if pair.one.id in here and pair.other.id in here
        ]

    async def _obstacle(self, pair: Duplicate) -> str:
        """Why a pair is not to be judged, or "": an answer that cannot be applied would be paid for in vain."""
        if await self._is_marked_distinct(pair.one.id, pair.other.id):
            return _ALREADY_DISTINCT
        if self._hides:
            try:
                await self.merge_entities(pair.one.id, pair.other.id, dry_run=True, retype=True)
                await self._demand(Action.WRITE, (pair.one, pair.other))
            except _REFUSALS as refusal:
                return str(refusal)
        return ""

    async def _apply(self, pairs: Sequence[Duplicate], answers: Sequence[Answer]) -> list[Judged]:
        """Apply the answers; marks come first, so that no chain of merges joins distinct entities."""
        done: dict[int, Judged] = {}
        for place in sorted(range(len(pairs)), key=lambda place: answers[place] == judging.ONE):
            try:
                done[place] = await self._apply_one(pairs[place], answers[place])
            except _REFUSALS as refusal:  # denied by a policy, or the graph was changed concurrently
                done[place] = judging.left(pairs[place], str(refusal))
        return [done[place] for place in range(len(pairs))]

    async def _apply_one(self, pair: Duplicate, answer: Answer) -> Judged:
        """Merge into the older entity, so that a chain is merged into the same entity in any order; or mark."""
        match answer:
            case Exception():
                return judging.left(pair, failure_text(answer))
            case judging.UNSURE:
                return Judged(pair=pair, finding=Finding.UNSURE)
            case judging.TWO:
                await self.mark_distinct(pair.one.id, pair.other.id)
                return Judged(pair=pair, finding=Finding.DISTINCT)
            case judging.ONE:
                async with self._reading() as reader:
                    ends = [await known(each.id, reader) for each in (pair.one, pair.other)]
                target, source = sorted(ends, key=lambda each: (each.created_at or _LATEST, each.id))
                if source.id == target.id:
                    return Judged(pair=pair, finding=Finding.MERGED)
                if await self._is_marked_distinct(source.id, target.id):
                    return judging.left(pair, _ALREADY_DISTINCT)
                merge = await self.merge_entities(source.id, target.id, retype=True)
                return Judged(pair=pair, finding=Finding.MERGED, merge=merge.id)
        return judging.left(pair, "the model gave none of the possible answers")

    async def _is_marked_distinct(self, one: UUID, other: UUID) -> bool:
        """Whether an entity merged into one of two is marked as distinct from one merged into the other."""
        ones, others = [await self._absorbed(each) for each in (one, other)]
        marks = await self._store.distinct_pairs(sorted(ones))
        return any((low in ones and high in others) or (low in others and high in ones) for low, high in marks)

    async def _absorbed(self, entity_id: UUID) -> set[UUID]:
        """An entity, and all entities that were merged into it."""
        found, ahead = {entity_id}, [entity_id]
        while ahead:
            merges = await self._store.merges(ahead)
            into = {merge.source_id for merge in merges if merge.undone_at is None and merge.target_id in found}
            ahead = sorted(into - found)
            found |= into
        return found

    # -- parts of memories -------------------------------------------------------------------------------------------

    async def _memories(self, ids: Sequence[str], reader: Reader) -> list[Memory]:
        """Memories in the order of ``ids``; raise `UnknownElementError` for those absent or not visible."""
        found = {memory.id: memory for memory in await reader.get_memories(ids)}
        absent = [id_ for id_ in dict.fromkeys(ids) if id_ not in found]
        if absent:
            raise UnknownElementError(f"no memory {' and no memory '.join(map(repr, absent))} in {self._store.scope}")
        return [found[id_] for id_ in ids]

    async def _referring(self, memory_id: str, reader: Reader) -> list[Backlink]:
        """The visible memories that link to a memory, newest first, then those that share entities with it."""
        await self._memories([memory_id], reader)
        own = sorted({mention.entity_id for mention in await reader.mentions(memory_ids=[memory_id])})
        visible = [entity.id for entity in await reader.get_entities(own)]
        mentions = browsing.by_memory(await reader.mentions(entity_ids=visible) if visible else ())
        others = await reader.get_memories(sorted(mentions.keys() - {memory_id}))
        shared = {each.memory.id: each for each in browsing.by_rarity(others, mentions)}
        links: dict[str, list[MemoryLink]] = {}
        for link in await self._store.memory_links([memory_id]):
            if link.to_id == memory_id:
                links.setdefault(link.from_id, []).append(link)
        linking = browsing.newest_first(await reader.get_memories(sorted(links)))
        linked = [
            attrs.evolve(shared.pop(each.id, Backlink(memory=each)), links=tuple(links[each.id])) for each in linking
        ]
        return [*linked, *shared.values()]

    async def _to_forget(self, memory: str | None, of: MemoryGroup) -> list[str]:
        """The ids of the memories to forget, after checking that each of them may be forgotten."""
        given, names = _given(**of), MemoryGroup.__annotations__
        check.refuse(
            "forgetting",
            None if len(given) + (memory is not None) == 1 else f"give one of memory, {', '.join(names)}",
            *(check.text(name, value) if name in names else f"{name} is unknown" for name, value in given.items()),
        )
        if memory is None:
            return await self._forgettable(**of)
        async with self._reading() as reader:
            found = await reader.get_memories([memory])
        await self._demand(Action.FORGET, found)
        return [each.id for each in found]

    async def _forgettable(self, **filters: Unpack[MemoryFilters]) -> list[str]:
        """The ids of all visible memories that pass the filters, after checking that each of them may be forgotten."""
        ids: list[str] = []
        async with self._reading() as reader:
            async for page in pages(self._store.list_memories, **filters):
                shown = await reader.get_memories([memory.id for memory in page])
                await self._demand(Action.FORGET, shown)
                ids += [memory.id for memory in shown]
        return ids

    async def _forget(self, ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        """Forget page by page, each in its own transaction, and add up the reports; a dry run takes all at once."""
        total = WriteReport()
        step = max(len(ids), 1) if dry_run else PAGE
        for start in range(0, len(ids), step):
            report = await self._store.forget(ids[start : start + step], dry_run=dry_run)
            total = WriteReport(**{name: getattr(total, name) + value for name, value in _fields(report).items()})
        if not dry_run:
            await self._embed_again(total.reworded)
        return WriteReport(memories=total.memories) if self._hides else total

    def _receipt(self, removed: WriteReport, salt: str, content: Iterable[bytes], **fields: Any) -> Receipt:
        """The receipt of a forgetting, of whose content the digests were taken just before."""
        counts = {name: value for name, value in _fields(removed).items() if isinstance(value, int) and value}
        return Receipt(
            scope=self._store.scope,
            at=self._store.clock.now(),
            by=(self._gate or ALLOW_ALL).principal.qualified_id,
            removed=counts,
            salt=salt,
            content=receipts.content_hash(salt, content),
            **{"memories": (), **fields},
        )

    # -- parts of communities ----------------------------------------------------------------------------------------

    async def _grouped(self, seed: int, *, anew: bool = False) -> tuple[tuple[Community, ...], Sequence[Community]]:
        """The communities of the whole graph, by default from those stored, whose ids they keep; and these."""
        async with self._whole("communities") as reader:
            former = await self._store.communities()
            network = await communities.read_network(self._store, reader.view)

        def group() -> tuple[Community, ...]:
            found = communities.detect_communities(network, () if anew else former, seed=seed)
            return communities.with_former_ids(found, former)

        return await asyncio.to_thread(group), former

    async def _store_communities(
        self, fresh: Sequence[Community], gone: Sequence[Community] | None
    ) -> tuple[Community, ...]:
        """Write communities, replacing all stored ones if ``gone`` is None, and return them."""
        if self._hides:
            touched = {member for each in (*fresh, *(gone or ())) for member in each.members}
            await self._demand(Action.WRITE, await communities.read_entities(sorted(touched), self._store))
        await self._store.write_communities(fresh, replacing=None if gone is None else [each.id for each in gone])
        return tuple(fresh)

    async def _read(self, community: Community) -> summarising.Read | None:
        """What a community contains now; None if it is gone, or has no relation that holds."""
        async with self._reading() as reader:
            version = await self._store.version()
            stored = await self._store.communities(entity_ids=community.members[:1])
            found = next((each for each in stored if each.id == community.id), None)
            content = None if found is None else await content_of(found, reader)
        return None if content is None else summarising.Read(content, version)

    async def _summarise(
        self, read: summarising.Read, model: LLM, counter: TokenCounter, **limits: int
    ) -> Community | None:
        """Ask for a summary and store it; None if the community has changed since its content was read."""
        if self._hides:
            members = await communities.read_entities(read.content.community.members, self._store)
            await self._demand(Action.WRITE, members)
        summary = CommunitySummary(
            sentences=await summarising.ask_for_summary(read.content, model, counter, **limits),
            fingerprint=read.content.fingerprint,
            model=str(getattr(model, "name", "")),
            written_at=self._store.clock.now(),
        )
        current: summarising.Read | None = read
        for _ in range(summarising.TRIES):
            if current is None or current.content.fingerprint != summary.fingerprint:
                return None
            written = attrs.evolve(current.content.community, summary=summary)
            if await self._store.write_summary(written, version=current.version):
                return attrs.evolve(read.content.community, summary=summary)
            current = await self._read(read.content.community)
        return None


async def _as_stored(entity: EntityRef, reader: Reader) -> Entity:
    """The entity itself, even if it was merged into another that is visible: the store decides what that means."""
    final = await known(entity, reader, exactly=True)
    return (await reader.get_entities([entity]))[0] if isinstance(entity, UUID) else final


async def _corrected(given: AssertedEntity, name: str, corrections: Mapping[str, Any], reader: Reader) -> Entity:
    """The entity, so far shown by a name, after the corrections. Raises `InvalidInputError` that names every fault."""
    after = attrs.evolve(given.entity, **corrections)
    aliases = [alias for alias in after.aliases if folded_name(alias) != folded_name(after.name)]
    if folded_name(name) not in {folded_name(each) for each in (after.name, *aliases)}:
        mentions = await reader.mentions(entity_ids=[after.id]) if given.named else ()
        if all(folded_name(mention.surface) != folded_name(name) for mention in mentions):  # else one while they exist
            aliases.append(name)
    return attrs.evolve(after, aliases=aliases)


async def _refuse_namesake(after: Entity, before: Entity, reader: Reader) -> None:
    """Raise `InvalidInputError` if another visible entity of the type has the name that an entity is given."""
    if (after.type, folded_name(after.name)) == (before.type, folded_name(before.name)):
        return
    named = [match.entity_id for match in await reader.find_names([after.name]) if not match.alias]
    for other in await reader.get_entities(named):
        if other.type == after.type and other.id != after.id:
            raise InvalidInputError(
                f"entity {after.id}", [f"another {after.type} has this name, {other.id}: merge the two"]
            )


async def _mentioning(entity: Entity, reader: Reader, limit: int | None) -> list[Backlink]:
    """The visible memories that mention an entity, newest first."""
    mentions = browsing.by_memory(await reader.mentions(entity_ids=[entity.id]))
    memories = browsing.newest_first(await reader.get_memories(sorted(mentions)))[:limit]
    return [Backlink(memory=each, mentions=tuple(mentions[each.id])) for each in memories]


async def _standing(type_: str, entity: Entity, around: Sequence[Relation], reader: Reader) -> Standing | None:
    """The relation of a type that an entity last had, with its target."""
    last = browsing.most_recent(around, type_, entity.id, reader.view.as_of)
    if last is None:
        return None
    [other] = await reader.get_entities([last.target_id])
    return Standing(relation=last, entity=other)


async def _entities_at(rows: Sequence[int], graph: Subgraph, reader: Reader) -> list[Entity]:
    """The entities in rows of a walked graph."""
    ids = reader.entity_ids(graph.entities[rows])
    entities = {each.id: each for each in await reader.get_entities(ids)}
    return [entities[id_] for id_ in ids]


def _own_id(shown: Relation, stored: Relation | None) -> UUID:
    """The id of a relation in a graph without what is hidden: claims that begin at another time prove another id."""
    if stored is None or shown.valid_from == stored.valid_from:
        return shown.id
    return relation_id(shown.source_id, shown.type, shown.target_id, shown.valid_from)


def _given(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def _fields(report: WriteReport) -> dict[str, Any]:
    return attrs.asdict(report, recurse=False)
