"""Personalised PageRank over stores: what it finds, how that is scored, and in which order it is printed."""

from typing import Literal
from uuid import uuid4

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.model import Batch, Entity, Principal, RelationType
from graphsearch.modes.result import SearchMode
from graphsearch.ranking.triplet_score import ScoringOptions
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder, WordCounter
from graphsearch.text.rendering import triplet_line
from graphsearch.traversal.pagerank import PersonalizedPageRank, starting_chances
from tests.gates import POLICIES, no_secrets
from tests.graphs import edge, people, person
from tests.properties import examples
from tests.question.harbour import meaning
from tests.test_hidden import EMBEDDER, NAMES, batch, graphs

ONLY_RANK = ScoringOptions(feedback_influence=0.0, importance_influence=0.0)
METHODS: list[Literal["power", "push"]] = ["power", "push"]


async def ranks(store, *seeds, gate=None, **options):
    """PageRank by name, best first."""
    async with reading(store, gate=gate) as reader:
        found = await PersonalizedPageRank(**options).traverse(
            await reader.locate([person(name) for name in seeds]), depth=2, reader=reader
        )
        assert found.rank is not None
        entities = await store.get_entities(store.entity_ids(found.entities))
        return {entity.name: rank for entity, rank in zip(entities, found.rank.tolist(), strict=True)}


async def searched(store, query, *, mode=SearchMode.NEIGHBORHOOD, embedder=None, gate=None, limit=50, **options):
    engine = GraphSearchEngine(
        store=store, embedder=embedder, scoring=ONLY_RANK, traversal=PersonalizedPageRank(**options)
    )
    return await engine.search(query, mode=mode, gate=gate, limit=limit)


CHAIN = people(
    edge("Ada", "knows", "Bob", confidence=0.9), edge("Bob", "knows", "Cyd", confidence=0.9), names="Ada Bob Cyd"
)


# -- what is found ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
async def test_three_people_in_a_row_have_the_closed_form(scoped, method):
    await scoped.write(CHAIN)
    # a = 0.15 + 0.85 · b/2, b = 0.85 · (a + c), c = 0.85 · b/2, so b = 0.1275 / 0.2775
    found = await ranks(scoped, "Ada", method=method)
    assert list(found) == ["Bob", "Ada", "Cyd"]
    assert found == pytest.approx({"Ada": 0.345270, "Bob": 0.459459, "Cyd": 0.195270}, abs=2e-3)


async def test_small_scopes_are_iterated_and_large_ones_pushed(scoped, monkeypatch):
    await scoped.write(CHAIN)
    assert await ranks(scoped, "Ada") == await ranks(scoped, "Ada", method="power")
    monkeypatch.setattr("graphsearch.traversal.pagerank.POWER_UNTIL", 2)
    assert await ranks(scoped, "Ada") == await ranks(scoped, "Ada", method="push")
    assert await ranks(scoped, "Ada", method="push") != await ranks(scoped, "Ada", method="power")


async def test_power_reads_no_more_than_its_bound(scoped, monkeypatch):
    await scoped.write(CHAIN)
    monkeypatch.setattr("graphsearch.traversal.pagerank.POWER_READS", 2)
    found = await ranks(scoped, "Ada", method="power")
    assert set(found) == {"Ada", "Bob", "Cyd"}
    assert found["Cyd"] < (await ranks(scoped, "Ada", method="push"))["Cyd"]  # it counts as a way that ends


async def test_pushing_ends_after_so_many_rounds(scoped):
    await scoped.write(CHAIN)
    assert await ranks(scoped, "Ada", method="push", max_iterations=1) == pytest.approx({"Ada": 0.15, "Bob": 0.1275})


async def test_the_best_and_all_relations_among_them(scoped):
    star = [edge("Hub", "knows", name, confidence=sure) for name, sure in (("Ada", 0.6), ("Bob", 0.9), ("Cyd", 0.8))]
    among = [edge("Bob", "likes", "Cyd"), edge("Cyd", "likes", "Bob"), edge("Ada", "likes", "Ada")]
    await scoped.write(people(*star, *among, names="Hub Ada Bob Cyd"))
    assert list(await ranks(scoped, "Hub", max_entities=3)) == ["Hub", "Bob", "Cyd"]
    result = await searched(scoped, "Hub", max_entities=3)
    shown = {(triplet.source.name, triplet.relation.type, triplet.target.name) for triplet in result.triplets}
    assert shown == {
        ("Hub", "knows", "Bob"), ("Hub", "knows", "Cyd"), ("Bob", "likes", "Cyd"), ("Cyd", "likes", "Bob"),
    }  # fmt: skip
    assert result.found == 4


