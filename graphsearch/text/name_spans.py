"""Names found by capitalisation: runs of words that are written like a name.

NameSpan by rules, not by lists of names. A single word at the start of a sentence is capitalised anyway, so it is
``tentative``; text that capitalises everything gives no evidence and is skipped. Precision comes first: a wrong name
costs more than a missed one.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final

import attrs

from graphsearch.text import word_lists as known

MAX_WORDS: Final = 8
MAX_NAME: Final = 100
"""Maximum words and characters of a name."""

_MARKS: Final = "\u0300-\u036f\u0483-\u0487"  # combining marks, which \w leaves out
_LETTERS: Final = rf"[\w{_MARKS}]"
WORD: Final = re.compile(rf"{_LETTERS}+(?:(?:['’.&\-]|\+(?=\+)){_LETTERS}+)*(?:\+\+|#)?")
_GOES_ON: Final = re.compile(r"[\w,'’%&(@$.]\s*$")
_TAIL: Final = re.compile(
    r"-(?:based|owned|like|style|led|era|born|wide|related|backed|inspired|themed|only|free|specific)$"
)
_CASELESS: Final = re.compile(
    "[\u0590-\u08ff\u0900-\u0dff\u0e00-\u0eff\u10d0-\u10ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:[ "
    "·][\u0590-\u08ff]+)?"
)
_COINED: Final = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]")
_PERSONAL: Final = re.compile("(?:Ma?c|De|Di|Du|La|Le|Van|Von|O['’]?|Fitz|D['’])[A-Z]")
_NUMBER: Final = re.compile(r"\d{1,6}(?:-?[A-Za-z])?")
_JOINED: Final = re.compile(r"(?:a[bdlnrstz]|ash|el|ben|bin|bint|ibn|abu|umm|[dlo]['’])['’-]?[A-Z]\w")
"""A small particle that is one word with the name after it: "al-Rahman", "d'Arcy"."""
_VERB: Final = re.compile(
    r"(?:'s|'ll|'d)?,? (?:and (?:I|[A-Z]\w{1,30}) "
    r"|(?:who|also|just|now|still|has|had|is|was|will|never|always|[a-z]{1,20}ly) ){0,4}"
    r"(?!as\b|us\b|this\b|his\b|its\b|access\b|plus\b|towards\b|need\b)(?:[a-z]{1,20}(?:s|ed)\b"
    r"|(?:has|had|is|was|met|left|led|ran|went|came|took|got|built|wrote|said|told|made|sold|bought|became|began|gave|knew"
    r"|held|kept|sent|spoke|taught|thought|won|and|who)\b)"
)
"""What follows the subject of a sentence."""
_PERIOD: Final = re.compile("(?:[QH][1-4]|FY[0-9]{2,4})")
_DRAWN_OUT: Final = re.compile(r"(.)\1\1", re.IGNORECASE)
_YEAR: Final = re.compile("(?:1[5-9]|20)[0-9]{2}")
_PART_OF_NUMBER: Final = re.compile(r"[.:,/%°–—-]\d|[%°]|\s?[-–—]\s?\d|\sto\s\d")
_SHOUT: Final = 3
_HEADING: Final = 5
_LONG_ACRONYM: Final = 6
_SHOUTED: Final = 5
"""Least letters of a word in capitals that is hardly an acronym beside another."""


CERTAIN: Final = 0.9
SEVERAL_WORDS: Final = 0.85
ONE_WORD: Final = 0.75
TENTATIVE: Final = 0.65


@attrs.frozen(kw_only=True)
class NameSpan:
    """Characters [start, end) of a text that may be a name.

    ``named`` is False for a span that is no name but contains none either, such as an e-mail address. A ``tentative``
    name counts only if something else in the memory confirms it.
    """

    start: int
    end: int
    type: str
    confidence: float
    pattern: str
    named: bool = True
    tentative: bool = False
    antecedent: NameSpan | None = None
    """The name that it refers to, if it is a pronoun."""
    outside_name: str = ""
    """The name, if it is in another text."""


@attrs.define
class _Word:
    """One word: [start, end) without its possessive, ``full`` with it."""

    text: str
    key: str
    start: int
    end: int
    full: int
    capital: bool

    @property
    def possessive(self) -> bool:
        return self.full > self.end

    @property
    def initials(self) -> bool:
        """Whether it is "J" or "J.R.R"."""
        return all(len(part) == 1 for part in self.text.split("."))


def capitalised_names(
    text: str,
    start: int,
    end: int,
    taken: Sequence[NameSpan],
    people: Container[str] = frozenset(),
    *,
    heading: bool = False,
) -> Iterator[NameSpan]:
    """The names in the sentence [start, end), in order, without overlaps with each other or with ``taken``.

    ``people`` are known names of persons in lower case: a word such as "Mark" may be one. Where all is capitalised, as
    in a ``heading``, capitals prove nothing: names without a type are tentative.
    """
    read = [_word(match) for match in WORD.finditer(text, start, end)]
    if not any(word.capital for word in read) or _all_capitals(read):
        yield from _caseless(text, start, end, read)
        return
    blocked = [(found.start, found.end) for found in taken]
    titled = heading or (len(read) > 1 and all(word.capital or not word.text[0].isalpha() for word in read))
    at = 0
    while at < len(read):
        word = read[at]
        if not word.capital or any(first < word.end and word.start < last for first, last in blocked):
            at += 1
            continue
        last = _run(text, read, at, blocked)
        found = _name(text, read, at, last, start, people)
        if found:
            yield attrs.evolve(found, tentative=True) if titled and not found.type else found
        at = last + 1
    if not text.isascii():
        yield from _caseless(text, start, end, read)


def _word(match: re.Match[str]) -> _Word:
    written = match[0]
    start, full = match.span()
    if written.islower() and written.isalpha():
        return _Word(written, written.casefold(), start, full, full, capital=False)
    end = full
    if "'" in written or "’" in written:
        base = re.sub(r"['’](?:s|ll|ve|re|d|m)$", "", written)
        end = start + len(base)
        if base.casefold() in known.COMMON and base != written:
            base, end = written, full
        written = base
    if "-" in written:
        written = _TAIL.sub("", written)
        end = start + len(written)
    if written[-1] == ".":
        written, end = written[:-1], end - 1
    first = written[0]
    capital = (
        first.isupper()
        or _JOINED.match(written) is not None
        or (first.islower() and len(written) > 2 and _camel(written))  # noqa: PLR2004 - iOS
    )
    return _Word(written, written.casefold().replace("’", "'"), start, end, full, capital)


_WHEN: Final = re.compile(
    r"(?:\b(?:in|since|until|till|by|of|from|to|during|before|after|around|about|circa|late|early|mid|and|or|between"
    r"|through|[A-Z][a-z]+)|\d|[,(/–-]) ?$"
)
_EDITION: Final = re.compile(r"(?<![\w-])[A-Z][\w-]{0,30} (\w{1,30}) $")


def is_year_of_name(text: str, start: int, end: int) -> bool:
    """Whether [start, end) is a year that belongs to a name beside it: "2023 Tax Return", "Harbour Festival 2024"."""
    if not _YEAR.fullmatch(text, start, end):
        return False
    before = _EDITION.search(text, max(0, start - MAX_NAME), start)
    if before and before[1].casefold() in known.YEARLY:
        return True
    following = WORD.match(text, end + 1) if text[end : end + 1] == " " else None
    if following is None or not following[0][0].isupper() or following[0].casefold() in known.GRAMMAR:
        return False
    return _WHEN.search(text, max(0, start - 12), start) is None


def is_coined(written: str) -> bool:
    """Whether a name is spelt as only names of things are: "TicketLoom", "MySQL", "v2"; not "McCoy"."""
    if any(character.isdigit() for character in written):
        return True
    return any(_COINED.search(word) and not _PERSONAL.match(word) for word in written.split())


def _camel(written: str) -> bool:
    return written != written.lower() and written.isalnum()


def _all_capitals(read: Sequence[_Word]) -> bool:
    """Whether a sentence is in capitals, or capitalised throughout like a heading."""
    if sum(word.capital for word in read) < _SHOUT:
        return False
    letters = [word for word in read if word.text[0].isalpha()]
    loud = sum(len(word.text) > 1 and word.text.isupper() for word in letters)
    if loud >= _SHOUT and 2 * loud > len(letters):
        return True
    long = [word for word in letters if len(word.text) > _SHOUT or word.capital]
    strange = sum(word.key not in known.COMMON for word in long)
    return (
        len(long) >= _HEADING
        and all(word.capital for word in long)
        and strange >= _SHOUT
        and any(
            word.capital and word.key in known.COMMON - known.NEVER_NAMES - known.SURNAME_WORDS for word in letters[1:]
        )
    )


def _run(text: str, read: Sequence[_Word], first: int, blocked: Sequence[tuple[int, int]]) -> int:
    """The index of the last word in the run of capitalised words that begins at ``first``."""
    last = first
    while last + 1 < len(read):
        word = read[last]
        if word.possessive and not _continues_possessive(read, last):
            break
        following = last + 1
        gap = text[word.full : read[following].start]
        if (gap == " & " and read[following].capital) or (gap == ", " and read[following].key in known.GENERATIONS):
            last = following
            continue
        if not _joins(gap, word) and not _belongs_to_many(gap, word, read[following]):
            break
        if not read[following].capital:
            if _numbers(text, read, following):
                return following
            following = _linked(text, read, first, following)
            if following < 0:
                break
        if read[following].key in known.NEVER_NAMES:
            break
        if any(start < read[following].end and read[following].start < end for start, end in blocked):
            break
        last = following
    return last


def _continues_possessive(read: Sequence[_Word], at: int) -> bool:
    """Whether an institution is named after its patron: "St. Mary's Hospital"."""
    following = read[at + 1]
    return following.capital and following.key in known.INSTITUTION_ENDS


def _belongs_to_many(gap: str, word: _Word, following: _Word) -> bool:
    """Whether an institution is named after several: "the Brewers' Guild", "St Thomas' Hospital"."""
    plural = gap in {"' ", "’ "} and word.key.endswith("s")
    return plural and following.capital and following.key in known.INSTITUTION_ENDS


def _joins(gap: str, word: _Word) -> bool:
    if gap == " " or (gap.strip() == "" and gap.count("\n") <= 1 and gap):
        return True
    return (
        gap.strip() == "."
        and gap != "."
        and (word.initials or word.key in known.HONORIFICS or word.key in {"st", "mt", "jr"})
    )


def _numbers(text: str, read: Sequence[_Word], at: int) -> bool:
    """Whether a number belongs to the name before it, as in "Ward 7": it counts nothing, and is no year or score."""
    number, before = read[at], read[at - 1]
    if not _NUMBER.fullmatch(number.text) or not before.capital or before.possessive:
        return False
    if _YEAR.fullmatch(number.text) and before.key not in known.YEARLY:
        return False
    if text[before.full : number.start] != " " or before.key in known.UNNUMBERED or before.text.endswith("."):
        return False
    following = read[at + 1] if at + 1 < len(read) else None
    if _PART_OF_NUMBER.match(text, number.end):
        return False
    if following is None or text[number.end : following.start] != " ":
        return True
    return not (following.capital or following.key in known.COUNTED or _NUMBER.fullmatch(following.text))


def _linked(text: str, read: Sequence[_Word], first: int, at: int) -> int:
    """The index of the capitalised word that follows small words such as "of the"; -1 if there is none."""
    link = read[at].key
    head = read[at - 1].key
    if link in ("of", "for"):
        begun = _GOES_ON.search(text, max(0, read[first].start - 4), read[first].start) is not None
        plain = (
            known.ROLES | known.POSTS | (known.GRAMMAR if begun else known.COMMON)
        )  # "met the Friends of the Museum"
        alone = link == "of" and at - 1 == first and head not in plain
        if not (alone or head in known.OF_HEADS):
            return -1
    elif link not in known.PERSON_NAME_PARTICLES:
        return -1
    for following in range(at + 1, min(at + 3, len(read))):
        if text[read[following - 1].full : read[following].start] != " ":
            return -1
        if read[following].capital:
            return following
        if read[following].key not in known.NAME_PARTICLES | {"the"}:
            return -1
    return -1


def _name(
    text: str, read: Sequence[_Word], first: int, last: int, sentence: int, people: Container[str]
) -> NameSpan | None:
    """The name in a run, without the common words, roles and honorifics around it."""
    before = read[first].start
    opening = before == sentence or not _GOES_ON.search(text, max(sentence, before - 4), before)
    begins, first, person = _opening(text, read, first, last, people, opening=opening)
    if first < last and read[first].key in known.ROLES and read[last].key not in known.INSTITUTION_ENDS:
        first, person = first + 1, True
    while last >= first and read[last].key in known.GRAMMAR and not _is_surname(read, first, last):
        last -= 1
    while last > first and _shouted(read[last].text) and not _shouted(read[first].text):
        last -= 1
    if first > last or last - first >= MAX_WORDS or read[last].end - read[first].start > MAX_NAME:
        return None
    dated = first - 1 if not person and _is_dated(text, read, first) else first
    if dated == last:
        return _single(text, read, first, opening=opening and first == begins, person=person)
    # "Saint Brannoc's Hospital"
    dedicated = read[first].key in known.PATRONS and read[last].key in known.INSTITUTION_ENDS
    person = person or (
        first < last and read[first].key in known.HONORIFICS and read[first + 1].capital and not dedicated
    )
    ends = last - 1 if _NUMBER.fullmatch(read[last].text) else last  # "Ward 7" is of the type of "Ward"
    implied = type_of(read[first].key, read[max(first, ends - 1)].key, read[ends].key)
    type_ = "person" if person else implied or _owner(read, last)
    return NameSpan(
        start=read[dated].start,
        end=read[last].end,
        type=type_,
        confidence=CERTAIN if type_ else SEVERAL_WORDS,
        pattern="honorific" if person else "capitalised",
        tentative=not type_ and _proves_nothing(read[dated : last + 1]),
    )


def _opening(
    text: str, read: Sequence[_Word], first: int, last: int, people: Container[str], *, opening: bool
) -> tuple[int, int, bool]:
    """Where a run begins with its particles, where its name does, and whether that shows it to be a person's."""
    begins = first
    while first <= last and read[first].key in (known.COMMON if opening and first == begins else known.GRAMMAR):
        if read[first].key in people and read[first].key not in known.GRAMMAR:
            break
        if first < last and (read[first].key in known.HONORIFICS or read[first].key == "new"):  # "New York"
            break
        if first < last and read[first].key in known.GIVEN_WORDS and _is_subject(text, read, first, last):
            return begins, first, True
        first += 1
    particles = first
    while particles == begins and particles and read[particles - 1].key in known.SURNAME_PARTICLES:
        if text[read[particles - 1].full : read[particles].start] != " ":
            break
        particles = begins = particles - 1
    return begins, particles, particles < first


