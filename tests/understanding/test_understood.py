"""What a question means, as people read it."""

from uuid import UUID

import numpy as np
import pytest

from graphsearch.query.written_names import Named, NameKind
from graphsearch.text.analyser import ENGLISH
from graphsearch.understanding.linking import Link, Linked
from graphsearch.understanding.question_tokens import tokens
from graphsearch.understanding.type_profile import Example, type_profile
from graphsearch.understanding.understood import (
    AskedName,
    AskedRelation,
    Understanding,
    residue_of,
    surely_written,
    unknown_names,
)

ONE, TWO = UUID(int=1), UUID(int=2)


def at(start, end, entity=ONE, probability=1.0):
    return Link(entity_id=entity, kind="person", probability=probability, start=start, end=end, full=True, alias=False)


def profile(*types):
    examples = [Example(type=each, source_kind="a", target_kind="b", names=(), line="", fact="") for each in types]
    return type_profile(examples, np.zeros((len(examples), 0), np.float32), ENGLISH)


def meaning(question, *links, affinity=(), unknown=(), types=()):
    return Understanding(
        question=question,
        tokens=tokens(question),
        candidates=(),
        linked=Linked(links=links, masked=()),
        terms=(),
        unknown=unknown,
        profile=profile(*types),
        affinity=np.array(affinity, np.float64),
        direction={},
        kind=np.zeros(0),
        kind_asked="",
        between=(),
    )


def test_names_come_in_order_with_all_that_they_may_mean_and_the_unknown_last():
    stranger = Named(text="Moss", start=0, end=4, kind=NameKind.PROPER_NOUN)
    found = meaning(
        "Moss, Orla and Ines", at(15, 19, TWO), at(6, 10, ONE, 0.5), at(6, 10, TWO, 0.5), unknown=(stranger,)
    )
    assert found.names == (
        AskedName(written="Orla", start=6, end=10, entities={ONE: 0.5, TWO: 0.5}),
        AskedName(written="Ines", start=15, end=19, entities={TWO: 1.0}),
        AskedName(written="Moss", start=0, end=4, entities={}),
    )
    assert found.asked.names == found.names


def test_relations_asked_for_are_those_above_the_average_best_first():
    found = meaning("?", affinity=[0.5, -1.0, 1.5, 0.0, 0.5], types=("bakes", "digs", "eats", "folds", "grows"))
    assert [each.type for each in found.relations()] == ["eats", "bakes", "grows"]
    assert found.relations(1) == (AskedRelation(type="eats", affinity=1.5),)
    assert found.asked.relations == found.relations()
    assert meaning("?", affinity=[0.0, 0.0], types=("bakes", "digs")).relations() == ()


def test_the_residue_is_what_is_part_of_no_name():
    words = tokens("Where does Orla Quill live?")
    assert residue_of(words, [False, False, True, True, False]) == "where does live"
    with pytest.raises(ValueError, match="zip"):
        residue_of(words, [True])


def test_surely_written_is_neither_quoted_nor_a_capital_that_a_sentence_begins_with():
    found = surely_written("Rowing “the old song” with Ines Vale: why does winch_run fail?")
    assert [each.text for each in found] == ["Ines Vale", "winch_run"]


def test_unknown_is_what_overlaps_no_link():
    names = [
        Named(text="Ines Vale", start=20, end=29, kind=NameKind.PROPER_NOUN),
        Named(text="winch_run", start=30, end=39, kind=NameKind.CODE),
    ]
    assert unknown_names(names, Linked(links=(at(25, 29),), masked=())) == (names[1],)
    assert unknown_names(names, Linked(links=(at(29, 30),), masked=())) == (names[0], names[1])
