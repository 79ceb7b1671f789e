"""A session's log holds what its owner was shown, whoever else interferes: nobody's outcome moves anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias
from uuid import uuid4

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import ForeignSessionError
from graphsearch.model import Batch, ElementKind, ElementRef, Entity, Memory, Outcome, Principal, Relation
from graphsearch.modes.result import SearchMode
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_postgres.session.gateway import Pool
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, WordCounter
from tests.properties import examples

CEDAR: Final = CedarAuthorizer.default()
NAMES: Final = ("alpha", "beta", "gamma", "delta")
HIDDEN: Final = "delta"
"""Shown to the principals of whom `sees_all` is true."""
SOURCES: Final = tuple(Entity(type="tool", name=name, labels=("private",) if name == HIDDEN else ()) for name in NAMES)
TARGETS: Final = tuple(Entity(type="place", name=f"home of {name}") for name in NAMES)
MEMORIES: Final = tuple(Memory(id=name) for name in NAMES)
RELATIONS: Final = tuple(
    Relation(source_id=source.id, type="runs_in", target_id=target.id, evidence=(memory.id,))
    for source, target, memory in zip(SOURCES, TARGETS, MEMORIES, strict=True)
)
REFS: Final = (
    *(ElementRef(ElementKind.ENTITY, str(each.id)) for each in (*SOURCES, *TARGETS)),
    *(ElementRef(ElementKind.RELATION, str(each.id)) for each in RELATIONS),
    *(ElementRef(ElementKind.MEMORY, each.id) for each in MEMORIES),
)
SESSIONS: Final = ("s1", "s2")
WHO: Final[Sequence[tuple[str, str]]] = (("User", "ada"), ("Agent", "ada"), ("User", "mallory"))


def sees_all(who: int) -> bool:
    return WHO[who] == ("User", "mallory")


@attrs.frozen
class Step:
    """One principal builds a block about a name, or reports an outcome, under the id of a session."""

    who: int
    session: str
    does: str | Outcome


Steps: TypeAlias = Sequence[Step]
Hold: TypeAlias = Callable[[InMemoryGraphStore | PostgresGraphStore, Steps], Awaitable[None]]
steps: Final = st.builds(
    Step,
    st.sampled_from(range(len(WHO))),
    st.sampled_from(SESSIONS),
    st.sampled_from([*NAMES, *Outcome]),
)


@attrs.define
class World:
    """A scope, and what was shown in it by session and principal."""

    store: GraphStore
    shown: dict[str, dict[int, set[ElementRef]]] = attrs.field(factory=dict)

    async def take(self, step: Step) -> bool:
        """Take one step; return whether it was accepted."""
        kind, id_ = WHO[step.who]
        attributes = {"see_private": sees_all(step.who)}
        principal = Principal(id=id_, type=kind, attributes=attributes, projects=(self.store.scope,))
        gate = Gate(CEDAR, principal)
        builder = ContextBuilder(GraphSearchEngine(store=self.store), counter=WordCounter())
        try:
            if isinstance(step.does, Outcome):
                report = await builder.feedback(step.session, step.does, gate=gate)
                mine = self.shown.get(step.session, {}).get(step.who, set())
                assert {*report.applied, *report.replaced, *report.repeated} <= mine
                return True
            block = await builder.build(step.does, gate=gate, session_id=step.session, mode=SearchMode.NEIGHBORHOOD)
        except ForeignSessionError:
            return False
        if block.triplets:
            number = NAMES.index(step.does)
            surfaced = {REFS[number], REFS[4 + number], REFS[8 + number], REFS[12 + number]}
            self.shown.setdefault(step.session, {}).setdefault(step.who, set()).update(surfaced)
        return True

    async def weights(self) -> list[float]:
        """The feedback weights of everything."""
        found: list[Entity | Relation | Memory] = [
            *await self.store.get_entities([each.id for each in (*SOURCES, *TARGETS)]),
            *await self.store.get_relations([each.id for each in RELATIONS]),
            *await self.store.get_memories([each.id for each in MEMORIES]),
        ]
        return [each.feedback_weight for each in found]

    async def check(self) -> None:
        """Each session has one owner, and its outcomes moved only what that owner was shown in it."""
        for session, by_principal in self.shown.items():
            assert len(by_principal) == 1, f"{session} has several owners"
        moved = await self.store.outcomes(REFS)
        for record in moved:
            (surfaced,) = self.shown[record.session_id].values()
            assert record.element in surfaced
        unmoved = {*REFS}.difference(record.element for record in moved)
        for element, weight in zip(REFS, await self.weights(), strict=True):
            assert element not in unmoved or weight == 0.5


async def world(stores: InMemoryGraphStore | PostgresGraphStore) -> World:
    """A scope of its own in which everything is stored."""
    store = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    await store.write(Batch(entities=(*SOURCES, *TARGETS), relations=RELATIONS, memories=MEMORIES))
    return World(store)


async def refuses_without_a_trace(stores: InMemoryGraphStore | PostgresGraphStore, taken: Steps) -> None:
    """Whoever did not open a session is refused, and all is as if these steps had never been tried."""
    one, owners, accepted = await world(stores), dict[str, int](), []
    for step in taken:
        empty = step.does == HIDDEN and not sees_all(step.who)
        foreign = owners.get(step.session, step.who) != step.who
        assert await one.take(step) is (empty or not foreign)
        if not foreign:
            accepted.append(step)
            if not empty and not isinstance(step.does, Outcome):
                owners.setdefault(step.session, step.who)
    await one.check()
    without = await world(stores)
    for step in accepted:
        assert await without.take(step)
    assert await one.weights() == await without.weights()
    assert await one.store.outcomes(REFS) == await without.store.outcomes(REFS)
    for session in SESSIONS:
        assert await one.store.injections(session) == await without.store.injections(session)


async def survives_concurrency(stores: InMemoryGraphStore | PostgresGraphStore, taken: Steps) -> None:
    """Principals who take their steps at the same time move only what the owner of a session was shown."""
    one = await world(stores)

    async def turns(who: int) -> None:
        for step in taken:
            if step.who == who:
                await one.take(step)

    await asyncio.gather(*(turns(who) for who in range(len(WHO))))
    await one.check()


@pytest.mark.parametrize("hold", [refuses_without_a_trace, survives_concurrency])
@examples(20)
@given(taken=st.lists(steps, max_size=16))
async def test_interleaved_principals_in_memory(hold: Hold, taken: Steps) -> None:
    await hold(InMemoryGraphStore(clock=FixedClock()), taken)


@pytest.mark.parametrize("hold", [refuses_without_a_trace, survives_concurrency])
@examples(6)
@given(taken=st.lists(steps, max_size=16))
async def test_interleaved_principals_in_postgres(hold: Hold, taken: Steps, shared_pool: Pool) -> None:
    await hold(PostgresGraphStore(shared_pool, clock=FixedClock(), exact=True), taken)


async def test_an_outcome_does_not_move_what_an_intruder_tried_to_add(scoped: GraphStore) -> None:
    await scoped.write(Batch(entities=(*SOURCES, *TARGETS), relations=RELATIONS, memories=MEMORIES))
    one = World(scoped)
    assert await one.take(Step(0, "s1", "alpha"))
    assert not await one.take(Step(2, "s1", "gamma"))
    assert not await one.take(Step(2, "s1", Outcome.REJECTED))
    assert await one.take(Step(0, "s1", Outcome.ACCEPTED))
    assert await one.weights() == pytest.approx([0.55 if number % 4 == 0 else 0.5 for number in range(16)])
