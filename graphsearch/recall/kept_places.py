"""Guarantee the best memories by words and meaning a share of the first places, whatever a walk adds. Pure."""

from __future__ import annotations

import math

from graphsearch.columns import Floats, Keys, Rows
from graphsearch.recall.scoreboard import best_first

_ROUNDING = 1e-9


def raised(scores: Floats, keys: Keys, first: Rows, share: float) -> Floats:
    """The increments of scores after which the i-th of the rows ``first`` is at place ⌈i / ``share``⌉ or better.

    ``share`` in (0, 1]. A raised row gets the mean of the two scores around its place; the others keep their scores and
    their order.
    """
    places = [math.ceil(number / share - _ROUNDING) for number in range(1, len(first) + 1)]
    ranked = best_first(scores, keys, places[-1]).tolist() if places else []
    now = scores.copy()
    for row, place in zip(first.tolist(), places, strict=True):
        if place > len(ranked) or row in ranked[:place]:
            continue
        above = now[ranked[place - 2]] if place > 1 else now[ranked[0]]
        now[row] = (above + now[ranked[place - 1]]) / 2.0
        ranked = [*ranked[: place - 1], row, *(each for each in ranked[place - 1 :] if each != row)]
    added: Floats = now - scores
    return added
