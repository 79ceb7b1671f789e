"""Worlds of few entities, merged, separated, forgotten and deleted all the time: both stores hold the same."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import GraphSearchError
from graphsearch.model import Batch, Claim, Entity, Memory, Mention, Relation, RelationType, Span
from graphsearch.model.stored import RecordKind
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import day
from graphsearch.testing.strategies import EMBEDDER, SURFACES

PEOPLE = [UUID(int=number) for number in range(1, 8)]
TYPES = ("knows", "works_at", "lives_in")


@attrs.frozen
class World:
    """Draws changes, from what a scope holds."""

    rng: random.Random
    there: Mapping[str, Sequence[Any]]

    def ids(self, kind: RecordKind) -> list[Any]:
        name = kind.value
        return [getattr(each, name).id for each in self.there[kind]]

    def some(self, items: Sequence[Any], most: int) -> list[Any]:
        return self.rng.sample(items, min(len(items), self.rng.randint(0, most)))

    def change(self) -> tuple[str, Sequence[Any], Mapping[str, Any]]:
        """The name of a method, and its arguments."""
        entities, memories = self.ids(RecordKind.ENTITY), self.ids(RecordKind.MEMORY)
        weights = {"write": 7, "assert": 2, "forget": 4, "merge": 4, "undo_merge": 4, "delete": 1, "register_types": 1}
        kind = self.rng.choices([*weights], [*weights.values()])[0] if len(entities) > 1 and memories else "write"
        if kind == "forget":
            return kind, [self.some(memories, 3)], {"dry_run": self.rng.random() < 0.2}
        if kind == "merge":
            return kind, self.rng.choices(entities, k=2), {"retype": True, "dry_run": self.rng.random() < 0.1}
        if kind == "undo_merge":
            return kind, [self.rng.choice([*self.ids(RecordKind.MERGE), UUID(int=0)])], {}
        if kind == "delete":
            relations = self.some(self.ids(RecordKind.RELATION), 1)
            return kind, [], {"entities": self.some(entities, 1), "relations": relations}
        if kind == "register_types":
            return kind, [[RelationType(name=self.rng.choice(TYPES), functional=self.rng.random() < 0.5)]], {}
        return "write", [self.asserted(entities, memories) if kind == "assert" else self.told(entities)], {}

    def period(self) -> dict[str, Any]:
        start = self.rng.choice([None, None, 1, 3, 5])
        end = self.rng.choice([None, None, 4, 6])
        return {
            "valid_from": None if start is None else day(start),
            "valid_to": None if end is None or (start or 0) > end else day(end),
        }

    def told(self, there: Sequence[UUID]) -> Batch:
        """Some memories, new or rewritten, with what they mention and claim."""
        memories, mentions, claims = [], [], []
        for key in {f"m{self.rng.randint(0, 12)}" for _ in range(self.rng.randint(1, 3))}:
            times: dict[str, Any] = {
                "occurred_at": self.rng.choice([None, day(2), day(5)]),
                "source": self.rng.choice(["", "mail"]),
            }
            memories.append(Memory(id=key, text=self.rng.choice(SURFACES), **times))
            for at in range(self.rng.randint(0, 3)):
                spoken: dict[str, Any] = {"type": self.rng.choice(["", "tool"]), "span": Span(start=at, end=at + 1)}
                who, surface = self.rng.choice(PEOPLE), self.rng.choice(SURFACES)
                mentions.append(Mention(memory_id=key, entity_id=who, surface=surface, **spoken))
            for _ in range(self.rng.randint(0, 3)):
                one, other = self.rng.choices(PEOPLE, k=2)
                said: dict[str, Any] = {"type": self.rng.choice(TYPES), "confidence": 0.7, "fact": key}
                claims.append(Claim(memory_id=key, source_id=one, target_id=other, **said, **self.period()))
        ends = {end for each in claims for end in (each.source_id, each.target_id)}
        wanted = ends.union(each.entity_id for each in mentions)
        given = [self.entity(key) for key in sorted(wanted) if key not in there or self.rng.random() < 0.1]
        vectors = {each.id: EMBEDDER.vector(each.name) for each in given}
        named, entities = ([each for each in given if (each.id.int % 3 > 0) is is_named] for is_named in (True, False))
        proof: dict[str, Any] = {"memories": memories, "mentions": mentions, "claims": claims}
        return Batch(named=named, entities=entities, vectors=vectors, prune=self.some(there, 1), **proof)

    def entity(self, key: UUID) -> Entity:
        name, alias = self.rng.choice(SURFACES), self.some(SURFACES, 1)
        return Entity(id=key, type=self.rng.choice(["person", "concept"]), name=name, aliases=alias)

    def asserted(self, entities: Sequence[UUID], memories: Sequence[str]) -> Batch:
        """A relation that is given, with evidence or without."""
        one, other = self.rng.choices(entities, k=2)
        kind, evidence = self.rng.choice(TYPES), self.some(memories, 2)
        return Batch(
            relations=[Relation(source_id=one, type=kind, target_id=other, evidence=evidence, **self.period())]
        )


async def records(store: GraphStore) -> dict[str, Sequence[Any]]:
    return {kind: await store.records(kind, limit=1_000) for kind in RecordKind}


async def everything(store: GraphStore) -> Mapping[str, Sequence[str]]:
    """Records, and mentions and claims as they are meant, in values that can be compared."""
    held = await records(store)
    memories = [each.memory.id for each in held[RecordKind.MEMORY]]
    shown = {
        "mentions": await store.list_mentions(memory_ids=memories),
        "claims": await store.list_claims(memory_ids=memories),
    }
    return {kind: [repr(attrs.asdict(each)) for each in own] for kind, own in (held | shown).items()}


async def test_both_stores_hold_the_same(clock: FixedClock, shared_pool: AsyncConnectionPool[Any]) -> None:
    rng, scope = random.Random(0), {"org_id": "worlds", "project_id": "worlds"}  # noqa: S311 - no secret
    memory = InMemoryGraphStore(clock=clock).with_scope(**scope)
    postgres = PostgresGraphStore(shared_pool, clock=clock, exact=True).with_scope(**scope)
    for store in (memory, postgres):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
    for _ in range(30):
        clock.advance(hours=1)
        held = await records(memory)
        name, args, options = World(rng, held).change()
        outcomes = []
        for store in (memory, postgres):
            try:
                outcomes.append(await getattr(store, name)(*args, **options))
            except GraphSearchError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], name
        assert await everything(memory) == await everything(postgres), name
