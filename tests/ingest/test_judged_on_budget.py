"""A judge whose budget is spent: what it was not asked about waits, and the next call goes on with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.errors import LLMUnavailableError
from graphsearch.ingest import Ingestor, RememberReport
from graphsearch.llms import Budget, BudgetedLLM, structured
from graphsearch.model import Batch, EdgeKind, Entity, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement
from graphsearch.protocols import LLM
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import EchoLLM
from tests.ingest.folders import Parts, graph, names, put_lines
from tests.ingest.resolve.test_judging import questions


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


@pytest.fixture(autouse=True)
def one_question_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured, "QUESTIONS", 1)


class Lists:
    """Reads names of events that stand between commas, the last of which came after all others."""

    name = "lists"

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        return [self._said(memory) for memory in memories]

    def _said(self, memory: Memory) -> ExtractedMemory:
        *first, last = surfaces = tuple(_surfaces(memory.text))
        after = tuple(_after(last, each, memory.text) for each in first)
        return ExtractedMemory(memory_id=memory.id, surfaces=surfaces, statements=after, refused=(memory.id,))


def _after(later: ExtractedName, earlier: ExtractedName, text: str) -> Statement:
    return Statement(
        source=later,
        type="came_after",
        target=earlier,
        confidence=0.9,
        kind=EdgeKind.SEMANTIC,
        valid_from=None,
        valid_to=None,
        fact=text,
        span=Span(start=0, end=len(text)),
        pattern="listed",
    )


def _surfaces(text: str) -> Iterator[ExtractedName]:
    for found in re.finditer("[^,]+", text):
        span = Span(start=found.start(), end=found.end())
        yield ExtractedName(name=found[0].strip(), type="event", span=span, confidence=0.9, pattern="listed")


class Seasons:
    """A judge to whom two are one that begin alike."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, text: str) -> str:
        (question,) = questions(text)
        self.asked.append(question["new"])
        return json.dumps({"answers": [{"question": 1, "same_as": self._same(question)}]})

    def _same(self, question: dict[str, Any]) -> int:
        alike = (int(place) for place, known in question["known"].items() if known[:2] == question["new"][:2])
        return next(alike, 0)


KNOWN = Entity(type="event", name="Spring Keynote")
LISTS = {
    "a": "Sprightly Keynote, Winter Keynote, Wintry Keynote, Autumn Keynote",
    "b": "Autumnal Keynote",
    "c": "Harvest",
    "d": "Wintertime Keynote, Spring Keynote, Sparkling Keynote",
    "e": "Harvest, Sunny Keynote",
}
MEMORIES = [Memory(id=id_, text=text) for id_, text in LISTS.items()]


async def remember(parts: Parts, judge: LLM, memories: Sequence[Memory] = MEMORIES) -> RememberReport:
    return await Ingestor(parts, extractor=Lists(), judge=judge, gate=ALLOW_ALL).remember(memories)


def within(judge: LLM, calls: int) -> LLM:
    return BudgetedLLM(judge, Budget(calls=calls))


async def in_one_go() -> tuple[dict[str, Any], list[str]]:
    whole, judge = Parts(), Seasons()
    await whole.store.write(Batch(entities=[KNOWN]))
    report = await remember(whole, judge)
    assert (report.changed, report.left) == (5, 0)
    assert len(await whole.store.list_relations()) == 4
    return await graph(whole.store), judge.asked


@pytest.mark.parametrize("calls", [1, 2, 3])
async def test_calls_of_small_budgets_end_with_the_graph_of_one_without(parts: Parts, calls: int) -> None:
    whole, asked = await in_one_go()
    await parts.store.write(Batch(entities=[KNOWN]))
    judge, left = Seasons(), [5]
    while left[-1]:
        report = await remember(parts, within(judge, calls))
        left.append(report.left)
        assert len(left) < 12
    assert left == sorted(left, reverse=True)
    assert await graph(parts.store) == whole
    assert sorted(judge.asked) == sorted(asked)  # each once


