"""Pairs of worlds: a graph of which policies hide a part, and the graph in which the hidden part never was.

Everything that a principal may ask of the first has to be answered as the owner is answered about the second. The
statistics of the whole scope (document counts and frequencies) are documented to count what is hidden: where they are
used, hidden memories have no text. Ids of folded relations follow from what they were first folded from, and are not
compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import combinations
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.claims.naming import forgotten_name
from graphsearch.ingest.write.writer import embed_facts
from graphsearch.model import Batch, Claim, Entity, Memory, MemoryLink, Mention, Relation, Vector
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.text.bm25 import embedding_text
from tests.gates import allowing
from tests.graphs import days_ago


class _Embedder(HashEmbedder):
    """Computes the vector of each text once."""

    def vector(self, text: str) -> Vector:
        return _vector(text)


@cache
def _vector(text: str) -> Vector:
    return HashEmbedder(16).vector(text)


EMBEDDER: Final = _Embedder(16)
NAMES: Final = ["Ada Moss", "Bob", "Cyd Vale", "Jane Roe", "jr", "Roe", "The Chief", "Orla"]
TYPES: Final = ["person", "tool", "place"]
RELATIONS: Final = ["works_at", "lives_in", "knows", "uses"]
WORDS: Final = ["surely", "they say", "rumour has it", "we heard", "it seems"]
SECRET: Final = "secret"
BEFORE: Final = days_ago(100)
"""When is written what no memory states."""
_MERGED: Final = 0.2
"""The share of worlds in which an unasserted entity is merged into an asserted one."""


@attrs.frozen
class Event:
    """A memory with what it mentions and claims; all that a world is made of besides asserted elements."""

    memory: Memory
    mentions: tuple[Mention, ...]
    claims: tuple[Claim, ...]


@attrs.frozen
class World:
    """What is asserted, what memories add, and the merges made in the end."""

    entities: tuple[Entity, ...]
    unasserted: tuple[UUID, ...]
    relations: tuple[Relation, ...]
    events: tuple[Event, ...]
    merges: tuple[tuple[UUID, UUID], ...] = ()
    links: tuple[MemoryLink, ...] = ()
    mentioned_as: Mapping[UUID, Sequence[str]] = attrs.field(factory=dict)
    """The surfaces of the mentions of unasserted entities, hidden ones included."""

    @classmethod
    def of(cls, rng: random.Random, *, texts: bool = False, dated: bool = False) -> World:
        """A random world; ``texts``: its hidden memories have a text, too; ``dated``: some claims state dates."""
        entities = tuple(
            Entity(
                id=UUID(int=number + 1),
                type=rng.choice(TYPES),
                name=name,
                aliases=rng.sample(NAMES, rng.choice([0, 0, 1])),
                labels=_labels(rng),
                importance_weight=rng.choice([0.5, 0.9]),
            )
            for number, name in enumerate(rng.sample(NAMES, 3))
        )
        unasserted = tuple(UUID(int=100 + number) for number in range(2))
        everybody = [*(each.id for each in entities), *unasserted]
        events = tuple(_event(number, everybody, rng, texts=texts, dated=dated) for number in range(rng.randint(1, 7)))
        pairs = [rng.sample([each.id for each in entities], 2) for _ in range(rng.randint(0, 3))]
        given = [_relation(one, other, events, rng) for one, other in pairs]
        relations = tuple({each.id: each for each in given}.values())
        ids = [each.memory.id for each in events]
        links = tuple(MemoryLink(from_id=one, to_id=other) for one, other in [rng.choices(ids, k=2)] if one != other)
        surfaces = {
            key: [mention.surface for each in events for mention in each.mentions if mention.entity_id == key]
            for key in unasserted
        }
        alike = [
            (one.id, other.id)
            for one, other in combinations(entities, 2)
            if (one.type, one.labels) == (other.type, other.labels)
        ]
        merges = rng.sample(alike, min(len(alike), rng.choice([0, 0, 1])))
        world = cls(entities, unasserted, relations, events, tuple(merges), links, surfaces)
        target = rng.choice(entities)
        return world.merging(unasserted[0], target) if surfaces[unasserted[0]] and rng.random() < _MERGED else world

    def merging(self, source: UUID, target: Entity) -> World:
        """The world in which everything mentions an unasserted entity by the type of another, which it is merged into.

        Whoever sees the first sees the second: else it would be merged into something that never was. Once merged, it
        has the type that the mentions of both state first.
        """
        shown = attrs.evolve(target, labels=())
        typed = [
            attrs.evolve(
                each,
                mentions=tuple(
                    attrs.evolve(mention, type=target.type) if mention.entity_id in {source, target.id} else mention
                    for mention in each.mentions
                ),
            )
            for each in self.events
        ]
        return attrs.evolve(
            self,
            entities=tuple(shown if each.id == target.id else each for each in self.entities),
            events=tuple(typed),
            merges=((source, target.id),),
        )

    @property
    def names(self) -> list[str]:
        """All names in it, hidden ones included."""
        surfaces = (mention.surface for each in self.events for mention in each.mentions)
        return sorted({*(each.name for each in self.entities), *surfaces})

    def visible(self, seen: Callable[[Any], bool]) -> World:
        """The world without what is hidden, and without whatever would not be there without that."""
        events = [each for each in self.events if seen(each.memory)]
        there = {each.id for each in self.entities if seen(each)}
        for key in self.unasserted:
            if (entity := self.entity_of(key, events)) is not None and seen(entity):
                there.add(key)
        kept = tuple(
            Event(
                each.memory,
                tuple(mention for mention in each.mentions if mention.entity_id in there),
                tuple(claim for claim in each.claims if {claim.source_id, claim.target_id} <= there and seen(claim)),
            )
            for each in events
        )
        memories = {each.memory.id for each in kept}
        return World(
            entities=tuple(each for each in self.entities if each.id in there),
            unasserted=tuple(key for key in self.unasserted if key in there),
            relations=tuple(
                attrs.evolve(each, evidence=memories.intersection(each.evidence))
                for each in self.relations
                if seen(each) and {each.source_id, each.target_id} <= there
                if not each.evidence or not memories.isdisjoint(each.evidence)
            ),
            events=kept,
            merges=tuple(pair for pair in self.merges if there.issuperset(pair)),
            links=tuple(each for each in self.links if {each.from_id, each.to_id} <= memories),
            mentioned_as=self.mentioned_as,
        )

    def entity_of(self, key: UUID, events: Sequence[Event]) -> Entity | None:
        """An unasserted entity as some memories name and type it; None if they do not mention it."""
        mentions = [mention for each in events for mention in each.mentions if mention.entity_id == key]
        if not mentions:
            return None
        every, surfaces = self.mentioned_as[key], {mention.surface for mention in mentions}
        name = every[0]
        if forgotten_name(name, set(every) - surfaces, surfaces):
            name = mentions[0].surface
        return Entity(id=key, type=next((each.type for each in mentions if each.type), "concept"), name=name)

    @property
    def parts(self) -> Sequence[World]:
        """Its asserted entities, each of its events, and the rest; an entity is named by the first that mentions it."""
        asserted = attrs.evolve(self, unasserted=(), relations=(), events=(), merges=(), links=())
        events, named = [], set[UUID]()
        for event in self.events:
            mentioned = {mention.entity_id for mention in event.mentions}
            fresh = tuple(key for key in self.unasserted if key in mentioned - named)
            named.update(fresh)
            events.append(World((), fresh, (), (event,), mentioned_as=self.mentioned_as))
        rest = attrs.evolve(self, entities=(), unasserted=(), events=())
        return asserted, *events, rest

    async def write(self, store: GraphStore, clock: FixedClock | None = None) -> None:
        """Write the world, embedded; with a clock, each memory when it occurred, what is asserted long before.

        Asserted relations, which cite memories, merges and links are written last, at the time of the clock.
        """
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        if clock is None:
            await self._write(store, self)
        else:
            now = clock.now()
            asserted, *events, rest = self.parts
            for part, moment in ((asserted, BEFORE), *((each, _occurred(each)) for each in events), (rest, now)):
                clock.set(moment)
                await part._write(store, self)
        stored = await store.list_entities()
        await store.write(Batch(vectors={each.id: EMBEDDER.vector(embedding_text(each)) for each in stored}))
        await embed_facts(store, EMBEDDER)

    async def _write(self, store: GraphStore, whole: World) -> None:
        """Write a part; entities are named as in the whole world, of which a name of hidden memories may be kept."""
        named = [entity for key in self.unasserted if (entity := whole.entity_of(key, whole.events))]
        await store.write(
            Batch(
                entities=self.entities,
                named=[attrs.evolve(each, type="concept") for each in named],
                relations=self.relations,
                memories=[each.memory for each in self.events],
                mentions=[mention for each in self.events for mention in each.mentions],
                claims=[claim for each in self.events for claim in each.claims],
            )
        )
        await store.link_memories(self.links)
        for one, other in self.merges:
            await store.merge(one, other)


def _occurred(part: World) -> datetime:
    """When the one memory of a part occurred."""
    (event,) = part.events
    assert event.memory.occurred_at is not None
    return event.memory.occurred_at


def _labels(rng: random.Random) -> tuple[str, ...]:
    return rng.choice([(), (), (SECRET,)])


def _relation(one: UUID, other: UUID, events: Sequence[Event], rng: random.Random) -> Relation:
    return Relation(
        source_id=one,
        type=f"given_{rng.choice(RELATIONS)}",
        target_id=other,
        fact=rng.choice(WORDS),
        confidence=rng.choice([0.6, 0.9]),
        labels=_labels(rng),
        valid_from=rng.choice([None, days_ago(30)]),
        evidence=[each.memory.id for each in rng.sample(events, min(len(events), rng.choice([0, 0, 1, 2])))],
    )


def _event(number: int, everybody: Sequence[UUID], rng: random.Random, *, texts: bool, dated: bool) -> Event:
    labels = _labels(rng)
    memory = Memory(
        id=f"m{number}",
        text="" if labels and not texts else f"{rng.choice(WORDS)} {rng.choice(NAMES)}",
        labels=labels,
        session_id="s",
        position=number,
        source="chat" if number % 2 else "",
        occurred_at=days_ago(50 - number),
    )
    ends = [rng.sample(everybody, 2) for _ in range(rng.randint(0, 2))]
    mentioned = dict.fromkeys([*(end for pair in ends for end in pair), *rng.sample(everybody, rng.randint(0, 2))])
    mentions = tuple(
        Mention(memory_id=memory.id, entity_id=key, surface=rng.choice(NAMES), type=rng.choice(["", "person", "tool"]))
        for key in mentioned
    )
    claims = tuple(
        Claim(
            memory_id=memory.id,
            source_id=one,
            type=kind,
            target_id=other,
            confidence=rng.choice([0.6, 0.8]) + _own(everybody.index(one), kind, everybody.index(other)),
            fact=f"{rng.choice(WORDS)} {rng.choice(NAMES)}",
            valid_from=start,
            valid_to=end,
        )
        for one, other in ends
        for start, end in [_dates(rng) if dated else (None, None)]
        for kind in [rng.choice(RELATIONS[:2])]
    )
    return Event(memory, mentions, claims)


def _own(source: int, kind: str, target: int) -> float:
    """What the confidence of a relation has more than that of any other: of equal ones, ids decide which is walked."""
    return (source * 10 + target * 2 + RELATIONS.index(kind)) / 1000


def _dates(rng: random.Random) -> tuple[datetime | None, datetime | None]:
    """The dates that a claim states: mostly none."""
    start = days_ago(rng.choice([75, 65, 55, 47]))
    match rng.randrange(9):
        case 0:
            return start, None
        case 1:
            return None, start
        case 2:
            return start, start + timedelta(days=rng.choice([5, 15, 40]))
    return None, None


# -- policies -----------------------------------------------------------------------------------------------------


def policy(rng: random.Random) -> tuple[Gate, Callable[[Any], bool]]:
    """A gate, and whether it allows an element."""
    hidden_type = rng.choice(["", "", "tool", "place", *RELATIONS[:2]])

    def allowed(labels: Sequence[str], type_: str) -> bool:
        return SECRET not in labels and (not hidden_type or type_ != hidden_type)

    def seen(element: Any) -> bool:
        return allowed(getattr(element, "labels", ()), getattr(element, "type", ""))

    gate = allowing(lambda each: allowed(each.labels, each.type), by_signature=rng.random() < 0.5)
    return gate, seen
