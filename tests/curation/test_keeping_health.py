"""Health is stored with a graph that has changed enough, and weighs it in recall and blocks by itself."""

import pytest

from graphsearch.access.gate import Gate
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.health.keeping import LARGE, has_changed
from graphsearch.ingest import Ingestor
from graphsearch.model import Batch, Memory
from graphsearch.testing.samples import mention, person
from tests.curation.team import GREG, SECRET, Labels, engine_over
from tests.curation.transcripts import CLINIC, chat


@pytest.mark.parametrize(
    ("size", "before", "changed"),
    [
        *((9, None, False), (10, None, True), (12, 10, False), (13, 10, True), (8, 10, True), (9, 10, False)),
        *((4, 3, False), (LARGE * 2 - 1, LARGE, False), (LARGE * 2, LARGE, True), (LARGE, LARGE * 2, True)),
    ],
)
def test_how_much_is_enough(size, before, changed):
    assert has_changed(size, before) == changed


@pytest.mark.parametrize("fragmented", [False, True])
async def test_a_graph_counts_in_recall_as_its_health_says(scoped, fragmented):
    engine = GraphSearchEngine(store=scoped)
    lines = chat(CLINIC, fragmented=fragmented)
    await Ingestor(engine).remember(lines[:1])
    assert await scoped.health_history() == ()  # too small to have been measured
    assert (await engine.recall("who works with Karin Berg?")).health is None
    await Ingestor(engine).remember(lines)
    [known] = await scoped.health_history()
    found = await engine.recall("who works with Karin Berg?")
    assert found.health == known.value
    full = (await engine.recall("who works with Karin Berg?", health=1.0)).weights["graph"]
    assert found.weights["graph"] == pytest.approx(full * min(1.0, known.value / 0.70))
    assert found.weights["graph"] > 0
    assert (found.weights["graph"] == full) is not fragmented
    health = await Curator(engine).graph_health()
    assert health.value == known.value
    assert health.entity_growth is None  # nothing to compare with
    await Ingestor(engine).remember(lines)
    assert list(await scoped.health_history()) == [known]


def people(number):
    return [person(f"{given} {surname}") for given in ("Ada", "Bruno", "Celia") for surname in SURNAMES[:number]]


SURNAMES = ("Abara", "Dimov", "Garza", "Jelinek", "Mbeki", "Petit", "Santos", "Varga")


async def grown(store, number, *, labels=()):
    """A graph in which there are three people with each of some surnames, every one with a memory."""
    memories = [Memory(id=each.name, labels=labels) for each in people(number)]
    mentions = [mention(memory, each) for memory, each in zip(memories, people(number), strict=True)]
    return await engine_over(store, Batch(entities=people(number), memories=memories, mentions=mentions))


async def test_growth_is_compared_with_what_was_counted_earlier(scoped):
    curator = Curator(await grown(scoped, 4))
    assert (await curator.graph_health()).entity_growth is None
    await grown(scoped, 5)
    assert (await curator.graph_health()).entity_growth == 1.0
    assert any("grow as fast" in each for each in (await curator.graph_health()).warnings)
    await scoped.write(Batch(memories=[Memory(id=f"m{number}") for number in range(12)]))
    assert (await curator.graph_health()).entity_growth == 0.0  # since the second count


async def test_what_is_hidden_does_not_weigh_the_graph(scoped):
    engine = await grown(scoped, 4)
    same = [person(each.name.replace("a ", "ah ")) for each in people(4)]
    await scoped.write(Batch(entities=same, memories=[Memory(id="secret", labels=(SECRET,))]))
    health = await Curator(engine).graph_health()
    assert health.value < 0.70
    assert (await engine.recall("Ada Dimov")).health == pytest.approx(health.value)
    for by_signature in (False, True):
        authorizer = Labels()
        authorizer.by_signature = by_signature
        assert (await engine.recall("Ada Dimov", gate=Gate(authorizer, GREG))).health is None
    other = Labels("nobody has this")
    other.by_signature = True
    assert (await engine.recall("Ada Dimov", gate=Gate(other, GREG))).health == pytest.approx(health.value)


async def test_blocks_give_a_poor_graph_less_of_their_budget(scoped):
    engine = GraphSearchEngine(store=scoped)
    await Ingestor(engine).remember(chat(CLINIC, fragmented=True))
    authorizer = Labels("nobody has this")
    authorizer.by_signature = True
    gate = Gate(authorizer, GREG)
    texts = {}
    for health in (None, 1.0, (await scoped.health_history())[-1].value):
        block = await ContextBuilder(engine).build(
            "Karin Berg", gate=gate, session_id="s", budget=150, health=health, mode="neighborhood"
        )
        texts[health] = block.text
    by_itself, _, stated = texts.values()
    assert by_itself == stated


async def test_a_poor_graph_recovers_when_its_names_are_put_right(scoped):
    engine = await grown(scoped, 4)
    same = [person(each.name.replace("a ", "ah ")) for each in people(4)]
    await scoped.write(Batch(entities=same))
    curator = Curator(engine)
    poor = (await curator.graph_health()).value
    assert poor is not None
    assert poor < 0.70
    for pair in await curator.find_duplicates(limit=50):
        await curator.mark_distinct(pair.one.id, pair.other.id)
    health = (await engine.recall("Ada Dimov")).health
    assert health is not None
    assert health >= 0.70  # no longer poor, and not measured since
