"""The five rankings of entities: their pinned numbers, and what must hold for every input."""

from datetime import UTC, datetime
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.model import Entity, ScorePart
from graphsearch.question import QuestionType, analyse
from graphsearch.ranking.entity_ranking import (
    WEIGHTS,
    FoundEntity,
    Ranking,
    RankingWeights,
    Years,
    answer_match,
    answer_weight,
    factors_of,
    query_match,
    rank,
    weights_for,
)

NOW = datetime(2024, 5, 15, tzinfo=UTC)
unit = st.floats(0.0, 1.0)


def asked(question):
    return analyse(question, as_of=NOW)


def candidate(id, original=1.0, name="Ada", type="person", feedback_weight=0.5, **details):
    entity = Entity(id=UUID(int=id), type=type, name=name, feedback_weight=feedback_weight)
    return FoundEntity(entity=entity, original=original, **details)


def written(name, *, summary="", connected=(), attributes=None, labels=()):
    entity = Entity(type="person", name=name, description=summary, attributes=attributes or {}, labels=labels)
    return FoundEntity(entity=entity, original=1.0, connected_names=connected)


def ids(ranked):
    return [each.entity.id.int for each in ranked]


# -- factors ------------------------------------------------------------------------------------------------------


def total(weights, values):
    return sum(ScorePart(name=name, value=values[name], weight=weight).contribution for name, weight in weights.items())


def test_multi_factor_by_hand():
    weights = {**attrs.asdict(WEIGHTS[Ranking.MULTI_FACTOR]), "original": WEIGHTS[Ranking.MULTI_FACTOR].original}
    values = {"original": 0.85, "connection": 0.75, "temporal": 1.0, "query_match": 0.92, "entity_type": 0.3}
    assert total(weights, values) == pytest.approx(0.89)  # 0.2975 + 0.1125 + 0.25 + 0.23


def test_connection_by_hand():
    best, other = candidate(1, 1.0, connections=4), candidate(2, 0.85, connections=3)
    ranked = rank([other, best], asked("Ada"), WEIGHTS[Ranking.CONNECTION], 0.0)
    assert ids(ranked) == [1, 2]
    assert ranked[1].relevance == pytest.approx(0.82)  # 0.595 + 0.225
    assert [(each.name, each.value, each.weight) for each in ranked[1].factors] == [
        ("original", 0.85, pytest.approx(0.7)),
        ("connection", 0.75, 0.3),
    ]


@pytest.mark.parametrize(
    ("ranking", "names", "original"),
    [
        (Ranking.RRF, ["original"], 1.0),
        (Ranking.CONNECTION, ["original", "connection"], 0.7),
        (Ranking.TEMPORAL, ["original", "connection", "temporal"], 0.5),
        (Ranking.MULTI_FACTOR, ["original", "connection", "temporal", "query_match"], 0.35),
        (Ranking.QUESTION_AWARE, ["original", "connection", "temporal", "query_match", "entity_type"], 0.3),
    ],
)
def test_each_ranking_has_its_factors_and_the_original_score_has_the_rest(ranking, names, original):
    factors = factors_of(candidate(1), asked("Ada"), WEIGHTS[ranking], best=1.0, busiest=0)
    assert [factor.name for factor in factors] == names
    assert factors[0].weight == pytest.approx(original)
    assert sum(factor.weight for factor in factors) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("named", "dated", "expected"),
    [
        (True, True, (0.15, 0.20, 0.20, 0.15, 0.30)),
        (True, False, (0.15, 0.0, 0.20, 0.15, 0.50)),
        (False, True, (0.0, 0.20, 0.0, 0.15, 0.65)),
        (False, False, (0.0, 0.0, 0.0, 0.15, 0.85)),
    ],
)
def test_what_a_question_does_not_name_counts_for_nothing(named, dated, expected):
    found = weights_for(Ranking.QUESTION_AWARE, named=named, dated=dated)
    weights = (found.connection, found.temporal, found.query_match, found.entity_type, found.original)
    assert weights == pytest.approx(expected)


