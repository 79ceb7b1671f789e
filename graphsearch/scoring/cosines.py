"""Cosine similarities that do not depend on the batch they are computed in: pure."""

from __future__ import annotations

import numpy as np

from graphsearch.columns import Floats
from graphsearch.model import Vector


def cosines(vectors: Vector, vector: Vector) -> Floats:
    """The inner product of each row, of shape (n, d), with a vector of shape (d,); cosines if all have length 1.

    The value of a row does not depend on other rows. A matrix product rounds by the position of a row, so that hidden
    rows would change the last digits of visible ones.
    """
    found: Floats = np.einsum("ij,j->i", vectors, vector).astype(np.float64)
    return found
