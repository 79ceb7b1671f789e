# Written by `python -m tests.sync.stubs`.

from collections.abc import Iterable
from datetime import datetime
from graphsearch.access.gate import Gate
from graphsearch.access.provenance import Provenance
from graphsearch.access.references import EntityRef
from graphsearch.curation import backlinks
from graphsearch.curation import curator
from graphsearch.curation import duplicates
from graphsearch.curation import entity_graph
from graphsearch.curation import entity_recall
from graphsearch.curation import judgements
from graphsearch.curation import matching
from graphsearch.curation import timeline
from graphsearch.curation import updating
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

    def backlinks(self, *, entity: EntityRef | None=None, memory: str | None=None, limit: int | None=None) -> tuple[backlinks.Backlink, ...]:
        """The memories that mention an entity, or that are linked to a memory, newest first; give one of the two."""
        ...

    def communities(self, entity: EntityRef | None=None, *, limit: int | None=20) -> tuple[Community, ...]:
        """The communities that are kept, the largest first; of one entity where it is given.

        One is shown to who may see every member.
        """
        ...

    def contradictions(self, *, limit: int=20) -> tuple[Contradiction, ...]:
        """Relations of functional types of which two cannot both hold, by (source, type, ids)."""
        ...

    def detect_communities(self, *, seed: int=0) -> tuple[Community, ...]:
        """Find all communities anew and keep them; those that may be seen, the largest first.

        They are made of all relations that hold now, whoever asks. Touches (write) every member.
        """
        ...

    def entity_graph(self, entity: EntityRef, *, depth: int=1, limit: int=100) -> entity_graph.EntityGraph:
        """The entities within ``depth`` hops, at most ``limit``, and the relations among them, as node-link JSON.

        ``{"directed", "multigraph", "graph", "nodes", "links"}``, as ``networkx.node_link_graph(…, edges="links")``
        reads it; the key of a link is the id of its relation.
        """
        ...

    def entity_timeline(self, entity: EntityRef, *, since: datetime | None=None, until: datetime | None=None) -> tuple[timeline.Event, ...]:
        """What is dated of an entity, in order, at ``since`` ≤ t < ``until``: its relations' periods, its mentions."""
        ...

    def find_duplicates(self, *, limit: int=20, threshold: float=duplicates.ALIKE) -> tuple[duplicates.Duplicate, ...]:
        """Pairs of entities of one type whose names have a similarity above ``threshold``, in [0.6, 1], best first.

        Those known to be one or two are left out. Nothing is merged: above 0.92 a pair is near certain, others are for
        review.
        """
        ...

    def forget(self, memory: str | None=None, *, session_id: str | None=None, source: str | None=None) -> WriteReport:
        """Forget a memory, or all memories of a session or of a source, and all that only they told; what went.

        Give one of the three; `InvalidInputError` otherwise. A memory that is not there changes nothing: all is 0. In
        transactions of a thousand memories. Touches (forget) each of them.
        """
        ...

    def judge_duplicates(self, judge: LLM, *, limit: int=20, threshold: float=duplicates.ALIKE, skip: Iterable[tuple[UUID, UUID]]=()) -> judgements.JudgeReport:
        """Ask a language model which of at most ``limit`` pairs of `find_duplicates` are one, and merge or mark those.

        What it takes for one is merged, the older stays, and `undo_merge` takes it back; what it takes for two is
        marked as distinct. Either way the pair comes up no more, so that the next call goes on where this one ended.
        One that it is not sure of stays as it is, and would be asked again unless ``skip`` has its ids: see
        ``report.unsure``. A model that fails changes nothing. Once a whole round is not answered, as after the budget
        of a `graphsearch.llms.BudgetedLLM` is spent, no more is asked: what is done stays, the report says what is
        left, and why.

        Touches what `merge_entities` and `mark_distinct` touch; pairs that not both are allowed for are not asked
        about, and told as left. Names are shown to a model: so a curator without a gate raises
        `MissingDependencyError`, and one with ``gate=ALLOW_ALL`` may show all of them.
        """
        ...

    def link_memories(self, from_id: str, to_id: str, *, type: str='relates_to') -> bool:
        """Link a memory to another; whether the link is new. Touches (write) both."""
        ...

    def mark_distinct(self, one: EntityRef, other: EntityRef, *, distinct: bool=True) -> bool:
        """Say that two entities are two, or take that back; whether it is news. Touches (write) both."""
        ...

    def merge_entities(self, source: EntityRef, target: EntityRef, *, dry_run: bool=False) -> Merge:
        """Make one of two entities: mentions, claims, relations and names of the source become the target's.

        ``dry_run`` only tells what would move. Touches (merge) both, the source's relations, and the memories that
        mention it. Raises `InvalidInputError` for an entity with itself, for two types, and where either was merged
        into another already, which rules out cycles.
        """
        ...

    def merges(self, entity: EntityRef | None=None) -> tuple[Merge, ...]:
        """Merges, undone ones too, in the order they were made; of one entity where it is given."""
        ...

    def recall_entity(self, entity: EntityRef, *, limit: int=10) -> entity_recall.EntityRecall:
        """All about one entity, with at most ``limit`` relations and as many memories."""
        ...

    def recall_related(self, entity: EntityRef, *, max_hops: int=2, limit: int=20) -> tuple[entity_recall.Related, ...]:
        """Entities within ``max_hops``, by hops, then by the strength of the path; walked by the engine's traversal."""
        ...

    def refresh_communities(self, *, seed: int=0) -> tuple[Community, ...]:
        """Look only where relations changed since; those that are another now and may be seen, the largest first.

        Touches (write) every member of those that changed.
        """
        ...

    def search_entities(self, query: str, *, limit: int=10, type: str | None=None) -> tuple[matching.EntityHit, ...]:
        """Entities that somebody may mean by what they typed: whole names, words, beginnings, slips; best first."""
        ...

    def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Make two of them again; what was written since stays with the target, what was forgotten stays forgotten.

        Touches (merge) both, their relations, and the memories that mention them, any of which may go back. Raises
        `InvalidInputError` for a merge that was undone.
        """
        ...

    def update_entity(self, entity: EntityRef, **corrections: Unpack[updating.Corrections]) -> Entity:
        """Correct an entity, and return it as it is now. Its id stays; an old name becomes an alias.

        The options are `Corrections`; without one nothing changes. Embedded again where the text that is embedded
        changed and the scope has vectors: `MissingDependencyError` where the engine has no embedder for that,
        `EmbeddingModelError` where it has another. Touches (write) the entity as it was and as it will be. Raises
        `InvalidInputError` that names every fault, a name that another entity of the type has among them.
        """
        ...

    def why(self, relation_id: UUID) -> Provenance:
        """The memories behind a relation: their words, who read them by which rule, and what each adds."""
        ...
