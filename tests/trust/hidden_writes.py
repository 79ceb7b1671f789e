"""Compare pairs of worlds by what changes them: what is hidden from whoever asks shapes no answer, refusals included.

`python -m tests.trust.hidden_writes 1000 [FIRST]` lets principals who may change nothing, some or all of what they see
ask every verb of as many pairs in memory, and prints how often each was asked and which pairs were answered otherwise.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import GraphSearchError, PartialViewError
from graphsearch.model import Action, Principal, Scope
from graphsearch.model.signatures import Resource
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import EchoLLM, FixedClock
from tests.gates import SOMEBODY, Ruling
from tests.tools import Tool
from tests.trust.questions import Side, plain
from tests.trust.worlds import EMBEDDER, NAMES, SECRET, World, policy

OWNERS: Final = ("ada", "bob", "zoe")
"""Owners of memories; the last of none."""
WHOLE: Final = frozenset({"remove_scope", "detect_communities", "refresh_communities", "register_type"})
"""Verbs about everything, refused where anything is hidden."""


@attrs.frozen
class Acting:
    """Who may change nothing (0), all that they see (1), or some of it (2)."""

    reading: Ruling
    kind: int

    @property
    def by_signature(self) -> bool:
        """As that of reading."""
        return self.reading.by_signature

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        seen = await self.reading.authorize(principal, action, resources, scope=scope)
        return [
            allow and (action is Action.READ or self._may(each)) for each, allow in zip(resources, seen, strict=True)
        ]

    def _may(self, resource: Resource) -> bool:
        return self.kind == 1 or (self.kind == 2 and "chat" not in str(resource) and resource.type != "given_knows")


def owned(world: World) -> World:
    """The world with memories that have owners and subjects."""
    return attrs.evolve(
        world,
        events=tuple(
            attrs.evolve(
                each,
                memory=attrs.evolve(each.memory, subject=NAMES[number % 3], attributes={"owner": OWNERS[number % 2]}),
            )
            for number, each in enumerate(world.events)
        ),
    )


# -- verbs --------------------------------------------------------------------------------------------------------


def calls(rng: random.Random, world: World) -> list[tuple[str, Tool | None, Mapping[str, Any]]]:
    """Every verb with arguments, any of which may name something hidden or absent; those that remove come last."""
    ids = [str(each) for each in (*(each.id for each in world.entities), *world.unasserted, UUID(int=99))]
    one, other, third = (rng.choice([*ids, *world.names]) for _ in range(3))
    memory, second = (f"m{rng.randrange(9)}" for _ in range(2))
    corrections: list[dict[str, Any]] = [
        *({"name": name} for name in rng.sample(NAMES, 3)),
        *({"description": "tall"}, {"aliases": [rng.choice(NAMES)]}, {"type": rng.choice(["person", "concept"])}),
        {"labels": [rng.choice(["note", SECRET])]},
    ]
    writing: list[tuple[Tool, dict[str, Any]]] = [
        (Tool("explain"), {"query": "x", "id": memory, "kind": "memory"}),
        (Tool("mark_distinct"), {"one": one, "other": other}),
        (Tool("mark_distinct"), {"one": one, "other": other, "distinct": False}),
        (Tool("link_memories"), {"from_id": memory, "to_id": second}),
        *((Tool("update_entity"), {"entity": third, **each}) for each in rng.sample(corrections, 3)),
        *(
            (Tool("merge_entities"), {"source": one, "target": two, "dry_run": dry, "retype": retype})
            for two in (other, third)
            for dry, retype in ((True, False), (True, True), (False, rng.random() < 0.5))
        ),
        (Tool("merges"), {}),
        (Tool("find_ambiguous"), {}),
        (Tool("register_type"), {"name": "knows", "prior": 0.7}),
        (Tool("detect_communities"), {}),
        (Tool("refresh_communities"), {}),
    ]
    removing: list[tuple[Tool, dict[str, Any]]] = [
        *(
            (Tool("expire"), {"days": days, **which})
            for days in (48, 44)
            for which in ({"source": "chat"}, {"label": SECRET})
        ),
        (Tool("forget"), {"memory": memory}),
        *((Tool("forget"), {"owner": each}) for each in rng.sample(OWNERS, 2)),
        *((Tool("forget"), {"subject": each}) for each in rng.sample(NAMES[:4], 2)),
        *((Tool("forget"), {"label": each}) for each in (SECRET, "none")),
        *((Tool("forget"), {"source": each}) for each in ("chat", "none")),
        *((Tool("forget"), {"session_id": each}) for each in ("none", "s")),
    ]
    undo: tuple[str, None, Mapping[str, Any]] = ("undo_merge", None, {})
    named = [(tool.name, tool, arguments) for tool, arguments in writing]
    last = [(tool.name, tool, arguments) for tool, arguments in rng.sample(removing, len(removing))]
    return [*named, undo, undo, *last, ("remove_scope", None, {})]


async def answered(side: Side, name: str, tool: Tool | None, arguments: Mapping[str, Any]) -> Any:
    """The answer, or the error with its text; None of what is refused to whom anything is hidden from."""
    try:
        if tool is not None:
            return plain(await tool.run(side.caller, arguments))
        if name == "remove_scope":
            return (await side.curator.remove_scope()).whole
        if not (made := await side.curator.merges()):
            return []
        return plain(attrs.asdict(await side.curator.undo_merge(made[-1].id)))
    except PartialViewError:
        return None
    except GraphSearchError as error:
        return type(error).__name__, str(error).replace(str(side.engine.store.scope), "the scope")


async def compare(seed: int, everything: GraphStore, without: GraphStore, clock: FixedClock) -> Counter[str]:
    """Write a pair of worlds into two scopes, and let one principal call every verb on both; the number of each."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    world = owned(World.of(rng, dated=True))
    gate, seen = policy(rng)
    kind = rng.choice([0, 1, 1, 2, 2])
    acting = Gate(Acting(Ruling(gate.authorizer.rule, gate.authorizer.by_signature), kind), SOMEBODY)  # type: ignore[attr-defined]
    sides = []
    for store, part in ((everything, world), (without, world.visible(seen))):
        await part.write(store)
        llm = EchoLLM()
        sides.append(Side(GraphSearchEngine(store=store, embedder=EMBEDDER, llm=llm), acting, llm))
    counts = Counter[str]()
    for name, tool, arguments in calls(rng, world):
        one, other = [await answered(side, name, tool, arguments) for side in sides]
        if name in WHOLE and one is None:
            counts["whole"] += 1
            continue
        assert one == other, f"seed {seed}, {kind}: {name} {arguments}:\n{one}\n{other}"
        counts[name] += 1
        clock.advance(minutes=1)
    return counts


async def main(pairs: int, first: int = 0) -> int:
    """Compare pairs of worlds in memory, print what was asked, and return how many pairs differ."""
    counts, differing = Counter[str](), dict[int, str]()
    for seed in range(first, first + pairs):
        clock = FixedClock()
        stores = InMemoryGraphStore(clock=clock)
        one, other = (stores.with_scope(org_id="acme", project_id=name) for name in ("everything", "without"))
        try:
            counts += await compare(seed, one, other, clock)
        except AssertionError as error:
            differing[seed] = str(error)
    report = {"pairs": pairs, "first": first, "equal": dict(counts.most_common()), "differing": differing}
    print(json.dumps(report, indent=2))  # noqa: T201 - the result of a command
    return len(differing)


if __name__ == "__main__":
    sys.exit(min(1, asyncio.run(main(*map(int, sys.argv[1:])))))
