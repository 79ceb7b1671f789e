"""Names in a question, linked to entities with probabilities."""

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.question.analysis import Nameable, QuestionText, WrittenName, tokens
from graphsearch.question.linking import HINT, WRITTEN, link
from graphsearch.question.type_profile import Wording
from graphsearch.text.analyser import ENGLISH

SILENT = Wording(naming={}, telling={}, type_terms=frozenset())
"""Of a scope without facts, where any word may be a name."""


def called(*names, number=1, type="person"):
    return Nameable(id=UUID(int=number), type=type, names=names)


ORLA = called("Orla Quill")
BRENNAN = called("Orla Brennan", number=2)
PIER = called("Pier", number=3, type="place")


def linked(text, *nameable, wording=SILENT, blocked=()):
    return link(QuestionText(text), nameable, wording, ENGLISH.terms, blocked=blocked)


def written(found, text):
    """The characters of each link, with the number of the entity and the probability."""
    return [(text[each.start : each.end], each.entity_id.int, each.probability) for each in found.links]


# -- whole names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["where does Orla Quill live", "where does orla quill live", "WHERE DOES ORLA QUILL LIVE"]
)
def test_a_whole_name_is_sure_in_any_case_and_masked(text):
    found = linked(text, ORLA)
    (only,) = found.links
    assert (only.start, only.end, only.probability, only.full, only.alias, only.kind) == (
        11,
        21,
        1.0,
        True,
        False,
        "person",
    )
    assert found.masked == {2, 3}
    assert found.probabilities == {ORLA.id: 1.0}


def test_the_longest_name_is_taken_and_nothing_inside_of_it():
    text = "who tends North Light House"
    light, house = called("North Light"), called("North Light House", number=2)
    assert written(linked(text, light, house), text) == [("North Light House", 2, 1.0)]


def test_a_name_of_two_words_may_be_written_as_one():
    text = "who tends the northlight"
    assert written(linked(text, called("North Light")), text) == [("northlight", 1, 1.0)]


def test_another_name_is_an_alias_and_the_own_name_is_not():
    keeper = called("Orla Quill", "Birdie", "orla quill")
    assert [each.alias for each in linked("is Birdie there", keeper).links] == [True]
    assert [each.alias for each in linked("is Orla Quill there", keeper).links] == [False]


def test_namesakes_are_all_meant_for_certain():
    text = "where is Orla Quill"
    assert written(linked(text, ORLA, called("orla quill", number=9)), text) == [
        ("Orla Quill", 1, 1.0),
        ("Orla Quill", 9, 1.0),
    ]


def test_a_possessive_names_its_owner():
    text = "Orla Quill's crew"
    assert written(linked(text, ORLA), text) == [("Orla Quill", 1, 1.0)]


def test_what_stands_twice_is_linked_twice_and_counts_once():
    found = linked("is Pier beside pier", PIER)
    assert [each.start for each in found.links] == [3, 15]
    assert found.probabilities == {PIER.id: 1.0}


def test_the_surest_of_its_links_tells_how_sure_an_entity_is():
    found = linked("does Orla Quill know orla", ORLA, BRENNAN)
    assert found.probabilities == pytest.approx({ORLA.id: 1.0, BRENNAN.id: 0.70710678})


def test_what_is_blocked_names_nothing():
    may = called("May", number=4)
    assert linked("who sailed in May", may).links != ()
    found = linked("who sailed in May", may, blocked={3})
    assert (found.links, found.masked) == ((), frozenset())


# -- ordinary words -----------------------------------------------------------------------------------------------


def test_an_ordinary_word_only_hints_at_its_namesake_and_stays_in_the_question():
    often = Wording(naming={"pier": 1}, telling={"pier": 3}, type_terms=frozenset())
    found = linked("who swept the pier", PIER, wording=often)
    assert found.probabilities == {PIER.id: HINT}
    assert not found.masked


def test_a_capital_inside_of_a_sentence_makes_a_name_of_it():
    often = Wording(naming={"pier": 1}, telling={"pier": 3}, type_terms=frozenset())
    assert linked("who swept the Pier", PIER, wording=often).probabilities == {PIER.id: 1.0}
    for text in ("Pier swept by whom", "WHO SWEPT THE PIER", "Is It Pier"):  # where a capital says nothing
        assert linked(text, PIER, wording=often).probabilities == {PIER.id: HINT}


def test_half_of_its_uses_make_a_word_a_name():
    half = Wording(naming={"pier": 2}, telling={"pier": 2}, type_terms=frozenset())
    assert linked("who swept the pier", PIER, wording=half).probabilities == {PIER.id: 1.0}


