"""Proposals: the entities that a question may mean, scored by relations, words, meaning and importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.aliases import with_visible_aliases
from graphsearch.access.reader import Reader
from graphsearch.columns import Floats
from graphsearch.model import Entity
from graphsearch.modes.mode import Question
from graphsearch.ranking.answering import answering
from graphsearch.relevance.entity_relevance import IMPORTANCE, Described, described
from graphsearch.scoring.fusion import Part

SEARCHED: Final = 100
"""Least number of hits of each search."""
ANSWER: Final = 3.0
"""The weight of the entity at the other end of the best answering relation: above that of any description."""


@attrs.frozen(kw_only=True)
class Proposal:
    """A proposed entity, its relevance, and the parts of that by channel; only of channels that found it."""

    entity: Entity
    original: float
    channels: Mapping[str, Part]


async def propose(question: Question, candidates: int, reader: Reader) -> list[Proposal]:
    """Visible entities, best first, ties by id, for an interpreted question.

    Each search returns at least as many as ``candidates``.
    """
    meant = question.understanding
    if meant is None:  # blank question
        return []
    limit = max(SEARCHED, candidates)
    answers = await answering(question, limit, reader)
    found = await described(meant, limit, question.lexicon, reader, list(answers))
    entities = await with_visible_aliases(await reader.entities(found.hits.keys), reader)
    return sorted(proposals(found, entities, answers), key=lambda each: (-each.original, each.entity.id))


def proposals(found: Described, entities: Sequence[Entity], answers: Mapping[UUID, float]) -> list[Proposal]:
    """Described entities in their order, read whole, with their weight as answers."""
    answer = np.array([answers.get(id_, 0.0) for id_ in found.ids])
    parts = {
        "relations": _parts(answer, ANSWER),
        "lexical": _parts(found.share, 1.0),
        "semantic": _parts(found.cosine, found.weight),
        "importance": _parts(found.hits.importance, IMPORTANCE),
    }
    return [
        Proposal(
            entity=entity,
            original=relevance + ANSWER * answered,
            channels={name: part for name, rows in parts.items() if (part := rows[row]) is not None},
        )
        for row, (entity, relevance, answered) in enumerate(
            zip(entities, found.relevance.tolist(), answer.tolist(), strict=True)
        )
    ]


def _parts(scores: Floats, weight: float) -> Sequence[Part | None]:
    """The contribution of one channel for each entity, with its rank there, ties in the overall order; None for 0."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), np.intp)
    ranks[order] = np.arange(1, len(scores) + 1)
    return [
        Part(rank=rank, score=score, weight=weight, contribution=weight * score) if weight * score > 0 else None
        for rank, score in zip(ranks.tolist(), scores.tolist(), strict=True)
    ]
