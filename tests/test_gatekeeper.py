"""A gatekeeper asks its gate as seldom as it can."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import ALLOW_ALL, BoundGate
from graphsearch.access.gatekeeper import (
    ALLOWED,
    DENIED,
    MAX_CACHED_QUESTIONS,
    PARTIAL,
    Gatekeeper,
    SignatureInterner,
    allows_scope,
)
from graphsearch.model import KNOWN_RELATION_TYPES, Action, ElementKind, Entity, Memory, Principal, Relation, Scope
from graphsearch.model.signatures import (
    Resource,
    Signature,
    SignatureTable,
    entity_signature,
    memory_signature,
    relation_signature,
)
from graphsearch.stores.graph import GraphStore
from tests.test_gate import ADA, MEMORIES, PRIVATE, PUBLIC, RELATIONS, SCOPE, NoPrivate


class TinyStore:
    """Elements in fixed lists; a key is a place in the list, and calls are counted."""

    def __init__(self) -> None:
        self.entities: list[Entity] = [PUBLIC, PRIVATE]
        self.relations: list[Relation] = list(RELATIONS)
        self.memories: list[Memory] = list(MEMORIES)
        self.lost: set[int] = set()
        self.calls: list[str] = []

    @property
    def as_store(self) -> GraphStore:
        return cast(GraphStore, self)

    def codes(self, elements: Sequence[Entity | Relation | Memory]) -> Any:
        return np.array([self.signature(element).code for element in elements], dtype=np.int64)

    def signature(self, element: Entity | Relation | Memory) -> Signature:
        if isinstance(element, Entity):
            return entity_signature(element)
        if isinstance(element, Memory):
            return memory_signature(element)
        codes = {memory.id: memory_signature(memory).code for memory in self.memories}
        return relation_signature(element, [codes[id_] for id_ in element.evidence if id_ in codes])

    async def signatures(self, codes: Sequence[int]) -> dict[int, Signature]:
        self.calls.append("signatures")
        elements: list[Entity | Relation | Memory] = [*self.entities, *self.relations, *self.memories]
        known = {signature.code: signature for signature in map(self.signature, elements)}
        return {code: known[code] for code in codes if code in known and code not in self.lost}

    def entity_ids(self, keys: Any) -> list[Any]:
        return [self.entities[key].id if key < len(self.entities) else UUID(int=0) for key in keys]

    def relation_ids(self, keys: Any) -> list[Any]:
        return [self.relations[key].id for key in keys]

    def memory_ids(self, keys: Any) -> list[str]:
        return [self.memories[key].id for key in keys]

    async def get_entities(self, ids: Sequence[Any]) -> list[Entity]:
        self.calls.append("entities")
        return [entity for id_ in ids for entity in self.entities if entity.id == id_]

    async def get_relations(self, ids: Sequence[Any]) -> list[Relation]:
        self.calls.append("relations")
        return [relation for id_ in ids for relation in self.relations if relation.id == id_]

    async def elements(self, kind: ElementKind, keys: Any) -> Sequence[Entity | Relation]:
        if kind is ElementKind.ENTITY:
            return await self.get_entities(self.entity_ids(keys))
        return await self.get_relations(self.relation_ids(keys))

    async def get_memories(self, ids: Sequence[str]) -> list[Memory]:
        self.calls.append("memories")
        return [memory for id_ in ids for memory in self.memories if memory.id == id_]


@pytest.fixture
def store() -> TinyStore:
    return TinyStore()


def keys(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


def keeping(store: TinyStore, asking: NoPrivate | BoundGate, whole: SignatureTable | None = None) -> Gatekeeper:
    gate = asking if isinstance(asking, BoundGate) else BoundGate(asking, ADA, SCOPE)
    return Gatekeeper(store.as_store, gate, SignatureInterner(store.as_store, KNOWN_RELATION_TYPES, whole))


async def seen(keeper: Gatekeeper, kind: ElementKind, numbers: Any, codes: Any) -> list[bool]:
    """Which elements may be seen."""
    return [verdict != DENIED for verdict in (await keeper.verdicts(kind, numbers, codes)).tolist()]


# -- gatekeeping --------------------------------------------------------------------------------------------------


async def test_where_everything_is_allowed_nothing_is_read(store: TinyStore) -> None:
    keeper = keeping(store, ALLOW_ALL.bind(SCOPE))
    codes = store.codes(store.relations)
    for kind in ElementKind:
        assert (await keeper.verdicts(kind, keys(*range(5)), codes) == ALLOWED).all()
    assert await keeper.visible_memories(["m-open", "m-open"]) == {"m-open"}
    assert store.calls == ["signatures"]  # of relations, for their types
    assert sum(keeper.denied.values()) == 0


@pytest.mark.parametrize("by_signature", [True, False])
async def test_masks_follow_the_gate(store: TinyStore, by_signature: bool) -> None:
    keeper = keeping(store, NoPrivate(by_signature))
    entities = await keeper.verdicts(ElementKind.ENTITY, keys(0, 1, 0), store.codes([PUBLIC, PRIVATE, PUBLIC]))
    relations = await keeper.verdicts(ElementKind.RELATION, keys(*range(5)), store.codes(store.relations))
    memories = await keeper.verdicts(ElementKind.MEMORY, keys(1, 0), store.codes([MEMORIES[1], MEMORIES[0]]))
    assert entities.tolist() == [ALLOWED, DENIED, ALLOWED]
    assert relations.tolist() == [ALLOWED, ALLOWED, PARTIAL, DENIED, DENIED]
    assert memories.tolist() == [DENIED, ALLOWED]
    assert await keeper.visible_memories(["m-open", "m-secret", "nowhere"]) == {"m-open"}
    assert keeper.denied == {ElementKind.ENTITY: 1, ElementKind.RELATION: 2, ElementKind.MEMORY: 1}


@pytest.mark.parametrize("by_signature", [True, False])
async def test_nothing_is_asked_twice_and_denials_count_once(store: TinyStore, by_signature: bool) -> None:
    gate = NoPrivate(by_signature)
    keeper = keeping(store, gate)
    for _ in range(3):
        await keeper.verdicts(ElementKind.ENTITY, keys(0, 1, 1), store.codes([PUBLIC, PRIVATE, PRIVATE]))
        await keeper.verdicts(ElementKind.RELATION, keys(*range(5)), store.codes(store.relations))
        await keeper.verdicts(ElementKind.MEMORY, keys(0, 1), store.codes(store.memories))
        await keeper.visible_memories(["m-open", "m-secret"])
    described = [(resource.kind, resource.id, resource.type, resource.labels) for resource in gate.asked]
    assert len(described) == len(set(described)) == 9
    assert keeper.denied == {ElementKind.ENTITY: 1, ElementKind.RELATION: 2, ElementKind.MEMORY: 1}


async def test_by_signature_a_shared_signature_is_one_question(store: TinyStore) -> None:
    store.entities = [Entity(type="tool", name=f"tool {number}") for number in range(50)]
    gate = NoPrivate()
    keeper = keeping(store, gate)
    assert all(await seen(keeper, ElementKind.ENTITY, keys(*range(50)), store.codes(store.entities)))
    assert [resource.id for resource in gate.asked] == [""]
    assert store.calls == ["signatures"]


@pytest.mark.parametrize("by_signature", [True, False])
async def test_single_elements_are_admitted_or_not(store: TinyStore, by_signature: bool) -> None:
    keeper = keeping(store, NoPrivate(by_signature))
    assert await keeper.admits([RELATIONS[3], MEMORIES[1]]) == [True, False]


async def test_element_by_element_the_gate_sees_names(store: TinyStore) -> None:
    gate = NoPrivate(by_signature=False)
    keeper = keeping(store, gate)
    assert await seen(keeper, ElementKind.ENTITY, keys(1, 0), store.codes([PRIVATE, PUBLIC])) == [False, True]
    assert {resource.name for resource in gate.asked} == {"connect", "_wrap"}
    assert all(resource.id for resource in gate.asked)


async def test_decisions_grow_as_elements_appear(store: TinyStore) -> None:
    keeper = keeping(store, NoPrivate())
    for numbers, expected in (((), []), ((1,), [False]), ((0, 1), [True, False])):
        codes = store.codes([store.entities[number] for number in numbers])
        assert await seen(keeper, ElementKind.ENTITY, keys(*numbers), codes) == expected


async def test_a_signature_that_the_store_does_not_know_is_denied(store: TinyStore) -> None:
    keeper = keeping(store, NoPrivate())
    codes = np.array([1, 2**62, store.codes([PUBLIC])[0]], dtype=np.int64)
    assert await seen(keeper, ElementKind.ENTITY, keys(0, 1, 0), codes) == [False, False, True]


async def test_an_element_that_is_gone_is_denied(store: TinyStore) -> None:
    keeper = keeping(store, NoPrivate(by_signature=False))
    assert await seen(keeper, ElementKind.ENTITY, keys(0, 7), store.codes([PUBLIC, PRIVATE])) == [True, False]


@pytest.mark.parametrize("by_signature", [True, False])
async def test_a_relation_whose_evidence_is_gone_is_denied(store: TinyStore, by_signature: bool) -> None:
    codes = store.codes(store.relations)
    store.lost = {memory_signature(MEMORIES[0]).code}
    store.memories = store.memories if by_signature else []
    keeper = keeping(store, NoPrivate(by_signature))
    assert await seen(keeper, ElementKind.RELATION, keys(1), codes[1:2]) == [False]


async def test_ten_thousand_rows_of_a_handful_of_signatures_are_one_question_each(store: TinyStore) -> None:
    entities = [Entity(type=f"t{number}", name="x", labels=("private",) * (number % 2)) for number in range(6)]
    store.entities = entities
    gate = NoPrivate()
    keeper = keeping(store, gate)
    rows = np.random.default_rng(1).integers(0, 6, 10_000)
    verdicts = await keeper.verdicts(ElementKind.ENTITY, np.arange(10_000), store.codes(entities)[rows])
    assert (verdicts == np.where(rows % 2, DENIED, ALLOWED)).all()
    assert len(gate.asked) == 6
    assert keeper.denied[ElementKind.ENTITY] == int((rows % 2).sum())


@pytest.mark.parametrize("by_signature", [True, False])
@given(turns=st.lists(st.integers(0, 3), min_size=40, max_size=40))
async def test_concurrent_tasks_get_the_same_verdicts(by_signature: bool, turns: list[int]) -> None:
    class Slow(TinyStore):
        async def wait(self) -> None:
            for _ in range(turns.pop() if turns else 0):
                await asyncio.sleep(0)

        async def signatures(self, codes: Sequence[int]) -> dict[int, Signature]:
            await self.wait()
            return await super().signatures(codes)

        async def get_relations(self, ids: Sequence[Any]) -> list[Relation]:
            await self.wait()
            return await super().get_relations(ids)

        async def get_memories(self, ids: Sequence[str]) -> list[Memory]:
            await self.wait()
            return await super().get_memories(ids)

    store = Slow()
    keeper = keeping(store, NoPrivate(by_signature))
    codes, expected = store.codes(store.relations), [ALLOWED, ALLOWED, PARTIAL, DENIED, DENIED]
    asked = [[0, 1, 3], [3, 2], [4, 3, 2, 1, 0], [2], [0, 1, 3]]
    answers = await asyncio.gather(
        *(keeper.verdicts(ElementKind.RELATION, keys(*rows), codes[rows]) for rows in asked),
    )
    assert [answer.tolist() for answer in answers] == [[expected[row] for row in rows] for rows in asked]


@pytest.mark.parametrize("by_signature", [True, False])
async def test_a_gatekeeper_denies_when_an_authorizer_fails(store: TinyStore, by_signature: bool) -> None:
    class Broken(NoPrivate):
        async def authorize(self, *args: Any, **kwargs: Any) -> Sequence[bool]:
            raise ValueError

    keeper = keeping(store, Broken(by_signature))
    assert not (await keeper.verdicts(ElementKind.ENTITY, keys(0, 1), store.codes(store.entities))).any()
    assert keeper.denied[ElementKind.ENTITY] == 2


# -- remembering --------------------------------------------------------------------------------------------------


class Steady:
    """An authorizer whose answers follow from its policies, which can be broken; it remembers what it was asked."""

    by_signature = True

    def __init__(self, denied: str, policy_version: str | None) -> None:
        self.denied = denied
        self.policy_version = policy_version
        self.broken = False
        self.asked: list[Resource] = []

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        self.asked += resources
        return [] if self.broken else [self.denied not in resource.labels for resource in resources]


@pytest.fixture
def whole(store: TinyStore) -> SignatureTable:
    """The relations' signatures by row, and those of their evidence, which their codes are changed to."""
    memories = [memory_signature(memory) for memory in MEMORIES]
    row_of = {memory.id: row for row, memory in enumerate(MEMORIES)}
    relations = [relation_signature(each, [row_of[id_] for id_ in each.evidence]) for each in RELATIONS]
    return SignatureTable.by_code(dict(enumerate([*memories, *relations])), KNOWN_RELATION_TYPES)


