"""Prompts are those of a graph in which what is hidden was never stored, byte for byte."""

import json
from uuid import uuid4

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Entity
from graphsearch.modes.result import SearchMode
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import EchoLLM, FixedClock
from graphsearch.text.rendering import triplet_line
from tests.gates import POLICIES, allowing, no_secrets
from tests.graphs import edge, people
from tests.properties import examples
from tests.test_hidden import EMBEDDER, NAMES, SECRET, SURFACES, batch, graphs

LLM_MODES = [SearchMode.SUMMARY, SearchMode.NATURAL_LANGUAGE]


async def prompts(store, gate, question, name, mode, embedder=None):
    query = {"anchors": [name], "hops": 2}
    summary = {"sentences": [{"text": "So it is.", "cites": [1, 2, 3]}]}
    model = EchoLLM(*[json.dumps(query if mode is SearchMode.NATURAL_LANGUAGE else summary)] * 9)
    engine = GraphSearchEngine(store=store, llm=model, embedder=embedder)
    found = await engine.search(question, mode=mode, gate=gate, seeds=2, limit=50)
    summarised = found.summary and (found.summary.text, found.summary.unknown_citations)
    return model.asked, summarised, list(map(triplet_line, found.triplets)), found.reason


def telling(graph, *, secrets):
    """The batch with a text in every memory."""
    whole = batch(graph, secrets=secrets)
    return attrs.evolve(whole, memories=[attrs.evolve(each, text=f"Note {each.id}") for each in whole.memories])


@given(
    graphs,
    st.booleans(),
    st.sampled_from([*NAMES, *SURFACES]),
    st.sampled_from(["what of {}?", "what is going on?"]),
    st.sampled_from(LLM_MODES),
    st.sampled_from([None, EMBEDDER]),
)
@examples(25)
async def test_a_model_is_shown_nothing_that_is_hidden(graph, by_signature, name, asking, mode, embedder):
    stores = InMemoryGraphStore(clock=FixedClock())
    everything = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    without = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    for store, secrets in ((everything, True), (without, False)):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(telling(graph, secrets=secrets))
    gated = await prompts(everything, no_secrets(by_signature=by_signature), asking.format(name), name, mode, embedder)
    assert gated == await prompts(without, ALLOW_ALL, asking.format(name), name, mode, embedder)


def ring(*names):
    return [edge(one, "knows", other) for one in names for other in names if one < other]


@pytest.mark.parametrize("hidden", ["member", "relation"])
@POLICIES
async def test_a_community_with_a_hidden_member_is_not_summarised(scoped, by_signature, hidden):
    """Nor is any other: what is hidden may have shaped each."""
    links = [*ring("Ada", "Bob", "Cyd"), *ring("Dan", "Eve", "Fay", "Gus")]
    await scoped.write(people(*links, names="Ada Bob Cyd Dan Eve Fay Gus"))
    if hidden == "member":
        await scoped.write(Batch(entities=[Entity(type="person", name="Gus", labels=(SECRET,))]))
    else:
        await scoped.write(Batch(relations=[attrs.evolve(links[0], labels=(SECRET,))]))
    await Curator(GraphSearchEngine(store=scoped)).detect_communities()
    question = ("what is going on?", "Zoe", SearchMode.SUMMARY)
    asked, summarised, *_ = await prompts(scoped, no_secrets(by_signature=by_signature), *question)
    assert (asked, summarised) == ([], None)
    everything, *_ = await prompts(scoped, ALLOW_ALL, *question)
    assert len(everything) == 3  # two communities, and both together
    assert (await prompts(scoped, allowing(lambda _: True, by_signature=True), *question))[0] == everything
    assert "Dan --knows--> Eve" in "".join(everything)
