"""Decisions of policies equal those of an evaluator that shares nothing with the policy engine."""

import attrs
import pytest

from graphsearch.access.gate import resource_of
from graphsearch.model import Action, Entity, Principal, Scope
from graphsearch.stores.memory import InMemoryGraphStore
from tests.authz.test_cedar import authorizer
from tests.trust.decisions import compare_elements, compare_policies


@pytest.mark.parametrize("seed", range(20))
async def test_decisions_equal_those_of_the_oracle(seed):
    counts = await compare_policies(seed)
    assert counts["decisions"] >= 100


@pytest.mark.parametrize("seed", range(6))
async def test_what_is_seen_of_a_graph_equals_the_decisions_of_the_oracle(seed):
    stores = InMemoryGraphStore()
    assert (await compare_elements(seed, stores.with_scope(org_id="acme", project_id="web")))["decisions"] > 0


async def test_an_element_may_be_asked_about_as_it_is_and_as_it_is_to_become():
    scope = Scope("acme", "web")
    who = Principal(id="ada", projects=(scope,))
    ada = Entity(type="person", name="Ada")
    now, then = resource_of(ada), resource_of(attrs.evolve(ada, labels=["private"]))
    uid = f"acme/web/{ada.id}"
    policies = (
        f'permit (principal, action, resource == Entity::"{uid}") unless {{ resource.labels.contains("private") }};'
    )
    for asked, answers in (([now, now], [True, True]), ([now, then], [True, False]), ([then, now], [False, True])):
        assert await authorizer(policies).authorize(who, Action.WRITE, asked, scope=scope) == answers


async def test_a_decision_is_of_one_project():
    web, api = Scope("acme", "web"), Scope("acme", "api")
    who = Principal(id="ada", projects=(web, api))
    asked = [resource_of(Entity(type="person", name="Ada"))]
    for first, then in ((web, api), (api, web)):
        policies = authorizer('permit (principal, action, resource in Project::"acme/web");')
        decided = {scope: await policies.authorize(who, Action.READ, asked, scope=scope) for scope in (first, then)}
        assert decided == {web: [True], api: [False]}
