"""What is hidden shapes nothing that is shown: a gated answer is that of a graph where the hidden was never stored."""

from uuid import uuid4

import attrs
from hypothesis import example, given
from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest.write.writer import embed_facts
from graphsearch.model import Batch, Claim, Entity, Memory, Mention, Relation
from graphsearch.modes.result import SearchMode
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.text.rendering import triplet_line
from tests.gates import POLICIES, no_secrets
from tests.graphs import days_ago, person
from tests.properties import examples

NAMES = ["Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gus"]
SURFACES = ["Countess", "Chief", "Eve"]
SECRET = "secret"
EMBEDDER = HashEmbedder(16)


labels = st.sampled_from([(), (), (SECRET,)])
ends = st.tuples(st.sampled_from(NAMES), st.sampled_from(["knows", "likes"]), st.sampled_from(NAMES))
confidences = st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9])
graphs = st.fixed_dictionaries(
    {
        "people": st.fixed_dictionaries({name: labels for name in NAMES}),  # noqa: C420 - hypothesis wants a dict
        "edges": st.dictionaries(ends, st.tuples(confidences, labels), max_size=12),
        "stated": st.lists(st.tuples(ends, confidences, labels, st.integers(0, 30)), max_size=8),
        "called": st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(SURFACES), labels), max_size=4),
    }
)


def batch(graph, *, secrets: bool) -> Batch:
    shown = {name for name, label in graph["people"].items() if secrets or not label}
    entities = [
        Entity(type="person", name=name, labels=label) for name, label in graph["people"].items() if name in shown
    ]
    relations = [
        Relation(
            source_id=person(source),
            type=f"given_{kind}",
            target_id=person(target),
            fact=f"{source} {kind} {target}",
            confidence=sure,
            labels=label,
        )
        for (source, kind, target), (sure, label) in graph["edges"].items()
        if {source, target} <= shown and (secrets or not label)
    ]
    stated = [
        (f"m{number}", stated)
        for number, stated in enumerate(graph["stated"])
        if {stated[0][0], stated[0][2]} <= shown and (secrets or not stated[2])
    ]
    called = [
        (f"c{number}", called)
        for number, called in enumerate(graph["called"])
        if called[0] in shown and (secrets or not called[2])
    ]
    return Batch(
        entities=entities,
        relations=relations,
        memories=[
            *(Memory(id=id_, labels=label, occurred_at=days_ago(age)) for id_, (_, _, label, age) in stated),
            *(Memory(id=id_, labels=label) for id_, (_, _, label) in called),
        ],
        mentions=[Mention(memory_id=id_, entity_id=person(name), surface=as_) for id_, (name, as_, _) in called],
        claims=[
            Claim(
                memory_id=id_,
                source_id=person(source),
                type=kind,
                target_id=person(target),
                fact=f"{source} {kind} {target}",
                confidence=sure,
            )
            for id_, ((source, kind, target), sure, _, _) in stated
        ],
        vectors={entity.id: EMBEDDER.vector(entity.name) for entity in entities},
    )


def shown_parts(relation: Relation):
    """The parts of a relation that must be equal; its id depends on the claims it was first folded from."""
    return relation.source_id, relation.type, relation.target_id, relation.fact, relation.confidence


async def answer(store, gate, query, mode):
    engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
    result = await engine.search(query, mode=mode, gate=gate, seeds=2, limit=50)
    shown = [
        (triplet_line(triplet), attrs.evolve(triplet.breakdown, feedback=0.5), triplet.relation.evidence)
        for triplet in result.triplets
    ]
    connections = [
        (each.entity.name, each.score, [list(map(shown_parts, path.relations)) for path in each.paths.values()])
        for each in result.connections
    ]
    return shown, [anchor.name for anchor in result.anchors], connections, result.found, result.reason


KNOWN = [("Ada", "knows", "Ada"), ("Ada", "knows", "Ada"), ("Ada", "knows", "Bob"), ("Bob", "knows", "Cyd")]
REORDERED = {
    "people": dict.fromkeys(NAMES, ()),
    "edges": {},
    "stated": [*((each, 0.5, (), 0) for each in KNOWN), (KNOWN[-1], 0.5, (SECRET,), 1)],
    "called": [],
}
"""What is hidden moves a relation to another row: a product of a whole matrix would round otherwise."""

