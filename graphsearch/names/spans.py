"""The names of one sentence: what the tagger finds, what capitals, titles and shapes show, and where a name ends.

Capitals are evidence where a sentence uses them as English does. At its opening, in a heading and in what is shouted
they are not: there an ordinary word names nothing by itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Sequence
from sys import maxsize
from typing import Final, NamedTuple

from graphsearch.names.lexicon import CALENDAR, CAPITALISED, DEMONYM, GIVEN, ORDINARY, PLACE, SURNAME, flags
from graphsearch.names.slips import respelt
from graphsearch.names.tagger import casing
from graphsearch.names.word_marks import (
    ALONE,
    GENERAL,
    GRAMMAR,
    INSTITUTION,
    LOOSE,
    MODIFIER,
    NOISE,
    OF_HEAD,
    PARTICLE,
    PLAIN,
    ROLE,
    TITLE,
    UNNUMBERED,
    VERB,
    mark,
    shown_kind,
)
from graphsearch.text.marked_names import marked_names
from graphsearch.text.tokens import Token, sentences, tokens
from graphsearch.text.unstated import code_blocks, machine_lines

Tag = tuple[int, int, str, float]

NATIONALITY: Final = "nationality"
MAX_WORDS: Final = 8
CERTAIN: Final = 9.0
SEVERAL: Final = 2.0
ONE: Final = 1.0
"""How sure a name is, on the scale of the margins of the tagger."""
_LIKELY: Final = 2.0
"""The least margin of what may as well be no name: an ordinary word in lower case, an unknown one that may be a cry."""
_READABLE: Final = 8
"""Words in lower case of which most must be English for a text to be read."""
_SHORT: Final = 3
"""Most letters of an ordinary word that is hardly shouted, and most digits of a number that is hardly a year."""
_ACRONYM: Final = 5
_TYPED: Final = 6
"""Least letters of a word that may be mistyped."""
_FEW: Final = 4
"""A heading has a capital in every so many words at least."""
_GOES_ON: Final = frozenset(",'’&(@$%")
_POSSESSIVE: Final = frozenset({"'s", "’s"})
_CALLED: Final = frozenset(",.!?…:")
"""After an unknown word that begins a sentence they show that it may be an interjection."""
_ACTS: Final = frozenset({"is", "was", "has", "had", "will", "and", "said", "says", *_POSSESSIVE})
"""After it they show that it is the subject."""
_BEFORE_SURNAME: Final = frozenset({"van", "von", "de", "der", "den", "bin", "ibn", "al"})
_DETERMINERS: Final = frozenset({"a", "an", "the", "my", "our", "your", "his", "her", "their", "this", "every", "no"})
_INSIDE: Final = frozenset({"of", "for", "the", "and"})
_LEGAL: Final = frozenset({"inc", "inc.", "ltd", "ltd.", "llc", "gmbh", "co.", "corp.", "plc"})
"""After a comma they belong to the name of a firm."""
_QUOTES: Final = {'"': '"', "“": "”", "«": "»"}
_MARKS: Final = frozenset((*_QUOTES, *_QUOTES.values()))
_COINED: Final = re.compile(
    r"[0-9_#+&@]|[A-Z]{2}[a-z]|^[A-Z]{2,}$|[a-z] (?!III)[A-Z]{3,}\b"
    r"|\b(?!Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz)[^\W_]*[a-z][A-Z]"
)
"""What no name of a person is spelt like: "TikTok", "DIYs", "R2", "Mariner VLA"."""
_TAIL: Final = re.compile(
    r"-(?:based|owned|like|style|led|era|born|wide|related|backed|inspired|themed|only|free|specific|assisted|driven"
    r"|funded|powered|run)$"
)
_YEAR: Final = re.compile(r"(?:1[5-9]|20)\d\d")
_LETTERED: Final = re.compile(r"\d{1,4}-[a-z]")
_PERIOD: Final = re.compile(r"(?:[QH][1-4]|FY\d+)$")
_GLUED: Final = re.compile(r"[a-z]{4,40}(?=([A-Z]$)|[A-Z])")
"""A word in small letters to which another one is stuck."""
_STRETCHED: Final = re.compile(r"(.)\1\1|(..)\2\2")


class Mention(NamedTuple):
    """A name in a text: tokens [first, end), its text and kind ("" if unknown).

    ``sure``: a margin of the tagger, or what is worth as much. ``hard``: the kind is more than the tagger's guess.
    ``cased``: its capitals are not those of a sentence. ``faint``: an unknown word in lower case, once in the call,
    that the tagger is not sure of. ``type``: the entity type of a known name, of an address or of code.
    """

    first: int
    end: int
    name: str
    kind: str
    sure: float
    hard: bool = False
    cased: bool = False
    faint: bool = False
    type: str = ""


class Read(NamedTuple):
    """A text in tokens and sentences, with its mentions in order.

    ``lows`` are its words in lower case, ``marks`` what is known of each. ``same`` are pairs of a short name that it
    declares and the whole one. ``aside`` are nationalities, which are names, but no end of a statement. Sentences that
    machines wrote are left out. A text that is not ``readable`` has known names alone.
    """

    text: str
    words: list[Token]
    sentences: list[tuple[int, int]]
    mentions: list[Mention]
    same: tuple[tuple[str, str], ...]
    aside: list[Mention]
    lows: list[str]
    marks: list[int]
    readable: bool


def is_coined(name: str) -> bool:
    """Whether a name is spelt as no person's is."""
    return _COINED.search(name) is not None