async def asked_again(store: TinyStore, whole: SignatureTable, gate: BoundGate) -> list[int]:
    """The relations that a question of its own sees."""
    keeper = keeping(store, gate, whole)
    verdicts: list[int] = (await keeper.verdicts(ElementKind.RELATION, keys(*range(5)), np.arange(2, 7))).tolist()
    return verdicts


async def test_what_a_steady_authorizer_allows_is_remembered(store: TinyStore, whole: SignatureTable) -> None:
    authorizer = Steady("private", "1")
    gate = BoundGate(authorizer, ADA, SCOPE)
    verdicts = await asked_again(store, whole, gate)
    assert verdicts == [ALLOWED, ALLOWED, PARTIAL, DENIED, DENIED]
    first = len(authorizer.asked)
    assert await asked_again(store, whole, gate) == verdicts
    assert {resource.type for resource in authorizer.asked[first:] if resource.type} == {"reads", "writes", "hides"}
    assert store.calls == []


async def test_a_failure_to_decide_is_not_remembered(store: TinyStore, whole: SignatureTable) -> None:
    authorizer = Steady("private", "1")
    gate = BoundGate(authorizer, ADA, SCOPE)
    authorizer.broken = True
    assert set(await asked_again(store, whole, gate)) == {DENIED}
    authorizer.broken = False
    assert await asked_again(store, whole, gate) == [ALLOWED, ALLOWED, PARTIAL, DENIED, DENIED]


