"""What a sentence states: the frame that fits the names of each clause best, its period and its confidence."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Final, NamedTuple

from graphsearch.ingest.frames.table import KNOWN_ENDS, Ends, Forms, Frame, listed, read_ends, text_forms, words
from graphsearch.ingest.reading.clauses import Clause, Clauses
from graphsearch.ingest.reading.periods import Period, read_period, read_status_period
from graphsearch.ingest.reading.phrases import (
    ADVERB,
    ARTICLE,
    BE,
    BREAK,
    COMMA,
    HAVE,
    NOUN,
    POSSESSIVE,
    PREPOSITION,
    VALUED,
    VERB,
    Ref,
    Refs,
    has_any,
    read_units,
)
from graphsearch.ingest.reading.references import Context, Named
from graphsearch.ingest.reading.values import find_values
from graphsearch.names.lexicon import CALENDAR, DEMONYM, GIVEN, ORDINARY, PLACE, flags
from graphsearch.names.spans import is_small
from graphsearch.names.word_marks import INSTITUTION, ROLE, mark
from graphsearch.text.dates import DateSpan

if TYPE_CHECKING:
    from graphsearch.names.spans import Mention, Read

LEAST: Final = 0.7
"""What is less sure is not stated, unless it is asked for."""
_CLEAR: Final = 0.86
"""The share of statements that are right where nothing of what follows holds.

