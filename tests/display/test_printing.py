"""What `print` shows of answers: the question, a line about the answer, and aligned columns."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.display.printing import WIDTH, text_table
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, ElementKind, ElementRef, Entity, Memory, Mention, Principal, Relation
from graphsearch.modes.result import SearchMode, Sentence, Source, Summary
from graphsearch.traversal.paths import KHopTraversal
from tests.exporting.answers import HOSTILE, LED, MOVED, team
from tests.graphs import days_ago, edge, people, person

HOPS = SearchMode.NEIGHBORHOOD


def test_columns_are_aligned_and_cut():
    shown = text_table(["score", "name", "text"], [("0.5000", "Ada", "short"), ("0.1", "B" * 40, "long " * 40)])
    assert shown.splitlines() == [
        f"score   {'name':28}  text",
        f"0.5000  {'Ada':28}  short",
        f"0.1     {'B' * 27}…  {('long ' * 40)[:79]}…",
    ]
    assert max(map(len, shown.splitlines())) == WIDTH
    assert text_table(["score"], []) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_stored_text_stays_in_its_cell(text):
    head, line = text_table(["name", "fact"], [(text, text)]).split("\n") or ("", "")
    assert head.split() == ["name", "fact"]
    assert line.isprintable()
    assert not {"<", ">"} & {*line}


async def test_a_search_is_a_table_of_triplets():
    found = await (await team()).search("where does Ada work?", mode=HOPS)
    question, about, head, *rows = str(found).splitlines()
    assert question == "where does Ada work?"
    assert about == f"neighborhood, as of 2026-01-15; {len(found.triplets)} of the {found.found} relations found"
    assert head.split() == ["score", "source", "relation", "target", "fact"]
    assert [float(row.split()[0]) for row in rows] == pytest.approx([each.score for each in found.triplets], abs=1e-4)
    best = found.triplets[0]
    assert rows[0].split()[1:4] == [best.source.name, best.relation.type, best.target.name]


async def test_a_summary_comes_before_the_table_and_a_reason_in_its_place():
    found = await (await team()).search("Ada", mode=HOPS)
    summary_of_one = Summary(sentences=(Sentence(text="Ada works.", sources=()),), sources=())
    assert str(attrs.evolve(found, summary=summary_of_one)).splitlines()[2] == summary_of_one.text
    source = Source(number=2, element=ElementRef(ElementKind.RELATION, str(LED.id)), line="- Bob --reports_to--> Ada")
    cited = Summary(sentences=(Sentence(text="Bob reports to Ada.", sources=(source,)),), sources=(source,))
    lines = str(attrs.evolve(found, summary=cited)).splitlines()
    assert lines[2:4] == ["Bob reports to Ada. [2]", "[2] Bob --reports_to--> Ada"]
    nothing = await (await team()).search("weather", mode=HOPS)
    assert str(nothing).splitlines()[2:] == [nothing.reason]
    hidden = attrs.evolve(nothing, denied={ElementKind.ENTITY: 2})
    assert str(hidden).splitlines()[1].endswith("; 2 hidden by policy (2 entity)")


async def test_a_recall_is_a_table_of_memories():
    found = await (await team()).recall("where does Ada work at Globex?")
    _, about, head, first, _ = str(found).splitlines()
    assert about == "2 of the 2 memories found"
    assert head.split() == ["score", "when", "who", "memory"]
    assert first.startswith(f"{found.memories[0].score:.4f}")
    assert first.endswith("Ada works at Globex.")


async def test_a_ranking_is_a_table_of_entities():
    found = await (await team()).rank_entities("who is Ada?")
    _, about, head, first, *_ = str(found).splitlines()
    assert about.startswith("question_aware, as of 2026-01-15; ")
    assert head.split() == ["score", "entity", "type", "connected", "with"]
    assert first.split()[:3] == [f"{found.entities[0].score:.4f}", found.entities[0].entity.name, "person"]


async def test_blocks_paths_graphs_explanations_and_health_print_as_text():
    engine = await team()
    ada = Principal(id="ada", projects=[engine.store.scope])
    gate = Gate(CedarAuthorizer.default(), ada)
    block = await ContextBuilder(engine).build("where does Ada work?", gate=gate, session_id="s", mode=HOPS)
    assert str(block) == block.text != ""
    notebook = block._repr_mimebundle_()["text/plain"]
    assert notebook.startswith(f"{block.text}\n{block.tokens} of {block.budget} tokens; ")
    assert str(await engine.path("Globex", "Bob")) == "Globex <--works_at-- Ada <--reports_to-- Bob"
    graph = await Curator(engine).entity_graph("Ada")
    about, head, *rows = str(graph).splitlines()
    assert (about, head.split()[:3]) == ("3 entities, 2 relations", ["source", "relation", "target"])
    assert sorted(row.split()[:3] for row in rows) == [["Ada", "works_at", "Globex"], ["Bob", "reports_to", "Ada"]]
    assert graph._repr_mimebundle_() == {"text/plain": str(graph)}
    alone = str(await Curator(engine).entity_graph("Ada", depth=0))
    assert alone.splitlines() == ["1 entities, 0 relations", "without a relation: Ada (person)"]
    for id_ in (MOVED.id, LED.id):
        why = await engine.explain("Ada", id_, mode=HOPS)
        assert str(why).splitlines()[-1] == f"  score: {why.score:.4f}"
    health = await Curator(engine).graph_health()
    assert str(health).splitlines()[:2] == [health.message, f"  fragment rate {health.fragment_rate:.4f}"]


async def test_a_search_shows_what_connects_its_names():
    engine = await team()
    await engine.store.write(people(edge("Cyd", "likes", "Bob"), names="Cyd"))
    found = await engine.search("what do Ada and Cyd share?", mode=HOPS)
    assert "Bob, 0.6000: Ada <--reports_to-- Bob; Cyd --likes--> Bob" in str(found).splitlines()


async def test_whatever_was_stored_nothing_that_moves_a_cursor_or_hides_text_is_printed():
    engine = await team()
    entities = [Entity(type="person", name=text, description=text) for text in HOSTILE]
    relations = [
        Relation(
            source_id=person("Ada"),
            type=f"knows {text[:100]}",
            target_id=entity.id,
            fact=text,
            supported_at=days_ago(0),
        )
        for text, entity in zip(HOSTILE, entities, strict=True)
    ]
    memories = [
        Memory(id=f"h{row}", text=text, speaker=text, occurred_at=days_ago(1)) for row, text in enumerate(HOSTILE)
    ]
    mentions = [Mention(memory_id=each.id, entity_id=person("Ada"), surface="Ada") for each in memories]
    unique = {entity.id: entity for entity in entities}
    await engine.store.write(
        Batch(entities=tuple(unique.values()), relations=relations, memories=memories, mentions=mentions)
    )
    engine = GraphSearchEngine(store=engine.store, traversal=KHopTraversal(fan_out=200))
    question = f"what does Ada know of {' '.join(HOSTILE)[:5000]}"
    search = await engine.search(question, mode=HOPS, limit=200)
    assert len(search.triplets) > len(HOSTILE) * 0.9  # some have the same normalised name
    values = [
        search,
        await engine.recall(question, limit=200),
        await engine.rank_entities(question, limit=200),
        await Curator(engine).entity_graph("Ada", limit=500),
        *[await engine.explain(question, each.relation.id, mode=HOPS) for each in search.triplets[:3]],
    ]
    for value in values:
        assert not {"\u202e", "\x1b", "\x01", "\u200b"} & {*value._repr_mimebundle_()["text/plain"]}
