"""What a text takes back: "Sligo, sorry, Galway", "scratch that", "I meant Galway", "has never lived in Sligo".

A correction amends the sentence before it, or an earlier memory of its speaker. The earlier memory stays unchanged: the
later one claims that the wrong relation held for an empty period, from its start to its start. A reader who may not
see the correction thus still sees the original, and forgetting the correction undoes it.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import attrs

from graphsearch.claims.folding import CO_OCCURRENCE_TYPES, EARLIEST
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
_MOST_STATEMENTS: Final = 20
"""Most latest statements of one subject and type that a correction is compared with, for linear time."""

# A name or a date of a sentence is one character, so that expressions match the words between.
_FIRST_NAME: Final = 0xE000
_FIRST_DATE: Final = 0xE100
_MOST: Final = 0x100
_NAME: Final = "[\ue000-\ue0ff]"
_DATE: Final = "[\ue100-\ue1ff]"
_STRAIGHT: Final = str.maketrans("’“”*`\u00a0", '\'""   ') | dict.fromkeys(range(_FIRST_NAME, 0xE200), "?")

_HESITATION: Final = r"(?:and|but|oh|er|erm|um|uh|ah|argh|well|hang on|hold on|that is)"
_MARK: Final = (
    r"(?:no|nope|sorry|apologies|oops|whoops|wait|actually|my (?:mistake|bad|error)|typo|correction|(?:or )?rather"
    r"|(?:i|we) mean(?:t)?(?: to (?:say|write|type))?|make (?:that|it)|(?:that|it|which) should (?:be|read|say|have "
    r"been)|should (?:be|read|say|have been)|it(?:'s| is) actually|read)"
)
_BACK: Final = re.compile(
    r"\b(?:scratch|strike|forget|ignore|disregard|delete|undo) (?:that|this|it|what i (?:just )?(?:said|wrote)|the "
    r"last|my last)\b|\bi (?:misspoke|mistyped|misread)\b|\b(?:i(?:'m| am| was)|that(?:'s| is| was)) (?:wrong(?! about)"
    r"|mistaken(?! about)|not right|not true|untrue|false|a mistake|a typo)\b|\bi take (?:that|it) back\b"
)
_LED: Final = rf"(?:{_HESITATION}[ ,.:!-]++){{0,4}}(?:{_MARK}[ ,.:!-]++)(?:(?:{_HESITATION}|{_MARK})[ ,.:!-]*+){{0,6}}"
_STARTS: Final = re.compile(rf"\W{{0,20}}+{_LED}")
_SMALL: Final = r"(?:(?:in|at|to|on|by|for|with|from|of|the|an?|our|is|was|it's) ){0,4}"
_FRAGMENT: Final = re.compile(
    rf"\W*+(?:{_LED}(?:not (?P<not>{_SMALL}{_NAME})(?:,? but |, ?| ))?|not (?P<other>{_SMALL}{_NAME})(?:,? but |, ))"
    rf"{_SMALL}(?P<meant>{_NAME})(?:,? (?:not|rather than|instead of) (?P<wrong>{_SMALL}{_NAME}))?"
    r"(?P<acts> (?:does|did|do|is|was|has|will))?(?: (?:it|that|of course|obviously|instead|not \w+))*[ .!)]*$"
)
_AFTER_BACK: Final = re.compile(rf"(?<![ ,.:;!-])[ ,.:;!-]++(?:it(?:'s| is) )?{_SMALL}(?P<meant>{_NAME})[ .!]*$")
_SLIP: Final = rf"(?:(?:oh|er|erm|um|uh|well),? )*(?:(?:{_MARK}|scratch that|strike that)[,:.]? )+"
_AT_ONCE: Final = re.compile(
    rf"(?P<wrong>{_NAME}|{_DATE})(?:,? -+|,|\.\.\.|…| \(|) {_SLIP}{_SMALL}(?P<meant>{_NAME}|{_DATE})\)?"
)
_SURE: Final = re.compile(r"\b(?:mean|meant|correction|mistake|typo|make that|rather|should)\b")
_CERTAIN: Final = re.compile(r"\b(?:mean|meant|correction|mistake|typo|make that|rather|sorry|oops|whoops|error)\b")
# Whatever corrects, retracts or denies has one of these words.
_CUE: Final = re.compile(
    rf"\b(?:{_MARK}|scratch|strike|forget|ignore|disregard|delete|undo|misspoke|mistyped|misread|wrong|mistaken?|untrue"
    r"|false|not (?:right|true)|take (?:that|it) back|never)\b|^\W{0,20}not\b",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """A sentence: the words [first, stop) of a text, whose names are those of the sentence alone."""

    read: Read
    first: int
    stop: int


@attrs.frozen(kw_only=True)
class Correction:
    """A correction, by a sentence, of the one before it.

    ``back``: it retracts the whole sentence. ``meant`` and ``wrong`` are numbers of names: the right one, and the one
    that it replaces, if stated. ``acts``: the right name is the subject. ``sure``: it cannot be an apology, as
    "Sorry, Ana." can. ``again``: it may be a full sentence that restates the fact.
    """

    back: bool = False
    meant: int | None = None
    wrong: int | None = None
    acts: bool = False
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


def may_correct(text: str, span: Span) -> bool:
    """Tell whether a sentence may correct or deny anything."""
    return _CUE.search(text, span.start, span.end) is not None


# -- one sentence -----------------------------------------------------------------------------------------------------


def masked(part: Part, dates: Sequence[DateSpan]) -> str:
    """Write a sentence in lower case, with one character for each of its names and dates."""
    words, text = part.read.words, part.read.text
    spans = [
        (words[each.first].start, words[each.end - 1].end, chr(_FIRST_NAME + number))
        for number, each in enumerate(part.read.mentions[:_MOST])
    ]
    spans += [(each.start, each.end, chr(_FIRST_DATE + number)) for number, each in enumerate(dates[:_MOST])]
    pieces, at = [], words[part.first].start
    for start, end, sign in sorted(spans):
        if start >= at:
            pieces += [text[at:start].translate(_STRAIGHT).lower(), sign]
            at = end
    return "".join((*pieces, text[at : words[part.stop - 1].end].translate(_STRAIGHT).lower()))


def find_correction(written: str) -> Correction | None:
    """Find the correction that a masked sentence is; None if it is none."""
    back = _BACK.search(written)
    found = _AFTER_BACK.match(written, back.end()) if back else _FRAGMENT.match(written)
    if found is None:
        led = None if back else _STARTS.match(written)
        return Correction(back=True) if back else Correction(again=True) if led and _CERTAIN.search(led[0]) else None
    groups = found.groupdict()
    wrong = _number(groups.get("not") or groups.get("other") or groups.get("wrong"))
    return Correction(
        back=back is not None,
        meant=_number(found["meant"]),
        wrong=wrong,
        acts=bool(groups.get("acts")),
        sure=bool(back or wrong is not None or groups.get("acts") or _SURE.search(written)),
    )


def _number(group: str | None) -> int | None:
    return ord(group[-1]) - _FIRST_NAME if group else None


def settle(part: Part, dates: Sequence[DateSpan], written: str) -> tuple[Part, list[DateSpan]]:
    """Leave out what a sentence corrects at once, as in "Sligo, sorry, Galway", and a "Correction:" before it."""
    words, ranges = part.read.words, []
    starts = [words[each.first].start for each in part.read.mentions], [each.start for each in dates]
    for match in _AT_ONCE.finditer(written):
        kinds = [sign >= chr(_FIRST_DATE) for sign in (match["wrong"], match["meant"])]
        if kinds[0] == kinds[1]:
            base = (_FIRST_NAME, _FIRST_DATE)[kinds[0]]
            ranges.append((starts[kinds[0]][ord(match["wrong"]) - base], starts[kinds[0]][ord(match["meant"]) - base]))
    if (led := _STARTS.match(written)) and _CERTAIN.search(led[0]):
        at = words[part.first].start  # what leads has no names: its characters are those of the text
        ranges.append((at, at + led.end()))

    def is_left_out(at: int) -> bool:
        return any(start <= at < end for start, end in ranges)

    left = [each for each in dates if not is_left_out(each.start)]
    return _without(part, lambda place: is_left_out(words[place].start)), left


def assert_denied(part: Part) -> Part | None:
    """Write a sentence with "always" for "never", for what it denies; None if it has none."""
    lows, said = [*part.read.lows], part.read.lows[part.first : part.stop]
    lows[part.first : part.stop] = ["always" if low == "never" else low for low in said]
    return part._replace(read=part.read._replace(lows=lows)) if "never" in said else None


def _without(part: Part, is_left_out: Callable[[int], bool]) -> Part:
    read = part.read
    kept = [place for place in range(part.first, part.stop) if not is_left_out(place)]
    if len(kept) == part.stop - part.first:
        return part
    new = {place: number for number, place in enumerate(kept)}
    mentions = [
        each._replace(first=new[each.first], end=new[each.end - 1] + 1)
        for each in read.mentions
        if each.first in new and each.end - 1 in new
    ]
    words = [read.words[place] for place in kept]
    lows, marks = [read.lows[place] for place in kept], [read.marks[place] for place in kept]
    left = read._replace(words=words, lows=lows, marks=marks, sentences=[(0, len(words))], mentions=mentions)
    return Part(left, 0, len(words))


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

    The wrong name is the one stated to be wrong, if any; else the subject, if the right name acts or is a person and
    the object is not; else the object, since the point of a sentence is at its end. "Sorry, Ana." may be no correction.
    """
    meant, what = amendment.meant, amendment.correction
    person = meant is not None and meant.type == stated.source.type == "person" != stated.target.type
    typed = meant is not None and (meant.type or stated.target.type)
    if meant is None or (not what.sure and (person or not typed)):
        return None
    wrong = key(amendment.wrong)
    if key(stated.source.name) == wrong if wrong else what.acts or person:
        return attrs.evolve(stated, source=_typed(meant, stated.source))
    return attrs.evolve(stated, target=_typed(meant, stated.target))