@pytest.mark.parametrize("ranking", [each for each in Ranking if each is not Ranking.QUESTION_AWARE])
def test_other_rankings_have_the_same_weights_for_every_question(ranking):
    flags = [(named, dated) for named in (True, False) for dated in (True, False)]
    assert {weights_for(ranking, named=named, dated=dated) for named, dated in flags} == {WEIGHTS[ranking]}


def test_weights_that_add_up_to_more_than_one_are_refused():
    assert RankingWeights(connection=0.1, temporal=0.2, query_match=0.7).original == pytest.approx(0.0)
    with pytest.raises(InvalidInputError, match=r"at most 1, not 1\.1"):
        RankingWeights(connection=0.5, temporal=0.6)
    with pytest.raises(InvalidInputError) as error:
        RankingWeights(connection=-0.5, temporal=1.6)
    assert len(error.value.faults) == 2


# -- the type of the answer ---------------------------------------------------------------------------------------

TABLE = {
    QuestionType.WHO: {"person": 2.0, "organisation": 0.5, "place": 0.3, "date": 0.8, "tool": 1.0},
    QuestionType.WHERE: {"place": 2.0, "facility": 1.5, "organisation": 0.7, "person": 0.5, "date": 0.5, "tool": 1.0},
    QuestionType.WHEN: {"date": 2.0, "event": 1.5, "person": 0.8, "tool": 0.8},
    QuestionType.HOW_MANY: {"quantity": 2.0, "date": 1.0, "person": 0.8},
    QuestionType.WHY: {"event": 1.5, "person": 1.2, "organisation": 1.2, "date": 1.2, "place": 1.0},
    QuestionType.WHAT_ORGANISATION: {"organisation": 2.0, "person": 0.7, "place": 0.8},
    QuestionType.WHAT_POSITION: {"person": 1.5, "organisation": 1.5, "date": 1.5, "place": 1.2},
    QuestionType.WHAT_EVENT: {"event": 2.0, "date": 1.5, "place": 1.3, "person": 1.2, "organisation": 1.2},
    QuestionType.WHAT: {"person": 1.0},
    QuestionType.HOW: {"person": 1.0},
}


@pytest.mark.parametrize(
    ("question", "type", "weight"),
    [(asked, kind, weight) for asked, row in TABLE.items() for kind, weight in row.items()],
)
def test_how_much_a_type_counts_for_a_question(question, type, weight):
    assert answer_weight(question, type) == weight


def test_the_weight_of_a_type_as_a_factor():
    assert [answer_match(weight) for weight in (2.0, 0.3, 1.0)] == pytest.approx([1, 0, 1 / 3])
    assert answer_match(1.0) == pytest.approx(0.3333, abs=1e-4)
    assert answer_match(9.0) == 1.0


def test_question_aware_prefers_who_is_asked_for():
    found = [candidate(1, type="place"), candidate(2, type="person")]
    weights = WEIGHTS[Ranking.QUESTION_AWARE]
    assert ids(rank(found, asked("Who is it?"), weights, 0.3)) == [2, 1]
    assert ids(rank(found, asked("Where is it?"), weights, 0.3)) == [1, 2]


# -- the text of the question -------------------------------------------------------------------------------------


def test_query_match_by_hand():
    question = asked("Where did Ada Lovelace study mathematics?")  # four terms, one proper noun
    # The name weighs 3, of which two of four terms have half; the proper noun stands whole, which adds 2: 3.5 of 9.
    assert query_match(written("Ada Lovelace"), question) == pytest.approx(0.388888889)
    assert query_match(written("Ada"), question) == pytest.approx(0.083333333)  # 0.75 of 9
    spread = written(
        "Lovelace", summary="mathematics", connected=("Ada",), attributes={"study": None}, labels=("study",)
    )
    # A quarter of each of 3, 1.5, 1, 1 and 0.5 is 1.75; with the proper noun 3.75 of 9.
    assert query_match(spread, question) == pytest.approx(0.416666667)
    everything = "Ada Lovelace, study, mathematics"
    full = written(
        everything,
        summary=everything,
        connected=(everything,),
        attributes={"known for": [everything]},
        labels=(everything,),
    )
    assert query_match(full, question) == pytest.approx(1.0)
    assert query_match(written("Bob"), question) == 0.0


