"""Scopes of stores, and the store in memory, blocking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphsearch import protocols
from graphsearch.caching import EntityCache
from graphsearch.caching import cached as cached_store
from graphsearch.model import Scope
from graphsearch.protocols import Clock
from graphsearch.stores import memory
from graphsearch.sync.facade import Facade, behind, blocking, holding, plain
from graphsearch.text.analyser import ENGLISH, Analyser

if TYPE_CHECKING:
    from graphsearch.evaluation.scopes import Stores as AsyncStores


class GraphStore(Facade[protocols.GraphStore]):
    """A graph in one scope, as `graphsearch.protocols.GraphStore`; a store of your own is `GraphStore.of(store)`."""

    @property
    def scope(self) -> Scope:
        """The scope that everything here is read from and written to."""
        return self.asynchronous.scope

    @property
    def clock(self) -> Clock:
        """What ``created_at`` and the defaults of ``as_of`` and ``known_at`` are taken from."""
        return self.asynchronous.clock

    @property
    def analyser(self) -> Analyser:
        """What makes the terms of texts and questions."""
        return self.asynchronous.analyser

    snapshot = holding(protocols.GraphStore.snapshot)

    # -- writing, one transaction a call -------------------------------------------------------------------------

    bind_embedder = blocking(protocols.GraphStore.bind_embedder)
    embedder_name = blocking(protocols.GraphStore.embedder_name)
    register_types = blocking(protocols.GraphStore.register_types)
    write = blocking(protocols.GraphStore.write)
    forget = blocking(protocols.GraphStore.forget)
    delete = blocking(protocols.GraphStore.delete)
    remove_scope = blocking(protocols.GraphStore.remove_scope)
    merge = blocking(protocols.GraphStore.merge)
    undo_merge = blocking(protocols.GraphStore.undo_merge)
    settle = blocking(protocols.GraphStore.settle)

    # -- whole elements ------------------------------------------------------------------------------------------

    relation_types = blocking(protocols.GraphStore.relation_types)
    get_entities = blocking(protocols.GraphStore.get_entities)
    get_relations = blocking(protocols.GraphStore.get_relations)
    get_memories = blocking(protocols.GraphStore.get_memories)
    elements = blocking(protocols.GraphStore.elements)
    list_entities = blocking(protocols.GraphStore.list_entities)
    list_relations = blocking(protocols.GraphStore.list_relations)
    list_memories = blocking(protocols.GraphStore.list_memories)
    list_mentions = blocking(protocols.GraphStore.list_mentions)
    list_claims = blocking(protocols.GraphStore.list_claims)
    contradictions = blocking(protocols.GraphStore.contradictions)

    # -- linking -------------------------------------------------------------------------------------------------

    link_memories = blocking(protocols.GraphStore.link_memories)
    memory_links = blocking(protocols.GraphStore.memory_links)
    mark_distinct = blocking(protocols.GraphStore.mark_distinct)
    distinct_pairs = blocking(protocols.GraphStore.distinct_pairs)

    # -- finding -------------------------------------------------------------------------------------------------

    find_names = blocking(protocols.GraphStore.find_names)
    find_name_words = blocking(protocols.GraphStore.find_name_words)
    similar_names = blocking(protocols.GraphStore.similar_names)
    similar_pairs = blocking(protocols.GraphStore.similar_pairs)
    given = blocking(protocols.GraphStore.given)
    sayings = blocking(protocols.GraphStore.sayings)
    merges = blocking(protocols.GraphStore.merges)
    search_by_embedding = blocking(protocols.GraphStore.search_by_embedding)
    search_lexical = blocking(protocols.GraphStore.search_lexical)
    locate = blocking(protocols.GraphStore.locate)
    vectors = blocking(protocols.GraphStore.vectors)
    version = blocking(protocols.GraphStore.version)

    # -- walking -------------------------------------------------------------------------------------------------

    expand = blocking(protocols.GraphStore.expand)
    related = blocking(protocols.GraphStore.related)
    unembedded_facts = blocking(protocols.GraphStore.unembedded_facts)
    mentioned = blocking(protocols.GraphStore.mentioned)
    turns = blocking(protocols.GraphStore.turns)
    left_out = blocking(protocols.GraphStore.left_out)
    signatures = blocking(protocols.GraphStore.signatures)
    shared_signatures = blocking(protocols.GraphStore.shared_signatures)
    signature_table = plain(protocols.GraphStore.signature_table)
    entity_ids = plain(protocols.GraphStore.entity_ids)
    relation_ids = plain(protocols.GraphStore.relation_ids)
    memory_ids = plain(protocols.GraphStore.memory_ids)

    # -- communities ---------------------------------------------------------------------------------------------

    edges = blocking(protocols.GraphStore.edges)
    write_communities = blocking(protocols.GraphStore.write_communities)
    communities = blocking(protocols.GraphStore.communities)

    # -- learning ------------------------------------------------------------------------------------------------

    log_injection = blocking(protocols.GraphStore.log_injection)
    injections = blocking(protocols.GraphStore.injections)
    apply_outcome = blocking(protocols.GraphStore.apply_outcome)
    outcomes = blocking(protocols.GraphStore.outcomes)

    # -- counting ------------------------------------------------------------------------------------------------

    statistics = blocking(protocols.GraphStore.statistics)
    document_count = blocking(protocols.GraphStore.document_count)
    document_frequencies = blocking(protocols.GraphStore.document_frequencies)
    words = blocking(protocols.GraphStore.words)
    degrees = blocking(protocols.GraphStore.degrees)


class Stores(Facade[Any]):
    """What hands out scopes; one of your own is `Stores.of(stores)`."""

    asynchronous: AsyncStores

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope. Raises `InvalidInputError` when either part is empty."""
        return GraphStore.of(self.asynchronous.with_scope(org_id=org_id, project_id=project_id))


class InMemoryGraphStore(Stores):
    """As `graphsearch.stores.InMemoryGraphStore`."""

    def __init__(self, *, clock: Clock | None = None, analyser: Analyser = ENGLISH) -> None:
        self.asynchronous = memory.InMemoryGraphStore(clock=clock, analyser=analyser)


def cached(store: GraphStore, cache: EntityCache) -> GraphStore:
    """As `graphsearch.caching.cached`: the same store, with its entities read through a cache."""
    return GraphStore.of(cached_store(behind(store), cache))