def _is_dated(text: str, read: Sequence[_Word], first: int) -> bool:
    return first > 0 and is_year_of_name(text, read[first - 1].start, read[first - 1].end)


def _is_subject(text: str, read: Sequence[_Word], first: int, last: int) -> bool:
    """Whether a run that begins with a word such as "Mark" is the subject of its sentence: no order, no question."""
    if read[first + 1].key in known.COMMON or not read[first + 1].text[1:].islower():
        return False
    after = read[last].full
    asked = "?" in text[after : read[-1].full + 2]
    return read[last].possessive or (not asked and _VERB.match(text, after) is not None)


def _is_surname(read: Sequence[_Word], first: int, last: int) -> bool:
    """Whether a small word with a capital ends a name: "Minh An"."""
    return last > first and read[last].key in known.SURNAME_WORDS and read[last].text != "I"


def _shouted(written: str) -> bool:
    return len(written) >= _SHOUTED and written.isupper() and written.isalpha()


def _proves_nothing(words: Sequence[_Word]) -> bool:
    """Whether capitalised words are all ordinary ones ("Known Issues"), or shouted ("WORK RENEWED")."""
    ordinary = known.ORDINARY
    return all(word.key in ordinary for word in words) or all(_shouted(word.text) for word in words)


def _single(text: str, read: Sequence[_Word], at: int, *, opening: bool, person: bool) -> NameSpan | None:
    word = read[at]
    written = word.text
    if word.key in known.NOT_ALONE or len(written) < 2 or _PERIOD.fullmatch(written) or _DRAWN_OUT.search(written):  # noqa: PLR2004
        return None
    shaped = written[1:] != written[1:].lower() or any(character.isdigit() for character in written)
    if written.isupper() and not any(character.isdigit() for character in written):
        if len(written) >= _LONG_ACRONYM or word.key in known.COMMON:
            return None
    elif not shaped and word.key.endswith("ing") and opening:
        return None
    followed = text[word.full : word.full + 1]
    type_ = "person" if person else _owner(read, at)
    labelled = followed == ":" and opening
    tentative = opening and not (shaped or type_ or _speaks(read, at) or _with_another(text, read, at))
    tentative = tentative or (not type_ and not written.isupper() and _proves_nothing([word]))
    if labelled and not shaped:
        return None
    return NameSpan(
        start=word.start,
        end=word.end,
        type=type_,
        confidence=TENTATIVE if opening else ONE_WORD,
        pattern="capitalised",
        tentative=tentative,
    )


