"""Candidate triplets: around named entities, around the nearest entities, and by their facts."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Expansion, Floats, Hits, Keys, Rows, Steps, Subgraph
from graphsearch.columns.key_index import KeyIndex, among, distinct
from graphsearch.model import ElementKind, Vector

FACTS: Final = 100
"""Relations returned by each search over facts: the best by sentence need not be the most reliable."""
HUB: Final = 25
"""Relations per entity and direction from which on a walk may have left out some of the requested type."""
OF_TYPE: Final = 100
"""Most relations of the requested types that are read of a hub."""


@attrs.frozen(eq=False, kw_only=True)
class Facts:
    """Relations found by their facts, distinct, in order of key: with their cosine and their BM25, 0 if not found."""

    keys: Keys
    meaning: Floats
    words: Floats

    @classmethod
    def none(cls, like: Keys) -> Facts:
        """No relations, with keys of the dtype of ``like``."""
        return cls(keys=like[:0], meaning=np.empty(0), words=np.empty(0))

    @classmethod
    def of(cls, dense: Hits, worded: Hits) -> Facts:
        """The relations of both searches."""
        keys, rows = distinct(np.concatenate((dense.keys, worded.keys)))
        meaning, words = np.zeros(len(keys)), np.zeros(len(keys))
        meaning[rows[: len(dense)]] = 1.0 - dense.values
        words[rows[len(dense) :]] = worded.values
        return cls(keys=keys, meaning=meaning, words=words)


async def by_facts(query: str, vector: Vector | None, limit: int, reader: Reader) -> Facts:
    """The relations whose facts are nearest to a question by words, and by meaning if there is a vector."""
    if vector is None:
        worded = await reader.lexical(ElementKind.RELATION, query, limit)
        return Facts.of(worded.keep(np.empty(0, np.intp)), worded)
    dense, worded = await both(
        reader.nearest(ElementKind.RELATION, vector, limit), reader.lexical(ElementKind.RELATION, query, limit)
    )
    return Facts.of(dense, worded)


async def with_relations(subgraph: Subgraph, keys: Keys, reader: Reader) -> Subgraph:
    """A subgraph with additional visible relations that were not walked: their ends become starting points.

    ``keys`` are distinct.
    """
    missing = keys[~among(keys, subgraph.relations)]
    if not len(missing):
        return subgraph
    return await _joined(subgraph, await reader.related(missing), reader)


async def _importance(keys: Keys, steps: Expansion, reader: Reader) -> Floats:
    """The importance of the entities at both ends of visible steps."""
    if steps.located is None:
        return (await reader.locate(reader.entity_ids(keys))).importance
    found, places = np.empty(len(keys)), KeyIndex(keys)
    for ends, values in ((steps.located.keys, steps.located.importance), (steps.far, steps.far_importance)):
        rows = places.of(ends)
        found[rows[rows != NONE]] = values[rows != NONE]
    return found


async def of_types(subgraph: Subgraph, anchors: Keys, types: frozenset[str], reader: Reader) -> Subgraph:
    """A subgraph with the relations of some types of the anchors that have more relations than a walk reads."""
    rows = KeyIndex(subgraph.entities).of(anchors)
    rows = rows[rows != NONE]
    most = np.maximum(
        np.bincount(subgraph.source, minlength=len(subgraph.entities))[rows],
        np.bincount(subgraph.target, minlength=len(subgraph.entities))[rows],
    )
    hubs = subgraph.entities[rows[most >= HUB]]
    if not len(hubs) or not types:
        return subgraph
    only = reader.viewing(attrs.evolve(reader.view, only_types=types))
    steps = await only.expand(np.sort(hubs), OF_TYPE)
    return await with_relations(subgraph, np.unique(steps.rows.relations), reader)


async def _joined(subgraph: Subgraph, steps: Steps, reader: Reader) -> Subgraph:
    """Steps from source to target added to a walk; entities that it did not reach come first, as 0 hops away."""
    rows = steps.rows
    ends, _ = distinct(np.concatenate((rows.near, rows.far)))
    fresh = ends[~among(ends, subgraph.entities)]
    importance = await _importance(fresh, rows, reader)
    moved = len(fresh)
    entities = np.concatenate((fresh, subgraph.entities))
    places = KeyIndex(entities)

    def shifted(column: Rows) -> Rows:
        return np.where(column == NONE, NONE, column + moved)

    return Subgraph(
        entities=entities,
        hops=np.concatenate((np.zeros(moved, np.int64), subgraph.hops)),
        importance=np.concatenate((importance, subgraph.importance)),
        previous=np.concatenate((np.full(moved, NONE), shifted(subgraph.previous))),
        via=np.concatenate((np.full(moved, NONE), subgraph.via)),
        relations=np.concatenate((subgraph.relations, rows.relations)),
        source=np.concatenate((subgraph.source + moved, places.of(rows.near))),
        target=np.concatenate((subgraph.target + moved, places.of(rows.far))),
        confidence=np.concatenate((subgraph.confidence, rows.confidence)),
        freshness=np.concatenate((subgraph.freshness, steps.freshness)),
        prior=np.concatenate((subgraph.prior, steps.prior)),
        feedback=np.concatenate((subgraph.feedback, rows.feedback)),
        signatures=np.concatenate((subgraph.signatures, steps.signatures)),
    )
