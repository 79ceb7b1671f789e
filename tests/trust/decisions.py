"""Compare decisions with an oracle: random policies, principals and resources, through every cache of decisions.

`python -m tests.trust.decisions 100000` compares as many decisions, and prints how many were compared and allowed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from graphsearch.access.gate import Gate, resource_of
from graphsearch.access.reader import reading
from graphsearch.authz import CedarAuthorizer
from graphsearch.authz import cedar as module
from graphsearch.model import Action, Batch, ElementKind, Entity, Memory, Principal, Relation, Scope
from graphsearch.model.signatures import Resource
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from tests.trust.cedar_oracle import (
    ANYTHING,
    Asked,
    Attribute,
    Call,
    Choice,
    Expression,
    Is,
    Like,
    Literal,
    Not,
    Operation,
    Policy,
    SetOf,
    Uid,
    Variable,
    text_of,
)

SCHEMA: Final = (Path(module.__file__).parent / "policies" / "schema.cedarschema").read_text(encoding="utf-8")
PRINCIPAL, RESOURCE, PROJECT = Variable("principal"), Variable("resource"), Variable("context.project")
SCOPES: Final = [Scope("acme", "web"), Scope("acme", "a/b"), Scope("zeta", "web")]
WORDS: Final = ["private", "personal", "ada", "100%", "a*b", "", "adabob"]
LABELS: Final = ["private", "personal", "ada", "100%"]
TYPES: Final = ["person", "tool", "ada"]
IDS: Final = ["1", "2", "a/b"]
OPTIONAL: Final = ["name", "source", "owner", "sensitivity"]
VALUES: Final[list[Any]] = [True, False, 1, "editor", "ada", "true", ["ada"], [1, "ada"], 1.5, None, {"a": 1}, 2**70]
ROUND: Final = 100
"""Decisions with one set of policies."""


# -- policies -----------------------------------------------------------------------------------------------------


def _text(rng: random.Random) -> Literal:
    return Literal(rng.choice(WORDS))


def _place(rng: random.Random) -> Literal:
    scope = rng.choice(SCOPES)
    return Literal(rng.choice([Uid("Org", (scope.org_id,)), Uid("Project", (scope.org_id, scope.project_id))]))


def _who(rng: random.Random) -> Literal:
    return Literal(Uid(rng.choice(["User", "Agent"]), (rng.choice(["ada", "bob"]),)))


def _element(rng: random.Random) -> Literal:
    scope = rng.choice(SCOPES)
    return Literal(Uid(rng.choice(["Entity", "Relation", "Memory"]), (scope.org_id, scope.project_id, rng.choice(IDS))))


def _guarded(of: Expression, name: str, rng: random.Random) -> Expression:
    """A test of an optional text, which validation demands to be guarded by ``has``."""
    value = Attribute(of, name)
    return Operation("&&", Attribute(of, name, tests=True), _about_text(value, rng))


def _about_text(value: Expression, rng: random.Random) -> Expression:
    match rng.randrange(4):
        case 0:
            return Operation(rng.choice(["==", "!="]), value, _text(rng))
        case 1:
            pieces = tuple(rng.choice(["", "a", "ad", "b", "100%", "e"]) for _ in range(rng.randint(1, 3)))
            return Like(value, pieces)
        case 2:
            return Call(SetOf((_text(rng), _text(rng))), "contains", value)
    return Operation("==", value, Attribute(PRINCIPAL, "id"))


def _about_labels(rng: random.Random) -> Expression:
    labels = Attribute(RESOURCE, "labels")
    some = SetOf((Literal(rng.choice(LABELS)), Literal(rng.choice(LABELS))))
    match rng.randrange(5):
        case 0:
            return Call(labels, "isEmpty")
        case 1:
            return Operation("==", labels, some)
        case 2 | 3:
            return Call(labels, "contains", Literal(rng.choice(LABELS)))
    return Call(labels, rng.choice(["containsAll", "containsAny"]), some)


def _about_tag(rng: random.Random) -> Expression:
    of, name = rng.choice([PRINCIPAL, RESOURCE]), Literal(rng.choice(["role", "team", "age"]))
    return Operation("&&", Call(of, "hasTag", name), _about_text(Call(of, "getTag", name), rng))


def _about_flag(rng: random.Random) -> Expression:
    del rng
    return Operation("&&", Attribute(PRINCIPAL, "see_private", tests=True), Attribute(PRINCIPAL, "see_private"))


def _about_place(rng: random.Random) -> Expression:
    of = rng.choice([PRINCIPAL, RESOURCE])
    place = _place(rng)
    return Operation("in", of, place if rng.random() < 0.5 else PROJECT)


def _about_identity(rng: random.Random) -> Expression:
    match rng.randrange(4):
        case 0:
            return Operation("==", PRINCIPAL, _who(rng))
        case 1:
            return Operation("==", RESOURCE, _element(rng))
        case 2:
            return Is(RESOURCE, rng.choice(["Entity", "Relation", "Memory"]), rng.choice([None, PROJECT, _place(rng)]))
    return Is(PRINCIPAL, rng.choice(["User", "Agent"]))


def _number(rng: random.Random) -> Expression:
    return Operation(rng.choice(["<", "<=", ">", ">="]), Literal(rng.randint(-1, 1)), Literal(rng.randint(-1, 1)))


def _about_optional(rng: random.Random) -> Expression:
    if rng.random() < 0.7:
        return _guarded(RESOURCE, rng.choice(OPTIONAL), rng)
    return _guarded(PRINCIPAL, rng.choice(["role", "clearance"]), rng)


def _about_type(rng: random.Random) -> Expression:
    return _about_text(Attribute(RESOURCE, "type"), rng)


_CONDITIONS: Final = (
    *(_about_labels, _about_labels, _about_labels, _about_optional, _about_optional, _about_optional, _about_type),
    *(_about_tag, _about_flag, _about_place, _about_identity, _number),
)


def condition(rng: random.Random, depth: int = 2) -> Expression:
    """A random condition that fits the schema."""
    if depth and rng.random() < 0.5:
        one, other = condition(rng, depth - 1), condition(rng, depth - 1)
        match rng.randrange(5):
            case 0:
                return Not(one)
            case 1:
                return Choice(condition(rng, 0), one, other)
        return Operation(rng.choice(["&&", "||"]), one, other)
    return rng.choice(_CONDITIONS)(rng)


def policy(rng: random.Random) -> Policy:
    """A random policy."""
    actions = [Literal(Uid("Action", (each.value,))) for each in rng.sample(list(Action), 2)]
    scopes: tuple[list[Expression], ...] = (
        [
            Operation("==", PRINCIPAL, _who(rng)),
            Operation("in", PRINCIPAL, _place(rng)),
            Is(PRINCIPAL, rng.choice(["User", "Agent"]), rng.choice([None, _place(rng)])),
        ],
        [Operation("==", Variable("action"), actions[0]), Operation("in", Variable("action"), SetOf(tuple(actions)))],
        [
            Operation("==", RESOURCE, _element(rng)),
            Operation("in", RESOURCE, _place(rng)),
            Is(RESOURCE, rng.choice(["Entity", "Relation", "Memory"]), rng.choice([None, _place(rng)])),
        ],
    )
    who, action, what = (ANYTHING if rng.random() < 0.7 else rng.choice(each) for each in scopes)
    conditions = tuple((rng.random() < 0.7, condition(rng)) for _ in range(rng.randint(0, 2)))
    return Policy(rng.random() < 0.6, who, action, what, conditions)


# -- questions ----------------------------------------------------------------------------------------------------


def principal(rng: random.Random) -> Principal:
    """A random principal, some of whose attributes have types that Cedar, or the schema, does not know."""
    names = rng.sample(["role", "see_private", "clearance", "team", "age"], rng.randint(0, 3))
    return Principal(
        id=rng.choice(["ada", "bob"]),
        type=rng.choice(["User", "Agent"]),
        attributes={name: rng.choice(VALUES) for name in names},
        projects=tuple(rng.sample(SCOPES, rng.choice([1, 2, 2, 3]))),
    )


def _some(rng: random.Random) -> str:
    return rng.choice(WORDS)


def resource(rng: random.Random) -> Resource:
    """A random resource."""
    kind = rng.choice(list(ElementKind))
    return Resource(
        kind=kind,
        id=rng.choice(IDS),
        type="" if kind is ElementKind.MEMORY else rng.choice(TYPES),
        labels=tuple(sorted(rng.sample(LABELS, rng.choice([0, 1, 1, 2])))),
        name=_some(rng),
        source=_some(rng),
        owner=_some(rng),
        sensitivity=_some(rng),
        tags={name: rng.choice(VALUES) for name in rng.sample(["role", "team", "age"], rng.randint(0, 2))},
    )


async def compare_policies(seed: int) -> Counter[str]:
    """Compare some decisions of one set of policies, most of them asked again later, with caches of random sizes."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    policies = [policy(rng) for _ in range(rng.randint(1, 5))]
    text = "\n".join(map(text_of, policies))
    authorizer = CedarAuthorizer(text, SCHEMA, cache_size=rng.choice([0, 3, 65_536]))
    people, resources = [principal(rng) for _ in range(3)], [resource(rng) for _ in range(12)]
    counts = Counter[str]()
    while counts["decisions"] < ROUND:
        who, action, scope = rng.choice(people), rng.choice(list(Action)), rng.choice(SCOPES)
        some = rng.choices(resources, k=rng.randint(1, 10))
        decided = await authorizer.authorize(who, action, some, scope=scope)
        wanted = [Asked(who, action, each, scope).allowed(policies) for each in some]
        assert list(decided) == wanted, (seed, text, who, action, scope, some, decided, wanted)
        counts += Counter(decisions=len(some), allowed=sum(wanted))
    return counts


