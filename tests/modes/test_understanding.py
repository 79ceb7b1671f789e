"""What modes make of a question first: the time it asks for, what it names, and whether anything answers it."""

from datetime import timedelta

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.model import Batch, Claim, Entity, Memory
from graphsearch.modes.result import SearchMode
from graphsearch.testing.fakes import NOON, EchoLLM
from tests.gates import no_secrets
from tests.graphs import days_ago, edge, people
from tests.question.harbour import (
    ENTITIES,
    HASHED,
    RELATIONS,
    harbour_engine,
    lines,
    meaning,
    names,
    related,
    year,
)

HOPS, FACTS, BEST = SearchMode.NEIGHBORHOOD, SearchMode.TRIPLET_COMPLETION, SearchMode.GRAPH_COMPLETION
MODES = [HOPS, FACTS, BEST]
INSTANT = timedelta(microseconds=1)

THEN = related("Orla Quill", "lives_in", "Brackwater", "Orla Quill lives in Brackwater", valid_to=year(2022))
NOW = related("Orla Quill", "lives_in", "Lowmouth", "Orla Quill lives in Lowmouth", valid_from=year(2022))
MOVED = (*[each for each in RELATIONS if (each.source_id, each.type) != (THEN.source_id, THEN.type)], THEN, NOW)


async def homes(engine, question, **options):
    """Where the answer says that Orla Quill lives, best first, and the answer."""
    found = await engine.search(question, **options)
    return [target for source, type_, target in lines(found) if (source, type_) == ("Orla Quill", "lives_in")], found


# -- time ---------------------------------------------------------------------------------------------------------


async def test_the_time_that_is_asked_for_applies_by_itself(scoped):
    engine = await harbour_engine(scoped, embedder=meaning(), relations=MOVED)
    for mode in MODES:
        for question, expected in {
            "where does Orla Quill live?": ["Lowmouth"],
            "where does Orla Quill live now?": ["Lowmouth"],
            "where does Orla Quill live tonight?": ["Lowmouth"],
            "where does Orla Quill live today?": ["Lowmouth"],
            "where did Orla Quill live in 2020?": ["Brackwater"],
            "where did Orla Quill live in March 2019?": ["Brackwater"],
            "where did Orla Quill live before 2015?": ["Brackwater"],
        }.items():
            assert (await homes(engine, question, mode=mode))[0] == expected, question
        for question in (
            "where has Orla Quill ever lived?",
            "where has Orla Quill lived?",
            "where has Orla Quill lived so far?",
            "where did Orla Quill live over the years?",
            "where did Orla Quill live since 2019?",
        ):
            assert sorted((await homes(engine, question, mode=mode))[0]) == ["Brackwater", "Lowmouth"], question


@pytest.mark.parametrize("mode", MODES)
async def test_a_history_is_in_the_order_of_time(scoped, mode):
    former = related("Jory Pascoe", "leads", "Gannets", "Jory Pascoe leads the Gannets", valid_to=year(2022))
    engine = await harbour_engine(scoped, embedder=meaning(), relations=(*RELATIONS, former))
    found = await engine.search("who has led the Gannets?", mode=mode)
    leaders = [source for source, type_, target in lines(found) if (type_, target) == ("leads", "Gannets")]
    assert leaders == ["Jory Pascoe", "Tamsin Roe"]


async def test_the_answer_says_which_time_it_was_given_for(scoped):
    engine = await harbour_engine(scoped, relations=MOVED)
    _, found = await homes(engine, "where did Orla Quill live in 2020?", mode=HOPS)
    assert found.interpretation is not None
    assert found.interpretation.time.written == "2020"
    assert found.interpretation.time.since == year(2020)
    assert found.as_of == found.interpretation.time.as_of == year(2021) - INSTANT
    _, found = await homes(engine, "where has Orla Quill ever lived?", mode=HOPS)
    assert found.interpretation is not None
    assert (found.as_of, found.interpretation.time.written) == (NOON, "ever")
    _, found = await homes(engine, "where does Orla Quill live now?", mode=HOPS)
    assert found.interpretation is not None
    assert (found.as_of, found.interpretation.time.written) == (NOON, "")