Each of what follows leaves that part of it. They, and those of pronouns, are fitted on 1,370 statements out of chats,
talks, news and encyclopaedias that were judged by hand, as `tools/calibrate_reader` does it. On these the first is .93;
on texts whose faults nobody had seen before they were judged it is this.
"""
_GUESSED: Final = 0.96
"""For each end of another kind than the frame expects first: it may be no such name, or a part of one."""
_DESCRIBING: Final = 0.51
"""For a name that describes the noun behind it: "joined the Atlas choir" names no Atlas."""
_COMMON: Final = 0.74
"""For ordinary words in small letters where names have capitals: "wrote the manual"."""
_PARTED: Final = 0.84
"""Where another name stands between the two, in no list or aside: it may be the one that is meant."""
_LONG: Final = 0.8
"""In a long sentence, which has more clauses than are told apart."""
_HEARSAY: Final = 0.53
"""What somebody says, believes or has heard."""
_MANY: Final = 40
"""Words of a long sentence."""
_ASSIGNED: Final = frozenset({"uses", "works_on", "leads"})
_STATUS_WORDS: Final = frozenset({"been", "now", "currently", "still", "officially", "went", "got"})

_MISTAKEN: Final = {
    "": ("person", "organisation", "group", "place", "thing"),
    "organisation": ("group", "thing"),
    "group": ("organisation", "thing"),
    "thing": ("organisation", "group"),
    "place": ("organisation", "thing"),
}
"""What a name of several words can be that was taken for another kind; a single word can be anything."""
_COINED: Final = re.compile(r"[A-Z]{3}|[A-Z]{2}[a-z]")
"""What no name of a person is spelt like: "UNESCO", "EUnet"."""
_EARLIER: Final = 6
"""Names before a pronoun in its sentence that it can mean."""
_EXPECTED: Final = 3
"""The fit of an end of the kind that a frame expects first."""
_ONE_KNOWN: Final = 4
"""The fit of two ends of which one is surely a person."""
_KIN: Final = frozenset({"married_to", "parent_of", "sibling_of"})
_PLACING: Final = frozenset({"at", "for", "in", "from", "on"})
"""Behind a noun they say where somebody is, not whose."""
_BESIDE: Final = frozenset({"in", "to", "with"})
"""Behind the noun of an office they do not say what is led."""
_OF_PERSONS: Final = _KIN | {"works_with", "works_on"}
"""What a word that is taken for a person easily seems to state."""
_ANYONE: Final = Ends(("person", "organisation", "group", "thing"))

_NO_PERIOD: Final[Period] = (None, None, False)

Dates = Callable[[int, int], Sequence[DateSpan]]
"""The dates between two places of a text."""


class Stated(NamedTuple):
    """A relation between two names that a sentence states; ``changes``: it says that something began or ended."""

    source: Named
    relation: str
    target: Named
    confidence: float
    since: datetime | None = None
    until: datetime | None = None
    changes: bool = False


def read_sentence(
    read: Read,
    first: int,
    stop: int,
    context: Context,
    dates: Dates,
    at: datetime | None,
    forms: Forms | None = None,
    least: float = LEAST,
) -> list[Stated]:
    """Read what the words [first, stop) of a text state, the most confident of each pair and type.

    ``at`` is when it was written; what has less confidence than ``least`` is left out. Sentences
    without a name, or without a word of the table, are skipped at once, and so are questions.
    """
    if not any(first <= each.first < stop for each in read.mentions):
        return []
    forms = forms or text_forms()
    units = read_units(read, first, stop, forms)
    said = reduce(or_, (unit.bits for unit in units))
    if not said & (VERB | NOUN | PREPOSITION | BE) or _is_unstated([unit.low for unit in units]):
        return []
    sentence = Clauses(units, forms, spoken=bool(context.speaker))
    best: dict[tuple[str, str, str], Stated] = {}
    small = is_small(read, first, stop)
    for each in _Reader(read, sentence, context, dates, at, small=small).read():
        if each.confidence < least:
            continue
        pair = each.source.name, each.relation, each.target.name
        ends = [{*end.name.casefold().split()} for end in (each.source, each.target)]
        same = ends[0] <= ends[1] or (ends[1] <= ends[0] and each.target.kind == "person")
        if not same and (pair not in best or each.confidence > best[pair].confidence):
            best[pair] = each
    return list(best.values())


def _is_unstated(lows: Sequence[str]) -> bool:
    """Whether a sentence asks, quotes, jokes or denies what it says."""
    if "?" in lows[-2:] or lows[0] == ">" or ("rt" in lows[:-1] and lows[lows.index("rt") + 1] == "·"):
        return True
    if lows[0] in words("askers") and len(lows) > 1 and (lows[1] == "·" or lows[1] in words("pronouns")):
        return True
    for before, verb, after in zip(("", *lows), lows, lows[1:], strict=False):  # "lol do you prefer"
        if verb in words("inverting") and after in words("pronouns") and before not in words("before_inverted"):
            return True
    if words("denying").isdisjoint(lows):
        return False
    text = f" {' '.join(lows)} "
    return any(f" {each} " in text for each in listed("denials"))


def _accepted(ends: Ends, named: Named) -> str | None:
    """The kind that a name gets in a slot; None if it does not fit. A kind that is only guessed can be wrong."""
    kind = _expected(ends, named)
    return None if kind == "person" and _is_no_person(named) else kind


def _is_no_person(named: Named) -> bool:
    """Whether nobody is called so: a place, or a word in capitals."""
    known = flags(named.name)
    coined = not named.hard and " " not in named.name and _COINED.search(named.name)
    return bool(coined or (known & PLACE and not known & GIVEN))


def _expected(ends: Ends, named: Named) -> str | None:
    """The kind that a slot expects a name to have; None if it does not fit."""
    known_place = named.kind == "place" and (named.hard or any(flags(word) & PLACE for word in named.name.split()))
    if named.kind in ends.kinds or (ends.several and not named.kind):
        is_employer = named.kind == "place" and ends.assumed == "organisation" and not known_place
        return ends.assumed if is_employer else named.kind  # where one works is more often a firm
    if known_place:
        return None
    single = " " not in named.name
    if named.kind == "person" and single and ends.assumed == "place":
        return "place"  # "I live in Florence"
    person = named.kind == "person" and flags(named.name) & (GIVEN | ORDINARY) == GIVEN and ends.assumed == "thing"
    mistaken = single or ends.assumed in _MISTAKEN.get(named.kind, ())
    return ends.assumed if ends.assumed and mistaken and not (named.hard or person) else None


def _fit(ends: Ends, named: Named) -> int:
    """How well a name fits a slot: 3 the kind expected, 2 accepted, 1 unknown, 0 against a guess, -9 not at all."""
    if _accepted(ends, named) is None:
        return -9
    return (3 if named.kind == ends.kinds[0] else 2) if named.kind in ends.kinds else 0 if named.kind else 1


def _may_be_group(frame: Frame, target: Named) -> bool:
    """Whether a name of unknown kind may be the group that a frame asks for: "the Access Working Group"."""
    asks = frame.type == "member_of" and frame.target[0] == "g"
    return not asks or target.kind in ("group", "organisation") or target.name.split()[-1].casefold() in words("groups")


def _is_misplaced(clause: Clause, frame: Frame, source: Named, target: Named) -> bool:
    """Whether a place or a firm stands where a frame speaks of a firm or a person."""
    place = bool(flags(target.name) & PLACE) and not target.hard
    if frame.type == "works_at":  # "Babbage's engineer", "is leaving Florida for good"
        owned = clause.link == "'s" and target.kind not in ("organisation", "group")
        return owned or (place and frame.phase != "holds")
    if frame.type == "reports_to":  # "the manager of the branch"
        return frame.inverse and clause.link == "of" and not source.hard
    return frame.type == "leads" and not clause.noun and place  # "leads Florida out of the recession"


def _is_common(name: str) -> bool:
    return all(flags(word) & ORDINARY for word in name.split())


def _is_nationality(*ends: Named) -> bool:
    return any(flags(each.name) & DEMONYM for each in ends)


def _may_be_person(letters: str, named: Named) -> bool:
    """Whether an end is none of a person, or more than a guess makes it one: "my dad was a Whovian" names nobody."""
    if _accepted(read_ends(letters), named) != "person":
        return True
    known = flags(named.name)
    written = named.name[:1].isupper() and not known & ORDINARY
    return named.hard or " " in named.name or written or bool(known & GIVEN)


class _Reader:
    """Reads the statements of one sentence."""

    def __init__(
        self, read: Read, sentence: Clauses, context: Context, dates: Dates, at: datetime | None, *, small: bool
    ) -> None:
        self._read, self._sentence, self._context, self._at, self._small = read, sentence, context, at, small
        self._find_dates = dates
        self._places = {unit.mention.first: at for at, unit in enumerate(sentence.units) if unit.mention}
        self._names = [self._of_mention(unit.mention, 1.0) for unit in sentence.units if unit.mention]
        self._starts = [each.start for each in self._names]
        self._filled: AbstractSet[Mention | None] = frozenset()

    def read(self) -> Iterator[Stated]:
        """The statements of its clauses."""
        yield from self._status()
        clauses = self._sentence.read()
        filled = (ref for each in clauses for refs in (*each.slots.values(), each.subject) for ref in refs)
        self._filled = {ref.mention for ref in filled}
        yield from self._values(clauses)
        for clause in clauses:
            if clause.noun:
                yield from self._nominal(clause)
            else:
                for slot, refs in clause.slots.items():
                    yield from self._verbal(clause, slot, refs)

    @cached_property
    def dates(self) -> Sequence[DateSpan]:
        """The dates of the sentence, found when they are first needed."""
        units = self._sentence.units
        return self._find_dates(units[0].start, units[-1].end)

    def _named(self, refs: Refs, clause: Clause, ends: Ends) -> list[Named]:
        """The names that references mean as ends of a frame."""
        found = []
        before = self._sentence.units[clause.place].start
        for ref in refs:
            if ref.mention and self._is_cut(ref.mention):
                continue
            if ref.mention:
                describes = (
                    not clause.noun and clause.word != "·" and self._describes(self._places[ref.mention.first], clause)
                )
                found.append(self._of_mention(ref.mention, ref.sure * (_DESCRIBING if describes else 1.0)))
                continue
            last = bisect_left(self._starts, before)
            own = {each.mention.name for each in clause.subject if each.mention}  # "Lena works with her": another
            earlier = [each for each in self._names[max(0, last - _EARLIER) : last] if each.name not in own]
            if named := self._context.meant(ref.pronoun, earlier, ends.kinds):
                found.append(named._replace(sure=named.sure * ref.sure))
        return found

    def _is_cut(self, mention: Mention) -> bool:
        """Whether a name is a part of a longer one or stands for one: "Iowa Secretary" of State, "the Commission"."""
        if self._small or mention.type or mention.kind == "person":
            return False
        name = mention.name.casefold().split()
        known = mark(name[-1])
        office = known & ROLE and "of" not in name
        if mention.kind != "place" and (office or (known & INSTITUTION and known & ORDINARY and len(name) == 1)):
            return True
        following = [each.text for each in self._read.words[mention.end : mention.end + 3]]
        if following and following[0].isdecimal():  # "the DER 2"
            return True
        if not known & ORDINARY or following[:1] not in (["of"], ["on"], ["for"]):
            return False
        goes_on = following[-1 if following[1:2] == ["the"] else 1 :][:1]
        return any(word[:1].isupper() and not flags(word) & CALENDAR for word in goes_on)

    def _of_mention(self, mention: Mention, sure: float) -> Named:
        """A name with the kind that its own words, or the noun after it, show."""
        if not mention.hard:
            common = not self._small and mention.name.islower() and _is_common(mention.name)
            sure *= _COMMON if common else 1.0
        place = self._places[mention.first]
        unit = self._sentence.units[place]
        last = mention.name.split()[-1].casefold()
        grouped = self._sentence.low(place + 1) in words("groups") and mention.kind != "person"
        firm = " " in mention.name and mention.kind in ("organisation", "")
        if grouped or (firm and (last in words("groups") or last in words("parties"))):
            return Named(mention.name, "group", sure, unit.start)
        return Named(mention.name, mention.kind, sure, unit.start, mention.hard)

    def _describes(self, place: int, clause: Clause) -> bool:
        """Whether a name behind a verb only describes the noun after it."""
        low, sentence = self._sentence.low(place + 1), self._sentence
        plain = low.isalpha() and not sentence.has(place + 1, ~0)
        return place > clause.place and plain and low not in words("after_names") and low not in words("kind_nouns")

    def _verbal(self, clause: Clause, slot: str, refs: Refs) -> Iterator[Stated]:
        indefinite = words("indefinite")
        moved_it = (
            slot != "obj" and clause.word == "move" and self._sentence.has(clause.place + 1, ARTICLE | POSSESSIVE)
        )
        if moved_it and not clause.acted:
            return  # "moved his workshop to Leeds"
        if clause.word.startswith("be") and any(ref.pronoun in indefinite for ref in (*clause.subject, *refs)):
            return
        if slot == "obj" and not clause.acted and any(ref.pronoun in indefinite for ref in refs):
            return
        forms = self._sentence.forms
        frames = forms.beside.get(slot, ()) if clause.word == "·" else forms.frames.get((clause.word, slot), ())
        moved = bool(clause.acted) and slot != "obj"  # "we moved Atlas to Notion", "Bo was elected to the board"
        if not (moved and (yield from self._fitting(clause, frames, clause.acted, refs))):
            yield from self._fitting(clause, frames, clause.subject, refs)

    def _nominal(self, clause: Clause) -> Iterator[Stated]:
        frames = self._sentence.forms.nouns[clause.word]
        if self._sentence.lows[clause.place + 1 : clause.place + 3] == ["in", "law"]:
            return
        lesser = not words("lesser").isdisjoint(self._sentence.lows[max(0, clause.place - 1) : clause.place])
        lesser = lesser or self._is_of_part(clause)
        if lesser and any(each.type == "leads" for each in frames):
            frames = self._sentence.forms.nouns["officer"]  # a deputy director leads nothing
        fitting = [
            each
            for each in frames
            if (not each.slot or clause.link in each.slot)
            and not (each.inverse and clause.link == "·")  # "Nard dog, Plop"
            and not (each.inverse and clause.link not in ("", "'s") and KNOWN_ENDS in each.marks)  # "my lead Bo"
            and not (each.inverse and each.target == "p" and clause.link in _PLACING)  # "a manager at Orla's"
            and not (each.type == "leads" and clause.link in _BESIDE)  # "a leader in the field"
            and not (each.type == "owns" and clause.link in _PLACING)  # "an owner from Hudson"
            and not (each.type == "member_of" and clause.link == "for")  # "the member for Leeds"
        ]
        yield from self._fitting(clause, fitting, clause.slots["holder"], clause.slots["other"])

    def _is_of_part(self, clause: Clause) -> bool:
        """Whether an office is that of a part: "head of policy at Acme", "Acme's head of policy"."""
        end = clause.place + clause.word.count(" ") + 1
        return self._sentence.low(end) in ("of", "for") and clause.link in ("at", "'s", "·")

    def _fitting(
        self, clause: Clause, frames: Sequence[Frame], ones: Refs, others: Refs
    ) -> Generator[Stated, None, bool]:
        """What the frames that fit best state of each pair; whether there is any."""
        found = False
        for one in ones:
            for other in others:
                for stated in self._best(clause, frames, one, other):
                    found = True
                    yield stated
        return found

    def _best(self, clause: Clause, frames: Sequence[Frame], one: Ref, other: Ref) -> Iterator[Stated]:
        """What the frame that fits best states; the first of those that fit alike."""
        ranked = []
        parted = _PARTED if self._is_parted(one, other) else 1.0
        for frame in frames:
            if frame.target == "v":  # a name is no date, amount or phase
                continue
            source_ends, target_ends = read_ends(frame.source), read_ends(frame.target)
            sources = self._named((other if frame.inverse else one,), clause, source_ends)
            targets = self._named((one if frame.inverse else other,), clause, target_ends)
            if not sources or not targets:
                continue
            source, target = sources[0], targets[0]
            fits = _fit(source_ends, source), _fit(target_ends, target)
            known = self._are_known(clause, frame, source, target, fits)
            replaced = frame.type == "succeeds" and "with" in clause.slots  # "replaced Ana with Bo"
            if known and not replaced and _may_be_group(frame, target) and not _is_nationality(source, target):
                ranked.append((sum(fits), sum(fit < _EXPECTED for fit in fits), frame, source, target))
        for _, guessed, frame, source, target in sorted(ranked, key=lambda each: -each[0]):
            sure = round(parted * self._confidence(source, target, guessed, hearsay=clause.hearsay), 2)
            if stated := self._stated(clause, frame, source, target, sure):
                yield stated
                yield from self._replaced(clause, stated)
                return

    def _are_known(self, clause: Clause, frame: Frame, source: Named, target: Named, fits: tuple[int, int]) -> bool:
        """Whether the kinds of both ends are as sure as a frame wants them."""
        if frame.type == "located_in" and not clause.noun and self._sentence.low(clause.place + 1) not in frame.slot:
            return "be" in clause.word and min(fits) > 1  # "stands for the revolution in Hungary"
        if clause.link == "of" and clause.word in words("of_fields") and not target.hard:
            return False  # "a professor of history"
        if _is_misplaced(clause, frame, source, target):
            return False
        if frame.type == "works_with" and frame.target != "p" and not target.hard:
            return False  # "we work with horses"
        if frame.source == frame.target == "p" and (min(fits) < 1 or sum(fits) < _ONE_KNOWN):
            return False
        if frame.type in _OF_PERSONS and not (
            _may_be_person(frame.source, source) and _may_be_person(frame.target, target)
        ):
            return False
        if KNOWN_ENDS in frame.marks or (clause.word == "·" and not self._sentence.spoken):
            guessed = (
                frame.type == "reports_to" and not each.hard and " " not in each.name for each in (source, target)
            )
            return min(fits) > (not target.hard) and not any(guessed)
        return sum(fits) > 1

    def _is_parted(self, one: Ref, other: Ref) -> bool:
        """Whether a name that is part of no clause, list or aside stands between two names."""
        if not one.mention or not other.mention:
            return False
        first, last = sorted((self._places[one.mention.first], self._places[other.mention.first]))
        inside = self._sentence.units[first + 1 : last]
        apart = sum(bool(unit.bits & (COMMA | BREAK)) for unit in inside) > 1
        return not apart and any(unit.mention and unit.mention not in self._filled for unit in inside)

    def _confidence(self, source: Named, target: Named, guessed: int, *, hearsay: bool = False) -> float:
        """The share of statements like this one that are right; ``guessed`` ends are of another kind than expected."""
        sure = _CLEAR * source.sure * target.sure * _GUESSED**guessed
        sure *= (_LONG if len(self._sentence.units) >= _MANY else 1.0) * (_HEARSAY if hearsay else 1.0)
        return round(sure, 2)

    def _stated(self, clause: Clause, frame: Frame, source: Named, target: Named, sure: float) -> Stated | None:
        period = read_period(clause, frame, self._sentence, self.dates, self._at)
        if period is None:
            return None
        source = source._replace(kind=_accepted(read_ends(frame.source), source) or "")
        target = target._replace(kind=_accepted(read_ends(frame.target), target) or "")
        return Stated(source, frame.type, target, sure, *period)

    def _replaced(self, clause: Clause, stated: Stated) -> Iterator[Stated]:
        """Whom "Roz leads it instead of Ines" and "takes it over from Ines" relieve."""
        instead = clause.slots.get("of", ()) if not {"instead", "place"}.isdisjoint(self._sentence.lows) else ()
        refs = clause.slots.get("from", ()) if clause.word == "take" and "over" in clause.slots else instead
        until = stated.since or self._at
        for named in self._named(refs, clause, _ANYONE) if until and stated.relation in _ASSIGNED else ():
            ended = stated._replace(since=None, until=until, changes=True)
            if named.kind in ("person", "") and stated.source.kind == "person" and named.name != stated.target.name:
                yield ended._replace(source=named._replace(kind="person"))
            elif stated.relation == "uses" and named.name != stated.target.name:
                yield ended._replace(target=named._replace(kind="thing"))

    def _values(self, clauses: Sequence[Clause]) -> Iterator[Stated]:
        """What is due, budgeted, priced or born: a date or an amount."""
        if not any(bits & VALUED for bits in self._sentence.bits):
            return
        for frames, subjects, clause, start, end in find_values(self._sentence, clauses, self.dates):
            value = Named(self._read.text[start:end], "value", 1.0, start, hard=True)
            enters = frames[0].type == "has_status"
            period = read_period(clause, frames[0], self._sentence, self.dates, self._at) if enters else _NO_PERIOD
            for frame, ref in ((frame, ref) for ref in subjects for frame in frames[:1]):
                for named in self._named((ref,), clause, read_ends(frame.source)):
                    fit = _fit(read_ends(frame.source), named)
                    if fit > 0 and period:
                        sure = self._confidence(named, value, int(fit < _EXPECTED))
                        yield Stated(named, frame.type, value, sure, *period)

    def _status(self) -> Iterator[Stated]:
        """Read what is paused, on hold, and the like."""
        sentence = self._sentence
        for place, unit in enumerate(sentence.units):
            if not unit.mention:
                continue
            after = place + 1
            linked = (
                bool(sentence.has(after, BE))
                or sentence.low(after) in ("went", "got")
                or (sentence.low(after + 1) == "been")
            )
            while linked and (sentence.has(after, BE | HAVE) or sentence.low(after) in _STATUS_WORDS):
                after += 1
            pairs = ("_".join(sentence.lows[after : after + size]) for size in (2, 1))
            word = next((each for each in pairs if linked and each in words("lasting")), "")
            goes_on = after + 1 + word.count("_")
            if word and not (
                sentence.is_end(goes_on)
                or sentence.has(goes_on, PREPOSITION | ADVERB | COMMA)
                or sentence.low(goes_on) in words("after_names")
                or sentence.low(goes_on)[:1].isdecimal()
            ):  # "the board's pending ruling", "was active seeking change"
                continue
            opened, hearsay = sentence.scope(place)
            before = [sentence.low(place - back) for back in (1, 2, 3)]
            unsaid = opened or has_any(before, "awaited") or has_any(before[:2], "several")
            if unsaid or self._is_cut(unit.mention):
                continue
            turned = not linked and sentence.low(after) in words("turned") and sentence.is_end(after + 1)
            named = self._of_mention(unit.mention, 1.0)
            part = sentence.has(place - 1, PREPOSITION) or sentence.has(place - 2, PREPOSITION)  # "the ports of X"
            person = part or (named.kind == "person" and (named.hard or " " in named.name))
            if (turned or word) and not person and named.kind != "place" and not _is_nationality(named):
                value = (word or sentence.low(after)).replace("_", " ")
                status = Named(value, "status")
                sure = self._confidence(named, status, int(named.kind == "person"), hearsay=hearsay)
                tense = "past" if turned or sentence.low(place + 1) in ("was", "were", "went", "got") else "present"
                clause = Clause("", (), {}, tense, place, after + 1 + value.count(" "))
                if period := read_status_period(clause, sentence, self.dates):
                    yield Stated(named, "has_status", status, sure, *period)
