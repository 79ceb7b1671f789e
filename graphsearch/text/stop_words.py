"""English words that say nothing about what a text is about: data for `terms`."""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final = frozenset(
    """
    a about above after again against all also am an and any are as at
    be because been before being below between both but by
    can could did do does doing down during each few for from further
    had has have having he her here hers herself him himself his how
    i if in into is it its itself just me more most must my myself
    no nor not now of off on once only or other our ours ourselves out over own
    same shall she should so some such
    than that the their theirs them themselves then there these they this those through to too
    under until up upon very was we were what when where which while who whom whose why will with within without would
    you your yours yourself yourselves
    """.split()  # noqa: SIM905 - prose reads better than 170 quoted words
)
