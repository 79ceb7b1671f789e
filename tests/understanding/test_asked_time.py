"""The time that a question asks for, asked at noon of Thursday, 15 January 2026."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.testing.fakes import NOON
from graphsearch.understanding.asked_time import PRESENT, asked_time

INSTANT = timedelta(microseconds=1)
BEGINNING = datetime(1, 1, 2, tzinfo=UTC)


def day(year, month=1, number=1):
    return datetime(year, month, number, tzinfo=UTC)


def window(question, now=NOON):
    found = asked_time(question, now)
    return found.since, found.as_of


def test_no_time_is_the_present():
    assert asked_time("who tends the lamp", NOON) == PRESENT
    assert (PRESENT.as_of, PRESENT.since, PRESENT.written, PRESENT.spans) == (None, None, "", ())


def test_what_stands_in_a_name_tells_no_time():
    question = "who won the Euro 2024 in 2025"
    assert asked_time(question, NOON, [(12, 21)]).written == "2025"
    assert asked_time("who won the Euro 2024", NOON, [(12, 21)]) == PRESENT


def test_a_year_is_all_of_it():
    found = asked_time("who tended the lamp in 2020?", NOON)
    assert (found.since, found.as_of) == (day(2020), day(2021) - INSTANT)
    assert found.written == "2020"
    assert found.spans == ((23, 27),)


@pytest.mark.parametrize(
    ("question", "since", "as_of"),
    [
        ("who tended it in March 2021", day(2021, 3), day(2021, 4) - INSTANT),
        ("who tended it on 4 May 2021", day(2021, 5, 4), day(2021, 5, 5) - INSTANT),
        ("who tended it yesterday", day(2026, 1, 14), day(2026, 1, 15) - INSTANT),
        ("who tended it last year", day(2025), day(2026) - INSTANT),
        ("who tended it from 2019 to 2021", day(2019), day(2022) - INSTANT),
        ("who tended it in 2019 or in 2021", day(2019), day(2022) - INSTANT),
        ("who tended it since 2020", day(2020), NOON),
        ("who tended it until today", BEGINNING, NOON),
        ("who tended it yesterday and today", day(2026, 1, 14), NOON),
        ("who tended it after 2020", day(2021), NOON),
        ("who tended it before 2015", BEGINNING, day(2015) - INSTANT),
        ("who tended it until 2015", BEGINNING, day(2016) - INSTANT),
        ("who tended it before 2015 and since 2020", BEGINNING, NOON),
    ],
)
def test_periods(question, since, as_of):
    assert window(question) == (since, as_of)


def test_what_has_not_ended_is_asked_for_until_now():
    assert window("who tends it in 2026") == (day(2026), NOON)
    assert window("who tends it this month") == (day(2026), NOON)


def test_what_begins_this_moment_is_one_moment():
    assert window("who tends it in 2026", day(2026)) == (None, day(2026))


def test_what_is_to_come_is_asked_for_whole():
    assert window("who tends it in 2027") == (day(2027), day(2028) - INSTANT)
    assert window("who tends it since 2027 or in 2028") == (day(2027), day(2029) - INSTANT)


def test_an_open_end_in_the_time_to_come_is_one_moment():
    since, as_of = window("who tends it since 2027")
    assert since is None
    assert as_of == NOON


def test_the_zone_is_that_of_the_moment_of_asking():
    zone = timezone(timedelta(hours=9))
    since, as_of = window("who tended it in 2020", NOON.astimezone(zone))
    assert since == datetime(2020, 1, 1, tzinfo=zone)
    assert as_of == datetime(2021, 1, 1, tzinfo=zone) - INSTANT


def test_several_times_are_all_written():
    found = asked_time("who tended it in 2019 or in 2021", NOON)
    assert found.written == "2019, 2021"
    assert found.spans == ((17, 21), (28, 32))


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("who has ever tended the lamp", "ever"),
        ("which lamps did Ines use to tend over the years", "over the years"),
        ("what crew used to row here", "used to"),
        ("how many keepers so far", "so far"),
        ("who tended it at any time", "at any time"),
        ("former keepers", "former"),
        ("who previously rowed here", "previously"),
        ("the history of the pier", "history"),
        ("all-time keepers", "all-time"),
        ("who rowed here up to now", "up to now"),
        ("which crews rowed here until now", "until now"),
    ],
)
def test_all_that_ever_was(question, written):
    found = asked_time(question, NOON)
    assert (found.since, found.as_of, found.written) == (BEGINNING, None, written)
    ((start, end),) = found.spans
    assert question[start:end] == written


@pytest.mark.parametrize(
    "question",
    [
        "where has Ines lived",
        "which crews has Orla Quill rowed for",
        "which lights have they built",
        "what crews they've led",
        "who has been keeper",
    ],
)
def test_the_perfect_asks_for_what_was_until_now(question):
    found = asked_time(question, NOON)
    assert (found.since, found.as_of) == (BEGINNING, None)
    assert found.spans == ()  # its verb still asks for a relation


@pytest.mark.parametrize("question", ["which pier has it", "who has to be paid", "what has the crew"])
def test_having_and_having_to_are_of_the_present(question):
    assert asked_time(question, NOON) == PRESENT


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("who tends it now", "now"),
        ("who tends it right now", "right now"),
        ("who is on watch tonight", "tonight"),
        ("who tends it today", "today"),
        ("who currently tends it", "currently"),
        ("who still tends it", "still"),
        ("does Ines tend it anymore", "anymore"),
        ("who tends it at the moment", "at the moment"),
        ("who has tended it, and tends it these days", "these days"),
        ("who used to tend it and still does", "still"),
    ],
)
def test_words_for_the_present_say_so_and_ask_for_nothing(question, written):
    found = asked_time(question, NOON)
    assert (found.since, found.as_of, found.written) == (None, None, "")
    assert [question[start:end] for start, end in found.spans] == [written]


WORDS = "who has ever led tended it in since before 2019 2027 March yesterday now used to the".split()  # noqa: SIM905


@given(
    st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join),
    st.datetimes(timezones=st.just(UTC), min_value=datetime(1900, 1, 1)),  # noqa: DTZ001
)
def test_a_window_never_ends_before_it_begins(question, now):
    found = asked_time(question, now)
    if found.since is not None:
        assert found.since < (found.as_of or now)
    assert all(0 <= start < end <= len(question) for start, end in found.spans)
    assert asked_time(question, now) == found
