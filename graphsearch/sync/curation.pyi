# Written by `python -m tests.sync.stubs`.

from collections.abc import Iterable
from datetime import datetime
from graphsearch.access.gate import Gate
from graphsearch.access.provenance import Provenance
from graphsearch.access.reader import EntityRef
from graphsearch.curation import curator
from graphsearch.curation import entity_changes
from graphsearch.curation import entity_recall
from graphsearch.curation import entity_search
from graphsearch.curation import judging
from graphsearch.curation import memories
from graphsearch.curation import neighbourhood
from graphsearch.curation import review
from graphsearch.curation.health import Growth
from graphsearch.curation.health import Health
from graphsearch.ingest.resolve.resolution import ResolutionCounts
from graphsearch.model import Community
from graphsearch.model import Contradiction
from graphsearch.model import Entity
from graphsearch.model import Merge
from graphsearch.model import UndoReport
from graphsearch.model import WriteReport
from graphsearch.protocols import LLM
from graphsearch.sync.engine import GraphSearchEngine
from graphsearch.sync.facade import Facade
from graphsearch.sync.stores import GraphStore
from typing import Unpack
from uuid import UUID

class Curator(Facade[curator.Curator]):
    """As `graphsearch.Curator`."""

    def __init__(self, engine: GraphSearchEngine, *, gate: Gate | None=None) -> None:
        ...

    def graph_health(self, *, scopes: Iterable[GraphStore] | None=None, resolutions: ResolutionCounts | None=None, earlier: Growth | None=None) -> Health:
        """Report the health of the graph; ``scopes`` are blocking stores, all else is as in `graphsearch.Curator`."""
        ...

    def backlinks(self, *, entity: EntityRef | None=None, memory: str | None=None, limit: int | None=None) -> tuple[memories.Backlink, ...]:
        """The memories that mention an entity, or that link to a memory, newest first; give one of the two."""
        ...

    def communities(self, entity: EntityRef | None=None, *, limit: int | None=20) -> tuple[Community, ...]:
        """The stored communities, largest first; those of one entity if it is given.

        A community is shown only if every member is visible.
        """
        ...

    def contradictions(self, *, limit: int=20) -> tuple[Contradiction, ...]:
        """Pairs of relations of functional types that cannot both hold, by (source, type, ids)."""
        ...

    def detect_communities(self, *, seed: int=0) -> tuple[Community, ...]:
        """Detect all communities anew, store them, and return them, largest first. Touches (write) every member.

        They are made of all relations that hold now: `PartialViewError` for a principal that may not see everything.
        """
        ...

    def entity_graph(self, entity: EntityRef, *, depth: int=1, limit: int=100) -> neighbourhood.EntityGraph:
        """The entities within ``depth`` hops, at most ``limit``, and the relations among them, as node-link JSON.

        ``{"directed", "multigraph", "graph", "nodes", "links"}``, as ``networkx.node_link_graph(…, edges="links")``
        reads it; the key of a link is the id of its relation.
        """
        ...

    def entity_timeline(self, entity: EntityRef, *, since: datetime | None=None, until: datetime | None=None) -> tuple[entity_recall.Event, ...]:
        """The dated events of an entity at ``since`` ≤ t < ``until``, in order: relations' periods and mentions."""
        ...

    def find_duplicates(self, *, limit: int=20, threshold: float=review.ALIKE) -> tuple[review.Duplicate, ...]:
        """Pairs of entities of one type whose names are more similar than ``threshold``, in [0.6, 1], best first.

        Pairs that are merged or marked as distinct are left out. Nothing is merged: above 0.92 a pair is near certain,
        other pairs are for review.
        """
        ...

    def forget(self, memory: str | None=None, *, session_id: str | None=None, source: str | None=None) -> WriteReport:
        """Forget a memory, or all memories of a session or a source, with everything that rests on them alone.

        Give one of the three; raises `InvalidInputError` otherwise. Returns what was removed; an unknown memory changes
        nothing, and all counts are 0. Each transaction covers a thousand memories. Touches (forget) each of them.
        """
        ...

    def judge_duplicates(self, judge: LLM, *, limit: int=20, threshold: float=review.ALIKE, skip: Iterable[tuple[UUID, UUID]]=()) -> judging.JudgeReport:
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
        ...

    def link_memories(self, from_id: str, to_id: str, *, type: str='relates_to') -> bool:
        """Link a memory to another; True if the link is new. Touches (write) both."""
        ...

    def mark_distinct(self, one: EntityRef, other: EntityRef, *, distinct: bool=True) -> bool:
        """Mark two entities as distinct, or remove the mark; True if that changed anything. Touches (write) both."""
        ...

    def merge_entities(self, source: EntityRef, target: EntityRef, *, dry_run: bool=False) -> Merge:
        """Merge two entities: mentions, claims, relations and names of the source become the target's.

        With ``dry_run``, only report what would move. Touches (merge) both entities, the source's relations, and the
        memories that mention it. Raises `InvalidInputError` for an entity with itself, for entities of two types, and
        if either was merged into another already, which rules out cycles.
        """
        ...

    def merges(self, entity: EntityRef | None=None) -> tuple[Merge, ...]:
        """Merges, including undone ones, in the order in which they were made; of one entity if it is given."""
        ...

    def recall_entity(self, entity: EntityRef, *, limit: int=10) -> entity_recall.EntityRecall:
        """Everything known about one entity, with at most ``limit`` relations and as many memories."""
        ...

    def recall_related(self, entity: EntityRef, *, max_hops: int=2, limit: int=20) -> tuple[neighbourhood.Related, ...]:
        """Entities within ``max_hops``, by hops, then by the strength of the path; walked by the engine's traversal."""
        ...

    def refresh_communities(self, *, seed: int=0) -> tuple[Community, ...]:
        """Update the communities around changed relations; return the changed ones, largest first.

        Touches (write) every member of those that changed. `PartialViewError` as in `detect_communities`.
        """
        ...

    def search_entities(self, query: str, *, limit: int=10, type: str | None=None) -> tuple[entity_search.EntityHit, ...]:
        """Find entities by typed text: whole names, words, beginnings of words, and misspellings; best first."""
        ...

    def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Undo a merge; what was written since stays with the target, and what was forgotten stays forgotten.

        Touches (merge) both entities, their relations, and the memories that mention them, any of which may move back.
        Raises `InvalidInputError` for a merge that was undone already.
        """
        ...

    def update_entity(self, entity: EntityRef, **corrections: Unpack[entity_changes.Corrections]) -> Entity:
        """Correct an entity, and return the corrected entity. Its id stays; a replaced name becomes an alias.

        The options are `Corrections`; without any nothing changes. If the text that is embedded changes and the scope
        has vectors, the entity is embedded again: raises `MissingDependencyError` if the engine has no embedder, and
        `EmbeddingModelError` if it has another than the scope. Touches (write) the entity before and after the change.
        Raises `InvalidInputError` that names every fault, including a name that another entity of the type has.
        """
        ...

    def why(self, relation_id: UUID) -> Provenance:
        """The memories behind a relation: their wording, the extractor and rule, and what each contributes."""
        ...
