"""Steps that several scopes have, merged."""

from uuid import UUID

import numpy as np

from graphsearch.columns import Expansion, FarEnds, Steps
from graphsearch.federation.engine import packed, strongest, unpacked

NEAR, FAR, MOVED, RELATION = (UUID(int=number) for number in range(1, 5))


def step(far, *, signature, confidence=0.5):
    """One step over the same relation, which may end elsewhere where its end was merged."""
    one = np.ones(1)
    rows = Expansion(
        starts=packed([NEAR]),
        start=np.zeros(1, np.intp),
        ends=FarEnds(keys=packed([far]), signatures=np.zeros(1, np.int64), importance=one),
        end=np.zeros(1, np.intp),
        outgoing=np.ones(1, np.bool_),
        relations=packed([RELATION]),
        confidence=one * confidence,
        since=one,
        feedback=one,
        signatures=np.array([signature]),
        far_holds=None,
    )
    return Steps(rows, rows.signatures, freshness=one, prior=one)


def far_ends(*steps):
    found = strongest(packed([NEAR]), steps, 25)
    return unpacked(found.rows.ends.keys[found.rows.end])


def test_of_equally_reliable_steps_that_of_the_first_scope_counts_however_many_signatures_it_has():
    assert far_ends(step(FAR, signature=9), step(MOVED, signature=1)) == [FAR]
    assert far_ends(step(FAR, signature=0), step(MOVED, signature=1)) == [FAR]


def test_the_most_reliable_step_counts():
    assert far_ends(step(FAR, signature=0), step(MOVED, signature=1, confidence=0.6)) == [MOVED]
