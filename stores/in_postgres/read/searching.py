"""Searches in Postgres: by name, by text and by vector, with results in columns."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np

from graphsearch.claims.naming import SLACK, best_first, folded_name, refuse_limit, refuse_threshold, sizes
from graphsearch.columns import NONE, Hits, Keys
from graphsearch.columns.key_index import KeyIndex
from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, Named, NameMatch, SimilarName, SurfaceForm, Vector, View
from graphsearch.protocols.rows import EntityRow
from graphsearch.stores.in_postgres.index.upkeep import TRIGRAM, WORD
from graphsearch.stores.in_postgres.index.vector_index import hits_of, literal_vector, nearest
from graphsearch.stores.in_postgres.read.rows import PostgresScope, select, with_keys
from graphsearch.stores.in_postgres.read.walking import keep_steps
from graphsearch.stores.in_postgres.session import rows
from graphsearch.stores.in_postgres.session.rows import packed, uuid_array
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.tables import TABLES, name_hash
from graphsearch.stores.writer.vectors import unit_vector
from graphsearch.text.bm25 import K1, B, TermCounts, few, grid
from graphsearch.text.trigrams import index_trigrams, overlap, trigrams

_ENDS: Final = """e.scope_hash = %(scope)s AND e.id = ANY(ARRAY(
    SELECT unnest(ARRAY[source_id, target_id]) FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(a)s::uuid[])
))"""
"""What is true of an entity ``e`` at an end of some relations; a join takes ten times as long before an analysis."""
_FIRST: Final = "\x01"
_LAST: Final = "\U0010ffff"


class PostgresSearching(PostgresScope):
    """Searches by indexes, and the elements that they find: a snapshot reads each of these once."""

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """Raises `StoreError` if an element is missing that others refer to."""
        requested: Sequence[Any] = rows.texts(keys) if kind is ElementKind.MEMORY else rows.bytes_of(keys)
        async with self._reading() as session:
            known = session.once.elements(kind)
            unread: list[Any] = [key for key in requested if key not in known]
            if unread:
                ids = rows.storable(unread) if kind is ElementKind.MEMORY else uuid_array(unread)
                asked = [session.run_kept(select(kind, with_keys(kind)), a=ids)]
                if kind is ElementKind.RELATION:  # their ends are asked for next: in the same round trip
                    asked.append(session.run_kept(select(ElementKind.ENTITY, _ENDS), a=ids))
                for each, answer in zip((kind, ElementKind.ENTITY), await asyncio.gather(*asked), strict=False):
                    there = session.once.elements(each)
                    for element in (getattr(TABLES[each].row(values), each) for values in answer.rows):
                        there.setdefault(element.id if each is ElementKind.MEMORY else element.id.bytes, element)
            found = list(map(known.get, requested))
            if any(element is None for element in found):
                raise StoreError(
                    f"{kind} rows of {session.scope} that others lead to are not there: repair what deleted them"
                )
            return found

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        async with self._reading() as session:
            requested = rows.storable(dict.fromkeys(names))
            folded = [folded_name(name) for name in requested]
            values = {"names": requested, "folded": folded, "hashes": list(map(name_hash, folded))}
            found = await session.rows_kept(statement("find names"), **values)
            return [NameMatch(name=name, entity_id=entity, alias=alias) for name, entity, alias in found]

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        async with self._reading() as session:
            refuse_limit(limit)
            requested = [word for word in rows.storable(dict.fromkeys(words)) if word]
            if not requested:
                return []
            terms, ending = [WORD + word for word in requested], _LAST if prefix else _FIRST
            values = {"words": requested, "terms": terms, "ends": [term + ending for term in terms], "limit": limit}
            known = {} if prefix else session.once.words
            if all((word, limit) in known for word in requested):
                found = [(word, *each) for word in requested for each in known[word, limit]]
            else:
                found = await session.rows_kept(statement("find words"), **values)
            place = {word: at for at, word in enumerate(requested)}
            found.sort(key=lambda row: (row[1], place[row[0]]))
            return [NameMatch(name=word, entity_id=entity, alias=alias) for word, entity, alias in found]

    async def named(self, names: Sequence[str], words: Sequence[str], *, limit: int, view: View) -> Named:
        async with self._reading() as session:
            refuse_limit(limit)
            whole = rows.storable(dict.fromkeys(names))
            folded = [folded_name(name) for name in whole]
            parts = [word for word in rows.storable(dict.fromkeys(words)) if word]
            found = await session.run_kept(
                statement("named"),
                names=whole,
                folded=folded,
                hashes=list(map(name_hash, folded)),
                words=parts,
                terms=[WORD + word for word in parts],
                limit=limit,
                **rows.view_values(view),
            )
            matches, there = [], dict[UUID, EntityRow]()
            common: dict[str, list[tuple[UUID, bool]]] = {}
            for written, entity, alias, is_common, *values in found.rows:
                if is_common:
                    common.setdefault(written, []).append((entity, alias))
                    continue
                matches.append(NameMatch(name=written, entity_id=entity, alias=alias))
                if values[0] is not None and entity not in there:
                    there[entity] = TABLES[ElementKind.ENTITY].row(values)
            shown = [there[id_] for id_ in sorted(there)]
            entities = [row.entity for row in shown]
            ids = packed(each.id for each in entities)
            session.once.elements(ElementKind.ENTITY).update(zip(ids, entities, strict=True))
            hits = Hits(
                keys=np.frombuffer(b"".join(ids), "S16"),
                signatures=np.array([row.signature for row in shown], np.int64),
                values=np.zeros(len(shown)),
                importance=np.array([each.importance_weight for each in entities], np.float64),
            )
            session.once.words |= {(word, limit): first for word, first in common.items()}
            return Named(matches=matches, hits=hits, entities=entities, common=list(common))

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        async with self._reading() as session:
            refuse_threshold(threshold, limit)
            requested = list(dict.fromkeys(names))
            folded = {name: folded_name(name) for name in rows.storable(requested)}
            best = await _similar(session, list(dict.fromkeys(folded.values())), threshold)
            return {name: best_first(best.get(folded.get(name, ""), {}))[:limit] for name in requested}

    async def surface_forms(self, entity_ids: Sequence[UUID], *, limit: int) -> Sequence[SurfaceForm]:
        async with self._reading() as session:
            refuse_limit(limit)
            requested = await session.rows(statement("surfaces of entities"), ids=list(set(entity_ids)))
            values = {
                "ids": [entity for entity, _, _ in requested],
                "hashes": [code for _, code, _ in requested],
                "limit": limit,
            }
            found: dict[tuple[UUID, str], set[str]] = {(entity, surface): set() for entity, _, surface in requested}
            for place, memory in await session.rows(statement("memories of surfaces"), **values):
                entity, _, surface = requested[place - 1]
                found[entity, surface].add(memory)
            return [
                SurfaceForm(entity_id=entity, surface=surface, memory_ids=sorted(memories)[:limit])
                for (entity, surface), memories in sorted(found.items())
            ]

    async def first_written(
        self, entity_ids: Sequence[UUID], *, limit: int
    ) -> Mapping[UUID, Sequence[tuple[datetime, str]]]:
        async with self._reading() as session:
            refuse_limit(limit)
            found: dict[UUID, list[tuple[datetime, str]]] = {}
            values = {"ids": list(set(entity_ids)), "limit": limit}
            for entity, created_at, memory in await session.rows(statement("first memories of entities"), **values):
                found.setdefault(entity, []).append((created_at, memory))
            return {entity: sorted(first) for entity, first in found.items()}

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        async with self._reading() as session:
            query = unit_vector(vector, session.embedder, session.dimensions)
            if not session.tally(kind).vectors:
                return _no_hits(kind)
            requested = literal_vector(query)
            return await nearest(session, kind, requested, limit=max(limit, 0), view=view, exact=self._exact)

    async def search_lexical(
        self, kind: ElementKind, query: str, *, limit: int, view: View, counts: TermCounts | None = None
    ) -> Hits:
        async with self._reading() as session:
            terms, tally = list(dict.fromkeys(session.analyser.terms(query))), session.tally(kind)
            if not terms:
                return _no_hits(kind)
            documents = counts.documents if counts else tally.documents
            values = {
                "terms": terms,
                "documents": [counts and counts.containing.get(term, 0) for term in terms],
                "total": float(documents),
                "few": float(few(documents)),
                "k1": K1,
                "b": B,
                "average": (counts and counts.average) or grid(tally.total_length / max(tally.documents, 1)),
                "limit": max(limit, 0),
            }
            columns = (await session.run_kept(statement("lexical", kind), **values, **rows.view_values(view))).packed
            if kind is ElementKind.RELATION:
                keep_steps(session, view, [*columns[:2], *columns[4:]])
            return hits_of(kind, columns[:4])

    async def locate(self, ids: Sequence[UUID], *, view: View) -> Hits:
        async with self._reading() as session:
            if not ids:
                return _no_hits(ElementKind.ENTITY)
            values = {"ids": list(ids), **rows.view_values(view)}
            return hits_of(
                ElementKind.ENTITY, (await session.run_kept(statement("locate", ElementKind.ENTITY), **values)).packed
            )

    async def vectors(self, kind: ElementKind, keys: Keys) -> Vector:
        async with self._reading() as session:
            dimensions = session.dimensions or 0
            found = np.zeros((len(keys), dimensions), np.float32)
            if not session.tally(kind).vectors or not len(keys):
                return found
            requested = rows.texts(keys) if kind is ElementKind.MEMORY else rows.uuids(keys)
            (columns,) = await session.rows_kept(statement("vectors by key", kind), found=requested)
            there, packed = rows.keys_of(kind, columns[0]), np.frombuffer(columns[1], ">f4").reshape(-1, dimensions + 1)
            places = KeyIndex(there).of(keys)
            known = places != NONE
            unit = packed[:, 1:].astype(np.float32)
            found[known] = (unit / np.linalg.norm(unit, axis=1, keepdims=True))[places[known]]
            return found

    async def document_frequencies(self, kind: ElementKind, groups: Sequence[Sequence[str]]) -> Sequence[int]:
        async with self._reading() as session:
            wanted = [tuple(dict.fromkeys(group)) for group in groups]
            single = {group[0] for group in wanted if len(group) == 1}
            several = {group for group in wanted if len(group) > 1}
            there: dict[tuple[str, ...], int] = {(): session.tally(kind).documents}
            there |= {
                (term,): count for term, count in (await _document_frequencies(session, kind, sorted(single))).items()
            }
            if several:
                there |= await _with_all(session, kind, sorted(several))
            return [there.get(group, 0) for group in wanted]


async def _similar(
    session: Session, folded: Sequence[str], threshold: float
) -> dict[str, dict[UUID, tuple[float, str]]]:
    """By folded name: the entities with a similar name, with the most similar one."""
    best: dict[str, dict[UUID, tuple[float, str]]] = {name: {} for name in folded}
    places: dict[str, list[Any]] = {key: [] for key in ("places", "terms", "at", "lengths", "low", "high")}
    for place, name in enumerate(folded, 1):
        length = len(trigrams(name))
        within = sizes(length, threshold)
        for at, trigram in enumerate(index_trigrams(name, threshold)):
            row = (place, TRIGRAM + trigram, at, length, within.start, within.stop - 1)
            for column, value in zip(places.values(), row, strict=True):
                column.append(value)
    if not places["places"]:
        return best
    values = {"share": threshold / (1 + threshold), "slack": SLACK}  # as in graphsearch.claims.naming.prefix_lengths
    for place, entity, spelt in await session.rows(statement("similar names"), **places, **values):
        requested = folded[int(place) - 1]
        name = folded_name(spelt)
        score, entities = overlap(trigrams(requested), trigrams(name)), best[requested]
        better = entity not in entities or (-score, name) < (-entities[entity][0], entities[entity][1])
        if score >= threshold and better:
            entities[entity] = (score, name)
    return best


async def _document_frequencies(session: Session, kind: ElementKind, terms: Sequence[str]) -> dict[str, int]:
    """The document frequency of each term that occurs."""
    if not terms:
        return {}
    found = await session.rows_kept(statement("document frequencies"), kind=kind.value, terms=list(terms))
    return dict(found)


async def _with_all(
    session: Session, kind: ElementKind, groups: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], int]:
    """The number of documents that contain all terms of each group."""
    found = await session.rows(
        statement("documents with all", kind),
        groups=[place for place, group in enumerate(groups) for _ in group],
        terms=[term for group in groups for term in group],
        kind=kind.value,
    )
    return {groups[place]: count for place, count in found}


def _no_hits(kind: ElementKind) -> Hits:
    none = np.empty(0)
    return Hits(keys=rows.keys_of(kind, b""), signatures=none.astype(np.int64), values=none, importance=none)
