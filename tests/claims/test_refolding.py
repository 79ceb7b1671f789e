"""Folds of visible claims, as if the others did not exist."""

from hypothesis import given
from hypothesis import strategies as st

from graphsearch.claims.folding import fold, redacted_fold
from tests.claims.test_folding import ACME, BRIT, KNOWS, WORKS_AT, claims, dated_claim, day

TYPES = st.sampled_from([WORKS_AT, KNOWS])


def test_a_period_that_only_the_hidden_closed_is_open_again():
    given_claims = [dated_claim("a", 1), dated_claim("b", 9, target=BRIT)]
    assert [each.valid_to for each in fold(given_claims, WORKS_AT)] == [day(9), None]
    redacted = redacted_fold(given_claims, given_claims[:1], WORKS_AT)
    assert [each.valid_to for each in redacted[ACME, day(1)]] == [None]
    assert redacted[BRIT, day(9)] == []


def test_periods_that_the_hidden_made_of_one_stand_under_the_first():
    given_claims = [dated_claim("a", 1), dated_claim("b", 3, end=2), dated_claim("c", 5)]
    assert [each.valid_from for each in fold(given_claims, KNOWS)] == [day(1), day(5)]
    redacted = redacted_fold(given_claims, [given_claims[0], given_claims[2]], KNOWS)
    assert [(each.valid_to, each.memories) for each in redacted[ACME, day(1)]] == [(None, frozenset("ac"))]
    assert redacted[ACME, day(5)] == []


def test_a_period_that_the_hidden_took_in_stands_under_what_took_it_in():
    given_claims = [dated_claim("a", 5, start=3, end=4), dated_claim("b", 8), dated_claim("c", 9, start=1, end=9)]
    (alone,) = redacted_fold(given_claims, given_claims[:1], KNOWS)[ACME, day(1)]
    assert (alone.valid_from, alone.valid_to, alone.memories) == (day(3), day(4), frozenset("a"))
    assert [each.valid_from for each in redacted_fold(given_claims, given_claims[:2], KNOWS)[ACME, day(1)]] == [
        day(3),
        day(8),
    ]


@given(claims, TYPES)
def test_by_all_claims_each_relation_stands_for_itself(given_claims, relation_type):
    whole = fold(given_claims, relation_type)
    redacted = redacted_fold(given_claims, given_claims, relation_type)
    assert {key: [period.relation for period in periods] for key, periods in redacted.items()} == {
        (each.target_id, each.valid_from): [each] for each in whole
    }


@given(claims, st.sets(st.sampled_from("abcdefgh")), TYPES)
def test_each_period_stands_under_one_relation_that_shares_a_memory_with_it(given_claims, hidden, relation_type):
    visible = [dated for dated in given_claims if dated.claim.memory_id not in hidden]
    redacted = redacted_fold(given_claims, visible, relation_type)
    whole = {(each.target_id, each.valid_from): each for each in fold(given_claims, relation_type)}
    assert redacted.keys() == whole.keys()
    stood_for = [(whole[key], period.relation) for key, periods in redacted.items() for period in periods]
    expected = fold(visible, relation_type)
    assert sorted((period for _, period in stood_for), key=expected.index) == expected
    for stored, period in stood_for:
        assert stored.target_id == period.target_id
        assert set(stored.evidence) & set(period.evidence)
