"""The names of a question, as a recall links them and walks from them, on every store."""

import pytest

from graphsearch.access.reader import reading
from graphsearch.model import Entity, Memory
from graphsearch.recall.recaller import named_in
from tests.gates import no_secrets
from tests.recall.telling import asking, ids, mention, names, tell


async def named(store, question, gate=None):
    """The anchors of a question by the names of their entities."""
    async with reading(store, gate=gate) as reader:
        found = await named_in(question, reader)
        known = {each.id: each.name for each in await store.get_entities([anchor.entity_id for anchor in found])}
        return {known[anchor.entity_id]: (anchor.name, round(anchor.confidence, 3)) for anchor in found}


PEOPLE = names("Hanna Strauß", "Orla Brennan", "Orla Quill", "Zoë")


async def test_whole_names_are_sure_and_parts_are_shared(scoped):
    await tell(scoped, [], entities=list(PEOPLE.values()))
    assert await named(scoped, "what did hanna strauss ask Zoe?") == {
        "Hanna Strauß": ("hanna strauss", 1.0),
        "Zoë": ("Zoe", 1.0),
    }
    both = await named(scoped, "where is Orla")
    assert both == {"Orla Brennan": ("Orla", 0.707), "Orla Quill": ("Orla", 0.707)}
    async with reading(scoped) as reader:
        assert [each.whole for each in await named_in("where is Orla, and Zoe", reader)] == [False, False, True]
    assert await named(scoped, "where is everybody") == {}
    assert await named(scoped, "") == {}


async def test_an_entity_named_twice_is_one_anchor_with_both_places(scoped):
    await tell(scoped, [], entities=[PEOPLE["Orla Quill"]])
    async with reading(scoped) as reader:
        (anchor,) = await named_in("Did Quill see Orla Quill?", reader)
    assert (anchor.name, anchor.confidence, anchor.spans) == ("Quill", 1.0, ((4, 9), (14, 24)))
    assert anchor.whole


async def test_what_is_hidden_is_not_named(scoped):
    secret = Entity(type="person", name="Orla Quill", labels=("secret",))
    await tell(scoped, [], entities=[PEOPLE["Orla Brennan"], secret])
    assert await named(scoped, "where is Orla", no_secrets(by_signature=True)) == {"Orla Brennan": ("Orla", 1.0)}


@pytest.mark.parametrize("question", ["What was it about Orla Brennan?", "What was it about Brennan?"])
async def test_a_walk_starts_from_part_of_a_name_too(scoped, question):
    people = [PEOPLE["Orla Brennan"], PEOPLE["Zoë"]]
    memories = [Memory(id="tea", text="Tea with both."), Memory(id="rain", text="Rain again.")]
    await tell(scoped, memories, entities=people, mentions=[mention(memories[0], each) for each in people])
    found = await asking(scoped).recall(question, min_relevance=0.0)
    assert ids(found) == ["tea"]
    assert str(PEOPLE["Orla Brennan"].id) == found.memories[0].path[0].id


async def test_a_walk_starts_from_each_as_likely_as_it_is_named(scoped):
    """Quill is named in whole; the two others share a part."""
    people = [*PEOPLE.values(), Entity(type="person", name="Quill")]
    memories = [Memory(id=f"m{place}", text="Tea.") for place in range(len(people))]
    mentions = [mention(memory, each) for memory, each in zip(memories, people, strict=True)]
    await tell(scoped, memories, entities=people, mentions=mentions)
    found = await asking(scoped).recall("Has Quill met Brennan?")
    by_id = {each.memory.id: each.channels["graph"].score for each in found.memories}
    assert by_id["m4"] == pytest.approx(by_id["m1"])
