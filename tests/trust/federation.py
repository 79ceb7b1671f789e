"""Compare pairs of federations: what a scope hides shapes no answer to a question to several scopes.

`python -m tests.trust.federation 1000 [FIRST]` asks every question of as many pairs in memory, from the pair of that
number on, and prints the pairs of which an answer differs.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate, StatisticsOf
from graphsearch.engine import GraphSearchEngine
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import Scope
from graphsearch.operations.service import Caller
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import EchoLLM, FixedClock
from tests.gates import allowing
from tests.tools import Tool
from tests.trust import questions
from tests.trust.noninterference import MODES
from tests.trust.questions import OPERATOR_TOOLS, TOOLS, Question, Side, Subject, answer, tool_question
from tests.trust.worlds import EMBEDDER, NAMES, Event, World, policy

StoreOf = Callable[[str], GraphStore]
"""The store of a project, by name."""

PROJECTS: Final = ("a", "b", "c")
ASKED: Final = 3
"""Questions of a pair in tests."""
_SHOWN: Final = 3_000
_AGREEING: Final = 0.7
"""The share of memories that state what those of another scope do."""
_ASKING: Final = (
    *(Tool("graph_query"), Tool("recall")),
    *(Tool("search"), Tool("rank_entities")),
)
"""The tools that ask several scopes."""
QUESTIONS: Final[Mapping[str, Question]] = {
    **{
        each.__name__: each
        for each in (
            *(questions.search, questions.search_exported, questions.shown_to_models),
            *(questions.recall, questions.rank_entities, questions.block),
        )
    },
    **{f"tool {tool.name}": tool_question(tool, {**TOOLS, **OPERATOR_TOOLS}[tool]) for tool in _ASKING},
}
"""By name, all that is asked of several scopes."""


class Federated(Side):
    """Several scopes, as somebody asks them."""

    @cached_property
    def caller(self) -> Caller:
        """The caller of tools, whose own scope is the first."""
        asked: Any = self.engine
        return attrs.evolve(super().caller, engine=asked.engines[0], asked=asked)


def _federated(stores: Sequence[GraphStore], gate: Gate) -> Federated:
    llm = EchoLLM()
    engine: Any = FederatedEngine([GraphSearchEngine(store=store, embedder=EMBEDDER, llm=llm) for store in stores])
    return Federated(engine, attrs.evolve(gate, statistics=StatisticsOf.VISIBLE), llm, exact=True)


async def compare(seed: int, everything: StoreOf, without: StoreOf, *, asked: int | None = ASKED) -> int:
    """Write two or three worlds, with and without what is hidden, and compare the answers to some questions.

    On one side scopes are named in any order. A scope of which nothing is visible is not there on the other side.
    Without a number all questions are asked. Returns how many were.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    worlds = _worlds(rng)
    gate, seen = policy(rng)
    visible = {name: world.visible(seen) for name, world in worlds.items()}
    there = {name: each for name, each in visible.items() if _anything(each)} or {"a": visible["a"]}
    for name, world in worlds.items():
        await world.write(everything(name))
    for name, world in there.items():
        await world.write(without(name))
    gated = _federated(rng.sample([everything(name) for name in worlds], len(worlds)), gate)
    owned = _federated([without(name) for name in there], allowing(lambda _: True, by_signature=True))
    names = sorted({name for world in worlds.values() for name in world.names})
    subjects = [
        Subject(
            one=rng.choice(names),
            other=rng.choice(NAMES),
            memory="",
            relation=UUID(int=0),
            mode=rng.choice(MODES),
            ranking=rng.choice(list(Ranking)),
        )
        for _ in range(2)
    ]
    chosen = list(QUESTIONS.items()) if asked is None else rng.sample(list(QUESTIONS.items()), asked)
    for name, question in chosen:
        for about in subjects:
            one = _of_anywhere(await answer(question, gated, about), everything("a").scope)
            other = _of_anywhere(await answer(question, owned, about), without("a").scope)
            assert one == other, f"seed {seed}: {name}, {about}:\n{one[:_SHOWN]}\n{other[:_SHOWN]}"
    return len(chosen) * len(subjects)


def _worlds(rng: random.Random) -> Mapping[str, World]:
    """Random worlds by project, which state some of the same."""
    first, *others = (World.of(rng, texts=True, dated=True) for _ in range(rng.choice([2, 2, 3])))
    return dict(zip(PROJECTS, (first, *(_agreeing(each, first, rng) for each in others)), strict=False))


def _agreeing(world: World, first: World, rng: random.Random) -> World:
    """The world, of which some memories state what those of another world do that occurred at the same time."""
    if not set(world.unasserted).isdisjoint(source for source, _ in world.merges):
        return world  # all of its mentions have the type of what it is merged into
    told = first.events + world.events[len(first.events) :]
    events = tuple(
        _restated(own, other) if rng.random() < _AGREEING else own
        for own, other in zip(world.events, told, strict=False)
    )
    mentioned_as = {
        key: [mention.surface for each in events for mention in each.mentions if mention.entity_id == key]
        for key in world.unasserted
    }
    return attrs.evolve(world, events=events, mentioned_as=mentioned_as)


def _restated(own: Event, other: Event) -> Event:
    """A memory that states what another one does."""
    return Event(
        own.memory,
        tuple(attrs.evolve(each, memory_id=own.memory.id) for each in other.mentions),
        tuple(attrs.evolve(each, memory_id=own.memory.id) for each in other.claims),
    )


def _anything(world: World) -> bool:
    return bool(world.entities or world.unasserted or world.events)


def _of_anywhere(answered: Any, scope: Scope) -> str:
    """An answer without the organisation that it is about."""
    return str(answered).replace(scope.org_id, "org")


async def main(pairs: int, first: int = 0) -> int:
    """Compare pairs in memory, print those that differ, and return how many do."""
    counted, differing = 0, 0
    for seed in range(first, first + pairs):
        stores = InMemoryGraphStore(clock=FixedClock())
        try:
            counted += await compare(seed, projects(stores, "every"), projects(stores, "other"), asked=None)
        except AssertionError as error:
            differing += 1
            print(error, flush=True)  # noqa: T201 - the result of a command
    print(f"{pairs} pairs, {counted} equal answers, {differing} pairs differ")  # noqa: T201 - the same
    return differing


def projects(stores: InMemoryGraphStore | PostgresGraphStore, org: str) -> StoreOf:
    """The scopes of an organisation."""
    return lambda name: stores.with_scope(org_id=org, project_id=name)


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main(*map(int, sys.argv[1:])))))
