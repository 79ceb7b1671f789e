"""The names of one sentence: what the tagger finds, what capitals, titles and shapes show, and where a name ends.

Capitals are evidence where a sentence uses them as English does. At its opening, in a heading and in what is shouted
they are not: there an ordinary word names nothing by itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from sys import maxsize
from typing import Final, NamedTuple

from graphsearch.names.lexicon import CALENDAR, CAPITALISED, DEMONYM, GIVEN, ORDINARY, PLACE, flags
from graphsearch.text.marked_names import marked_names
from graphsearch.text.tokens import Token, sentences, tokens
from graphsearch.text.unstated import code_blocks, machine_lines
from graphsearch.text.word_lists import data_lines

Tagged = Sequence[tuple[int, int, str, float]]

# What a word is to names, beside the flags of the lexicon; the sections of ``name_words.txt``.
_SECTIONS: Final = "title group firm site clear loose of_head particle noise grammar role alone dwelling using moving running modifier verb unnumbered".split()
(
    TITLE,
    GROUP,
    FIRM,
    SITE,
    CLEAR,
    LOOSE,
    OF_HEAD,
    PARTICLE,
    NOISE,
    GRAMMAR,
    ROLE,
    ALONE,
    DWELLING,
    USING,
    MOVING,
    RUNNING,
    MODIFIER,
    VERB,
    UNNUMBERED,
) = (1 << bit for bit in range(8, 8 + len(_SECTIONS)))

NATIONALITY: Final = "nationality"
MAX_WORDS: Final = 8
CERTAIN: Final = 9.0
TITLED: Final = 5.0
SEVERAL: Final = 2.0
ONE: Final = 1.0
PLAIN: Final = 2.0
"""How sure a name is, on the scale of the margins of the tagger."""
_READABLE: Final = 12
"""Words in lower case of which most must be English for a text to be read."""
_PREFIX: Final = re.compile(
    r"^(?:anti|auto|co|de|dis|fore|hyper|inter|micro|mid|mini|mis|multi|non|out|over|post|pre|re|semi|sub|super|trans|un|under)(?=[a-z]{4})"
)
_SUFFIX: Final = re.compile(r"(?:e?s|ed|ers?|ings?|ly|ness|less|ful|ish|able|y)$")
_COINED: Final = re.compile(r"[0-9_#+]|[A-Z]{2}[a-z]|\b(?!Mc|Mac|De|Di|Du|La|Le|Van|Von|Fitz)[^\W_]*[a-z][A-Z]")
"""What no name of a person is spelt like: "TikTok", "DIYs", "R2"."""
_TAIL: Final = re.compile(
    r"-(?:based|owned|like|style|led|era|born|wide|related|backed|inspired|themed|only|free|specific|assisted|driven"
    r"|funded|powered|run)$"
)
_PERIOD: Final = re.compile(r"(?:[QH][1-4]|FY\d+)$")
_SHOUTED: Final = 3
_CALLED: Final = frozenset(",.!?…:")
"""After an unknown word that begins a sentence they show that it may be an interjection."""
_ACTS: Final = frozenset(["is", "was", "has", "had", "will", "'s", "’s", "and", "said", "says"])
"""After it they show that it is the subject."""
_GOES_ON: Final = frozenset(",'’&(@$%")
_STRONG_PARTICLES: Final = frozenset("van von de der bin ibn al".split())
_QUOTES: Final = {'"': '"', "“": "”", "«": "»"}


class Mention(NamedTuple):
    """A name in a text: tokens [first, end), its text and kind ("" if unknown).

    ``sure``: a margin of the tagger, or what is worth as much. ``hard``: the kind is more than the tagger's guess.
    ``cased``: its capitals are not those of a sentence. ``faint``: an unknown word in lower case, once in the call, that
    the tagger is not sure of. ``type``: the entity type of a known name, of an address or of code.
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
    machines wrote, and all sentences of a text that cannot be read, are left out.
    """

    text: str
    words: list[Token]
    sentences: list[tuple[int, int]]
    mentions: list[Mention]
    same: tuple[tuple[str, str], ...]
    aside: list[Mention]
    lows: list[str]
    marks: list[int]


@cache
def word_marks() -> Mapping[str, int]:
    """The marks of the words of ``name_words.txt``."""
    marks: dict[str, int] = {}
    for line in data_lines("graphsearch.names", "name_words.txt"):
        section, _, words = line.partition(": ")
        for word in words.split():
            marks[word] = marks.get(word, 0) | 1 << 8 + _SECTIONS.index(section)
    return marks


@lru_cache(1 << 16)
def mark(low: str) -> int:
    """What is known of a word in lower case: flags of the lexicon and marks of this module."""
    return (flags(low) or _derived(low)) | word_marks().get(low, 0)


def _derived(low: str) -> int:
    """`ORDINARY` for an unknown word that is made of ordinary ones: "much-needed", "superheroes"."""
    parts = low.split("-")
    if len(parts) > 1:
        return ORDINARY if all(flags(part) & ORDINARY or part.isdecimal() for part in parts) else 0
    stem = _PREFIX.sub("", low)
    stems = (stem, *(_SUFFIX.sub(end, stem) for end in ("", "e", "y")))
    return ORDINARY if any(len(each) > 3 and flags(each) & ORDINARY for each in stems) else 0  # noqa: PLR2004


def read_words(text: str) -> Read:
    """A text in tokens and sentences, without names."""
    words = tokens(text)
    lows = [word.text.casefold() for word in words]
    marks = [*map(mark, lows)]
    cut: list[tuple[int, int]] = sentences(text, words)
    if dead := sorted((*machine_lines(text), *code_blocks(text))):
        cut = [(first, end) for first, end in cut if not _is_dead(dead, words[first].start)]
        alive = {place for first, end in cut for place in range(first, end)}
        lows = [low if place in alive else "" for place, low in enumerate(lows)]  # so that nothing is found there
    small = [known for word, low, known in zip(words, lows, marks, strict=True) if word.text == low and low.isalpha()]
    if len(small) >= _READABLE and 2 * sum(known & ORDINARY for known in small) < len(small):
        cut = []
    return Read(text, words, cut, [], (), [], lows, marks)


def _is_dead(ranges: Sequence[tuple[int, int]], start: int) -> bool:
    """Whether a place is in one of some ranges, which are in order."""
    at = bisect_right(ranges, (start, maxsize)) - 1
    return at >= 0 and start < ranges[at][1]


def own_kind(name: str) -> str:
    """The kind that the words of a name show; "" if they show none."""
    lows = name.casefold().split() or [""]
    return _shown_kind(lows, [mark(low) for low in lows])


def _shown_kind(lows: Sequence[str], marks: Sequence[int]) -> str:
    first, last = marks[0], marks[-1]
    if len(lows) == 1:
        if first & GIVEN and not first & (ORDINARY | PLACE):
            return "person"
        return "place" if first & PLACE and not first & (GIVEN | ORDINARY) else ""
    if last & SITE:
        return "place"
    if first & TITLE and not last & (FIRM | GROUP):
        return "person"
    if last & GROUP:
        return "group"
    if last & LOOSE and all(known & ORDINARY and not known & (GIVEN | PLACE) for known in marks):
        return ""  # "Industrial Design"
    if last & FIRM or (lows[1] == "of" and first & (FIRM | OF_HEAD) and first & FIRM):
        return "organisation"
    person = first & GIVEN and not first & (ORDINARY | PLACE) and not last & ORDINARY
    initial = len(lows[0]) <= 2 and lows[0][-1] == "." and not last & ORDINARY  # noqa: PLR2004 - "J."
    middle = len(lows) == 3 and len(lows[1]) <= 2 and lows[1][-1] == "." and first & GIVEN  # noqa: PLR2004
    return "person" if person or initial or middle else ""


def is_capital(word: str) -> bool:
    """Whether a word has a capital anywhere, as in iPhone."""
    return word[0].isupper() or any(letter.isupper() for letter in word)


class _Style(NamedTuple):
    """How a sentence is written. ``small``: without capitals, so that its names are, too."""

    small: bool
    shouted: bool
    heading: bool


def style_of(read: Read, first: int, stop: int) -> _Style:
    """How a sentence is written."""
    letters = [place for place in range(first, stop) if read.words[place].text[0].isalpha()]
    if not letters:
        return _Style(small=True, shouted=False, heading=False)
    words, lows, marks = read.words, read.lows, read.marks
    capital = [place for place in letters if words[place].text != lows[place] and lows[place] != "i"]
    loud = sum(len(lows[place]) > 1 and words[place].text.isupper() for place in capital)
    shouted = loud >= _SHOUTED and 2 * loud > len(letters)
    small = words[letters[0]].text == lows[letters[0]] or not [*filter(lambda place: place != letters[0], capital)]
    rest = [place for place in letters[1:] if not marks[place] & GRAMMAR]
    heading = (
        len(letters) > 1
        and len(capital) > 1
        and all(words[place].text != lows[place] for place in rest)
        and any(
            marks[place] & ORDINARY and not marks[place] & (GIVEN | PLACE | CAPITALISED | FIRM | GROUP)
            for place in rest
        )
    )
    return _Style(small, shouted, heading)


class SentenceContext(NamedTuple):
    """What is known of the text of a sentence.

    ``taken`` are the places that are in names already, ``people`` the names of those who speak in lower case. ``small``:
    its author writes without capitals, so that names are written so, too.
    """

    taken: set[int]
    people: Container[str] = frozenset()
    small: bool = True


class _Sentence:
    """Finds the names of the sentence [first, stop) of a text."""

    def __init__(self, read: Read, first: int, stop: int, context: SentenceContext) -> None:
        self.read, self.first, self.stop, self.context = read, first, stop, context
        self.taken = context.taken
        self.words, self.lows, self.marks = read.words, read.lows, read.marks
        self.style = style_of(read, first, stop)

    def find(self, tagged: Tagged) -> Iterator[Mention]:
        """Names by capitals, then those that only the tagger finds, and those after a title."""
        if self.style.shouted:
            return
        tags = [(self.first + first, self.first + end, kind, sure) for first, end, kind, sure in tagged]
        if not _QUOTES.keys().isdisjoint(self.lows[self.first : self.stop]):
            yield from self._quoted()
        for mention in self._along_capitals(tags):
            self.taken.update(range(mention.first, mention.end))
            yield mention
        for first, end, kind, sure in (part for tag in tags for part in self._parts(*tag)):
            cleaned = self._cleaned(first, end)
            plain = cleaned and cleaned[1] == cleaned[0] + 1 and self.marks[cleaned[0]] & ORDINARY and sure < PLAIN
            if cleaned and not plain and self.taken.isdisjoint(range(*cleaned)) and self._is_written_small(*cleaned):
                self.taken.update(range(*cleaned))
                yield self.mention(*cleaned, kind, sure)
        for place in range(self.first, self.stop - 1):
            if self.marks[place] & (TITLE | DWELLING):
                yield from self._after_cue(place)

    def mention(self, first: int, end: int, kind: str, sure: float) -> Mention:
        """The words [first, end) as a name; a title before it belongs to it."""
        if first > self.first and self.marks[first - 1] & TITLE and first - 1 not in self.taken:
            first, kind = first - 1, "person"
        if end == first + 1 and self.marks[first] & DEMONYM:
            kind = NATIONALITY
        shown = "" if kind == NATIONALITY else _shown_kind(self.lows[first:end], self.marks[first:end])
        cased = first > self.first and all(
            word.text != low or mark & PARTICLE
            for word, low, mark in zip(self.words[first:end], self.lows[first:end], self.marks[first:end], strict=True)
        )
        name = self.read.text[self.words[first].start : self.words[end - 1].end]
        if "-" in name:
            name = _TAIL.sub("", name)
        if "person" in (kind, shown) and (_COINED.search(name) or (name.isupper() and end == first + 1)):
            kind = shown = ""
        return Mention(first, end, name, shown or kind, sure, bool(shown), cased)

    # -- by capitals ----------------------------------------------------------------------------------------------

    def _along_capitals(self, tags: Tagged) -> Iterator[Mention]:
        place = self.first
        while place < self.stop:
            if not self._is_capital(place):
                place += 1
                continue
            end = self._run(place)
            first, last = self._trimmed(place, end)
            inside = [tag for tag in tags if tag[0] < last and first < tag[1]]
            if inside and self._opens(place) and first < (start := inside[0][0]) and self._is_plain(first, start):
                first = start
            if inside and last == end and inside[-1][1] > end:
                last = end = self._extended(end, inside[-1][1])
            if first < last <= first + MAX_WORDS and self._names(
                first, last, sure=max((tag[3] for tag in inside), default=0.0)
            ):
                best = max(inside, key=lambda tag: tag[3], default=None)
                sure = SEVERAL if last > first + 1 else ONE
                yield self.mention(first, last, best[2] if best else "", max(sure, best[3]) if best else sure)
            place = end

    def _extended(self, end: int, tagged: int) -> int:
        """Where a name ends that the tagger takes further: "Marlin foods"."""
        while end < tagged and self.lows[end].isalpha():
            known = self.marks[end]
            if known & (GRAMMAR | MODIFIER) or (known & ORDINARY and not known & (FIRM | GROUP | SITE)):
                break
            end += 1
        return end

    def _quoted(self) -> Iterator[Mention]:
        """Titles of works in quotation marks, whose words name nothing by themselves."""
        opened = -1
        for place in range(self.first, self.stop):
            low = self.lows[place]
            if opened >= 0 and low == _QUOTES[self.lows[opened]]:
                first, end = opened + 1, place
                if (
                    first < end <= first + MAX_WORDS
                    and self._is_title(first, end)
                    and self.taken.isdisjoint(range(first, end))
                ):
                    self.taken.update(range(first, end))
                    yield self.mention(first, end, "thing", SEVERAL)
                opened = -1
            elif opened < 0 and low in _QUOTES:
                opened = place

    def _is_title(self, first: int, end: int) -> bool:
        """Whether all words but small ones have capitals, and not only the first."""
        plain = [place for place in range(first, end) if self.words[place].text == self.lows[place]]
        several = end - first - len(plain) > 1 or (end == first + 1 and not self.marks[first] & ORDINARY)
        small = (place for place in plain if self.lows[place] not in ("'s", "’s"))
        return several and first not in plain and all(self.marks[place] & (GRAMMAR | PARTICLE) for place in small)

    def _is_written_small(self, first: int, end: int) -> bool:
        """Whether words may be a name without capitals: those of an author who writes capitals are known ones."""
        if any(word.text != low for word, low in zip(self.words[first:end], self.lows[first:end], strict=True)):
            return False
        known = self.marks[first]
        return self.context.small or bool(known & (GIVEN | PLACE) and not known & ORDINARY)

    def _is_capital(self, place: int) -> bool:
        """Whether a word is written as the part of a name."""
        low, word = self.lows[place], self.words[place].text
        if place in self.taken or word == low or low in ("i", "i.") or not low[0].isalnum():
            return False
        known = self.marks[place]
        if known & CALENDAR and not (known & GIVEN and self._follows_capital(place) and not self._is_dated(place)):
            return False
        return not known & NOISE and not (len(word) > 3 and word.isupper() and known & ORDINARY)  # noqa: PLR2004

    def _follows_capital(self, place: int) -> bool:
        """Whether the next word has a capital and is no ordinary one: "June Clayworth", "Jan van Dam"."""
        after = place + 1
        while after < min(self.stop, place + 3) and self.lows[after] in _STRONG_PARTICLES:
            after += 1
        return (
            after < self.stop
            and self.words[after].text != self.lows[after]
            and not self.marks[after] & (ORDINARY | CALENDAR)
        )

    def _is_dated(self, place: int) -> bool:
        return place > self.first and bool(self.marks[place - 1] & GRAMMAR)

    def _run(self, place: int) -> int:
        """The end of the run of words that begins at a place, across small words that belong to names."""
        end = place + 1
        while end < self.stop:
            gap = self.words[end].start - self.words[end - 1].end
            low = self.lows[end]
            if gap == 1 and self._is_capital(end):
                end += 1
            elif (gap == 1 and self._links(place, end)) or (low in ("'s", "’s") and self._is_patron(end)):
                end += 2
            elif gap == 1 and low in ("of", "de", "van", "von") and self._links_far(place, end):
                end += 3
            else:
                return end + 1 if gap == 1 and self._numbers(end) else end
        return end

    def _links(self, first: int, at: int) -> bool:
        """Whether a small word and what follows it belong to a name: "University of Leeds", "Jan van Dam"."""
        low, head = self.lows[at], self.marks[at - 1]
        if at + 1 >= self.stop or not self._is_capital(at + 1):
            return False
        if low in ("of", "for"):
            alone = low == "of" and at == first + 1 and not head & (ORDINARY | ROLE | GRAMMAR | TITLE)
            return bool(head & OF_HEAD) or alone
        return low == "&" or bool(self.marks[at] & PARTICLE and not head & (ROLE | GRAMMAR))

    def _links_far(self, first: int, at: int) -> bool:
        """Whether two small words do: "Bank of the West", "Jan van der Berg"."""
        if at + 2 >= self.stop or not self._is_capital(at + 2):
            return False
        if self.lows[at] == "of":
            return self.lows[at + 1] == "the" and bool(self.marks[at - 1] & OF_HEAD)
        return bool(self.marks[at + 1] & PARTICLE) and at == first + 1

    def _is_patron(self, at: int) -> bool:
        """Whether an institution is named after somebody: "St Mary's Hospital"."""
        return at + 1 < self.stop and self._is_capital(at + 1) and bool(self.marks[at + 1] & (FIRM | GROUP))

    def _numbers(self, at: int) -> bool:
        """Whether a number belongs to the name before it, as in "Ward 7": it counts nothing and is no year."""
        low, before = self.lows[at], self.marks[at - 1]
        if not low.isdecimal() or len(low) > 3 or before & (UNNUMBERED | CALENDAR | GRAMMAR | GIVEN):  # noqa: PLR2004
            return False
        after = self.lows[at + 1] if at + 1 < self.stop else ""
        return (
            not after
            or (not after[0].isdecimal() and after not in (":", "%", "-", "–", "/"))
            and (not after[0].isalpha() or bool(self.marks[at + 1] & GRAMMAR))
        )

    def _opens(self, place: int) -> bool:
        """Whether a capital may be that of a sentence, a label or a list."""
        if place == self.first:
            return True
        before = self.lows[place - 1]
        return not (before[-1].isalnum() or before in _GOES_ON or before[0] in "'’")

    def _is_plain(self, first: int, end: int) -> bool:
        """Whether words are all ordinary ones."""
        return all(
            known & ORDINARY and not known & (GIVEN | PLACE) or known & (GRAMMAR | ROLE)
            for known in self.marks[first:end]
        )

    def _trimmed(self, first: int, end: int) -> tuple[int, int]:
        """A run without the words around a name: openings, roles, and in a heading all ordinary words."""
        marks, lows = self.marks, self.lows
        opening, institution = self._opens(first), marks[end - 1] & (FIRM | GROUP)
        while first < end:
            known = marks[first]
            single = first + 1 == end
            drops = known & GRAMMAR or (known & ROLE and not institution)
            if opening and known & ORDINARY and not known & (GIVEN | PLACE):
                before_person = not single and marks[first + 1] & GIVEN and not known & TITLE
                drops = drops or before_person or lows[first].endswith(("ly", "ing", "ed"))
            if (
                opening
                and not single
                and not known & (GIVEN | TITLE)
                and " ".join(lows[first + 1 : end]) in self.context.people
            ):
                drops = True  # "Woah Ana"
            if self.style.heading and self._is_plain(first, first + 1):
                drops = True
            if not drops:
                break
            first += 1
        while first < end and marks[end - 1] & (GRAMMAR | UNNUMBERED):
            end -= 1
        while (
            self.style.heading and first < end and self._is_plain(end - 1, end) and not marks[end - 1] & (FIRM | GROUP)
        ):
            end -= 1
        return first, end

    def _names(self, first: int, end: int, *, sure: float) -> bool:
        """Whether words with capitals are a name, of which the tagger is so sure."""
        tagged = sure > 0
        marks, word = self.marks, self.words[first].text
        if end == first + 1:
            known = marks[first]
            if not _is_single(self.lows[first], known) or self._is_measure(first):
                return False
            if known & DEMONYM:
                return True
            if word.isupper() and (len(word) > 5 or known & ORDINARY):  # noqa: PLR2004 - shouted
                return False
            if not known & ORDINARY:
                if not self._opens(first):
                    return True
                after = self.lows[end] if end < self.stop else "."
                least = -1.0 if after in _ACTS else 2.0 if after in _CALLED else 0.0
                return bool(known & (GIVEN | PLACE | CAPITALISED)) or sure > least
            if self._opens(first):
                return tagged and bool(known & (GIVEN | PLACE | CAPITALISED))
            return tagged or not marks[first - 1] & (MODIFIER | PARTICLE) or bool(known & (GIVEN | CAPITALISED))
        plain = all(known & (ORDINARY | GRAMMAR) and not known & (GIVEN | PLACE) for known in marks[first:end])
        if plain and (self.style.heading or (self._opens(first) and (self._is_label(end) or not tagged))):
            return bool(marks[end - 1] & (FIRM | GROUP)) and not self._is_label(end)
        return any(letter.isalpha() for letter in word)

    def _is_measure(self, place: int) -> bool:
        """Whether a word is a unit of the number before it, a quarter, or a call of code."""
        word, after = self.words[place], self.words[place + 1] if place + 1 < self.stop else None
        joined = place > self.first and self.words[place - 1].end == word.start and self.lows[place - 1][-1].isdecimal()
        called = after is not None and after.text == "(" and after.start == word.end
        return joined or called or _PERIOD.match(word.text) is not None

    def _is_label(self, end: int) -> bool:
        """Whether a colon follows."""
        return end < self.stop and self.lows[end] == ":"

    # -- in any case ----------------------------------------------------------------------------------------------

    def _parts(self, first: int, end: int, kind: str, sure: float) -> Iterator[tuple[int, int, str, float]]:
        """What the tagger found, cut at verbs, marks and the ends of firms: in lower case it takes what is beside it."""
        begun = first
        for place in range(first, end):
            low, known = self.lows[place], self.marks[place]
            institution = known & (FIRM | GROUP | SITE)
            if institution and begun < place < end - 1:
                yield begun, place + 1, kind, sure
                begun = place + 1
            elif (known & VERB and not institution) or not (low[0].isalnum() or low in ("&", "'s", "’s")):
                if begun < place:
                    yield begun, place, kind, sure
                begun = place + 1
        if begun < end:
            yield begun, end, kind, sure

    def _cleaned(self, first: int, end: int) -> tuple[int, int] | None:
        """What the tagger found, without the words around a name; None if it is none."""
        marks, lows = self.marks, self.lows
        while first < end and (marks[first] & (GRAMMAR | NOISE) or not lows[first][0].isalnum()):
            first += 1
        while first < end and (marks[end - 1] & (GRAMMAR | NOISE) or not lows[end - 1][-1].isalnum()):
            end -= 1
        if not first < end <= first + MAX_WORDS or not any(map(str.isalpha, lows[first])):
            return None
        if lows[first].startswith(("n't", "n’t")) or lows[first][0] in "'’":
            return None
        if end < self.stop - 1 and self.lows[end] in _STRONG_PARTICLES:  # "ludwig van der berg"
            after = end + 1 + bool(self.marks[end + 1] & PARTICLE)
            end = after + 1 if after < self.stop and self.lows[after].isalpha() and not marks[after] & GRAMMAR else end
        if end == first + 1 and self._is_measure(first):
            return None
        if end == first + 1:
            shouted = self.words[first].text.isupper() and len(lows[first]) > 1 and marks[first] & ORDINARY
            named = _is_single(lows[first], marks[first]) and not marks[first] & DEMONYM
            return (first, end) if named and not shouted else None
        nothing = all(known & (CALENDAR | ROLE | ALONE | GRAMMAR) and not known & GIVEN for known in marks[first:end])
        return None if nothing else (first, end)

    def _after_cue(self, place: int) -> Iterator[Mention]:
        """Names after "dr", and after "live in" where nothing has capitals."""
        after, known = place + 1, self.marks[place + 1]
        if self.marks[place] & TITLE:
            if after not in self.taken and place not in self.taken and not known & (ORDINARY | MODIFIER | GRAMMAR):
                if self.lows[after].isalpha():
                    self.taken.update((place, after))
                    yield self.mention(place, after + 1, "person", TITLED)
        elif self.style.small and self.lows[after] in ("in", "to", "near") and after + 1 < self.stop:
            there = after + 1
            known = self.marks[there]
            place_word = (
                known & ORDINARY and known & (CAPITALISED | PLACE) and not known & (CALENDAR | DEMONYM | GRAMMAR)
            )
            if place_word and there not in self.taken and len(self.lows[there]) > 2:  # noqa: PLR2004
                self.taken.add(there)
                yield self.mention(there, there + 1, "place", ONE)


def _is_single(low: str, known: int) -> bool:
    """Whether one word may be a name: no date, no role, no title, no interjection."""
    if len(low) < 2 or known & (GRAMMAR | NOISE | ROLE | ALONE | TITLE) or (known & CALENDAR and not known & GIVEN):  # noqa: PLR2004
        return False
    return any(map(str.isalpha, low)) and not any(one == two == three for one, two, three in zip(low, low[1:], low[2:]))


def find_in_sentence(read: Read, first: int, stop: int, tagged: Tagged, context: SentenceContext) -> list[Mention]:
    """The names of the sentence [first, stop) of a text; their places are taken then."""
    return [*_Sentence(read, first, stop, context).find(tagged)]


def find_marked(read: Read) -> tuple[list[Mention], set[int]]:
    """Addresses, paths, handles and code of a text, and the places of their words and of what is no name at all."""
    found, taken = [], set[int]()
    starts: list[int] = []
    for each in marked_names(read.text, 0, len(read.text)):
        starts = starts or [word.start for word in read.words]
        first = bisect_left(starts, each.start)
        if first and read.words[first - 1].end > each.start:
            first -= 1
        end = bisect_left(starts, each.end)
        if first < end:
            taken.update(range(first, end))
            if each.named and read.lows[first]:
                kind = "person" if each.type == "person" else "thing"
                name = read.text[each.start : each.end]
                found.append(Mention(first, end, name, kind, CERTAIN, hard=True, type=each.type or ""))
    return found, taken
