"""The names of a list of entities, as `graphsearch.ingest.resolve` reads them from a store, by linear search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from graphsearch.columns import Hits, Keys
from graphsearch.model import ElementKind, Entity, NameMatch, SimilarName, Vector, View
from graphsearch.model.identity import normalise_name
from graphsearch.testing.fakes import FixedClock
from graphsearch.text.trigrams import name_words, similarity

if TYPE_CHECKING:
    Whole = Any
else:
    Whole = object


class ListedNames(Whole):  # type: ignore[misc]  # stands for a whole store
    """The names of a small graph. ``asked`` records the queries, in order."""

    def __init__(self, entities: Sequence[Entity] = (), vectors: Mapping[UUID, Vector] | None = None) -> None:
        self.entities = {entity.id: entity for entity in entities}
        self.vectors = dict(vectors or {})
        self.clock = FixedClock()
        self.asked: list[str] = []

    def add(self, entity: Entity, vector: Vector | None = None) -> None:
        """Add or replace an entity."""
        self.entities[entity.id] = entity
        if vector is not None:
            self.vectors[entity.id] = vector

    async def id_key(self) -> UUID:
        """The secret of the scope by which ids are minted."""
        return UUID(int=0)

    async def find_names(self, names: Sequence[str]) -> Sequence[NameMatch]:
        """Entities whose name or alias equals one of ``names``, both normalised and case-folded."""
        self.asked.append("find_names")
        wanted = {normalise_name(name) for name in names}
        return [match for match in self._matches() if match.name in wanted]

    async def find_name_words(
        self, words: Sequence[str], *, prefix: bool = False, limit: int = 50
    ) -> Sequence[NameMatch]:
        """Entities with a name that has one of these words, or a word that starts with one."""
        self.asked.append("find_name_words")
        found: dict[NameMatch, None] = {}
        for word in words:
            hits = [
                match
                for match in self._matches()
                if any(each.startswith(word) if prefix else each == word for each in name_words(match.name))
            ]
            found.update(dict.fromkeys(hits[:limit]))
        return list(found)

    async def similar_names(
        self, names: Sequence[str], *, threshold: float, limit: int = 20
    ) -> Mapping[str, Sequence[SimilarName]]:
        """Entities by the similarity of a name or alias to each of ``names``, best first, ties by id."""
        self.asked.append("similar_names")
        return {name: sorted(self._similar(name, threshold), key=_best_first)[:limit] for name in names}

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        self.asked.append("get_entities")
        return [self.entities[each] for each in ids if each in self.entities]

    async def search_by_embedding(self, kind: ElementKind, vector: Vector, *, limit: int, view: View) -> Hits:
        """The nearest entities by cosine distance."""
        del kind, view
        self.asked.append("search_by_embedding")
        distances = {each: 1 - _cosine(vector, other) for each, other in self.vectors.items()}
        nearest = sorted(distances, key=lambda each: (distances[each], each))[:limit]
        rows = {each: row for row, each in enumerate(self.entities)}
        return Hits(
            keys=np.array([rows[each] for each in nearest], np.int64),
            signatures=np.zeros(len(nearest), np.int64),
            values=np.array([distances[each] for each in nearest], np.float64),
            importance=np.full(len(nearest), 0.5),
        )

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        """The ids of keys of entities."""
        ids = list(self.entities)
        return [ids[int(key)] for key in keys]

    def _matches(self) -> Iterator[NameMatch]:
        for entity in self.entities.values():
            for name in (entity.name, *entity.aliases):
                yield NameMatch(name=normalise_name(name), entity_id=entity.id, alias=name != entity.name)

    def _similar(self, name: str, threshold: float) -> Iterator[SimilarName]:
        for entity in self.entities.values():
            best = max((entity.name, *entity.aliases), key=lambda each: similarity(each, name))
            if (score := similarity(best, name)) >= threshold:
                yield SimilarName(name=best, entity_id=entity.id, similarity=score)


def _best_first(found: SimilarName) -> tuple[float, UUID]:
    return -found.similarity, found.entity_id


def _cosine(a: Vector, b: Vector) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