async def compare_elements(seed: int, store: GraphStore) -> Counter[str]:
    """Compare what several principals see of a graph, each of them twice, by the decisions kept by signature."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    policies = [Policy(True, ANYTHING, ANYTHING, ANYTHING), *(policy(rng) for _ in range(rng.randint(1, 3)))]
    authorizer = CedarAuthorizer("\n".join(map(text_of, policies)), SCHEMA)
    entities, memories, relations = _elements(rng)
    await store.write(Batch(entities=entities, memories=memories, relations=relations))
    people = [principal(rng) for _ in range(3)]
    counts = Counter[str]()
    for who in (*people, *people):
        async with reading(store, gate=Gate(authorizer, who)) as reader:
            seen: set[Any] = await reader.visible_ids(each.id for each in entities)
            seen |= {each.id for each in await reader.get_memories([each.id for each in memories])}
            seen |= {each.id for each in await reader.shown(relations)}
        elements: list[Entity | Memory | Relation] = [*entities, *memories, *relations]
        allowed: set[Any] = {
            each.id for each in elements if Asked(who, Action.READ, resource_of(each), store.scope).allowed(policies)
        }
        with_ends = {each.id for each in relations if not {each.source_id, each.target_id} <= allowed}
        assert seen == allowed - with_ends, (seed, who, [text_of(each) for each in policies])
        counts += Counter(decisions=len(elements), allowed=len(seen))
    return counts


def _elements(rng: random.Random) -> tuple[Sequence[Entity], Sequence[Memory], Sequence[Relation]]:
    def own() -> dict[str, Any]:
        named = {name: _some(rng) for name in ("source", "owner", "sensitivity") if rng.random() < 0.5}
        return {"labels": rng.sample(LABELS, rng.choice([0, 1, 1, 2])), "attributes": named}

    entities = [
        Entity(id=UUID(int=number), type=rng.choice(TYPES), name=f"{rng.choice(TYPES)}{number}", **own())
        for number in range(1, 7)
    ]
    memories = [Memory(id=f"m{number}", subject=_some(rng), **own()) for number in range(4)]
    relations = [
        Relation(source_id=one.id, type=rng.choice(TYPES), target_id=other.id, **own())
        for one, other in pairwise(entities)
    ]
    return entities, memories, relations


async def main(decisions: int) -> None:
    """Compare decisions, some of them by signature, and print how many there were, and how many were allowed."""
    logging.disable(logging.ERROR)  # policies that cannot be evaluated are logged
    counts, seed = Counter[str](), 0
    while counts["decisions"] < decisions:
        counts += await compare_policies(seed)
        if seed % 8 == 0:
            stores = InMemoryGraphStore()
            found = await compare_elements(seed, stores.with_scope(org_id="acme", project_id="web"))
            counts += found + Counter(by_signature=found["decisions"])
        seed += 1
    print(json.dumps({"policy_sets": seed, **counts}))  # noqa: T201 - the result of a command


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
