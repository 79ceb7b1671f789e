"""Before something is forgotten: memories to choose from, and what would go with one."""

import attrs
import pytest

from graphsearch.access.gate import Gate
from graphsearch.curation import Curator
from graphsearch.errors import AccessDeniedError, UnknownElementError
from graphsearch.model import Memory
from graphsearch.page import care as module
from graphsearch.page.asking import example_questions
from graphsearch.page.care import find_source, list_memories, preview_forget
from graphsearch.page.rows import LONGEST
from graphsearch.testing.samples import claim, day
from tests.curation.team import ACME, BATCH, BOB, FRIENDS, GREG, HOME, MEMORIES, MOVED, SECRET, Labels, engine_over


def labelled(*secret):
    return attrs.evolve(
        BATCH, memories=[attrs.evolve(each, labels=(SECRET,) * (each in secret)) for each in BATCH.memories]
    )


def only_named(batch):
    """The batch of which entities exist through their mentions alone."""
    return attrs.evolve(batch, entities=(), named=batch.entities)


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda each: each.id)
async def test_what_is_previewed_goes(scoped, memory):
    engine = await engine_over(scoped, only_named(BATCH))
    before = {each.id for each in await scoped.list_entities()}
    facts = {(each.source_id, each.type, each.target_id) for each in await scoped.list_relations()}
    loss = await preview_forget(engine, memory=memory.id)
    assert {each.id for each in await scoped.list_entities()} == before
    report = await Curator(engine).forget(memory.id)
    left = {(each.source_id, each.type, each.target_id) for each in await scoped.list_relations()}
    assert {each.id for each in loss.entities} == {
        str(each) for each in before - {each.id for each in await scoped.list_entities()}
    }
    assert loss.counts == {
        "entities": report.entities_removed,
        "facts": len(facts - left),
        "mentions": report.mentions_removed,
        "claims": report.claims_removed,
    }


async def test_a_source_is_found_by_the_end_of_its_path_unless_it_is_hidden(scoped):
    sources = ("a/notes.md", "b/notes.md", "plan.md", "secret/pay.md")
    labels = [(SECRET,) * source.startswith("secret") for source in sources]
    notes = [Memory(id=each, text=each, source=each, labels=of) for each, of in zip(sources, labels, strict=True)]
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=(*BATCH.memories, *notes)))
    assert await find_source(engine, "./b/notes.md") == "b/notes.md"
    assert await find_source(engine, "/home/ada/plan.md") == "plan.md"
    assert await find_source(engine, "pay.md") == "secret/pay.md"
    with pytest.raises(UnknownElementError, match=r"more than one source 'notes\.md'; the nearest: 'a/notes\.md', 'b"):
        await find_source(engine, "notes.md")
    with pytest.raises(UnknownElementError, match=r"no source 'pay\.md'; the nearest: ") as hidden:
        await find_source(engine, "pay.md", gate=Gate(Labels(), GREG))
    assert "secret" not in str(hidden.value)


async def test_what_rests_on_other_memories_stays(scoped):
    engine = await engine_over(scoped, only_named(BATCH))
    loss = await preview_forget(engine, memory=FRIENDS.id)
    assert (loss.entities, loss.facts) == ((), ())
    home = await preview_forget(engine, memory=HOME.id)
    assert [each.name for each in home.entities] == ["Paris"]
    assert [(each.source.name, each.type, each.target.name) for each in home.facts] == [
        ("Ada Lovelace", "lives_in", "Paris")
    ]


async def test_what_is_hidden_keeps_nothing_and_may_not_be_asked_about(scoped):
    engine = await engine_over(scoped, only_named(labelled(FRIENDS, MOVED)))
    gate = Gate(Labels(), GREG)
    loss = await preview_forget(engine, memory="again", gate=gate)
    assert [each.type for each in loss.facts] == ["knows"]  # the other memory that states it is hidden
    with pytest.raises(UnknownElementError):
        await preview_forget(engine, memory=MOVED.id, gate=gate)
    with pytest.raises(AccessDeniedError):
        await preview_forget(engine, memory=MOVED.id, gate=Gate(Labels(action="forget"), GREG))


async def test_the_newest_memories_and_those_that_answer(scoped, monkeypatch):
    engine = await engine_over(scoped, labelled(FRIENDS))
    assert [each.id for each in await list_memories(engine, limit=3)] == ["friends", "again", "home"]
    assert [each.id for each in await list_memories(engine, limit=2, gate=Gate(Labels(), GREG))] == ["again", "home"]
    assert [each.id for each in await list_memories(engine, query="who lives in Paris?", limit=1)] == [HOME.id]
    monkeypatch.setattr(module, "_LOOKED_AT", 1)
    assert len(await list_memories(engine, limit=9)) == len(MEMORIES)  # a page is read as a whole


async def test_long_texts_are_cut(scoped):
    long = Memory(id="long", text="x" * 5_000, occurred_at=day(95))
    engine = await engine_over(scoped, attrs.evolve(BATCH, memories=(*MEMORIES, long)))
    (first,) = await list_memories(engine, limit=1)
    assert first.text == (await preview_forget(engine, memory="long")).memory.text == "x" * (LONGEST - 1) + "…"


async def test_questions_are_made_of_visible_relations(scoped, clock):
    clock.set(day(100))
    engine = await engine_over(scoped, labelled(HOME))
    assert await example_questions(engine) == ("who knows Bob Noyce?", "who works at Globex?", "who lives in Paris?")
    hidden = await example_questions(engine, gate=Gate(Labels(), GREG))
    assert hidden == ("who knows Bob Noyce?", "who works at Globex?")
    assert await example_questions(engine, limit=1) == ("who knows Bob Noyce?",)


async def test_a_type_without_a_verb_is_asked_for_with_one(scoped, clock):
    clock.set(day(100))
    batch = attrs.evolve(BATCH, claims=[claim(HOME, BOB, ACME, "member_of")])
    assert await example_questions(await engine_over(scoped, batch)) == ("who is member of Acme?",)
