"""What is hidden shapes no rank and no number: a gated ranking is that of a graph where the hidden was never stored."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import ElementKind, ElementRef
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from tests.gates import no_secrets
from tests.graphs import person
from tests.properties import examples
from tests.test_hidden import EMBEDDER, NAMES, SURFACES, batch, graphs

questions = st.lists(st.sampled_from([*NAMES, *SURFACES, "knows"]), min_size=1, max_size=3).map(" ".join)


async def answer(store, gate, query, ranking, embedder):
    engine = GraphSearchEngine(store=store, embedder=embedder)
    result = await engine.rank_entities(query, ranking=ranking, gate=gate, limit=20)
    entities = {name: ElementRef(ElementKind.ENTITY, str(person(name))) for name in NAMES}
    explained = {name: await explanation(engine, query, ref, ranking, gate) for name, ref in entities.items()}
    return list(result.entities), result.found, result.reason, explained


async def explanation(engine, query, element, ranking, gate):
    try:
        return await engine.explain(query, element, ranking=ranking, gate=gate)
    except UnknownElementError as error:
        return str(error).partition(" in ")[0]


@given(graphs, st.booleans(), st.booleans(), questions, st.sampled_from(Ranking))
@examples(15)
async def test_a_gated_ranking_is_that_of_a_graph_without_the_hidden(graph, by_signature, by_meaning, query, ranking):
    stores = InMemoryGraphStore(clock=FixedClock())
    everything = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    without = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    for store, secrets in ((everything, True), (without, False)):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(batch(graph, secrets=secrets))
    embedder = EMBEDDER if by_meaning else None
    gated = await answer(everything, no_secrets(by_signature=by_signature), query, ranking, embedder)
    assert gated == await answer(without, None, query, ranking, embedder)
