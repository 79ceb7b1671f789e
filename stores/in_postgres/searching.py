"""Finding and walking in Postgres: statements that answer in columns, and the columns as numpy arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs
import numpy as np
import psycopg

from graphsearch.columns import NONE, Expansion, FarEnds, Hits, Keys
from graphsearch.columns.key_index import Places, distinct
from graphsearch.errors import StoreError
from graphsearch.model import ElementKind, Vector, View, validation
from graphsearch.stores.in_postgres import rows
from graphsearch.stores.in_postgres.copying import UuidArray
from graphsearch.stores.in_postgres.indexing import EXACT_UNTIL, undocumented
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement
from graphsearch.stores.in_postgres.writing import refuse_length
from graphsearch.text.bm25 import K1, B, candidate_terms, grid, idf

INDEXED_DIMENSIONS: Final = frozenset({256, 384, 512, 768, 1024, 1536})
"""Lengths of vectors that the migrations make an HNSW index for; others are searched exactly."""

TOLERANCE: Final = 1e-6
"""More than rounding moves a score by."""

LOOKED_AT: Final = 1_000
"""Relations an entity and direction among which those are counted that a view leaves out."""


def view_values(view: View) -> dict[str, Any]:
    """A view as parameters."""
    return {
        "as_of": view.as_of,
        "known_at": view.known_at,
        "least": view.min_edge_confidence,
        "skipped": sorted(view.skipped_types),
        "since": view.earliest,
        "only": sorted(view.only_types),
        "refolded": sorted(view.refolded),
    }


async def nearest(session: Session, kind: ElementKind, vector: Vector, limit: int, view: View, *, exact: bool) -> Hits:
    """The nearest elements of a kind by cosine distance, ties by key."""
    query = np.asarray(vector, np.float32)
    if query.ndim != 1 or (session.dimensions is not None and len(query) != session.dimensions):
        refuse_length(session, query.size)
    norm = float(np.linalg.norm(query))
    validation.refuse("query vector", None if norm > 0 and np.isfinite(norm) else "must be finite and not zero")
    if not session.tally(kind).vectors:
        return _no_hits(kind)
    asked = "[" + ",".join([f"{number:.9g}" for number in (query / norm).tolist()]) + "]"
    exact = exact or session.dimensions not in INDEXED_DIMENSIONS or session.tally(kind).vectors <= EXACT_UNTIL
    name = "nearest exactly" if exact else "nearest by index"
    waiting = kind is ElementKind.ENTITY and session.tally(kind).behind
    vectors = "{vectors waiting}" if waiting else f"{kind}_embedding"
    found = statement(name, kind, dimensions=str(session.dimensions), vectors=vectors).decode()
    return await _hits(session.run_kept_here, kind, found, vector=asked, limit=max(limit, 0), **view_values(view))


async def vectors(session: Session, kind: ElementKind, keys: Keys) -> Vector:
    """The stored vectors behind keys, normalised, in their order; zeros where there is none."""
    dimensions = session.dimensions or 0
    found = np.zeros((len(keys), dimensions), np.float32)
    waiting = kind is ElementKind.ENTITY and session.tally(kind).behind
    stored = "{vectors waiting}" if waiting else f"{kind}_embedding"
    if not session.tally(kind).vectors or not len(keys):
        return found
    query = statement("vectors by key", kind, vectors=stored)
    run = session.run if waiting else session.run_kept
    asked = rows.texts(keys) if kind is ElementKind.MEMORY else rows.uuids(keys)
    (columns,) = await (await run(query, found=asked)).fetchall()
    there, packed = rows.keys_of(kind, columns[0]), np.frombuffer(columns[1], ">f4").reshape(-1, dimensions + 1)
    places = Places(there).of(keys)
    known = places != NONE
    unit = packed[:, 1:].astype(np.float32)
    found[known] = (unit / np.linalg.norm(unit, axis=1, keepdims=True))[places[known]]
    return found


async def lexical(session: Session, kind: ElementKind, query: str, limit: int, view: View) -> Hits:
    """Elements of a kind by the BM25 of their text, best first, ties by key."""
    asked = list(dict.fromkeys(session.analyser.terms(query)))
    tally = session.tally(kind)
    new = _Postings.of(await undocumented(session, kind) if tally.behind else (), asked)
    containing = Counter(new.terms) + Counter(await _document_frequencies(session, kind, asked))
    documents = tally.documents + new.documents
    wanted = {term: idf(documents, containing[term]) for term in asked if term in containing}
    if not wanted:
        return _no_hits(kind)
    candidates = dict.fromkeys(candidate_terms({term: containing[term] for term in wanted}, documents))
    common = {term: rarity for term, rarity in wanted.items() if term not in candidates}
    values = {
        "terms": list(wanted),
        "idf": list(wanted.values()),
        "candidates": list(candidates),
        "new_terms": new.terms,
        "new_ids": new.ids,
        "new_frequencies": new.frequencies,
        "new_lengths": new.lengths,
        "k1": K1,
        "b": B,
        "flat": 1.0 - B,
        "average": grid((tally.total_length + new.total_length) / max(documents, 1)),
        "limit": max(limit, 0),
        **view_values(view),
    }
    if not common:
        return await _hits(session.run_kept_here, kind, statement("lexical by candidates", kind).decode(), **values)
    return await _hits(
        session.run,
        kind,
        statement("lexical", kind).decode(),
        common=list(common),
        common_idf=list(common.values()),
        most_added=sum(common.values()) + TOLERANCE,
        **values,
    )


async def _document_frequencies(session: Session, kind: ElementKind, terms: Sequence[str]) -> dict[str, int]:
    """In how many documents each term occurs, of those that occur in any."""
    if not terms:
        return {}
    found = await session.run_kept(statement("document frequencies"), kind=kind.value, terms=list(terms))
    return dict(await found.fetchall())


@attrs.define
class _Postings:
    """What the texts that have no document yet would add to a search."""

    documents: int = 0
    total_length: float = 0.0
    terms: list[str] = attrs.field(factory=list)
    ids: list[Any] = attrs.field(factory=list)
    frequencies: list[float] = attrs.field(factory=list)
    lengths: list[float] = attrs.field(factory=list)

    @classmethod
    def of(cls, documents: Iterable[tuple[Any, Mapping[str, float]]], asked: Sequence[str]) -> _Postings:
        """Those of the terms asked for, and the sums of all."""
        postings = cls()
        for key, counts in documents:
            length = sum(counts.values())
            postings.documents += length > 0
            postings.total_length += length
            for term in asked:
                if term in counts:
                    postings.terms.append(term)
                    postings.ids.append(key)
                    postings.frequencies.append(counts[term])
                    postings.lengths.append(length)
        return postings


async def locate(session: Session, ids: Sequence[UUID], view: View) -> Hits:
    """The entities of these ids that hold in the view, in order of key."""
    if not ids:
        return _no_hits(ElementKind.ENTITY)
    found = statement("locate", ElementKind.ENTITY).decode()
    return await _hits(session.run_kept, ElementKind.ENTITY, found, ids=list(ids), **view_values(view))


def _no_hits(kind: ElementKind) -> Hits:
    none = np.empty(0)
    return Hits(keys=rows.keys_of(kind, b""), signatures=none.astype(np.int64), values=none, importance=none)


_Run = Callable[..., Awaitable[psycopg.AsyncCursor[tuple[Any, ...]]]]


async def _hits(run: _Run, kind: ElementKind, found: str, **values: Any) -> Hits:
    query = statement("columns of hits", kind, found=found)
    (row,) = await (await run(query, **values)).fetchall()
    ids, signatures, scores, importance = row
    return Hits(
        keys=rows.keys_of(kind, ids),
        signatures=rows.codes(signatures),
        values=rows.floats(scores),
        importance=rows.floats(importance),
    )


async def expand(session: Session, keys: Keys, fan_out: int, view: View) -> Expansion:
    """The relations of a frontier that pass the view, at most ``fan_out`` an entity and direction, strongest first."""
    frontier = np.asarray(keys, "S16")
    if not len(frontier):
        return Expansion.none(frontier)
    found = await _walk(session, "expand", "{met}", "{view}", frontier, fan_out, view)
    (columns,) = await found.fetchall()
    signed, ids, far, traits, confidence, since, feedback, signatures, *others = (each or b"" for each in columns)
    places = rows.codes(signed)
    met, end = distinct(rows.keys(far))
    ends = FarEnds(keys=met, signatures=np.zeros(len(met), np.int64), importance=np.zeros(len(met)))
    ends.signatures[end], ends.importance[end] = rows.traits(traits)
    looked_at = np.searchsorted(met, rows.keys(others[0]))
    ends.signatures[looked_at], ends.importance[looked_at] = rows.codes(others[1]), rows.floats(others[2])
    if not ends.signatures.all():
        raise StoreError(f"relations of {session.scope} lead to entities that are not there: repair what deleted them")
    there = ~np.isnan(ends.importance)
    return Expansion(
        starts=frontier,
        start=np.abs(places) - 1,
        ends=ends,
        end=end,
        outgoing=places > 0,
        relations=rows.keys(ids),
        confidence=rows.floats(confidence),
        since=rows.seconds(since),
        feedback=rows.floats(feedback),
        signatures=rows.codes(signatures),
        far_holds=None if there.all() else there.take(end),
    )


async def document_count(session: Session, kind: ElementKind) -> int:
    """How many elements of a kind have a word in their texts."""
    tally = session.tally(kind)
    unsettled = await undocumented(session, kind) if tally.behind else ()
    return tally.documents + sum(bool(document) for _, document in unsettled)


async def document_frequencies(session: Session, kind: ElementKind, groups: Sequence[Sequence[str]]) -> list[int]:
    """How many elements of a kind have all terms of each group in their texts."""
    wanted = [tuple(dict.fromkeys(group)) for group in groups]
    single = {group[0] for group in wanted if len(group) == 1}
    several = {group for group in wanted if len(group) > 1}
    there: dict[tuple[str, ...], int] = {(): session.tally(kind).documents}
    there |= {(term,): count for term, count in (await _document_frequencies(session, kind, sorted(single))).items()}
    if several:
        there |= await _with_all(session, kind, sorted(several))
    if session.tally(kind).behind:
        texts = [set(document) for _, document in await undocumented(session, kind)]
        for group in {*wanted}:
            there[group] = there.get(group, 0) + sum(bool(text) and text.issuperset(group) for text in texts)
    return [there.get(group, 0) for group in wanted]


async def _with_all(
    session: Session, kind: ElementKind, groups: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], int]:
    """How many documents have all terms of each group."""
    found = await session.run(
        statement("documents with all", kind),
        groups=[place for place, group in enumerate(groups) for _ in group],
        terms=[term for group in groups for term in group],
        kind=kind.value,
    )
    return {groups[place]: count for place, count in await found.fetchall()}


async def left_out(session: Session, keys: Keys, view: View) -> dict[str, int]:
    """How many relations of these entities the view leaves out, by reason."""
    found = await _walk(session, "left out", "{looked at}", "true", keys, LOOKED_AT, view)
    return dict(await found.fetchall())


async def _walk(
    session: Session, name: str, walked: str, seen: str, keys: Keys, limit: int, view: View
) -> psycopg.AsyncCursor[tuple[Any, ...]]:
    """A statement over at most ``limit`` relations an entity and direction.

    While some relations of the scope may be unsettled it is planned for what it finds, else for good.
    """
    values = {"limit": max(limit, 0), **view_values(view)}
    if session.tally(ElementKind.RELATION).behind:
        every = statement(name, ElementKind.RELATION, steps="{all steps}", walked=walked, seen=seen)
        return await session.run(every, frontier=rows.uuids(keys), **values)
    settled = statement(name, ElementKind.RELATION, steps="{settled steps}", walked=walked, seen=seen)
    return await session.run_kept(settled, frontier=UuidArray.of_keys(keys), **values)