@pytest.mark.parametrize("mode", MODES)
async def test_a_callers_own_time_wins(scoped, mode):
    engine = await harbour_engine(scoped, relations=MOVED)
    then, now = days_ago(365 * 6), NOON
    for question in ("where does Orla Quill live now?", "where did Orla Quill live in 2025?"):
        found, answer = await homes(engine, question, mode=mode, as_of=then)
        assert (found, answer.as_of) == (["Brackwater"], then)
        assert answer.interpretation is not None
        assert answer.interpretation.time.written == ""
    assert (await homes(engine, "where did Orla Quill live in 2020?", mode=mode, as_of=now))[0] == ["Lowmouth"]
    both, answer = await homes(engine, "where does Orla Quill live now?", mode=mode, since=then)
    assert (sorted(both), answer.as_of) == (["Brackwater", "Lowmouth"], NOON)


async def test_a_model_is_shown_the_time_that_is_asked_for(scoped):
    llm = EchoLLM('{"sentences": [{"text": "In Brackwater.", "cites": [1]}]}')
    engine = await harbour_engine(scoped, relations=MOVED, llm=llm)
    found = await engine.search("where did Orla Quill live in 2020?", mode=SearchMode.SUMMARY, gate=ALLOW_ALL)
    (asked,) = llm.asked
    assert "Orla Quill lives in Brackwater" in asked
    assert "Orla Quill lives in Lowmouth" not in asked
    assert found.summary is not None


async def test_what_came_after_the_time_that_is_asked_for_shows_in_no_sentence(scoped):
    old, new = Memory(id="old", occurred_at=year(2019)), Memory(id="new", occurred_at=year(2025))
    claim = Claim(
        memory_id="old",
        source_id=ENTITIES["Wen Carlyon"].id,
        type="leads",
        target_id=ENTITIES["Terns"].id,
        fact="Wen Carlyon leads the Terns",
        confidence=0.9,
    )
    later = attrs.evolve(
        claim, memory_id="new", target_id=ENTITIES["Gannets"].id, fact="Wen Carlyon went on to lead the Gannets"
    )
    await scoped.write(Batch(entities=tuple(ENTITIES.values()), memories=(old, new), claims=(claim, later)))
    engine = await harbour_engine(scoped, relations=[])
    found = await engine.search("what did Wen Carlyon lead in 2020?")
    assert lines(found) == [("Wen Carlyon", "leads", "Terns")]
    assert "went on" not in str(found.triplets)


# -- what is named ------------------------------------------------------------------------------------------------


async def test_anchors_come_in_the_order_of_the_question_each_once(scoped):
    engine = await harbour_engine(scoped)
    found = await engine.search("do Moss Teague and Birdie know Moss?", mode=HOPS)
    assert [(each.name, each.alias, each.confidence) for each in found.anchors] == [
        ("Moss Teague", False, 1.0),
        ("Birdie", True, 1.0),
    ]
    assert found.anchors[0].spans == ((3, 14), (31, 35))


async def test_the_surest_mention_of_a_name_makes_the_anchor(scoped):
    engine = await harbour_engine(scoped)
    found = await engine.search("does Orla know that Orla Quill rows?", mode=HOPS)
    anchors = {each.confidence: each for each in found.anchors}
    assert anchors[1.0].name == "Orla Quill"
    assert anchors[1.0].spans == ((5, 9), (20, 30))
    assert anchors[min(anchors)].name == "Orla"
    assert min(anchors) == pytest.approx(0.70710678)


# -- silence ------------------------------------------------------------------------------------------------------


