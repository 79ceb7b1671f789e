"""From a transcript to a graph by a language model, within a budget, and resumed by the next call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import LLMUnavailableError
from graphsearch.ingest import CombinedExtractor, Ingestor, IsoDates, RememberReport, TextExtractor, transcript_memories
from graphsearch.llms import Budget, BudgetedLLM
from graphsearch.model import Memory
from graphsearch.protocols import LLM
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from tests.ingest.extract.llm.model import Json, Model, entity, extractor, memory, relation, saying
from tests.ingest.folders import Parts, graph, names, triplets


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


def memories(count: int) -> list[Memory]:
    return [memory(f"Person{number} knows Other{number}.", f"m{number:02}") for number in range(count)]


async def remember(parts: Parts, given: Sequence[Memory], llm: LLM) -> RememberReport:
    return await Ingestor(parts, extractor=extractor(llm, memories=2, at_once=2)).remember(given)


def transcript_answer(passage: Json) -> Json:
    """What a good model says of the transcript."""
    if "She" in passage["text"]:
        return saying(relation("Priya Sharma", "reports_to", "Dana Levy", "She reports to Dana Levy", confidence=0.9))
    if "I run" in passage["text"]:
        return saying(
            relation(passage["speaker"], "leads", "Apollo", "I run Apollo"), entities=[entity("Apollo", "project")]
        )
    return saying()


async def test_a_transcript_is_read_found_and_traced_to_its_turns(scoped: GraphStore) -> None:
    engine = GraphSearchEngine(store=scoped, embedder=HashEmbedder(32))
    turns = transcript_memories(
        [
            {"speaker": "Priya Sharma", "content": "I run Apollo now.", "time": "2024-05-15T09:00:00Z"},
            {"speaker": "Bob Okafor", "content": "And Priya Sharma? She reports to Dana Levy, I think."},
            {"role": "assistant", "content": "Noted."},
        ],
        session_id="s1",
    )
    report = await Ingestor(engine, extractor=extractor(Model(transcript_answer))).remember(turns)
    assert (report.changed, report.left, report.refused, report.unread) == (3, 0, (), ())
    found = await engine.search("Who runs Apollo?", gate=ALLOW_ALL)
    best = found.triplets[0]
    assert (best.source.name, best.relation.type, best.target.name) == ("Priya Sharma", "leads", "Apollo")
    assert best.relation.evidence == ("s1:0",)
    (claim,) = await scoped.list_claims(memory_ids=["s1:1"])
    assert (claim.extractor, claim.confidence) == ("llm/1:llm", 0.75)
    assert claim.span is not None
    assert turns[1].text[claim.span.start : claim.span.end] == "She reports to Dana Levy"
    assert (await Ingestor(engine, extractor=extractor(Model(transcript_answer))).remember(turns)).changed == 0


async def test_a_budget_leaves_whole_memories_and_the_next_call_goes_on_from_there(parts: Parts) -> None:
    given = memories(9)
    first = Model()
    report = await remember(parts, given, BudgetedLLM(first, Budget(calls=3)))
    assert (report.memories, report.changed, report.left, report.unread) == (9, 6, 3, ())
    assert [each.id for each in await parts.store.list_memories()] == [each.id for each in given[:6]]
    assert len(await triplets(parts.store)) == 6

    second = Model()
    report = await remember(parts, given, BudgetedLLM(second, Budget(calls=3)))
    assert (report.changed, report.left) == (3, 0)
    asked = [text for model in (first, second) for texts in model.asked for text in texts]
    assert sorted(asked) == sorted(each.text for each in given)  # each once

    whole = Parts()
    await remember(whole, given, Model())
    assert await graph(parts.store) == await graph(whole.store)


async def test_a_budget_of_nothing_reads_nothing_and_says_so(parts: Parts) -> None:
    report = await remember(parts, memories(5), BudgetedLLM(Model(), Budget(tokens=0)))
    assert (report.changed, report.left) == (0, 5)
    assert await parts.store.list_memories() == []


async def test_a_changed_memory_that_is_left_stays_as_it_was(parts: Parts) -> None:
    await remember(parts, memories(1), Model())
    before = await graph(parts.store)
    changed = [attrs.evolve(each, text="Ann thanks Bob.") for each in memories(1)]
    assert (await remember(parts, changed, BudgetedLLM(Model(), Budget(calls=0)))).left == 1
    assert await graph(parts.store) == before
    await remember(parts, changed, Model())
    assert await triplets(parts.store) == {("Ann", "thanks", "Bob")}


async def test_a_memory_that_only_moved_is_not_read_again(parts: Parts) -> None:
    await remember(parts, memories(2), Model())
    moved = [attrs.evolve(each, position=7) for each in memories(2)]
    llm = Model()
    assert ((await remember(parts, moved, llm)).changed, llm.questions) == (2, [])
    whole = Parts()
    await remember(whole, moved, Model())
    assert await graph(parts.store) == await graph(whole.store)


class Down(Model):
    """Fails for good after some questions."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    async def ask(self, text: str) -> str:
        if len(self.questions) == self._after:
            raise LLMUnavailableError("the model is down")
        return await super().ask(text)


