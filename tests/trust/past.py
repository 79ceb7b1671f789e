"""Compare answers of the past with those of a graph that never heard of anything later.

`python -m tests.trust.past 10000 [FIRST]` asks every question of as many worlds in memory, from the world of that
number on, and prints how many answers were equal, and the worlds of which one was not. Half of the worlds are written
at once, before everything happens; the others as they happen, each memory when it occurred.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Final

import attrs

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import LLMAnswerError, UnknownElementError
from graphsearch.model import Claim, ElementKind, ElementRef, Memory, Relation
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchMode
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import NOON, EchoLLM, FixedClock, WordCounter
from tests.graphs import days_ago
from tests.trust.questions import MANY, plain
from tests.trust.worlds import BEFORE, EMBEDDER, NAMES, World

ASKED: Final = 4
"""Questions of a world in tests."""


@attrs.frozen(eq=False)
class Asked:
    """A graph, asked about a moment: what held then, as it was known then, or as it is known now."""

    engine: GraphSearchEngine
    moment: datetime
    one: str
    other: str
    mode: SearchMode
    ranking: Ranking

    @property
    def query(self) -> str:
        """A question in words."""
        return f"what of {self.one} and {self.other}?"

    @property
    def then(self) -> Mapping[str, Any]:
        """The options of an answer as of the moment, by what was known at it."""
        return {"as_of": self.moment, "known_at": self.moment}


Question = Callable[[Asked], Awaitable[Any]]


async def search(asked: Asked) -> Any:
    """A search in some mode."""
    found = await asked.engine.search(asked.query, mode=asked.mode, limit=MANY, **asked.then)
    return plain((found.triplets, [each.name for each in found.anchors], found.reason, found.found, found.denied))


async def connections(asked: Asked) -> Any:
    """What connects two names."""
    found = await asked.engine.search(asked.query, mode=SearchMode.NEIGHBORHOOD, limit=MANY, **asked.then)
    return plain([(each.entity, each.score) for each in found.connections])


async def shown_to_models(asked: Asked) -> Any:
    """What language models are asked in the modes that need one, and what is found with them."""
    llm = EchoLLM()
    engine = GraphSearchEngine(store=asked.engine.store, embedder=EMBEDDER, llm=llm)
    for mode in (SearchMode.SUMMARY, SearchMode.NATURAL_LANGUAGE):
        try:
            found = await engine.search(asked.query, mode=mode, gate=ALLOW_ALL, **asked.then)
            llm.asked.append(str(plain(found.triplets)))
        except LLMAnswerError:
            continue
    return [sorted(text.splitlines()) for text in llm.asked]


async def recall(asked: Asked) -> Any:
    """Memories that answer."""
    found = await asked.engine.recall(asked.query, limit=MANY, **asked.then)
    return plain(encode(found))


async def rank_entities(asked: Asked) -> Any:
    """Entities that answer."""
    found = await asked.engine.rank_entities(asked.query, ranking=asked.ranking, limit=MANY, **asked.then)
    return plain(encode(found))


async def explain(asked: Asked) -> Any:
    """Why a relation was found that is known then."""
    found = await asked.engine.search(asked.query, mode=asked.mode, limit=MANY, **asked.then)
    if not found.triplets:
        return None
    triplet = min(found.triplets, key=lambda each: str(plain(each)))
    element = ElementRef(ElementKind.RELATION, str(triplet.relation.id))
    why = await asked.engine.explain(asked.query, element, mode=asked.mode, **asked.then)
    return plain({**encode(why), "element": ""})


async def block(asked: Asked) -> Any:
    """A block."""
    builder = ContextBuilder(asked.engine, counter=WordCounter(), log=None)
    found = await builder.build(asked.query, gate=ALLOW_ALL, session_id="s", budget=400, **asked.then)
    return sorted(found.text.splitlines()), plain(list(found.triplets))


QUESTIONS: Final[Mapping[str, Question]] = {
    each.__name__: each for each in (search, connections, shown_to_models, recall, rank_entities, explain, block)
}
"""By name."""


async def answer(question: Question, asked: Asked) -> Any:
    """The answer, or that something is unknown."""
    try:
        return await question(asked)
    except UnknownElementError:
        return "unknown"


# -- worlds -----------------------------------------------------------------------------------------------------------


def world_of(rng: random.Random) -> World:
    """A random world without merges, of which some claims state dates of their own."""
    world = World.of(rng, texts=True)
    events = tuple(
        attrs.evolve(event, claims=tuple(_dated(claim, rng) for claim in event.claims)) for event in world.events
    )
    return attrs.evolve(world, events=events, merges=())


def _dated(claim: Claim, rng: random.Random) -> Claim:
    start = days_ago(rng.randint(44, 60))
    match rng.randrange(4):
        case 0:
            return attrs.evolve(claim, valid_from=start)
        case 1:
            return attrs.evolve(claim, valid_to=start)
    return claim


def until(world: World, moment: datetime) -> World:
    """The world without what occurred after a moment."""
    return world.visible(lambda each: not isinstance(each, Memory) or _occurred(each) <= moment)


def _occurred(memory: Memory) -> datetime:
    assert memory.occurred_at is not None
    return memory.occurred_at


async def write(world: World, store: GraphStore, clock: FixedClock, *, at_once: bool) -> None:
    """Write a world, and leave the clock at the present."""
    if at_once:
        clock.set(BEFORE)
        await world.write(store)
    else:
        await attrs.evolve(world, relations=(), links=()).write(store, clock)
    clock.set(NOON)


async def compare(
    seed: int, everything: GraphStore, earlier: GraphStore, clock: FixedClock, *, asked: int | None = ASKED
) -> Counter[str]:
    """Write a world, and what of it was there at a moment, into two scopes, and compare the answers as of then."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    world, at_once = world_of(rng), seed % 2 == 0
    moment = days_ago(50 - rng.randint(0, 6)) + timedelta(hours=1)
    await write(world, everything, clock, at_once=at_once)
    await write(until(world, moment), earlier, clock, at_once=at_once)
    counts = Counter[str]()
    for name, question in rng.sample(list(QUESTIONS.items()), asked or len(QUESTIONS)):
        one, other = rng.choice([*world.names, rng.choice(NAMES)]), rng.choice(NAMES)
        mode, ranking = rng.choice(_MODES), rng.choice(list(Ranking))
        answers = []
        for store in (everything, earlier):
            engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
            answers.append(await answer(question, Asked(engine, moment, one, other, mode, ranking)))
        then, alone = answers
        assert then == alone, f"seed {seed}: {name}, {one}, {other}, {mode}:\n{str(then)[:1500]}\n{str(alone)[:1500]}"
        counts[name] += 1
    return counts


