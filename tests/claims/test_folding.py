"""Claims fold to the same relations in any order; visible claims fold as if the others did not exist."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.claims.folding import EARLIEST, DatedClaim, confidence_of, confidence_within, fold, redacted_fold
from graphsearch.model import Claim, EdgeKind, RelationType

ADA, ACME, BRIT = UUID(int=1), UUID(int=2), UUID(int=3)
WORKS_AT = RelationType(name="works_at", functional=True)
KNOWS = RelationType(name="knows")


def day(number: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def dated_claim(memory, when, target=ACME, start=None, end=None, confidence=0.8, **other) -> DatedClaim:
    claim = Claim(
        memory_id=memory,
        source_id=ADA,
        type="works_at",
        target_id=target,
        confidence=confidence,
        valid_from=None if start is None else day(start),
        valid_to=None if end is None else day(end),
        **other,
    )
    return DatedClaim(claim, None if when is None else day(when))


def periods(claims, relation_type=WORKS_AT):
    return [(relation.target_id, relation.valid_from, relation.valid_to) for relation in fold(claims, relation_type)]


def test_an_undated_claim_opens_a_period_and_the_next_supports_it():
    (relation,) = fold([dated_claim("a", 1), dated_claim("b", 5)], KNOWS)
    assert (relation.valid_from, relation.valid_to, relation.supported_at) == (day(1), None, day(5))
    assert relation.evidence == ("a", "b")
    assert relation.confidence == pytest.approx(0.96)


def test_what_began_earlier_has_an_open_start_unless_another_target_held_before():
    earlier = dated_claim("b", 5, ACME)
    earlier = attrs.evolve(earlier, claim=attrs.evolve(earlier.claim, valid_from=EARLIEST))
    assert periods([earlier]) == [(ACME, None, None)]
    assert periods([dated_claim("a", 1, BRIT), earlier]) == [(BRIT, day(1), day(5)), (ACME, day(5), None)]
    assert periods([dated_claim("a", 1, ACME), earlier]) == [(ACME, None, None)]
    assert periods([earlier, dated_claim("c", 9, BRIT)]) == [(ACME, None, day(9)), (BRIT, day(9), None)]
    assert periods([earlier, dated_claim("c", 9, start=5, end=5)]) == [(ACME, day(5), day(5))]


def test_what_is_over_by_then_keeps_an_end_that_is_known():
    assert periods([dated_claim("a", 1, end=-90), dated_claim("b", 5, end=5)]) == [(ACME, None, day(-90))]
    assert periods([dated_claim("a", 1, end=1), dated_claim("b", 5, end=-90)]) == [(ACME, None, day(-90))]
    left = dated_claim("b", 5, end=5, kind=EdgeKind.LIFECYCLE)
    assert periods([dated_claim("a", 1, end=-90), left]) == [(ACME, None, day(5))]


def test_a_memory_counts_once_with_its_surest_claim():
    (relation,) = fold([dated_claim("a", 1, confidence=0.6), dated_claim("a", 1, confidence=0.7)], KNOWS)
    assert relation.confidence == pytest.approx(0.7)


def test_a_memory_of_no_known_time_opens_an_unbounded_period():
    (relation,) = fold([dated_claim("file", None, kind=EdgeKind.STRUCTURAL, fact="ssl.py:7")], KNOWS)
    assert (relation.valid_from, relation.valid_to, relation.supported_at) == (None, None, None)
    assert (relation.kind, relation.fact) == (EdgeKind.STRUCTURAL, "ssl.py:7")


def test_a_new_target_closes_the_old_one_of_a_functional_type():
    claims = [dated_claim("a", 1), dated_claim("b", 9, target=BRIT)]
    assert periods(claims) == [(ACME, day(1), day(9)), (BRIT, day(9), None)]
    assert periods(claims, KNOWS) == [(ACME, day(1), None), (BRIT, day(9), None)]


CORP = UUID(int=4)


def test_what_is_over_is_a_state_that_had_an_end():
    claims = [dated_claim("a", 1), dated_claim("b", 9, target=BRIT)]
    assert [each.kind for each in fold(claims, WORKS_AT)] == [EdgeKind.LIFECYCLE, EdgeKind.SEMANTIC]
    by_data = [dated_claim("a", 1, end=5, kind=EdgeKind.STRUCTURAL)]
    assert [each.kind for each in fold(by_data, WORKS_AT)] == [EdgeKind.STRUCTURAL]


def test_what_one_memory_states_together_holds_together_until_something_else_is_stated():
    both = [dated_claim("a", 1), dated_claim("b", 5), dated_claim("b", 5, target=BRIT)]
    assert periods(both) == [(ACME, day(1), None), (BRIT, day(5), None)]
    later = [*both, dated_claim("c", 9, target=CORP)]
    assert periods(later) == [(ACME, day(1), day(9)), (BRIT, day(5), day(9)), (CORP, day(9), None)]


@pytest.mark.parametrize(
    ("fact", "ended"),
    [
        ("Ada also works at Brit.", False),
        ("Ada works at Brit as well.", False),
        ("Ada works at Brit too.", False),
        ("Ada works at Brit.", True),
        ("Ada now works at Brit, and she also likes tea.", True),
    ],
)
def test_what_is_added_ends_nothing(fact, ended):
    claims = [dated_claim("a", 1), dated_claim("b", 5, target=BRIT, fact=fact)]
    assert periods(claims) == [(ACME, day(1), day(5) if ended else None), (BRIT, day(5), None)]
    assert periods([*claims, dated_claim("c", 9, target=CORP)])[-1] == (CORP, day(9), None)
    assert [end for _, _, end in periods([*claims, dated_claim("c", 9, target=CORP)])][1:] == [day(9), None]


def test_going_back_opens_a_second_period():
    claims = [dated_claim("a", 1), dated_claim("b", 5, target=BRIT), dated_claim("c", 9)]
    assert periods(claims) == [(ACME, day(1), day(5)), (BRIT, day(5), day(9)), (ACME, day(9), None)]


def test_a_stated_start_before_an_open_period_takes_it_in():
    (relation,) = fold([dated_claim("a", 5), dated_claim("b", 6, start=2)], KNOWS)
    assert (relation.valid_from, relation.evidence) == (day(2), ("a", "b"))


def test_a_start_stated_later_takes_in_one_stated_before():
    """As the other way about, where the later start only supports the period that it lies in."""
    for claims in (
        [dated_claim("a", 5, start=4), dated_claim("b", 6, start=2)],
        [dated_claim("a", 5, start=2), dated_claim("b", 6, start=4)],
    ):
        assert periods(claims, KNOWS) == [(ACME, day(2), None)]


def test_the_first_end_that_is_known_of_what_is_taken_in_counts():
    claims = [dated_claim("a", 5, start=3, end=4), dated_claim("b", 8, start=7), dated_claim("c", 9, start=1)]
    assert periods(claims, KNOWS) == [(ACME, day(1), day(4)), (ACME, day(7), None)]


def test_a_stated_start_stays_a_start():
    assert periods([dated_claim("a", 6, start=5), dated_claim("b", 7, start=2, end=3)], KNOWS) == [
        (ACME, day(2), day(3)),
        (ACME, day(5), None),
    ]


def test_an_end_closes_the_running_period():
    assert periods([dated_claim("a", 1), dated_claim("b", 9, end=7)]) == [(ACME, day(1), day(7))]


def test_an_end_alone_has_an_open_start():
    assert periods([dated_claim("b", 9, end=7)]) == [(ACME, None, day(7))]
    assert periods([dated_claim("a", 1, end=3), dated_claim("b", 9, end=7)]) == [(ACME, None, day(7))]


def test_a_stated_past_ends_where_the_known_present_starts():
    assert periods([dated_claim("a", 5, target=BRIT), dated_claim("b", 6, start=1)]) == [
        (ACME, day(1), day(5)),
        (BRIT, day(5), None),
    ]


def test_contradictions_are_both_kept():
    assert periods([dated_claim("a", 3), dated_claim("b", 3, target=BRIT)]) == [
        (ACME, day(3), None),
        (BRIT, day(3), None),
    ]


def test_co_occurrence_is_capped():
    assert confidence_of([0.9, 0.9], "co_occurs") == 0.65
    grown = [confidence_of([0.55] * number, "co_occurs") for number in range(1, 9)]
    assert grown[:2] == pytest.approx([0.55, 0.634615])  # 0.65 · (1 − (1 / 6.5) ^ n)
    assert grown == sorted(set(grown))
    assert grown[-1] < 0.65
    assert confidence_of([0.9, 0.9], "works_with") == pytest.approx(0.99)
    assert confidence_of([], "works_with") == 0.0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([(0.8, 0.4)], 0.4),
        ([(0.3, 0.4)], 0.3),
        ([(0.3, 0.4)] * 20, 0.4),
        ([(0.8, 1.0), (0.9, 0.4)], 0.8),
        ([(0.2, 1.0), (0.1, 0.4)], 0.28),
        ([(0.2, 1.0), (0.9, 0.4)], 0.4),
        ([(0.2, 1.0), (0.5, 0.6), (0.9, 0.4)], 0.6),
        ([(0.5, 1.0), (0.5, 1.0), (0.9, 0.4)], 0.75),
        ([(0.9, 0.0)], 0.0),
        ([], 0.0),
    ],
)
def test_what_has_a_ceiling_raises_nothing_above_it(given, expected):
    claims = [
        dated_claim(f"m{number}", number, confidence=confidence, ceiling=ceiling).claim
        for number, (confidence, ceiling) in enumerate(given)
    ]
    assert confidence_within(claims) == pytest.approx(expected)


def test_of_one_memory_the_claim_that_proves_most_counts():
    (relation,) = fold([dated_claim("a", 1, confidence=0.9, ceiling=0.4), dated_claim("a", 1, confidence=0.5)], KNOWS)
    assert relation.confidence == pytest.approx(0.5)
    assert relation.evidence == ("a",)


claims = st.lists(
    st.builds(
        dated_claim,
        memory=st.sampled_from("abcdefgh"),
        when=st.none() | st.integers(0, 20),
        target=st.sampled_from([ACME, BRIT]),
        start=st.none() | st.integers(0, 9),
        end=st.none() | st.integers(10, 20),
        confidence=st.floats(0, 1),
        ceiling=st.sampled_from([1.0, 0.7, 0.4]),
    ),
    min_size=1,
    max_size=8,
)


@given(claims, st.randoms(use_true_random=False), st.sampled_from([WORKS_AT, KNOWS]))
def test_the_order_of_arrival_does_not_matter(given_claims, random, relation_type):
    shuffled = list(given_claims)
    random.shuffle(shuffled)
    assert fold(shuffled, relation_type) == fold(given_claims, relation_type)


@given(claims, st.sampled_from([WORKS_AT, KNOWS]))
def test_every_memory_proves_something_and_ids_are_distinct(given_claims, relation_type):
    relations = fold(given_claims, relation_type)
    assert {memory for relation in relations for memory in relation.evidence} == {
        dated.claim.memory_id for dated in given_claims
    }
    assert len({relation.id for relation in relations}) == len(relations)
    assert all(0 <= relation.confidence <= 1 for relation in relations)


@given(claims, st.sampled_from([WORKS_AT, KNOWS]))
def test_periods_of_one_target_never_overlap(given_claims, relation_type):
    for target in (ACME, BRIT):
        own = [each for each in periods(given_claims, relation_type) if each[0] == target]
        for (_, _, end), (_, start, _) in pairwise(own):
            assert end is not None
            assert start is not None
            assert end <= start


@given(claims)
def test_apart_or_together_is_the_same_where_the_type_is_not_functional(given_claims):
    together = fold(given_claims, KNOWS)
    apart = [
        relation
        for target in (ACME, BRIT)
        for relation in fold([dated for dated in given_claims if dated.claim.target_id == target], KNOWS)
    ]
    assert sorted(together, key=lambda relation: relation.id) == sorted(apart, key=lambda relation: relation.id)


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
