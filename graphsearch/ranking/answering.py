"""The entities at the other end of relations that answer a question: who manages whom it names."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Keys
from graphsearch.columns.key_index import Places
from graphsearch.modes.findings import Findings
from graphsearch.modes.graph_completion import GraphCompletion
from graphsearch.modes.mode import Question
from graphsearch.modes.neighborhood import Neighborhood
from graphsearch.modes.question import certain, located, names_alone
from graphsearch.scoring.ends import NEARER


async def answering(question: Question, limit: int, reader: Reader) -> Mapping[UUID, float]:
    """The weight of the best ``limit`` answering entities relative to the best, in (0, 1].

    Empty if the question names nothing for certain, or consists of names only. ``question`` has been interpreted; the
    relations are those of the time that it asks about.
    """
    meant, request = question.understanding, question.request
    if meant is None or names_alone(meant):
        return {}
    named = certain(await located(meant, reader), meant, reader)
    if not len(named):
        return {}
    asked = attrs.evolve(reader.view, as_of=request.as_of or reader.view.as_of, since=request.since)
    mode = Neighborhood() if meant.vector is None else GraphCompletion()
    found = (await mode.find(question, reader.viewing(asked))).findings
    worth = _worth(found, named)
    best = np.argsort(-worth, kind="stable")[:limit]
    best = best[worth[best] > 0]
    ids = reader.store.entity_ids(found.subgraph.entities[best])
    return dict(zip(ids, (worth[best] / worth.max(initial=0.0)).tolist(), strict=True))


def _worth(found: Findings, named: Keys) -> Floats:
    """The score of each entity of a subgraph as an answer: the greatest of the relations that end there.

    Of a relation at a name only the other end answers.
    """
    graph, rows = found.subgraph, found.rows()
    names = np.zeros(len(graph.entities), np.bool_)
    places = Places(graph.entities).of(named)
    names[places[places >= 0]] = True
    value = (found.scores.strength * found.proximity)[rows]
    worth = np.zeros(len(graph.entities))
    one, other = graph.source[rows], graph.target[rows]
    for end, far in ((one, other), (other, one)):
        nearer = ~names[end] & ~names[far] & (graph.hops[end] < graph.hops[far])
        counted = np.where(names[end] & ~names[far], 0.0, np.where(nearer, NEARER, 1.0))
        np.maximum.at(worth, end, counted * value)
    return worth
