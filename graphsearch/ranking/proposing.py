"""The entities that a question may mean, with what relations, words, meaning and importance make of each."""

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
"""How many entities each search gives at least."""
ANSWER: Final = 3.0
"""What the entity at the other end of the relation that answers best counts: more than any can be described."""


@attrs.frozen(kw_only=True)
class Proposal:
    """An entity that may be meant, its relevance, and the parts of that by channel; only of channels that found it."""

    entity: Entity
    original: float
    channels: Mapping[str, Part]


async def propose(question: Question, candidates: int, reader: Reader) -> list[Proposal]:
    """Entities that hold and may be seen, best first, ties by id, for a question that has been understood.

    Each search gives at least as many as there are to be ``candidates``.
    """
    meant = question.understanding
    if meant is None:  # nothing was asked
        return []
    limit = max(SEARCHED, candidates)
    answers = await answering(question, limit, reader)
    found = await described(meant, limit, question.lexicon, reader, list(answers))
    entities = await with_visible_aliases(await reader.entities(found.hits.keys), reader)
    return sorted(proposals(found, entities, answers), key=lambda each: (-each.original, each.entity.id))


def proposals(found: Described, entities: Sequence[Entity], answers: Mapping[UUID, float]) -> list[Proposal]:
    """Described entities in their order, which have been read, with how much each answers."""
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
    """What one channel adds for each entity, with its rank there, ties in the order of all; None for nothing."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), np.intp)
    ranks[order] = np.arange(1, len(scores) + 1)
    return [
        Part(rank=rank, score=score, weight=weight, contribution=weight * score) if weight * score > 0 else None
        for rank, score in zip(ranks.tolist(), scores.tolist(), strict=True)
    ]
