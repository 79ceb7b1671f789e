"""What notebooks show of answers, and that no text becomes a part of a page."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.display.pages import LONGEST, bar, block, element, page, quiet, table
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, ElementKind, ElementRef, Entity, Memory, Mention, Principal, Relation
from graphsearch.modes.options import SearchMode
from graphsearch.modes.result import Sentence, Source, Summary
from graphsearch.traversal.k_hop import KHopTraversal
from tests.display.reading import Page
from tests.exporting.answers import HOSTILE, LED, MOVED, anything, team
from tests.graphs import days_ago, edge, people, person

HOPS = SearchMode.NEIGHBORHOOD


async def block_of(engine, question="where does Ada work?", **options):
    ada = Gate(CedarAuthorizer.default(), Principal(id="ada", projects=[engine.store.scope]))
    builder = ContextBuilder(engine)
    return await builder.build(question, gate=ada, session_id="s", mode=HOPS, **options)


def shown(value):
    """A value's page, once both hooks of notebooks say the same; and its text."""
    bundle = value._repr_mimebundle_()
    assert bundle["text/html"] == value._repr_html_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert value._repr_mimebundle_(include={"text/plain"}, exclude=None) == bundle
    return Page(bundle["text/html"]), bundle["text/plain"]


async def test_a_search_shows_triplets_with_the_parts_of_their_scores():
    found = await (await team()).search("Ada", mode=HOPS)
    page, text = shown(found)
    assert "neighborhood, as of 2026-01-15; 2 of the 2 relations found" in page.text
    best = found.triplets[0].breakdown
    parts = f"proximity {best.proximity_part:.4f} + importance {best.importance_part:.4f}"
    assert page.titles[0] == f"{parts} + feedback {best.feedback_part:.4f}"
    assert page.texts[-8:-4] == ["Ada", "works_at", "Globex", "Ada works at Globex."] or "works_at" in page.texts
    assert text.splitlines() == [
        "- Ada --works_at--> Globex — Ada works at Globex.",
        "- Bob --reports_to--> Ada",
    ]


async def test_a_search_shows_what_connects_its_names():
    engine = await team()
    await engine.store.write(people(edge("Cyd", "likes", "Bob"), names="Cyd"))
    page, _ = shown(await engine.search("what do Ada and Cyd share?", mode=HOPS))
    assert "Bob, 0.6000: Ada <--reports_to-- Bob; Cyd --likes--> Bob" in page.texts


async def test_a_summary_is_shown_with_what_it_cites():
    found = await (await team()).search("Ada", mode=HOPS)
    lines = ("- Ada --works_at--> Globex", "- Bob --reports_to--> Ada")
    relation = ElementRef(ElementKind.RELATION, str(MOVED.id))
    sources = tuple(Source(number=row, element=relation, line=line) for row, line in enumerate(lines, 1))
    cited = Summary(sentences=(Sentence(text="Bob reports to <b>Ada</b>.", sources=sources[1:]),), sources=sources)
    page, text = shown(attrs.evolve(found, summary=cited))
    assert text == "Bob reports to <b>Ada</b>. [2]"
    assert page.texts[2:4] == [text, "[2] Bob --reports_to--> Ada"]
    assert "[1] Ada --works_at--> Globex" not in page.texts
    block = attrs.evolve(await block_of(await team()), summary=cited)
    page, text = shown(block)
    assert page.texts[1] == cited.text
    assert text == block.text  # a prompt has the text alone


async def test_what_was_not_found_and_what_was_hidden_is_reported():
    found = await (await team()).search("weather", mode=HOPS)
    page, text = shown(found)
    assert text == found.reason != ""
    assert found.reason in page.text
    hidden = attrs.evolve(found, denied={ElementKind.ENTITY: 2, ElementKind.RELATION: 0, ElementKind.MEMORY: 1})
    assert "; 3 hidden by policy (2 entity, 1 memory)" in shown(hidden)[0].text


async def test_a_recall_shows_memories_with_what_each_channel_gave():
    found = await (await team()).recall("where does Ada work at Globex?")
    page, text = shown(found)
    assert "2 of the 2 memories found" in page.text
    first = found.memories[0]
    assert page.titles[0] == " + ".join(f"{name} {part.contribution:.4f}" for name, part in first.channels.items())
    assert {"Bob", "Ada works at Globex.", "Places"} < set(page.texts)
    assert text.splitlines()[0].endswith("Bob: Ada works at Globex.")
    nothing = await (await team()).recall("weather")
    assert shown(nothing)[1] == nothing.reason != ""


async def test_a_ranking_shows_entities_with_their_factors():
    found = await (await team()).rank_entities("who is Ada?")
    page, text = shown(found)
    assert found.entities[0].factors[0].name in page.titles[0]
    assert "Ada" in page.texts
    assert text.splitlines()[0] == f"- {found.entities[0].entity.name} (person)"


