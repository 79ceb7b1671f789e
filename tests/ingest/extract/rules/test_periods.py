"""Statements that say until when, or that have begun and not ended: the periods of their relations."""

from datetime import UTC, datetime

import pytest

from graphsearch import Memory
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor

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


@pytest.mark.parametrize("text", ["Ann Hill works at Globex, 2019-.", "Ann Hill has worked at Globex, 2019–present."])
async def test_a_range_without_an_end_is_open(scoped, text):
    await _remember(scoped, text)
    (relation,) = await scoped.list_relations()
    assert (relation.valid_from, relation.valid_to) == (datetime(2019, 1, 1, tzinfo=UTC), None)


async def _remember(scoped, text):
    await Ingestor(GraphSearchEngine(store=scoped)).remember([Memory(id="m", text=text, occurred_at=WRITTEN)])
