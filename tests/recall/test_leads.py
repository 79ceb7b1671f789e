"""Which names of a question lead a walk, and how far it is trusted."""

from __future__ import annotations

import pytest

from graphsearch.model import Entity, Memory
from graphsearch.query.question_names import Anchor
from graphsearch.recall.leads import Asked, Leads
from graphsearch.recall.options import RecallScoring, for_embedder
from tests.recall.telling import asking, ids, mention, tell

LIST = Entity(type="concept", name="list")


def test_what_names_cover_is_their_share_of_the_rarity_each_as_it_is_rare():
    tom, list_ = Entity(type="person", name="Tom"), LIST
    lead = Leads(
        anchors=(),
        asked=Asked(rarity={"tom": 3.0, "list": 1.0, "sort": 4.0}, unheard=frozenset()),
        named={tom.id: frozenset({"tom"}), list_.id: frozenset({"list", "tom"})},
    )
    assert lead.covered({tom.id: 1.0, list_.id: 0.5}) == pytest.approx(0.4375)  # (3 + 0.5 · 1) of 8
    assert lead.covered({}) == 0.0
    assert lead.terms_of([tom.id]) == {"tom"}
    assert lead.terms_of([Entity(type="person", name="Bob").id]) == {"tom", "list"}
    assert lead.terms_of([]) == frozenset()


def test_the_terms_of_a_part_of_a_name_are_not_those_of_what_was_found():
    tom, ann = Entity(type="person", name="Tom"), Entity(type="person", name="Ann Lee")
    anchors = tuple(
        Anchor(entity_id=each.id, name="", alias=False, confidence=1.0, spans=(), whole=each is tom)
        for each in (tom, ann)
    )
    named = {tom.id: frozenset({"tom"}), ann.id: frozenset({"lee"})}
    lead = Leads(anchors=anchors, asked=Asked(rarity={}, unheard=frozenset()), named=named)
    assert lead.terms_of([tom.id, ann.id]) == {"tom"}
    assert lead.terms_of([ann.id]) == frozenset()
    assert lead.terms_of([LIST.id]) == {"tom"}


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