def _typed(surface: ExtractedName, wrong: ExtractedName) -> ExtractedName:
    return surface if surface.type else attrs.evolve(surface, type=wrong.type)


# -- earlier memories -------------------------------------------------------------------------------------------------


class _Earlier(NamedTuple):
    number: int
    memory: Memory
    statement: Statement


class _Said:
    """What was stated so far: last by each speaker of a session, and of each subject and type."""

    def __init__(self, whole: Mapping[str, str]) -> None:
        self._whole = whole
        self.last: dict[tuple[str, str], _Earlier] = {}
        self._by_subject: dict[tuple[str, str], deque[_Earlier]] = defaultdict(lambda: deque(maxlen=_MOST_STATEMENTS))

    def add(self, number: int, memory: Memory, stated: Sequence[Statement]) -> None:
        for each in stated:
            if each.pattern != CORRECTED and each.type not in CO_OCCURRENCE_TYPES:
                earlier = _Earlier(number, memory, each)
                self._by_subject[self._key(each.source), each.type].append(earlier)
                self.last[memory.session_id, memory.speaker] = earlier

    def like(self, stated: Statement) -> Iterator[tuple[_Earlier, bool]]:
        """The earlier statements of the same subject and type, and whether their target is the same."""
        for each in self._by_subject.get((self._key(stated.source), stated.type), ()):
            yield each, self._key(each.statement.target) == self._key(stated.target)

    def _key(self, name: ExtractedName) -> str:
        form = key(name.name)
        return self._whole.get(form, form)


