"""Dates in English text, in a memory of Wednesday, 15 May 2024, 14:30."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.text.calendar import Precision
from graphsearch.text.dates import IsoDates, NaturalDates, Role

AT = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)
NATURAL = NaturalDates()


@pytest.mark.parametrize(
    ("text", "written", "start", "end", "precision"),
    [
        ("Ada left yesterday.", "yesterday", "2024-05-14", "2024-05-15", "day"),
        ("Ada left today.", "today", "2024-05-15", "2024-05-16", "day"),
        ("the day before yesterday", "the day before yesterday", "2024-05-13", "2024-05-14", "day"),
        ("Ada left at the end of April.", "April", "2024-04-30", "2024-05-01", "month"),
        ("Ada leaves at the end of the month.", "month", "2024-05-31", "2024-06-01", "month"),
        ("Ada left on the 20th.", "20th", "2024-04-20", "2024-04-21", "day"),
        ("Ada will leave on the 20th.", "20th", "2024-05-20", "2024-05-21", "day"),
        ("Ada left on the 31st.", "31st", "2024-03-31", "2024-04-01", "day"),
        ("Ada has led it since New Year's Day.", "New Year's Day", "2024-01-01", "2024-01-02", "day"),
        ("Ada left the week before last.", "the week before last", "2024-04-29", "2024-05-06", "week"),
        ("Ada left this morning.", "this morning", "2024-05-15", "2024-05-16", "day"),
        ("From 3 June Ada leads it.", "3 June", "2024-06-03", "2024-06-04", "day"),
        ("From 3 May Ada leads it.", "3 May", "2024-05-03", "2024-05-04", "day"),
        ("On 15 June I'm leaving.", "15 June", "2024-06-15", "2024-06-16", "day"),
        ("It is funded until 1 June.", "1 June", "2024-06-01", "2024-06-02", "day"),
        ("Ada lived there until 1 June.", "1 June", "2023-06-01", "2023-06-02", "day"),
        ("Ada left last night.", "last night", "2024-05-14", "2024-05-15", "day"),
        ("Ada left last Tuesday.", "last Tuesday", "2024-05-14", "2024-05-15", "day"),
        ("Ada left last Wednesday.", "last Wednesday", "2024-05-08", "2024-05-09", "day"),
        ("See you next Wednesday.", "next Wednesday", "2024-05-22", "2024-05-23", "day"),
        ("See you this Friday.", "this Friday", "2024-05-17", "2024-05-18", "day"),
        ("We met this Monday.", "this Monday", "2024-05-13", "2024-05-14", "day"),
        ("We met on Friday.", "Friday", "2024-05-10", "2024-05-11", "day"),
        ("We will meet on Friday.", "Friday", "2024-05-17", "2024-05-18", "day"),
        ("Ada left two weeks ago.", "two weeks ago", "2024-05-01", "2024-05-08", "week"),
        ("Ada left a couple of weeks ago.", "a couple of weeks ago", "2024-05-01", "2024-05-08", "week"),
        ("Ada left 5 days ago.", "5 days ago", "2024-05-10", "2024-05-11", "day"),
        ("Ada left a month ago.", "a month ago", "2024-04-15", "2024-05-15", "month"),
        ("Ada left two years ago.", "two years ago", "2022-05-15", "2023-05-15", "year"),
        ("She will join in two weeks.", "in two weeks", "2024-05-29", "2024-06-05", "week"),
        ("Ada left last week.", "last week", "2024-05-06", "2024-05-13", "week"),
        ("Ada left last weekend.", "last weekend", "2024-05-11", "2024-05-13", "day"),
        ("Ada left last summer.", "last summer", "2023-06-01", "2023-09-01", "quarter"),
        ("Ada left in the winter.", "winter", "2023-12-01", "2024-03-01", "quarter"),
        ("Ada is working there this summer.", "this summer", "2024-06-01", "2024-09-01", "quarter"),
        ("Ada left last month.", "last month", "2024-04-01", "2024-05-01", "month"),
        ("Ada left last quarter.", "last quarter", "2024-01-01", "2024-04-01", "quarter"),
        ("Ada starts next quarter.", "next quarter", "2024-07-01", "2024-10-01", "quarter"),
        ("Ada left last year.", "last year", "2023-01-01", "2024-01-01", "year"),
        ("Ada left in March.", "March", "2024-03-01", "2024-04-01", "month"),
        ("Ada left in June.", "June", "2023-06-01", "2023-07-01", "month"),
        ("Ada will leave in June.", "June", "2024-06-01", "2024-07-01", "month"),
        ("Ada left last May.", "last May", "2023-05-01", "2023-06-01", "month"),
        ("Ada left last March.", "last March", "2024-03-01", "2024-04-01", "month"),
        ("Ada starts next May.", "next May", "2025-05-01", "2025-06-01", "month"),
        ("Ada left this March.", "this March", "2024-03-01", "2024-04-01", "month"),
        ("Ada left in March 2023.", "March 2023", "2023-03-01", "2023-04-01", "month"),
        ("Ada left on 5 March 2023.", "5 March 2023", "2023-03-05", "2023-03-06", "day"),
        ("Ada left on the 5th of March, 2023.", "5th of March, 2023", "2023-03-05", "2023-03-06", "day"),
        ("Ada left on March 5th, 2023.", "March 5th, 2023", "2023-03-05", "2023-03-06", "day"),
        ("Ada left on March 5.", "March 5", "2024-03-05", "2024-03-06", "day"),
        ("Ada left on Sept. 5, 2022.", "Sept. 5, 2022", "2022-09-05", "2022-09-06", "day"),
        ("Ada left in Q3 2023.", "Q3 2023", "2023-07-01", "2023-10-01", "quarter"),
        ("Ada left in early 2023.", "2023", "2023-01-01", "2024-01-01", "year"),
        ("Ada left mid-2019.", "2019", "2019-01-01", "2020-01-01", "year"),
        ("Ada (2019) was good.", "2019", "2019-01-01", "2020-01-01", "year"),
        ("Ada left on 2023-05-01.", "2023-05-01", "2023-05-01", "2023-05-02", "day"),
        ("Ada left in 2023-05.", "2023-05", "2023-05-01", "2023-06-01", "month"),
        ("Ada left in 9999-12.", "9999-12", "9999-12-01", "None", "month"),
    ],
)
def test_expressions(text, written, start, end, precision):
    (found,) = NATURAL.find(text, AT)
    assert text[found.start : found.end] == written
    assert (str(found.valid_from)[:10], str(found.valid_to)[:10]) == (start, end)
    assert found.precision == Precision(precision)
    assert found.valid_from.tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "role", "start", "end"),
    [
        ("since March 2023", Role.SINCE, "2023-03-01", "2023-04-01"),
        ("as of 2023-04-01", Role.SINCE, "2023-04-01", "2023-04-02"),
        ("until 2020", Role.UNTIL, "2020-01-01", "2021-01-01"),
        ("from 2017 to 2021", Role.BETWEEN, "2017-01-01", "2021-01-01"),
        ("(2011–2017)", Role.BETWEEN, "2011-01-01", "2017-01-01"),
        ("from 2011-2017", Role.BETWEEN, "2011-01-01", "2017-01-01"),
        ("on 2024-05-03/05", Role.BETWEEN, "2024-05-03", "2024-05-05"),
        ("between March and May 2023", Role.BETWEEN, "2023-03-01", "2023-05-01"),
        ("from January to March", Role.BETWEEN, "2024-01-01", "2024-03-01"),
        ("from June to August", Role.BETWEEN, "2024-06-01", "2024-08-01"),
        ("the works last from October to March", Role.BETWEEN, "2024-10-01", "2025-03-01"),
        ("between march and may", Role.BETWEEN, "2024-03-01", "2024-05-01"),
        ("the 12 barges and from 2001 the tug", Role.SINCE, "2001-01-01", "2002-01-01"),
        ("paint it by the end of june", Role.AT, "2024-06-30", "2024-07-01"),
        ("the follow-up to the 1971 chart", Role.AT, "1971-01-01", "1972-01-01"),
        ("at the 1996 regatta", Role.AT, "1996-01-01", "1997-01-01"),
        ("in the year 1911", Role.AT, "1911-01-01", "1912-01-01"),
        ("in 2019", Role.AT, "2019-01-01", "2020-01-01"),
        ("Ann has run it for the past two years.", Role.SINCE, "2022-05-16", "2024-05-16"),
        ("we moved on 13.07.2023", Role.AT, "2023-07-13", "2023-07-14"),
        ("ada left in march.", Role.AT, "2024-03-01", "2024-04-01"),
        ("ada left since may", Role.SINCE, "2024-05-01", "2024-06-01"),
        ("In Q2 the team moved to Rust.", Role.AT, "2024-04-01", "2024-07-01"),
        ("She was there from 3 to 5 March 2024.", Role.BETWEEN, "2024-03-03", "2024-03-05"),
        ("He led it 2019–21.", Role.BETWEEN, "2019-01-01", "2021-01-01"),
        ("He led it from 2019 to 2021.", Role.BETWEEN, "2019-01-01", "2021-01-01"),
        ("He led it (2019-21).", Role.BETWEEN, "2019-01-01", "2021-01-01"),
        ("since the 3rd of May", Role.SINCE, "2024-05-03", "2024-05-04"),
        ("until mid June she stays", Role.UNTIL, "2024-06-01", "2024-07-01"),
        ("In H1 2025 we will ship.", Role.AT, "2025-01-01", "2025-07-01"),
        ("Ana started in May '23.", Role.AT, "2023-05-01", "2023-06-01"),
        ("deadline is 2024/07/13", Role.AT, "2024-07-13", "2024-07-14"),
        ("we ship in week 13 of 2025", Role.AT, "2025-03-24", "2025-03-31"),
        ("as of 1 july it is closed", Role.SINCE, "2024-07-01", "2024-07-02"),
        ("between 3 and 5 March", Role.BETWEEN, "2024-03-03", "2024-03-05"),
        ("from 28 feb to 3 march 2025", Role.BETWEEN, "2025-02-28", "2025-03-03"),
        ("we start next monday", Role.AT, "2024-05-20", "2024-05-21"),
        ("left on friday", Role.AT, "2024-05-10", "2024-05-11"),
    ],
)
def test_words_around_a_date(text, role, start, end):
    (found,) = NATURAL.find(text, AT)
    assert (found.role, str(found.valid_from)[:10], str(found.valid_to)[:10]) == (role, start, end)


@pytest.mark.parametrize(
    "text",
    [
        "May I ask?",
        "March on!",
        "in 1500 lines",
        "2023 files",
        "12/05/2023",
        "0000-01-01",
        "2023-13-01",
        "31 February 2023",
        "built it in two weeks",
        "version 2024.1",
        "a few days ago",
        "written in Spring",
        "since the fall of the wall",
        "99999 years ago",
        "last one",
        "you may 5 times",
        "the march 5 km",
        "we march on",
        "this may be wrong",
        "Windows 2000",
        "room 2019",
        "in the first half",
        "version 12.10.24",
        "Ubuntu 12.04.24",
        "costs 1999 EUR",
        "may be",
        "jan said",
        "the sun set",
        "in building 1850",
        "call 555 2019",
        "He led Apollo 2019",
        "We may 3 of us go",
        "they are on the march",
        "a note for jan's team",
        "on jan's desk",
        "the plan for Q3",
        "in the 15th and 16th centuries",
        "at 1060 Harbour Street",
        "Ode (14 June 14001471)",
        "in 2000 steps",
        "",
    ],
)
def test_what_is_no_date(text):
    assert list(NATURAL.find(text, AT)) == []


@pytest.mark.parametrize(
    ("text", "written", "start"),
    [
        ("Tove joined Quarry Lane on 3 august", "3 august", "2023-08-03"),
        ("tove joined quarry lane 3rd march, said Ann", "3rd march", "2024-03-03"),
        ("from 15 july tove runs the depot", "15 july", "2024-07-15"),
        ("she left in august.", "august", "2023-08-01"),
        ("Tove runs it since march", "march", "2024-03-01"),
        ("SHE LEFT IN MARCH", "MARCH", "2024-03-01"),
        ("tove left may 3", "may 3", "2024-05-03"),
        ("the 2 march, then", "2 march", "2024-03-02"),
        ("she left mid-march", "march", "2024-03-01"),
        ("she left on\n5 may.", "5 may", "2024-05-05"),
        ("tove left end of march", "march", "2024-03-31"),
        ("by the start of july tove runs it", "july", "2024-07-01"),
        ("Tove will join at the end of May", "May", "2024-05-31"),
        ("Tove joins at the end of May", "May", "2024-05-31"),
        ("Tove takes over on 1 December", "1 December", "2023-12-01"),
        ("Tove takes over on 1 August", "1 August", "2024-08-01"),
        ("Tove takes over in January", "January", "2024-01-01"),
    ],
)
def test_any_case_and_the_direction_of_a_clause(text, written, start):
    (found,) = NATURAL.find(text, AT)
    assert (text[found.start : found.end], str(found.valid_from)[:10]) == (written, start)


def test_what_takes_place_next_month_is_ahead():
    november = datetime(2023, 11, 20, tzinfo=UTC)
    (found,) = NATURAL.find("Tove takes over on 1 December", november)
    assert str(found.valid_from)[:10] == "2023-12-01"


@pytest.mark.parametrize(
    ("text", "past", "ahead"),
    [
        ("Tove, 1 December", "2023-12-01", "2024-12-01"),
        ("end of June", "2023-06-30", "2024-06-30"),
        ("in January", "2024-01-01", "2025-01-01"),
        ("on Friday", "2024-05-10", "2024-05-17"),
        ("in Q2", "2024-04-01", "2024-04-01"),
        ("from June to August", "2023-06-01", "2024-06-01"),
        ("on 1 December 2021", "2021-12-01", "2021-12-01"),
        ("yesterday", "2024-05-14", "2024-05-14"),
    ],
)
def test_a_date_turns_with_its_clause(text, past, ahead):
    (found,) = NATURAL.find(text, AT)
    turned = [found.towards(AT, ahead=way) for way in (False, True)]
    assert [str(each.valid_from)[:10] for each in turned] == [past, ahead]
    assert {(each.start, each.end, each.role, each.precision) for each in (found, *turned)} == {
        (found.start, found.end, found.role, found.precision)
    }
    assert found.towards(AT, None) is found.towards(None, ahead=True) is found


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("Tove Lind (born 3 May 1950) has run it", ["born"]),
        ("Tove Lind (b. 3 May 1950, Visby) ran it since 2010", ["born", "since"]),
        ("Tove was born in Visby on 3 May 1950 and joined in 1970", ["born", "at"]),
        ("Tove, who died in March, ran it until 2020", ["born", "until"]),
    ],
)
def test_births_and_deaths_are_no_period(text, roles):
    assert [each.role for each in NATURAL.find(text, AT)] == roles


def test_a_whole_text_is_read_as_its_sentences_are():
    sentences = [
        "Tove will leave. ",
        "She came in June. ",
        "She will be away. ",
        "Ann left on 1 July and will be back in August.",
    ]
    found = [str(each.valid_from)[:10] for each in NATURAL.find("".join(sentences), AT)]
    assert found == [str(each.valid_from)[:10] for text in sentences for each in NATURAL.find(text, AT)]
    assert found == ["2023-06-01", "2023-07-01", "2024-08-01"]


def test_a_date_that_goes_backwards_is_two():
    assert [found.role for found in NATURAL.find("from 2021 to 2017", AT)] == [Role.SINCE, Role.AT]


def test_without_a_time_only_dates_that_need_none_are_found():
    text = "yesterday, in March, on Friday, on March 5, two weeks ago, in May 2023, in 2019 and on 2024-01-02"
    found = NATURAL.find(text, None)
    assert [text[each.start : each.end] for each in found] == ["May 2023", "2019", "2024-01-02"]
    assert all(each.absolute and each.valid_from.tzinfo is UTC for each in found)


def test_dates_are_in_the_zone_of_the_memory():
    zone = timezone(timedelta(hours=9))
    (found,) = NATURAL.find("yesterday", datetime(2024, 5, 15, 1, 0, tzinfo=zone))
    assert found.valid_from == datetime(2024, 5, 14, tzinfo=zone)
    (given_zone,) = NATURAL.find("at 2024-05-14T10:00:00Z", datetime(2024, 5, 15, 1, 0, tzinfo=zone))
    assert given_zone.valid_from == datetime(2024, 5, 14, 10, tzinfo=UTC)
    assert given_zone.precision is Precision.TIME


def test_iso_dates_alone():
    text = "from 2023-01-01 to 2023-06-30, yesterday, in March, 2023-99-99"
    (found,) = IsoDates().find(text, None)
    assert (found.role, str(found.valid_from)[:10], str(found.valid_to)[:10]) == (
        Role.BETWEEN,
        "2023-01-01",
        "2023-06-30",
    )


@pytest.mark.parametrize("year", [1, 2, 9998, 9999])
@pytest.mark.parametrize(("month", "day"), [(1, 1), (12, 31)])
def test_the_ends_of_the_calendar_never_raise(year, month, day):
    at = datetime(year, month, day, tzinfo=UTC)
    for text in (
        "last Tuesday",
        "next year",
        "next March",
        "last spring, last March",
        "two weeks ago",
        "will in 3 months",
        "in March",
        "last quarter",
        "tomorrow",
    ):
        for found in NATURAL.find(text, at):
            assert found.valid_to is None or found.valid_from < found.valid_to


@given(
    st.lists(
        st.sampled_from(
            [
                "in",
                "March",
                "2023",
                "last",
                "Tuesday",
                "two",
                "weeks",
                "ago",
                "5",
                "to",
                "-",
                "2023-05-01",
                "2023-05-01T10:00Z",
                "May",
                "the",
                "week",
            ]
        ),
        max_size=12,
    ).map(" ".join)
    | st.text(max_size=60),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_any_text_gives_dates_in_order_and_apart(text, at):
    found = NATURAL.find(text, at)
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(each.valid_to is None or each.valid_from <= each.valid_to for each in found)
    assert list(found) == list(NATURAL.find(text, at))
    turned = [each.towards(at, ahead=ahead) for each in found for ahead in (True, False)]
    assert all(each.valid_to is None or each.valid_from <= each.valid_to for each in turned)