@pytest.mark.parametrize(
    "other",
    [
        BoundGate(Steady("private", "2"), ADA, SCOPE),
        BoundGate(Steady("private", None), ADA, SCOPE),
        BoundGate(Steady("private", "1"), Principal(id="bob", projects=(SCOPE,)), SCOPE),
        BoundGate(Steady("private", "1"), Principal(id="ada"), SCOPE),
        BoundGate(Steady("private", "1"), Principal(id="ada", projects=(SCOPE,), attributes={"level": 1}), SCOPE),
        BoundGate(Steady("private", "1"), ADA, Scope("acme", "other")),
        BoundGate(Steady("private", "1"), ADA, SCOPE, Action.WRITE),
    ],
)
async def test_decisions_are_not_shared_with_another_question(
    store: TinyStore, whole: SignatureTable, other: BoundGate
) -> None:
    assert await asked_again(store, whole, BoundGate(Steady("nothing", "1"), ADA, SCOPE)) == [ALLOWED] * 5
    assert await asked_again(store, whole, other) == [ALLOWED, ALLOWED, PARTIAL, DENIED, DENIED]


async def test_equal_attributes_of_different_types_are_two_questions() -> None:
    def question(value: object) -> object:
        return BoundGate(Steady("", "1"), Principal(id="ada", attributes={"level": value}), SCOPE).question

    assert question(1) != question(True)
    assert question(1) == question(1)