async def test_a_model_that_is_down_is_an_error_and_what_was_read_is_not_paid_for_twice(parts: Parts) -> None:
    given = memories(9)
    with pytest.raises(LLMUnavailableError, match="the model is down"):
        await remember(parts, given, Down(after=3))
    assert len(await parts.store.list_memories()) == 6
    again = Model()
    assert (await remember(parts, given, again)).changed == 3
    assert sum(len(texts) for texts in again.asked) == 3


class Stuck(Model):
    """Answers some questions, and then keeps whoever asks waiting."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after
        self.stuck = asyncio.Event()

    async def ask(self, text: str) -> str:
        if len(self.questions) == self._after:
            self.stuck.set()
            await asyncio.Event().wait()
        return await super().ask(text)


async def test_who_gives_up_waiting_keeps_what_was_read(parts: Parts) -> None:
    llm = Stuck(after=2)
    waiting = asyncio.create_task(remember(parts, memories(9), llm))
    await llm.stuck.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(await parts.store.list_memories()) == 4
    assert (await remember(parts, memories(9), Model())).changed == 5


async def test_a_memory_that_the_model_cannot_read_stops_no_other(parts: Parts) -> None:
    given = [*memories(3), memory("A riddle.", "riddle")]
    riddled = Model(failing=lambda _, some: "?" if any(each["text"] == "A riddle." for each in some) else None)
    report = await remember(parts, given, riddled)
    assert (report.changed, report.left) == (3, 0)
    (unread,) = report.unread
    assert str(unread).startswith("riddle: the language model could not read it: the model's answer: it is not JSON")
    assert "riddle" not in {each.id for each in await parts.store.list_memories()}
    assert (await remember(parts, given, Model())).changed == 1


async def test_progress_is_reported_after_every_few_memories(parts: Parts) -> None:
    steps: list[tuple[int, int]] = []

    def progress(done: int, total: int, name: str) -> None:
        del name
        steps.append((done, total))

    ingestor = Ingestor(parts, extractor=extractor(Model(), memories=2, at_once=1))
    await ingestor.remember(memories(3))
    await ingestor.remember(memories(5), progress=progress)
    assert steps == [(5, 5)]
    await ingestor.remember(memories(9), progress=progress)
    assert steps[1:] == [(7, 9), (9, 9)]


async def test_what_is_refused_is_reported(parts: Parts) -> None:
    llm = Model(lambda _: saying(relation("Eve", "owns", "Everything", "Eve owns Everything")))
    report = await remember(parts, memories(1), llm)
    assert report.refused == ("m00: relation 'Eve' 'owns' 'Everything': 'Eve' is not in the text",)
    assert await names(parts.store) == set()


async def test_rules_and_a_model_together(parts: Parts) -> None:
    rules = TextExtractor(dates=IsoDates())
    given = memory("Priya Sharma reports to Dana Levy. The Kestrel database sings to Dana Levy.")
    llm = Model(
        lambda _: saying(relation("Kestrel", "sings_to", "Dana Levy", "The Kestrel database sings to Dana Levy"))
    )
    both = CombinedExtractor(rules, extractor(llm))
    report = await Ingestor(parts, extractor=both).remember([given])
    assert report.changed == 1
    assert await triplets(parts.store) == {
        ("Priya Sharma", "reports_to", "Dana Levy"),
        ("Kestrel", "sings_to", "Dana Levy"),
    }
    (stored,) = await parts.store.list_memories()
    assert stored.attributes["read_by"] == "frames/1+llm/1"
