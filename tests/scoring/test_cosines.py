"""Cosines of rows."""

import numpy as np
import pytest

from graphsearch.scoring.similarity import cosines


def test_the_cosine_of_each_row():
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]], np.float32)
    assert cosines(rows, np.array([0.0, 1.0], np.float32)) == pytest.approx([0.0, 0.8, -1.0])
    assert cosines(rows[:0], rows[0]).shape == (0,)


def test_a_row_has_the_same_to_the_last_digit_wherever_it_stands():
    random = np.random.default_rng(7)
    rows = random.standard_normal((97, 50)).astype(np.float32)
    asked = random.standard_normal(50).astype(np.float32)
    every, order = cosines(rows, asked), random.permutation(97)
    assert cosines(rows[order], asked).tolist() == every[order].tolist()
    assert [float(cosines(rows[row : row + 1], asked)[0]) for row in range(97)] == every.tolist()