async def test_no_more_than_so_many_questions_are_remembered(store: TinyStore, whole: SignatureTable) -> None:
    authorizer = Steady("private", "1")
    for number in range(MAX_CACHED_QUESTIONS + 2):
        await asked_again(store, whole, BoundGate(authorizer, Principal(id=f"p{number}"), SCOPE))
    assert len(whole.remembered) == MAX_CACHED_QUESTIONS
    first = BoundGate(authorizer, Principal(id="p0"), SCOPE)
    assert first.question not in whole.remembered


async def test_whether_a_scope_is_allowed_is_decided_once(whole: SignatureTable) -> None:
    for denied, expected in (("nothing", True), ("private", False)):
        authorizer = Steady(denied, denied)
        gate = BoundGate(authorizer, ADA, SCOPE)
        assert [await allows_scope(gate, whole) for _ in range(3)] == [expected] * 3
        assert len(authorizer.asked) == len({each.resource for each in whole.contents if each})


@pytest.mark.parametrize("authorizer", [Steady("nothing", None), NoPrivate(by_signature=False)])
async def test_nothing_is_known_of_a_scope_where_answers_may_differ(
    whole: SignatureTable, authorizer: Steady | NoPrivate
) -> None:
    assert not await allows_scope(BoundGate(authorizer, ADA, SCOPE), whole)
    assert authorizer.asked == []


async def test_nothing_is_known_of_a_scope_by_some_of_its_signatures(whole: SignatureTable) -> None:
    some = SignatureTable.with_codes({7: memory_signature(MEMORIES[0])}, KNOWN_RELATION_TYPES)
    gate = BoundGate(Steady("nothing", "1"), ADA, SCOPE)
    assert not await allows_scope(gate, some)
    assert await allows_scope(gate, whole)