def test_a_stop_word_is_a_name_only_where_a_capital_says_so():
    will = called("Will", number=5)
    assert linked("when will it open", will).links == ()
    assert linked("when did Will open it", will).probabilities == {will.id: 1.0}


def test_a_name_that_is_also_a_types_word_counts_by_its_use():
    crew = called("Crew", number=6)
    typed = Wording(naming={"crew": 3}, telling={"crew": 1}, type_terms=frozenset({"crew"}))
    assert linked("what does crew need", crew, wording=typed).probabilities == {crew.id: 1.0}
    rarely = Wording(naming={"crew": 1}, telling={"crew": 3}, type_terms=frozenset({"crew"}))
    assert linked("what does crew need", crew, wording=rarely).probabilities == {crew.id: HINT}


# -- parts of names -----------------------------------------------------------------------------------------------


def test_a_part_is_as_sure_as_few_share_it():
    assert linked("where is orla", ORLA).probabilities == {ORLA.id: 1.0}
    assert linked("where is orla", ORLA, BRENNAN).probabilities == pytest.approx(
        {ORLA.id: 0.70710678, BRENNAN.id: 0.70710678}
    )
    four = [called(f"Orla N{number}", number=number) for number in range(4)]
    assert set(linked("where is orla", *four).probabilities.values()) == {0.5}
    assert [each.full for each in linked("where is orla", ORLA).links] == [False]


def test_a_longer_part_is_taken_first():
    text = "where is the old light now"
    one, other = called("Old Light Tower"), called("Light Ship", number=2)
    assert written(linked(text, one, other), text) == [("old light", 1, 1.0)]


def test_a_part_may_have_stop_words_in_it():
    text = "is it in the bay of"
    assert written(linked(text, called("Bay of Skerry")), text) == [("bay of", 1, 1.0)]


def test_a_part_that_is_mostly_used_otherwise_says_nothing():
    light = called("North Light")
    often = Wording(naming={"light": 2}, telling={"light": 3}, type_terms=frozenset())
    assert linked("is the light on", light, wording=often).links == ()
    assert linked("is the Light safe there", light, wording=often).probabilities == {light.id: WRITTEN}
    seldom = Wording(naming={"light": 3}, telling={"light": 1}, type_terms=frozenset())
    assert linked("is the light on", light, wording=seldom).probabilities == {light.id: 0.75}
    evenly = Wording(naming={"light": 2}, telling={"light": 2}, type_terms=frozenset())
    assert linked("is the light on", light, wording=evenly).probabilities == {light.id: 0.5}


def test_stop_words_single_letters_and_small_numbers_are_no_parts():
    bay = called("The Bay of B 12", number=7)
    assert linked("is it of the 12 or b", bay).links == ()
    assert linked("is it in berth 112", called("Berth 112")).probabilities == {UUID(int=1): 1.0}
    assert linked("is it in 112", called("Berth 112")).probabilities == {UUID(int=1): 1.0}


def test_what_a_whole_name_took_is_no_part_of_another():
    text = "where is Orla Quill"
    assert written(linked(text, ORLA, BRENNAN), text) == [("Orla Quill", 1, 1.0)]


# -- code ---------------------------------------------------------------------------------------------------------

RUN = called("Winch.run", "run", type="function")
WINCH = called("Winch", number=2, type="class")


def test_a_plain_word_is_hardly_code():
    assert linked("who may run this", RUN, WINCH).links == ()
    assert linked("can a winch stop a run", RUN, WINCH).probabilities == {WINCH.id: HINT}


def test_code_is_named_by_what_is_written_like_code():
    assert linked("what calls run() here", RUN).probabilities == {RUN.id: 1.0}
    assert linked("what calls `run` here", RUN).probabilities == {RUN.id: 1.0}
    assert linked("what calls `run", RUN).probabilities == {RUN.id: 1.0}
    text = "what calls Winch.run here"
    assert written(linked(text, RUN, WINCH), text) == [("Winch.run", 1, 1.0)]


def test_code_with_its_capital_inside_of_a_sentence_is_named():
    assert linked("what does Winch do here", WINCH).probabilities == {WINCH.id: 1.0}
    assert linked("Winch does what here", WINCH).probabilities == {WINCH.id: HINT}
    assert linked("what does WINCH do here", WINCH).probabilities == {WINCH.id: HINT}


def test_a_thing_of_the_same_name_is_named_by_a_plain_word():
    thing = called("Winch", number=3, type="tool")
    assert linked("what does the winch do", WINCH, thing).probabilities[thing.id] == 1.0