async def test_what_a_spent_budget_left_is_not_written_but_reported(parts: Parts) -> None:
    await parts.store.write(Batch(entities=[KNOWN]))
    report = await remember(parts, within(Seasons(), 0))
    assert (report.memories, report.changed, report.left) == (5, 1, 4)
    assert report.unanswered == ("BudgetExhaustedError: the budget of 0 calls of language models is spent",)
    assert report.resolutions.resolved == report.resolutions.created == 1
    assert report.refused == ("c",)
    assert [each.id for each in await parts.store.list_memories()] == ["c"]
    assert await names(parts.store) == {"Spring Keynote", "Harvest"}


async def test_what_was_answered_is_written_of_a_memory_that_is_left(parts: Parts) -> None:
    await parts.store.write(Batch(entities=[KNOWN]))
    judge = Seasons()
    report = await remember(parts, within(judge, 1), MEMORIES[:1])
    assert (report.changed, report.left, len(judge.asked)) == (0, 1, 1)
    (mention,) = await parts.store.list_mentions(memory_ids=["a"])
    assert judge.asked[0].startswith(mention.surface)
    await remember(parts, judge, MEMORIES[:1])
    assert len(await parts.store.list_mentions(memory_ids=["a"])) == 4
    assert (await remember(parts, within(judge, 0), MEMORIES[:1])).left == 0


async def test_a_judge_that_fails_in_another_way_leaves_nothing(parts: Parts) -> None:
    class Down:
        async def ask(self, text: str) -> str:
            raise LLMUnavailableError("no line")

    await parts.store.write(Batch(entities=[KNOWN]))
    report = await remember(parts, Down())
    assert (report.changed, report.left) == (5, 0)
    assert report.unanswered == ("LLMUnavailableError: no line",)


async def test_a_file_is_finished_when_the_last_of_its_names_is_judged(
    tmp_path: Path, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled: list[GraphStore] = []
    settle = type(parts.store).settle

    async def noted(store: GraphStore) -> int:
        settled.append(store)
        return await settle(store)

    monkeypatch.setattr(type(parts.store), "settle", noted)
    put_lines(tmp_path, "lists.jsonl", *({"memory": {"id": id_, "text": text}} for id_, text in LISTS.items()))
    whole = Parts()
    for each in (parts, whole):
        await each.store.write(Batch(entities=[KNOWN]))
    await Ingestor(whole, extractor=Lists(), judge=Seasons(), gate=ALLOW_ALL).add(tmp_path)
    judge, left = Seasons(), [5]
    while left[-1]:
        settled.clear()
        ingestor = Ingestor(parts, extractor=Lists(), judge=within(judge, 2), gate=ALLOW_ALL)
        report = await ingestor.add(tmp_path)
        left.append(report.left)
        assert report.changed == (0 if report.left else 1)
        assert set(settled) == {parts.store}  # also what is written of an unfinished file; the facts are one more
        assert len(left) < 12
    assert await graph(parts.store) == await graph(whole.store)
    assert (await Ingestor(parts, extractor=Lists(), judge=within(judge, 0), gate=ALLOW_ALL).add(tmp_path)).left == 0


async def test_questions_that_are_too_many_for_a_budget_are_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structured, "QUESTIONS", 8)
    llm = EchoLLM(json.dumps({"answers": [{"question": 1, "number": 7}]}))
    asked = [{"text": "x" * 1_000} for _ in range(8)]
    budget = Budget(tokens=2_000, answer_tokens=100)
    answers = await structured.ask_numbered(BudgetedLLM(llm, budget), "{questions}", asked, answered_by="number")
    assert answers[0] == 7
    assert len(llm.asked) == 1
    assert budget.spent_tokens <= 2_000
    assert all(
        "BudgetExhaustedError" in structured.failure_text(each) for each in answers[1:] if isinstance(each, Exception)
    )
    assert sum(isinstance(each, Exception) for each in answers) == 7