async def test_a_path_shows_each_relation_in_its_direction():
    page, text = shown(await (await team()).path("Globex", "Bob"))
    assert text == page.texts[0] == "Globex <--works_at-- Ada <--reports_to-- Bob"
    assert shown(await (await team()).path("Bob", "Globex"))[1] == "Bob --reports_to--> Ada --works_at--> Globex"


async def test_a_block_is_shown_as_the_prompt_has_it():
    engine = await team()
    block = await block_of(engine)
    page, text = shown(block)
    assert text == page.texts[0] == block.text
    assert f"{block.tokens} of {block.budget} tokens" in page.text
    assert shown(await block_of(engine, budget=0))[1] == ""


@pytest.mark.parametrize(
    ("element", "name"),
    [
        (MOVED.id, "Ada --works_at--> Globex"),
        (LED.id, "Bob --reports_to--> Ada"),
        ("m1", "Bob: Ada works at Globex."),
        (ElementRef(ElementKind.ENTITY, "Ada"), "Ada"),
    ],
)
async def test_an_explanation_shows_factors_that_add_up(element, name):
    mode = HOPS if element in (MOVED.id, LED.id) else None
    why = await (await team()).explain("Ada", element, mode=mode)
    page, text = shown(why)
    assert page.texts[0].endswith(name)
    assert why.reason in page.text
    assert page.cells == 4 * len(why.parts)
    assert f"score: {why.score:.4f}" in text
    for factor in why.parts:
        assert f"{factor.name}: {factor.value:.4f} × {factor.weight:.4f} = {factor.contribution:.4f}" in text


async def test_an_explanation_of_what_was_not_found_says_why():
    why = await (await team()).explain("weather", "m1")
    page, text = shown(why)
    assert text.startswith(f"memory m1: {why.reason}")
    assert page.texts[0] == "memory m1"


async def test_a_graph_around_an_entity_shows_its_relations():
    curator = Curator(await team())
    page, text = shown(await curator.entity_graph("Ada"))
    assert page.texts[0] == "3 entities, 2 relations"
    assert f"{LED.valid_from:%Y-%m-%d} – " in page.texts
    assert sorted(text.splitlines()) == ["- Ada --works_at--> Globex", "- Bob --reports_to--> Ada"]
    alone, shown_text = shown(await curator.entity_graph("Ada", depth=0))
    assert alone.texts == ["1 entity, 0 relations", "without a relation: Ada (person)"]
    assert shown_text == "- Ada (person)"


async def hostile_team():
    """Everything that Ada knows, and every memory of it, has a hostile text."""
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
    return GraphSearchEngine(store=engine.store, traversal=KHopTraversal(fan_out=200))


async def test_whatever_was_stored_a_page_holds_texts_alone():
    engine = await hostile_team()
    question = f"what does Ada know of {' '.join(HOSTILE)[:5000]}"
    search = await engine.search(question, mode=HOPS, limit=200)
    assert len(search.triplets) > len(HOSTILE) * 0.9  # some have the same normalised name
    graph = await Curator(engine).entity_graph("Ada", limit=500)
    values = [
        search,
        await engine.recall(question, limit=200),
        await engine.rank_entities(question, limit=200),
        await block_of(engine, question, budget=50_000),
        graph,
        *[await engine.explain(question, each.relation.id, mode=HOPS) for each in search.triplets[:3]],
    ]
    for value in values:
        page, text = shown(value)
        assert not {"\u202e", "\x1b", "\x01", "\u200b"} & {*page.text, *text}
    assert len(graph["links"]) >= len(search.triplets)


def visible(text):
    return "".join(each if each.isprintable() or each == "\n" else " " * each.isspace() for each in text)


def cut(text):
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


@given(anything, anything, anything)
def test_what_is_read_is_the_text_without_what_cannot_be_seen(one, two, three):
    shown = Page(page(element("b", one), table(["a"], [[two, bar(0.5, title=three)]]), quiet(three), block(one)))
    assert shown.text == "".join(
        (cut(visible(one)), "a", cut(visible(two)), "0.5000", cut(visible(three)), visible(one))
    )
    assert shown.titles == [three] * bool(three)


def test_elements_stand_in_one_another():
    assert element("p", "a < b ", element("b", "c")) == "<p>a &lt; b <b>c</b></p>"


def test_order_is_not_turned_around():
    assert Page(quiet("invoice\u202egnp.exe")).text == "invoicegnp.exe"


@pytest.mark.parametrize(("value", "length"), [(0.0, "0.00em"), (0.5, "2.00em"), (1.0, "4.00em"), (7.0, "4.00em")])
def test_a_bar_is_as_long_as_its_value(value, length):
    assert f"width:{length}" in bar(value)
    assert Page(bar(value)).text == f"{value:.4f}"
