"""How well an entity fits the years that a question names."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model import Entity
from graphsearch.ranking.entity_ranking import Years, temporal_match, years_of

ASKED = [Years(2020, 2020)]
ends = st.none() | st.integers(1, 9999)
years = st.builds(Years, ends, ends)


def entity(**attributes):
    return Entity(type="person", name="Becerra", attributes=attributes)


def test_becerra_and_harris_in_2020():
    becerra, harris = entity(term_start="2017", term_end="2021"), entity(term_start=2011, term_end=2017)
    assert temporal_match(years_of(becerra), ASKED) == 1.0
    assert temporal_match(years_of(harris), ASKED) == 0.3


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ([Years(2017, 2021)], 1.0),
        ([Years(2020, 2020)], 1.0),
        ([Years(2017, None)], 0.8),
        ([Years(2020, None)], 0.8),
        ([Years(None, 2021)], 0.8),
        ([], 0.5),
        ([Years(2021, None)], 0.3),
        ([Years(None, 2019)], 0.3),
        ([Years(2011, 2017)], 0.3),
        ([Years(2011, 2017), Years(2019, None)], 0.8),
    ],
)
def test_the_four_values(known, expected):
    assert temporal_match(known, ASKED) == expected
    assert temporal_match(known, []) == 1.0


def test_a_range_or_an_open_side_is_asked_for():
    assert temporal_match([Years(2013, 2014)], [Years(2011, 2017)]) == 1.0
    assert temporal_match([Years(2013, 2014)], [Years(2015, None)]) == 0.3
    assert temporal_match([Years(2013, None)], [Years(2015, None)]) == 0.8
    assert temporal_match([Years(2013, 2014)], [Years(1999, 1999), Years(None, 2013)]) == 1.0


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"term_start": "March 2017", "term_end": 2021}, [Years(2017, 2021)]),
        ({"start_date": "2017-03-01"}, [Years(2017, None)]),
        ({"end_date": "2017-03-01"}, [Years(None, 2017)]),
        ({"valid_from": "2011", "valid_to": "2017"}, [Years(2011, 2017)]),
        ({"year": 1999}, [Years(1999, 1999)]),
        ({"date": "5 May 1999"}, [Years(1999, 1999)]),
        ({"office": "2011-2017", "others": ["2001–2003", "none"]}, [Years(2011, 2017), Years(2001, 2003)]),
        ({"note": "from 1999 to 2001"}, [Years(1999, 2001)]),
        ({"start_date": 2017, "end_date": 2011}, []),
        ({"year": True, "date": "12345", "start_date": None, "version": "2.2017", "born": "1815"}, []),
        ({"phone": "2011-2017-33", "reversed": "2017-2011"}, []),
    ],
)
def test_dates_are_read_from_attributes(attributes, expected):
    assert list(years_of(entity(**attributes))) == expected


def test_an_entitys_own_period_counts_and_does_not_touch_the_year_it_ends_before():
    own = Entity(
        type="person",
        name="Ada",
        valid_from=datetime(2011, 5, 1, tzinfo=UTC),
        valid_to=datetime(2018, 1, 1, tzinfo=UTC),
        attributes={"term_start": 2011, "term_end": 2017},
    )
    assert years_of(own) == (Years(2011, 2017),)
    assert years_of(Entity(type="person", name="Ada")) == ()


@given(st.lists(years, max_size=4), st.lists(years, max_size=3))
def test_only_four_values_whatever_the_order(known, asked):
    value = temporal_match(known, asked)
    assert value in {1.0, 0.8, 0.5, 0.3}
    assert value == temporal_match(known[::-1], asked[::-1])
    assert temporal_match([*known, *asked], asked) >= (value if known else 0.0)


@given(years, years)
def test_meeting_is_mutual(one, other):
    assert one.meet(other) == other.meet(one)
