"""The curator: every curation operation on one graph."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Unpack
from uuid import UUID

import attrs

from graphsearch._support.observing import all_observed
from graphsearch._support.options import with_options
from graphsearch._support.paging import PAGE, pages
from graphsearch.access.gate import Gate
from graphsearch.access.provenance import Provenance, why
from graphsearch.access.reader import EntityRef, known
from graphsearch.access.stored_elements import demand_everything
from graphsearch.claims.naming import is_typed_by_mentions
from graphsearch.curation import (
    communities,
    entity_changes,
    entity_recall,
    entity_search,
    forgetting,
    memories,
    neighbourhood,
    registered_types,
    review,
    summarising,
)
from graphsearch.curation.communities import with_former_ids
from graphsearch.curation.permissions import Access
from graphsearch.display.picture import link_of, node_of
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, UnknownElementError, UnknownScopeError
from graphsearch.health import duplicates
from graphsearch.health.formula import Growth, Health, ScopeSize, graph_health
from graphsearch.health.keeping import counted, follow_repair, growth_since, record
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    Action,
    Batch,
    Community,
    Contradiction,
    Entity,
    MemoryLink,
    Merge,
    Relation,
    RelationType,
    UndoReport,
    WriteReport,
)
from graphsearch.model import validation as check
from graphsearch.model.reports import Statistics
from graphsearch.modes.graph_query import visible_schema
from graphsearch.protocols import LLM, GraphStore, TokenCounter


@all_observed
class Curator:
    """Curates the graph of an engine on behalf of the principal of a ``gate``; without a gate, of the owner.

    Elements that the principal may not read are treated as absent. A change needs permission for every visible element
    it touches; otherwise `AccessDeniedError` is raised before anything is written. Without a gate all is allowed.

    Entities are given by id, or by a name or alias that is unique; the id of a merged entity resolves to the entity
    that it was merged into. Every method raises `UnknownElementError` for what does not exist or is not visible,
    `InvalidInputError` for a negative limit, and `UnknownScopeError` for a scope that was never written to.
    """

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None = None) -> None:
        self._access = Access(engine, gate)

    # -- one graph, not fragments --------------------------------------------------------------------------------

    async def merge_entities(
        self, source: EntityRef, target: EntityRef, *, dry_run: bool = False, retype: bool = False
    ) -> Merge:
        """Merge two entities: mentions, claims, relations and names of the source become the target's.

        With ``dry_run``, only report what would move; behind a gate that hides, of the visible alone.
        Touches (merge) both entities, the source's relations, and the memories that mention it. `InvalidInputError` for
        an entity with itself, for entities of two types, and if either was merged into another already, which rules out
        cycles. With ``retype``, entities of two types are merged in one step, and the target's type is that of both
        until the merge is undone.
        """
        return await entity_changes.merge_entities(source, target, self._access, dry_run=dry_run, retype=retype)

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge; what was written since stays with the target, and what was forgotten stays forgotten.

        Touches (merge) both entities, their relations, and the memories that mention them, any of which may move back.
        Behind a gate that may hide anything of the scope the report has no counts.
        Raises `InvalidInputError` for a merge that was undone already.
        """
        async with self._access.reading() as reader:
            merge = next((each for each in await self._access.store.merges() if each.id == merge_id), None)
            merged = [merge.source_id, merge.target_id] if merge else []
            ends = await reader.get_entities(merged)
            if merge is None or len(ends) < len(merged):
                raise UnknownElementError(f"no merge {merge_id} in {self._access.store.scope}")
            moving = [
                each
                for end in ends
                for elements in await entity_changes.moving_with(end, self._access, reader)
                for each in elements
            ]
        await self._access.demand(Action.MERGE, [*ends, *moving])
        report = await self._access.store.undo_merge(merge_id)
        await follow_repair(self._access.store)
        await entity_changes.embed_again(report.reworded, self._access.engine)
        return report.uncounted() if self._access.gated else report

    async def merges(self, entity: EntityRef | None = None) -> tuple[Merge, ...]:
        """Merges, including undone ones, in the order in which they were made; of one entity if it is given."""
        async with self._access.reading() as reader:
            ids = () if entity is None else ((await entity_changes.as_stored(entity, reader)).id,)
            found = await self._access.store.merges(ids)
            ends = sorted({end for merge in found for end in (merge.source_id, merge.target_id)})
            visible = {each.id for each in await reader.get_entities(ends)}
            shown = [merge for merge in found if {merge.source_id, merge.target_id} <= visible]
            return tuple(each.uncounted() if self._access.gated else each for each in shown)

    async def find_duplicates(
        self, *, limit: int = 20, threshold: float = duplicates.ALIKE
    ) -> tuple[duplicates.Duplicate, ...]:
        """Pairs of entities that may be one: their names are more alike than ``threshold``, in [0.6, 1], best first.

        By letters, or by a rule of names (`Likeness`): nicknames, short forms, a part of a name that fits one person
        alone, one name of two types. Code, files, addresses, dates and quantities have exact names and are left out, as
        are pairs that are merged or marked as distinct. Nothing is merged: above 0.92 a pair is near certain, other
        pairs are for review.
        """
        return await review.find_duplicates(self._access, limit=limit, threshold=threshold)

    async def find_ambiguous(self, *, limit: int = 20) -> tuple[duplicates.Ambiguity, ...]:
        """Entities that are called by a part of a person's name which several people have, by name, with these people.

        Whom their mentions mean is open: `merge_entities` settles it, and `mark_distinct` rules a candidate out. The
        candidates are found when they are asked for, among what may be seen: a hidden one is neither shown nor counted.
        """
        check.refuse("ambiguities", check.number("limit", limit, 0))
        async with self._access.reading() as reader:
            return tuple((await duplicates.ambiguities(self._access.store, reader))[:limit])

    async def judge_duplicates(
        self,
        judge: LLM | AskFunction,
        *,
        limit: int = 20,
        threshold: float = duplicates.ALIKE,
        skip: Iterable[tuple[UUID, UUID]] = (),
    ) -> review.JudgeReport:
        """Let a language model judge at most ``limit`` pairs of `find_duplicates`, and merge or mark them as distinct.

        Pairs judged to be one entity are merged into the older one (`undo_merge` reverts it); pairs judged to be two
        are marked as distinct. Neither comes up again, so that the next call continues where this one ended. Pairs that
        the model is unsure of stay unchanged and would be judged again unless ``skip`` has their ids: see
        ``report.unsure``. A model that fails changes nothing. Once every question of a round fails, for example because
        the budget of a `graphsearch.llms.BudgetedLLM` is spent, the model is not called again: changes made so far
        stay, and the report lists the pairs that are left, and why.

        Touches what `merge_entities` and `mark_distinct` touch; pairs for which either is denied are not judged, and
        are reported as left. The model sees names of the graph: therefore a curator without a gate raises
        `MissingDependencyError`; pass ``gate=ALLOW_ALL`` if all names may be shown.
        """
        return await review.judge_duplicates(as_llm(judge), self._access, limit=limit, threshold=threshold, skip=skip)

    async def mark_distinct(self, one: EntityRef, other: EntityRef, *, distinct: bool = True) -> bool:
        """Mark two entities as distinct, or remove the mark; True if that changed anything. Touches (write) both."""
        return await review.mark_distinct(one, other, self._access, distinct=distinct)

    @with_options(entity_changes.Corrections)
    async def update_entity(self, entity: EntityRef, **corrections: Unpack[entity_changes.Corrections]) -> Entity:
        """Correct an entity, and return the corrected entity. Its id stays; a replaced name becomes an alias.

        The options are `Corrections`; without any nothing changes. If the text that is embedded changes and the scope
        has vectors, the entity is embedded again: raises `MissingDependencyError` if the engine has no embedder, and
        `EmbeddingModelError` if it has another than the scope. Touches (write) the entity before and after the change.
        Raises `InvalidInputError` that names every fault, including a name that another entity of the type has.
        """
        async with self._access.reading() as reader:
            stored = await known(entity, reader, exactly=True)
            [given] = await self._access.store.asserted([stored.id])
            corrected = await entity_changes.corrected(given, stored.name, corrections, reader)
            # a name that is not corrected stays as it is seen: the given one may be that of hidden memories
            seen = {each: getattr(stored, each) for each in ("name", "type") if each not in corrections}
            shown = attrs.evolve(corrected, **seen)
            await self._access.demand(Action.WRITE, [stored, shown])
            await entity_changes.refuse_namesake(shown, stored, reader)
        settled = shown.name != stored.name or (
            "type" in corrections and is_typed_by_mentions(shown.type, named=given.named)
        )
        if corrected != given.entity or settled:
            vectors = await entity_changes.vectors(shown, stored, self._access.engine)
            only_named = given.named and not settled  # mentions continue to determine its name
            entities, named = ((), (corrected,)) if only_named else ((shown,), ())
            model = self._access.engine.embedder.name if self._access.engine.embedder else ""
            await self._access.store.write(Batch(entities=entities, named=named, vectors=vectors, embedder=model))
        async with self._access.reading() as reader:
            now = await reader.get_entities([stored.id])
        return now[0] if now else shown  # its new labels may hide it

    async def contradictions(self, *, limit: int = 20) -> tuple[Contradiction, ...]:
        """Pairs of relations of functional types that cannot both hold, by (source, type, ids)."""
        check.refuse("contradictions", check.number("limit", limit, 0))
        async with self._access.reading() as reader:
            return await review.visible_contradictions(self._access, reader, limit)

    # -- finding and recalling -----------------------------------------------------------------------------------

    async def search_entities(
        self, query: str, *, limit: int = 10, type: str | None = None
    ) -> tuple[entity_search.EntityHit, ...]:
        """Find entities by typed text: whole names, words, beginnings of words, and misspellings; best first."""
        return await entity_search.search_entities(query, self._access, limit=limit, type=type)

    async def recall_entity(self, entity: EntityRef, *, limit: int = 10) -> entity_recall.EntityRecall:
        """Everything known about one entity, with at most ``limit`` relations and as many memories."""
        return await entity_recall.recall_entity(entity, self._access, limit=limit)

    async def recall_related(
        self, entity: EntityRef, *, max_hops: int = 2, limit: int = 20
    ) -> tuple[neighbourhood.Related, ...]:
        """Entities within ``max_hops``, by hops, then by the strength of the path; walked by the engine's traversal."""
        check.refuse("recall", check.number("max_hops", max_hops, 0), check.number("limit", limit, 0))
        async with self._access.reading() as reader:
            graph = await neighbourhood.walk(entity, max_hops, self._access, reader)
            strength = neighbourhood.strengths(graph)
            rows = [row for row in neighbourhood.nearest(graph, strength) if graph.hops[row]][:limit]
            ids = reader.entity_ids(graph.entities[rows])
            entities = {each.id: each for each in await reader.get_entities(ids)}
            return tuple(
                [
                    neighbourhood.Related(
                        entity=entities[id_],
                        hops=int(graph.hops[row]),
                        strength=float(strength[row]),
                        path=tuple(await reader.relations(graph.relations[graph.path_to(row)])),
                    )
                    for id_, row in zip(ids, rows, strict=True)
                ]
            )

    async def entity_graph(self, entity: EntityRef, *, depth: int = 1, limit: int = 100) -> neighbourhood.EntityGraph:
        """The entities within ``depth`` hops, at most ``limit``, and the relations among them, as node-link JSON.

        ``{"directed", "multigraph", "graph", "nodes", "links"}``, as ``networkx.node_link_graph(…, edges="links")``
        reads it; the key of a link is the id of its relation.
        """
        check.refuse("entity graph", check.number("depth", depth, 0), check.number("limit", limit, 1))
        async with self._access.reading() as reader:
            graph = await neighbourhood.walk(entity, depth, self._access, reader)
            rows = sorted(neighbourhood.nearest(graph, neighbourhood.strengths(graph))[:limit])
            ids = reader.entity_ids(graph.entities[rows])
            entities = {each.id: each for each in await reader.get_entities(ids)}
            relations = await reader.relations(graph.relations[neighbourhood.rows_between(graph, rows)])
        nodes = [node_of(entities[id_], hops=int(graph.hops[row])) for id_, row in zip(ids, rows, strict=True)]
        links = [link_of(relation) for relation in sorted(relations, key=neighbourhood.sort_key)]
        return neighbourhood.EntityGraph(directed=True, multigraph=True, graph={}, nodes=nodes, links=links)

    async def entity_timeline(
        self, entity: EntityRef, *, since: datetime | None = None, until: datetime | None = None
    ) -> tuple[entity_recall.Event, ...]:
        """The dated events of an entity at ``since`` ≤ t < ``until``, in order: relations' periods and mentions."""
        return await entity_recall.entity_timeline(entity, self._access, since=since, until=until)

    async def why(self, relation_id: UUID) -> Provenance:
        """The memories behind a relation: their wording, the extractor and rule, and what each contributes."""
        async with self._access.reading() as reader:
            return await why(relation_id, reader)

    # -- memories ------------------------------------------------------------------------------------------------

    async def link_memories(self, from_id: str, to_id: str, *, type: str = "relates_to") -> bool:
        """Link a memory to another; True if the link is new. Touches (write) both."""
        link = MemoryLink(from_id=from_id, to_id=to_id, type=type)
        async with self._access.reading() as reader:
            ends = await self._access.visible_memories([from_id, to_id], reader)
        await self._access.demand(Action.WRITE, ends)
        return await self._access.store.link_memories([link]) > 0

    async def backlinks(
        self, *, entity: EntityRef | None = None, memory: str | None = None, limit: int | None = None
    ) -> tuple[memories.Backlink, ...]:
        """The memories that mention an entity, newest first, or those that refer to a memory; give one of the two.

        Those that `link_memories` linked to the memory come first, newest first; then those that share entities with
        it, by the sum of the rarity of these. What is hidden neither appears nor counts.
        """
        check.refuse("backlinks", None if limit is None else check.number("limit", limit, 0))
        async with self._access.reading() as reader:
            if entity is not None and memory is None:
                return tuple(await memories.mentioning(await known(entity, reader), reader, limit))
            if memory is not None and entity is None:
                return tuple(await memories.of_memory(memory, self._access, reader, limit))
        raise InvalidInputError("backlinks", ["give either an entity or a memory"])

    @with_options(forgetting.Forgotten)
    async def forget(self, memory: str | None = None, **which: Unpack[forgetting.Forgotten]) -> WriteReport:
        """Forget a memory, or all memories of a session, a source, a subject, an owner or a label.

        Everything that rests on them alone goes with them. Raises `InvalidInputError` unless one of these is given.
        Returns what was removed, behind a gate that hides memories alone; an unknown memory changes nothing, and all
        counts are 0. Each transaction covers a thousand memories. Touches (forget) each of them.
        """
        return await forgetting.forget(await forgetting.to_forget(memory, which, self._access), self._access)

    @with_options(forgetting.Forgotten)
    async def forget_with_receipt(
        self, memory: str | None = None, **which: Unpack[forgetting.Forgotten]
    ) -> forgetting.Receipt:
        """As `forget`, but return a receipt that a third party can check, by `verify_receipt`.

        The content that its hash covers is read before anything is forgotten, in another transaction. Reads all
        relations of the scope.
        """
        ids = await forgetting.to_forget(memory, which, self._access)
        content = forgetting.ContentHash.new()
        for start in range(0, len(ids), PAGE):
            content.add(*await forgetting.read_content(ids[start : start + PAGE], self._access.store))
        report = await forgetting.forget(ids, self._access)
        left = await forgetting.remains(ids, self._access.store) if ids else {}
        return forgetting.Receipt.of(
            report, content, store=self._access.store, by=forgetting.who(self._access), memories=ids, left=left
        )

    async def expire(self, age: timedelta, *, label: str | None = None, source: str | None = None) -> WriteReport:
        """Forget the memories with a label, from a source, or both, that are older than ``age``, as `forget` does.

        The age counts from ``occurred_at``, or, where it is not known, from when the memory was written. Call it
        regularly: a memory lives until the first call after its time. Raises `InvalidInputError` without a label or a
        source, and for an age of 0 or less.
        """
        given = {name: value for name, value in (("label", label), ("source", source)) if value is not None}
        check.refuse(
            "expiry",
            None if age > timedelta() else f"age must be more than nothing, not {age}",
            None if given else "give a label, a source or both",
            *(check.text(name, value) for name, value in given.items()),
        )
        now = self._access.store.clock.now()
        before = now - min(age, now - forgetting.EARLIEST)
        return await forgetting.forget(
            await forgetting.allowed({"label": label, "source": source, "before": before}, self._access), self._access
        )

    async def remove_scope(self) -> forgetting.Receipt:
        """Remove the scope and everything in it, and return a receipt, which `verify_receipt` checks.

        Touches (forget) every element. `PartialViewError` for a principal that may not see everything. What is written
        between reading the content for the receipt and the removal is removed as well, and not covered by its hash.
        """
        store, content, who = self._access.store, forgetting.ContentHash.new(), forgetting.who(self._access)
        try:
            async with self._access.reading() as reader:
                await self._access.demand_whole("the removal of a scope", reader)
                held = await store.statistics()
                await demand_everything(store, self._access.gate, Action.FORGET)
                async for page in pages(store.list_memories):
                    content.add(*await forgetting.read_content([memory.id for memory in page], store))
        except UnknownScopeError:  # nothing was ever written
            return forgetting.Receipt.of(
                WriteReport(), content, store=store, by=forgetting.who(self._access), whole=True
            )
        await store.remove_scope()
        removed = WriteReport(
            memories=held.memories,
            entities_removed=held.entities,
            relations_retracted=held.relations,
            mentions_removed=held.mentions,
            claims_removed=held.claims,
        )
        return forgetting.Receipt.of(removed, content, store=store, by=who, whole=True)

    async def verify_receipt(self, receipt: forgetting.Receipt) -> forgetting.Verification:
        """Check that a receipt is as it was made, and that nothing of the memories that it names is left.

        `PartialViewError` for a principal that may not see everything, `InvalidInputError` for a receipt of another
        scope. Reads all relations of the scope.
        """
        scope = self._access.store.scope
        foreign = f"is of the scope {receipt.scope}, and the store of {scope}"
        check.refuse("receipt", foreign if receipt.scope != scope else None)
        try:
            async with self._access.reading() as reader:
                await self._access.demand_whole("the check of a receipt", reader)
                return await forgetting.verification_of(receipt, self._access.store)
        except UnknownScopeError:  # removed
            return forgetting.Verification(intact=receipt.intact, left={})

    # -- the graph as a whole ------------------------------------------------------------------------------------

    async def detect_communities(self, *, seed: int = 0) -> tuple[Community, ...]:
        """Detect all communities anew, store them, and return them, largest first. Touches (write) every member.

        They are made of all relations that hold now: `PartialViewError` for a principal that may not see everything.
        """
        async with self._access.reading() as reader:
            await self._access.demand_whole("communities", reader)
            former = await self._access.store.communities()
            network = await communities.network(self._access, reader.view)
            found = await asyncio.to_thread(
                lambda: with_former_ids(communities.detect_communities(network, seed=seed), former)
            )
        return await communities.stored(found, None, self._access)

    async def refresh_communities(self, *, seed: int = 0) -> tuple[Community, ...]:
        """Update the communities around changed relations; return the changed ones, largest first.

        Touches (write) every member of those that changed. `PartialViewError` as in `detect_communities`.
        """
        async with self._access.reading() as reader:
            await self._access.demand_whole("communities", reader)
            former = await self._access.store.communities()
            network = await communities.network(self._access, reader.view)
            found = await asyncio.to_thread(
                lambda: with_former_ids(communities.refresh_communities(network, former, seed=seed), former)
            )
        before = {each.id: each for each in former}
        after = {each.id: each for each in found}
        fresh = [each for each in found if not communities.same(each, before.get(each.id))]
        gone = [each for each in former if each.id not in after]
        return await communities.stored(fresh, gone, self._access) if fresh or gone else ()

    async def communities(self, entity: EntityRef | None = None, *, limit: int | None = 20) -> tuple[Community, ...]:
        """The stored communities, largest first; those of one entity if it is given.

        `PartialViewError` as in `detect_communities`, of whose relations they were made.
        """
        check.refuse("communities", None if limit is None else check.number("limit", limit, 0))
        async with self._access.reading() as reader:
            await self._access.demand_whole("communities", reader)
            ids = None if entity is None else [(await known(entity, reader)).id]
            return tuple(await self._access.store.communities(entity_ids=ids, limit=limit))

    async def summarise_communities(
        self,
        llm: LLM | AskFunction,
        *,
        limit: int | None = None,
        min_size: int = summarising.MIN_SIZE,
        counter: TokenCounter | None = None,
        prompt_tokens: int = summarising.PROMPT_TOKENS,
        answer_tokens: int = summarising.ANSWER_TOKENS,
    ) -> summarising.SummariesReport:
        """Let a language model summarise the stored communities, in sentences that cite relations and memories.

        At most ``limit`` are asked for, the largest first, of at least ``min_size`` members, and only those without a
        summary of their present content, so that the next call continues where this one ended. Each summary is stored
        once it is answered. Unusable answers, and prompts that the model turns down, are counted, and the others go on,
        unless the first four are turned down; once the budget of a `graphsearch.llms.BudgetedLLM` is spent, the rest is
        left. Any other error of the model is raised; what was stored before stays. ``prompt_tokens`` bounds each
        prompt, and ``answer_tokens`` each answer, by ``counter``; the default counts bytes, more than there are tokens.

        `PartialViewError` as in `detect_communities`. Touches (write) every member of a community that is asked for.
        The model sees texts of the graph: therefore a curator without a gate raises `MissingDependencyError`; pass
        ``gate=ALLOW_ALL`` if all may be shown.
        """
        return await summarising.summarise_communities(
            as_llm(llm),
            self._access,
            limit=limit,
            min_size=min_size,
            prompt_tokens=prompt_tokens,
            answer_tokens=answer_tokens,
            counter=counter,
        )

    async def graph_health(
        self,
        *,
        scopes: Iterable[GraphStore] | None = None,
        resolutions: ResolutionCounts | None = None,
        earlier: Growth | None = None,
    ) -> Health:
        """The health of the graph, from counts of the whole scope; it is stored with the graph, for recall and blocks.

        `PartialViewError` for a principal that may not see everything. ``scopes`` are the scopes whose edge coverage is
        measured, by default this one; `AccessDeniedError` is raised if the principal is not a member of all of them.
        ``resolutions`` default to those counted in the scope. ``earlier`` is what growth is compared with: by
        default what was counted when the graph had at most four fifths of its memories, if it was.
        """
        stores = list(scopes) if scopes is not None else [self._access.store]
        self._access.demand_membership(stores)
        async with self._access.reading() as reader:
            await self._access.demand_whole("the counts of health", reader)
            counts = await counted(self._access.store, reader)
            earlier = earlier or await growth_since(counts.memories, self._access.store)
            counts = attrs.evolve(counts, earlier=earlier)
        await record(counts, self._access.store)
        if resolutions is not None:
            counts = attrs.evolve(
                counts,
                mentions_resolved=max(resolutions.resolved, counts.mentions_disputed),
                entities_created=resolutions.created,
                baseline_fail_rate=resolutions.baseline,
            )
        if scopes is not None:
            held = [await store.statistics() for store in stores]
            sizes = [ScopeSize(memories=each.memories, relations=each.relations) for each in held]
            counts = attrs.evolve(counts, scopes=sizes)
        return graph_health(counts)

    async def stats(self) -> Statistics:
        """Return the numbers of the scope. `PartialViewError` for a principal that may not see everything."""
        async with self._access.reading() as reader:
            await self._access.demand_whole("the counts of the project", reader)
            return await self._access.store.statistics()

    # -- the types of relations ----------------------------------------------------------------------------------

    async def relation_types(self) -> tuple[RelationType, ...]:
        """The types of relations known from the start or registered, by name.

        A principal that may not see everything gets registered ones only if a visible relation has the type.
        """
        async with self._access.reading() as reader:
            found = await self._access.store.relation_types()
            if not await reader.sees_everything():
                used = (await visible_schema(reader)).relation_types
                found = {name: each for name, each in found.items() if name in KNOWN_RELATION_TYPES or name in used}
        return tuple(found[name] for name in sorted(found))

    @with_options(registered_types.TypeProperties, RelationType)
    async def register_type(self, name: str, **properties: Unpack[registered_types.TypeProperties]) -> RelationType:
        """Register a type of relation, or change a known one, and return it; its relations are folded again.

        The options are `TypeProperties`. Touches (write) a relation of the type. `PartialViewError` for a principal
        that may not see everything, `InvalidInputError` that names every fault.
        """
        asked = RelationType(name=name, **properties)
        await self._access.demand(
            Action.WRITE,
            [Relation(source_id=registered_types.NOBODY, target_id=registered_types.NOBODY, type=asked.name)],
        )
        known = await registered_types.registered(asked.name, self._access)
        changed = asked if known is None else attrs.evolve(known, **properties)
        if changed != known:
            await self._access.store.register_types([changed])
        return changed