async def compare_known_now(seed: int, everything: GraphStore, earlier: GraphStore, clock: FixedClock) -> int:
    """The same by what is known now, of a world in which memories speak of their own time; how much was found."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    world = _repetitive(attrs.evolve(World.of(rng, texts=True), merges=(), relations=()), rng)
    moment = days_ago(50 - rng.randint(0, 6)) + timedelta(hours=1)
    await write(world, everything, clock, at_once=True)
    await write(until(world, moment), earlier, clock, at_once=True)
    then, alone = [await _proved(GraphSearchEngine(store=store), world, moment) for store in (everything, earlier)]
    assert then == alone, f"seed {seed}:\n{str(then)[:1500]}\n{str(alone)[:1500]}"
    return len(str(alone))


def _repetitive(world: World, rng: random.Random) -> World:
    """The world with memories that state the same few relations again, in other words."""
    one, *others = [each.id for each in world.entities]
    claims = [
        Claim(
            memory_id=event.memory.id,
            source_id=one,
            type=rng.choice(["knows", "works_at"]),
            target_id=rng.choice(others),
            confidence=rng.choice([0.4, 0.6, 0.8]),
            fact=rng.choice(["", f"words of {event.memory.id}"]),
        )
        for event in world.events
    ]
    events = [attrs.evolve(event, claims=(claim,)) for event, claim in zip(world.events, claims, strict=True)]
    return attrs.evolve(world, events=tuple(events))


async def _proved(engine: GraphSearchEngine, world: World, moment: datetime) -> Any:
    """Triplets and paths between entities, as of a moment; not when they ended, nor by what names they are known."""
    found: list[Any] = []
    for one, other in combinations([each.id for each in world.entities], 2):
        path = await engine.path(one, other, as_of=moment)
        found.append(path and (path.strength, [*map(_proof, path.relations)]))
        triplets = await engine.neighbors(one, depth=2, limit=MANY, as_of=moment)
        found.append([(each.score, each.breakdown.freshness, *_proof(each.relation)) for each in triplets])
    return plain(found)


def _proof(relation: Relation) -> tuple[Any, ...]:
    ends = relation.source_id, relation.type, relation.target_id, relation.valid_from
    return (*ends, relation.fact, relation.confidence, relation.evidence, relation.supported_at)


_MODES: Final = (SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, SearchMode.NEIGHBORHOOD)


async def main(worlds: int, first: int = 0) -> int:
    """Compare worlds in memory, print how often each question was asked, and return how many worlds differ."""
    counts = Counter[str]()
    differing: dict[int, str] = {}
    for seed in range(first, first + worlds):
        clock = FixedClock()
        stores = InMemoryGraphStore(clock=clock)
        one, other = (stores.with_scope(org_id="acme", project_id=name) for name in ("everything", "earlier"))
        try:
            counts += await compare(seed, one, other, clock, asked=None)
        except AssertionError as error:
            differing[seed] = str(error)
    report = {"worlds": worlds, "first": first, "equal": sum(counts.values()), "questions": dict(counts.most_common())}
    print(json.dumps({**report, "differing": differing}, indent=2))  # noqa: T201 - the result of a command
    return len(differing)


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main(*map(int, sys.argv[1:])))))
