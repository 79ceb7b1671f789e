"""The embedding stage: new entities whose vector is near that of one that is known."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np

from graphsearch.embedders.concurrency import in_order
from graphsearch.ingest.resolving.drafting import Draft
from graphsearch.ingest.resolving.gathering import fetch
from graphsearch.ingest.resolving.known import KnownNames
from graphsearch.ingest.resolving.reading import ONLY_LETTERS, Named, read
from graphsearch.ingest.resolving.resolution import Names, Stage
from graphsearch.ingest.resolving.stages import Match
from graphsearch.model import ElementKind, Entity, View
from graphsearch.protocols import Embedder
from graphsearch.records import Vector
from graphsearch.scoring.lexical import embedding_text

SEARCHES_AT_ONCE = 4


async def by_embedding(draft: Draft, names: Names, embedder: Embedder) -> Draft:
    """The draft after the embedding stage. Names of persons, files, code … are not compared: they mean nothing.

    The most similar of the nearest that nothing contradicts wins, if it is similar enough; of equal ones the lowest
    id. New entities are compared with those that are stored and with those made before them.
    """
    created = [(named, entity) for named, entity in draft.created if named.type not in ONLY_LETTERS]
    if not created:
        return draft
    vectors = await embedder.embed([embedding_text(entity) for _, entity in created], input_type="document")
    stored = await _nearest(vectors, names, draft)
    cosines = _cosines(vectors)
    found: dict[UUID, Match] = {}
    for row, (named, entity) in enumerate(created):
        alike = np.flatnonzero(cosines[row, :row] >= draft.options.embedding)
        earlier = [(created[at][1].id, float(cosines[row, at])) for at in alike]
        best = _best(named, entity, [*stored[row], *(each for each in earlier if each[0] not in found)], draft)
        if best is not None:
            found[entity.id] = best
    return draft.replaced(found)


async def _nearest(vectors: Vector, names: Names, draft: Draft) -> list[list[tuple[UUID, float]]]:
    """For each vector the nearest entities that are stored, with their cosines; all of them are known then."""
    now = names.clock.now()
    view = View(now, now)

    async def search(vector: Vector) -> list[tuple[UUID, float]]:
        hits = await names.search_by_embedding(ElementKind.ENTITY, vector, limit=draft.options.candidates, view=view)
        return [
            (each, 1 - float(distance))
            for each, distance in zip(names.entity_ids(hits.keys), hits.values, strict=True)
            if 1 - distance >= draft.options.embedding
        ]

    found = await in_order(search, vectors, limit=SEARCHES_AT_ONCE)
    await fetch(names, draft.known, [each for near in found for each, _ in near])
    return found


def _best(named: Named, entity: Entity, near: Sequence[tuple[UUID, float]], draft: Draft) -> Match | None:
    known = draft.known
    cosines = {each: cosine for each, cosine in near if each in known.entities and each != entity.id}
    agreed = [each for each, kind in known.comparable(named, cosines) if _plausible(named, each, kind, known)]
    if not agreed:
        return None
    best = min(agreed, key=lambda each: (-cosines[each], each))
    return Match(entity_id=best, stage=Stage.EMBEDDING, score=min(1.0, cosines[best]))


def _plausible(named: Named, each: UUID, kind: str, known: KnownNames) -> bool:
    """Whether no number and no word more tells them apart: vectors are blind to both ("GitHub", "GitHub Actions").

    Nor have they the same name: had that told which is meant, it would be decided.
    """
    form, other = read(named.name, kind), read(known.entities[each].name, kind)
    a_word_more = set(form.parts) < set(other.parts) or set(other.parts) < set(form.parts)
    if form.same(other) or a_word_more:
        return False
    return known.numbered_alike(named, each, kind) and not known.contradicted(named, each, kind)


def _cosines(vectors: Vector) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    cosines: Vector = unit @ unit.T
    return cosines
