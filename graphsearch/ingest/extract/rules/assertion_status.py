"""Assertion status: whether a sentence asserts, denies, believes or asks something."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import NAME


class AssertionStatus(StrEnum):
    """The attitude of a sentence to its content."""

    STATED = "stated"
    DENIED = "denied"
    """It contains a negation; the relations that patterns find in it are not negated."""
    BELIEVED = "believed"
    """It is somebody's opinion."""
    OPEN = "open"
    """A question, supposition or wish: nothing is asserted."""


_OPEN: Final = re.compile(
    r"\b(?:if|unless|whether|maybe|perhaps|possibly|neither|supposed(?: to)?|suppose|supposing|imagine|pretend"
    "|wonders?|wondering|allegedly|rumou?rs?|rumou?red|in case|wish(?:es|ed)?|hypothetically|as though|let's|let us say"
    "|what if|how about|doubts?|would have|could have|might have|should have|almost|nearly|tbd"
    r"|(?<! is a )(?<!was a )joke[ds]?"
    r"|joking|dream(?:ed|t)?|would (?:love|like|hate) to)\b| or what\W*$"
    rf"|(?:\bi|{NAME}) (?:thought|assumed|figured|hoped)\b"
    rf"|\b(?:when|once|until|before|after|as soon as) {NAME} (?:joins|leaves|moves|starts"
    r"|takes)\b|(?:false|untrue|wrong|incorrect|not true|not the case) that\b|^(?:should|could|would|can|does|do"
    "|did|is|are|will) "
)
_DENIED: Final = re.compile(
    r"\b(?:not|never|cannot|neither|nor|nobody|no longer|without|none|hardly|denies|denied)\b|n't\b"
)
_BELIEVED: Final = re.compile(
    rf"\b(?:thinks?|believes?|guess(?:es)?|assumes?|seems?|apparently|probably|likely|hears?|heard|told (?:me|us)"
    rf"|told {NAME} (?={NAME})|reportedly|supposedly"
    r"|afaik|iirc|says? that|said that|claims?(?: that)?|claimed)\b"
)


# The words after these are hypothetical, those before are not: "Callboard uses MySQL, in case it has to be restarted".
_ASIDE: Final = re.compile(
    r",? in case\b"
    r"|,? if (?:any(?:one|body)|someone|somebody|you|people|they|you all)(?:'s|'re| is| are| was| were)? "
    r"(?:ever )?(?:ask|wonder|care|mind|need to know|want to know|missed|must know|like|interested)"
    r"|(?:,| -|;|\))? (?:so|and|but|because|since) (?:if|when|whenever|maybe|perhaps|unless)\b|,? "
    r"whether\b(?=.*\bor not\b)"
    r"|,? (?:no matter|whatever|however) (?!is\b)"
)


def asserted_part(masked: str) -> str:
    """The part of a masked sentence before a hypothetical aside; all of a question."""
    found = None if "?" in masked else _ASIDE.search(masked)
    return masked[: found.start()] if found and found.start() else masked


def assertion_status(masked: str) -> AssertionStatus:
    """The assertion status of a masked sentence."""
    if "?" in masked or _OPEN.search(masked):
        return AssertionStatus.OPEN
    if _DENIED.search(masked):
        return AssertionStatus.DENIED
    return AssertionStatus.BELIEVED if _BELIEVED.search(masked) else AssertionStatus.STATED
