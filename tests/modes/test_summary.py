"""Summaries of what was found, on every store."""

import json
import re
from typing import Any

import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import (
    InvalidInputError,
    LLMAnswerError,
    LLMRefusalError,
    LLMUnavailableError,
    MissingDependencyError,
)
from graphsearch.model import Batch, Claim, ElementKind, ElementRef, Memory
from graphsearch.modes.result import SearchMode
from graphsearch.modes.summary import ANSWER, Summarising, prompt_for
from graphsearch.testing.fakes import NOON, EchoLLM, HashEmbedder, WordCounter
from tests.graphs import days_ago, edge, people, person

SUMMARY = SearchMode.SUMMARY
NOTE = Memory(id="note", text="Ada and Bob met at the fair.", speaker="Cyd", occurred_at=days_ago(3))
SAID = Claim(memory_id="note", source_id=person("Ada"), type="knows", target_id=person("Bob"), confidence=0.9)


async def written(store):
    await store.write(people(edge("Bob", "leads", "Cyd", confidence=0.8), names="Ada Bob Cyd"))
    await store.write(Batch(memories=[NOTE, Memory(id="file", source="src/a.py")], claims=[SAID]))


def saying(*sentences):
    return json.dumps({"sentences": [{"text": text, "cites": cites} for text, cites in sentences]})


async def ask(store, *answers, question="what of Ada?", engine=None, gate: Any = ALLOW_ALL, **options: Any) -> Any:
    model = EchoLLM(*answers)
    asked = GraphSearchEngine(store=store, llm=model, **(engine or {}))
    return await asked.search(question, mode=SUMMARY, gate=gate, **options), model.asked


def lines_of(prompt):
    (found,) = re.findall(r"^<lines>\n(.*?)\n?</lines>$", prompt, re.DOTALL | re.MULTILINE)
    return found.splitlines()


async def test_a_summary_cites_triplets_and_memories_by_number(scoped):
    await written(scoped)
    found, asked = await ask(scoped, saying(("Ada met Bob at the fair.", [1, 2]), ("Bob leads Cyd.", [3])))
    assert len(asked) == 1
    assert lines_of(asked[0]) == [
        "[1] Ada --knows--> Bob",
        "[2] 2026-01-12 Cyd: Ada and Bob met at the fair.",
        "[3] Bob --leads--> Cyd",
    ]
    summary = found.summary
    assert summary is not None
    assert summary.text == "Ada met Bob at the fair. [1][2] Bob leads Cyd. [3]"
    known, leads = (triplet.relation.id for triplet in found.triplets)
    assert [source.element for source in summary.sources] == [
        ElementRef(ElementKind.RELATION, str(known)),
        ElementRef(ElementKind.MEMORY, "note"),
        ElementRef(ElementKind.RELATION, str(leads)),
    ]
    assert (summary.calls, summary.communities, summary.note) == (1, (), "")
    assert summary.prompt_tokens == len(asked[0].partition("\n\nAnswer with one JSON object that keeps")[0])
    assert (found.mode, found.reason) == ("summary", "")
    assert {"sources", "llm", "total"} <= set(found.timings)


async def test_citations_are_checked(scoped):
    await written(scoped)
    answer = saying(("Ada knows Bob.", [1, 17]), ("Bob is rich.", []), ("Cyd is poor.", [40]))
    summary = (await ask(scoped, answer))[0].summary
    assert summary.text == "Ada knows Bob. [1]"
    assert summary.unknown_citations == (17, 40)
    assert summary.uncited == ("Bob is rich.", "Cyd is poor.")


async def test_a_faulty_answer_is_repaired_once(scoped):
    await written(scoped)
    found, asked = await ask(scoped, "Ada knows Bob. [1]", saying(("Ada knows Bob.", [1])))
    assert (found.summary.text, len(asked)) == ("Ada knows Bob. [1]", 2)
    with pytest.raises(LLMAnswerError):
        await ask(scoped, "Ada knows Bob. [1]", '{"sentences": 1}')


async def test_the_names_of_the_mode(scoped):
    await written(scoped)
    for name in (SearchMode.SUMMARIES, "SUMMARIES", "summary"):
        model = EchoLLM(saying(("Ada knows Bob.", [1])))
        engine = GraphSearchEngine(store=scoped, llm=model)
        found = await engine.search("Ada", mode=name, gate=ALLOW_ALL)
        assert str(found.summary and found.summary.text) == "Ada knows Bob. [1]"


async def test_with_an_embedder_it_retrieves_by_meaning(scoped):
    embedder = HashEmbedder()
    batch = people(edge("Ada", "knows", "Bob"), names="Ada Bob")
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    vectors = {each.id: embedder.vector(each.name) for each in batch.entities}
    await scoped.write(Batch(entities=batch.entities, relations=batch.relations, vectors=vectors))
    found, asked = await ask(
        scoped, saying(("Ada knows Bob.", [1])), question="Ada?", seeds=1, engine={"embedder": embedder}
    )
    assert [anchor.name for anchor in found.anchors] == ["Ada"]
    assert found.triplets[0].breakdown.relevance["source"] > 0
    assert (len(asked), "embedding" in found.timings) == (1, True)


