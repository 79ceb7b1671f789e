"""Values that sentences state: dates, amounts and phases behind a verb or a noun of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from graphsearch.ingest.frames.table import Frame, words
from graphsearch.ingest.reading.clauses import Clause, Clauses
from graphsearch.ingest.reading.phrases import ADVERB, ARTICLE, BE, HAVE, NAME, Refs
from graphsearch.text.dates import DateSpan

_SIGNS: Final = frozenset({"$", "€", "£"})
_LONGEST_PHASE: Final = 4


class Valued(NamedTuple):
    """A clause with the value that it states of each of its subjects: characters [start, end) of the text."""

    frames: Sequence[Frame]
    subjects: Refs
    clause: Clause
    start: int
    end: int


def find_values(sentence: Clauses, clauses: Sequence[Clause], dates: Sequence[DateSpan]) -> Iterator[Valued]:
    """Find what verbs and nouns of the table state: "is due on 5 May", "has a budget of $5k", "entered beta"."""
    forms = sentence.forms
    for clause in clauses:
        if not (clause.noun or clause.slots or clause.negated):
            yield from _of_verb(sentence, clause, dates)
    for place, low in enumerate(sentence.lows):
        if low == "born" and sentence.low(place - 1) == "(" and sentence.has(place - 2, NAME):
            if found := _value_at(sentence, place + 1, dates):  # "Ana Reed (born 3 May 1950)"
                yield Valued(forms.frames["be born", "on"], (sentence.ref(place - 2),), _clause_at(place), *found)
            continue
        noun = sentence.longest_noun(place)
        frames = [each for each in forms.nouns.get(noun, ()) if each.target == "v"]
        if frames and (stated := _of_noun(sentence, place, place + noun.count(" ") + 1, dates)):
            yield Valued(frames, stated[0], _clause_at(place), *stated[1])


def _of_verb(sentence: Clauses, clause: Clause, dates: Sequence[DateSpan]) -> Iterator[Valued]:
    """The value behind a verb: that of a deadline, a price, a phase."""
    for slot in (sentence.low(clause.reach), "obj"):
        frames = [each for each in sentence.forms.frames.get((clause.word, slot), ()) if each.target == "v"]
        place = clause.reach + (slot != "obj")
        first = place + bool(sentence.has(place, ARTICLE))
        if frames and frames[0].type == "has_status":
            if last := _phase_at(sentence, first):
                start, end = sentence.units[first].start, sentence.units[last].end
                yield Valued(frames, clause.surface, clause._replace(reach=last + 1), start, end)
                return
        elif frames and clause.tense in ("present", "past") and (found := _value_at(sentence, first, dates)):
            yield Valued(frames, clause.surface, clause, *found)
            return


def _clause_at(place: int) -> Clause:
    return Clause("", (), {}, "present", place, place)


def _of_noun(sentence: Clauses, place: int, end: int, dates: Sequence[DateSpan]) -> tuple[Refs, tuple[int, int]] | None:
    """Whose noun this is, and its value: "the budget of X is", "X's deadline:", "X has a budget of"."""
    owner: Refs = ()
    left = place - 1
    while left >= 0 and sentence.is_filler(left) and place - left < 4:  # noqa: PLR2004 - "a total annual budget"
        left -= 1
    if sentence.low(left) == "'s":
        left -= 1
    if sentence.has(left, NAME):
        owner = (sentence.ref(left),)
    elif sentence.has(left, HAVE):
        owner = sentence.subject(left - 1) or ()
    if not owner and sentence.low(end) in ("of", "for", "on"):
        name = end + 1 + (sentence.low(end + 1) == "the")
        owner, end = ((sentence.ref(name),), name + 1) if sentence.has(name, NAME) else ((), end)
    while sentence.has(end, BE | ADVERB) or sentence.low(end) in (":", "of", "=", "on"):
        end += 1
    value = _value_at(sentence, end, dates)
    return (owner, value) if owner and value else None


def _phase_at(sentence: Clauses, first: int) -> int:
    """The last unit of the phase that begins at one: "pilot phase", "beta"; 0 if there is none."""
    ends = (
        sentence.is_end(first + 1) or sentence.has(first + 1, ~NAME) or sentence.low(first + 1) in words("after_names")
    )
    if ends and sentence.low(first) in words("stages"):
        return first
    for place in range(first + 1, min(first + _LONGEST_PHASE, len(sentence.units))):
        if sentence.low(place) in words("phases"):
            return place
        if not sentence.is_filler(place):
            break
    return 0


def _value_at(sentence: Clauses, place: int, dates: Sequence[DateSpan]) -> tuple[int, int] | None:
    """The date or the amount that begins at a unit, as characters [start, end)."""
    while sentence.low(place) in ("about", "around", "roughly", "only", "the", "by"):
        place += 1
    if place >= len(sentence.units):
        return None
    start = sentence.units[place].start
    for date in dates:
        if date.start <= start < date.end:
            return date.start, date.end
    last = place + 1 if sentence.low(place) in _SIGNS else place
    if not sentence.low(last)[:1].isdigit():
        return None
    end = last + 1
    while sentence.low(end) in words("magnitudes") and end - last < 3:  # noqa: PLR2004 - "5 million euros"
        end += 1
    money = last > place or not words("currencies").isdisjoint(sentence.lows[last + 1 : end])
    return (start, sentence.units[end - 1].end) if money else None
