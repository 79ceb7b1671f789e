"""Looking keys up by table and by sorting gives the same answers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.columns import NONE
from graphsearch.columns.key_index import KeyIndex, best_rows, distinct, first_rows

BEYOND = 1 << 22
"""Keys that no table holds."""
small = st.lists(st.integers(0, 40), max_size=60)


def as_ids(keys) -> np.ndarray:
    """The same keys as a database has them: bytes that sort alike, and end in NUL now and then."""
    return np.array([int(key).to_bytes(2, "little")[::-1] for key in keys], dtype="S2")


def as_numbers(keys) -> np.ndarray:
    """The same keys as rows of a store in memory."""
    return np.array(keys, dtype=np.int64)


def as_uuids(keys, *, alike: bool) -> np.ndarray:
    """The same keys as 16 bytes, of which the first eight are all alike or all different."""
    return np.array(
        [(0 if alike else int(key)).to_bytes(8, "big") + int(key).to_bytes(8, "big") for key in keys], "S16"
    )


@given(small, small, st.booleans())
def test_16_bytes_are_looked_up_by_their_halves_or_whole(column, wanted, alike):
    column = list(dict.fromkeys(column))
    expected = [column.index(key) if key in column else NONE for key in wanted]
    assert KeyIndex(as_uuids(column, alike=alike)).of(as_uuids(wanted, alike=alike)).tolist() == expected
    values, row = distinct(as_uuids(wanted, alike=alike))
    assert values[row].tolist() == as_uuids(wanted, alike=alike).tolist()
    assert values.tolist() == sorted(set(as_uuids(wanted, alike=alike).tolist()))
    first = [place for place, key in enumerate(wanted) if key not in wanted[:place]]
    assert first_rows(as_uuids(wanted, alike=alike))[0].tolist() == first


@given(small, small)
def test_places_by_table_and_by_sorting(column, wanted):
    column = list(dict.fromkeys(column))
    expected = [column.index(key) if key in column else NONE for key in wanted]
    assert KeyIndex(np.array(column, dtype=np.int64)).of(np.array(wanted, dtype=np.int64)).tolist() == expected
    assert KeyIndex(as_ids(column)).of(as_ids(wanted)).tolist() == expected
    shifted = np.array(column, dtype=np.int64) + BEYOND
    assert KeyIndex(shifted).of(np.array(wanted, dtype=np.int64) + BEYOND).tolist() == expected


@given(small, small, small)
def test_a_column_grows(column, more, most):
    column = list(dict.fromkeys(column))
    for make in (as_numbers, as_ids, lambda keys: as_numbers(keys) * 100, lambda keys: as_numbers(keys) * BEYOND):
        places, expected = KeyIndex(make(column)), list(column)
        for keys in (more, most):
            rows = places.number(make(keys))
            added = {key for key in keys if key not in expected}
            expected += sorted(added, key=lambda key: make([key]).tolist())
            assert places.keys.tolist() == make(expected).tolist()
            assert rows.tolist() == places.of(make(keys)).tolist() == [expected.index(key) for key in keys]
        assert len(places) == len(expected)
        entered = KeyIndex(make(column))
        for keys in (more, most):
            in_order, which = np.unique(np.concatenate((make(keys), make([41, 42]))), return_inverse=True)
            rows = entered.enter(in_order, which[: len(keys)])
            assert rows.tolist() == places.of(make(keys)).tolist()
        assert entered.keys.tolist() == places.keys.tolist()


@given(small)
def test_first_rows(keys):
    first = [keys.index(key) for key in keys]
    for column in (as_numbers(keys), as_ids(keys)):
        once, row = first_rows(column)
        assert (once.tolist(), row.tolist()) == (sorted(set(first)), first)


@given(small)
def test_distinct(keys):
    for column in (np.array(keys, dtype=np.int64), as_ids(keys)):
        values, row = distinct(column)
        assert values.tolist() == sorted(set(column.tolist()))
        assert values[row].tolist() == column.tolist()


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.1, 0.5, 0.9]), st.integers(0, 9)), max_size=40))
def test_best_rows(rows):
    groups = sorted({group for group, _, _ in rows})
    number = np.array([groups.index(group) for group, _, _ in rows], dtype=np.intp)
    values = np.array([value for _, value, _ in rows], dtype=np.float64)
    ties = np.array([tie for _, _, tie in rows], dtype=np.int64)
    for first in range(len(groups) + 1):
        best = best_rows(number, len(groups), values, ties, first=first)
        assert len(best) == len(groups) - first
        for group, row in enumerate(best, start=first):
            expected = min((-value, tie) for at, value, tie in zip(number, values, ties, strict=True) if at == group)
            assert (number[row], -values[row], ties[row]) == (group, *expected)
