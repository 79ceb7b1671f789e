"""What is hidden shapes nothing that is shown: a gated answer is that of a graph where the hidden was never stored."""

from uuid import uuid4

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Claim, Entity, Memory, Relation
from graphsearch.modes.request import SearchMode
from graphsearch.records import Batch
from graphsearch.rendering import triplet_line
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.graphs import days_ago, person

NAMES = ["Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gus"]
SECRET = "secret"
EMBEDDER = HashEmbedder(16)


class NoSecrets:
    """Hides what is labelled secret."""

    def __init__(self, *, by_signature: bool) -> None:
        self.by_signature = by_signature

    async def permits(self, resources):
        return [SECRET not in resource.labels for resource in resources]


labels = st.sampled_from([(), (), (SECRET,)])
ends = st.tuples(st.sampled_from(NAMES), st.sampled_from(["knows", "likes"]), st.sampled_from(NAMES))
confidences = st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9])
graphs = st.fixed_dictionaries(
    {
        "people": st.fixed_dictionaries({name: labels for name in NAMES}),  # noqa: C420 - hypothesis wants a dict
        "edges": st.dictionaries(ends, st.tuples(confidences, labels), max_size=12),
        "told": st.lists(st.tuples(ends, confidences, labels, st.integers(0, 30)), max_size=8),
    }
)


def batch(graph, *, secrets: bool) -> Batch:
    shown = {name for name, label in graph["people"].items() if secrets or not label}
    entities = [
        Entity(type="person", name=name, labels=label) for name, label in graph["people"].items() if name in shown
    ]
    relations = [
        Relation(
            source_id=person(source), type=f"given_{kind}", target_id=person(target), confidence=sure, labels=label
        )
        for (source, kind, target), (sure, label) in graph["edges"].items()
        if {source, target} <= shown and (secrets or not label)
    ]
    told = [
        (f"m{number}", told)
        for number, told in enumerate(graph["told"])
        if {told[0][0], told[0][2]} <= shown and (secrets or not told[2])
    ]
    return Batch(
        entities=entities,
        relations=relations,
        memories=[Memory(id=id_, labels=label, occurred_at=days_ago(age)) for id_, (_, _, label, age) in told],
        claims=[
            Claim(memory_id=id_, source_id=person(source), type=kind, target_id=person(target), confidence=sure)
            for id_, ((source, kind, target), sure, _, _) in told
        ],
        vectors={entity.id: EMBEDDER.vector(entity.name) for entity in entities},
    )


async def answer(store, gate, query, mode):
    engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
    result = await engine.search(query, mode=mode, gate=gate, top_k=2, limit=50)
    shown = [
        (triplet_line(triplet), attrs.evolve(triplet.score, feedback=0.5), triplet.relation.evidence)
        for triplet in result.triplets
    ]
    return shown, [anchor.name for anchor in result.anchors], result.found


@given(
    graphs,
    st.booleans(),
    st.sampled_from(NAMES),
    st.sampled_from([SearchMode.GRAPH_COMPLETION, SearchMode.NEIGHBORHOOD]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_a_gated_answer_is_that_of_a_graph_without_the_hidden(graph, by_signature, name, mode):
    stores = InMemoryGraphStore(clock=FixedClock())
    everything = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    without = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    for store, secrets in ((everything, True), (without, False)):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(batch(graph, secrets=secrets))
    gated = await answer(everything, NoSecrets(by_signature=by_signature), f"what of {name}?", mode)
    assert gated == await answer(without, None, f"what of {name}?", mode)


@pytest.mark.parametrize("by_signature", [False, True])
async def test_paths_and_neighbors_too(scoped, by_signature):
    graph = {
        "people": {name: (SECRET,) if name == "Bob" else () for name in NAMES},
        "edges": {
            ("Ada", "knows", "Bob"): (0.9, ()),
            ("Bob", "knows", "Cyd"): (0.9, ()),
            ("Ada", "knows", "Dan"): (0.6, ()),
        },
        "told": [],
    }
    await scoped.write(attrs.evolve(batch(graph, secrets=True), vectors={}))
    engine = GraphSearchEngine(store=scoped)
    gate = NoSecrets(by_signature=by_signature)
    assert await engine.path("Ada", "Cyd") is not None
    assert await engine.path("Ada", "Cyd", gate=gate) is None
    assert [triplet.target.name for triplet in await engine.neighbors("Ada", depth=3, gate=gate)] == ["Dan"]
