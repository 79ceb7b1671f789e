"""After any changes to a scope Postgres reports and answers what memory does."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

import attrs
import numpy as np
import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.columns import Expansion
from graphsearch.errors import GraphSearchError
from graphsearch.model import (
    Batch,
    Claim,
    ElementKind,
    Entity,
    Memory,
    Mention,
    Outcome,
    Relation,
    RelationType,
    Span,
    Vector,
)
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.index import upkeep, vector_index
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import day, ref, rows_of, signature_of, view
from graphsearch.testing.strategies import EMBEDDER, SURFACES, answers

Act: TypeAlias = Callable[[GraphStore], Awaitable[Any]]
TYPES = ("knows", "works_at", "lives_in")
BULK = 4
BEFORE = view(day(4), day(15), min_edge_confidence=0.0)
SKIPPING = view(day(4), min_edge_confidence=0.3, skipped_types=frozenset({"knows"}))


@attrs.frozen
class Chance:
    """Draws the next change to a scope, and keeps track of what is in it."""

    rng: random.Random
    entities: Sequence[UUID]
    relations: Sequence[Relation]
    memories: Sequence[str]

    @classmethod
    async def of(cls, rng: random.Random, store: GraphStore) -> Chance:
        entities = [each.id for each in await store.list_entities(limit=1_000)]
        memories = [each.id for each in await store.list_memories(limit=1_000)]
        return cls(rng, entities, await store.list_relations(limit=1_000), memories)

    def act(self) -> Act:
        acts = [*[self.new_entities] * 3, *[self.new_relations] * 4, *[self.memory] * 3, self.other_entities]
        acts += [self.other_relations, self.vectors, self.merge, self.undo, self.forget, self.delete, self.outcome]
        acts += [self.types, self.settle]
        return self.rng.choice(acts)() if len(self.entities) > 1 else self.new_entities()

    def some(self, items: Sequence[Any], most: int) -> list[Any]:
        return self.rng.sample(items, min(len(items), self.rng.randint(1, most)))

    def name(self) -> str:
        return self.rng.choice([*SURFACES, f"Thing {self.rng.randint(0, 9)}"])

    def vector(self) -> Vector:
        return np.array([self.rng.randint(-8, 8) / 4 for _ in range(EMBEDDER.dimensions - 1)] + [0.5], np.float32)

    def entity(self, key: UUID | None = None) -> Entity:
        return Entity(
            id=key or UUID(int=self.rng.getrandbits(128)),
            type=self.rng.choice(["person", "tool", "concept"]),
            name=self.name(),
            aliases=[self.name() for _ in range(self.rng.randint(0, 1))],
            valid_to=self.rng.choice([None, None, day(5)]),
            labels=self.rng.choice([(), (), ("private",)]),
            importance_weight=self.rng.choice([0.5, 0.5, 0.9]),
            created_at=self.rng.choice([None, day(1), day(12)]),
        )

    def relation(self, ids: Sequence[UUID]) -> Relation:
        return Relation(
            source_id=self.rng.choice(ids),
            target_id=self.rng.choice(ids),
            type=self.rng.choice(TYPES),
            confidence=self.rng.choice([0.2, 0.5, 0.8]),
            fact=self.rng.choice(["", "she knows"]),
            valid_from=self.rng.choice([None, None, day(3)]),
            created_at=self.rng.choice([None, day(0), day(20)]),
        )

    def new_entities(self) -> Act:
        new = [self.entity() for _ in range(self.rng.randint(1, 3 * BULK))]
        vectors: dict[Any, Vector] = {each.id: self.vector() for each in self.some(new, 9 * BULK)}
        relations = [
            self.relation([*self.entities, *(each.id for each in new)]) for _ in range(self.rng.choice([0, 6]))
        ]
        given: dict[str, Any] = {self.rng.choice(["entities", "named"]): new}
        return lambda store: store.write(Batch(**given, relations=relations, vectors=vectors))

    def new_relations(self) -> Act:
        new = [self.relation(self.entities) for _ in range(self.rng.randint(1, 3 * BULK))]
        return lambda store: store.write(Batch(relations=new))

    def other_entities(self) -> Act:
        other = [self.entity(key) for key in self.some(self.entities, 2 * BULK)]
        vectors: dict[Any, Vector] = {each.id: self.vector() for each in other if self.rng.random() < 0.5}
        return lambda store: store.write(Batch(entities=other, vectors=vectors))

    def other_relations(self) -> Act:
        other = [attrs.evolve(each, confidence=0.4, fact="other") for each in self.some(self.relations, 2 * BULK)]
        return lambda store: store.write(Batch(relations=other))

    def memory(self) -> Act:
        """A few memories, some of them rewritten, with what they name and claim."""
        named = [self.entity() for _ in range(self.rng.randint(0, 2 * BULK))]
        ids = [*self.some(self.entities, 4), *(each.id for each in named)]
        memories, mentions, claims = [], list[Mention](), list[Claim]()
        for key in {f"m{self.rng.randint(0, 20)}" for _ in range(self.rng.randint(1, 5))}:
            memories.append(Memory(id=key, text=self.name(), occurred_at=self.rng.choice([None, day(2), day(8)])))
            for at in range(self.rng.randint(0, 4)):
                one, other = self.rng.choices(ids, k=2)
                spoken: dict[str, Any] = {"type": self.rng.choice(["", "tool"]), "span": Span(start=at, end=at + 1)}
                mentions.append(Mention(memory_id=key, entity_id=one, surface=self.name(), **spoken))
                claimed: dict[str, Any] = {"type": self.rng.choice(TYPES), "confidence": 0.7, "fact": self.name()}
                claims.append(Claim(memory_id=key, source_id=one, target_id=other, **claimed))
        vectors: dict[Any, Vector] = {each.id: self.vector() for each in named}
        batch = Batch(named=named, memories=memories, mentions=mentions, claims=claims, vectors=vectors)
        return lambda store: store.write(batch)

    def vectors(self) -> Act:
        keys = self.some([*self.entities, *self.memories, *(each.id for each in self.relations)], 2 * BULK)
        vectors = {key: self.vector() for key in keys}
        return lambda store: store.write(Batch(vectors=vectors))

    def merge(self) -> Act:
        one, other = self.rng.sample(self.entities, 2)
        return lambda store: store.merge(one, other)

    def undo(self) -> Act:
        which = self.rng.random()

        async def undo_one(store: GraphStore) -> Any:
            merges = [each.id for each in await store.merges() if each.undone_at is None]
            return await store.undo_merge(merges[int(which * len(merges))]) if merges else None

        return undo_one

    def forget(self) -> Act:
        keys = self.some(self.memories, 3)
        return lambda store: store.forget(keys)

    def delete(self) -> Act:
        entities, relations = self.some(self.entities, 2), [each.id for each in self.some(self.relations, 3)]
        return lambda store: store.delete(entities=entities, relations=relations)

    def outcome(self) -> Act:
        moved, session = [ref(each) for each in self.some(self.relations, 5)], self.rng.choice("ab")
        outcome = self.rng.choice(list(Outcome))
        return lambda store: store.apply_outcome(session, outcome, moved)

    def types(self) -> Act:
        known = [RelationType(name="lives_in", functional=self.rng.random() < 0.5, prior=self.rng.choice([0.5, 1.0]))]
        return lambda store: store.register_types(known)

    def settle(self) -> Act:
        return lambda store: store.settle()


async def tried(act: Act, store: GraphStore) -> Any:
    """The report of a store, or the type of the error that it raised."""
    try:
        return await act(store)
    except GraphSearchError as error:
        return type(error)


async def ends_of(store: GraphStore, steps: Expansion) -> list[Any]:
    """Importance and signature of the entities that steps lead to; None for one that is not in view."""
    far_ends = zip(steps.holding.tolist(), steps.far_importance.tolist(), steps.far_signatures.tolist(), strict=True)
    return [(importance, await signature_of(store, code)) if holds else None for holds, importance, code in far_ends]


async def everything(store: GraphStore) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """All answers, those about the ends of relations in particular, and the scores of searches."""
    found = dict(await answers(store))
    ids = [each.id for each in found["entities"]]
    async with store.snapshot():
        keys = (await store.locate(ids, view=SKIPPING)).keys
        for fan_out, seen in ((1, SKIPPING), (3, SKIPPING), (25, SKIPPING), (25, BEFORE)):
            steps = await store.expand(keys, fan_out=fan_out, view=seen)
            walk = (rows_of(store, steps), steps.since.tolist(), steps.feedback.tolist(), await ends_of(store, steps))
            found[f"walk {fan_out} {seen}"] = walk
        edges = await store.edges(view=SKIPPING)
        found["edges"] = (store.relation_ids(edges.relations), edges.weights.tolist())
        found["left out"] = dict(await store.left_out(keys, view=SKIPPING))
        found["of entities"] = [await store.list_relations(entity_id=key) for key in ids]
        found["counted"] = [await store.document_count(kind) for kind in ElementKind]
        groups = [(), ("met",), ("met", "ada"), ("met", "zeppelin")]
        found["documents with"] = [await store.document_frequencies(kind, groups) for kind in ElementKind]
        found["waiting"] = await store.unembedded_facts(limit=1_000)
    # An element as near as the last of ten may replace it, and scores are added up in another order.
    return found, [values for *_, values in found.pop("searches")]


@pytest.mark.parametrize("seed", range(2))
async def test_both_stores_answer_alike(
    seed: int, clock: FixedClock, shared_pool: AsyncConnectionPool[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "WAITING", BULK)
    monkeypatch.setattr(upkeep, "TOGETHER", 3 * BULK)
    monkeypatch.setattr(vector_index, "EXACT_UNTIL", 10 * (seed % 2))
    scope, rng = {"org_id": "alike", "project_id": str(seed)}, random.Random(seed)  # noqa: S311 - no secret
    memory = InMemoryGraphStore(clock=clock).with_scope(**scope)
    postgres = PostgresGraphStore(shared_pool, clock=clock, exact=True).with_scope(**scope)
    for store in (memory, postgres):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    for step in range(1, 25):
        act = (await Chance.of(rng, memory)).act()
        assert await tried(act, postgres) == await tried(act, memory)
        if step % 4 == 0:
            (found, scores), (expected, expected_scores) = await everything(postgres), await everything(memory)
            assert found == expected
            assert scores == [pytest.approx(each, abs=1e-5) for each in expected_scores]