def correct_earlier(
    memories: Sequence[Memory], found: Sequence[tuple[ExtractedMemory, Amendment | None]], whole: Mapping[str, str]
) -> list[ExtractedMemory]:
    """Add the corrections of earlier memories; ``whole`` maps the short names of persons to full names.

    "I meant Galway" corrects the last statement of its speaker; a correction in a full sentence corrects the speaker's
    statements of the same subject and functional type; "has never" retracts the statements of any speaker.
    """
    if not any(amendment for _, amendment in found):
        return [each for each, _ in found]
    said, corrected = _Said(whole), []
    for number, (memory, (read, amendment)) in enumerate(zip(memories, found, strict=True)):
        added = [*_corrections(number, memory, amendment, said)] if amendment and memory.speaker else ()
        surfaces = dict.fromkeys((*read.surfaces, *(end for each in added for end in (each.source, each.target))))
        statements = tuple(dict.fromkeys((*read.statements, *added)))
        corrected.append(attrs.evolve(read, surfaces=tuple(surfaces), statements=statements) if added else read)
        said.add(number, memory, statements)
    return corrected


def _corrections(number: int, memory: Memory, amendment: Amendment, said: _Said) -> Iterator[Statement]:
    last = said.last.get((memory.session_id, memory.speaker))
    if last and not amendment.again and number - last.number <= REACH_TURNS:
        right = replace(_apart(last.statement), amendment)
        if right or amendment.correction.back:
            yield from _retract(memory, last, amendment.span)
        if right:
            yield attrs.evolve(right, fact=fact_in(memory, amendment.span), span=amendment.span)
    for each in amendment.again:
        known = KNOWN_RELATION_TYPES.get(each.type)
        for earlier, same in said.like(each) if known and known.functional else ():
            if earlier.memory.speaker == memory.speaker and not same:
                yield from _retract(memory, earlier, amendment.span)
    for each in amendment.denied:
        for earlier, same in said.like(each):
            if same:
                yield from _retract(memory, earlier, amendment.span)


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
