"""What a question asks, as one value."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.question import Anchor, Intent, Plan, QuestionType, analyse

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)


def anchored(question, name, confidence=1.0, id=1):
    start = question.index(name)
    return Anchor(
        entity_id=UUID(int=id), name=name, alias=False, confidence=confidence, spans=((start, start + len(name)),)
    )


def plan(question, *anchors):
    return analyse(question, as_of=NOW, anchors=anchors).plan


def test_everything_about_a_question():
    question = "Where did Ada Lovelace work with Bob, and where did Bob live, between 2011 and 2017?"
    ada = anchored(question, "Ada Lovelace")
    found = analyse(question, as_of=NOW, anchors=[ada])
    assert found.question == question
    assert found.terms == ("ada", "lovelace", "work", "bob", "live", "2011", "2017")
    assert found.proper_nouns == ("Ada Lovelace", "Bob", "Bob")
    assert found.years == (2011, 2017)
    assert [period.written for period in found.periods] == ["2011 and 2017"]
    assert (found.question_type, found.intent) == (QuestionType.WHERE, Intent.WHAT)
    assert found.anchors == (ada,)
    assert found.features.unlinked == ("Bob", "Bob")
    assert found.plan is Plan.TEMPORAL
    assert (found.features.linked, found.features.least_confidence, found.features.exact) == (1, 1.0, 0)
    assert (found.features.dated, found.features.temporal, found.features.broad) == (True, False, False)
    assert found.features.terms == 7


def test_a_question_is_entity_centric_when_every_name_is_linked_and_there_is_one():
    question = "Where did Ada work with Bob Smith in 2017?"
    ada, bob = anchored(question, "Ada"), anchored(question, "Bob Smith", 0.80, id=2)
    assert plan(question, ada, bob) is Plan.ENTITY_CENTRIC
    assert plan(question, ada) is Plan.TEMPORAL
    assert plan(question) is Plan.TEMPORAL
    assert plan(question, ada, anchored(question, "Bob Smith", 0.79)) is Plan.TEMPORAL
    assert (
        plan("how does the handshake work?", anchored("how does the handshake work?", "handshake"))
        is Plan.ENTITY_CENTRIC
    )


def test_a_name_is_linked_when_each_of_its_words_that_says_something_is():
    question = "who leads the Bank of England Museum?"
    assert plan(question, anchored(question, "Bank of England")) is Plan.PRECISION
    both = anchored(question, "Bank of England"), anchored(question, "Museum")
    assert plan(question, *both) is Plan.ENTITY_CENTRIC
    question = 'does Ada know "The Who"?'
    assert plan(question, anchored(question, "Ada")) is Plan.PRECISION


def test_a_first_word_that_may_be_no_name_keeps_no_question_from_being_entity_centric():
    question = "Notable works of Ada?"
    assert plan(question, anchored(question, "Ada")) is Plan.ENTITY_CENTRIC


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happened last week?", Plan.TEMPORAL),
        ("When did it start?", Plan.TEMPORAL),
        ("what is the latest release?", Plan.TEMPORAL),
        ("give me an overview of Acme", Plan.EXPLORATORY),
        ("who leads Acme?", Plan.PRECISION),
        ("where is do_handshake called?", Plan.PRECISION),
        ('what is "foo bar" for?', Plan.PRECISION),
        ("how does the build work in our team?", Plan.EXPLORATORY),
        ("the build", Plan.EXPLORATORY),
        ("", Plan.EXPLORATORY),
        ("what tools do our teams use for their builds?", Plan.BALANCED),
        ("how does Acme build?", Plan.BALANCED),
    ],
)
def test_plans(question, expected):
    assert plan(question) is expected


@pytest.mark.parametrize(
    "question", ["", "   ", "the of and", "日本語の質問", "a & b | !c <-> (d:*)", "x" * 100_000, "Ab " * 33_000]
)
def test_odd_questions_have_an_answer(question):
    found = analyse(question, as_of=NOW)
    assert found.anchors == ()
    assert found.periods == ()
    assert len(found.terms) == found.features.terms


def test_bad_input_is_refused_whole():
    with pytest.raises(InvalidInputError) as error:
        analyse("a\0b", as_of=datetime(2024, 5, 15))  # noqa: DTZ001
    assert len(error.value.faults) == 2


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=200))
def test_analysing_twice_gives_the_same(question):
    assert analyse(question, as_of=NOW) == analyse(question, as_of=NOW)
