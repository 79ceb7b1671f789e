"""Names that a conversation makes known without capitals: short names that are declared, and names by their last noun.

"Call me Dilly"; "harkin brewery", "the garden committee"; "the portal" for Footlight Portal, "bellamy" for Bellamy
Foods.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from graphsearch.names.lexicon import CALENDAR, GIVEN
from graphsearch.names.spans import CLEAR, FIRM, GRAMMAR, GROUP, LOOSE, MODIFIER, NOISE, Mention, Read, mark

_WORD: Final = r"[^\W\d_][\w'-]{1,40}"
_HINT: Final = re.compile(r"\b(?:call|calls|called|go|goes|answer|answers|known|nick\w*|short|aka|me)\b", re.IGNORECASE)
_OWN: Final = re.compile(
    r"\b(?:call(?:s|ed)? me|i (?:go by|answer to|am known as)|i['’]?m known as|my nickname(?: is|['’]s))"
    rf"(?: just| only)? [\"“]?({_WORD})",
    re.IGNORECASE,
)
_ME: Final = re.compile(rf"\b({_WORD}) (?:=|is) me\b(?! \w)", re.IGNORECASE)
_OTHER: Final = re.compile(
    rf"\b(?:goes by|known as|call (?:him|her|them)|nicknamed|answers to) (?:just )?[\"“]?({_WORD})", re.IGNORECASE
)
_SHORT: Final = re.compile(rf"\b({_WORD}(?: [A-Z][\w'-]{{1,40}})?),? (?:\(|or |aka )?({_WORD}) for short\b")
_CLEAR_LENGTH: Final = 4
_ABOUT: Final = frozenset("at for to from with joined left join of".split())
_AUXILIARIES: Final = frozenset("is was has had are have will".split())


def short_names(text: str, speaker: str) -> list[tuple[str, str, int]]:
    """Short names that are declared, with the whole name and their place; "" for a whole name said before.

    Those that a speaker declares as their own are short for the speaker.
    """
    if not _HINT.search(text):
        return []
    pairs = [(found[1], speaker, found.start()) for pattern in (_OWN, _ME) for found in pattern.finditer(text)]
    pairs += [(found[1], "", found.start()) for found in _OTHER.finditer(text)]
    pairs += [(found[2], found[1], found.start()) for found in _SHORT.finditer(text)]
    return [each for each in pairs if not mark(each[0].casefold()) & (CALENDAR | GRAMMAR | MODIFIER | NOISE)]


def first_words(forms: Iterable[str]) -> dict[str, str]:
    """The first word of the one firm of the call that begins so: "bellamy" of "bellamy foods"."""
    firsts: dict[str, list[str]] = defaultdict(list)
    for form in sorted(forms):
        first, _, rest = form.partition(" ")
        if rest and len(first) >= _CLEAR_LENGTH and not mark(first) & (GRAMMAR | MODIFIER | FIRM | GROUP):
            firsts[first].append(form)
    return {first: names[0] for first, names in firsts.items() if len(names) == 1}


def heads(forms: Mapping[str, str]) -> dict[str, str]:
    """The last word of the one name of the call that ends so, which is no person: "portal" of "footlight portal"."""
    ends: dict[str, list[str]] = defaultdict(list)
    for form, kind in forms.items():
        if kind != "person" and " " in form:
            ends[form.rpartition(" ")[2]].append(form)
    return {last: some[0] for last, some in ends.items() if len(some) == 1 and len(last) >= _CLEAR_LENGTH}


def completed(read: Read, start: int, stop: int, found: Sequence[Mention]) -> list[Mention]:
    """Lower-case names with the noun that ends them: "harkin brewery", "the garden committee", "lamplight playhouse"."""
    lows, marks = read.lows, read.marks
    taken = {place: number for number, each in enumerate(found) for place in range(each.first, each.end)}
    whole = list(found)

    def mention(first: int, end: int, sure: float) -> Mention:
        kind = "group" if marks[end - 1] & GROUP else "organisation"
        return Mention(first, end, read.text[read.words[first].start : read.words[end - 1].end], kind, sure)

    for place in range(start + 1, stop):
        known = marks[place]
        if place in taken or not known & (GROUP | FIRM) or read.words[place].text != lows[place]:
            continue
        number = taken.get(place - 1)
        if number is not None:
            before = found[number]
            single = before.end - before.first == 1 and not mark(before.name.casefold()) & GIVEN
            if (
                before.end == place
                and not before.type
                and (before.kind != "person" or single)
                and not _is_verb(read, place, stop)
            ):
                whole[number] = mention(before.first, place + 1, 4.0)
            continue
        if not known & (GROUP | CLEAR):
            continue
        first = place
        while (
            first > start
            and place - first < 2
            and first - 1 not in taken
            and _may_modify(lows[first - 1], marks[first - 1])
        ):
            first -= 1
        if first == place or (known & LOOSE and place - first < 2):
            continue
        before_it = lows[first - 1] if first > start else ""
        opens = first == start and place + 1 < stop and lows[place + 1] in _AUXILIARIES
        if opens or (before_it == "the" if known & GROUP else before_it in _ABOUT and not known & LOOSE):
            whole.append(mention(first, place + 1, 2.5))
    return sorted(whole)


def _is_verb(read: Read, place: int, stop: int) -> bool:
    """Whether a noun such as "works" is a verb here: something follows that it acts on or is at."""
    return read.lows[place] in ("works", "shipping", "shares", "books", "records", "practice", "posts", "times") and (
        place + 1 < stop and bool(read.marks[place + 1] & GRAMMAR)
    )


def _may_modify(low: str, known: int) -> bool:
    return low.isalpha() and not known & (MODIFIER | GRAMMAR) and not low.endswith("ly")
