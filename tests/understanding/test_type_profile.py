"""What the relation types of a scope say, learned from examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.analyser import ENGLISH, VERBATIM
from graphsearch.understanding.type_profile import Example, Wording, masked, type_profile


def example(type, source="person", target="lamp", *, names=(), line="", fact=""):
    return Example(type=type, source_kind=source, target_kind=target, names=names, line=line or fact, fact=fact)


def profiled(*examples, analyser=VERBATIM):
    return type_profile(examples, np.zeros((len(examples), 0), np.float32), analyser)


KEEPERS = profiled(
    example("tends", names=("Ines", "North Light"), fact="Ines trims North Light"),
    example("tends", "crew", names=("Gulls", "North Light"), fact="the Gulls trim North Light"),
    example("tends", names=("Orla", "Pier Lamp"), fact="Orla trims Pier Lamp"),
    example("rowsFor", "person", "crew", names=("Orla", "Gulls"), fact="Orla rows for the Gulls"),
)


def test_types_and_kinds_are_in_order_and_said_in_words():
    assert KEEPERS.types == ("rowsFor", "tends")
    assert KEEPERS.phrases == ("rows for", "tends")
    assert KEEPERS.typed == ("person rows for crew", "person tends lamp")  # most have these ends
    assert KEEPERS.kinds == ("crew", "lamp", "person")
    assert KEEPERS.example_type.tolist() == [1, 1, 1, 0]


def test_rows_are_found_by_name():
    assert [KEEPERS.row_of(each) for each in ("rowsFor", "tends", "sings")] == [0, 1, -1]
    assert [KEEPERS.kind_of(each) for each in ("crew", "person", "song")] == [0, 2, -1]


def test_which_types_entities_of_a_kind_have():
    assert KEEPERS.meets.tolist() == [[True, True], [False, True], [True, True]]


def test_of_equally_usual_ends_the_first_by_name_are_taken():
    even = profiled(example("tends", "person", "lamp"), example("tends", "crew", "lamp"))
    assert even.typed == ("crew tends lamp",)


def test_the_words_of_a_fact_without_the_names_of_its_ends():
    told = example("tends", names=("Ines Vale", "North Light"), fact="Ines, of Vale, lights the north tower")
    assert masked(told) == ["of", "lights", "the", "tower"]


def test_words_are_counted_as_parts_of_names_and_elsewhere():
    wording = KEEPERS.wording
    assert (wording.naming["north"], wording.telling["north"]) == (2, 0)
    assert (wording.naming["gulls"], wording.telling["gulls"]) == (2, 0)
    assert (wording.naming["trims"], wording.telling["trims"]) == (0, 2)
    assert wording.type_terms == {"rows", "for", "tends", "crew", "lamp", "person"}


def test_a_word_counts_once_a_fact():
    twice = example("tends", names=("North Light", "Cobb Light"), fact="oil and oil for North Light and Cobb Light")
    wording = profiled(twice).wording
    assert (wording.naming["light"], wording.telling["oil"], wording.telling["and"]) == (1, 1, 1)


def test_terms_of_lines_are_counted_once_a_line_and_weigh_by_their_rarity():
    lines = profiled(example("tends", line="lamp lamp oil"), example("tends", line="lamp wick"))
    assert (lines.examples, dict(lines.containing)) == (2, {"lamp": 2, "oil": 1, "wick": 1})
    rarities = lines.rarities(["lamp", "oil", "rope"])
    assert rarities == pytest.approx({"lamp": 0.18232156, "oil": 0.69314718, "rope": 1.79175947})  # ln 1.2, 2, 6


def test_a_term_weighs_by_bm25_over_the_documents_of_types():
    """Two documents of 9 and of 10 terms, whose average is taken as 1.25 ** 10, 9.3132."""
    found = profiled(
        example("tends", "a", "b", fact=""),  # three times each of: a tends b
        example("rows", "a", "b", fact="rope"),
    ).postings
    assert set(found) == {"a", "b", "tends", "rows", "rope"}
    rows, weights = found["tends"]
    # f / (f + 1.2 (0.25 + 0.75 · 9 / 9.3132)) = 3 / 4.16974, and ln 2 for one of two documents
    assert rows.tolist() == [1]
    assert weights == pytest.approx([0.69314718 * 0.71947], rel=1e-4)
    rows, weights = found["rope"]
    # 1 / (1 + 1.2 (0.25 + 0.75 · 10 / 9.3132)) = 1 / 2.26637
    assert rows.tolist() == [0]
    assert weights == pytest.approx([0.69314718 * 0.44123], rel=1e-4)
    rows, weights = found["a"]
    assert rows.tolist() == [0, 1]
    assert weights == pytest.approx([0.18232156 * 3 / 4.26637, 0.18232156 * 3 / 4.16974], rel=1e-4)


def test_no_examples_make_an_empty_profile():
    none = profiled()
    assert (none.types, none.kinds, none.postings, none.examples) == ((), (), {}, 0)
    assert none.meets.shape == (0, 0)
    assert none.row_of("tends") == none.kind_of("person") == -1


kinds = st.sampled_from(["person", "crew", "lamp"])
words = st.lists(st.sampled_from(["trims", "rows", "north", "light", "the"]), max_size=5).map(" ".join)
examples = st.lists(
    st.builds(
        Example,
        type=st.sampled_from(["tends", "rows_for", "knows"]),
        source_kind=kinds,
        target_kind=kinds,
        names=st.tuples(words, words),
        line=words,
        fact=words,
    ),
    max_size=6,
)


@given(examples, st.randoms())
def test_the_order_of_examples_does_not_matter(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    one, other = profiled(*found, analyser=ENGLISH), profiled(*shuffled, analyser=ENGLISH)
    assert (one.types, one.typed, one.kinds, one.wording) == (other.types, other.typed, other.kinds, other.wording)
    assert one.meets.tolist() == other.meets.tolist()
    assert one.postings.keys() == other.postings.keys()
    for term, (rows, weights) in one.postings.items():
        assert rows.tolist() == other.postings[term][0].tolist()
        assert weights == pytest.approx(other.postings[term][1])


@given(examples)
def test_weights_are_above_nothing(found):
    profile = profiled(*found, analyser=ENGLISH)
    for rows, weights in profile.postings.values():
        assert rows.tolist() == sorted(set(rows.tolist()))
        assert (weights > 0).all()
    assert all(rarity > 0 for rarity in profile.rarities(["trims", "rope"]).values()) or not found


LIGHTS = Wording(
    naming={"harbour": 1, "ines": 4, "crew": 3}, telling={"harbour": 3, "lamp": 2}, type_terms=frozenset({"crew"})
)


def test_the_share_of_facts_in_which_a_word_is_part_of_a_name():
    assert LIGHTS.nameness("harbour", ["harbour"]) == pytest.approx(0.25)
    assert LIGHTS.nameness("ines", ["ines"]) == 1.0
    assert LIGHTS.nameness("lamp", ["lamp"]) == 0.0


def test_a_word_of_no_fact_may_be_a_name():
    assert LIGHTS.nameness("tamsin", ["tamsin"]) == 1.0


def test_a_word_of_a_type_names_nothing_by_itself_however_it_is_used():
    assert LIGHTS.nameness("crews", ["crew"]) == 0.0
    assert LIGHTS.usage("crew") == 1.0


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 5)),
)
def test_a_share_is_a_share(naming, telling):
    wording = Wording(naming=naming, telling=telling, type_terms=frozenset())
    for word in "abc":
        assert 0.0 <= wording.nameness(word, [word]) <= 1.0
