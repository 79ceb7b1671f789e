"""The entities that a question may mean: by words and by meaning, fused by reciprocal ranks (design 5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.aliases import with_visible_aliases
from graphsearch.finding import lexical, nearest
from graphsearch.model import ElementKind, Entity
from graphsearch.reading import ROUNDS, Reader
from graphsearch.records import Vector
from graphsearch.scoring.among import scores_among
from graphsearch.scoring.fusion import Channel, Fused, Part, reciprocal_rank
from graphsearch.scoring.lexical import searchable_text

SEARCHED: Final = 100
"""How many entities each search gives at least."""
UNRELATED: Final = 1.0
"""The cosine distance of what has nothing in common with a question: nothing as far away is proposed."""


@attrs.frozen(kw_only=True)
class Proposal:
    """An entity that may be meant, the sum of its reciprocal ranks, and the parts of that by channel."""

    entity: Entity
    original: float
    channels: Mapping[str, Part]


async def propose(query: str, vector: Vector | None, candidates: int, reader: Reader) -> list[Fused[UUID]]:
    """Entities that hold and may be seen, best first; ``vector`` is the embedding of the question, if there is one.

    Each search gives at least as many as there are to be ``candidates``.
    """
    limit = max(SEARCHED, candidates)
    channels = {"lexical": await _worded(query, limit, reader)}
    if vector is not None:
        channels["semantic"] = await _near(vector, limit, reader)
    return reciprocal_rank(channels)


async def read(found: Sequence[Fused[UUID]], reader: Reader) -> list[Proposal]:
    """Whole entities, with the aliases that may be seen, in the order they were found."""
    entities = await reader.store.get_entities([each.key for each in found])
    shown = await with_visible_aliases(entities, reader)
    return [
        Proposal(entity=entity, original=each.score, channels=each.parts)
        for entity, each in zip(shown, found, strict=True)
    ]


async def _worded(query: str, limit: int, reader: Reader) -> Channel[UUID]:
    """What shares a term with the question, by what may be seen of it.

    Documents hold all aliases, also those that only hidden memories tell. So what the store finds is scored again, and
    asked for again where too little of it is left.
    """
    told: dict[UUID, float] = {}
    for turn in range(ROUNDS):
        hits = await lexical(ElementKind.ENTITY, query, limit << turn, reader)
        entities = await with_visible_aliases(await reader.entities(hits.keys), reader)
        told = await _scored(query, entities, limit, reader)
        if len(told) >= limit or len(hits) < limit << turn:
            break
    order = sorted(told, key=lambda id_: (-told[id_], id_))
    return Channel(keys=order, scores=[told[id_] for id_ in order])


async def _scored(query: str, entities: Sequence[Entity], limit: int, reader: Reader) -> dict[UUID, float]:
    """The scores of the first ``limit`` that have a term of the question."""
    analyser = reader.store.analyser
    asked = frozenset(analyser.terms(query))
    worded = {entity.id: searchable_text(entity) for entity in entities}
    texts = {id_: text for id_, text in worded.items() if not asked.isdisjoint(analyser.terms(text))}
    first = dict(list(texts.items())[:limit])
    return dict(zip(first, scores_among(list(first.values()), query, analyser), strict=True))


async def _near(vector: Vector, limit: int, reader: Reader) -> Channel[UUID]:
    hits = await nearest(ElementKind.ENTITY, vector, limit, reader)
    near = hits.keep(np.flatnonzero(hits.values < UNRELATED))
    return Channel(keys=reader.store.entity_ids(near.keys), scores=(1.0 - near.values / 2.0).tolist())
