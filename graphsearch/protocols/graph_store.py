"""Where a graph is kept: what a store has to do."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol
from uuid import UUID

from graphsearch.columns import Codes, Edges, Expansion, Hits, Keys, Mentioned, Turns
from graphsearch.model import (
    Batch,
    Claim,
    Community,
    Contradiction,
    ElementKind,
    ElementRef,
    Entity,
    FeedbackReport,
    Given,
    Group,
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Merge,
    NameMatch,
    Outcome,
    OutcomeRecord,
    Relation,
    RelationType,
    Saying,
    Scope,
    SimilarName,
    SimilarPair,
    Statistics,
    UndoReport,
    Vector,
    View,
    WriteReport,
)
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.protocols.parts import Clock
from graphsearch.text.analyser import Analyser


class GraphStore(Protocol):
    """A graph in one scope. Reads raise `UnknownScopeError` where nothing was ever written.

    Ids that are not there are left out of answers. Order of lists is order of ids unless stated.
    """

    @property
    def scope(self) -> Scope:
        """The scope that everything here is read from and written to."""
        ...

    @property
    def clock(self) -> Clock:
        """What ``created_at`` and the defaults of ``as_of`` and ``known_at`` are taken from."""
        ...

    @property
    def analyser(self) -> Analyser:
        """What makes the terms of texts and questions."""
        ...

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        """Everything read inside, in this task and those it starts, sees one state of the graph. May be nested."""
        ...

    # -- writing, one transaction a call -------------------------------------------------------------------------

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        """State whose vectors this scope holds; `EmbeddingModelError` when it already holds another model's."""
        ...

    async def embedder_name(self) -> str | None:
        """The model bound by `bind_embedder`, or None."""
        ...

    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace what is known of relation types in this scope."""
        ...

    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id."""
        ...

    async def forget(self, memory_ids: Sequence[str]) -> WriteReport:
        """Delete memories with their mentions and claims, and fold again what they touched.

        A relation that has no claim left goes; an entity they touched that has no mention and no relation left goes.
        Links go with either end. The log of what was surfaced no longer names what is gone, and a relation whose fact
        is another now loses the vector that was made of the forgotten one.
        """
        ...

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        ...

    async def remove_scope(self) -> None:
        """Delete everything in this scope, and that it ever was; where nothing was ever written, nothing happens."""
        ...

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False) -> Merge:
        """Make of two entities one: what was said of the source is now said of the target, which has its names too.

        The source stays as a row with ``merged_into``, out of every search. Relations are folded again; those given
        keep their ids; what would lead from the target to itself is left out. ``dry_run`` only tells what would move.
        Raises `UnknownElementError` for an entity that is not there, and `InvalidInputError` for one that was merged
        away, for an entity with itself, and for two types.
        """
        ...

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Make two entities again of those that a merge made one.

        All is as before it if nothing was written since. What was written since, also of the source, stays with the
        target; what was forgotten stays forgotten. Raises `UnknownElementError` for a merge that is not there and
        `InvalidInputError` for one that was undone.
        """
        ...

    async def settle(self) -> int:
        """Index what bulk writes left for later, and return how many elements that was.

        Answers are the same before and after; searches are faster after. An import calls it when it is done.
        """
        ...

    # -- whole elements ------------------------------------------------------------------------------------------

    async def relation_types(self) -> Mapping[str, RelationType]:
        """What is known of types by name: the defaults and what was registered."""
        ...

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        ...

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, retracted ones too."""
        ...

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        ...

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys, in their order."""
        ...

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page in order of id."""
        ...

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        """The next page in order of id, retracted ones left out; of one type and of one entity where they are given."""
        ...

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, source: str | None = None, session_id: str | None = None
    ) -> Sequence[Memory]:
        """The next page in order of id (by code point), of one source and of one session where they are given."""
        ...

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        ...

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups.

        In the order of the fold. Those that a merge turned on themselves are not folded.
        """
        ...

    async def contradictions(self, *, limit: int = 100) -> Sequence[Contradiction]:
        """Unretracted relations of which two cannot both hold, by (source, type, ids)."""
        ...

    # -- linking -------------------------------------------------------------------------------------------------

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; how many links are new. `InvalidInputError` names every memory that is not there."""
        ...

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, each once, by (from, to, type)."""
        ...

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Say of pairs of entities that they are two and no duplicates, or take that back; of how many it is news.

        `InvalidInputError` names every entity that is not there, and every pair of an entity with itself.
        """
        ...

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        ...

    # -- finding -------------------------------------------------------------------------------------------------

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        ...

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities one of whose names has one of ``words``, or with ``prefix`` a word that starts with one of them.

        Words are those of `graphsearch.text.trigrams.name_words`. The ``name`` of a match is the word asked for; at
        most ``limit`` matches a word, those of the lowest ids, by (id, word).
        """
        ...

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """For each of ``names`` the entities with a similar name or alias, best first, ties by id.

        Similarity is that of pg_trgm, of names in the form in which `find_names` compares them. ``threshold`` is in
        [0.6, 1]: lower ones are refused with `InvalidInputError`, because no index is made for them.
        """
        ...

    async def similar_pairs(self, *, threshold: float, limit: int) -> Sequence[SimilarPair]:
        """Pairs of entities of one type with similar names, best first, ties by ids; ``threshold`` is in [0.6, 1].

        Entities that were merged away are left out, and pairs marked as distinct.
        """
        ...

    async def given(self, ids: Sequence[UUID]) -> Sequence[Given]:
        """Entities as they were given, in the order of ``ids``: what to change when one is to be written again."""
        ...

    async def sayings(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[Saying]:
        """What mentions call entities, by (entity, surface), each with the first ``limit`` of its memories.

        Where ``names`` are given, only surfaces that equal one of them as `find_names` compares names.
        """
        ...

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges, of any of the entities where some are given, undone ones too, in the order they were made."""
        ...

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance, ties by key.

        `EmbeddingModelError` when the vector's length is not the scope's.
        """
        ...

    async def search_lexical(self, kind: ElementKind, query: str, *, limit: int, view: View) -> Hits:
        """Elements of a kind by the BM25 of their text, best first, ties by key; any text is a valid query."""
        ...

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        """The entities of these ids that hold in the view, in order of key."""
        ...

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        """The stored vectors behind keys, float32 of shape (len(keys), dimensions) and length 1, in their order.

        An element without a vector has a row of zeros. A scope without an embedder has 0 dimensions.
        """
        ...

    async def words(self, ids: Sequence[UUID]) -> Mapping[UUID, Mapping[str, float]]:
        """What some entities are found by beside their texts, by word with its weight (`Batch.words`).

        Only those that have any are there. Weights are as stored: in steps of 1 / 64, at least one of them.
        """
        ...

    async def version(self) -> Hashable:
        """A token that changes with every change to entities, relations, their names or their types.

        Equal tokens, of one store, mean that all of these are what they were. Feedback and logs do not change it.
        """
        ...

    # -- walking -------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, *, fan_out: int, view: View) -> Expansion:
        """The relations of a frontier that pass the view, strongest first: ``fan_out`` an entity and direction."""
        ...

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, in view or not."""
        ...

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        ...

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """What lies one mention away: the memories that mention some entities, or the entities some memories mention.

        ``kind`` is that of the keys. One that more than ``limit`` mention, or that mentions more, gives none: what is
        everywhere tells nothing, and costs the most. That is counted over all that is stored, in view or not.
        """
        ...

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories right before and right after each in its session, in order of (position, id)."""
        ...

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """How many relations of these entities the view leaves out, each counted once, by the first reason that fits.

        The reasons, in order: "not_known", "not_held", "low_confidence", "skipped_type", "other_type"; only those that
        occur are named. At most 1,000 relations an entity and direction are looked at, the strongest first.
        """
        ...

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        ...

    async def shared_signatures(self) -> Codes:
        """Codes, in order, of the signatures that are shared (`Signature`), and maybe of some that were."""
        ...

    def signature_table(self) -> SignatureTable | None:
        """The signatures at hand: all of this scope's, by row, or some with their codes; None where there are none."""
        ...

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        ...

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        ...

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        ...

    # -- communities ---------------------------------------------------------------------------------------------

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        ...

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        """Keep communities in the place of those with the ids ``replacing``, and of their own; of all where it is None.

        Their labels are not kept, but made of the names that entities have when they are read. Members that are gone
        are left out; without two left there is no community. `InvalidInputError` when an entity would be in two of
        them.
        """
        ...

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of the entities where these are given.

        A member that was deleted, or merged into another entity, is none any more.
        """
        ...

    # -- learning ------------------------------------------------------------------------------------------------

    async def log_injection(self, injection: Injection) -> None:
        """Remember what was surfaced to a session; the same id again changes nothing."""
        ...

    async def injections(self, session_id: str) -> Sequence[Injection]:
        """What was surfaced to a session, oldest first."""
        ...

    async def apply_outcome(self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef]) -> FeedbackReport:
        """Move the elements' feedback weights, exactly once a (session, element), as design 7 says."""
        ...

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The history of elements, by (element, seq)."""
        ...

    # -- counting ------------------------------------------------------------------------------------------------

    async def statistics(self) -> Statistics:
        """Counts of the scope."""
        ...

    async def document_count(self, kind: ElementKind) -> int:
        """How many elements of a kind have a word in their texts: the N of a scope, known without counting."""
        ...

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        """For each group of terms, how many elements of a kind have all of them in their texts.

        Terms are those of the store's `analyser`; all of no terms is what every element with a word has. Counted over
        all that is stored, in view or not, as `document_count`.
        """
        ...

    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """How many unretracted relations each entity has, both directions."""
        ...