TWO_WAYS = {
    "people": dict.fromkeys(NAMES, ()),
    "edges": {("Bob", "knows", "Dan"): (0.5, ())},
    "stated": [
        (("Ada", "knows", "Ada"), 0.5, (), 0),
        (("Dan", "likes", "Bob"), 0.5, (), 0),
        (("Dan", "likes", "Bob"), 0.5, (SECRET,), 2),
        (("Dan", "likes", "Ada"), 0.5, (), 0),
    ],
    "called": [],
}
"""What is hidden moves a relation before another one by which a name reaches just as much."""


@given(
    graphs,
    st.booleans(),
    st.sampled_from([*NAMES, *SURFACES]),
    st.sampled_from(NAMES),
    st.sampled_from([SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, SearchMode.NEIGHBORHOOD]),
)
@example(TWO_WAYS, False, "Bob", "Bob", SearchMode.TRIPLET_COMPLETION)
@example(REORDERED, False, "Ada", "Ada", SearchMode.TRIPLET_COMPLETION)
@examples(25)
async def test_a_gated_answer_is_that_of_a_graph_without_the_hidden(graph, by_signature, name, other, mode):
    stores = InMemoryGraphStore(clock=FixedClock())
    everything = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    without = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    for store, secrets in ((everything, True), (without, False)):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(batch(graph, secrets=secrets))
        await embed_facts(store, EMBEDDER)
    question = f"what of {name} and {other}?"
    gated = await answer(everything, no_secrets(by_signature=by_signature), question, mode)
    assert gated == await answer(without, None, question, mode)


@POLICIES
async def test_paths_and_neighbors_too(scoped, by_signature):
    graph = {
        "people": {name: (SECRET,) if name == "Bob" else () for name in NAMES},
        "edges": {
            ("Ada", "knows", "Bob"): (0.9, ()),
            ("Bob", "knows", "Cyd"): (0.9, ()),
            ("Ada", "knows", "Dan"): (0.6, ()),
        },
        "stated": [],
        "called": [],
    }
    await scoped.write(attrs.evolve(batch(graph, secrets=True), vectors={}))
    engine = GraphSearchEngine(store=scoped)
    gate = no_secrets(by_signature=by_signature)
    assert await engine.path("Ada", "Cyd") is not None
    assert await engine.path("Ada", "Cyd", gate=gate) is None
    assert [triplet.target.name for triplet in await engine.neighbors("Ada", depth=3, gate=gate)] == ["Dan"]


@POLICIES
async def test_what_only_hidden_memories_call_somebody_is_no_anchor(scoped, by_signature):
    called = [("Ada", name, (SECRET,)) for name in (*["Countess"] * 20, "Chief", "Lady")]
    edges = {("Ada", "knows", "Bob"): (0.9, ())}
    graph = {"people": dict.fromkeys(NAMES, ()), "edges": edges, "stated": [], "called": called}
    gate = no_secrets(by_signature=by_signature)
    engine = GraphSearchEngine(store=scoped)

    async def anchored(name, gate):
        found = await engine.search(f"what of {name}?", mode=SearchMode.NEIGHBORHOOD, gate=gate)
        return [anchor.name for anchor in found.anchors], len(found.triplets)

    await scoped.write(attrs.evolve(batch(graph, secrets=True), vectors={}))
    for name in ("Countess", "Chief", "Lady"):
        assert await anchored(name, None) == ([name], 1)
        assert await anchored(name, gate) == ([], 0)
    graph["called"] = [*called[1:20], ("Ada", "Countess", ()), *called[20:]]  # one of many memories may be seen
    merged = Entity(type="person", name="Lady")
    given = Entity(type="person", name="Ada", aliases=("Chief",))
    await scoped.write(attrs.evolve(batch(graph, secrets=True), vectors={}))
    await scoped.write(Batch(entities=[given, merged]))
    await scoped.merge(merged.id, given.id)
    for name in ("Countess", "Chief", "Lady"):
        assert await anchored(name, gate) == ([name], 1)
