"""A graph in Postgres with pgvector, behind row-level security."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg_pool import AsyncConnectionPool

from graphsearch._support.clock import SystemClock
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
    validation,
)
from graphsearch.model.identity import snake_case
from graphsearch.model.signatures import Signature, SignatureTable
from graphsearch.protocols import Clock
from graphsearch.stores.in_postgres import (
    facts,
    folds,
    indexing,
    learning,
    linking,
    lookups,
    mentioning,
    merging,
    naming,
    partition,
    reading,
    relating,
    removing,
    roles,
    rows,
    saying,
    searching,
    writing,
)
from graphsearch.stores.in_postgres.faults import describe, translated
from graphsearch.stores.in_postgres.scoped import ScopedReads
from graphsearch.stores.in_postgres.sessions import Gateway, Pool
from graphsearch.stores.migrating import check_schema
from graphsearch.text.analyser import ENGLISH, Analyser


class PostgresGraphStore:
    """Hands out scopes, and can do nothing else.

    ``pool``, of the app role, is opened and closed by the caller; its connections are put into autocommit. ``exact``
    searches vectors without the HNSW index, ``timeout`` is how many seconds to wait for a connection. ``analyser``
    makes the terms of texts and questions; a scope first written with another is refused with `AnalyserError`.
    """

    def __init__(
        self,
        pool: AsyncConnectionPool[Any],
        *,
        clock: Clock | None = None,
        exact: bool = False,
        timeout: float = 10.0,
        analyser: Analyser = ENGLISH,
    ) -> None:
        server = describe(pool.conninfo) if isinstance(pool.conninfo, str) else "Postgres"
        self._gateway = Gateway(pool, server, timeout, analyser)
        self._clock = clock or SystemClock()
        self._exact = exact

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        dsn: str,
        *,
        clock: Clock | None = None,
        exact: bool = False,
        max_connections: int = 8,
        timeout: float = 10.0,  # noqa: ASYNC109 - of each wait for a connection, not of the whole
        analyser: Analyser = ENGLISH,
    ) -> AsyncIterator[PostgresGraphStore]:
        """A store with a pool of its own, closed at the end of the ``async with``.

        Raises `StoreUnavailableError` when the server cannot be reached, `UnsafeRoleError` for a role that row-level
        security does not bind, and `MigrationError` for a database that `graphsearch init` did not prepare.
        """
        server, limit = describe(dsn), max(1, round(timeout))
        with translated(server):
            # Once without the pool, which would try again and again, and hide why it cannot connect.
            async with await psycopg.AsyncConnection.connect(dsn, autocommit=True, connect_timeout=limit) as connection:
                await roles.check_app_role(connection)
                await check_schema(connection)
            pool: Pool = AsyncConnectionPool(
                dsn,
                min_size=1,
                max_size=max_connections,
                reconnect_timeout=timeout,  # or its waits grow to minutes, also once the server is back
                open=False,
                kwargs={"autocommit": True, "connect_timeout": limit, "application_name": "graphsearch"},
            )
            await pool.open(wait=True, timeout=timeout)
        try:
            yield cls(pool, clock=clock, exact=exact, timeout=timeout, analyser=analyser)
        finally:
            await pool.close()

    def with_scope(self, *, org_id: str, project_id: str) -> ScopedPostgresStore:
        """The graph of one scope. Raises `InvalidInputError` when either part is empty."""
        return ScopedPostgresStore(Scope(org_id, project_id), self._gateway, self._clock, exact=self._exact)


class ScopedPostgresStore(ScopedReads):
    """One scope of a `PostgresGraphStore`; a `graphsearch.protocols.GraphStore`.

    A read runs in a read-only snapshot, a write in one transaction. A key is 16 bytes, or a memory's id as text.
    """

    def __init__(self, scope: Scope, gateway: Gateway, clock: Clock, *, exact: bool) -> None:
        self.analyser = gateway.analyser
        self._scope = scope
        self._gateway = gateway
        self._clock = clock
        self._exact = exact

    @property
    def scope(self) -> Scope:
        """The scope that everything here is read from and written to."""
        return self._scope

    @property
    def clock(self) -> Clock:
        """Tells the time of ``created_at``."""
        return self._clock

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        """Everything read inside, in this task and those it starts, sees one state of the graph. May be nested."""
        return self._gateway.snapshot(self._scope)

    # -- writing -------------------------------------------------------------------------------------------------

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        """State whose vectors this scope holds; `EmbeddingModelError` when it already holds another model's."""
        validation.refuse(
            "embedder", validation.text("name", name), validation.number("dimensions", dimensions, 1, 16_000)
        )
        async with self._gateway.writing(self._scope, create=True) as session:
            await writing.bind_embedder(session, name, dimensions)

    async def embedder_name(self) -> str | None:
        """The model bound by `bind_embedder`, or None."""
        async with self._gateway.reading(self._scope) as session:
            return session.embedder

    async def register_types(self, types: Sequence[RelationType]) -> None:
        """Add or replace what is known of relation types in this scope."""
        async with self._gateway.writing(self._scope, create=True, changing=True) as session:
            await folds.register_types(session, types, self._clock.now())

    async def write(self, batch: Batch) -> WriteReport:
        """Write all of a batch, or nothing; see `Batch`. `InvalidInputError` names every dangling id."""
        async with self._gateway.writing(self._scope, create=True, changing=True) as session:
            report = await writing.write(session, batch, self._clock.now())
        if report.entities + report.relations + report.memories >= indexing.BULK:
            await self._gateway.analyse(growth=2.0, megabytes=8)  # a look takes 7 ms and more
        return report

    async def forget(self, memory_ids: Sequence[str]) -> WriteReport:
        """Delete memories with their mentions and claims, and fold again what they touched.

        The server's files and statistics hold what was deleted until it vacuums and analyses the tables, as it does by
        itself after a while; no statement reads it there.
        """
        async with self._gateway.writing(self._scope, changing=True) as session:
            return await removing.forget(session, memory_ids, self._clock.now())

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        """Delete entities with their relations, claims and mentions, and single relations with their claims."""
        async with self._gateway.writing(self._scope, changing=True) as session:
            return await removing.delete(session, entities, relations, self._clock.now())

    async def remove_scope(self) -> None:
        """Delete everything in this scope, and that it ever was."""
        await removing.remove_scope(self._gateway, self._scope)

    async def merge(self, source_id: UUID, target_id: UUID, *, dry_run: bool = False) -> Merge:
        """Make of two entities one: what was said of the source is now said of the target, which has its names too."""
        async with self._gateway.writing(self._scope, changing=True) as session:
            return await merging.merge(session, source_id, target_id, self._clock.now(), dry_run=dry_run)

    async def undo_merge(self, merge_id: UUID) -> UndoReport:
        """Make two entities again of those that a merge made one."""
        async with self._gateway.writing(self._scope, changing=True) as session:
            return await merging.undo_merge(session, merge_id, self._clock.now())

    async def settle(self, *, step: int = 20_000) -> int:
        """Put what bulk writes left unsettled into the indexes, ``step`` elements a transaction; how many there were.

        Answers are the same before and after; they are faster after. Call it at the end of an import.
        """
        validation.refuse("settle", validation.number("step", step, 1))
        return await indexing.settle_scope(self._gateway, self._scope, step)

    # -- whole elements ------------------------------------------------------------------------------------------

    async def relation_types(self) -> Mapping[str, RelationType]:
        """What is known of types by name: the defaults and what was registered."""
        async with self._gateway.reading(self._scope) as session:
            return folds.types_at_start(session)

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.get(session, ElementKind.ENTITY, ids)

    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, retracted ones too."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.get(session, ElementKind.RELATION, ids)

    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.get(session, ElementKind.MEMORY, ids)

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys, in their order."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.behind(session, kind, keys)

    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page in order of id."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.page(session, ElementKind.ENTITY, limit, after=after, type=type and snake_case(type))

    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        """The next page in order of id, retracted ones left out; of one type and of one entity where they are given."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.page_of_relations(session, limit, after, type and snake_case(type), entity_id)

    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, source: str | None = None, session_id: str | None = None
    ) -> Sequence[Memory]:
        """The next page in order of id (by code point), of one source and of one session where they are given."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.page_of_memories(session, limit, after, source, session_id)

    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.mentions(session, memory_ids, entity_ids)

    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.claims(session, memory_ids, relation_ids, groups)

    async def contradictions(self, *, limit: int = 100) -> Sequence[Contradiction]:
        """Unretracted relations of which two cannot both hold, by (source, type, ids)."""
        async with self._gateway.reading(self._scope) as session:
            return await linking.contradictions(session, limit)

    # -- linking -------------------------------------------------------------------------------------------------

    async def link_memories(self, links: Sequence[MemoryLink]) -> int:
        """Link memories; how many links are new. `InvalidInputError` names every memory that is not there."""
        async with self._gateway.writing(self._scope) as session:
            return await linking.link_memories(session, links, self._clock.now())

    async def memory_links(self, memory_ids: Sequence[str]) -> Sequence[MemoryLink]:
        """Links from and to any of the memories, each once, by (from, to, type)."""
        async with self._gateway.reading(self._scope) as session:
            return await linking.memory_links(session, memory_ids)

    async def mark_distinct(self, pairs: Sequence[tuple[UUID, UUID]], *, distinct: bool = True) -> int:
        """Say of pairs of entities that they are two and no duplicates, or take that back; of how many it is news."""
        async with self._gateway.writing(self._scope) as session:
            return await linking.mark_distinct(session, pairs, distinct=distinct)

    async def distinct_pairs(self, entity_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Pairs marked as distinct with any of the entities, the lower id first, in order."""
        async with self._gateway.reading(self._scope) as session:
            return await linking.distinct_pairs(session, entity_ids)

    # -- finding -------------------------------------------------------------------------------------------------

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.find_names(session, names)

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities one of whose names has one of ``words``, or with ``prefix`` a word that starts with one of them."""
        async with self._gateway.reading(self._scope) as session:
            return await lookups.find_words(session, words, prefix=prefix, limit=limit)

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """For each of ``names`` the entities with a similar name or alias, best first, ties by id."""
        async with self._gateway.reading(self._scope) as session:
            return await lookups.similar_names(session, names, threshold, limit)

    async def similar_pairs(self, *, threshold: float, limit: int) -> Sequence[SimilarPair]:
        """Pairs of entities of one type with similar names, best first, ties by ids."""
        async with self._gateway.reading(self._scope) as session:
            return await lookups.similar_pairs(session, threshold, limit)

    async def given(self, ids: Sequence[UUID]) -> Sequence[Given]:
        """Entities as they were given, in the order of ``ids``."""
        async with self._gateway.reading(self._scope) as session:
            return await naming.given(session, ids)

    async def sayings(
        self, entity_ids: Sequence[UUID], *, names: Sequence[str] | None = None, limit: int
    ) -> Sequence[Saying]:
        """What mentions call entities, by (entity, surface), each with the first ``limit`` of its memories."""
        async with self._gateway.reading(self._scope) as session:
            return await saying.sayings(session, entity_ids, names, limit)

    async def merges(self, entity_ids: Sequence[UUID] = ()) -> Sequence[Merge]:
        """Merges, of any of the entities where some are given, in the order they were made."""
        async with self._gateway.reading(self._scope) as session:
            return await merging.merges(session, entity_ids)

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest elements of a kind by cosine distance, ties by key."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.nearest(session, kind, vector, limit, view, exact=self._exact)

    async def search_lexical(self, kind: ElementKind, query: str, *, limit: int, view: View) -> Hits:
        """Elements of a kind by the BM25 of their text, best first, ties by key; any text is a valid query."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.lexical(session, kind, query, limit, view)

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        """The entities of these ids that hold in the view, in order of key."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.locate(session, ids, view)

    # -- walking -------------------------------------------------------------------------------------------------

    async def expand(self, keys: Keys, *, fan_out: int, view: View) -> Expansion:
        """The relations of a frontier that pass the view, strongest first: ``fan_out`` an entity and direction."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.expand(session, keys, fan_out, view)

    async def related(self, keys: Keys, *, view: View) -> Expansion:
        """Relations as steps from their source to their target, in the order of their keys, in view or not."""
        async with self._gateway.reading(self._scope) as session:
            return await relating.related(session, keys, view)

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        """The next page, in order of id, of unretracted relations with a fact that has no vector."""
        async with self._gateway.reading(self._scope) as session:
            return await facts.unembedded(session, after, limit)

    async def mentioned(self, kind: ElementKind, keys: Keys, *, limit: int, view: View) -> Mentioned:
        """What lies one mention away: the memories that mention entities, or the entities that memories mention."""
        async with self._gateway.reading(self._scope) as session:
            return await mentioning.mentioned(session, kind, keys, limit, view)

    async def turns(self, keys: Keys, *, view: View) -> Turns:
        """The memories right before and right after each in its session, in order of (position, id)."""
        async with self._gateway.reading(self._scope) as session:
            return await mentioning.turns(session, keys, view)

    async def left_out(self, keys: Keys, *, view: View) -> Mapping[str, int]:
        """How many relations of these entities the view leaves out, by the first reason that fits."""
        async with self._gateway.reading(self._scope) as session:
            return await searching.left_out(session, keys, view)

    async def signatures(self, codes: Sequence[int]) -> Mapping[int, Signature]:
        """The content of signature codes."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.signatures(session, codes)

    async def shared_signatures(self) -> Codes:
        """Codes of the signatures that are shared, in order."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.shared_signatures(session)

    def signature_table(self) -> SignatureTable | None:
        """The signatures that were read before, in a snapshot."""
        session = self._gateway.current(self._scope)
        return None if session is None else session.signatures.table(folds.types_at_start(session))

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of entities."""
        return rows.uuids(keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids behind keys of relations."""
        return rows.uuids(keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        """The ids behind keys of memories."""
        return rows.texts(keys)

    # -- communities ---------------------------------------------------------------------------------------------

    async def edges(self, *, after: UUID | None = None, limit: int = 100_000, view: View) -> Edges:
        """The next page, in order of id, of relations that pass the view."""
        async with self._gateway.reading(self._scope) as session:
            return await partition.edges(session, after, limit, view)

    async def write_communities(
        self, communities: Sequence[Community], *, replacing: Sequence[UUID] | None = None
    ) -> None:
        """Keep communities in the place of those with the ids ``replacing``, and of their own; of all where None."""
        async with self._gateway.writing(self._scope) as session:
            await partition.write_communities(session, communities, replacing)

    async def communities(
        self, *, entity_ids: Sequence[UUID] | None = None, limit: int | None = None
    ) -> Sequence[Community]:
        """Communities, the largest first, then by id; only those with any of the entities where these are given."""
        async with self._gateway.reading(self._scope) as session:
            return await partition.communities(session, entity_ids, limit)

    # -- learning and counting -----------------------------------------------------------------------------------

    async def log_injection(self, injection: Injection) -> None:
        """Remember what was surfaced to a session; the same id again changes nothing."""
        async with self._gateway.writing(self._scope, alone=False) as session:
            await learning.log_injection(session, injection)

    async def injections(self, session_id: str) -> Sequence[Injection]:
        """What was surfaced to a session, oldest first."""
        async with self._gateway.reading(self._scope) as session:
            return await learning.injections(session, session_id) if reading.storable([session_id]) else []

    async def apply_outcome(self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef]) -> FeedbackReport:
        """Move the elements' feedback weights, exactly once a (session, element), as design 7 says."""
        async with self._gateway.writing(self._scope) as session:
            return await learning.apply_outcome(session, session_id, outcome, elements)

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        """The history of elements, by (element, seq)."""
        async with self._gateway.reading(self._scope) as session:
            return await learning.outcomes(session, elements)

    async def statistics(self) -> Statistics:
        """Counts of the scope."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.statistics(session)

    async def degrees(self, ids: Sequence[UUID]) -> Mapping[UUID, int]:
        """How many unretracted relations each entity has, both directions."""
        async with self._gateway.reading(self._scope) as session:
            return await reading.degrees(session, ids)
