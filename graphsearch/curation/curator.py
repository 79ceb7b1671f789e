"""The curator: every curation operation on one graph."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Unpack
from uuid import UUID

from graphsearch._support.observing import all_observed
from graphsearch._support.options import with_options
from graphsearch.access.gate import Gate
from graphsearch.access.provenance import Provenance, why
from graphsearch.access.reader import EntityRef
from graphsearch.curation import (
    communities,
    entity_changes,
    entity_recall,
    entity_search,
    forgetting,
    health,
    judging,
    memories,
    neighbourhood,
    receipts,
    registered_types,
    review,
    summarising,
)
from graphsearch.curation.permissions import Access
from graphsearch.engine import GraphSearchEngine
from graphsearch.health import duplicates
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.llms.budgets import ByteCounter
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.model import Community, Contradiction, Entity, Merge, RelationType, UndoReport, WriteReport
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
        return await entity_changes.undo_merge(merge_id, self._access)

    async def merges(self, entity: EntityRef | None = None) -> tuple[Merge, ...]:
        """Merges, including undone ones, in the order in which they were made; of one entity if it is given."""
        return await entity_changes.merges(entity, self._access)

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
        return await review.find_ambiguous(self._access, limit=limit)

    async def judge_duplicates(
        self,
        judge: LLM | AskFunction,
        *,
        limit: int = 20,
        threshold: float = duplicates.ALIKE,
        skip: Iterable[tuple[UUID, UUID]] = (),
    ) -> judging.JudgeReport:
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
        return await judging.judge_duplicates(as_llm(judge), self._access, limit=limit, threshold=threshold, skip=skip)

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
        return await entity_changes.update_entity(entity, corrections, self._access)

    async def contradictions(self, *, limit: int = 20) -> tuple[Contradiction, ...]:
        """Pairs of relations of functional types that cannot both hold, by (source, type, ids)."""
        return await review.contradictions(self._access, limit=limit)

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
        return await neighbourhood.recall_related(entity, self._access, max_hops=max_hops, limit=limit)

    async def entity_graph(self, entity: EntityRef, *, depth: int = 1, limit: int = 100) -> neighbourhood.EntityGraph:
        """The entities within ``depth`` hops, at most ``limit``, and the relations among them, as node-link JSON.

        ``{"directed", "multigraph", "graph", "nodes", "links"}``, as ``networkx.node_link_graph(…, edges="links")``
        reads it; the key of a link is the id of its relation.
        """
        return await neighbourhood.entity_graph(entity, self._access, depth=depth, limit=limit)

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
        return await memories.link_memories(from_id, to_id, self._access, type=type)

    async def backlinks(
        self, *, entity: EntityRef | None = None, memory: str | None = None, limit: int | None = None
    ) -> tuple[memories.Backlink, ...]:
        """The memories that mention an entity, newest first, or those that refer to a memory; give one of the two.

        Those that `link_memories` linked to the memory come first, newest first; then those that share entities with
        it, by the sum of the rarity of these. What is hidden neither appears nor counts.
        """
        return await memories.backlinks(self._access, entity=entity, memory=memory, limit=limit)

    @with_options(forgetting.Forgotten)
    async def forget(self, memory: str | None = None, **which: Unpack[forgetting.Forgotten]) -> WriteReport:
        """Forget a memory, or all memories of a session, a source, a subject, an owner or a label.

        Everything that rests on them alone goes with them. Raises `InvalidInputError` unless one of these is given.
        Returns what was removed, behind a gate that hides memories alone; an unknown memory changes nothing, and all
        counts are 0. Each transaction covers a thousand memories. Touches (forget) each of them.
        """
        return await forgetting.forget(memory, which, self._access)

    @with_options(forgetting.Forgotten)
    async def forget_with_receipt(
        self, memory: str | None = None, **which: Unpack[forgetting.Forgotten]
    ) -> receipts.Receipt:
        """As `forget`, but return a receipt that a third party can check, by `verify_receipt`.

        The content that its hash covers is read before anything is forgotten, in another transaction. Reads all
        relations of the scope.
        """
        return await forgetting.forget_with_receipt(memory, which, self._access)

    async def expire(self, age: timedelta, *, label: str | None = None, source: str | None = None) -> WriteReport:
        """Forget the memories with a label, from a source, or both, that are older than ``age``, as `forget` does.

        The age counts from ``occurred_at``, or, where it is not known, from when the memory was written. Call it
        regularly: a memory lives until the first call after its time. Raises `InvalidInputError` without a label or a
        source, and for an age of 0 or less.
        """
        return await forgetting.expire(age, self._access, label=label, source=source)

    async def remove_scope(self) -> receipts.Receipt:
        """Remove the scope and everything in it, and return a receipt, which `verify_receipt` checks.

        Touches (forget) every element. `PartialViewError` for a principal that may not see everything. What is written
        between reading the content for the receipt and the removal is removed as well, and not covered by its hash.
        """
        return await forgetting.remove_scope(self._access)

    async def verify_receipt(self, receipt: receipts.Receipt) -> receipts.Verification:
        """Check that a receipt is as it was made, and that nothing of the memories that it names is left.

        `PartialViewError` for a principal that may not see everything, `InvalidInputError` for a receipt of another
        scope. Reads all relations of the scope.
        """
        return await forgetting.verify_receipt(receipt, self._access)

    # -- the graph as a whole ------------------------------------------------------------------------------------

    async def detect_communities(self, *, seed: int = 0) -> tuple[Community, ...]:
        """Detect all communities anew, store them, and return them, largest first. Touches (write) every member.

        They are made of all relations that hold now: `PartialViewError` for a principal that may not see everything.
        """
        return await communities.detect_in_scope(self._access, seed=seed)

    async def refresh_communities(self, *, seed: int = 0) -> tuple[Community, ...]:
        """Update the communities around changed relations; return the changed ones, largest first.

        Touches (write) every member of those that changed. `PartialViewError` as in `detect_communities`.
        """
        return await communities.refresh_in_scope(self._access, seed=seed)

    async def communities(self, entity: EntityRef | None = None, *, limit: int | None = 20) -> tuple[Community, ...]:
        """The stored communities, largest first; those of one entity if it is given.

        `PartialViewError` as in `detect_communities`, of whose relations they were made.
        """
        return await communities.communities_in_scope(self._access, entity=entity, limit=limit)

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
            summarising.SummaryOptions(
                limit=limit,
                min_size=min_size,
                prompt_tokens=prompt_tokens,
                answer_tokens=answer_tokens,
                counter=counter or ByteCounter(),
            ),
        )

    async def graph_health(
        self,
        *,
        scopes: Iterable[GraphStore] | None = None,
        resolutions: ResolutionCounts | None = None,
        earlier: health.Growth | None = None,
    ) -> health.Health:
        """The health of the graph, from counts of the whole scope; it is stored with the graph, for recall and blocks.

        `PartialViewError` for a principal that may not see everything. ``scopes`` are the scopes whose edge coverage is
        measured, by default this one; `AccessDeniedError` is raised if the principal is not a member of all of them.
        ``resolutions`` default to those counted in the scope. ``earlier`` is what growth is compared with: by
        default what was counted when the graph had at most four fifths of its memories, if it was.
        """
        return await health.measure_health(self._access, scopes=scopes, resolutions=resolutions, earlier=earlier)

    # -- the types of relations ----------------------------------------------------------------------------------

    async def relation_types(self) -> tuple[RelationType, ...]:
        """The types of relations known from the start or registered, by name.

        A principal that may not see everything gets registered ones only if a visible relation has the type.
        """
        return await registered_types.relation_types(self._access)

    @with_options(registered_types.TypeProperties, RelationType)
    async def register_type(self, name: str, **properties: Unpack[registered_types.TypeProperties]) -> RelationType:
        """Register a type of relation, or change a known one, and return it; its relations are folded again.

        The options are `TypeProperties`. Touches (write) a relation of the type. `PartialViewError` for a principal
        that may not see everything, `InvalidInputError` that names every fault.
        """
        return await registered_types.register_type(name, properties, self._access)
