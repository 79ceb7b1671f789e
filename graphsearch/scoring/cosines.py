"""Cosines that are the same in whatever company: pure."""

from __future__ import annotations

import numpy as np

from graphsearch.columns import Floats
from graphsearch.model import Vector


def cosines(vectors: Vector, vector: Vector) -> Floats:
    """The inner product of each row, of shape (n, d), with a vector of shape (d,); cosines where all have length 1.

    A row's value does not depend on the rows around it: a matrix product rounds by where a row stands, and what is
    hidden would show in the last digits of what is not.
    """
    found: Floats = np.einsum("ij,j->i", vectors, vector).astype(np.float64)
    return found