async def test_hops_are_counted_and_paths_are_not_returned(scoped):
    await scoped.write(CHAIN)
    async with reading(scoped) as reader:
        found = await PersonalizedPageRank().traverse(await reader.locate([person("Ada")]), depth=1, reader=reader)
        names = [each.name for each in await scoped.get_entities(scoped.entity_ids(found.entities))]
    assert dict(zip(names, found.hops.tolist(), strict=True)) == {"Ada": 0, "Bob": 1, "Cyd": 2}
    assert scoped.entity_ids(found.seeds()) == [person("Ada")]
    assert found.path_to(0) == []
    assert found.along_paths(found.confidence, np.minimum).tolist() == [1.0, 1.0, 1.0]


async def test_equal_ranks_come_in_order_of_id(scoped):
    await scoped.write(people(*[edge("Hub", "knows", name) for name in ("Ada", "Bob", "Cyd")], names="Hub Ada Bob Cyd"))
    found = await ranks(scoped, "Hub", method="push")
    assert list(found)[1:] == sorted(("Ada", "Bob", "Cyd"), key=person)
    assert await ranks(scoped, "Hub", method="push", max_entities=2) == dict(list(found.items())[:2])


async def test_of_a_hub_the_strongest_relations_are_followed(scoped):
    star = [edge("Hub", "knows", name, confidence=sure) for name, sure in (("Ada", 0.6), ("Bob", 0.9), ("Cyd", 0.8))]
    await scoped.write(people(*star, names="Hub Ada Bob Cyd"))
    assert set(await ranks(scoped, "Hub", fan_out=2)) == {"Hub", "Bob", "Cyd"}


