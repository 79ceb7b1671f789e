"""Amendments of what was read: corrections, and full names for shortened ones.

"Scratch that", "I meant Galway" and "Sligo, sorry, Galway" correct the sentence before, or an earlier memory of the
conversation. The earlier memory stays unchanged: the later one claims that the wrong relation held for an empty period,
from its start to its start. A reader who may not see the correction thus still sees the original, and forgetting the
correction undoes it.

"I've left Harkin" means Harkin Dairy, the known employer: shortened names are expanded where relations end.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.conversation import name_key
from graphsearch.ingest.extract.rules.masked_sentence import DATE, NAME, name_numbers
from graphsearch.ingest.extract.rules.relating import CO_OCCURS
from graphsearch.model import KNOWN_RELATION_TYPES, EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement, fact_in

_HESITATION: Final = r"(?:and|but|oh|er|erm|um|uh|ah|argh|well|hang on|hold on|that is)"
_MARK: Final = (
    r"(?:no|nope|sorry|apologies|oops|whoops|wait|actually|my (?:mistake|bad|error)|typo|correction|(?:or )?rather"
    r"|(?:i|we) mean(?:t)?(?: to (?:say|write|type))?|make (?:that|it)|(?:that|it|which) should (?:be|read|say|have "
    r"been)"
    r"|should (?:be|read|say|have been)|it(?:'s| is) actually|read)"
)
_BACK: Final = re.compile(
    r"\b(?:scratch|strike|forget|ignore|disregard|delete|undo) (?:that|this|it|what i (?:just )?(?:said|wrote)|the "
    r"last|my last)\b"
    r"|\bi (?:misspoke|mistyped|misread)\b|\b(?:i(?:'m| am| was)|that(?:'s| is| was)) (?:wrong(?! about)"
    r"|mistaken(?! about)|not right|not true|untrue|false|a "
    r"mistake|a typo)\b"
    r"|\bi take (?:that|it) back\b",
    re.IGNORECASE,
)
# Every retraction contains one of these.
_CUES: Final = re.compile(
    "scratch|strike|forget|ignore|disregard|delete|undo|misspoke|mistyped|misread| wrong|mistake|not right|not true"
    "|untrue|false|a typo|take that back|take it back"
)
_LED: Final = rf"(?:{_HESITATION}[ ,.:!-]++){{0,4}}(?:{_MARK}[ ,.:!-]++)(?:(?:{_HESITATION}|{_MARK})[ ,.:!-]*+){{0,6}}"
_STARTS: Final = re.compile(rf"\W{{0,20}}+{_LED}", re.IGNORECASE)
_SMALL: Final = r"(?:(?:in|at|to|on|by|for|with|from|of|the|an?|our|is|was|it's) ){0,4}"
_FRAGMENT: Final = re.compile(
    rf"\W*+(?:{_LED}(?:not (?P<not>{_SMALL}{NAME})(?:,? but |, ?| ))?|not (?P<other>{_SMALL}{NAME})(?:,? but |, ))"
    rf"{_SMALL}(?P<meant>{NAME})(?:,? (?:not|rather than|instead of) (?P<wrong>{_SMALL}{NAME}))?"
    r"(?P<acts> (?:does|did|do|is|was|has|will))?(?: (?:it|that|of course|obviously|instead|not \w+))*[ .!)]*$"
)
_AFTER_BACK: Final = re.compile(rf"(?<![ ,.:;!-])[ ,.:;!-]++(?:it(?:'s| is) )?{_SMALL}(?P<meant>{NAME})[ .!]*$")
_SLIP: Final = rf"(?:(?:oh|er|erm|um|uh|well),? )*(?:(?:{_MARK}|scratch that|strike that)[,:.]? )+"
_AT_ONCE: Final = re.compile(
    rf"(?P<wrong>{NAME}|{DATE})(?:,? -+|,|\.\.\.|…| \(|) {_SLIP}{_SMALL}(?P<meant>{NAME}|{DATE})\)?"
)
_SURE: Final = re.compile(r"\b(?:mean|meant|correction|mistake|typo|make that|rather|should)\b")
_CERTAIN: Final = re.compile(r"\b(?:mean|meant|correction|mistake|typo|make that|rather|sorry|oops|whoops|error)\b")


@attrs.frozen(kw_only=True)
class Correction:
    """A correction, by a sentence, of the sentence before it.

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


def may_retract(text: str) -> bool:
    """Whether any sentence of a text may retract something."""
    return _CUES.search(text.lower()) is not None


