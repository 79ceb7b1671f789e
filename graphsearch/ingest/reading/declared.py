"""Names that a conversation makes known without capitals: short names that are declared, and names by their last noun.

"Call me Dilly"; "harkin brewery", "the garden committee"; "the portal" for Footlight Portal.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from graphsearch.ingest.frames.table import words
from graphsearch.names.lexicon import CALENDAR, GIVEN, ORDINARY
from graphsearch.names.spans import Mention, Read, is_coined, is_small
from graphsearch.names.word_marks import (
    CLEAR,
    FIRM,
    GRAMMAR,
    GROUP,
    LOOSE,
    MODIFIER,
    MOVING,
    NOISE,
    PLAIN,
    RUNNING,
    USING,
    VERB,
    mark,
)

_WORD: Final = r"[^\W\d_][\w'-]{1,40}"
_HINTS: Final = ("call", "go by", "goes by", "answer", "known as", "nick", "short", "= me", "is me")
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


def short_names(text: str, speaker: str) -> list[tuple[str, str, int]]:
    """Short names that are declared, with the whole name and their place; "" for a whole name said before.

    Those that a speaker declares as their own are short for the speaker.
    """
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return []
    pairs = [(found[1], speaker, found.start()) for pattern in (_OWN, _ME) for found in pattern.finditer(text)]
    pairs += [(found[1], "", found.start()) for found in _OTHER.finditer(text)]
    pairs += [(found[2], found[1], found.start()) for found in _SHORT.finditer(text)]
    return [each for each in pairs if _is_short_name(each[0], spoken=bool(speaker))]


def _is_short_name(written: str, *, spoken: bool) -> bool:
    """Whether a word is a name: an ordinary one in small letters is one where people speak of each other."""
    known = mark(written.casefold())
    ordinary = known & PLAIN and written.islower() and (not spoken or "-" in written)
    return not (ordinary or known & (CALENDAR | GRAMMAR | MODIFIER | NOISE) or is_coined(written))


def first_words(forms: Iterable[str]) -> dict[str, str]:
    """The first word of the one firm of the call that begins so: "bellamy" of "bellamy foods"."""
    firsts: dict[str, list[str]] = defaultdict(list)
    for form in sorted(forms):
        first, _, rest = form.partition(" ")
        if rest and len(first) >= _CLEAR_LENGTH and not mark(first) & ORDINARY:
            firsts[first].append(form)
    return {first: names[0] for first, names in firsts.items() if len(names) == 1}


def heads(forms: Mapping[str, str]) -> dict[str, str]:
    """The last word of the one name of the call that ends so, which is no person: "portal" of "footlight portal".

    One of ordinary words alone is left out: what ends so may be any.
    """
    ends: dict[str, list[str]] = defaultdict(list)
    for form, kind in forms.items():
        if kind != "person" and " " in form and not all(mark(word) & PLAIN for word in form.split()):
            ends[form.rpartition(" ")[2]].append(form)
    return {last: some[0] for last, some in ends.items() if len(some) == 1 and len(last) >= _CLEAR_LENGTH}


def recurring(reads: Sequence[Read], found: Sequence[Iterable[Mention]]) -> list[str]:
    """Ordinary words that stand bare where names stand, twice or more in a call: "we use moth garden".

    They never have an article, and are at least half of what the call says with each of these words.
    """
    bare: Counter[str] = Counter()
    said: Counter[str] = Counter()
    determined: set[str] = set()
    for read, some in zip(reads, found, strict=True):
        said.update(read.lows)
        taken = {place for each in some for place in range(each.first, each.end)}
        for first, stop in read.sentences:
            if is_small(read, first, stop):
                for begun, end in _plain_runs(read, first, stop, taken):
                    run = " ".join(read.lows[begun:end])
                    before = read.lows[begun - 1] if begun > first else ""
                    if before in words("determining"):
                        determined.add(run)
                    elif _stands_bare(read, first, begun, end, stop):
                        bare[run] += 1
    return [
        run
        for run, count in bare.items()
        if count > 1 and run not in determined and 2 * count >= max(said[word] for word in run.split())
    ]


def _plain_runs(read: Read, first: int, stop: int, taken: set[int]) -> Iterator[tuple[int, int]]:
    """Runs of two or three ordinary words that are no verbs, adverbs or words of grammar."""
    begun = first
    for place in range(first, stop + 1):
        if place < stop and place not in taken and _is_plain(read, place):
            continue
        if begun + 2 <= place <= begun + 3:
            yield begun, place
        begun = place + 1


def _is_plain(read: Read, place: int) -> bool:
    low, known = read.lows[place], read.marks[place]
    ordinary = known & ORDINARY and not known & (CALENDAR | GIVEN | MODIFIER | GRAMMAR | VERB | NOISE)
    return bool(ordinary) and low.isalpha() and not low.endswith(("ly", "ing", "ed"))


def _stands_bare(read: Read, first: int, begun: int, end: int, stop: int) -> bool:
    """Whether a run is the subject or the object of a verb, or follows its preposition."""
    if begun == first:
        return end < stop and (bool(read.marks[end] & VERB) or read.lows[end] in words("auxiliaries"))
    acts = VERB | USING | MOVING | RUNNING
    at = begun - 1 - (read.lows[begun - 1] in words("before_objects"))
    return at >= first and bool(read.marks[at] & acts)


def complete(read: Read, some: list[Mention]) -> None:
    """Let names go on to the noun that ends them: "the Lantern team", "harkin brewery", "the garden committee".

    Where a sentence is without capitals, ordinary words before a noun may be a name.
    """
    nouns = [place for place, known in enumerate(read.marks) if known & (GROUP | FIRM)] if read.sentences else []
    taken = {place: each for each in some for place in range(each.first, each.end)} if nouns else {}
    begins = [first for first, _ in read.sentences]
    for place in nouns:
        start, stop = read.sentences[bisect_right(begins, place) - 1]
        if place not in taken and start < place < stop and read.words[place].text == read.lows[place]:
            whole = _completed(read, start, place, stop, taken)
            taken |= dict.fromkeys(range(whole.first, whole.end), whole) if whole else {}
    if nouns:
        some[:] = dict.fromkeys(taken.values())


def _completed(read: Read, start: int, place: int, stop: int, taken: Mapping[int, Mention]) -> Mention | None:
    """The name that the noun at a place ends."""
    known, small, before = read.marks[place], is_small(read, start, stop), taken.get(place - 1)
    if before:
        ends = known & (GROUP | CLEAR) or (small and not _is_verb(read, place, stop))
        return _institution(read, before.first, place + 1, 4.0) if ends and _takes_noun(before, place) else None
    if not small or not known & (GROUP | CLEAR):
        return None
    first = place
    while first > max(start, place - 2) and first - 1 not in taken and _may_modify(read, first - 1):
        first -= 1
    named = first < place - bool(known & LOOSE) and _is_introduced(read, first, place, start, stop)
    return _institution(read, first, place + 1, 2.5) if named else None


def _institution(read: Read, first: int, end: int, sure: float) -> Mention:
    kind = "group" if read.marks[end - 1] & GROUP else "organisation"
    return Mention(first, end, read.text[read.words[first].start : read.words[end - 1].end], kind, sure, hard=True)


def _takes_noun(name: Mention, place: int) -> bool:
    """Whether a name may go on with the noun at a place: a person's does not."""
    single = name.end - name.first == 1 and not mark(name.name.casefold()) & GIVEN
    return name.end == place and not name.type and (name.kind != "person" or single)


def _is_introduced(read: Read, first: int, noun: int, start: int, stop: int) -> bool:
    """Whether what stands beside ordinary words shows that they are a name: "at lamplight playhouse"."""
    before = read.lows[first - 1] if first > start else ""
    if first == start:
        return noun + 1 < stop and (read.lows[noun + 1] in words("auxiliaries") or bool(read.marks[noun + 1] & VERB))
    if read.marks[noun] & GROUP:
        return before == "the"
    return before in words("before_firms") and not read.marks[noun] & LOOSE


def _is_verb(read: Read, place: int, stop: int) -> bool:
    """Whether a noun such as "works" is a verb here: a small word follows that it is at, or acts on."""
    return read.lows[place] in words("acting_nouns") and place + 1 < stop and bool(read.marks[place + 1] & GRAMMAR)


def _may_modify(read: Read, place: int) -> bool:
    low = read.lows[place]
    return low.isalpha() and not read.marks[place] & (MODIFIER | GRAMMAR) and not low.endswith("ly")
