"""Similar names in Postgres, by trigrams. Entities without postings after a bulk write are compared one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch.claims.naming import MAX_TRIGRAMS, SLACK, folded_name, sizes
from graphsearch.model import ElementKind, SimilarName
from graphsearch.stores.in_postgres.index.incoming import TRIGRAM
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.text.trigrams import index_trigrams, overlap, trigrams


@attrs.frozen
class Unnamed:
    """An entity without postings."""

    id: UUID
    type: str
    names: Sequence[str]

    def similarity(self, name: str) -> tuple[float, str]:
        """The greatest similarity among its names, and that name, folded."""
        requested = trigrams(name)
        scored = [
            (overlap(requested, own), each)
            for each in dict.fromkeys(map(folded_name, self.names))
            if 0 < len(own := trigrams(each)) <= MAX_TRIGRAMS
        ]
        return min(scored, key=lambda each: (-each[0], each[1]), default=(0.0, ""))


def best_first(found: Mapping[UUID, tuple[float, str]]) -> list[SimilarName]:
    """Entities with their similarity and similar name, best first, ties by id."""
    similar = [SimilarName(name=name, entity_id=key, similarity=score) for key, (score, name) in found.items()]
    return sorted(similar, key=lambda each: (-each.similarity, each.entity_id))


async def similar(
    session: Session, folded: Sequence[str], threshold: float
) -> dict[str, dict[UUID, tuple[float, str]]]:
    """By folded name: the entities with postings and a similar name, with the most similar one."""
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
    for place, entity, name in await session.rows(statement("similar names"), **places, **values):
        requested = folded[place - 1]
        score, entities = overlap(trigrams(requested), trigrams(name)), best[requested]
        better = entity not in entities or (-score, name) < (-entities[entity][0], entities[entity][1])
        if score >= threshold and better:
            entities[entity] = (score, name)
    return best


async def unnamed(session: Session) -> list[Unnamed]:
    """The entities without postings."""
    if not session.tally(ElementKind.ENTITY).behind:
        return []
    return [Unnamed(*row) for row in await session.rows(statement("unnamed"))]