def _owner(read: Sequence[_Word], at: int) -> str:
    """The type "person" if the next word implies it ("Sarah's team", "Ada laughed"), else ""."""
    if at + 1 >= len(read):
        return ""
    following = read[at + 1].key
    if read[at].possessive:
        return "person" if following in known.OWNED_BY_PEOPLE else ""
    return "person" if _followed(read, at) and following in known.PERSON_VERBS else ""


def _speaks(read: Sequence[_Word], at: int) -> bool:
    """Whether the next word is a verb whose subject is usually named: "Google announced"."""
    return _followed(read, at) and read[at + 1].key in known.NAME_VERBS


def _followed(read: Sequence[_Word], at: int) -> bool:
    return at + 1 < len(read) and read[at + 1].start - read[at].full == 1


def _with_another(text: str, read: Sequence[_Word], at: int) -> bool:
    """Whether "and" and a capitalised word follow: "Ada and Bob"."""
    if at + 2 >= len(read) or read[at + 1].key != "and":
        return False
    other = read[at + 2]
    return other.capital and other.key not in known.COMMON and text[read[at].full : read[at + 1].start] == " "


def type_of(first: str, middle: str, last: str) -> str:
    """The type implied by the first, the second last and the last word of a name, in lower case; "" if none."""
    if (last == "group" and middle in known.GROUP_HEADS) or (middle, last) == ("task", "force"):
        return "team"
    if last in known.ORGANISATION_ENDS or first in {"university", "bank", "ministry", "department", "institute"}:
        return "organisation"
    if last in known.CLUB_ENDS or first == "team":
        return "team"
    if last in known.EVENT_ENDS:
        return "event"
    if last in known.FACILITY_ENDS:
        return "facility"
    if last in known.PLACE_ENDS or first in known.PLACE_STARTS:
        return "place"
    return ""


def _caseless(text: str, start: int, end: int, read: Sequence[_Word]) -> Iterator[NameSpan]:
    """Words of caseless scripts in text of another script: "Sarah works with 李雷"."""
    if text.isascii():
        return
    found = list(_CASELESS.finditer(text, start, end))
    strange = sum(len(match[0]) for match in found)
    if found and 2 * strange < sum(len(word.text) for word in read):
        for match in found:
            if len(match[0]) <= MAX_NAME // 2:
                yield NameSpan(
                    start=match.start(), end=match.end(), type="", confidence=TENTATIVE, pattern="other_script"
                )