def read_words(text: str) -> Read:
    """A text in tokens and sentences, without names."""
    words = tokens(text)
    lows = [word.text.casefold() for word in words]
    marks = [*map(mark, lows)]
    cut = sentences(text, words)
    if dead := sorted((*machine_lines(text), *code_blocks(text))):
        cut = [(first, end) for first, end in cut if not _is_within(dead, words[first].start)]
        alive = {place for first, end in cut for place in range(first, end)}
        lows = [low if place in alive else "" for place, low in enumerate(lows)]  # so that nothing is found there
    small = [known for word, low, known in zip(words, lows, marks, strict=True) if word.text == low and low.isalpha()]
    readable = len(small) < _READABLE or 2 * sum(known & ORDINARY for known in small) >= len(small)
    return Read(text, words, cut, [], (), [], lows, marks, readable)


def _is_within(ranges: Sequence[tuple[int, int]], start: int) -> bool:
    """Whether a place is in one of some ranges, which are in order."""
    at = bisect_right(ranges, (start, maxsize)) - 1
    return at >= 0 and start < ranges[at][1]


def _is_slip(low: str) -> bool:
    """Whether an unknown word is an ordinary one, mistyped."""
    return len(low) >= _TYPED and any(flags(each) & ORDINARY and each[0] == low[0] for each in respelt(low))


def is_small(read: Read, first: int, stop: int) -> bool:
    """Whether a sentence is written without capitals, so that its names are, too."""
    return casing([word.text for word in read.words[first:stop]]) in "ls"


def find_marked(read: Read) -> tuple[list[Mention], set[int]]:
    """Addresses, paths, handles and code of a text, and the places of their words and of what is no name at all."""
    found, taken = [], set[int]()
    starts: list[int] = []
    for each in marked_names(read.text, 0, len(read.text)):
        starts = starts or [word.start for word in read.words]
        first, end = bisect_right(starts, each.start) - 1, bisect_left(starts, each.end)
        if 0 <= first < end:
            taken.update(range(first, end))
            if each.named and read.lows[first]:
                kind = "person" if each.type == "person" else "thing"
                name = read.text[each.start : each.end]
                found.append(Mention(first, end, name, kind, CERTAIN, hard=True, type=each.type))
    return found, taken


