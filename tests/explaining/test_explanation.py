"""Parts by what they add, and what becomes of a rank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.explaining.elements import KeptOut, verdict
from graphsearch.model import ScorePart
from graphsearch.ranking.recall_result import RecallRequest


@given(st.floats(0.0, 100.0), st.floats(0.0, 1.0))
def test_a_part_can_be_made_of_what_it_adds(value, contribution):
    assert ScorePart.adding("lexical", value, contribution).contribution == pytest.approx(contribution, abs=1e-9)


@pytest.mark.parametrize(
    ("rank", "score", "options", "expected"),
    [
        (1, 0.9, {}, None),
        (3, 0.9, {}, KeptOut.RANK),
        (3, 0.1, {"min_score": 0.5}, KeptOut.MIN_SCORE),
        (2, 0.9, {"diversity": 0.5}, KeptOut.DIVERSITY),
        (2, 0.9, {}, KeptOut.CANDIDATES),
    ],
)
def test_what_keeps_out(rank, score, options, expected):
    kept_out, reason = verdict(rank, score, RecallRequest(query="who?", limit=2, **options), shown=expected is None)
    assert kept_out is expected
    assert reason
