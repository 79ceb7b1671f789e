"""Entities found by what questions ask for, in code and in a given graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import EntitySet, GoldQuestion, Stores, evaluate_entities
from graphsearch.evaluation.evaluator import ingest_code, score_entities
from graphsearch.evaluation.ranks import Block
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.evaluation.depot import depot_graph

SOURCE = '''"""Waiting for tasks."""

class Timer(Base):
    """Counts down.

    And rings."""

    def ring(self, times: int = 1): ...

async def wait_for(task, timeout):
    """Give up on a task that takes too long."""
'''
ASKED: tuple[GoldQuestion[str], ...] = (
    GoldQuestion(id="q1", question="give up on a slow task", gold=frozenset({"tasks.wait_for"})),
    GoldQuestion(id="q2", question="what counts down?", gold=frozenset({"tasks.Timer", "tasks.Clock"})),
    GoldQuestion(id="q3", question="zymurgical kvass", gold=frozenset()),
)


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "tasks.py").write_text(SOURCE)
    (tmp_path / "code" / "broken.py").write_text("def (")
    (tmp_path / "code" / "notes.md").write_text("Ada likes tulips.")
    return tmp_path / "code"


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest, clock: FixedClock) -> Stores:
    if request.param == "memory":
        return InMemoryGraphStore(clock=clock)
    pool: AsyncConnectionPool[Any] = request.getfixturevalue("shared_pool")
    return PostgresGraphStore(pool, clock=clock, exact=True)


async def test_files_of_one_package_keep_their_qualified_names(scoped: GraphStore, tmp_path: Path) -> None:
    package = tmp_path / "depot"
    package.mkdir()
    for name in ("__init__", "one", "two"):
        (package / f"{name}.py").write_text("def run(): ...\n")
    await ingest_code([package / "one.py", package / "two.py"], GraphSearchEngine(store=scoped))
    assert {each.name for each in await scoped.list_entities()} == {
        *("depot.one", "depot.one.run", "depot.two", "depot.two.run")
    }


async def test_definitions_that_answer_are_found_in_every_way(stores: Stores, code: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    found = await evaluate_entities(
        EntitySet.of_code([code], ASKED),
        stores,
        embedder=HashEmbedder(),
        progress=lambda done, total, name: steps.append((done, total, name)),
    )
    assert [each.name for each in found.columns] == [
        *("rank_entities", "graph_completion", "triplet_completion", "neighborhood", "dense", "lexical", "bm25")
    ]
    by_name = {each.name: each.metrics for each in found.columns}
    assert by_name["bm25"]["hit@1"] == by_name["dense"]["hit@5"] == 1.0
    assert by_name["rank_entities"]["hit@5"] == by_name["graph_completion"]["hit@5"] == 1.0
    assert by_name["neighborhood"]["silenced"] == 1.0
    assert [*found.regret()] == ["hit@1", "hit@5", "MRR"]
    assert steps[-1] == (3, 3, "q3")


async def test_entities_of_a_given_graph_are_found_by_name_and_description(stores: Stores, tmp_path: Path) -> None:
    asked = (GoldQuestion(id="q1", question="who sends invoices?", gold=frozenset({"billing"})),)
    found = await evaluate_entities(EntitySet.of_graph(depot_graph(tmp_path), asked), stores)
    assert [each.name for each in found.columns] == ["rank_entities", "neighborhood", "lexical", "bm25"]
    assert {each.metrics["hit@1"] for each in found.columns if each.name != "neighborhood"} == {1.0}


def test_hits_and_ranks_are_counted_from_the_first_that_answers() -> None:
    def scored(*found: str) -> object:
        return score_entities(ASKED[1], found, Block())

    assert scored(*"abcdefghij", "tasks.Timer") == {"hit@1": 0.0, "hit@5": 0.0, "MRR": 0.0}
    assert scored("a", "b", "tasks.Clock", "tasks.Timer") == {"hit@1": 0.0, "hit@5": 1.0, "MRR": pytest.approx(1 / 3)}
    assert scored("tasks.Timer") == {"hit@1": 1.0, "hit@5": 1.0, "MRR": 1.0}


async def test_a_gold_of_which_nothing_is_there_is_refused(stores: Stores, code: Path) -> None:
    wrong = GoldQuestion(id="q1", question="what?", gold=frozenset({"tasks.Clock", "tasks.Bell"}))
    with pytest.raises(InvalidInputError, match=r"question 'q1': there is no entity tasks.Bell or tasks.Clock"):
        await evaluate_entities(EntitySet.of_code([code], (wrong,)), stores)
