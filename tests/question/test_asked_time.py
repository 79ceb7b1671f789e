"""The periods that a question names, and the time that it asks about."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.question.analysis import PRESENT, asked_time, periods
from graphsearch.testing.fakes import NOON

WEDNESDAY = datetime(2024, 5, 15, 12, 30, tzinfo=UTC)


def periods_in(question, as_of=WEDNESDAY):
    return [
        (
            f"{each.valid_from:%Y-%m-%d}" if each.valid_from else None,
            f"{each.valid_to:%Y-%m-%d}" if each.valid_to else None,
        )
        for each in periods(question, as_of)
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who won in 2007?", ("2007-01-01", "2008-01-01")),
        ("Becerra attorney general 2020", ("2020-01-01", "2021-01-01")),
        ("the battle in 1066", ("1066-01-01", "1067-01-01")),
        ("in March 2023", ("2023-03-01", "2023-04-01")),
        ("in may of 2023?", ("2023-05-01", "2023-06-01")),
        ("on 2023-05-04", ("2023-05-04", "2023-05-05")),
        ("in 2023-05", ("2023-05-01", "2023-06-01")),
        ("in 2017-11", ("2017-11-01", "2017-12-01")),
        ("at 2023-05-04T10:00Z", ("2023-05-04", "2023-05-04")),
        ("on 9 November, 2022", ("2022-11-09", "2022-11-10")),
        ("on May 5th, 2023", ("2023-05-05", "2023-05-06")),
        ("on July 10", ("2023-07-10", "2023-07-11")),
        ("on February 29", ("2024-02-29", "2024-03-01")),
        ("in Q3 2022", ("2022-07-01", "2022-10-01")),
        ("in winter of 2023", ("2023-12-01", "2024-03-01")),
        ("in the 1990s", ("1990-01-01", "2000-01-01")),
        ("in the 19th century", ("1801-01-01", "1901-01-01")),
        ("9998-05", ("9998-05-01", "9998-06-01")),
    ],
)
def test_dates_that_say_the_same_on_any_day(question, expected):
    assert periods_in(question) == [expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("yesterday", ("2024-05-14", "2024-05-15")),
        ("the day before yesterday", ("2024-05-13", "2024-05-14")),
        ("what is on today?", ("2024-05-15", "2024-05-16")),
        ("tomorrow", ("2024-05-16", "2024-05-17")),
        ("last night", ("2024-05-14", "2024-05-15")),
        ("last week", ("2024-05-06", "2024-05-13")),
        ("this week", ("2024-05-13", "2024-05-20")),
        ("last weekend", ("2024-05-11", "2024-05-13")),
        ("next month", ("2024-06-01", "2024-07-01")),
        ("last quarter", ("2024-01-01", "2024-04-01")),
        ("last year", ("2023-01-01", "2024-01-01")),
        ("two months ago", ("2024-03-01", "2024-04-01")),
        ("a couple of weeks ago", ("2024-04-29", "2024-05-06")),
        ("10 days ago", ("2024-05-05", "2024-05-06")),
        ("3 years ago", ("2021-01-01", "2022-01-01")),
        ("in the past year", ("2023-05-16", "2024-05-16")),
        ("over the last three weeks", ("2024-04-25", "2024-05-16")),
        ("over the next 2 days", ("2024-05-16", "2024-05-18")),
        ("these past two quarters", ("2023-11-16", "2024-05-16")),
        ("last spring", ("2023-03-01", "2023-06-01")),
        ("this spring", ("2024-03-01", "2024-06-01")),
        ("this winter", ("2023-12-01", "2024-03-01")),
        ("next summer", ("2024-06-01", "2024-09-01")),
        ("in autumn", ("2023-09-01", "2023-12-01")),
        ("in March", ("2024-03-01", "2024-04-01")),
        ("in May", ("2024-05-01", "2024-06-01")),
        ("in June", ("2023-06-01", "2023-07-01")),
        ("last March", ("2024-03-01", "2024-04-01")),
        ("last May", ("2023-05-01", "2023-06-01")),
        ("next May", ("2025-05-01", "2025-06-01")),
        ("last Tuesday", ("2024-05-14", "2024-05-15")),
        ("last Wednesday", ("2024-05-08", "2024-05-09")),
        ("this Friday", ("2024-05-17", "2024-05-18")),
        ("next Wednesday", ("2024-05-22", "2024-05-23")),
        ("on Wednesday", ("2024-05-15", "2024-05-16")),
        ("on Thursday", ("2024-05-09", "2024-05-10")),
    ],
)
def test_dates_that_depend_on_the_day(question, expected):
    assert periods_in(question) == [expected]


def test_winter_in_january_is_the_one_that_began_last_year():
    assert periods_in("this winter", datetime(2024, 1, 9, tzinfo=UTC)) == [("2023-12-01", "2024-03-01")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("in 2011-2017", ("2011-01-01", "2018-01-01")),
        ("in 2011-17", ("2011-01-01", "2018-01-01")),
        ("the 2011–17 term", ("2011-01-01", "2018-01-01")),
        ("from 2011 to 2017", ("2011-01-01", "2018-01-01")),
        ("between 2019 and 2021", ("2019-01-01", "2022-01-01")),
        ("between March and May 2023", ("2023-03-01", "2023-06-01")),
        ("from November to January 2023", ("2022-11-01", "2023-02-01")),
        ("from 5 May until the 7 May 2023", ("2023-05-05", "2023-05-08")),
        ("since 2020", ("2020-01-01", None)),
        ("starting from last week", ("2024-05-06", None)),
        ("after May 2021", ("2021-06-01", None)),
        ("before 2015", (None, "2015-01-01")),
        ("prior to the 1990s", (None, "1990-01-01")),
        ("until June", (None, "2023-07-01")),
        ("by the end of July 10, 2022", (None, "2022-07-11")),
    ],
)
def test_ranges_and_open_sides(question, expected):
    assert periods_in(question) == [expected]


@pytest.mark.parametrize(
    ("question", "count"),
    [("in 2011 and 2017", 2), ("from 2017 to 2011", 2), ("2017 to 2019 or 2021 to 2022", 2), ("today or tomorrow", 2)],
)
def test_dates_that_are_no_range_stay_apart(question, count):
    assert len(periods(question, WEDNESDAY)) == count


@pytest.mark.parametrize(
    "question",
    [
        *("", "may Ada do it?", "the March on Rome", "2000 users", "port 8080", "issue #2020", "v2.2020", "BWV 1033"),
        *(
            "30 February 2020",
            "31 June",
            "2023-13-45",
            "99999 years ago",
            "5000 years ago",
            "last 9999 years",
        ),
        *("a few days ago", "recently", "call 2020-2021-22", "the fall of Rome", "Sunday papers"),
    ],
)
def test_what_is_no_date(question):
    assert periods(question, WEDNESDAY) == ()


MONDAY = datetime(2026, 8, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("what happened on the 3rd of May?", "2026-05-03", "2026-05-04"),
        ("what happened in mid June", "2026-06-01", "2026-07-01"),
        ("mid-June 2025 plans", "2025-06-01", "2025-07-01"),
        ("what did we ship in H1 2025?", "2025-01-01", "2025-07-01"),
        ("revenue in h2 2024", "2024-07-01", "2025-01-01"),
        ("2025 H1 numbers", "2025-01-01", "2025-07-01"),
        ("what was decided in Q2?", "2026-04-01", "2026-07-01"),
        ("in q2", "2026-04-01", "2026-07-01"),
        ("how did Q4 go?", "2025-10-01", "2026-01-01"),
        ("Q2 '25 goals", "2025-04-01", "2025-07-01"),
        ("the second quarter of 2024", "2024-04-01", "2024-07-01"),
        ("first half of 2023", "2023-01-01", "2023-07-01"),
        ("who joined in ’24", "2024-01-01", "2025-01-01"),
        ("who joined in May '24?", "2024-05-01", "2024-06-01"),
        ("on 13.07.24", "2024-07-13", "2024-07-14"),
        ("13/07/2024", "2024-07-13", "2024-07-14"),
        ("07/13/2024", "2024-07-13", "2024-07-14"),
        ("from 28 February to 3 March 2025", "2025-02-28", "2025-03-04"),
        ("between the 3rd and 5th of March", "2026-03-03", "2026-03-06"),
        ("from March 3 to 5", "2026-03-03", "2026-03-06"),
        ("March 3-5, 2025", "2025-03-03", "2025-03-06"),
        ("who led it 2019-2021?", "2019-01-01", "2022-01-01"),
        ("who led it 2019–21?", "2019-01-01", "2022-01-01"),
        ("2019/20 season", "2019-01-01", "2021-01-01"),
        ("from 2019 through 2021", "2019-01-01", "2022-01-01"),
        ("in 2024-W13", "2024-03-25", "2024-04-01"),
        ("week 13 of 2024", "2024-03-25", "2024-04-01"),
        ("since march", "2026-03-01", None),
        ("since the 3rd", "2026-08-03", None),
        ("until 5 may", None, "2026-05-06"),
        ("on 2024.07.13", "2024-07-13", "2024-07-14"),
        ("in 7/2024", "2024-07-01", "2024-08-01"),
        ("at christmas", "2025-12-25", "2025-12-26"),
        ("what happened in dec?", "2025-12-01", "2026-01-01"),
        ("early 2024", "2024-01-01", "2025-01-01"),
        ("who won the 2016 election", "2016-01-01", "2017-01-01"),
        ("by the end of Q1 2025", None, "2025-04-01"),
        ("between 3 and 5 march", "2026-03-03", "2026-03-06"),
        ("last friday", "2026-08-07", "2026-08-08"),
        ("on friday", "2026-08-07", "2026-08-08"),
        ("what changed this morning?", "2026-08-10", "2026-08-11"),
        ("the week before last", "2026-07-27", "2026-08-03"),
        ("a fortnight ago", "2026-07-27", "2026-08-03"),
        ("sales of the year 2019", "2019-01-01", "2020-01-01"),
        ("during fiscal 2019", "2019-01-01", "2020-01-01"),
        ("budget for 2024", "2024-01-01", "2025-01-01"),
        ("report of summer 2024", "2024-06-01", "2024-09-01"),
        ("on May the 4th", "2026-05-04", "2026-05-05"),
        ("before 1 Jan 2020", None, "2020-01-01"),
        ("what happened on 5 May, 2024, at noon", "2024-05-05", "2024-05-06"),
        ("the 1990s", "1990-01-01", "2000-01-01"),
        ("from 3-5 March 2024", "2024-03-03", "2024-03-06"),
    ],
)
def test_times_as_people_write_them(question, start, end):
    assert periods_in(question, MONDAY) == [(start, end)]


@pytest.mark.parametrize(
    "question",
    [
        "Who maintains Keelbook version 2019?",
        "in building 1850",
        "room 1204",
        "room 1984",
        "RFC 2119",
        "what does RFC 1950 say",
        "Boeing 747",
        "ISO 9001",
        "zip code 1990",
        "zip 2010",
        "it costs $1999",
        "1999 EUR",
        "€2019",
        "call 555 2019",
        "call +44 2019 185 000",
        "under budget code 1999",
        "with 2000 users",
        "error 1984",
        "port 2049",
        "build 2023",
        "on trolley 1850",
        "for valve 1984",
        "to wing 2019",
        "ticket 2020",
        "model 2020",
        "SKU 1999-2001-2",
        "a 2048 bit key",
        "1900 tickets sold",
        "1600 m race",
        "flight 1999",
        "extension 2019",
        "v2019",
        "#2019",
        "you may 5 times",
        "this may be wrong",
        "may I",
        "march on",
        "H1 visa",
        "h1 tag",
        "on the second half",
        "12.10.24 release",
        "CVE-2019-1234",
        "invoice 2021",
        "gate 2017",
        "user 2019",
        "PR 1999",
        "10/11/2024",
        "0.1.2019",
        "192.168.2019.1",
        "order number 2020",
        "at 1830",
        "case 1984",
        "chapter 1999",
        "page 2001 of the manual",
        "lot 2024",
        "2019x1080 image",
        "train 1905",
        "in line 1984",
        "2024 rows",
        "1500 people",
        "seat 1900",
        "Office 2019 license",
        "windows 2000",
    ],
)
def test_numbers_that_are_no_times(question):
    assert periods(question, MONDAY) == ()


def test_years_touched():
    years = {q: periods(q, WEDNESDAY)[0].years for q in ("in 2011-2017", "since 2020", "before 2015", "last week")}
    assert years == {
        "in 2011-2017": (2011, 2017),
        "since 2020": (2020, None),
        "before 2015": (None, 2014),
        "last week": (2024, 2024),
    }
    assert periods("at 2024-01-01T00:00", WEDNESDAY)[0].years == (2024, 2024)


def test_periods_are_in_the_zone_of_the_moment_unless_an_offset_is_written():
    zone = timezone(timedelta(hours=-7))
    as_of = datetime(2024, 5, 14, 23, tzinfo=zone)
    (day,) = periods("today", as_of)
    assert (day.valid_from, day.valid_to) == (datetime(2024, 5, 14, tzinfo=zone), datetime(2024, 5, 15, tzinfo=zone))
    (at,) = periods("at 2024-05-04T10:00+02:00", as_of)
    assert at.valid_from == datetime(2024, 5, 4, 8, tzinfo=UTC)


WORDS = (
    "in since between and to from - – May March 2023 2011-17 0001-01-01T00:00Z last next past two 3 weeks ago spring on"
    " Friday yesterday the 1990s 9999-12-31 29 February 2nd century before 1 year quarter"
)
QUESTIONS = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@given(QUESTIONS | st.text(max_size=60), st.datetimes(timezones=st.just(UTC)))
def test_any_text_at_any_time_has_periods_in_order_and_apart(question, as_of):
    found = periods(question, as_of)
    ends = [edge for each in found for edge in (each.start, each.end)]
    assert ends == sorted(ends)
    for each in found:
        assert question[each.start : each.end] == each.written
        assert each.valid_from or each.valid_to or "9999" in each.written or as_of.year > 9990
        if each.valid_from and each.valid_to:
            assert each.valid_from <= each.valid_to
        first, last = each.years
        assert first is None or last is None or first <= last


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


TIME_WORDS = "who has ever led tended it in since before 2019 2027 March yesterday now used to the".split()  # noqa: SIM905


@given(
    st.lists(st.sampled_from(TIME_WORDS), max_size=8).map(" ".join),
    st.datetimes(timezones=st.just(UTC), min_value=datetime(1900, 1, 1)),  # noqa: DTZ001
)
def test_a_window_never_ends_before_it_begins(question, now):
    found = asked_time(question, now)
    if found.since is not None:
        assert found.since < (found.as_of or now)
    assert all(0 <= start < end <= len(question) for start, end in found.spans)
    assert asked_time(question, now) == found


@pytest.mark.parametrize(
    "question",
    [
        "until 0001-01-01T00:00:00Z",
        "before 0001-01-01",
        "who led at 0001-01-01T00:00:00+14:00?",
        "who led since 9999-12-31T23:59:59-14:00?",
    ],
)
def test_the_ends_of_the_calendar_are_no_times(question):
    assert asked_time(question, WEDNESDAY).as_of is None
