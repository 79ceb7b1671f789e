"""Summaries for questions that name nothing: communities first one by one, then all together; on every store."""

import asyncio
import json
import re
from typing import Any

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import LLMUnavailableError
from graphsearch.model import Batch
from graphsearch.modes.options import SearchMode
from graphsearch.modes.summary import Summarising
from graphsearch.testing.fakes import HashEmbedder
from tests.graphs import edge, people, person

TEAMS = [("Ada", "Bob", "Cyd"), ("Dan", "Eve", "Fay", "Gus"), ("Hal", "Ivy", "Jon")]
LINE = re.compile(r"^((?:\[\d+\])+) (.*)$", re.MULTILINE)


class Reader:
    """Says back every line, with its citations; counts how many ask at once."""

    def __init__(self):
        self.asked = []
        self.running = self.most = 0

    async def ask(self, text):
        self.asked.append(text)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        lines = LINE.findall(text)
        sentences = [
            {"text": line, "cites": [int(number) for number in re.findall(r"\d+", label)]} for label, line in lines
        ]
        return json.dumps({"sentences": sentences})


def ring(names):
    return [edge(one, "knows", other) for one in names for other in names if one < other]


async def written(store, *, detected=True, embedder=None):
    batch = people(*(link for team in TEAMS for link in ring(team)), names=" ".join(sum(TEAMS, ())))
    vectors = {}
    if embedder:
        await store.bind_embedder(embedder.name, embedder.dimensions)
        vectors = {each.id: embedder.vector(each.name) for each in batch.entities}
    await store.write(Batch(entities=batch.entities, relations=batch.relations, vectors=vectors))
    if detected:
        assert len(await Curator(GraphSearchEngine(store=store)).detect_communities()) == 3


async def ask(store, mode=None, *, question="what is going on?", model=None, **options: Any) -> Any:
    model = model or Reader()
    modes = {"summary": mode or Summarising()}
    engine = GraphSearchEngine(store=store, llm=model, modes=modes, **options)
    return await engine.search(question, mode=SearchMode.SUMMARY, gate=ALLOW_ALL), model.asked


async def test_communities_are_summarised_one_by_one_and_then_together(scoped):
    await written(scoped)
    found, asked = await ask(scoped)
    assert len(asked) == 4
    assert [len(LINE.findall(prompt)) for prompt in asked] == [6, 3, 3, 12]  # the largest first
    assert "Dan --knows--> Eve" in asked[0]
    assert "Ada" not in asked[0]
    assert found.triplets == ()
    assert len(found.summary.communities) == 3
    assert (found.summary.calls, found.summary.note) == (4, "")
    assert len(found.summary.sentences) == len(found.summary.sources) == 12
    assert [source.number for source in found.summary.sources] == list(range(1, 13))
    for sentence in found.summary.sentences:
        assert sentence.sources[0].line.replace("--", "–").replace("–>", "–›").endswith(sentence.text)


async def test_only_so_many_communities_are_asked_for_and_only_so_many_at_once(scoped):
    await written(scoped)
    for mode, calls, at_a_time in (
        (Summarising(communities=2), 3, 2),
        (Summarising(at_once=1), 4, 1),
        (Summarising(communities=1), 1, 1),
    ):
        model = Reader()
        found, asked = await ask(scoped, mode, model=model)
        assert (len(asked), model.most, found.summary.calls) == (calls, at_a_time, calls)
    assert (await ask(scoped, Summarising(communities=0)))[0].summary is None


async def test_what_was_found_comes_first_and_tells_which_communities_matter(scoped):
    embedder, model = HashEmbedder(), Reader()
    await written(scoped, embedder=embedder)
    engine = GraphSearchEngine(store=scoped, llm=model, embedder=embedder)
    found = await engine.search("knows", mode=SearchMode.SUMMARY, gate=ALLOW_ALL, seeds=1)
    assert found.anchors == ()
    assert len(model.asked) == 1 + 3 + 1
    (team,) = (team for team in TEAMS if found.triplets[0].source.name in team)
    for prompt in model.asked[:2]:
        assert {name for line in re.findall(r"(\w+) --knows--> (\w+)", prompt) for name in line} == set(team)
    assert found.summary is not None
    assert len(found.summary.sources) == 12  # what was found has the numbers it has in its community


async def test_a_named_entity_needs_no_communities(scoped):
    await written(scoped)
    found, asked = await ask(scoped, question="what of Ada?")
    assert (len(asked), found.summary.communities) == (1, ())


async def test_without_communities_it_says_so_and_tells_what_was_found(scoped):
    embedder = HashEmbedder()
    await written(scoped, detected=False, embedder=embedder)
    found, asked = await ask(scoped, question="knows", embedder=embedder)
    assert (len(asked), found.summary.communities) == (1, ())
    assert found.summary.note.startswith("no communities are there to be summarised")
    nothing, asked = await ask(scoped)
    assert (nothing.summary, asked) == (None, [])
    assert "no communities are there to be summarised" in nothing.reason


async def test_words_tell_which_communities_matter_where_nothing_else_does(scoped):
    await written(scoped)
    (jon,) = await scoped.get_entities([person("Jon")])
    await scoped.write(Batch(entities=[attrs.evolve(jon, description="likes gardening")]))
    for question, expected in (("who is gardening?", "Hal --knows--> Ivy"), ("anything?", "Dan --knows--> Eve")):
        found, (prompt,) = await ask(scoped, Summarising(communities=1), question=question)
        assert found.anchors == ()
        assert expected in prompt


async def test_the_first_failure_stops_the_others(scoped):
    await written(scoped)
    began, stopped = [], []

    class Failing:
        async def ask(self, text):
            if "Dan" in text:
                raise LLMUnavailableError
            began.append(text)
            try:
                await asyncio.sleep(60)
            finally:
                stopped.append(text)

    with pytest.raises(LLMUnavailableError):
        async with asyncio.timeout(30):
            await ask(scoped, model=Failing())
    assert stopped == began
