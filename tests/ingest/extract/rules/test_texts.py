"""Facts of whole texts of several trades, after resolution; `python -m benchmarks.facts` prints their faults."""

from __future__ import annotations

import pytest

from benchmarks.facts import GOLD, gold_text, measure


@pytest.mark.parametrize("name", ["kitchen", "law", "devdoc", "farm"])
def test_facts_of_a_text(name: str) -> None:
    found = measure(gold_text(GOLD / f"{name}.jsonl"))
    assert found["recall"] >= 0.8
    assert found["precision"] >= 0.9
    assert found["people"] >= 0.5
    assert found["no_people"] == []
