"""Writing, forgetting and deleting in Postgres, one transaction per call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from typing import cast
from uuid import UUID

import attrs

from graphsearch.claims.folding import type_named
from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.model import AssertedEntity, Batch, ElementKind, Relation, RelationType, WriteReport, validation
from graphsearch.protocols import GraphStore, Writing
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.index import indexing
from graphsearch.stores.in_postgres.index.indexing import count_vectors, lists_facts
from graphsearch.stores.in_postgres.index.signing import (
    by_id,
    drop_signatures,
    last_of_each,
    sign_again,
    stored_relations,
)
from graphsearch.stores.in_postgres.index.vector_index import forget_vector_indexes
from graphsearch.stores.in_postgres.rows import element_of, storable, types_of
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.batch import (
    check,
    copy_proof,
    keep_merged,
    put_batch_vectors,
    put_entities,
    put_memories,
    put_proof,
    rewritten,
    settle_some,
    without_outdated_vectors,
)
from graphsearch.stores.in_postgres.write.folds import (
    Group,
    ends_meant,
    give_relations,
    keep_original_ends,
    put_relations,
    refold,
    retract,
    sign_folded_again,
    stored_types,
)
from graphsearch.stores.in_postgres.write.removing import (
    drop_elements,
    drop_entities,
    drop_merges,
    drop_relations,
    faded_entities,
    forget_references,
    no_longer_mentioned,
    prune,
    separated,
    unmentioned_entities,
    unproved,
)
from graphsearch.stores.in_postgres.write.renaming import called_of, rename_entities, surfaces_in
from graphsearch.stores.in_postgres.write.summaries import drop_summaries
from graphsearch.stores.shared.merging import join_minted
from graphsearch.stores.shared.reembedding import refuse_model
from graphsearch.stores.shared.vectors import other_embedder, read_vectors


class PostgresWriting(PostgresScope, Writing):
    """Changes to elements, each in one transaction; the writers of a scope take turns."""

    async def bind_embedder(self, name: str, dimensions: int) -> None:
        refuse_model(name, dimensions)
        async with self._writing(create=True) as session:
            if session.embedder is None:
                await session.run(statement("bind embedder"), embedder=name, dimensions=dimensions)
            elif (session.embedder, session.dimensions) != (name, dimensions):
                raise other_embedder(session.scope, (session.embedder, session.dimensions), (name, dimensions))

    async def embedder_name(self) -> str | None:
        async with self._reading() as session:
            return session.embedder

    async def id_key(self) -> UUID:
        async with self._reading() as session:
            return session.id_key

    async def register_types(self, types: Sequence[RelationType]) -> None:
        async with self._writing(create=True, changing=True) as session:
            now = self._clock.now()
            known = await stored_types(session)
            turned: set[Group] = set()
            for each in types:
                old = type_named(each.name, known)
                known[each.name] = each
                values = {field: value for field, value in attrs.asdict(each).items() if field != "hop_scores"}
                await session.run(
                    statement("register types"), hop_scores=[float(score) for score in each.hop_scores], **values
                )
                if each.prior != old.prior:
                    await session.run(statement("weigh relations"), name=each.name, prior=each.prior)
                if each.functional != old.functional:
                    turned |= set(await session.rows(statement("groups of type"), name=each.name))
            _, lost = await refold(session, turned, known, now)
            await retract(session, lost, now)

    async def write(self, batch: Batch) -> WriteReport:
        # Invalid references are found in the database, so the check follows the first rows written;
        # a failing transaction rolls them back.
        async with self._writing(create=True, changing=True) as session:
            now = self._clock.now()
            batch = await without_outdated_vectors(session, batch)
            entities = await keep_merged(session, by_id((*batch.named, *batch.entities)))
            named = {each.id for each in batch.named}
            if named:
                named.difference_update([each.id for each in batch.entities])
            relations = last_of_each(batch.relations)
            memories = {memory.id: memory for memory in sorted(batch.memories, key=attrgetter("id"))}
            types = types_of(session.types)
            try:
                put, fresh, carried, turned = await put_entities(session, entities, named, batch, now)
                vectors = read_vectors(carried.others(batch.vectors), carried.faults)
                proof = await rewritten(session, batch)
                await copy_proof(session, batch, proof)
                others = await check(session, batch, memories, vectors)
                changed_memories, resigned, moved = await put_memories(session, memories, now)
                groups, touched, lost_surfaces = await put_proof(session, proof, memories, moved | resigned.keys())
                changed, lost = await refold(session, groups, types, now, groups)
                without = await no_longer_mentioned(session, proof.entities_before())
                await drop_entities(session, without.gone)
                meant, ends = await ends_meant(session, relations, now)
                changed += await give_relations(session, meant, types, now)
                await keep_original_ends(session, ends)
                anew = () if fresh else [each.id for each in entities]
                touched = (touched | without.left_by).difference(without.gone)
                lost_surfaces = without.surfaces(lost_surfaces)
                renamed = await rename_entities(session, touched, lost_surfaces=lost_surfaces, anew=anew)
                await sign_folded_again(session, turned | renamed.signed, types, now)
            except OverflowError as error:
                raise InvalidInputError("batch", [f"a number is too large to be stored: {error}"]) from error
            retracted = await retract(session, lost, now)
            pruned = await prune(session, batch.prune)
            await sign_again(session, resigned.keys())
            await drop_signatures(session, ElementKind.MEMORY, set(resigned.values()))
            await count_vectors(session, ElementKind.ENTITY, len(carried))
            dropped = read_vectors({key: batch.vectors[key] for key in renamed.reworded if key in carried.vectors})
            for matrix in (*vectors.matrices, *dropped.matrices):
                await put_batch_vectors(session, matrix, batch, others, fresh=fresh)
            if batch.counters:
                names, numbers = zip(*sorted(batch.counters.items()), strict=True)
                await session.run(statement("count"), names=list(names), numbers=list(numbers))
            await settle_some(session, batch, changed)
            report = WriteReport(
                entities=put,
                relations=changed,
                memories=changed_memories,
                relations_retracted=retracted,
                entities_removed=len(pruned),
                reworded=tuple(key for key in renamed.reworded if key not in batch.vectors and key not in pruned),
            )
        if report.entities + report.relations + report.memories >= indexing.BULK:
            await self._gateway.analyse(growth=2.0, megabytes=8)  # a check takes 7 ms and more
        await join_minted(cast(GraphStore, self), batch.entities)
        return report

    async def forget(self, memory_ids: Sequence[str], *, dry_run: bool = False) -> WriteReport:
        """Vacuum and analyse: the server's files and statistics hold deleted data until then.

        Autovacuum does it later; no statement reads the data there.
        """
        async with self._writing(changing=True) as session:
            now = self._clock.now()
            ids = sorted(
                await session.column(
                    statement("existing", ElementKind.MEMORY, table="memory"), ids=storable(memory_ids)
                )
            )
            if not ids:
                return WriteReport()
            types = await stored_types(session)
            await drop_summaries(session, memories=ids)
            proved = await stored_relations(session, "relations proved", memory_ids=ids)
            links = (await session.run(statement("delete links"), ids=ids)).count
            lost_surfaces = await surfaces_in(session, ids)
            removed_claims = await session.rows(statement("delete claims of memories"), memory_ids=ids)
            groups: set[Group] = {(source, name) for source, name, *_ in removed_claims}
            mentioned = await session.rows(statement("delete mentions"), memory_ids=ids, entity_ids=[])
            await drop_elements(session, ElementKind.MEMORY, ids)
            changed, lost = await refold(session, groups, types, now)
            left = await stored_relations(session, "relations proved", memory_ids=ids)
            without, kept = unproved([left[key] for key in proved if key in left and key not in lost], ids)
            await put_relations(session, kept, types, now, folded=False)
            gone = [*lost, *without]
            ends = await drop_relations(session, gone)
            touched = ends.union(*mentioned)
            touched |= {end for source, _, *others in removed_claims for end in (source, *others) if end is not None}
            merged = await unmentioned_entities(session, touched)
            touched = touched.difference(merged.gone)
            values = {"ids": list(touched), "named": False, "isolated": True}
            isolated = [*merged.gone, *await session.column(statement("faded entities"), **values)]
            faded, lapsed = await faded_entities(session, touched.difference(isolated))
            isolated, gone = [*isolated, *faded], [*gone, *merged.relations, *lapsed]
            links += await drop_entities(session, isolated)
            lost_surfaces = merged.surfaces(lost_surfaces)
            renamed = await rename_entities(
                session, (lost_surfaces.keys() | merged.left_by).difference(isolated), lost_surfaces=lost_surfaces
            )
            await sign_folded_again(session, renamed.signed, types, now)
            removed = {ElementKind.MEMORY: ids, ElementKind.RELATION: gone, ElementKind.ENTITY: isolated}
            report = WriteReport(
                memories=len(ids),
                relations=changed,
                relations_retracted=len(gone),
                entities_removed=len(isolated),
                mentions_removed=len(mentioned),
                claims_removed=len(removed_claims),
                links_removed=links,
                references_removed=await forget_references(session, removed),
                reworded=renamed.reworded,
            )
            if dry_run:
                await session.connection.rollback()
            return report

    async def delete(self, *, entities: Sequence[UUID] = (), relations: Sequence[UUID] = ()) -> WriteReport:
        async with self._writing(changing=True) as session:
            now = self._clock.now()
            found = await session.column(statement("existing", ElementKind.ENTITY, table="entity"), ids=list(entities))
            gone, left_by = await separated(session, sorted(found))
            values = {"relation_ids": list(relations), "entity_ids": gone}
            dropped = set(await stored_relations(session, "relations touching", **values))
            removed_claims = await session.rows(statement("delete claims of relations"), relation_ids=list(dropped))
            removed_claims += await session.rows(statement("delete claims of entities"), entity_ids=gone)
            mentioned = await session.rows(statement("delete mentions"), memory_ids=[], entity_ids=gone)
            types = await stored_types(session)
            changed, lost = await refold(session, set(removed_claims), types, now)
            dropped |= set(lost)
            await drop_relations(session, dropped)
            marks = await drop_entities(session, gone)
            await drop_merges(session, gone)
            renamed = await rename_entities(session, left_by)
            await sign_folded_again(session, renamed.signed, types, now)
            return WriteReport(
                relations=changed,
                relations_retracted=len(dropped),
                entities_removed=len(gone),
                mentions_removed=len(mentioned),
                claims_removed=len(removed_claims),
                links_removed=marks,
                reworded=renamed.reworded,
            )

    async def remove_scope(self) -> None:
        with suppress(UnknownScopeError):
            async with self._writing() as session:
                await forget_vector_indexes(session)  # in a transaction of its own, because readers wait for its end
            async with self._writing() as session:
                await forget_vector_indexes(session)
                for table in await session.column(statement("scoped tables")):
                    await session.run(statement("remove scope", table=table))
                session.signatures.contents.clear()  # they may quote deleted elements

    async def settle(self, *, step: int = 20_000) -> int:
        """Enter what bulk writes deferred into the indexes, ``step`` elements per transaction."""
        validation.refuse("settle", validation.number("step", step, 1))
        return await indexing.settle_scope(self._gateway, self._scope, step)

    async def asserted(self, ids: Sequence[UUID]) -> Sequence[AssertedEntity]:
        async with self._reading() as session:
            found = map(called_of, await session.dicts(statement("given names"), ids=list(ids)))
            of = {each.entity.id: each.asserted for each in found}
            return [of[key] for key in ids if key in of]

    async def unembedded_facts(self, *, after: UUID | None = None, limit: int = 100) -> Sequence[Relation]:
        async with self._reading() as session:
            validation.refuse("page", validation.number("limit", limit, 0))
            name = "unembedded facts" if lists_facts(session) else "facts"
            rows = await session.dicts(statement(name), after=after, limit=limit)
            return [element_of(ElementKind.RELATION, row) for row in rows]
