"""Statements that say until when, or that have begun and not ended: the periods of their relations."""

from datetime import UTC, datetime

import pytest

from graphsearch import Memory
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from tests.ingest.extract.rules.reading import AT, read

WRITTEN = datetime(2025, 8, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "type_", "end"),
    [
        ("Ann Hill worked with Bob Stone until May 2025.", "works_with", datetime(2025, 5, 1, tzinfo=UTC)),
        ("Cyd Vale collaborated with Dan Reed until 10 May 2025.", "works_with", datetime(2025, 5, 10, tzinfo=UTC)),
        ("Until March 2024, Ann Hill worked with Bob Stone.", "works_with", datetime(2024, 3, 1, tzinfo=UTC)),
        ("Ann Hill will work with Bob Stone until May 2026.", "works_with", datetime(2026, 5, 1, tzinfo=UTC)),
        ("Ann Hill worked at Globex until March 2024.", "works_at", datetime(2024, 3, 1, tzinfo=UTC)),
    ],
)
async def test_until_ends_a_period(scoped, text, type_, end):
    await _remember(scoped, text)
    (relation,) = await scoped.list_relations()
    assert (relation.type, relation.valid_from, relation.valid_to) == (type_, None, end)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Ann Hill worked with Bob Stone in 2021.", datetime(2022, 1, 1, tzinfo=UTC)),
        ("In March 2024 Ann Hill collaborated with Bob Stone.", datetime(2024, 4, 1, tzinfo=UTC)),
        ("Ann Hill has worked with Bob Stone since 2021.", None),
        ("Ann Hill worked with Bob Stone yesterday.", None),
        ("Ann Hill works with Bob Stone.", None),
    ],
)
async def test_work_in_a_year_that_is_over_is_over(scoped, text, end):
    await _remember(scoped, text)
    (relation,) = await scoped.list_relations()
    assert (relation.type, relation.valid_to) == ("works_with", end)


@pytest.mark.parametrize("text", ["Ann Hill works at Globex, 2019-.", "Ann Hill has worked at Globex, 2019–present."])
async def test_a_range_without_an_end_is_open(scoped, text):
    await _remember(scoped, text)
    (relation,) = await scoped.list_relations()
    assert (relation.valid_from, relation.valid_to) == (datetime(2019, 1, 1, tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Joan Reed joined Globex in 2019 and left in June 2021.", "2019-01-01", "2021-06-01"),
        ("Joan Reed joined Globex in 2019 and left Acme Inc in 2018.", "2019-01-01", None),
        ("Joan Reed joined Globex in 2019, and Dan Moss left in 2020.", "2019-01-01", None),
        ("Joan Reed has worked at Globex for six months.", "2023-11-15", None),
        ("Joan Reed worked at Globex (2015-2018).", "2015-01-01", "2018-01-01"),
        ("Joan Reed joined Globex on 2023/03/04.", "2023-03-04", None),
        ("I met Joan Reed on Tuesday, she joins Globex on 1 June.", "2024-06-01", None),
        ("Joan Reed joined Globex in december.", "2023-12-01", None),
    ],
)
def test_a_stay_has_both_of_its_ends(text: str, start: str, end: str | None) -> None:
    [stay] = [each for each in read(text).statements if (each.type, each.target.name) == ("works_at", "Globex")]
    assert stay.valid_from is not None
    assert stay.valid_from.date().isoformat() == start
    assert (stay.valid_to and stay.valid_to.date().isoformat()) == end


@pytest.mark.parametrize(
    ("text", "target", "start"),
    [
        ("In 2022 Dan Moss moved to Paris, and in 2024 to Rome.", "Paris", "2022-01-01"),
        ("I grew up in Leeds but I've lived in York since 2018.", "York", "2018-01-01"),
        ("Kenji Sato was promoted to head of Design in March 2024.", "Design", "2024-03-01"),
        ("Dan Moss has led Apollo since 2020.", "Apollo", "2020-01-01"),
    ],
)
def test_a_date_is_that_of_its_own_clause(text: str, target: str, start: str) -> None:
    [found] = [
        each for each in read(text, speaker="Ada").statements if each.target.name == target and each.type != "co_occurs"
    ]
    assert found.valid_from is not None
    assert (found.valid_from.date().isoformat(), found.valid_to) == (start, None)


def test_a_comma_before_a_new_subject_ends_a_clause() -> None:
    text = "HPA's new director is Greta Olsen, she used to work at Globex until 2023."
    found = {each.type: each for each in read(text).statements if each.source.name == "Greta Olsen"}
    assert (found["leads"].target.name, found["leads"].valid_from, found["leads"].valid_to) == ("HPA", None, None)
    assert (found["works_at"].valid_from, found["works_at"].valid_to) == (None, datetime(2023, 1, 1, tzinfo=UTC))


def test_a_past_without_a_date_has_not_that_of_the_next_clause() -> None:
    stated = read("I grew up in Leeds but I've lived in York since 2018.", speaker="Ada").statements
    [leeds] = [each for each in stated if each.target.name == "Leeds"]
    assert (leeds.valid_from, leeds.valid_to) == (None, AT)


async def _remember(scoped, text):
    await Ingestor(GraphSearchEngine(store=scoped)).remember([Memory(id="m", text=text, occurred_at=WRITTEN)])
