"""What a masked sentence asserts, and for which period.

A sentence may deny, believe or ask instead of asserting. The period of a relation follows from the dates and the tense
of its sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from graphsearch.ingest.extract.rules.masked_sentence import DATE, FIRST_DATE, NAME
from graphsearch.ingest.extract.rules.patterns import Phase
from graphsearch.text.calendar import Precision
from graphsearch.text.dates import DateSpan, Role


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
    "|what if|how about|doubts?"
    "|(?:(?:is|was|feels?|felt|looks?|looked|sounds?|sounded)|'s) (?:a bit |just |almost |more )?like"
    r"|as if|(?:never|not|n't) (?:said|say|told|tell|claimed?|stated?|wrote|write|meant|mean|think|thought|believed?)"
    r"|(?:denies|denied|denying|pretends?|pretended|claims? to|claimed to) |would have|could have|might have"
    "|should have|almost|nearly|tbd"
    r"|(?<! is a )(?<!was a )joke[ds]?"
    r"|joking|dream(?:ed|t)?|would (?:love|like|hate) to)\b| or what\W*$"
    rf"|(?:\bi|{NAME}) (?:thought|assumed|figured|hoped)\b"
    rf"|\b(?:(?:is|are|was|were)(?:n't| not)? |'s (?:not )?)(?:[a-z]+ ){{0,3}}(?:false|untrue|wrong|incorrect|not true"
    r"|nonsense|a lie|lies|a myth|a rumou?r|a joke|made up|fiction|fake)\b(?! about)"
    r"|\b(?:lie|myth|lies|rumou?r|nonsense|claim|idea|misconception|hoax) (?:is )?that\b"
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
    r"whether\b(?=.{0,80}\bor not\b)"
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


# -- periods ----------------------------------------------------------------------------------------------------------

Interval = tuple[datetime | None, datetime | None]
"""Start and end of a period; None means open."""

EVENTS: Final = frozenset({Phase.OPENS, Phase.CLOSES})
LASTING: Final = frozenset({Phase.HOLDS, Phase.DONE, Phase.ENDED})
"""Phases of relations that last for a time."""
_NAME: Final = re.compile(NAME)
_DATE: Final = re.compile(DATE)
_SUBJECT_CHANGE: Final = (
    rf",? (?:which|who|whom|whose|where) |,? (?:and|but|while|whereas|then) {NAME}(?:'(?:s|ve|ll|d|m|re))? "
    rf"(?!at\b|in\b|on\b|for\b|since\b|from\b|with\b|to\b|until\b"
    r"|of\b)[a-z]|(?:,|,? (?:and|but|while|whereas)) (?:he|she|they|we|it)\b"
    rf"|, {NAME} (?:used to|is|was|has|had|will|[a-z]+ed|[a-z]+s) |\. "
)
_FAR: Final = 60
"""Maximum characters between a lasting relation and its date."""
_CLAUSES: Final = {True: re.compile(_SUBJECT_CHANGE), False: re.compile(f";|{_SUBJECT_CHANGE}")}
# "has run Saltroad for two years", and still does
_PERFECT: Final = re.compile(r"(?: (?:has|have)|'ve) ")
_LASTING: Final = re.compile(r" for (?:[a-z]+ |\d+ )?(?:years?|months?|weeks?|ages|decades?|ever)\b")
_UNTIL: Final = re.compile(r"\b(?:until|till|through) (?:[a-z]+ ){0,3}$", re.IGNORECASE)
# "joined Acme in 2023 and left in June 2025": whom or what was left is that which was joined.
_LEFT_AGAIN: Final = re.compile(
    rf"(?: (?:in|on|at|during|around|back in|this|last|early in|late in|the|start|end|of|{DATE})){{0,6}},?"
    rf"(?:;| and| but)?(?: (?:(?P<who>{NAME})|then|later|already|he|she|they|has|have|had|since)){{0,4}} "
    rf"(?:left|quit|resigned|departed)(?: again| there| (?:the |that )?(?:company|firm|team|job|group))?"
    rf"(?: (?:in|on|at|during|around|back in|the|start|end|of)){{0,4}}(?: (?P<left>{DATE})|(?= *[.,;!]|$))"
)
# "joined the club last spring" began before, at a time that depends on the hemisphere.
_SEASON: Final = re.compile(r"[^.;,]{0,40}\b(?:last|in|the) (?:spring|summer|autumn|fall|winter)\b")
# "moved to Paris, and in 2024 to Rome": the date is that of what follows.
_NEXT_CLAUSE: Final = re.compile(
    r"\b(?:and|but|then),? (?:(?:in|on|since|from|by|around|during|at the (?:start|end) of) )?$"
)
_BESIDE: Final = re.compile(", (?:who|which) ")
# "Bea from the Guild": only a date that follows at once is that of the membership.
_GROUP: Final = re.compile(rf"{NAME} (?:from|of|on|in|at|with) (?:the |our )?{NAME}(?: [a-z]+)?")
_NOTHING: Final = re.compile(r",?(?: |\(|since|from|until|till|in|between|during|for|as|of)*")
_WORKED: Final = re.compile(r"\b(?:work|collaborat|partner|pair|team)ed\b")
_WAS: Final = re.compile(r" (?:was|were) ")
_APPOINTED: Final = re.compile(" (?:was|were) (?:[a-z]+ly )?(?:named|appointed|elected|voted|promoted|made) ")


def when(
    match: re.Match[str], phase: Phase, dates: Sequence[DateSpan], at: datetime | None
) -> tuple[Phase, Interval | None]:
    """The phase of a match and its period; None if it is at no known time.

    ``phase`` is that of the pattern; words such as "was", "will" and "no longer" change it. ``dates`` are those of the
    sentence, ``at`` is the time of its memory.
    """
    groups = match.groupdict()
    dated = _date_of(match, dates, event=phase in EVENTS)
    if groups.get("closed") and phase is not Phase.OPENS:
        phase = Phase.CLOSES
    elif phase is Phase.HOLDS and _WAS.search(match[0]):
        phase = Phase.OPENS if _APPOINTED.search(match[0]) else Phase.ENDED
    elif phase is Phase.ENDED and _PERFECT.search(match[0]) and _LASTING.match(match.string, match.end()):
        phase = Phase.HOLDS
    elif phase is Phase.DONE and _over(match, dated, at):
        phase = Phase.ENDED
    until = dated is not None and dated.role is Role.UNTIL and _lasts_until(match.string, dates.index(dated))
    if until and phase is Phase.DONE:
        phase = Phase.ENDED
    if (groups.get("future") or "'ll " in match[0]) and not (until and phase in LASTING):
        return _ahead(phase, dated, at)
    began = None if phase is Phase.OPENS and dated is None and _SEASON.match(match.string, match.end()) else at
    period = _PERIODS[phase](dated, began)
    if period is not None and phase is Phase.OPENS and period[1] is None:
        period = period[0], _end_of_stay(match, dates, at)
    return phase, period


def _over(match: re.Match[str], dated: DateSpan | None, at: datetime | None) -> bool:
    """Whether people worked together in a month or year that was over: "worked with Bob in 2021"; not yesterday."""
    if dated is None or dated.role is not Role.AT or not _WORKED.search(match[0]) or _PERFECT.search(match[0]):
        return False
    long = dated.precision in (Precision.MONTH, Precision.QUARTER, Precision.YEAR)
    return long and dated.valid_to is not None and (at is None or dated.valid_to <= at)


def _end_of_stay(match: re.Match[str], dates: Sequence[DateSpan], at: datetime | None) -> datetime | None:
    """The time at which what began ended, as far as the same sentence states it."""
    left = _LEFT_AGAIN.match(match.string, match.end())
    if left is None or left["who"] not in (None, match["source"]):
        return None
    return dates[ord(left["left"]) - FIRST_DATE].valid_from if left["left"] else at


def _lasts_until(masked: str, number: int) -> bool:
    """Whether the words before a date make it the end of what a sentence states: "until May", not "before May"."""
    place = masked.find(chr(FIRST_DATE + number))
    return _UNTIL.search(masked, max(0, place - _FAR), place) is not None


def _ahead(phase: Phase, dated: DateSpan | None, at: datetime | None) -> tuple[Phase, Interval | None]:
    """A relation in the future counts only with a future date."""
    start = dated.valid_from if dated and (at is None or (dated.valid_to or dated.valid_from) > at) else None
    if phase is Phase.CLOSES:
        return phase, (None, start) if start else None
    return Phase.OPENS, (start, None) if start else None


def _date_of(match: re.Match[str], dates: Sequence[DateSpan], *, event: bool) -> DateSpan | None:
    """The date of a match: one within it, else the next one after it in its clause, else one before it there.

    A date at the beginning of a sentence applies to all its clauses, and a date in a clause to all events with the
    same subject: "Ada left Acme last month and joined Globex".
    """
    if not dates:
        return None
    found = _DATE.search(match.string, match.start(), match.end()) or _behind(match, event) or _before(match, event)
    return dates[ord(found[0]) - FIRST_DATE] if found else None


def _behind(match: re.Match[str], event: bool) -> re.Match[str] | None:
    masked, end = match.string, match.end()
    date = _DATE.search(masked, end)
    if date is None or _CLAUSES[event].search(masked, end - 1, date.start()):  # "… and Bob" may open a clause
        return None
    if _GROUP.fullmatch(match[0]) and not _NOTHING.fullmatch(masked, end, date.start()):
        return None  # "Bea from the Guild came in May"
    # "Ada, the head of Acme, moved in May": the date is not that of the headship.
    if _NEXT_CLAUSE.search(masked, end, date.start()):
        return None
    aside = "(" in masked[end : date.start()].removeprefix(" (") and masked[date.end() : date.end() + 1] not in (
        "-",
        "–",
        "—",
    )
    far = date.start() - end > _FAR or aside
    if _BESIDE.search(match[0]) and "," in masked[end : date.start()]:
        return None  # "Jin, who was at Kakao, joined us in May": the date is that of the main clause
    noun = "noun" in match.groupdict() and "," in masked[end : date.start()]
    return date if event or not (far or noun) else None


def _before(match: re.Match[str], event: bool) -> re.Match[str] | None:
    masked, start = match.string, match.start()
    date = None
    for date in _DATE.finditer(masked, 0, start):  # noqa: B007 - the last one
        pass
    if date is None or not _NAME.search(masked, 0, date.start()):
        return date
    if masked[: date.start()].endswith(" of ") and ":" in masked[date.end() : start]:
        return None  # "my list of December: …" lists what holds now
    far = start - date.end() > _FAR or ")" in masked[date.end() : start]
    return None if _CLAUSES[event].search(masked, date.end(), match.end()) or (far and not event) else date


def _holds(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None:
        return None, None
    if dated.role is Role.BETWEEN:
        return dated.valid_from, dated.valid_to
    if dated.role is Role.UNTIL:
        return None, dated.valid_from
    # "Ada works with Bob on the launch next month" states no start.
    past = at is None or dated.valid_from <= at
    return (dated.valid_from, None) if past or dated.role is Role.SINCE else (None, None)


def _done(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None or dated.role is Role.UNTIL:
        return None, None
    return (dated.valid_from if at is None or dated.valid_from <= at else None), None


def _ended(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None:
        return None, at
    if dated.role is Role.SINCE:
        return dated.valid_from, None
    return _holds(dated, at) if dated.role is Role.UNTIL else (dated.valid_from, dated.valid_to)


def _opens(dated: DateSpan | None, at: datetime | None) -> Interval:
    if dated is None:
        return at, None
    return dated.valid_from, dated.valid_to if dated.role is Role.BETWEEN else None


def _closes(dated: DateSpan | None, at: datetime | None) -> Interval | None:
    end = dated.valid_from if dated else at
    return None if end is None else (None, end)


_PERIODS: Final = {
    Phase.HOLDS: _holds,
    Phase.DONE: _done,
    Phase.ENDED: _ended,
    Phase.OPENS: _opens,
    Phase.CLOSES: _closes,
}