async def test_what_cannot_be_relied_on_at_all_leads_nowhere(scoped):
    await scoped.write(people(edge("Ada", "knows", "Bob", confidence=0.0), names="Ada Bob"))
    async with reading(scoped, min_edge_confidence=0.0) as reader:
        seeds = await reader.locate([person("Ada")])
        for method in METHODS:
            found = await PersonalizedPageRank(method=method).traverse(seeds, depth=2, reader=reader)
            assert scoped.entity_ids(found.entities) == [person("Ada")]
            assert found.rank is not None
            assert found.rank.tolist() == pytest.approx([1.0], abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
async def test_without_seeds_there_is_nothing(scoped, method):
    await scoped.write(CHAIN)
    assert await ranks(scoped, "Nobody", method=method) == {}
    result = await searched(scoped, "who?", method=method)
    assert (result.triplets, result.prompt_order) == ((), ())


# -- where it starts ----------------------------------------------------------------------------------------------


async def chances(store, *seeds, fan_out=100):
    """Where a walk starts that never goes on."""
    return await ranks(store, *seeds, restart=1.0, fan_out=fan_out)


async def test_an_anchor_that_is_everywhere_says_less(scoped):
    relations = [edge("Hub", "knows", name) for name in ("Ada", "Bob", "Cyd")]
    await scoped.write(people(*relations, names="Hub Ada Bob Cyd Dan Eve"))
    # ln(6/3) = 0.693147 and ln(6/1) = 1.791759, of 2.484907
    expected = {"Hub": 0.278942946, "Ada": 0.721057054}
    assert await chances(scoped, "Hub", "Ada") == pytest.approx(expected)
    assert await chances(scoped, "Hub", "Ada", fan_out=1) == pytest.approx(expected)  # counted beyond the fan-out


async def test_who_knows_nobody_counts_as_one_and_where_nobody_is_specific_all_are_alike(scoped):
    await scoped.write(people(edge("Ada", "knows", "Bob"), edge("Ada", "likes", "Bob"), names="Ada Bob"))
    assert await chances(scoped, "Ada", "Bob") == pytest.approx({"Ada": 0.5, "Bob": 0.5})
    await scoped.write(people(names="Cyd"))
    # ln(3/1) = 1.098612 and ln(3/2) = 0.405465, of 1.504077
    expected = {"Cyd": 0.730422696, "Ada": 0.269577304}
    assert await chances(scoped, "Ada", "Cyd") == pytest.approx(expected)


async def test_the_nearer_a_seed_the_likelier_it_is(scoped):
    await scoped.write(CHAIN)
    async with reading(scoped) as reader:
        seeds = await reader.locate([person("Ada"), person("Bob"), person("Cyd")])
    near = attrs.evolve(seeds, values=np.array([0.0, 1.0, 2.5]))
    assert starting_chances(near, np.array([1, 1, 1]), 10).tolist() == pytest.approx([2 / 3, 1 / 3, 0.0])
    assert starting_chances(near, np.array([100, 50, 10]), 10).tolist() == pytest.approx([1 / 3] * 3)


# -- how it is scored and printed ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [SearchMode.NEIGHBORHOOD, SearchMode.GRAPH_COMPLETION])
async def test_the_requested_relation_decides_and_what_is_foreign_gets_nothing(scoped, mode):
    names = [f"Crew{place}" for place in range(12)]
    rows = [edge("Hub", "employs", name) for name in names]
    rows += [edge("Hub", "insured_by", "Ida"), edge("Ida", "lives_in", "Jena"), edge("Kim", "sings_in", "Jena")]
    await scoped.write(people(*rows, names=" ".join(["Hub Ida Jena Kim", *names])))
    await scoped.bind_embedder(meaning().name, meaning().dimensions)
    found = await searched(scoped, "who is Hub insured by?", mode=mode, embedder=meaning())
    assert found.triplets[0].relation.type == "insured_by"
    assert found.prompt_order is not None
    for foreign in ("what does Hub sing in?", "where does Hub live?"):
        assert not (await searched(scoped, foreign, mode=mode, embedder=meaning())).triplets
    around = await searched(scoped, "Hub", mode=mode, embedder=meaning())
    assert around.triplets[0].relation.type == "insured_by"  # the others are employed like eleven more


@pytest.mark.parametrize("mode", [SearchMode.NEIGHBORHOOD, SearchMode.GRAPH_COMPLETION])
async def test_proximity_is_the_harmonic_mean_of_ranks_over_the_largest_and_strength_that_of_the_relation_alone(
    scoped, mode
):
    embedder = HashEmbedder(16)
    relations = [edge("Ada", "knows", "Bob", confidence=0.6), edge("Bob", "knows", "Cyd", confidence=0.9)]
    given_ = people(*relations, names="Ada Bob Cyd")
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    await scoped.write(attrs.evolve(given_, vectors={person("Ada"): embedder.vector("Ada")}))
    result = await searched(scoped, "Ada", mode=mode, embedder=embedder)
    # Bob follows them 0.6 : 0.9, so a = 0.15 + 0.34 b, b = 0.85 (a + c), c = 0.51 b: b is the largest, 0.459459, and
    # a 0.666471 of it. The means are 2 · 0.666471 / 1.666471 and 2 · 0.51 / 1.51; times the confidence that is a score.
    by_source = {each.source.name: each for each in result.triplets}
    ada, bob = by_source["Ada"], by_source["Bob"]
    assert (ada.breakdown.proximity, bob.breakdown.proximity) == pytest.approx((0.799859, 0.675497), rel=1e-4)
    assert (ada.breakdown.confidence, bob.breakdown.confidence) == (0.6, 0.9)
    assert (ada.score, bob.score) == pytest.approx((0.479915, 0.607947), rel=1e-4)
    assert [each.path for each in result.triplets] == [(), ()]


async def causal(store):
    """A chain of causes with a way back that is less sure, and one relation that is no cause."""
    await store.register_types([RelationType(name="causes", causal=True)])
    relations = [
        edge("Rain", "causes", "Flood", confidence=0.9),
        edge("Storm", "causes", "Rain", confidence=0.8),
        edge("Flood", "causes", "Storm", confidence=0.6),
        edge("Flood", "knows", "Storm", confidence=0.9),
    ]
    await store.write(people(*relations, names="Storm Rain Flood"))


async def test_causes_are_printed_before_effects(scoped):
    await causal(scoped)
    result = await searched(scoped, "the flood")
    assert result.prompt_order is not None
    printed = [result.triplets[place] for place in result.prompt_order]
    printed_triplets = [(each.source.name, each.relation.type, each.target.name) for each in printed]
    assert printed_triplets[:2] == [("Storm", "causes", "Rain"), ("Rain", "causes", "Flood")]
    assert set(printed_triplets[2:]) == {("Flood", "causes", "Storm"), ("Flood", "knows", "Storm")}
    scores = [each.score for each in result.triplets]
    assert scores == sorted(scores, reverse=True)
    engine = GraphSearchEngine(store=scoped)
    assert (await engine.search("the flood", mode=SearchMode.NEIGHBORHOOD)).prompt_order is None


async def test_a_block_is_selected_by_score_and_printed_in_order(scoped):
    await causal(scoped)
    engine = GraphSearchEngine(store=scoped, traversal=PersonalizedPageRank())
    builder = ContextBuilder(engine, counter=WordCounter())
    ada = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=(scoped.scope,)))

    async def lines(budget):
        block = await builder.build("the flood", gate=ada, session_id="s", budget=budget, mode=SearchMode.NEIGHBORHOOD)
        assert block.tokens <= budget
        assert block.text.splitlines()[1:] == [triplet_line(triplet) for triplet in block.triplets]
        return block.text.splitlines()[1:]

    everything = await lines(100)
    assert everything[:2] == ["- Storm --causes--> Rain", "- Rain --causes--> Flood"]
    result = await engine.search("the flood", mode=SearchMode.NEIGHBORHOOD)
    best = {f"- {each.source.name} --{each.relation.type}--> {each.target.name}" for each in result.triplets[:2]}
    few = await lines(15)
    assert set(few) == best
    assert few == [line for line in everything if line in best]


