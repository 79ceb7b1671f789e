"""Names that answer questions about a conversation, among triplets and in the block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psycopg_pool import AsyncConnectionPool

from graphsearch.errors import InvalidInputError
from graphsearch.evaluation import AnswerSet, GoldQuestion, Stores, evaluate_answers, read_names
from graphsearch.evaluation.evaluator import score_answers
from graphsearch.evaluation.question_set import question_of, read_passages
from graphsearch.evaluation.ranks import Block
from graphsearch.model import Entity, Relation
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.evaluation.depot import ANSWERS, NAMES, NOW, TURNS, written

ADA = Entity(type="person", name="Ada Quist", aliases=("Addy",))
PORTAL = Entity(type="tool", name="the Portal")
USES = Relation(source_id=ADA.id, type="uses", target_id=PORTAL.id)


@pytest.fixture(params=["memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "memory":
        return InMemoryGraphStore(clock=FixedClock(NOW))
    pool: AsyncConnectionPool[Any] = request.getfixturevalue("shared_pool")
    return PostgresGraphStore(pool, clock=FixedClock(NOW), exact=True)


@pytest.fixture
def theatre(tmp_path: Path) -> AnswerSet:
    return AnswerSet(
        passages=read_passages(written(tmp_path / "turns.jsonl", TURNS)),
        questions=tuple(question_of(each, "answers") for each in ANSWERS),
        names=read_names(written(tmp_path / "names.jsonl", NAMES)),
    )


async def test_names_are_looked_for_among_triplets_and_in_the_block(stores: Stores, theatre: AnswerSet) -> None:
    steps: list[tuple[int, int, str]] = []
    found = await evaluate_answers(
        theatre,
        stores,
        embedder=HashEmbedder(),
        budget=80,
        progress=lambda done, total, name: steps.append((done, total, name)),
    )
    assert [each.name for each in found.columns] == [
        *("graph_completion", "triplet_completion", "neighborhood", "dense", "lexical", "bm25")
    ]
    assert [*found.default.metrics] == ["found", "R@10", "R@80tok", "lost", "silenced"]
    by_name = {each.name: each.metrics for each in found.columns}
    assert by_name["graph_completion"]["found"] == by_name["graph_completion"]["R@80tok"] == 1.0
    assert by_name["bm25"]["R@80tok"] == by_name["lexical"]["R@80tok"] == 1.0
    assert [*found.regret()] == ["found", "R@10", "R@80tok"]
    assert steps[-1] == (3, 3, "q3")


async def test_without_an_embedder_names_are_found_by_what_is_named(stores: Stores, theatre: AnswerSet) -> None:
    found = await evaluate_answers(theatre, stores)
    assert [each.name for each in found.columns] == ["neighborhood", "lexical", "bm25"]
    assert found.default.metrics["R@500tok"] == 1.0
    with pytest.raises(InvalidInputError, match="budget"):
        await evaluate_answers(theatre, stores, budget=0)


def test_ends_and_blocks_show_a_name_in_any_of_its_forms(theatre: AnswerSet) -> None:
    asked: GoldQuestion[str] = GoldQuestion(id="q1", question="who?", gold=frozenset({"Adeline Quist", "Portal"}))
    given = AnswerSet(passages=theatre.passages, questions=(asked,), names={"Adeline Quist": frozenset({"Addy"})})
    shown = score_answers(given, 50, asked, [(ADA, USES, PORTAL)], Block(text="- addy: uses it"))
    assert shown == {"found": 1.0, "R@10": 1.0, "R@50tok": 0.5}
    part = score_answers(given, 50, asked, [], Block(text="The Portals of Adeline Quist"))
    assert part == {"found": 0.0, "R@10": 0.0, "R@50tok": 0.5}


def test_names_and_sets_at_fault_are_refused(tmp_path: Path, theatre: AnswerSet) -> None:
    with pytest.raises(InvalidInputError, match="line 1: entity: name: is needed"):
        read_names(written(tmp_path / "names.jsonl", [{"aliases": []}]))
    with pytest.raises(InvalidInputError, match="there are no passages"):
        AnswerSet(passages=(), questions=theatre.questions)