def may_correct(text: str, start: int, end: int, *, back: bool) -> bool:
    """Whether the sentence [start, end) of a text may correct something; ``back``: whether retractions count."""
    return _STARTS.match(text, start, end) is not None or (back and _BACK.search(text, start, end) is not None)


def correction(masked: str) -> Correction | None:
    """The correction in a masked sentence, in which "I" is not masked; None if there is none."""
    back = _BACK.search(masked)
    found = _AFTER_BACK.match(masked, back.end()) if back else _FRAGMENT.match(masked)
    if found is None:
        led = None if back else _STARTS.match(masked)
        if back:
            return Correction(back=True)
        return Correction(again=True) if led and _CERTAIN.search(led[0]) else None
    groups = found.groupdict()
    wrong = name_numbers(groups.get("not") or groups.get("other") or groups.get("wrong") or "")
    return Correction(
        back=back is not None,
        meant=name_numbers(found["meant"])[0],
        wrong=wrong[0] if wrong else None,
        acts=bool(groups.get("acts")),
        sure=bool(back or wrong or groups.get("acts") or _SURE.search(masked)),
    )


def corrected(masked: str) -> str:
    """A masked sentence without names and dates that are corrected at once: "lives in Sligo, sorry, Galway"."""
    return _AT_ONCE.sub(_meant, masked)


def _meant(match: re.Match[str]) -> str:
    same_kind = (match["wrong"] < "\ue100") == (match["meant"] < "\ue100")
    return match["meant"] if same_kind else match[0]


@attrs.frozen(kw_only=True)
class Amendment:
    """A correction with its names and statements.

    ``meant`` and ``wrong`` are as in `Correction`; the latter as written, empty if not stated. ``again`` are the
    statements of the sentence that replace others, ``denied`` those that it declares to have never been true. ``span``
    is the sentence.
    """

    correction: Correction = Correction()
    meant: ExtractedName | None = None
    wrong: str = ""
    again: tuple[Statement, ...] = ()
    denied: tuple[Statement, ...] = ()
    span: Span


def amended(stated: Sequence[Statement], amendment: Amendment, key: Callable[[str], str]) -> list[Statement]:
    """The statements of a sentence after a later correction; ``key`` maps the spellings of a name to one key."""
    what = amendment.correction
    if what.again:
        again = {(key(each.source.name), each.type) for each in amendment.again}
        return [each for each in stated if (key(each.source.name), each.type) not in again]
    *others, last = claims(stated)
    right = replaced(last, amendment)
    if right is None:
        return [each for each in stated if each.type == CO_OCCURS] if what.back else [*stated]
    return [*others, right]


def replaced(stated: Statement, amendment: Amendment) -> Statement | None:
    """A statement with the right name in place of the wrong one; None if there is no right name.

    The wrong name is the one stated to be wrong, if any; else the subject, if the right name acts or is a person and
    the object is not; else the object, since the point of a sentence is at its end. "Sorry, Ana." may be no correction.
    """
    meant, what = amendment.meant, amendment.correction
    person = meant is not None and meant.type == stated.source.type == "person" != stated.target.type
    typed = meant is not None and (meant.type or stated.target.type)
    if meant is None or (not what.sure and (person or not typed)):
        return None
    wrong = amendment.wrong.casefold()
    if stated.source.name.casefold() == wrong if wrong else what.acts or person:
        return attrs.evolve(stated, source=_typed(meant, stated.source))
    return attrs.evolve(stated, target=_typed(meant, stated.target))


def _typed(surface: ExtractedName, wrong: ExtractedName) -> ExtractedName:
    return surface if surface.type else attrs.evolve(surface, type=wrong.type)


def claims(stated: Sequence[Statement]) -> list[Statement]:
    """The statements except co-occurrences."""
    return [each for each in stated if each.type != CO_OCCURS]


# -- corrections of earlier memories ----------------------------------------------------------------------------------

REACH_TURNS: Final = 4
"""How many memories back "I meant Galway" may refer to: a few turns of other speakers may be in between."""
_MOST_STATEMENTS: Final = 20
"""Maximum latest statements of one subject and type that a correction is compared with, for linear time."""
CORRECTED: Final = "corrected"
"""The pattern name of a statement that retracts an earlier one."""


@attrs.frozen
class _Earlier:
    """A statement, with its memory and the memory's number."""

    number: int
    memory: Memory
    statement: Statement


