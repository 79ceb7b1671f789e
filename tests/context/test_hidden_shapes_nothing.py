"""Hidden elements do not affect anything that is shown (docs/project/design.md, heading Authorization)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBlock, ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import (
    Action,
    Batch,
    Claim,
    EdgeKind,
    Entity,
    Memory,
    Mention,
    Principal,
    Relation,
    Scope,
    Vector,
)
from graphsearch.model.signatures import Resource
from graphsearch.modes.result import SearchMode
from graphsearch.protocols import Authorizer
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import NOON, FixedClock, HashEmbedder, WordCounter
from tests.properties import examples

WEB = Scope("acme", "web")
ADA = Principal(id="ada", projects=(WEB,))
EMBEDDER = HashEmbedder()
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
PRIVATE = ("private",)
MODES = (SearchMode.NEIGHBORHOOD, SearchMode.GRAPH_COMPLETION)
NOTHING = st.just(dict[str, Any]())


SHIPPED = CedarAuthorizer.default()


class OneByOne:
    """Decides the same for single elements, as if policies read their names."""

    by_signature = False

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        return await SHIPPED.authorize(principal, action, resources, scope=scope)


@attrs.frozen
class Graph:
    """Everything that is stored, in one batch."""

    entities: tuple[Entity, ...]
    memories: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    claims: tuple[Claim, ...]
    mentions: tuple[Mention, ...] = ()

    def visible(self) -> Graph:
        """The graph without private elements and those that rest on them alone."""
        entities = tuple(entity for entity in self.entities if not entity.labels)
        memories = tuple(memory for memory in self.memories if not memory.labels)
        there, known = {entity.id for entity in entities}, {memory.id for memory in memories}
        return Graph(
            entities,
            memories,
            tuple(one for one in self.relations if not one.labels and {one.source_id, one.target_id} <= there),
            tuple(one for one in self.claims if one.memory_id in known and {one.source_id, one.target_id} <= there),
            tuple(one for one in self.mentions if one.memory_id in known and one.entity_id in there),
        )

    def all_visible(self) -> Graph:
        """The same graph with every memory visible."""
        return attrs.evolve(self, memories=tuple(attrs.evolve(memory, labels=()) for memory in self.memories))

    async def builder(self) -> ContextBuilder:
        """A builder over the graph, once stored."""
        store = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id=WEB.org_id, project_id=WEB.project_id)
        vectors: dict[UUID | str, Vector] = {entity.id: EMBEDDER.vector(entity.name) for entity in self.entities}
        vectors |= {memory.id: EMBEDDER.vector(memory.text) for memory in self.memories}
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(
            Batch(
                entities=self.entities,
                memories=self.memories,
                relations=self.relations,
                claims=self.claims,
                mentions=self.mentions,
                vectors=vectors,
            )
        )
        return ContextBuilder(GraphSearchEngine(store=store, embedder=EMBEDDER), counter=WordCounter())

    async def blocks(
        self, question: str, *, authorizer: Authorizer = SHIPPED, statistics: str = "scope", **options: Any
    ) -> list[ContextBlock]:
        """What the graph, once stored, answers in each mode, each in a session of its own."""
        builder = await self.builder()
        asked = {"budget": 60, "seeds": 3, **options}
        gate = Gate(authorizer, ADA, statistics=statistics)
        return [await builder.build(question, gate=gate, session_id=mode, mode=mode, **asked) for mode in MODES]


@st.composite
def details(draw: st.DrawFn) -> dict[str, Any]:
    """The fields of a claim apart from its ends."""
    days = st.integers(-8, 2).map(lambda day: NOON + timedelta(days=day))
    start, end = draw(st.none() | days), draw(st.none() | days)
    if start and end and end < start:
        start, end = end, start
    fact = draw(st.sampled_from(["", "they met", "they met again"]))
    kind = draw(st.sampled_from(EdgeKind))
    return {"valid_from": start, "valid_to": end, "fact": fact, "kind": kind}


@st.composite
def graphs(
    draw: st.DrawFn, *, fields: st.SearchStrategy[dict[str, Any]] = NOTHING, names: Sequence[str] = NAMES
) -> Graph:
    labels, words = st.sampled_from([(), (), PRIVATE]), st.sampled_from([*NAMES, "nobody", "rain"])
    entities = tuple(Entity(type="tool", name=name, labels=draw(labels)) for name in names)
    memories = tuple(
        Memory(
            id=f"m{number}",
            text=f"{draw(words)} met {draw(words)} number{number}",
            session_id=draw(st.sampled_from(["", "talk"])),
            position=number,
            labels=draw(labels),
            occurred_at=NOON - timedelta(days=number),
        )
        for number in range(6)
    )
    ends = st.tuples(st.sampled_from(entities), st.sampled_from(entities)).filter(lambda pair: pair[0] is not pair[1])
    kinds = st.sampled_from(["uses", "works_with", "lives_in"])

    def common(data: st.DrawFn) -> dict[str, Any]:
        source, target = data(ends)
        confidence = data(st.sampled_from([0.3, 0.55, 0.7, 0.9]))
        return {"source_id": source.id, "target_id": target.id, "confidence": confidence}

    relations = [Relation(type="calls", labels=draw(labels), **common(draw)) for _ in range(draw(st.integers(0, 8)))]
    claims = [
        Claim(memory_id=draw(st.sampled_from(memories)).id, type=draw(kinds), **draw(fields), **common(draw))
        for _ in range(draw(st.integers(0, 10)))
    ]
    mentions = [
        Mention(memory_id=memory.id, entity_id=entity.id, surface=entity.name)
        for memory in memories
        for entity in entities
        if entity.name in memory.text
    ]
    distinct_relations = {relation.id: relation for relation in relations}
    distinct_claims = {(one.memory_id, one.source_id, one.type, one.target_id): one for one in claims}
    return Graph(
        entities, memories, tuple(distinct_relations.values()), tuple(distinct_claims.values()), tuple(mentions)
    )


@examples(15)
@given(graph=graphs(), question=st.sampled_from(NAMES))
async def test_triplets_are_those_of_a_graph_in_which_the_hidden_was_never_stored(graph: Graph, question: str) -> None:
    for whole, visible in await both(graph, question, observations=False):
        assert whole.text == visible.text
        assert [triplet.score for triplet in whole.triplets] == [triplet.score for triplet in visible.triplets]


@examples(15)
@given(graph=graphs(), question=st.sampled_from(NAMES))
async def test_a_block_is_that_of_a_graph_in_which_hidden_entities_and_relations_were_never_stored(
    graph: Graph, question: str
) -> None:
    for whole, visible in await both(graph.all_visible(), question):
        assert whole.text == visible.text
        assert [each.score for each in whole.memories] == pytest.approx([each.score for each in visible.memories])


@examples(15)
@given(graph=graphs(), question=st.sampled_from(NAMES))
async def test_a_block_equals_that_of_a_graph_without_the_hidden_memories(graph: Graph, question: str) -> None:
    """Where the rarity of a name is that among the visible: otherwise it is a statistic of the whole scope."""
    for whole, visible in await both(graph, question, budget=500, statistics="visible"):
        assert whole.text == visible.text
        assert [triplet.score for triplet in whole.triplets] == [triplet.score for triplet in visible.triplets]


@examples(15)
@given(
    graph=graphs(fields=details(), names=NAMES[:3]),
    question=st.sampled_from(NAMES[:3]),
    day=st.integers(-9, 1),
    authorizer=st.sampled_from([SHIPPED, OneByOne()]),
)
async def test_triplets_say_of_a_time_what_they_say_where_the_hidden_was_never_stored(
    graph: Graph, question: str, day: int, authorizer: Authorizer
) -> None:
    """Possibly in another order among equal scores: a relation keeps the id under which it is stored."""
    asked: dict[str, Any] = {"observations": False, "budget": 500, "seeds": 30, "as_of": NOON + timedelta(days=day)}
    for whole, visible in await both(graph, question, authorizer, **asked):
        assert sorted(whole.text.split("\n")) == sorted(visible.text.split("\n"))
        assert [each.score for each in whole.triplets] == [each.score for each in visible.triplets]


async def both(
    graph: Graph, question: str, authorizer: Authorizer = SHIPPED, **asked: Any
) -> list[tuple[ContextBlock, ContextBlock]]:
    """In each mode: the block of the whole graph as it is seen, and the one of what is visible of it."""
    whole = await graph.blocks(question, authorizer=authorizer, **asked)
    return list(zip(whole, await graph.visible().blocks(question, **asked), strict=True))


async def test_a_hidden_memory_closes_no_period_that_is_shown() -> None:
    alpha, beta, gamma = (Entity(type="tool", name=name) for name in NAMES[:3])
    early = Memory(id="early", text="x", occurred_at=NOON - timedelta(days=2))
    late = Memory(id="late", text="x", occurred_at=NOON - timedelta(days=1), labels=PRIVATE)
    claims = (
        Claim(memory_id="early", source_id=alpha.id, type="lives_in", target_id=beta.id, confidence=0.9),
        Claim(memory_id="late", source_id=alpha.id, type="lives_in", target_id=gamma.id, confidence=0.9),
    )
    graph = Graph((alpha, beta, gamma), (early, late), (), claims)
    for whole, visible in await both(graph, "alpha"):
        assert "lives_in" in visible.text
        assert whole.text == visible.text


@pytest.mark.parametrize("limit", [1, 9])
async def test_a_hidden_end_of_a_relation_orders_no_equal_scores(limit: int) -> None:
    """What was read and is over comes after what holds: a relation that only something hidden ended does not."""
    alpha, beta, gamma, delta = (Entity(type="tool", name=name) for name in NAMES[:4])
    hidden = attrs.evolve(gamma, labels=PRIVATE)
    early, late = (Memory(id=f"m{days}", text="x", occurred_at=NOON - timedelta(days=days)) for days in (2, 1))
    claims = (
        Claim(memory_id=early.id, source_id=alpha.id, type="lives_in", target_id=beta.id, confidence=0.9),
        Claim(memory_id=early.id, source_id=alpha.id, type="teaches", target_id=delta.id, confidence=0.9),
        Claim(memory_id=late.id, source_id=alpha.id, type="lives_in", target_id=hidden.id, confidence=0.9),
    )
    graph = Graph((alpha, beta, hidden, delta), (early, late), (), claims)
    for whole, visible in await both(graph, "alpha", limit=limit):
        assert "alpha --lives_in--> beta" in visible.text
        assert whole.text == visible.text