async def test_budgets_hold_on_both_sides(scoped):
    names = [f"p{number}" for number in range(60)]
    await scoped.write(people(*(edge("Ada", "knows", name) for name in names), names=" ".join(["Ada", *names])))
    sentences = [(f"Ada knows {name}.", [1]) for name in names]
    mode = Summarising(counter=WordCounter(), prompt_tokens=300, answer_tokens=20)
    found, asked = await ask(scoped, saying(*sentences), engine={"modes": {"summary": mode}}, limit=60)
    prompt = asked[0].partition("\n\nAnswer with one JSON object that keeps")[0]
    assert 5 < len(lines_of(prompt)) < 60
    assert [source.line for source in found.summary.sources] == lines_of(prompt)
    assert WordCounter().count(prompt) == found.summary.prompt_tokens <= 300
    assert (len(found.summary.sentences), found.summary.beyond) == (6, 54)
    assert found.summary.answer_tokens <= 20
    with pytest.raises(InvalidInputError, match="ask in fewer words"):
        await ask(scoped, question="what of Ada? " * 200, engine={"modes": {"summary": mode}})
    bare = prompt_for("what of Ada?", (), words=20) + json.dumps(ANSWER)
    mode = Summarising(counter=WordCounter(), prompt_tokens=WordCounter().count(bare) + 1, answer_tokens=20)
    with pytest.raises(InvalidInputError, match="no room for any line"):
        await ask(scoped, engine={"modes": {"summary": mode}})
    with pytest.raises(InvalidInputError) as raised:
        Summarising(prompt_tokens=0, answer_tokens=0, communities=-1, at_once=0)
    assert len(raised.value.faults) == 4


async def test_memories_of_another_time_are_not_shown(scoped):
    given = edge("Ada", "knows", "Bob", evidence=("then", "later"))
    memories = [
        Memory(id="then", text="It was so.", occurred_at=days_ago(50)),
        Memory(id="later", text="It is so.", occurred_at=days_ago(1)),
    ]
    batch = people(given, names="Ada Bob")
    await scoped.write(Batch(entities=batch.entities, relations=batch.relations, memories=memories))
    answer = saying(("Ada knows Bob.", [1]))
    _, asked = await ask(scoped, answer, as_of=days_ago(30), known_at=NOON)
    assert [line[4:] for line in lines_of(asked[0])] == ["Ada --knows--> Bob", "2025-11-26 It was so."]
    _, asked = await ask(scoped, answer)
    assert len(lines_of(asked[0])) == 3


async def test_nothing_found_is_no_summary_and_asks_nobody(scoped):
    await scoped.write(people(names="Ada"))
    for question, reason in (
        ("what of Ada?", "nothing visible of Ada answers what is asked"),
        (" ", "nothing was asked"),
        ("who is Zoe?", "the question names nothing visible; no communities are there to be summarised: see Curator"),
    ):
        found, asked = await ask(scoped, question=question)
        assert (found.summary, asked) == (None, [])
        assert found.reason.startswith(reason)


async def test_an_answer_may_be_empty(scoped):
    await written(scoped)
    summary = (await ask(scoped, saying()))[0].summary
    assert (summary.text, summary.sentences) == ("", ())


async def test_it_needs_a_model_and_a_gate(scoped):
    await written(scoped)
    with pytest.raises(MissingDependencyError, match=r"'summary' needs an llm: GraphSearchEngine\(store=…, llm=…\)"):
        await GraphSearchEngine(store=scoped).search("Ada", mode=SUMMARY, gate=ALLOW_ALL)
    with pytest.raises(MissingDependencyError, match=r"'summary'.*needs a gate.*Gate\(.*ALLOW_ALL"):
        await ask(scoped, gate=None)


@pytest.mark.parametrize("error", [LLMUnavailableError, LLMRefusalError])
async def test_what_the_model_raises_is_raised(scoped, error):
    class Failing:
        async def ask(self, text):
            raise error

    await written(scoped)
    with pytest.raises(error):
        await GraphSearchEngine(store=scoped, llm=Failing()).search("Ada", mode=SUMMARY, gate=ALLOW_ALL)


async def test_explanations_ask_no_model(scoped):
    await written(scoped)
    model = EchoLLM()
    engine = GraphSearchEngine(store=scoped, llm=model)
    (first, *_) = (await engine.search("Ada", mode=SearchMode.NEIGHBORHOOD)).triplets
    why = await engine.explain("Ada", first.relation.id, mode=SUMMARY, gate=ALLOW_ALL)
    assert (why.rank, model.asked) == (1, [])
