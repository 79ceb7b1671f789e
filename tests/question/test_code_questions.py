"""Questions about code by its names."""

from collections.abc import Sequence
from uuid import uuid4

import attrs
import pytest

from graphsearch.question.analysis import Nameable, QuestionText, tokens
from graphsearch.question.linking import Link, Linked, with_bare_names
from graphsearch.question.type_profile import SOURCE, TARGET, asked_of_code

NOT_READ = None


def places(question: str, names: Sequence[str]) -> frozenset[int]:
    return QuestionText(question).places((question.index(name), question.index(name) + len(name)) for name in names)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("what calls X?", ("calls", TARGET)),
        ("who uses the class X?", ("calls", TARGET)),
        ("which functions does the X method use?", ("calls", SOURCE)),
        ("what does X call?", ("calls", SOURCE)),
        ("what is called by X?", ("calls", SOURCE)),
        ("where is X called?", ("calls", TARGET)),
        ("show me the callers of X", ("calls", TARGET)),
        ("what does X inherit from?", ("inherits_from", SOURCE)),
        ("what is X derived from?", ("inherits_from", SOURCE)),
        ("which errors derive from X", ("inherits_from", TARGET)),
        ("what is X's base class?", ("inherits_from", SOURCE)),
        ("what are the subclasses of X?", ("inherits_from", TARGET)),
        ("what can X raise?", ("raises", SOURCE)),
        ("where does X get raised?", ("raises", TARGET)),
        ("which code catches X?", ("catches", TARGET)),
        ("which modules import X?", ("imports", TARGET)),
        ("which module defines X?", ("defines", TARGET)),
        ("where does X live?", ("defines", TARGET)),
        ("in which file is X?", ("defines", TARGET)),
        ("what is X?", ("defines", TARGET)),
        ("how do I use X?", ("defines", TARGET)),
        ("which methods does X have?", ("defines", SOURCE)),
        ("how does X use cookies?", NOT_READ),
        ("which functions handle retries in X?", NOT_READ),
        ("who calls the author of X?", NOT_READ),
        ("X", NOT_READ),
        ("what is cached?", NOT_READ),
    ],
)
def test_a_relation_is_asked_for_beside_the_name(question, asked):
    found = asked_of_code([word.text for word in tokens(question)], places(question, ["X"] if "X" in question else []))
    assert found == asked


def test_names_apart_are_no_one_name():
    question = "does X call Y?"
    assert asked_of_code([word.text for word in tokens(question)], places(question, ["X", "Y"])) is None


@pytest.mark.parametrize(
    ("question", "linked"),
    [
        ("what calls gather?", ["gather"]),
        ("where is gather defined?", ["gather"]),
        ("what calls the gather?", []),
        ("what calls the gather function?", ["gather function"]),
        ("what calls the gather function of the module tasks?", ["gather function of the module tasks"]),
        ("what calls the gather function of trees?", []),
        ("what calls Gather?", []),
        ("who will gather the mushrooms?", []),
        ("gather", []),
    ],
)
def test_a_plain_word_names_code_where_nothing_else_is_said(question, linked):
    known = [
        Nameable(id=uuid4(), type="function", names=("asyncio.tasks.gather", "gather")),
        Nameable(id=uuid4(), type="topic", names=("gather",)),
    ]
    asked = QuestionText(question)
    found = with_bare_names(asked, Linked(links=(), masked=frozenset()), known)
    assert [question[each.start : each.end] for each in found.links] == linked
    assert all(each.entity_id == known[0].id for each in found.links)


def test_a_word_that_names_something_else_is_no_code():
    question = QuestionText("what is gather?")
    topic, code = (Nameable(id=uuid4(), type=each, names=(f"m.{each}.gather", "gather")) for each in ("topic", "class"))
    link = Link(entity_id=topic.id, kind="topic", probability=1.0, start=8, end=14, full=True, alias=False)
    linked = Linked(links=(link,), masked=frozenset({2}))
    assert with_bare_names(question, linked, [code]) is linked
    assert not linked.names_code
    assert not attrs.evolve(linked, links=(link, attrs.evolve(link, entity_id=code.id, kind="class"))).names_code


def test_a_long_question_says_more_than_a_name():
    words = QuestionText("what calls gather " + "and " * 20)
    linked = Linked(links=(), masked=frozenset())
    known = [Nameable(id=uuid4(), type="function", names=("m.gather", "gather"))]
    assert with_bare_names(words, linked, known) is linked