# -- promises -----------------------------------------------------------------------------------------------------


async def answer(store, gate, query, mode, method):
    """What is shown, and the order in which it is printed. Ids depend on periods, some of them hidden."""
    result = await searched(store, query, mode=mode, embedder=EMBEDDER, gate=gate, method=method)
    scores = {triplet_line(each): each.score for each in result.triplets}
    assert result.prompt_order is not None
    printed = [result.triplets[place] for place in result.prompt_order]
    return scores, [(each.source.name, each.target.name) for each in printed]


@given(
    graphs,
    st.booleans(),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    st.sampled_from([SearchMode.GRAPH_COMPLETION, SearchMode.NEIGHBORHOOD]),
    st.sampled_from(METHODS),
)
@examples(60)
async def test_what_is_hidden_shapes_nothing_that_is_shown(graph, by_signature, names, mode, method):
    stores = InMemoryGraphStore(clock=FixedClock())
    everything = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    without = stores.with_scope(org_id="acme", project_id=str(uuid4()))
    hidden = [name for name, labels in graph["people"].items() if labels]
    for store, secrets in ((everything, True), (without, False)):
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(batch(graph, secrets=secrets))
    # the N of a scope is the only number that may depend on what is hidden
    await without.write(Batch(entities=[Entity(type="tool", name=f"Filler {number}") for number in range(len(hidden))]))
    query = f"what of {' and '.join(names)}?"
    scores, order = await answer(everything, no_secrets(by_signature=by_signature), query, mode, method)
    expected, expected_order = await answer(without, None, query, mode, method)
    assert (scores, order) == (pytest.approx(expected, abs=1e-9), expected_order)


@POLICIES
@pytest.mark.parametrize("method", METHODS)
async def test_the_walk_passes_through_nothing_hidden(scoped, by_signature, method):
    known = {("Ada", "knows", "Bob"): (0.9, ()), ("Bob", "knows", "Cyd"): (0.9, ()), ("Ada", "knows", "Dan"): (0.6, ())}
    secret = {name: ("secret",) if name == "Bob" else () for name in NAMES}
    graph = {"people": secret, "edges": known, "stated": [], "called": []}
    await scoped.write(attrs.evolve(batch(graph, secrets=True), vectors={}))
    assert set(await ranks(scoped, "Ada", method=method)) == {"Ada", "Bob", "Cyd", "Dan"}
    assert set(await ranks(scoped, "Ada", method=method, gate=no_secrets(by_signature=by_signature))) == {"Ada", "Dan"}


async def test_both_methods_agree_on_the_best_twenty():
    """As in docs/project/details/traversal.md: 18 of 20 are equal, and r differs by at most a tenth of the largest."""
    random = np.random.default_rng(7)
    names = [f"P{number}" for number in range(400)]
    pairs = {(int(near), int(far)) for near, far in random.integers(0, 400, (1600, 2)) ** 2 // 400 if near != far}
    relations = [
        edge(names[near], "knows", names[far], confidence=0.5 + (near % 5) / 10) for near, far in sorted(pairs)
    ]
    store = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="web")
    await store.write(people(*relations, names=" ".join(names)))
    shared = []
    for start in range(0, 100, 10):
        power = await ranks(store, *names[start : start + 5], method="power")
        push = await ranks(store, *names[start : start + 5], method="push")
        shared.append(len(set(power) & set(push)))
        largest = max(power.values())
        assert all(abs(power[name] - push[name]) <= 0.1 * largest for name in set(power) & set(push))
    assert min(shared) >= 18


def test_numbers_are_checked():
    with pytest.raises(InvalidInputError) as error:
        PersonalizedPageRank(restart=0.0, tolerance=0.0, max_iterations=0, max_entities=0, method="pull", fan_out=0)  # type: ignore[arg-type]
    assert len(error.value.faults) == 6