# -- for any names and questions ----------------------------------------------------------------------------------

WORDS = ["orla", "Orla", "quill", "light", "pier", "the", "will", "112", "run", "Winch.run", "where", "is"]
questions = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
nameables = st.lists(
    st.tuples(st.lists(names, min_size=1, max_size=2), st.sampled_from(["person", "function"])), max_size=4
).map(lambda rows: [called(*own, number=at, type=kind) for at, (own, kind) in enumerate(rows)])
counts = st.dictionaries(st.sampled_from([word.lower() for word in WORDS]), st.integers(0, 4))
wordings = st.builds(
    Wording, naming=counts, telling=counts, type_terms=st.sets(st.sampled_from(["light", "pier"])).map(frozenset)
)


@given(questions, nameables, wordings)
def test_probabilities_are_in_range_and_links_lie_in_the_question(text, nameable, wording):
    found = linked(text, *nameable, wording=wording)
    assert found.masked <= set(range(len(tokens(text))))
    for each in found.links:
        assert 0.0 < each.probability <= 1.0
        assert 0 <= each.start < each.end <= len(text)
    assert set(found.probabilities) <= {each.id for each in nameable}


@given(questions, nameables, wordings, st.randoms())
def test_the_order_of_the_entities_does_not_matter(text, nameable, wording, random):
    shuffled = list(nameable)
    random.shuffle(shuffled)
    one, other = linked(text, *nameable, wording=wording), linked(text, *shuffled, wording=wording)
    assert set(one.links) == set(other.links)
    assert one.masked == other.masked


@given(questions, nameables, wordings)
def test_masked_words_are_those_of_links(text, nameable, wording):
    found = linked(text, *nameable, wording=wording)
    spans = [(each.start, each.end) for each in found.links]
    for place, token in enumerate(tokens(text)):
        part = place in found.masked
        inside = any(start <= token.start and token.end <= end for start, end in spans)
        assert inside or not part


# -- what is written as one name ----------------------------------------------------------------------------------

FERRY = called("Ferry Bridge", number=4, type="bridge")
MILL = called("Mill Bridge", number=5, type="bridge")


def as_one(text, *nameable, wording=SILENT):
    """Linked where the capitalised words of a text are written as one name."""
    capitals = re.finditer(r"[A-Z]\w*(?: [A-Z0-9]\w*)*", text)
    names = [WrittenName(text=each[0], start=each.start(), end=each.end()) for each in capitals]
    return written(
        link(
            QuestionText(text),
            nameable,
            wording,
            ENGLISH.terms,
            written=names,
        ),
        text,
    )


def test_a_part_of_another_name_names_nothing():
    assert as_one("who inspects Abbey Bridge", FERRY, MILL) == []
    assert as_one("who keeps Gritter 5", called("Gritter 2")) == []
    assert as_one("where does Orla Menon live", ORLA, BRENNAN) == []
    assert as_one("who owns Riverside Theatre", called("Riverside")) == []


def test_what_is_written_apart_still_does():
    found = as_one("who inspects the bridge at Abbey", FERRY)
    assert [each[:2] for each in found] == [("bridge", 4)]


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("where does Professor Quill live", SILENT),  # a title
        ("who leads Lady Quill", Wording(naming={}, telling={"lady": 1}, type_terms=frozenset())),
        ("who leads Rower Quill", Wording(naming={}, telling={}, type_terms=frozenset({"rower"}))),
        ("where does Orla Jane Quill live", SILENT),  # most of it is the name
    ],
)
def test_a_title_and_words_that_the_scope_uses_make_no_other_name(text, wording):
    assert {each[1] for each in as_one(text, ORLA, wording=wording)} == {1}


def test_a_whole_name_of_several_words_is_one_inside_of_a_longer_name():
    assert as_one("who pays for Ferry Bridge Extension Works", FERRY) == [("Ferry Bridge", 4, 1.0)]


def test_a_word_that_several_names_end_with_in_small_letters_is_a_kind_of_thing():
    teams = [called("data team", number=8, type="team"), called("search team", number=9, type="team")]
    text = "who is on the team of Orla"
    assert written(linked(text, *teams, ORLA), text) == [("Orla", 1, 1.0)]
    assert written(linked("who is in Team", *teams), "who is in Team")  # a capital makes it a name
    assert written(linked("who is on the data team", *teams), "who is on the data team") == [("data team", 8, 1.0)]
    assert [each[1] for each in written(linked("who is on the team", teams[0]), "who is on the team")] == [8]
    quills = [ORLA, called("Moss Quill", number=2)]
    assert len(linked("where does quill live", *quills).links) == 2
