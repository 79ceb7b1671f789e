"""What a text takes back: "Sligo, sorry, Galway", "scratch that", "I meant Galway", "has never lived in Sligo".

A correction amends the sentence before it, or an earlier memory of its speaker. The earlier memory stays unchanged: the
later one claims that the wrong relation held for an empty period, from its start to its start. A reader who may not
see the correction thus still sees the original, and forgetting the correction undoes it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import attrs

from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, EARLIEST
from graphsearch.ingest.frames.table import words
from graphsearch.ingest.reading.names import key
from graphsearch.model import KNOWN_RELATION_TYPES, EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement, fact_in
from graphsearch.names.spans import Read
from graphsearch.text.dates import DateSpan

REACH: Final = 2
"""How many sentences back a correction reaches in its own text."""
REACH_TURNS: Final = 4
"""How many memories back "I meant Galway" may refer to: a few turns of other speakers may be in between."""
CORRECTED: Final = "corrected"
"""The pattern name of a statement that retracts an earlier one."""
_MOST_STATEMENTS: Final = 200
"""Most latest statements that a correction is compared with, for linear time."""

# Sentences are matched as their words with a space behind each; a name is "·", a date "#", "~" what else is of them.
_SIGN: Final = r"[^\w·#~\s]"
_MORE: Final = "(?:~ ){0,9}"
_LITTLE: Final = rf"(?:(?:and|but|or|oh|er|erm|um|uh|ah|well|it is|it 's|{_SIGN}{{1,3}}) )"
_MARK: Final = (
    r"(?:(?:no|nope|sorry|oops|whoops|wait|actually|correction|typo|rather|my (?:mistake|bad)|i mean|i meant"
    r"|make (?:that|it)|(?:scratch|strike) that|(?:that|it) should (?:be|read|say)) )"
)
_LED: Final = re.compile(rf"{_LITTLE}{{0,4}}{_MARK}(?:{_LITTLE}|{_MARK}){{0,8}}+")
_SMALL: Final = r"(?:(?:in|at|to|on|by|for|with|from|of|the|an?) ){0,3}"
_FRAGMENT: Final = re.compile(
    rf"(?:{_LED.pattern})?(?:it was )?(?:not {_SMALL}(?P<not>·) {_MORE})?(?:, |but ){{0,2}}{_SMALL}(?P<meant>·) {_MORE}"
    rf"(?:, )?(?:(?:not|rather than|instead of) {_SMALL}(?P<wrong>·) {_MORE})?(?:{_SIGN} ){{0,3}}$"
)
_AT_ONCE: Final = re.compile(
    rf"(?P<wrong>[·#]) {_MORE}{_LITTLE}{{0,4}}{_MARK}(?:{_LITTLE}|{_MARK}){{0,8}}{_SMALL}(?P<meant>[·#]) "
)
_BACK: Final = re.compile(
    r"\b(?:(?:scratch|strike|forget|ignore|disregard) (?:that|this|it)|i (?:misspoke|mistyped|misread)"
    r"|(?:i (?:'m|am|was)|that (?:'s|is|was)) (?:wrong|mistaken|not true|untrue|false|a mistake|a typo)) (?!about)"
)
_SURE: Final = frozenset({"mean", "meant", "correction", "mistake", "typo", "make", "rather", "should"})
_APOLOGIES: Final = frozenset({"sorry", "oops", "whoops"})


class Part(NamedTuple):
    """A sentence: the words [first, stop) of a text, whose names are those of the sentence alone."""

    read: Read
    first: int
    stop: int


@attrs.frozen(kw_only=True)
class Correction:
    """A correction, by a sentence, of the one before it.

    ``back``: it retracts the whole sentence. ``meant`` and ``wrong`` are numbers of names: the right one, and the one
    that it replaces, if stated. ``sure``: it cannot be an apology, as "Sorry, Ana." can. ``again``: it may be a full
    sentence that restates the fact.
    """

    back: bool = False
    meant: int | None = None
    wrong: int | None = None
    sure: bool = True
    again: bool = False


@attrs.frozen(kw_only=True)
class Amendment:
    """A correction with its names and statements, and what its text declares to have never been true."""

    correction: Correction = Correction()
    meant: ExtractedName | None = None
    wrong: str = ""
    again: tuple[Statement, ...] = ()
    denied: tuple[Statement, ...] = ()
    span: Span


# -- one sentence -----------------------------------------------------------------------------------------------------


def may_correct(part: Part) -> bool:
    """Tell whether a sentence may correct or deny anything."""
    return not words("correcting").isdisjoint(part.read.lows[part.first : part.stop])


def masked(part: Part, dates: Sequence[DateSpan]) -> str:
    """Write the words of a sentence with a space behind each, and a sign for each name and date."""
    lows = [low.replace("’", "'") for low in part.read.lows[part.first : part.stop]]
    starts = [word.start for word in part.read.words[part.first : part.stop]]
    spans = [(bisect_left(starts, each.start), bisect_left(starts, each.end), "#") for each in dates]
    spans += [(each.first - part.first, each.end - part.first, "·") for each in part.read.mentions]
    for first, end, sign in spans:
        lows[first:end] = [sign, *"~" * (end - first - 1)]
    return "".join(f"{low} " for low in lows)


def find_correction(text: str) -> Correction | None:
    """Find the correction that a masked sentence is; None if it is none."""
    back, found, led = _BACK.search(text) is not None, _FRAGMENT.match(text), _LED.match(text)
    lead = {*led[0].split()} if led else set[str]()

    def number(name: str) -> int | None:
        return text.count("·", 0, found.start(name)) if found and found[name] else None

    wrong = number("not") if number("not") is not None else number("wrong")
    if found and (led or wrong is not None):
        sure = back or wrong is not None or not lead.isdisjoint(_SURE)
        return Correction(back=back, meant=number("meant"), wrong=wrong, sure=sure)
    again = not back and not lead.isdisjoint(_SURE | _APOLOGIES)
    return Correction(back=back, again=again) if back or again else None


def settle(part: Part, text: str) -> Part:
    """Leave out what a sentence corrects at once, as in "Sligo, sorry, Galway", and a "Correction:" before it."""
    ranges = [
        (match.start(), match.start("meant")) for match in _AT_ONCE.finditer(text) if match["wrong"] == match["meant"]
    ]
    led = _LED.match(text)
    if led and led.end() < len(text) and {*led[0].split()} & (_SURE | _APOLOGIES):
        ranges.append((0, led.end()))
    places = [range(*(part.first + text.count(" ", 0, at) for at in each)) for each in ranges]
    return _without(part, {*chain(*places)}) if places else part


def assert_denied(part: Part) -> Part | None:
    """Write a sentence with "always" for "never", for what it denies; None if it has none."""
    lows, said = [*part.read.lows], part.read.lows[part.first : part.stop]
    lows[part.first : part.stop] = ["always" if low == "never" else low for low in said]
    return part._replace(read=part.read._replace(lows=lows)) if "never" in said else None


def _without(part: Part, left_out: set[int]) -> Part:
    read = part.read
    kept = [place for place in range(part.first, part.stop) if place not in left_out]
    new = {place: number for number, place in enumerate(kept)}
    mentions = [
        each._replace(first=new[each.first], end=new[each.end - 1] + 1)
        for each in read.mentions
        if each.first in new and each.end - 1 in new
    ]
    words_ = [read.words[place] for place in kept]
    lows, marks = [read.lows[place] for place in kept], [read.marks[place] for place in kept]
    left = read._replace(words=words_, lows=lows, marks=marks, sentences=[(0, len(kept))], mentions=mentions)
    return Part(left, 0, len(kept))


def amend(stated: Sequence[Statement], amendment: Amendment) -> list[Statement]:
    """Apply a correction to the statements of the sentence before it."""
    what = amendment.correction
    if what.again:
        again = {(key(each.source.name), each.type) for each in amendment.again}
        return [each for each in stated if (key(each.source.name), each.type) not in again]
    right = replace(stated[-1], amendment)
    if right is None:
        return [] if what.back else [*stated]
    return [*stated[:-1], right]


def replace(stated: Statement, amendment: Amendment) -> Statement | None:
    """Put the right name in place of the wrong one; None if there is no right name.

    The wrong name is the one stated to be wrong, if any; else the subject, if the right name is a person and the object
    is not; else the object, since the point of a sentence is at its end. "Sorry, Ana." may be no correction.
    """
    meant, what = amendment.meant, amendment.correction
    person = meant is not None and meant.type == stated.source.type == "person" != stated.target.type
    if meant is None or (not what.sure and (person or not (meant.type or stated.target.type))):
        return None
    wrong = key(amendment.wrong)
    if key(stated.source.name) == wrong if wrong else person:
        return attrs.evolve(stated, source=attrs.evolve(meant, type=meant.type or stated.source.type))
    return attrs.evolve(stated, target=attrs.evolve(meant, type=meant.type or stated.target.type))


# -- earlier memories -------------------------------------------------------------------------------------------------


class _Earlier(NamedTuple):
    number: int
    memory: Memory
    statement: Statement


def correct_earlier(
    memories: Sequence[Memory], found: Sequence[tuple[ExtractedMemory, Amendment | None]], whole: Mapping[str, str]
) -> list[ExtractedMemory]:
    """Add the corrections of earlier memories; ``whole`` maps the short names of persons to full names.

    "I meant Galway" corrects the last statement of its speaker; a correction in a full sentence corrects the speaker's
    statements of the same subject and functional type; "has never" retracts the statements of any speaker.
    """
    if not any(amendment for _, amendment in found):
        return [each for each, _ in found]
    said, corrected = deque[_Earlier](maxlen=_MOST_STATEMENTS), []
    for number, (memory, (read, amendment)) in enumerate(zip(memories, found, strict=True)):
        added = [*_corrections(number, memory, amendment, said, whole)] if amendment and memory.speaker else ()
        surfaces = dict.fromkeys((*read.surfaces, *(end for each in added for end in (each.source, each.target))))
        statements = tuple(dict.fromkeys((*read.statements, *added)))
        corrected.append(attrs.evolve(read, surfaces=tuple(surfaces), statements=statements) if added else read)
        stated = (each for each in statements if each.pattern != CORRECTED and each.type not in CO_OCCURRENCE_TYPES)
        said.extend(_Earlier(number, memory, each) for each in stated)
    return corrected


def _corrections(
    number: int, memory: Memory, amendment: Amendment, said: Sequence[_Earlier], whole: Mapping[str, str]
) -> Iterator[Statement]:
    own = [each for each in said if each.memory.speaker == memory.speaker]
    last = next((each for each in reversed(own) if each.memory.session_id == memory.session_id), None)
    if last and not amendment.again and number - last.number <= REACH_TURNS:
        right = replace(_apart(last.statement), amendment)
        if right or amendment.correction.back:
            yield from _retract(memory, last, amendment.span)
        if right:
            yield attrs.evolve(right, fact=fact_in(memory, amendment.span), span=amendment.span)

    def ends(each: Statement) -> list[str]:
        return [whole.get(key(end.name), key(end.name)) for end in (each.source, each.target)]

    def retract(stated: Statement, earlier: Sequence[_Earlier], *, same: bool) -> Iterator[Statement]:
        for each in (each for each in earlier if each.statement.type == stated.type):
            (source, target), (subject, object_) = ends(each.statement), ends(stated)
            if source == subject and (target == object_) == same:
                yield from _retract(memory, each, amendment.span)

    for each in amendment.again:
        known = KNOWN_RELATION_TYPES.get(each.type)
        yield from retract(each, own if known and known.functional else (), same=False)
    for each in amendment.denied:
        yield from retract(each, said, same=True)


def _retract(memory: Memory, earlier: _Earlier, span: Span) -> Iterator[Statement]:
    """State that it held for an empty period; what has no known start cannot be retracted."""
    wrong = _apart(earlier.statement)
    said = None if wrong.valid_from == EARLIEST else wrong.valid_from
    start = said or (None if wrong.valid_to else earlier.memory.occurred_at)
    if start is not None:
        over = attrs.evolve(wrong, valid_from=start, valid_to=start, kind=EdgeKind.LIFECYCLE)
        yield attrs.evolve(over, fact=fact_in(memory, span), span=span, pattern=CORRECTED)


def _apart(stated: Statement) -> Statement:
    """A statement of another memory, whose names have no spans in this one."""
    source, target = (attrs.evolve(each, span=None) for each in (stated.source, stated.target))
    return attrs.evolve(stated, source=source, target=target)