async def test_a_question_about_something_else_gets_nothing_and_a_reason(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    for question in (
        "What is the boiling point of nitrogen?",
        "how many moons does jupiter have?",
        "which tax applies to imported cheese?",
    ):
        for mode in (BEST, FACTS):
            found = await engine.search(question, mode=mode)
            assert (lines(found), found.found) == ([], 0)
            assert found.reason.startswith("nothing")
        assert (await engine.search(question, mode=HOPS)).reason == "the question names nothing visible"


async def test_a_name_that_nobody_knows_is_the_reason(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    found = await engine.search("what is the capital of Peru?")
    assert (lines(found), found.reason) == ([], "nothing visible is known of Peru")


async def test_a_relation_that_an_entity_does_not_have_gets_nothing_and_a_reason(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    for question, name in {
        "which choir does Tamsin sing in?": "Tamsin",
        "where does Jory Pascoe live?": "Jory Pascoe",
        "who supplies Skerry Beacon?": "Skerry Beacon",
    }.items():
        for mode in (BEST, HOPS):
            found = await engine.search(question, mode=mode)
            assert (lines(found), found.found) == ([], 0), (question, mode)
            assert found.reason == f"nothing visible of {name} answers what is asked"
            assert [anchor.name for anchor in found.anchors] == [name]


async def test_a_time_for_which_nothing_is_known_gets_nothing(scoped):
    moved = [attrs.evolve(each, valid_from=each.valid_from or year(2015)) for each in MOVED]
    engine = await harbour_engine(scoped, embedder=meaning(), relations=moved)
    found = await engine.search("where did Orla Quill live in 2009?")
    assert lines(found) == []
    assert found.reason == "nothing visible of Orla Quill answers what is asked"


async def test_what_was_found_is_shown_where_all_relations_are_of_one_type(scoped):
    engine = await harbour_engine(
        scoped, embedder=meaning(), relations=[each for each in RELATIONS if each.type == "rows_for"]
    )
    for question in ("how much does Moss Teague weigh?", "who is Moss Teague married to?"):
        for mode in (BEST, HOPS):
            assert lines(await engine.search(question, mode=mode))[0] == ("Moss Teague", "rows_for", "Petrels")


async def test_without_an_embedder_unknown_words_silence_nothing(scoped):
    engine = await harbour_engine(scoped, embedder=None)
    found = await engine.search("how tall is Moss Teague?", mode=HOPS)
    assert ("Moss Teague", "rows_for", "Petrels") in lines(found)
    assert found.reason == ""


async def test_names_and_nothing_else_are_never_foreign(scoped):
    engine = await harbour_engine(scoped, embedder=meaning())
    for question in ("Moss Teague", "what of Moss Teague?", "moss teague?"):
        for mode in MODES:
            assert any("Moss Teague" in line for line in lines(await engine.search(question, mode=mode)))


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_was_asked(scoped, mode):
    engine = await harbour_engine(scoped)
    for question in ("", "  "):
        found = await engine.search(question, mode=mode)
        assert (lines(found), found.reason, found.interpretation, found.found) == ([], "nothing was asked", None, 0)


async def test_a_reason_does_not_tell_what_is_hidden_from_what_is_not_there(scoped):
    hidden = Entity(type="person", name="Barnaby Thorn", labels=["secret"])
    engine = await harbour_engine(scoped, entities=[*ENTITIES.values(), hidden])
    with_it = await engine.search("where does Barnaby Thorn live?", gate=no_secrets())
    other = await engine.search("where does Barnaby Thorn live?".replace("Barnaby", "Bernaby"), gate=no_secrets())
    assert with_it.reason == "nothing visible is known of Barnaby Thorn"
    assert other.reason == "nothing visible is known of Bernaby Thorn"
    assert with_it.interpretation is not None
    assert names(with_it) == [("Barnaby Thorn", [])]


async def test_facts_alone_are_silent_about_names_too(scoped):
    await scoped.bind_embedder(HASHED.name, HASHED.dimensions)
    engine = await harbour_engine(scoped, relations=[])
    found = await engine.search("where does Moss Teague live?", mode=FACTS)
    assert found.reason == "nothing visible of Moss Teague answers what is asked"
    await scoped.write(people(edge("Ada", "knows", "Bob"), names="Ada Bob"))
    assert (await engine.search("what of Ada?", mode=FACTS)).found == 0  # it has no fact to be found by
