"""How a session went reaches what was surfaced to it, where the policies allow it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest

from graphsearch.access.gate import Gate
from graphsearch.errors import ForeignSessionError, InvalidInputError, UnknownScopeError
from graphsearch.feedback import FeedbackService
from graphsearch.model import (
    Action,
    Batch,
    ElementKind,
    ElementRef,
    FeedbackReport,
    Injection,
    Memory,
    Outcome,
    Principal,
    Scope,
)
from graphsearch.model.signatures import Resource
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import NOON
from tests.graphs import edge, people, person

ADA = Principal(id="ada")
KNOWS = edge("Ada", "knows", "Bob", evidence=["m1"])


def entity(name: str) -> ElementRef:
    return ElementRef(ElementKind.ENTITY, str(person(name)))


RELATION = ElementRef(ElementKind.RELATION, str(KNOWS.id))
MEMORY = ElementRef(ElementKind.MEMORY, "m1")


class Without:
    """An authorizer that denies some names, and remembers what it was asked to allow."""

    by_signature = False

    def __init__(self, *denied: str) -> None:
        self.denied = denied
        self.asked: list[tuple[Principal, Action, str]] = []

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        self.asked.extend((principal, action, resource.id) for resource in resources)
        return [resource.name not in self.denied for resource in resources]


@pytest.fixture
async def store(scoped: GraphStore) -> GraphStore:
    batch = people(KNOWS, names="Ada Bob")
    await scoped.write(Batch(entities=batch.entities, relations=batch.relations, memories=[Memory(id="m1", text="x")]))
    return scoped


async def surface(store: GraphStore, *elements: ElementRef, session: str = "s1", id: str = "i1") -> None:
    injection = Injection(id=id, session_id=session, principal="User:ada", created_at=NOON, tokens=1, elements=elements)
    await store.log_injection(injection)


async def weight(store: GraphStore, name: str) -> float:
    [found] = await store.get_entities([person(name)])
    return found.feedback_weight


async def test_an_outcome_moves_everything_that_was_surfaced(store: GraphStore) -> None:
    await surface(store, entity("Ada"), RELATION)
    await surface(store, entity("Ada"), entity("Bob"), MEMORY, id="i2")
    authorizer = Without()
    report = await FeedbackService(store).apply("s1", Outcome.ACCEPTED, gate=Gate(authorizer, ADA))
    everything = tuple(sorted([entity("Ada"), entity("Bob"), RELATION, MEMORY]))
    assert report == FeedbackReport(applied=everything)
    assert await weight(store, "Ada") == pytest.approx(0.55)
    assert sorted(authorizer.asked) == sorted((ADA, Action.FEEDBACK, element.id) for element in everything)


async def test_what_is_no_outcome_is_refused(store: GraphStore) -> None:
    with pytest.raises(InvalidInputError, match="outcome must be a Outcome, not str"):
        await FeedbackService(store).apply("s1", "accepted", gate=Gate(Without(), ADA))  # type: ignore[arg-type]


async def test_the_same_outcome_again_does_nothing_and_another_replaces_it(store: GraphStore) -> None:
    await surface(store, entity("Ada"))
    service = FeedbackService(store)
    await service.apply("s1", Outcome.ACCEPTED, gate=Gate(Without(), ADA))
    again = await service.apply("s1", Outcome.ACCEPTED, gate=Gate(Without(), ADA))
    assert again == FeedbackReport(repeated=(entity("Ada"),))
    other = await service.apply("s1", Outcome.REJECTED, gate=Gate(Without(), ADA))
    assert other == FeedbackReport(replaced=(entity("Ada"),))
    assert await weight(store, "Ada") == pytest.approx(0.45)


async def test_what_is_denied_stays_as_it_is_and_is_counted(store: GraphStore) -> None:
    await surface(store, entity("Ada"), entity("Bob"))
    report = await FeedbackService(store).apply("s1", Outcome.ACCEPTED, gate=Gate(Without("Bob"), ADA))
    assert report == FeedbackReport(applied=(entity("Ada"),), denied=1)
    assert await weight(store, "Bob") == 0.5


async def test_when_everything_is_denied_nothing_changes(store: GraphStore) -> None:
    await surface(store, entity("Bob"))
    report = await FeedbackService(store).apply("s1", Outcome.ACCEPTED, gate=Gate(Without("Bob"), ADA))
    assert report == FeedbackReport(denied=1)
    assert await store.outcomes([entity("Bob")]) == []


async def test_an_element_deleted_since_is_reported(store: GraphStore) -> None:
    gone = ElementRef(ElementKind.ENTITY, str(UUID(int=7)))
    await surface(store, entity("Ada"), gone)
    report = await FeedbackService(store).apply("s1", Outcome.REWORK, gate=Gate(Without(), ADA))
    assert report == FeedbackReport(applied=(entity("Ada"),), missing=(gone,))
    assert await store.outcomes([gone]) == []


async def test_a_session_without_a_log_changes_nothing(store: GraphStore) -> None:
    authorizer = Without()
    report = await FeedbackService(store).apply("unheard", Outcome.ACCEPTED, gate=Gate(authorizer, ADA))
    assert report == FeedbackReport()
    assert authorizer.asked == []


@pytest.mark.parametrize("other", [Principal(id="bob"), Principal(id="ada", type="Agent")])
async def test_an_outcome_of_anybody_else_is_refused(store: GraphStore, other: Principal) -> None:
    await surface(store, entity("Ada"))
    authorizer = Without()
    with pytest.raises(ForeignSessionError, match="'s1'"):
        await FeedbackService(store).apply("s1", Outcome.REJECTED, gate=Gate(authorizer, other))
    assert authorizer.asked == []
    assert await store.outcomes([entity("Ada")]) == []


async def test_other_sessions_are_left_alone(store: GraphStore) -> None:
    await surface(store, entity("Ada"))
    await surface(store, entity("Bob"), session="s2", id="i2")
    await FeedbackService(store).apply("s2", Outcome.ACCEPTED, gate=Gate(Without(), ADA))
    assert await weight(store, "Ada") == 0.5
    assert await weight(store, "Bob") == pytest.approx(0.55)


async def test_a_scope_never_written_to_is_an_error() -> None:
    empty = InMemoryGraphStore().with_scope(org_id="acme", project_id="nothing")
    with pytest.raises(UnknownScopeError):
        await FeedbackService(empty).apply("s1", Outcome.ACCEPTED, gate=Gate(Without(), ADA))


async def test_an_authorizer_that_fails_denies(store: GraphStore) -> None:
    class Broken(Without):
        async def authorize(
            self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
        ) -> Sequence[bool]:
            raise RuntimeError

    await surface(store, entity("Ada"))
    report = await FeedbackService(store).apply("s1", Outcome.ACCEPTED, gate=Gate(Broken(), ADA))
    assert report == FeedbackReport(denied=1)


class Remaking(Without):
    """An authorizer during whose decision the scope is removed and made anew."""

    def __init__(self, store: GraphStore) -> None:
        super().__init__()
        self.store = store

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        await self.store.remove_scope()
        await self.store.write(Batch(memories=(Memory(id="m1"),)))
        return await super().authorize(principal, action, resources, scope=scope)


async def test_an_outcome_does_not_reach_a_scope_that_was_made_anew_meanwhile(store: GraphStore) -> None:
    await store.log_injection(
        Injection(id="i", session_id="s", principal=ADA.qualified_id, created_at=NOON, tokens=1, elements=(MEMORY,))
    )
    report = await FeedbackService(store).apply("s", Outcome.REJECTED, gate=Gate(Remaking(store), ADA))
    assert report == FeedbackReport(missing=(MEMORY,))
    assert await store.outcomes([MEMORY]) == []
