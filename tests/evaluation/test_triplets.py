"""Triplets found in a graph, next to each channel and plain BM25."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.evaluation import Comparison, GoldQuestion, Stores, TripletSet, evaluate_triplets
from graphsearch.evaluation.evaluator import score_triplets
from graphsearch.evaluation.ranks import Block
from graphsearch.model import Entity, Relation
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.evaluation.depot import NOW, depot

BILLING, LEEDS = Entity(type="service", name="billing"), Entity(type="region", name="Leeds")
RUNS_IN = Relation(source_id=BILLING.id, type="runs_in", target_id=LEEDS.id, fact="It runs there.")


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "memory":
        return InMemoryGraphStore(clock=FixedClock(NOW))
    pool: AsyncConnectionPool[Any] = request.getfixturevalue("shared_pool")
    return PostgresGraphStore(pool, clock=FixedClock(NOW), exact=True)


async def test_modes_channels_and_the_baseline_are_measured_side_by_side(stores: Stores, tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    found = await evaluate_triplets(
        depot(tmp_path),
        stores,
        embedder=HashEmbedder(),
        progress=lambda done, total, name: steps.append((done, total, name)),
    )
    assert [each.name for each in found.columns] == [
        *("graph_completion", "triplet_completion", "neighborhood", "dense", "lexical", "bm25")
    ]
    assert found.rivals == ("dense", "lexical", "bm25")
    assert found.default.metrics["found"] == 1.0
    assert found.kinds == {"now": 2, "old": 1, "foreign": 1}
    assert found.default.p50_ms > 0
    assert found.index_s > 0
    assert steps == [(1, 4, "q1"), (2, 4, "q2"), (3, 4, "q3"), (4, 4, "q4")]
    by_name = {each.name: each.metrics for each in found.columns}
    assert by_name["bm25"]["silenced"] == by_name["lexical"]["silenced"] == 1.0, "no word is shared"
    assert by_name["dense"]["silenced"] == 0.0, "something is always nearest"


async def test_every_way_answers_for_the_time_that_a_question_names(tmp_path: Path) -> None:
    given = depot(tmp_path)
    then = attrs.evolve(given, questions=given.questions[1:2])
    found = await _measured(then)
    assert {each.name: each.metrics["R@10"] for each in found.columns} == dict.fromkeys(
        (each.name for each in found.columns), 1.0
    )
    now = attrs.evolve(then.questions[0], question="Where does billing run today?")
    found = await _measured(attrs.evolve(given, questions=(now,)))
    assert {each.metrics["R@10"] for each in found.columns} == {0.0}, "it was in Oslo then"


async def test_without_an_embedder_what_needs_none_is_measured(tmp_path: Path) -> None:
    found = await _measured(depot(tmp_path))
    assert [each.name for each in found.columns] == ["neighborhood", "lexical", "bm25"]


async def test_the_scope_is_removed_also_when_it_fails(tmp_path: Path) -> None:
    class Kept(InMemoryGraphStore):
        def with_scope(self, *, org_id: str, project_id: str) -> Any:
            self.scope = super().with_scope(org_id=org_id, project_id=project_id)
            return self.scope

    class Broken(HashEmbedder):
        async def embed(self, texts: Any, *, input_type: Any = "document") -> Any:
            if input_type == "query":
                raise InvalidInputError("embedder", ["is broken"])
            return await super().embed(texts, input_type=input_type)

    stores = Kept()
    with pytest.raises(InvalidInputError, match="is broken"):
        await evaluate_triplets(depot(tmp_path), stores, embedder=Broken())
    with pytest.raises(UnknownScopeError):
        await stores.scope.statistics()


def test_all_triplets_must_stand_within_the_first_three_or_ten() -> None:
    gold = frozenset({("billing", "runs_in", "Leeds"), ("billing", "owned_by", "Leeds")})
    other = (BILLING, attrs.evolve(RUNS_IN, type="alerts_to"), LEEDS)
    lines = [(BILLING, RUNS_IN, LEEDS), other, other, (BILLING, attrs.evolve(RUNS_IN, type="owned_by"), LEEDS)]
    near = GoldQuestion(id="near", question="Where?", gold=gold)
    assert score_triplets(near, lines, Block()) == {"found": 0.0, "R@10": 1.0}, "the second stands fourth"
    assert score_triplets(attrs.evolve(near, hops=2), lines, Block()) == {"found": 1.0, "R@10": 1.0}


def test_a_gold_that_is_not_in_the_graph_is_refused(tmp_path: Path) -> None:
    given = depot(tmp_path)
    wrong = attrs.evolve(given.questions[0], gold=frozenset({("billing", "runs_in", "Paris")}))
    with pytest.raises(InvalidInputError, match="question 'q1': there is no triplet 'billing runs_in Paris'"):
        TripletSet(graph=given.graph, questions=(wrong,))


async def _measured(given: TripletSet) -> Comparison:
    return await evaluate_triplets(given, InMemoryGraphStore(clock=FixedClock(NOW)))
