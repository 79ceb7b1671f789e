"""Whether a sentence says that something is so."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from graphsearch.ingest.text.skeleton import NAME


class Mood(StrEnum):
    """How a sentence stands to what it speaks of."""

    STATED = "stated"
    DENIED = "denied"
    """Something in it is denied; what its patterns find is not."""
    BELIEVED = "believed"
    """Somebody thinks so."""
    OPEN = "open"
    """Asked, supposed, wished: nothing is stated."""


_OPEN: Final = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|possibly|neither|supposed(?: to)?|suppose|supposing|imagine|pretend"
    "|wonders?|wondering|allegedly|rumou?rs?|rumou?red|in case|wish(?:es|ed)?|hypothetically|as though|let's"
    "|what if|how about|i doubt|doubts|would have|could have|might have|should have|almost|nearly|tbd|joke[ds]?"
    rf"|joking|dream(?:ed|t)?)\b|\b(?:when|once|until|before|after|as soon as) {NAME} (?:joins|leaves|moves|starts"
    r"|takes)\b|(?:false|untrue|wrong|incorrect|not true|not the case) that\b|^(?:should|could|would|can|does|do"
    "|did|is|are|will) "
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|cannot|neither|nor|nobody|no longer|without|none|hardly|denies|denied)\b|n't\b"
)
_BELIEVED: Final = re.compile(
    r"\b(?:thinks?|believes?|guess(?:es)?|assumes?|seems?|apparently|probably|likely|i heard|reportedly|supposedly"
    r"|afaik|iirc|says? that|said that|claims?(?: that)?|claimed)\b"
)


def mood(bare: str) -> Mood:
    """The mood of a sentence of which `skeleton` is left."""
    if "?" in bare or _OPEN.search(bare):
        return Mood.OPEN
    if _DENIED.search(bare):
        return Mood.DENIED
    return Mood.BELIEVED if _BELIEVED.search(bare) else Mood.STATED
