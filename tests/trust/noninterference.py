"""Compare pairs of worlds: whatever somebody asks, what is hidden from them shapes no answer.

`python -m tests.trust.noninterference 100000 [FIRST]` asks every question of as many pairs in memory, from the pair of
that number on, and prints how many answers were equal, and the pairs of which one was not. Tests ask a few questions of
a pair, chosen by its number, so that each is asked of many pairs.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL, Gate, StatisticsOf
from graphsearch.curation.curator import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.modes.result import SearchMode
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import EchoLLM, FixedClock
from tests.gates import allowing
from tests.trust.changes import CHANGES
from tests.trust.questions import QUESTIONS, REFUSABLE, REFUSED, Side, Subject, answer, given
from tests.trust.worlds import EMBEDDER, NAMES, World, policy

SHOWN: Final = 4_000
"""Characters that are shown of an answer that differs."""
ASKED: Final = 5
"""Questions of a pair in tests."""
_STEPWISE: Final = 0.5
"""The share of pairs without merges of which each memory is written when it occurred, and not all at once."""
_MEASURED: Final = 0.5
"""The share of pairs in which there are communities, and a measured health, of everything."""
MODES: Final = (
    *(SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, SearchMode.TRIPLET_COMPLETION),
    SearchMode.NEIGHBORHOOD,
)
"""The modes that ask no language model; that by facts alone twice, since few facts are partly hidden."""


def _side(store: GraphStore, gate: Gate, *, exact: bool) -> Side:
    llm = EchoLLM()
    return Side(GraphSearchEngine(store=store, embedder=EMBEDDER, llm=llm), gate, llm, exact)


def _subject(rng: random.Random, world: World) -> Subject:
    one, other = rng.choice([*world.names, rng.choice(NAMES)]), rng.choice(NAMES)
    relation = rng.choice([UUID(int=0), *(each.id for each in world.relations)])
    return Subject(one, other, f"m{rng.randrange(8)}", relation, rng.choice(MODES), rng.choice(list(Ranking)))


async def _measure(store: GraphStore) -> None:
    """Store communities and the health of the graph, as its owner."""
    owner = Curator(GraphSearchEngine(store=store))
    await owner.detect_communities()
    await owner.graph_health()


async def compare(
    seed: int, everything: GraphStore, without: GraphStore, clock: FixedClock, *, asked: int | None = ASKED
) -> Counter[str]:
    """Write a pair of worlds into two scopes, and compare the answers to some questions; the number of each.

    Of every second pair all scores are compared, by the statistics of the visible.
    Without a number all questions are asked, and all changes are made.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    exact = seed % 2 == 1
    world = World.of(rng, texts=exact, dated=True)
    gate, seen = policy(rng)
    owner = attrs.evolve(ALLOW_ALL, principal=gate.principal)  # who is part of the ids of what they remember
    if exact:  # whoever sees everything is asked as well, since stores round their own scores
        gate = attrs.evolve(gate, statistics=StatisticsOf.VISIBLE)
        owner = attrs.evolve(allowing(lambda _: True, by_signature=True), statistics=StatisticsOf.VISIBLE)
    visible = world.visible(seen)
    stepwise = clock if rng.random() < _STEPWISE and not world.merges else None  # a merge states relations anew
    await world.write(everything, stepwise)
    await visible.write(without, stepwise)
    whole = visible == attrs.evolve(world, unasserted=visible.unasserted)  # of which no memory mentions some
    if rng.random() < _MEASURED and (gate.authorizer.by_signature or not whole):
        for store in (everything, without) if whole else (everything,):  # else it is as if nothing had been measured
            await _measure(store)
    gated, owned = _side(everything, gate, exact=exact), _side(without, owner, exact=exact)
    searches = [(name, QUESTIONS[name]) for name in ("search", "search")]  # more is hidden from them than from others
    questions = [*searches, *rng.sample(list(QUESTIONS.items()), asked - 2 if asked else len(QUESTIONS))]
    changes = rng.sample(list(CHANGES.items()), rng.randrange(2)) if asked else list(CHANGES.items())
    counts = Counter[str]()
    for name, question in (*questions, *changes):
        about = _subject(rng, world)
        one = await answer(question, gated, about)
        if one == REFUSED and name in REFUSABLE and not (whole and name != "tool remember"):  # hidden from its writer
            counts["refused"] += 1
            continue
        other = await answer(question, owned, about)
        other = given(one, other) if name in CHANGES or name == "tool merges" else other
        same = one == other
        if name == "find_duplicates":  # proposed by stored types: some that have one visible type are missed
            same = set(one) <= set(other)
        elif name == "tool find_duplicates":
            same = _duplicates(one) <= _duplicates(other)
        assert same, f"seed {seed}: {name}, {about}:\n{str(one)[:SHOWN]}\n{str(other)[:SHOWN]}"
        counts[name] += 1
    return counts


def _duplicates(answered: Any) -> set[str]:
    return {str(each) for each in answered["duplicates"]}


async def main(pairs: int, first: int = 0) -> int:
    """Compare pairs of worlds in memory, print how often each question was asked, and return how many pairs differ."""
    counts = Counter[str]()
    differing: dict[int, str] = {}
    for seed in range(first, first + pairs):
        clock = FixedClock()
        stores = InMemoryGraphStore(clock=clock)
        one, other = (stores.with_scope(org_id="acme", project_id=name) for name in ("everything", "without"))
        try:
            counts += await compare(seed, one, other, clock, asked=None)
        except AssertionError as error:
            differing[seed] = str(error)
            print(error, file=sys.stderr, flush=True)  # noqa: T201 - the command takes long
    print(json.dumps(_report(pairs, first, counts, differing), indent=2))  # noqa: T201 - the result of a command
    return len(differing)


def _report(pairs: int, first: int, counts: Counter[str], differing: Mapping[int, str]) -> Mapping[str, Any]:
    return {
        "pairs": pairs,
        "first": first,
        "equal": sum(counts.values()),
        "questions": dict(counts.most_common()),
        "differing": differing,
    }


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main(*map(int, sys.argv[1:])))))
