"""Analysing a question and linking its entities in a graph in memory: p50 below 2 ms at 100,000 entities.

    python -m benchmarks.analyse [N …] [--json]

Entities are named like people: two words, each shared by many. The questions name one of them, two, one with a typo
(which is looked up by similarity), and one that does not exist. ``linked`` is the share of the names that were found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any, Final

import numpy as np

from benchmarks.asking import SCOPE
from benchmarks.command import Setting, run
from benchmarks.graph import Graph
from benchmarks.measuring import in_turns, rounded
from graphsearch.access.reader import reading
from graphsearch.question import Analysis, analyse
from graphsearch.question.linking import anchors_of
from graphsearch.question.type_profile import ProfileCache
from graphsearch.question.understanding import understand
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore

PROMISED_MS: Final = 2.0


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    workload.names = names(n)
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await Graph.of(workload).write_to(store)
    texts_by_kind = questions(workload.names, setting.runs)
    timed = await in_turns({kind: _asking(store, texts) for kind, texts in texts_by_kind.items()}, runs=setting.runs)
    slowest = max(sample.p50_ms for sample in timed.values())
    return {
        "benchmark": "analyse",
        **setting.about(workload),
        "ours": {
            kind: {**sample.as_dict(), "linked": await _linked(store, texts_by_kind[kind])}
            for kind, sample in timed.items()
        },
        "slowest_p50_ms": rounded(slowest),
        "target": f"< {PROMISED_MS:g} ms",
        "met": slowest < PROMISED_MS,
    }


def names(n: int) -> list[str]:
    """As many distinct names of two words, from a vocabulary that grows with the square root of their number."""
    random = np.random.default_rng(4)
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    size = 2 * int(np.sqrt(n)) + 10
    drawn = ("".join(random.choice(syllables, length)).title() for length in random.integers(2, 5, 8 * size).tolist())
    vocabulary = list(dict.fromkeys(drawn))
    chosen = random.choice(size * size, size=n, replace=False).tolist()
    return [f"{vocabulary[row // size]} {vocabulary[size + row % size]}" for row in chosen]


def questions(called: Sequence[str], count: int) -> dict[str, list[str]]:
    """Questions about entities drawn at random, by kind; names are unique within a kind."""
    random = np.random.default_rng(5)
    drawn = [called[int(row)] for row in random.choice(len(called), size=min(count, len(called)), replace=False)]
    return {
        "exact": [f"Where did {name} work between 2019 and 2021?" for name in drawn],
        "two": [
            f"How is {name} related to {other}, and since when?"
            for name, other in zip(drawn, reversed(drawn), strict=True)
        ],
        "slip": [f"What happened to {name[:3]}{name[2:]} last week?" for name in drawn],
        "unknown": [f"Who told {name[::-1].title()} about the release in March?" for name in drawn],
    }


async def _linked(store: GraphStore, texts: Sequence[str]) -> float:
    """The share of the names in questions that are linked to entities."""
    step = _asking(store, texts)
    found = [await step() for _ in texts]
    named = sum(len(each.names) for each in found)
    return rounded(1.0 - sum(len(each.features.unlinked) for each in found) / named)


def _asking(store: GraphStore, texts: Sequence[str]) -> Callable[[], Awaitable[Analysis]]:
    """A step that analyses the next question after looking up its anchors."""
    turn, profiles = cycle(texts), ProfileCache()

    async def step() -> Analysis:
        text = next(turn)
        async with reading(store) as reader:
            profile = await profiles.profile(reader, None, None, partial(reading, store))
            meant = await understand(text, reader, profile)
            return analyse(text, as_of=reader.view.as_of, anchors=anchors_of(text, meant.linked.links))

    return step


if __name__ == "__main__":
    run(measure, __doc__)
