"""Health: its formula, bounds, message and warnings, and its counts of a stored graph."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.health.formula import Condition, Growth, HealthCounts, Maturity, graph_health
from graphsearch.ingest import Ingestor
from graphsearch.model import Batch, Entity, Memory
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import claim, mention, person
from tests.curation.team import ADA, engine_over
from tests.curation.transcripts import CLINIC, FILM, FREIGHT, SOFTWARE, chat


def test_the_steps_that_would_improve_it_add_up_to_what_they_would_take_away():
    counts = HealthCounts(
        memories=1000, entities=100, duplicate_pairs=10, mentions_resolved=50, mentions_disputed=10, relations=20
    )
    health = graph_health(counts)
    assert health.counts == counts
    assert [(each.kind, each.count) for each in health.steps] == [("settle_mentions", 10), ("settle_duplicates", 10)]
    settled = (attrs.evolve(counts, mentions_disputed=0), attrs.evolve(counts, duplicate_pairs=0))
    for step, done in zip(health.steps, settled, strict=True):
        assert graph_health(done).value == pytest.approx(health.value + step.adds)
    bare = attrs.evolve(counts, relations=3)
    (step,) = graph_health(bare).steps  # as long as there are too few relations, nothing else helps
    assert (step.kind, step.count) == ("add_relations", 8)
    assert step.adds == pytest.approx(health.value)
    assert graph_health(HealthCounts(memories=0, entities=0)).steps == ()


@st.composite
def counted(draw):
    resolved = draw(st.integers(0, 500))
    return HealthCounts(
        memories=draw(st.integers(0, 5000)),
        entities=draw(st.integers(0, 500)),
        duplicate_pairs=draw(st.integers(0, 600)),
        mentions_resolved=resolved,
        mentions_disputed=draw(st.integers(0, resolved)),
        relations=draw(st.none() | st.integers(0, 30)),
        earlier=draw(st.builds(Growth, memories=st.integers(0, 5000), entities=st.integers(0, 500))),
    )


def test_the_formula():
    health = graph_health(
        HealthCounts(
            memories=1000,
            entities=200,
            duplicate_pairs=10,
            mentions_resolved=1000,
            mentions_disputed=400,
            relations=11,
        )
    )
    assert (health.fragment_rate, health.edge_coverage) == (0.05, 1.0)
    assert health.resolution_precision == pytest.approx(0.6)
    assert health.value == pytest.approx(0.57)  # 0.95 · 0.6
    assert health.graph_weight_factor == pytest.approx(0.814285714)  # 0.57 of 0.7


def test_where_there_is_nothing_to_divide_by_a_term_is_1():
    health = graph_health(HealthCounts(memories=0, entities=0))
    assert (health.value, health.resolution_precision, health.edge_coverage) == (1.0, 1.0, 1.0)
    assert (health.fragment_rate, health.graph_weight_factor, health.entity_growth) == (0.0, 1.0, None)
    assert graph_health(HealthCounts(memories=9, entities=5, mentions_resolved=9)).resolution_precision == 1.0
    for memories, relations, coverage in ((500, 0, 1.0), (501, 10, 0.0), (501, 11, 1.0)):
        counts = HealthCounts(memories=memories, entities=5, relations=relations)
        assert graph_health(counts).edge_coverage == coverage


def test_terms_are_clamped():
    health = graph_health(
        HealthCounts(
            memories=10,
            entities=20,
            duplicate_pairs=30,
            mentions_resolved=4,
            mentions_disputed=4,
        )
    )
    assert (health.fragment_rate, health.resolution_precision, health.value) == (1.0, 0.0, 0.0)
    assert health.graph_weight_factor == 0.0


@pytest.mark.parametrize(
    ("pairs", "condition", "factor"),
    [
        (14, Condition.GOOD, 1.0),
        (15, Condition.FAIR, 1.0),
        (30, Condition.FAIR, 1.0),
        (31, Condition.POOR, 0.985714286),  # 0.69 of 0.7
        (65, Condition.POOR, 0.5),
    ],
)
def test_conditions(pairs, condition, factor):
    health = graph_health(HealthCounts(memories=2000, entities=100, duplicate_pairs=pairs))
    assert health.condition is condition
    assert health.graph_weight_factor == pytest.approx(factor)
    assert any("counts less in recall" in warning for warning in health.warnings) == (condition is Condition.POOR)


@pytest.mark.parametrize(
    ("memories", "maturity"),
    [
        (0, Maturity.SPARSE),
        (499, Maturity.SPARSE),
        (500, Maturity.GROWING),
        (1999, Maturity.GROWING),
        (2000, Maturity.RELIABLE),
    ],
)
def test_the_message_states_the_maturity_of_a_graph(memories, maturity):
    health = graph_health(HealthCounts(memories=memories, entities=10))
    assert health.maturity is maturity
    assert health.message.startswith(f"{maturity}: {memories} memories")
    assert health.message.endswith("health 1.00 is good")


@pytest.mark.parametrize(
    ("entities", "earlier", "growth", "warned"),
    [
        (600, Growth(), 0.6, False),
        (1000, Growth(), 1.0, True),
        (600, Growth(memories=900, entities=400), 2.0, True),
        (600, Growth(memories=900, entities=590), 0.1, False),
        (600, Growth(memories=1000, entities=100), None, False),
    ],
)
def test_entities_that_grow_as_fast_as_memories_are_warned_of(entities, earlier, growth, warned):
    health = graph_health(HealthCounts(memories=1000, entities=entities, earlier=earlier))
    assert health.entity_growth == (None if growth is None else pytest.approx(growth))
    assert any("grow as fast" in warning for warning in health.warnings) == warned


@given(counted())
def test_everything_stays_in_the_unit_interval(counts):
    health = graph_health(counts)
    terms = (health.fragment_rate, health.resolution_precision, health.edge_coverage)
    assert all(0 <= each <= 1 for each in (*terms, health.value, health.graph_weight_factor))
    assert health.value <= min(1 - health.fragment_rate, health.resolution_precision, health.edge_coverage)


@given(counted(), st.integers(0, 50))
def test_more_duplicates_are_never_healthier(counts, more):
    worse = attrs.evolve(counts, duplicate_pairs=counts.duplicate_pairs + more)
    assert graph_health(worse).value <= graph_health(counts).value


@given(counted(), st.integers(0, 50))
def test_more_disputed_resolutions_are_never_healthier(counts, more):
    disputed = min(counts.mentions_resolved, counts.mentions_disputed + more)
    assert graph_health(attrs.evolve(counts, mentions_disputed=disputed)).value <= graph_health(counts).value


@pytest.mark.parametrize(("entities", "small"), [(0, True), (9, True), (10, False), (40, False)])
def test_a_small_graph_is_not_judged(entities, small):
    health = graph_health(HealthCounts(memories=30, entities=entities, duplicate_pairs=entities))
    assert (health.condition is Condition.TOO_SMALL) == small
    assert (health.graph_weight_factor == 1.0) == small
    assert ("too small to judge" in health.message) == small
    assert (health.warnings == ()) == small


@given(counted())
def test_a_graph_without_relations_is_never_healthier(counts):
    assert graph_health(attrs.evolve(counts, relations=0)).value <= graph_health(counts).value


async def test_health_is_counted_from_the_store(scoped):
    alike = [person("Christopher Montgomery"), person("Christopher Montgomerys"), person("Somebody Else")]
    counters = {"resolved_by_id": 10, "entities_created": 2}
    batch = Batch(entities=[*alike, ADA], memories=[Memory(id="m")], counters=counters)
    curator = Curator(await engine_over(scoped, batch))
    health = await curator.graph_health()
    assert health.fragment_rate == pytest.approx(1 / 4)
    assert health.value == pytest.approx(0.75)
    assert (health.maturity, health.entity_growth, health.edge_coverage) == (Maturity.SPARSE, None, 1.0)
    await curator.mark_distinct(alike[0].id, alike[1].id)
    assert (await curator.graph_health()).value == 1.0


async def test_more_pairs_than_entities_are_no_worse_than_all(scoped):
    alike = [person(f"Christopher Bartholomew Montgomery Wellington {number}") for number in range(6)]
    health = await Curator(await engine_over(scoped, Batch(entities=alike))).graph_health()
    assert health.fragment_rate == 1.0


async def test_many_memories_without_relations_are_not_healthy(scoped):
    engine = await engine_over(scoped, Batch(memories=[Memory(id=f"m{number}") for number in range(501)]))
    assert (await Curator(engine).graph_health()).edge_coverage == 0.0
    people = [person(f"P{number}") for number in range(12)]
    told = Memory(id="m0")
    claims = [claim(told, people[0], other) for other in people[1:]]
    await scoped.write(Batch(entities=people, memories=[told], claims=claims))
    assert (await Curator(engine).graph_health()).edge_coverage == 1.0


JON, JOHN, PRIYA, PATEL, SHARMA = (
    person(each) for each in ("Jon Smith", "John Smith", "Priya", "Priya Patel", "Priya Sharma")
)


async def spoken_of(store, *people):
    """A curator of a graph in which each of some people is mentioned as often as stated."""
    written = [(Memory(id=f"{each.id} {number}"), each) for each, times in people for number in range(times)]
    memories, mentions = [memory for memory, _ in written], [mention(*each) for each in written]
    counters = {"resolved_by_id": len(mentions)}
    batch = Batch(entities=[each for each, _ in people], memories=memories, mentions=mentions, counters=counters)
    return Curator(await engine_over(store, batch))


async def test_mentions_of_duplicates_are_disputed_until_they_are_merged(scoped):
    curator = await spoken_of(scoped, (JON, 6), (JOHN, 2), (ADA, 2))
    health = await curator.graph_health()
    assert (health.fragment_rate, health.resolution_precision) == (pytest.approx(1 / 3), pytest.approx(0.8))
    merge = await curator.merge_entities(JOHN.id, JON.id)
    assert (await curator.graph_health()).value == 1.0
    await curator.undo_merge(merge.id)
    await curator.mark_distinct(JON.id, JOHN.id)
    health = await curator.graph_health()
    assert (health.fragment_rate, health.resolution_precision) == (0.0, pytest.approx(0.8))  # the merge was wrong
    merge = await curator.merge_entities(JOHN.id, JON.id)
    assert (await curator.graph_health()).resolution_precision == 1.0


async def test_names_that_fit_several_are_disputed(scoped):
    curator = await spoken_of(scoped, (PRIYA, 3), (PATEL, 4), (SHARMA, 5))
    health = await curator.graph_health()
    assert (health.fragment_rate, health.resolution_precision) == (0.0, pytest.approx(0.75))


async def test_one_name_of_two_types_is_disputed_and_no_fragment(scoped):
    curator = await spoken_of(
        scoped, (Entity(type="organisation", name="Acme"), 3), (Entity(type="tool", name="ACME"), 1)
    )
    health = await curator.graph_health()
    assert (health.fragment_rate, health.resolution_precision) == (0.0, pytest.approx(0.75))


async def test_code_is_never_a_duplicate(scoped):
    code = [Entity(type="function", name=f"store.{owner}.read_elements") for owner in ("Memory", "Memories", "Memorys")]
    dates = [Entity(type=kind, name=f"2024-04-1{day}") for kind in ("date", "quantity") for day in range(5)]
    curator = Curator(await engine_over(scoped, Batch(entities=[*code, *dates, ADA])))
    assert await curator.find_duplicates(threshold=0.6) == ()
    health = await curator.graph_health()
    assert health.value == 1.0
    assert "1 entities" in health.message


@pytest.mark.parametrize("text", [SOFTWARE, CLINIC, FILM, FREIGHT], ids=["software", "clinic", "film", "freight"])
async def test_chats_with_one_name_for_everything_and_with_several(text):
    found = {}
    for fragmented in (False, True):
        store = InMemoryGraphStore().with_scope(org_id="acme", project_id=str(fragmented))
        engine = GraphSearchEngine(store=store)
        await Ingestor(engine).remember(chat(text, fragmented=fragmented))
        found[fragmented] = await Curator(engine).graph_health()
    assert found[False].value > 0.9
    assert found[False].condition is Condition.GOOD
    assert found[False].graph_weight_factor == 1.0
    assert found[True].value < found[False].value - 0.1
    assert found[True].graph_weight_factor == pytest.approx(min(1.0, found[True].value / 0.70))
