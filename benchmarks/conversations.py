"""Seeded synthetic conversations: turns of sessions, entities that they mention, vectors, and questions near turns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from benchmarks.graph import MODEL
from benchmarks.workload import word
from graphsearch.model import Batch, Entity, Memory, Mention, Span, Vector
from graphsearch.stores.graph import GraphStore

TURNS: Final = 20
"""Turns per session."""
WORDS: Final = (10, 40)
"""Words per turn, without names."""
NAMED: Final = 3
"""Entities mentioned per turn."""
VOCABULARY: Final = 20_000
MEMORIES_AN_ENTITY: Final = 10
REPEATED: Final = 4
"""Words of its turn that a question repeats."""

_BATCH: Final = 5_000
_SPEAKERS: Final = 8
_START: Final = datetime(2024, 1, 1, tzinfo=UTC)


@attrs.frozen(eq=False)
class Conversations:
    """As many turns as ``workload`` has entities, whose vectors they take; a tenth as many entities.

    Words follow Zipf's law, and how often an entity is mentioned a power law. A question names one entity of a turn,
    repeats some of its words, and its vector is near the turn's.
    """

    workload: Any

    @property
    def vec(self) -> NDArray[np.float32]:
        """The vectors of turns."""
        vectors: NDArray[np.float32] = self.workload.vec
        return vectors

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The mentioned entities."""
        size = max(self.workload.n // MEMORIES_AN_ENTITY, NAMED)
        return tuple(Entity(type="concept", name=f"{word(3 * row + 1)} {word(row)}".title()) for row in range(size))

    @cached_property
    def named(self) -> NDArray[np.intp]:
        """The rows of the entities that each turn mentions, of shape (turns, `NAMED`); may contain repeats."""
        random = np.random.default_rng(11)
        popularity = np.arange(1, len(self.entities) + 1) ** -0.5
        drawn: NDArray[np.intp] = random.choice(
            len(self.entities), size=(self.workload.n, NAMED), p=popularity / popularity.sum()
        )
        return drawn

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        """The turns."""
        random = np.random.default_rng(12)
        zipf = 1.0 / np.arange(1, VOCABULARY + 1)
        lengths = random.integers(*WORDS, size=self.workload.n)
        drawn = random.choice(VOCABULARY, size=int(lengths.sum()), p=zipf / zipf.sum()).tolist()
        ends = np.cumsum(lengths).tolist()
        return tuple(
            self._turn(row, [word(number) for number in drawn[start:end]])
            for row, (start, end) in enumerate(zip([0, *ends], ends, strict=False))
        )

    def _turn(self, row: int, words: list[str]) -> Memory:
        session, position = divmod(row, TURNS)
        names = [self.entities[entity].name for entity in self.named[row]]
        return Memory(
            id=f"m{row:08}",
            text=" ".join((*names, *words)),
            speaker=word(row % _SPEAKERS).title(),
            session_id=f"s{session}",
            position=position,
            occurred_at=_START + timedelta(minutes=row),
        )

    def queries(self, count: int) -> list[tuple[str, NDArray[np.float32], int]]:
        """Questions: their text, their vector, and the turn that they are about."""
        found = []
        for number, (_, vector, row) in enumerate(self.workload.queries(count)):
            words = self.memories[row].text.split()[2 * NAMED :]
            chosen = np.random.default_rng(number).choice(words, size=min(REPEATED, len(words)), replace=False)
            name = self.entities[self.named[row][0]].name
            found.append((f"What of {name}, {' '.join(chosen)}? ({number})", vector, row))
        return found

    async def write_to(self, store: GraphStore) -> None:
        """Write everything."""
        await store.bind_embedder(MODEL, self.vec.shape[1])
        await store.write(Batch(entities=self.entities))
        for batch in self._batches():
            await store.write(batch)
        await store.settle()

    def _batches(self) -> Iterator[Batch]:
        for start in range(0, len(self.memories), _BATCH):
            rows = range(start, min(start + _BATCH, len(self.memories)))
            vectors: dict[Any, Vector] = {self.memories[row].id: self.vec[row] for row in rows}
            yield Batch(
                memories=tuple(self.memories[row] for row in rows),
                mentions=tuple(mention for row in rows for mention in self._mentions(row)),
                vectors=vectors,
            )

    def _mentions(self, row: int) -> Iterator[Mention]:
        memory = self.memories[row]
        start = 0
        for entity in self.named[row]:
            end = start + len(self.entities[entity].name)
            yield Mention(
                memory_id=memory.id,
                entity_id=self.entities[entity].id,
                surface=memory.text[start:end],
                span=Span(start=start, end=end),
            )
            start = end + 1
