"""A workload as graphsearch objects: entities, relations, vectors, and an embedder of the questions."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs
import numpy as np

from graphsearch.model import KNOWN_ENTITY_TYPES, Batch, Entity, Relation, Vector
from graphsearch.protocols import InputType
from graphsearch.stores.graph import GraphStore

BATCH: Final = 50_000
MODEL: Final = "synthetic"


class QuestionVectors:
    """An `Embedder` that looks up the vectors of a workload's questions: embedding is not measured.

    Any other text, such as the name of a type, gets a direction of its own.
    """

    name = MODEL

    def __init__(self, workload: Any, questions: int) -> None:
        self.dimensions = workload.vec.shape[1]
        self._vectors = {text: vector for text, vector, _ in workload.queries(questions)}
        self.texts = tuple(self._vectors)

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:  # noqa: ARG002 - of the protocol
        """The vectors of questions, and of other texts."""
        for text in texts:
            if text not in self._vectors:
                direction = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dimensions)
                self._vectors[text] = np.asarray(direction / np.linalg.norm(direction), np.float32)
        return np.array([self._vectors[text] for text in texts], np.float32)


@attrs.frozen(eq=False)
class Graph:
    """The elements of a workload.

    Entities have one of the known types, relations one of the workload's 64. Every confidence is in [0.5, 1], so that
    no relation is filtered and a search does as much work as the bare one.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    vectors: dict[Any, Vector]

    @classmethod
    def of(cls, workload: Any, *, private_share: float = 0.0) -> Graph:
        """All of a workload; ``private_share`` of its entities and of its relations are labelled "private"."""
        random = np.random.default_rng(2)
        private = (random.random(workload.n) < private_share).tolist()
        entities = tuple(
            Entity(
                type=KNOWN_ENTITY_TYPES[int(workload.cluster[row]) % len(KNOWN_ENTITY_TYPES)],
                name=name,
                description=workload.desc(row),
                labels=("private",) if private[row] else (),
            )
            for row, name in enumerate(workload.names)
        )
        confidence = (0.5 + random.random(workload.m) / 2).tolist()
        private = (random.random(workload.m) < private_share).tolist()
        relations = tuple(
            Relation(
                source_id=entities[source].id,
                type=workload.rel_names[type_],
                target_id=entities[target].id,
                fact=workload.fact(row),
                confidence=confidence[row],
                labels=("private",) if private[row] else (),
            )
            for row, (source, target, type_) in enumerate(
                zip(workload.src.tolist(), workload.dst.tolist(), workload.rel.tolist(), strict=True)
            )
        )
        return cls(entities, relations, {entity.id: workload.vec[row] for row, entity in enumerate(entities)})

    def entity_batches(self, size: int = BATCH) -> Iterator[Batch]:
        """The entities with their vectors."""
        for start in range(0, len(self.entities), size):
            part = self.entities[start : start + size]
            yield Batch(entities=part, vectors={entity.id: self.vectors[entity.id] for entity in part})

    def relation_batches(self, size: int = BATCH) -> Iterator[Batch]:
        """The relations."""
        for start in range(0, len(self.relations), size):
            yield Batch(relations=self.relations[start : start + size])

    async def write_to(self, store: GraphStore) -> None:
        """Write everything."""
        await store.bind_embedder(MODEL, len(next(iter(self.vectors.values()))))
        for batch in (*self.entity_batches(), *self.relation_batches()):
            await store.write(batch)
