"""The names of a question that lead a walk, how far it is trusted, and how relevant what is recalled is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.access.reader import reading
from graphsearch.errors import InvalidInputError
from graphsearch.explaining.elements import KeptOut
from graphsearch.model import Entity, Memory
from graphsearch.question.analysis import Anchor
from graphsearch.question.linking import anchors_of, link_names
from graphsearch.ranking.recall_result import RecallScoring, for_embedder
from graphsearch.ranking.walk import Leads
from tests.gates import no_secrets
from tests.ranking.memories.telling import asking, ids, mention, names, tell

LIST = Entity(type="concept", name="list")


async def named_in(question, reader):
    """The anchors of a question of which every word may be a name."""
    return anchors_of(question, (await link_names(question, reader)).links)


def test_what_names_cover_is_their_share_of_the_rarity_each_as_it_is_rare():
    tom, list_ = Entity(type="person", name="Tom"), LIST
    anchors = [
        Anchor(entity_id=each.id, name="", alias=False, confidence=1.0, spans=(), whole=True) for each in (tom, list_)
    ]
    lead = Leads(
        rarity={"tom": 3.0, "list": 1.0, "sort": 4.0},
        anchors=anchors,
        named={tom.id: frozenset({"tom"}), list_.id: frozenset({"list", "tom"})},
    )
    assert lead.covered({tom.id: 1.0, list_.id: 0.5}) == pytest.approx(0.4375)  # (3 + 0.5 · 1) of 8
    assert lead.covered({}) == 0.0
    assert lead.terms_of([tom.id]) == {"tom"}
    assert lead.terms_of([Entity(type="person", name="Bob").id]) == frozenset()
    assert lead.terms_of([]) == frozenset()


def test_the_terms_of_a_part_of_a_name_are_not_those_of_what_was_found():
    tom, ann = Entity(type="person", name="Tom"), Entity(type="person", name="Ann Lee")
    anchors = tuple(
        Anchor(entity_id=each.id, name="", alias=False, confidence=1.0, spans=(), whole=each is tom)
        for each in (tom, ann)
    )
    named = {tom.id: frozenset({"tom"}), ann.id: frozenset({"lee"})}
    lead = Leads(rarity={}, anchors=anchors, named=named)
    assert lead.terms_of([tom.id, ann.id]) == {"tom"}
    assert lead.terms_of([ann.id]) == frozenset()


@pytest.mark.parametrize(("question", "anchored"), [("sort a list", False), ("sort a List", True)])
async def test_a_word_that_is_hardly_ever_a_name_leads_nowhere(scoped, question, anchored):
    """One of four memories that hold the word means the entity: others just use it."""
    plain = [Memory(id=f"m{place}", text=f"to sort a list number {place}") for place in range(3)]
    named = Memory(id="named", text="the List of our lives")
    other = Memory(id="other", text="nothing of the kind")
    mentions = [mention(named, LIST), mention(other, LIST)]
    await tell(scoped, [*plain, named, other], entities=[LIST], mentions=mentions)
    assert ("other" in ids(await asking(scoped).recall(question))) is True
    found = await asking(scoped).recall(question, limit=4)
    assert any(each.path for each in found.memories if each.memory.id == "named") is anchored or not anchored


async def test_however_far_it_is_trusted_a_walk_leaves_text_its_share(scoped):
    """Six memories are about Ada; the one that has the words of the question stays among the first three."""
    ada = Entity(type="person", name="Ada")
    about = [Memory(id=f"about{place}", text="tea") for place in range(6)]
    words = Memory(id="words", text="the roses in the garden of the tower")
    mentions = [mention(each, ada, at=None) for each in about]
    await tell(scoped, [*about, words], entities=[ada], mentions=mentions)
    question = "What of the roses in the garden, Ada?"
    kept = await asking(scoped).recall(question)
    assert ids(kept).index("words") < 3
    lost = await asking(scoped, recall_scoring=RecallScoring(text_share=0.0)).recall(question)
    assert ids(lost).index("words") >= ids(kept).index("words")
    for each in kept.memories:
        assert sum(part.contribution for part in each.channels.values()) == pytest.approx(each.score)


def test_an_embedder_states_its_weight_and_its_floor():
    class Stated:
        recall_weight, relevance_floor = 2.0, 0.4

    stated = for_embedder(RecallScoring(), Stated())  # type: ignore[arg-type]
    assert (stated.semantic_weight, stated.floor) == (2.0, 0.4)
    given = for_embedder(RecallScoring(semantic_weight=1.0, floor=0.0), Stated())  # type: ignore[arg-type]
    assert (given.semantic_weight, given.floor) == (1.0, 0.0)
    unknown = for_embedder(RecallScoring(), None)
    assert (unknown.semantic_weight, unknown.floor) == (None, None)


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


async def test_what_is_hidden_makes_no_word_less_of_a_name(scoped):
    """Where all memories that may be seen are counted, so are those that mention the entity without its name."""
    junior = Entity(type="person", name="jr")
    noted, other = Memory(id="noted", text="they say jr"), Memory(id="other", text="surely the chief")
    hidden = Memory(id="hidden", text="nothing", labels=("secret",))
    await tell(scoped, [noted, other, hidden], entities=[junior], mentions=[mention(other, junior)])
    question = "what of jr and Bob?"
    assert "other" in ids(await asking(scoped).recall(question))
    assert "other" in ids(await asking(scoped).recall(question, gate=no_secrets(by_signature=True)))


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


GARDEN = Memory(id="garden", text="Roses and lilies grow in the garden.")
SUPPER = Memory(id="supper", text="Supper was by candle.")
GATE = Memory(id="gate", text="The garden gate creaks.")
words = st.sets(st.sampled_from("abcdefgh"))
cosines = st.lists(st.floats(-1, 1), max_size=4).map(np.array)


def asked_of(terms, *, unheard=()) -> Leads:
    """A question of equally rare terms."""
    return Leads(rarity=dict.fromkeys(terms, 2.0), unheard=frozenset(unheard))


def test_half_of_a_question_in_one_text_and_a_cosine_of_a_half_come_to_three_quarters():
    assert asked_of("ab").relevance([{"a"}, {"b"}], np.array([0.5, -1.0])) == pytest.approx(0.75)
    assert asked_of("ab").relevance([{"a"}, {"b"}], np.empty(0)) == pytest.approx(0.5)
    assert asked_of("ab").relevance([{"a", "b"}], np.empty(0)) == 1.0
    assert asked_of("").relevance([], np.empty(0)) == 0.0


def test_a_rare_term_covers_more_of_a_question_than_a_common_one():
    asked = Leads(rarity={"common": 1.0, "rare": 3.0})
    assert asked.relevance([{"common"}], np.empty(0)) == pytest.approx(0.25)
    assert asked.relevance([{"common"}, {"rare"}], np.empty(0)) == pytest.approx(0.75)


def test_a_near_meaning_is_doubted_by_words_that_no_memory_has():
    asked = asked_of("ab", unheard="b")
    assert asked.relevance([{"c"}], np.array([0.5])) == pytest.approx(0.35)  # 0.5 − 0.15
    assert asked.relevance([{"a"}], np.array([0.5])) == pytest.approx(0.675)  # 1 − 0.5 · 0.65
    assert asked.relevance([{"a"}], np.empty(0)) == pytest.approx(0.5)
    assert asked_of("ab", unheard="ab").relevance([{"c"}], np.array([0.2])) == 0.0


@given(words, st.lists(words, max_size=5), cosines)
def test_relevance_is_a_share_and_grows_with_what_is_found(question, texts, found):
    asked = asked_of(question)
    value = asked.relevance(texts, found)
    assert 0.0 <= value <= 1.0
    assert asked.relevance(texts, np.append(found, 0.9)) >= max(value, 0.9) - 1e-9
    assert asked.relevance([*texts, question], found) == pytest.approx(1.0 if question else value)


@pytest.mark.parametrize("embedded", [False, True])
async def test_a_question_about_something_else_recalls_nothing_and_says_so(scoped, embedded):
    await tell(scoped, [GARDEN, SUPPER, GATE], embedded=embedded)
    engine = asking(scoped, embedded=embedded)
    ours = await engine.recall("Which roses grow in the garden?", min_relevance=0.5)
    assert ids(ours)[0] == "garden"
    assert ours.relevance >= 0.5
    asked = "Which zebra won the derby in the garden of Epsom?"
    assert ids(await engine.recall(asked, min_relevance=0.0)) != []
    other = await engine.recall(asked, min_relevance=0.5)
    assert other.memories == ()
    assert other.relevance == (await engine.recall(asked, limit=1)).relevance < 0.5
    assert other.floor == 0.5
    assert other.reason == f"nothing relevant: what is found comes to {other.relevance:.2f}, less than 0.5"
    assert (await engine.recall("")).relevance == 0.0


async def test_a_floor_of_relevance_is_a_share(scoped):
    await tell(scoped, [GARDEN])
    with pytest.raises(InvalidInputError, match="min_relevance"):
        await asking(scoped).recall("roses", min_relevance=1.5)


async def test_the_floor_is_what_explains_a_memory_that_was_left_out(scoped):
    await tell(scoped, [GARDEN, SUPPER, GATE])
    asked = "Which zebra won the derby in the garden of Epsom?"
    explained = await asking(scoped).explain(asked, "garden", min_relevance=0.5)
    assert explained.kept_out is KeptOut.MIN_RELEVANCE
    assert explained.rank is not None
    assert explained.reason.startswith("nothing relevant")


async def test_a_memory_without_a_text_takes_no_place_and_still_leads_on(scoped):
    people = names("Ada", "Bob")
    file = Memory(id="file", subject="Ada.py", text=" ")
    note = Memory(id="note", text="It was a long day.")
    await tell(
        scoped,
        [file, note],
        entities=[*people.values()],
        mentions=[mention(file, people["Ada"], at=None), mention(file, people["Bob"]), mention(note, people["Bob"])],
    )
    result = await asking(scoped).recall("What of Ada?", limit=1)
    assert ids(result) == ["note"]
    assert [step.id for step in result.memories[0].path if step.kind == "memory"] == ["file", "note"]
    assert result.memories[0].score == pytest.approx(0.85)
    explained = await asking(scoped).explain("What of Ada?", "file")
    assert explained.kept_out is KeptOut.NO_TEXT
    assert explained.rank is None


async def test_texts_are_found_past_many_that_have_none(scoped):
    files = [Memory(id=f"file{number:03}", subject="garden") for number in range(150)]
    await tell(scoped, [*files, Memory(id="note", text="One day in the old garden behind a house they met again.")])
    assert ids(await asking(scoped).recall("garden", limit=5)) == ["note"]


async def test_where_nothing_has_a_text_the_answer_says_so(scoped):
    await tell(scoped, [Memory(id=f"file{number}", subject="garden") for number in range(3)])
    result = await asking(scoped).recall("garden")
    assert result.memories == ()
    assert result.reason == "none of 3 memories found has a text to show"