class Context(NamedTuple):
    """What is known of the text of a sentence.

    ``taken`` are the places that are in names already, ``people`` the names of those who speak in lower case.
    ``small``: its author writes without capitals, so that names are written so, too. ``tagged``: the tagger was asked.
    """

    taken: set[int]
    people: Container[str] = frozenset()
    small: bool = True
    tagged: bool = True


def find_in_sentence(read: Read, first: int, stop: int, tags: Sequence[Tag], context: Context) -> list[Mention]:
    """The names of the sentence [first, stop) of a text; their places are taken then.

    ``tags`` are what the tagger finds, by the places in the sentence.
    """
    return [*_Sentence(read, first, stop, context).find(tags)]


class _Sentence:
    """Finds the names of the sentence [first, stop) of a text."""

    def __init__(self, read: Read, first: int, stop: int, context: Context) -> None:
        self.text, self.first, self.stop, self.context = read.text, first, stop, context
        self.taken = context.taken
        self.words, self.lows, self.marks = read.words, read.lows, read.marks
        self.upper = {place for place in range(first, stop) if self.words[place].text != self.lows[place]}
        self.heading = self._is_heading()

    def find(self, tags: Sequence[Tag]) -> Iterator[Mention]:
        """Titles of works, names by capitals, and those that only the tagger finds."""
        if self._is_shouted():
            return
        tags = [(self.first + first, self.first + end, kind, sure) for first, end, kind, sure in tags]
        if self.upper:
            yield from self._quoted()
            yield from self._along_capitals(tags)
        yield from self._in_small(tags)

    def _mention(self, first: int, end: int, kind: str, sure: float) -> Mention:
        """Take the words [first, end) for a name; a title before it belongs to it."""
        if first > self.first and self.marks[first - 1] & TITLE and first - 1 not in self.taken:
            first, kind = first - 1, "person"
        self.taken.update(range(first, end))
        name = _TAIL.sub("", self.text[self.words[first].start : self.words[end - 1].end])
        shown = shown_kind(self.lows[first:end], self.marks[first:end])
        if self.marks[end - 1] & DEMONYM and all(known & (DEMONYM | PLAIN) for known in self.marks[first:end]):
            kind, shown = NATIONALITY, ""
        elif "person" in (kind, shown):
            doubted = sure < _LIKELY and end == first + 1 and first not in self.upper
            if doubted or is_coined(name) or (kind == "person" and self._is_thing(first, end)):
                kind, shown = "", shown if shown != "person" else ""
        cased = first > self.first and all(
            place in self.upper or self.marks[place] & PARTICLE for place in range(first, end)
        )
        return Mention(first, end, name, shown or kind, sure, bool(shown), cased)

    def _is_thing(self, first: int, end: int) -> bool:
        """Whether words are put together as no name of a person is: "Prince of Tides", "Iris Memorial Shield"."""
        opening, last = self.marks[first], self.marks[end - 1]
        if end < first + 2 or opening & TITLE:
            return False
        ordinary = last & PLAIN and not last & SURNAME and not self.marks[end - 2] & GIVEN
        return bool(ordinary or ("of" in self.lows[first:end] and not opening & GIVEN))

    def _low(self, place: int) -> str:
        """The word at a place; "" outside of the sentence."""
        return self.lows[place] if self.first <= place < self.stop else ""

    def _is_free(self, first: int, end: int) -> bool:
        return first < end <= first + MAX_WORDS and self.taken.isdisjoint(range(first, end))

    # -- by capitals ----------------------------------------------------------------------------------------------

    def _is_shouted(self) -> bool:
        """Whether a sentence is all in capitals, or most of it."""
        words = (self.words[place].text for place in self.upper)
        loud = sum(len(word) > 1 and word.isalpha() and word.isupper() for word in words)
        return loud >= _SHORT and 2 * loud > sum(self.lows[place].isalpha() for place in range(self.first, self.stop))

    def _is_heading(self) -> bool:
        """Whether all words but small ones have capitals, ordinary ones among them; a full stop ends no such line."""
        if _FEW * len(self.upper) < self.stop - self.first:
            return False
        letters = [place for place in range(self.first, self.stop) if self.lows[place][0].isalpha()]
        if self.lows[self.stop - 1] == "." and not self.upper.issuperset(letters):
            return False
        rest = [place for place in letters[1:] if not self.marks[place] & GRAMMAR]
        plain = (self.marks[place] & PLAIN and not self.marks[place] & (CAPITALISED | INSTITUTION) for place in rest)
        return bool(rest) and self.upper.issuperset(rest) and any(plain)

    def _quoted(self) -> Iterator[Mention]:
        """Titles of works in quotation marks, whose words name nothing by themselves."""
        opened = -1
        marks = [place for place in range(self.first, self.stop) if self.lows[place] in _MARKS]
        for place in marks:
            low = self.lows[place]
            if opened >= 0 and low == _QUOTES[self.lows[opened]]:
                end = place - (self.lows[place - 1] in ".,")
                if self._is_free(opened + 1, end) and self._is_title(opened + 1, end):
                    yield self._mention(opened + 1, end, "thing", SEVERAL)
                opened = -1
            elif opened < 0 and low in _QUOTES:
                opened = place

    def _is_title(self, first: int, end: int) -> bool:
        """Whether all words but small ones have capitals, and not only the first."""
        small = [place for place in range(first, end) if place not in self.upper]
        several = end - first - len(small) > 1 or (end == first + 1 and not self.marks[first] & ORDINARY)
        among = (self.marks[place] & (GRAMMAR | PARTICLE) or self.lows[place] in _POSSESSIVE for place in small)
        return several and first not in small and all(among)

    def _along_capitals(self, tags: Sequence[Tag]) -> Iterator[Mention]:
        end = self.first
        for place in sorted(self.upper):
            if place < end or not self._is_capital(place):
                continue
            end = self._run(place)
            first, last = self._trimmed(self._with_year(place, end), end)
            acts = self._acts(last)  # "Tidewright sponsors Atlas" is no name
            inside = [tag for tag in tags if tag[0] < last and first < tag[1] and not (acts and last < tag[1])]
            if inside and self._opens(place) and all(known & PLAIN for known in self.marks[first : inside[0][0]]):
                begun = max(first, inside[0][0])  # "Skip Harlow leads it" does not ask to skip him
                first = (
                    first if acts and first + 2 == last and self.marks[begun] & (SURNAME | GIVEN) == SURNAME else begun
                )
            if inside and last == end:
                last = end = self._extended(end, inside[-1][1])
            best = max(inside, key=lambda tag: tag[3], default=(0, 0, "", 0.0))
            if first < last <= first + MAX_WORDS and self._names(first, last, best[3]):
                yield self._mention(first, last, best[2], max(best[3], SEVERAL if last > first + 1 else ONE))

    def _is_capital(self, place: int) -> bool:
        """Whether a word is written as the part of a name."""
        low, known = self._low(place), self.marks[place] if place < self.stop else 0
        if not low or place in self.taken or place not in self.upper or low in ("i", "i.") or not low[0].isalnum():
            return False
        if known & CALENDAR and not self._begins_name(place):
            return False
        return not known & NOISE and not (len(low) > _SHORT and known & ORDINARY and self.words[place].text.isupper())

    def _begins_name(self, place: int) -> bool:
        """Whether a month is a given name: "June Clayworth", "Jan van Dam", but "In June Marek".

        One that is none of the lexicon is so as the subject of a sentence.
        """
        after = place + 1
        while after < min(self.stop, place + 3) and self.lows[after] in _BEFORE_SURNAME:
            after += 1
        opens = place == self.first
        if (
            after not in self.upper
            or self.marks[after] & CALENDAR
            or not (opens or not self.marks[place - 1] & GRAMMAR)
        ):
            return False
        given = self.marks[place] & GIVEN and not self.marks[after] & ORDINARY
        return bool(given) or (opens and self._acts(after + 1))  # "May Orwin leads it"

    def _acts(self, place: int) -> bool:
        """Whether the word at a place shows that what stands before it is a subject."""
        return self._low(place) in _ACTS or (place < self.stop and bool(self.marks[place] & VERB))

    def _run(self, place: int) -> int:
        """The end of the run of words that begins at a place, across small words that belong to names."""
        end = place + 1
        while end < self.stop:
            if self.words[end].start - self.words[end - 1].end == 1:
                step = 1 if self._is_capital(end) else self._linked(place, end)
            elif self.lows[end] == ",":
                step = 2 * (self._low(end + 1) in _LEGAL)
            else:
                step = 2 if self.lows[end] in _POSSESSIVE and self._is_patron(end) else 0
            if not step:
                return end + self._is_number(end)
            end += step
        return end

    def _linked(self, first: int, at: int) -> int:
        """How many words belong to a name from a small one on: "University of Leeds", "Jan van der Velde"."""
        low, head = self.lows[at], self.marks[at - 1]
        after = self.marks[at + 1] if at + 1 < self.stop else 0
        two = self._low(at + 1) == "the" or bool(after & self.marks[at] & PARTICLE)
        if not self._is_capital(at + 1 + two) or head & (ROLE | GRAMMAR | TITLE):
            return 0
        if low in ("of", "for"):
            single = at == first + 1
            ordinary = head & PLAIN and not (two or self.marks[first] & GIVEN)
            loose = (not single or not self._opens(first)) if ordinary else single and not (two or head & ORDINARY)
            links = head & OF_HEAD or (loose and (low == "of" or (ordinary and after & PLAIN)))
        elif low == "and":
            links = head & after & PLAIN and self._goes_on(first, at)
        else:
            links = low == "&" or self.marks[at] & PARTICLE
        return (2 + two) if links else 0

    def _goes_on(self, first: int, at: int) -> bool:
        """Whether "and" between ordinary words is a part of a name: "Fund for Art and Growth", "Oil and Gas Fund"."""
        end = at + 1
        while self._is_capital(end):
            end += 1
        headed = any(self.marks[place] & OF_HEAD for place in range(first, at - 2))
        ended = self.marks[end - 1] & INSTITUTION and not self.marks[at - 1] & INSTITUTION
        return headed or bool(ended and end > at + 2)

    def _is_patron(self, at: int) -> bool:
        """Whether what stands before "'s" belongs to what follows: "St Mary's Hospital", "People's Alliance Party"."""
        patron, after = self.marks[at - 1], self.marks[at + 1] if at + 1 < self.stop else GIVEN
        plain = patron & PLAIN and not patron & (GRAMMAR | INSTITUTION) and after & (GIVEN | ORDINARY) != GIVEN
        return self._is_capital(at + 1) and bool(after & INSTITUTION or plain)

    def _with_year(self, first: int, end: int) -> int:
        """Where a name with a year before ordinary words begins: "2031 Harbour Plan", but "In 2031 Harbour Plan"."""
        year = self._low(first - 1)
        dated = first - 1 > self.first and self.marks[first - 2] & GRAMMAR and self._low(first - 2) not in _DETERMINERS
        named = end > first + 1 and self.marks[first] & PLAIN and not self.marks[first] & (GRAMMAR | ROLE)
        named = named and all(self.marks[first:end])  # "a 1979 Velmora Coupe" is any of that year
        return first - 1 if named and not dated and _YEAR.fullmatch(year) else first

    def _is_number(self, at: int) -> bool:
        """Whether a number belongs to the name before it, as in "Ward 7": it counts nothing and is no year."""
        low, before, after = self._low(at), self.marks[at - 1], self._low(at + 1)
        if before & (UNNUMBERED | CALENDAR | GRAMMAR | GIVEN):
            return False
        if _LETTERED.fullmatch(low):
            return True
        if not low.isdecimal() or len(low.lstrip("0")) > _SHORT:
            return False
        return not (after and (after[0].isdecimal() or after in ":%-–/" or after[0].isalpha())) or bool(
            after[0].isalpha() and self.marks[at + 1] & GRAMMAR
        )

    def _opens(self, place: int) -> bool:
        """Whether a capital may be that of a sentence, a label or a list."""
        before = self._low(place - 1)
        return not before or not (before[-1].isalnum() or before in _GOES_ON or before[0] in "'’")

    def _trimmed(self, first: int, end: int) -> tuple[int, int]:
        """A run without the words around a name: openings, roles, and in a heading all ordinary words."""
        marks, opening, institution = self.marks, self._opens(first), self.marks[end - 1] & INSTITUTION
        for place in range(first + 1, end - 1):
            pair = place + 3 == end and not (marks[place + 1] | marks[place + 2]) & (PLAIN | INSTITUTION)
            if marks[place] & ROLE and (marks[place + 1] & GIVEN or pair):
                first = place  # "Harbour Minister Ada Moss"
        if marks[first] & DEMONYM and first + 1 < end and marks[first + 1] & GIVEN and not marks[first + 1] & DEMONYM:
            first += 1  # "Norwegian Ada Moss"
        if first + 1 < end and "-" in self.lows[first] and marks[first] & DEMONYM:
            first += 1  # "Leeds-based Harkin Foods"
        while first < end and self._is_before_name(first, end, opening=opening, institution=bool(institution)):
            first += 1
        numbered = UNNUMBERED * (first + 1 == end or self._low(end)[:1].isdecimal())
        while first < end and marks[end - 1] & (GRAMMAR | numbered):
            end -= 1
        while self.heading and first < end and marks[end - 1] & PLAIN and not marks[end - 1] & INSTITUTION:
            end -= 1
        return first, end

    def _is_before_name(self, place: int, end: int, *, opening: bool, institution: bool) -> bool:
        """Whether the first word of a run is no part of the name in it."""
        known, low = self.marks[place], self.lows[place]
        if (
            (known & GRAMMAR and not known & CALENDAR)
            or (known & ROLE and not institution)
            or (self.heading and known & PLAIN)
        ):
            return True
        if not opening or known & (GIVEN | TITLE):
            return False
        if " ".join(self.lows[place + 1 : end]) in self.context.people:
            return True  # "Woah Ana"
        ordered = place + 1 < end and self.marks[place + 1] & GIVEN
        return bool(known & PLAIN and (ordered or low.endswith(("ly", "ing", "ed"))))

    def _extended(self, end: int, tagged: int) -> int:
        """Where a name ends that the tagger takes further: "Marlin foods"."""
        while end < tagged and self.lows[end].isalpha():
            known = self.marks[end]
            if known & (GRAMMAR | MODIFIER) or (known & ORDINARY and not known & INSTITUTION):
                break
            end += 1
        while self.marks[end - 1] & PARTICLE and self.lows[end - 1] == self.words[end - 1].text:
            end -= 1
        return end

    def _names(self, first: int, end: int, sure: float) -> bool:
        """Whether words with capitals are a name, of which the tagger is so sure."""
        label = self._low(end) == ":"
        if end == first + 1:
            return self._is_single(first) and self._is_alone(first, sure)
        if all(known & (PLAIN | GRAMMAR) for known in self.marks[first:end]):
            if self.marks[first] & GENERAL and self.marks[end - 1] & LOOSE and end == first + 2:
                return False  # "High School"
            if self.heading or (self._opens(first) and (label or sure <= 0)):
                return bool(self.marks[end - 1] & INSTITUTION) and not label
        return self.lows[first][0].isalnum() and any(map(str.isalpha, "".join(self.lows[first:end])))

    def _is_alone(self, place: int, sure: float) -> bool:
        """Whether one word with a capital is a name."""
        known, word, opens = self.marks[place], self.words[place].text, self._opens(place)
        if word.isupper() and (len(word) > _ACRONYM or known & ORDINARY):
            return bool(known & DEMONYM)
        listed = known & (GIVEN | PLACE | CAPITALISED | DEMONYM)
        if word.isupper() and self.context.tagged and sure <= 0 and not listed:
            return False  # "GPA", "RV"
        if opens and not known & ORDINARY:
            least = -ONE if self._acts(place + 1) else _LIKELY if (self._low(place + 1) or ".") in _CALLED else 0.0
            return bool(listed) or sure > least
        if opens:
            return sure > 0 and bool(listed)
        return not known & ORDINARY or sure > 0 or bool(listed) or self.lows[place - 1] not in _DETERMINERS

    def _is_single(self, place: int) -> bool:
        """Whether one word may be a name: no date, role, title, interjection, unit of a number or call of code."""
        low, known, word = self.lows[place], self.marks[place], self.words[place]
        if len(low) == 1 or known & (GRAMMAR | NOISE | ROLE | ALONE | TITLE) or not any(map(str.isalpha, low)):
            return False
        if (known & CALENDAR and not known & GIVEN) or _STRETCHED.search(low) or _PERIOD.match(word.text):
            return False
        if (glued := _GLUED.match(word.text)) and mark(glued[0]) & (ORDINARY if glued[1] else GRAMMAR):
            return False  # "startedD", "withHall"
        counted = self._low(place - 1)[-1:].isdecimal() and self.words[place - 1].end == word.start
        return not counted and not (self._low(place + 1) == "(" and self.words[place + 1].start == word.end)

    # -- in any case ----------------------------------------------------------------------------------------------

    def _in_small(self, tags: Sequence[Tag]) -> Iterator[Mention]:
        """Names in lower case, which the tagger finds; an author who writes capitals writes them for unknown names."""
        for first, end, kind, sure in (part for tag in tags for part in self._parts(*tag)):
            known = self.marks[first]
            if not (
                self._is_free(first, end) and (self.context.small or (known & (GIVEN | PLACE) and not known & PLAIN))
            ):
                continue
            if end == first + 1:
                likely = sure >= _LIKELY or not known & ORDINARY
                named = likely and not known & DEMONYM and self._is_single(first)
                named = named and (known > 0 or not _is_slip(self.lows[first]))
            else:
                named = not all(each & (CALENDAR | ROLE | ALONE) and not each & GIVEN for each in self.marks[first:end])
            if named and self.upper.isdisjoint(range(first, end)):
                yield self._mention(first, end, kind, sure)

    def _parts(self, first: int, end: int, kind: str, sure: float) -> Iterator[Tag]:
        """What the tagger found, cut at verbs, marks and the ends of firms: in lower case it takes too much."""
        begun = first
        for place in range(first, end):
            known = self.marks[place]
            if known & INSTITUTION and begun < place < end - 1:
                yield begun, place + 1, kind, sure
                begun = place + 1
            elif (
                self._cuts(place)
                or (known & GRAMMAR and place == begun)
                or (known & (GRAMMAR | MODIFIER) and place == end - 1)
            ):
                if begun < place:
                    yield begun, place, kind, sure
                begun = place + 1
        if begun < end:
            yield begun, end, kind, sure

    def _cuts(self, place: int) -> bool:
        """Whether a word is no part of a name in lower case; "of" is one inside of it."""
        low, known = self.lows[place], self.marks[place]
        if known & (NOISE | VERB) and not known & INSTITUTION:
            return True
        small = known & GRAMMAR and not known & PARTICLE and low not in _INSIDE
        return bool(small) or not (low[0].isalnum() or low == "&" or low in _POSSESSIVE)
