"""Candidate triplets that a walk does not reach: relations by their facts, and those of requested types at hubs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import attrs
import numpy as np

from graphsearch._support.concurrency import both
from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Expansion, Floats, Hits, Keys, Rows, Subgraph
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
    """Relations found by their facts, distinct, in order of key: with their cosine and their BM25, 0 if not found.

    ``embedded``: whether any fact was found by its vector.
    """

    keys: Keys
    meaning: Floats
    words: Floats
    embedded: bool = False

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
        return cls(keys=keys, meaning=meaning, words=words, embedded=len(dense) > 0)


async def by_facts(query: str, vector: Vector | None, limit: int, reader: Reader) -> Facts:
    """The relations whose facts are nearest to a question by words, and by meaning if there is a vector."""
    if vector is None:
        worded = await reader.lexical(ElementKind.RELATION, query, limit)
        return Facts.of(worded.keep(np.empty(0, np.intp)), worded)
    dense, worded = await both(
        reader.nearest(ElementKind.RELATION, vector, limit), reader.lexical(ElementKind.RELATION, query, limit)
    )
    return Facts.of(dense, worded)


async def of_types(subgraph: Subgraph, anchors: Keys, types: Collection[str], reader: Reader) -> Keys:
    """The relations of some types of the anchors that have more relations than a walk reads."""
    if not len(anchors) or not types:
        return subgraph.relations[:0]
    rows = KeyIndex(subgraph.entities).of(anchors)
    rows = rows[rows != NONE]
    count = len(subgraph.entities)
    most = np.maximum(
        np.bincount(subgraph.source, minlength=count)[rows], np.bincount(subgraph.target, minlength=count)[rows]
    )
    hubs = subgraph.entities[rows[most >= HUB]]
    if not len(hubs):
        return subgraph.relations[:0]
    only = reader.viewing(attrs.evolve(reader.view, only_types=frozenset(types)))
    found: Keys = np.unique((await only.expand(np.sort(hubs), OF_TYPE)).rows.relations)
    return found


async def with_relations(subgraph: Subgraph, keys: Keys, reader: Reader) -> Subgraph:
    """A subgraph with those of some distinct relations that are visible and were not walked.

    Their ends become starting points: those that were not reached come first, as 0 hops away.
    """
    missing = keys[~among(keys, subgraph.relations)]
    if not len(missing):
        return subgraph
    steps = await reader.related(missing)
    rows, count = steps.rows, len(steps.rows)
    ends = np.concatenate((rows.near, rows.far))
    place = KeyIndex(subgraph.entities).of(ends)
    (unmet,) = (place == NONE).nonzero()
    fresh, which = distinct(ends[unmet])
    moved = len(fresh)
    place += moved
    place[unmet] = which
    nowhere = np.full(moved, NONE)

    def shifted(column: Rows) -> Rows:
        return np.where(column == NONE, NONE, column + moved)

    return Subgraph(
        entities=np.concatenate((fresh, subgraph.entities)),
        hops=np.concatenate((np.zeros(moved, np.int64), subgraph.hops)),
        importance=np.concatenate((await _importance(fresh, rows, reader), subgraph.importance)),
        previous=np.concatenate((nowhere, shifted(subgraph.previous))),
        via=np.concatenate((nowhere, subgraph.via)),
        relations=np.concatenate((subgraph.relations, rows.relations)),
        source=np.concatenate((subgraph.source + moved, place[:count])),
        target=np.concatenate((subgraph.target + moved, place[count:])),
        confidence=np.concatenate((subgraph.confidence, rows.confidence)),
        freshness=np.concatenate((subgraph.freshness, steps.freshness)),
        prior=np.concatenate((subgraph.prior, steps.prior)),
        feedback=np.concatenate((subgraph.feedback, rows.feedback)),
        signatures=np.concatenate((subgraph.signatures, steps.signatures)),
    )


async def _importance(keys: Keys, steps: Expansion, reader: Reader) -> Floats:
    """The importance of entities, in order of key, at either end of visible steps."""
    located = steps.located
    if located is None:
        located = await reader.locate(reader.entity_ids(keys))
    found = np.empty(len(keys))
    for column, values in ((steps.ends.keys, steps.ends.importance), (located.keys, located.importance)):
        if len(column):
            at = np.searchsorted(column, keys).clip(max=len(column) - 1)
            there = column[at] == keys
            found[there] = values[at[there]]
    return found
