"""A gate denies when its authorizer cannot decide; and elements as policies see them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL, BoundGate, Gate, resource_of
from graphsearch.errors import AccessDeniedError
from graphsearch.model import Action, ElementKind, Entity, Memory, Principal, Relation, Scope
from graphsearch.model.signatures import (
    Resource,
    entity_signature,
)

SCOPE = Scope("acme", "web")
ADA = Principal(id="ada", projects=(SCOPE,))

PUBLIC = Entity(type="function", name="connect")
PRIVATE = Entity(type="function", name="_wrap", labels=("private",))
MEMORIES = (
    Memory(id="m-open", text="seen", subject="Open", source="wiki"),
    Memory(id="m-secret", text="hidden", labels=("private",)),
)


def relation(fact: str, *evidence: str, labels: tuple[str, ...] = (), type: str = "calls") -> Relation:
    return Relation(source_id=PUBLIC.id, type=type, target_id=PRIVATE.id, fact=fact, evidence=evidence, labels=labels)


RELATIONS = (
    relation("bare"),
    relation("open", "m-open", type="uses"),
    relation("mixed", "m-open", "m-secret", type="reads"),
    relation("secret", "m-secret", type="writes"),
    relation("private", "m-open", labels=("private",), type="hides"),
)


@attrs.define
class NoPrivate:
    """An authorizer that denies what is labelled private, and remembers what it was asked."""

    by_signature: bool = True
    asked: list[Resource] = attrs.Factory(list)

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        del principal, action, scope
        self.asked.extend(resources)
        return ["private" not in resource.labels for resource in resources]


class Answering:
    """An authorizer with the answers it was made with."""

    by_signature = True

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.answer = answer

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        assert (principal, action, scope) == (ADA, Action.READ, SCOPE)
        answers: Sequence[bool] = self.answer(len(resources))
        return answers


def raising(_: int) -> Any:
    raise RuntimeError("could not evaluate resource named top secret")


# -- failing closed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(raising, id="exception"),
        pytest.param(lambda count: [True] * (count - 1), id="short"),
        pytest.param(lambda count: [True] * (count + 1), id="long"),
        pytest.param(lambda _: None, id="nothing"),
        pytest.param(lambda count: ["yes"] * count, id="text"),
        pytest.param(lambda count: [1] * count, id="numbers"),
        pytest.param(lambda count: [False] * count, id="deny"),
    ],
)
async def test_a_gate_denies_unless_every_answer_is_there(
    answer: Callable[[int], Any], caplog: pytest.LogCaptureFixture
) -> None:
    gate = BoundGate(Answering(answer), ADA, SCOPE)
    with caplog.at_level(logging.DEBUG):
        assert await gate.permits([resource_of(PUBLIC), resource_of(PRIVATE)]) == [False, False]
    assert "secret" not in caplog.text
    assert "connect" not in caplog.text


async def test_a_gate_passes_answers_on() -> None:
    gate = BoundGate(Answering(lambda count: [True, False][:count]), ADA, SCOPE)
    assert gate.by_signature is True
    assert await gate.permits([resource_of(PUBLIC), resource_of(PRIVATE)]) == [True, False]
    assert await gate.permits([]) == []


async def test_a_failure_is_logged_by_the_name_of_its_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="graphsearch.access.gate"):
        await BoundGate(Answering(raising), ADA, SCOPE).permits([resource_of(PUBLIC)])
    assert "RuntimeError: 1 resources denied" in caplog.text


async def test_cancelling_is_not_a_denial() -> None:
    class Slow(Answering):
        async def authorize(self, *args: Any, **kwargs: Any) -> Sequence[bool]:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await BoundGate(Slow(raising), ADA, SCOPE).permits([resource_of(PUBLIC)])


async def test_allow_all_says_its_name_and_permits_everything() -> None:
    assert repr(ALLOW_ALL) == "ALLOW_ALL"
    assert ALLOW_ALL.principal.id == "owner"
    for action in Action:
        bound = ALLOW_ALL.bind(SCOPE, action)
        assert bound.by_signature
        assert await bound.permits([resource_of(PUBLIC), resource_of(PRIVATE)]) == [True, True]
        await bound.demand([PUBLIC, PRIVATE, *MEMORIES])


def test_a_gate_is_bound_to_a_scope_and_an_action() -> None:
    authorizer = NoPrivate()
    gate = Gate(authorizer, ADA)
    assert gate.bind(SCOPE) == BoundGate(authorizer, ADA, SCOPE, Action.READ)
    assert gate.bind(SCOPE, Action.FORGET) == BoundGate(authorizer, ADA, SCOPE, Action.FORGET)
    assert not gate.allows_all
    assert repr(gate) == f"Gate({authorizer!r}, {ADA!r})"


async def test_a_refused_demand_names_the_action_and_counts_nothing() -> None:
    bound = Gate(NoPrivate(), ADA).bind(SCOPE, Action.MERGE)
    await bound.demand([])
    await bound.demand([PUBLIC])
    with pytest.raises(AccessDeniedError, match="merge is denied") as denied:
        await bound.demand([PUBLIC, PRIVATE, MEMORIES[1]])
    assert denied.value.action == "merge"
    assert not any(letter.isdigit() for letter in str(denied.value))


# -- resources ----------------------------------------------------------------------------------------------------


def test_a_resource_carries_named_attributes_and_the_rest_as_tags() -> None:
    entity = Entity(
        type="tool", name="psql", labels=("b", "a"), attributes={"owner": "ada", "source": "wiki", "team": "db", "n": 1}
    )
    assert resource_of(entity) == Resource(
        kind=ElementKind.ENTITY,
        type="tool",
        labels=("a", "b"),
        source="wiki",
        owner="ada",
        id=str(entity.id),
        name="psql",
        tags={"team": "db", "n": 1},
    )


def test_a_memory_is_named_by_its_subject_and_a_relation_is_not_named() -> None:
    assert resource_of(MEMORIES[0]).name == "Open"
    assert resource_of(MEMORIES[0]).source == "wiki"
    assert resource_of(RELATIONS[0]).name == ""
    assert resource_of(RELATIONS[0]).type == "calls"


def test_a_resource_of_a_signature_names_no_element() -> None:
    resource = entity_signature(PRIVATE).resource
    assert (resource.id, resource.name, resource.tags) == ("", "", {})
    assert resource.labels == ("private",)
