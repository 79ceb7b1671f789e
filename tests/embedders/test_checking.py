import numpy as np
import pytest

from graphsearch.embedders import checked_vectors
from graphsearch.errors import EmbedderError


def test_sound_vectors_become_contiguous_float32() -> None:
    vectors = checked_vectors(np.asfortranarray(np.ones((2, 3))), 2, 3)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    assert checked_vectors([], 0, 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("vectors", "fault"),
    [
        ([[1.0, 2.0], [1.0]], "vectors of one length"),
        ([["a", "b"], ["c", "d"]], "vectors of one length"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([[1.0, 2.0]], r"shape \(1, 2\) for 2 texts"),
        ([[1.0], [2.0]], "1 dimensions where 2"),
        ([[1.0, np.nan], [np.inf, 1.0]], r"vector 0 has a number that is not finite \(and 1 more\)"),
        ([[1.0, 1.0], [1.0, 1e300]], "vector 1 has a number that is not finite$"),
        ([[1.0, 1.0], [0.0, 0.0]], "vector 1 is all zeros"),
    ],
)
def test_the_fault_is_named(vectors: list[list[float]], fault: str) -> None:
    with pytest.raises(EmbedderError, match=f"model: .*{fault}|model answered .*{fault}"):
        checked_vectors(vectors, 2, 2, embedder="model")
