"""TRIPLET_COMPLETION: the question against the sentences of relations, dense and lexical, without a walk."""

from __future__ import annotations

from typing import Final

import attrs
import numpy as np

from graphsearch.columns import NONE, Floats, Hits, Keys, Steps, Subgraph
from graphsearch.finding import lexical, nearest
from graphsearch.model import ElementKind
from graphsearch.modes.findings import Reliability, findings
from graphsearch.modes.mode import Answer, Part, Question
from graphsearch.places import Places
from graphsearch.reading import Reader

CANDIDATES: Final = 100
"""Relations that each search gives at least: the best by sentence need not be the most reliable."""


@attrs.frozen
class TripletCompletion:
    """Relations by their fact: near in meaning or in words, each scored by itself alone (design 4, 5.1).

    Facts are near in meaning only where they were embedded: see `graphsearch.ingest.Ingestor`.
    """

    @property
    def needs(self) -> frozenset[Part]:
        """An embedder."""
        return frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score."""
        limit = max(question.request.limit, CANDIDATES)
        with question.stopwatch.stage("seeds"):
            worded = await lexical(ElementKind.RELATION, question.request.query, limit, reader)
            dense = worded.keep(np.empty(0, np.intp))
            if question.vector is not None:
                dense = await nearest(ElementKind.RELATION, question.vector, limit, reader)
        with question.stopwatch.stage("traversal"):
            keys, proximity = by_fact(dense, worded)
            subgraph = await between_ends(await reader.related(keys), reader)
        with question.stopwatch.stage("scoring"):
            near = proximity[Places(keys).of(subgraph.relations)]
            reliability = Reliability.of(subgraph, question.scoring)
            found = findings(subgraph, reliability, near, question.scoring)
        nothing = "no fact shares a word or a meaning with the question"
        return Answer(findings=found, seeds=subgraph.entities[:0], nothing=nothing)


def by_fact(dense: Hits, worded: Hits) -> tuple[Keys, Floats]:
    """The relations found, in order of key, with their proximity by fact (design 5.1).

    1 − d / 2 for what the vector search found; BM25 / the best BM25 for what words alone found.
    """
    alone = worded.keep(~np.isin(worded.keys, dense.keys))
    keys = np.concatenate((dense.keys, alone.keys))
    best = worded.values.max(initial=0.0)
    proximity = np.concatenate((1.0 - dense.values / 2.0, alone.values / best if best else alone.values))
    order = np.argsort(keys)
    return keys[order], proximity[order]


async def between_ends(steps: Steps, reader: Reader) -> Subgraph:
    """Relations with their ends as a subgraph that nobody walked: every entity is where it starts."""
    rows = steps.rows
    ends = np.unique(np.concatenate((rows.near, rows.far)))
    located = await reader.locate(reader.store.entity_ids(ends))
    places = Places(located.keys)
    nowhere = np.full(len(located), NONE)
    return Subgraph(
        entities=located.keys,
        hops=np.zeros(len(located), np.int64),
        seed_distance=np.zeros(len(located)),
        importance=located.importance,
        previous=nowhere,
        via=nowhere,
        relations=rows.relations,
        source=places.of(rows.near),
        target=places.of(rows.far),
        confidence=rows.confidence,
        freshness=steps.freshness,
        prior=steps.prior,
        feedback=rows.feedback,
        signatures=steps.signatures,
    )