def test_short_terms_and_questions_that_name_nothing_match_nothing():
    assert query_match(written("ab cd"), asked("ab cd?")) == 0.0
    assert query_match(written("of the"), asked("what of the?")) == 0.0


# -- ranking ------------------------------------------------------------------------------------------------------


def test_an_attorney_general_of_2020_comes_before_one_whose_term_was_over():
    harris = candidate(1, 1.0, name="Harris", dates=(Years(2011, 2017),))
    becerra = candidate(2, 0.9, name="Becerra", dates=(Years(2017, 2021),))
    weights = WEIGHTS[Ranking.TEMPORAL]
    in_2020 = rank([harris, becerra], asked("Who was attorney general in 2020?"), weights, 0.3)
    assert ids(in_2020) == [2, 1]
    assert [each.factors[-1].value for each in in_2020] == [1.0, 0.3]
    assert ids(rank([harris, becerra], asked("Who was attorney general?"), weights, 0.3)) == [1, 2]


def test_feedback_is_mixed_in_after_the_best_is_made_one():
    found = [candidate(1, 0.4, feedback_weight=0.1), candidate(2, 0.2, feedback_weight=0.9)]
    ranked = rank(found, asked("Ada"), WEIGHTS[Ranking.RRF], 0.3)
    scores = {each.entity.id.int: each.score for each in ranked}
    assert scores == {1: pytest.approx(0.73), 2: pytest.approx(0.62)}  # 0.7 + 0.03, 0.35 + 0.27


def test_nothing_known_and_nobody_found():
    assert rank([], asked("Ada"), WEIGHTS[Ranking.MULTI_FACTOR], 0.3) == []
    (ranked,) = rank([candidate(1, 0.0)], asked("Ada"), WEIGHTS[Ranking.RRF], 0.3)
    assert ranked.relevance == 0.0
    assert ranked.score == pytest.approx(0.15)


candidates = st.lists(
    st.builds(
        FoundEntity,
        entity=st.builds(
            Entity,
            id=st.uuids(),
            type=st.sampled_from(["person", "place", "date"]),
            name=st.sampled_from(["Ada", "Bob", "Acme Ada"]),
            description=st.text("abc d", max_size=9),
            feedback_weight=unit,
        ),
        original=st.floats(0.0, 1e6),
        channels=st.just({}),
        connections=st.integers(0, 1000),
        dates=st.sampled_from([(), (Years(2017, 2021),), (Years(2011, None),)]),
    ),
    max_size=8,
    unique_by=lambda each: each.entity.id,
)
QUESTIONS = st.sampled_from(
    [asked(text) for text in ("Who was Ada in 2020?", "where is it?", "", "Ada and Bob since 2018")]
)


@given(candidates, QUESTIONS, st.sampled_from(Ranking), unit, st.randoms())
def test_scores_add_up_stay_in_the_unit_interval_and_no_order_matters(found, question, ranking, influence, random):
    weights = WEIGHTS[ranking]
    ranked = rank(found, question, weights, influence)
    for each in ranked:
        assert sum(factor.contribution for factor in each.factors) == pytest.approx(each.relevance)
        assert each.relevance_part + each.feedback_part == each.score
        assert all(-1e-12 <= factor.value <= 1 + 1e-12 for factor in each.factors)
        assert -1e-12 <= each.relevance <= 1 + 1e-9
        assert -1e-12 <= each.score <= 1 + 1e-9
    shuffled = list(found)
    random.shuffle(shuffled)
    assert rank(shuffled, question, weights, influence) == ranked


@given(unit, unit, unit)
def test_the_score_rises_with_feedback(low, high, original):
    low, high = sorted((low, high))
    weights = WEIGHTS[Ranking.RRF]
    scores = [
        rank([candidate(1, original, feedback_weight=weight), candidate(2)], asked("Ada"), weights, 0.3)
        for weight in (low, high)
    ]
    lower, higher = ({each.entity.id.int: each.score for each in ranked}[1] for ranked in scores)
    assert lower <= higher