@attrs.define
class _Stated:
    """The statements so far: the last one of each speaker of a session, and all by subject and type."""

    whole: Mapping[str, str]
    lasts: dict[tuple[str, str], _Earlier] = attrs.field(factory=dict)
    by_subject: defaultdict[tuple[str, str], deque[_Earlier]] = attrs.field(
        factory=lambda: defaultdict(lambda: deque(maxlen=_MOST_STATEMENTS))
    )

    def key(self, name: str) -> str:
        """A key that is equal for all names of one person."""
        key = name_key(name)
        return self.whole.get(key, key)

    def add(self, number: int, memory: Memory, extracted: ExtractedMemory) -> None:
        """Add the statements of a memory."""
        for statement in claims(extracted.statements):
            if statement.pattern != CORRECTED:
                earlier = _Earlier(number, memory, statement)
                self.by_subject[self.key(statement.source.name), statement.type].append(earlier)
                self.lasts[memory.session_id, memory.speaker] = earlier

    def last(self, number: int, memory: Memory) -> _Earlier | None:
        """The last statement of a speaker, if within `REACH_TURNS`."""
        last = self.lasts.get((memory.session_id, memory.speaker))
        return last if last and number - last.number <= REACH_TURNS else None

    def of(self, statement: Statement) -> Iterable[_Earlier]:
        """Earlier statements of the same subject and type."""
        return self.by_subject.get((self.key(statement.source.name), statement.type), ())

    def same_target(self, earlier: _Earlier, statement: Statement) -> bool:
        """Whether both statements have the same target."""
        return self.key(earlier.statement.target.name) == self.key(statement.target.name)


def with_corrections(
    memories: Sequence[Memory], read: Sequence[tuple[ExtractedMemory, Amendment | None]], whole: Mapping[str, str]
) -> list[ExtractedMemory]:
    """Add the corrections of earlier memories; ``whole`` maps the names of persons to full names.

    "I meant Galway" corrects the last statement of its speaker; a correction in a full sentence corrects the speaker's
    statements of the same subject and functional type; "has never" retracts the statements of any speaker.
    """
    if not any(amendment for _, amendment in read):
        return [extracted for extracted, _ in read]
    stated = _Stated(whole)
    found = []
    for number, (memory, (extracted, amendment)) in enumerate(zip(memories, read, strict=True)):
        corrected = extracted
        if amendment and memory.speaker:
            corrected = _with(extracted, list(_corrections(memory, amendment, stated, number)))
        stated.add(number, memory, corrected)
        found.append(corrected)
    return found


def _corrections(memory: Memory, amendment: Amendment, stated: _Stated, number: int) -> Iterator[Statement]:
    last = stated.last(number, memory)
    if last and not amendment.again:
        right = replaced(_without_spans(last.statement), amendment)
        if right or amendment.correction.back:
            yield from _retracted(memory, last, amendment)
        if right:
            yield attrs.evolve(right, fact=fact_in(memory, amendment.span), span=amendment.span)
    for each in amendment.again:
        known = KNOWN_RELATION_TYPES.get(each.type)
        for earlier in stated.of(each) if known and known.functional else ():
            if earlier.memory.speaker == memory.speaker and not stated.same_target(earlier, each):
                yield from _retracted(memory, earlier, amendment)
    for each in amendment.denied:
        for earlier in stated.of(each):
            if stated.same_target(earlier, each):
                yield from _retracted(memory, earlier, amendment)


def _retracted(memory: Memory, earlier: _Earlier, amendment: Amendment) -> Iterator[Statement]:
    """A statement with an empty period; one without a known start cannot be retracted."""
    wrong = earlier.statement
    start = wrong.valid_from or (None if wrong.valid_to else earlier.memory.occurred_at)
    if start is not None:
        yield attrs.evolve(
            _without_spans(wrong),
            valid_from=start,
            valid_to=start,
            kind=EdgeKind.LIFECYCLE,
            fact=fact_in(memory, amendment.span),
            span=amendment.span,
            pattern=CORRECTED,
        )


def _without_spans(stated: Statement) -> Statement:
    """A statement of another memory, whose names have no spans in this one."""
    return attrs.evolve(
        stated, source=attrs.evolve(stated.source, span=None), target=attrs.evolve(stated.target, span=None)
    )


def _with(extracted: ExtractedMemory, added: Sequence[Statement]) -> ExtractedMemory:
    ends = [end for each in added for end in (each.source, each.target)]
    return attrs.evolve(
        extracted,
        surfaces=tuple(dict.fromkeys((*extracted.surfaces, *ends))),
        statements=tuple(dict.fromkeys((*extracted.statements, *added))),
    )
