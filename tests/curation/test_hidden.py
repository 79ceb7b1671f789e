"""Gated answers equal those of a graph in which the hidden elements were never stored."""

from uuid import uuid4

import attrs
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import Batch, Memory, MemoryLink
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import claim, day, mention, person
from tests.curation.team import GREG, SECRET, Labels
from tests.gates import POLICIES
from tests.properties import examples

NAMES = ("Ada Lovelace", "Ada Lovelacy", "Bob Noyce", "Eve Curie", "Eva Curie")
SURFACES = (*NAMES, "Ada", "Countess", "Eve", "Bobby")

label = st.sampled_from([(), (), (SECRET,)])
claimed = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(SURFACES), st.sampled_from(NAMES), st.sampled_from([0.6, 0.9])
)
graphs = st.fixed_dictionaries(
    {
        "entities": st.fixed_dictionaries({name: label for name in NAMES}),  # noqa: C420 - hypothesis wants a dict
        "memories": st.lists(st.tuples(claimed, label, st.integers(0, 30)), max_size=8),
        "links": st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=4),
    }
)


def batch(graph, *, secrets):
    shown = {name for name, labels in graph["entities"].items() if secrets or not labels}
    entities = [person(name, labels=labels) for name, labels in graph["entities"].items() if name in shown]
    memories, mentions, claims = [], [], []
    for number, ((source, surface, target, sure), labels, age) in enumerate(graph["memories"]):
        if labels and not secrets:
            continue
        memory = Memory(id=f"m{number}", text=surface, labels=labels, occurred_at=day(-age))
        memories.append(memory)
        for name, called in ((source, surface), (target, target)):
            if name in shown and (name, called) != (source, target):
                mentions.append(mention(memory, person(name), surface=called))
        if source != target and {source, target} <= shown:
            claims.append(claim(memory, person(source), person(target), confidence=sure, fact=f"{surface} {number}"))
    unique = {(each.memory_id, each.entity_id): each for each in mentions}
    return Batch(entities=entities, memories=memories, mentions=list(unique.values()), claims=claims)


async def fill(store, graph, *, secrets):
    written = batch(graph, secrets=secrets)
    await store.write(written)
    there = {memory.id for memory in written.memories}
    links = [MemoryLink(from_id=f"m{one}", to_id=f"m{other}") for one, other in graph["links"] if one != other]
    await store.link_memories([each for each in links if {each.from_id, each.to_id} <= there])


def plain(value):
    """Without ids of relations, which derive from the stored period, and without fields that differ by nature."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key not in {"id", "key", "created_at", "path"}}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


async def answers(curator, store, names):
    found = [
        await curator.find_duplicates(threshold=0.6),
        *[await curator.search_entities(query) for query in (*SURFACES, "cur", "ad", "Ada Lovelace Eve")],
    ]
    for name in names:
        try:
            found += [
                await curator.recall_entity(name),
                await curator.recall_related(name),
                await curator.entity_graph(name, depth=2),
                await curator.entity_timeline(name),
                await curator.backlinks(entity=name),
            ]
        except UnknownElementError as error:
            found.append(str(error).replace(str(store.scope), ""))
    for number in range(8):
        try:
            found.append(await curator.backlinks(memory=f"m{number}"))
        except UnknownElementError as error:
            found.append(str(error).replace(str(store.scope), ""))
    rows = [attrs.asdict(each) if attrs.has(type(each)) else each for each in found]
    return plain([[attrs.asdict(item) for item in each] if isinstance(each, tuple) else each for each in rows])


@given(graphs)
@examples(12)
async def test_a_gated_curator_knows_a_graph_without_the_hidden(graph):
    stores = InMemoryGraphStore(clock=FixedClock())
    seen = []
    for secrets, gated in ((True, True), (False, False)):
        store = stores.with_scope(org_id="acme", project_id=str(uuid4()))
        await fill(store, graph, secrets=secrets)
        engine = GraphSearchEngine(store=store)
        curator = Curator(engine, gate=Gate(Labels(), GREG)) if gated else Curator(engine)
        seen.append(await answers(curator, store, SURFACES))
    assert seen[0] == seen[1]


@POLICIES
async def test_on_every_store_and_with_every_kind_of_policy(scoped, by_signature):
    graph = {
        "entities": {name: (SECRET,) if name == "Bob Noyce" else () for name in NAMES},
        "memories": [
            (("Ada Lovelace", "Countess", "Eve Curie", 0.9), (SECRET,), 3),
            (("Ada Lovelace", "Ada", "Eve Curie", 0.6), (), 9),
            (("Ada Lovelace", "Ada", "Bob Noyce", 0.9), (), 5),
            (("Eva Curie", "Eve", "Ada Lovelacy", 0.9), (), 7),
        ],
        "links": [(0, 1), (1, 2), (3, 1)],
    }
    clean = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="clean")
    await fill(scoped, graph, secrets=True)
    await fill(clean, graph, secrets=False)
    authorizer = Labels()
    authorizer.by_signature = by_signature
    gated = Curator(GraphSearchEngine(store=scoped), gate=Gate(authorizer, GREG))
    found = await answers(gated, scoped, SURFACES)
    assert found == await answers(Curator(GraphSearchEngine(store=clean)), clean, SURFACES)
