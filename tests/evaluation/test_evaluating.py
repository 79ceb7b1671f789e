"""A question set asked of fresh scopes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.evaluation import Channels, Evaluation, Level, QuestionSet, Stores, evaluate
from graphsearch.ranking.recall_result import CHANNELS, RecallScoring
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.evaluation.office import office


class Watched:
    """Hands out the scopes of another store, and keeps them."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.scopes: list[GraphStore] = []

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        self.scopes.append(self._stores.with_scope(org_id=org_id, project_id=project_id))
        return self.scopes[-1]

    async def nothing_is_left(self) -> bool:
        for scope in self.scopes:
            with pytest.raises(UnknownScopeError):
                await scope.statistics()
        return bool(self.scopes)


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest, clock: FixedClock) -> Watched:
    if request.param == "memory":
        return Watched(InMemoryGraphStore(clock=clock))
    pool: AsyncConnectionPool[Any] = request.getfixturevalue("shared_pool")
    return Watched(PostgresGraphStore(pool, clock=clock, exact=True))


async def test_evidence_is_found_in_its_group_and_nothing_is_left(stores: Watched) -> None:
    steps: list[tuple[int, int, str]] = []
    evaluation = Evaluation(embedder=HashEmbedder(), group_by="conv", ks=(1, 2), budget=200)
    found = await evaluate(
        office(), stores, evaluation, progress=lambda done, total, name: steps.append((done, total, name))
    )
    assert [each.name for each in found.columns] == [",".join(CHANNELS)]
    assert (sum(found.kinds.values()), found.unanswerable) == (4, 1)
    assert found.default.metrics["R@1"] == found.default.metrics["MRR"] == 1.0, "b1 speaks of espresso elsewhere"
    assert found.default.metrics["R@200tok"] == 1.0
    assert set(found.default.by_kind) == {"who", "what", "where"}
    assert found.index_s > 0
    assert 0 < found.default.p50_ms <= found.default.p95_ms
    assert found.rss_mb > 10
    assert [step[:2] for step in steps] == [(3, 3), (1, 4), (2, 4), (2, 2), (3, 4), (4, 4)]
    assert len(stores.scopes) == 2
    assert len({scope.scope for scope in stores.scopes}) == 2
    assert await stores.nothing_is_left()


async def test_channels_are_compared_on_the_same_questions(stores: Watched) -> None:
    sets: tuple[Channels, ...] = (("lexical",), ("lexical", "graph"), ("temporal",))
    found = await evaluate(office(), stores, Evaluation(channel_sets=sets, ks=(1,), budget=200))
    assert [each.name for each in found.columns] == ["lexical", "lexical,graph", "temporal"]
    first, _, third = (each.metrics for each in found.columns)
    assert first["R@1"] >= 2 / 3
    assert third["R@1"] == third["R@200tok"] == 0.0, "no question names a time"
    assert first["R@200tok"] >= 2 / 3
    assert len(stores.scopes) == 1


async def test_plain_bm25_and_the_answers_are_measured_next_to_channels(stores: Watched) -> None:
    given = office()
    answers = ("espresso machine", "noon", "no", "")
    asked = tuple(
        attrs.evolve(each, answer=answer_text) for each, answer_text in zip(given.questions, answers, strict=True)
    )
    sets: tuple[Channels, ...] = (CHANNELS, ("temporal",))
    evaluation = Evaluation(channel_sets=sets, ks=(1,), budget=200, baseline=True, min_relevance=0.0)
    found = await evaluate(attrs.evolve(given, questions=asked), stores, evaluation)
    assert [each.name for each in found.columns] == ["lexical,semantic,graph,temporal", "temporal", "bm25"]
    default, temporal, plain = (each.metrics for each in found.columns)
    assert default["answer@200tok"] == plain["answer@200tok"] == 1.0, "of two questions: the third has no words"
    assert temporal["answer@200tok"] == 0.0
    assert plain["R@200tok"] == 1.0
    assert plain["silenced"] == 1.0, "no word of it is there"
    regret = found.regret()
    assert regret["R@1"].best == "bm25"
    assert regret["R@1"].points == pytest.approx(100 * (plain["R@1"] - default["R@1"]))
    assert not {"lost", "silenced"} & {*regret}


async def test_questions_keep_their_time_unless_passages_come_later(stores: Watched) -> None:
    found = await evaluate(office(time=None), stores, Evaluation(channel_sets=(("lexical",),), ks=(1,), budget=200))
    later = await evaluate(office(), stores, Evaluation(channel_sets=(("lexical",),), ks=(1,), budget=200))
    assert found.default.metrics["R@200tok"] == later.default.metrics["R@200tok"] > 0


async def test_what_is_not_relevant_gets_no_answer_and_that_is_counted(stores: Watched) -> None:
    sets: tuple[Channels, ...] = (("lexical",), ("lexical", "graph"))
    usual = await evaluate(office(), stores, Evaluation(channel_sets=sets, group_by="conv"))
    assert usual.default.metrics["silenced"] == 1.0, "no word of it is there"
    assert usual.default.metrics["lost"] == 0.0
    for floor, lost in ((0.2, 0.0), (1.0, 2 / 3)):
        evaluation = Evaluation(channel_sets=sets, group_by="conv", min_relevance=floor)
        for found in (await evaluate(office(), stores, evaluation)).columns:
            assert found.metrics["lost"] == pytest.approx(lost)
            assert found.metrics["silenced"] == 1.0
    with pytest.raises(InvalidInputError, match="min_relevance"):
        Evaluation(min_relevance=2.0)


async def test_triples_join_what_their_texts_do_not(stores: Watched) -> None:
    asked = portugal()
    without = QuestionSet(passages=asked.passages, questions=asked.questions)
    evaluation = Evaluation(channel_sets=(("graph",),), ks=(1,))
    found = [await evaluate(each, stores, evaluation) for each in (asked, without)]
    assert [each.default.metrics["R@1"] for each in found] == [1.0, 0.0]


async def test_constants_of_recall_can_be_tried() -> None:
    evaluation = Evaluation(channel_sets=(("graph",),), ks=(1,), recall_scoring=RecallScoring(deployment=0.0))
    found = await evaluate(portugal(), InMemoryGraphStore(), evaluation)
    assert found.default.metrics["R@1"] == 0.0, "the graph is off"


def portugal() -> QuestionSet:
    given = office(triples=True)
    question = attrs.evolve(given.questions[0], question="What streams to Portugal?", gold=frozenset({"a2"}))
    return attrs.evolve(given, questions=(question,))


async def test_sessions_are_found() -> None:
    evaluation = Evaluation(group_by="conv", level=Level.SESSION, ks=(1,))
    found = await evaluate(office(time=None), InMemoryGraphStore(), evaluation)
    assert found.default.metrics["R@1"] == 1.0


async def test_scopes_are_removed_when_it_fails(stores: Watched) -> None:
    class Broken(HashEmbedder):
        async def embed(self, texts: Any, *, input_type: Any = "document") -> Any:
            if input_type == "query":
                raise InvalidInputError("embedder", ["is broken"])
            return await super().embed(texts, input_type=input_type)

    with pytest.raises(InvalidInputError, match="is broken"):
        await evaluate(office(), stores, Evaluation(embedder=Broken()))
    assert await stores.nothing_is_left()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"channel_sets": ()}, "channels must be named"),
        ({"channel_sets": ((),)}, "channels must be named"),
        ({"channel_sets": (("lexical", "telepathy"),)}, "channel must be one of"),
        ({"channel_sets": (("lexical",), ("lexical",))}, "a set of channels is given twice"),
        ({"ks": ()}, "ks must hold a rank"),
        ({"ks": (0,)}, "each of ks"),
        ({"budget": 0}, "budget"),
    ],
)
def test_a_wrong_evaluation_is_refused(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidInputError, match=fault):
        Evaluation(**options)


async def test_without_evidence_nothing_can_be_measured(stores: Watched) -> None:
    given = office()
    nothing = QuestionSet(passages=given.passages, questions=given.questions[3:])
    with pytest.raises(InvalidInputError, match="no question has evidence"):
        await evaluate(nothing, stores, Evaluation())
    assert not stores.scopes, "known before anything is written"


async def test_both_stores_find_the_same(shared_pool: AsyncConnectionPool[Any], clock: FixedClock) -> None:
    evaluation = Evaluation(embedder=HashEmbedder(), group_by="conv", ks=(1, 2), budget=60)
    stores = (InMemoryGraphStore(clock=clock), PostgresGraphStore(shared_pool, clock=clock, exact=True))
    memory, postgres = [(await evaluate(office(triples=True), each, evaluation)).default for each in stores]
    assert memory.metrics == postgres.metrics
