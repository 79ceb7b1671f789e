"""Whether two names are of one entity: equal, one a part of the other, one a misspelling, or in conflict.

All who ask compare by these: ingest, stated facts, questions, and curation.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

import attrs

from graphsearch.names.forms import Form, flat, significant
from graphsearch.names.lexicon import PLACE, flags
from graphsearch.names.slips import LONG_WORD, SHORTEST, light_slip, one_slip, slip
from graphsearch.names.vocabulary import formal_names, is_nickname, nicknames, words
from graphsearch.text.trigrams import SMALL_WORDS, similarity

FEW: Final = 2
"""Maximum number of initials that are too few to identify a name."""
SHORTEST_GIVEN_NAME: Final = 7
"""Least letters of a given name for a `slip`; shorter ones ("Maria", "Marina") allow only a `light_slip`."""
PATRONYMICS: Final = ("son", "sen", "ston", "sson")
"""Ends of surnames that differ by one letter: "Johnson", "Johnston"; "Andersen", "Anderson"."""
ALIKE: Final = 0.85
"""Least `similarity` of the letters of two names that may be one."""
_MOST_NAMES: Final = 4


class Evidence(IntEnum):
    """Why two names may be of one entity, from the weakest."""

    NONE = 0
    ALIKE = 1
    PART = 2
    SAME = 3


def compare(a: Form, b: Form, *, plainly: bool = False) -> Evidence:
    """The strongest evidence that two names are of one entity; ``plainly`` if they are not known to be of one kind."""
    if is_same(a, b):
        return Evidence.SAME
    if is_plain_part(a, b) if plainly else is_part(a, b):
        return Evidence.PART
    return Evidence.ALIKE if is_misspelt(a, b) or _is_similar(a, b) else Evidence.NONE


def is_same(a: Form, b: Form) -> bool:
    """Whether both are spellings of one name."""
    return not a.keys.isdisjoint(b.keys)


def is_part(a: Form, b: Form) -> bool:
    """Whether one is a shorter form of the other, of the same kind: evidence for one entity if nothing else fits.

    A given name, a surname, a nickname, initials; a firm without the word that tells what it is; a tool without its
    maker or version; the end of a path.
    """
    if a.kind != b.kind or a.kind == "exact":
        return False
    if a.kind == "person":
        return _is_part_of_person(a, b)
    if a.kind == "file":
        return _ends_path(a, b)
    return _is_turned(a, b) or _is_head(a, b) or _leaves_out(a, b) or abbreviates(a, b) or abbreviates(b, a)


def is_plain_part(a: Form, b: Form) -> bool:
    """A stricter `is_part`, for names that are not known to be of one kind.

    Nicknames, handles and descriptive words do not count. Of persons, one word equals the other's first or last word,
    or the first and last words are equal; initials of others count in capitals, three of them or, if neither kind is
    known, four.
    """
    if a.kind == "person":
        short, long = sorted((a.words, b.words), key=len)
        if len(long) > _MOST_NAMES or not SMALL_WORDS.isdisjoint(long):
            return False
        ends = (long[0], long[-1])
        return (short[0] in ends if len(short) == 1 else (short[0], short[-1]) == ends) and is_part(a, b)
    if a.kind == "file":
        return is_part(a, b)
    by_words = a.kind == b.kind and (_is_turned(a, b) or _leaves_out(a, b))
    least = FEW + 1 + (not a.kind)
    return by_words or initials_of(a, b, least) or initials_of(b, a, least)


def is_misspelt(a: Form, b: Form) -> bool:
    """Whether one word is a misspelling of the other's, and all else is equal.

    Where one letter makes another given name or surname, only a `light_slip` counts, and in one word of any kind
    nothing unless it is long ("Turin", "Turpin").
    """
    near = a.kind == b.kind and len(a.words) == len(b.words) and abs(len(a.whole) - len(b.whole)) <= 1
    if not near or a.kind in ("file", "exact") or a.numbers != b.numbers:
        return False
    at = one_slip(a.words, b.words)
    if at is None:
        return False
    word, other = a.words[at], b.words[at]
    if a.kind != "person":
        long = max(len(word), len(other)) >= LONG_WORD
        return len(a.words) > 1 or a.kind not in ("", "place") or long
    near = len(word) == len(other) or (word.endswith(PATRONYMICS) and other.endswith(PATRONYMICS))
    if at == 0 and max(len(word), len(other)) < SHORTEST_GIVEN_NAME:
        near = True
    elif at < len(a.words) - 1:
        near = False
    return not a.partial and (not near or light_slip(word, other, in_company=at == 0))


def _is_similar(a: Form, b: Form) -> bool:
    """Whether most letters are the same, and no short word and no number differs; nothing tells that of persons."""
    if a.kind != b.kind or a.kind in ("person", "file", "exact") or len(a.words) != len(b.words):
        return False
    different = set(a.words) ^ set(b.words)
    near = not set(a.words).isdisjoint(b.words) and all(len(word) >= SHORTEST for word in different)
    return near and a.numbers == b.numbers and similarity(a.shown, b.shown) >= ALIKE


def may_be_one(a: Form, b: Form) -> bool:
    """Whether one entity may have both names: nothing speaks against it."""
    if a.kind != b.kind:
        return True
    if a.kind == "file":
        return is_same(a, b) or is_part(a, b)
    if a.kind == "organisation":
        return not (min(a, b, key=lambda form: len(form.words)).mark and is_beginning(a, b))
    if a.kind == "tool":
        return not (a.mark and b.mark) or a.stem != b.stem or a.mark.split(".")[0] == b.mark.split(".")[0]
    if a.kind != "person" or (a.partial and b.partial) or compare(a, b):
        return True
    if any(is_part(x, y) for x in _formally(a) for y in _formally(b)):
        return True
    return a.single and any(slip(a.words[0], word, in_company=True) for word in b.words)


def goes_with(name: Form, other: Form) -> bool:
    """Whether a name fits another of an entity; a partial name, which is short for many, always fits."""
    if name.kind in ("person", "file") or not may_be_one(name, other):
        return may_be_one(name, other)
    return other.partial or (other.kind == "tool" and bool(other.mark)) or compare(name, other) > 0


def abbreviates(short: Form, long: Form) -> bool:
    """Whether a name is another one with words cut to initials: "IBM", "VS Code", "GH Actions"."""
    shorter = FEW < len(short.whole) < len(long.whole) and all(len(word) > 1 for word in long.parts)
    return shorter and _is_cut(short.whole, [(word,) for word in long.parts])


def initials_of(short: Form, long: Form, least: int) -> bool:
    """Whether a name consists of the initials of another in capitals, at least ``least`` of them."""
    return short.in_capitals and len(short.whole) >= least and short.whole in long.initials


def _is_cut(text: str, some: Sequence[Sequence[str]]) -> bool:
    """Whether a text consists of words in order, each in full or as its initial; small words are optional.

    Each word is given as its alternative spellings. There must be at least two words. One with a digit is never cut:
    "Model 3" is no short form of "Model 3s".
    """
    ends = {0}
    for spellings in some:
        optional = spellings[0] in SMALL_WORDS or spellings[0] in words("kept_legal_forms")
        pieces = {*spellings, *(word[0] for word in spellings if not any(map(str.isdecimal, word)))}
        after = {end + len(piece) for end in ends for piece in pieces if text.startswith(piece, end)}
        ends = after | ends if optional else after
        if not ends:
            return False
    return len(some) > 1 and len(text) in ends


# -- things -----------------------------------------------------------------------------------------------------------


def _is_turned(a: Form, b: Form) -> bool:
    """Whether only small words and word order differ: "University of Oxford" and "Oxford University"."""
    return a.kind in ("organisation", "project") and sorted(significant(a.words)) == sorted(significant(b.words))


def is_beginning(a: Form, b: Form) -> bool:
    """Whether the name of one organisation begins with that of the other, which others may have as well."""
    short, long = sorted((a.words, b.words), key=len)
    return a.kind == "organisation" and len(short) < len(long) and long[: len(short)] == short


def _is_head(a: Form, b: Form) -> bool:
    """Whether a firm is called by the first words of its name: "Halden" for "Halden Kliniken".

    Not if the shorter is a whole name, with a legal form, or a place ("Leeds United"), nor if the longer is that
    of a unit: "Halden Finance Team".
    """
    if not is_beginning(a, b) or a.numbers != b.numbers or not may_be_one(a, b):
        return False
    short, long = sorted((a.words, b.words), key=len)
    if flags(" ".join(short)) & PLACE:
        return False
    return long[len(short)] not in SMALL_WORDS and long[-1] not in words("units")


def _leaves_out(a: Form, b: Form) -> bool:
    """Whether one name of a tool lacks the version, the minor version or the maker."""
    if a.kind != "tool":
        return False
    if a.stem == b.stem:
        return bool(a.mark or b.mark) and may_be_one(a, b)
    return _has_maker(a, b) or _has_maker(b, a)


def _has_maker(long: Form, short: Form) -> bool:
    return len(long.words) > 1 and long.words[0] in words("vendors") and "".join(long.words[1:]) in short.keys


def _ends_path(a: Form, b: Form) -> bool:
    """Whether one path ends with the other, ignoring case: with a folder or the end of a file, as any word may be that.

    Names that are common to many folders ("README.md") are none of a path.
    """
    short, long = sorted((tuple(map(str.casefold, form.words)) for form in (a, b)), key=len)
    common = not words("common_files").isdisjoint((short[0], short[0].partition(".")[0]))
    if len(short) == 1 < len(long) and (common or "." not in short[0]):
        return False
    return long[len(long) - len(short) :] == short


# -- persons ----------------------------------------------------------------------------------------------------------


def is_called(a: str, b: str) -> bool:
    """Whether two given names may denote the same person: equal, or a formal name and a nickname of it.

    Two nicknames of one formal name are two people, unless one is short for the other: "Will", "Bill"; "Liz", "Lizzie".
    """
    if a == b or flat(a) == flat(b):
        return True
    if is_nickname(a) and is_nickname(b) and not (a.startswith(b) or b.startswith(a)):
        return False
    return not formal_names().get(a, frozenset({a})).isdisjoint(formal_names().get(b, frozenset({b})))


def _is_part_of_person(a: Form, b: Form) -> bool:
    """Whether one is part of the other: "Priya", "P. Sharma", "@psharma", "Bob" for Robert, no middle names."""
    if a.mark and b.mark and a.mark != b.mark:
        return False
    short, long = (b, a) if b.rank < a.rank else (a, b)
    if short.single:
        return _one_word_fits(short, long.words)
    fewer, more = sorted((short.words, long.words), key=len)
    turned = len(fewer) == len(more) and sorted(fewer) == sorted(more)
    *names, last = short.words
    return turned or _is_within(fewer, more) or (len(last) == 1 and _is_within((last, *names), long.words))


def _one_word_fits(short: Form, long: tuple[str, ...]) -> bool:
    """Whether one word is a given name, nickname, surname or handle ("psharma", "priyas", "bobokafor") of a name."""
    if len(short.words) > 1:  # a compound
        return short.words in (long[: len(short.words)], long[-len(short.words) :])
    word, (given, *others) = short.whole, long
    if len(word) == 1 or not others:
        return len(word) > 1 and is_called(word, given)
    if is_called(word, given) or flat(word) == flat(others[-1]):
        return True
    if len(word) <= FEW or (short.in_capitals and len(word) > FEW + 1):  # capitals are an acronym
        return False
    first = (given, *(name for name in nicknames(given) if is_called(name, given)))
    rest = [(each,) for each in others]
    return _is_cut(word, [first, *rest]) or _is_cut(word, [first, rest[-1]])


def _is_within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether the given names agree and the other words occur in the longer name in order, perhaps as initials.

    After a middle name only later middle names may be missing: George W. Bush is not George H. W. Bush. A surname does
    not match a middle initial: "John Fahey" is not John F. Kennedy.
    """
    (given, *rest), (first, *others) = short, long
    if not (is_called(given, first) or _is_initial(given, first)) or (len(rest) > 1 and not _agree(rest[0], others[0])):
        return False
    spelled_out = len(given) > 1 and len(first) > 1
    at = 0
    for left, word in zip(range(len(rest) - 1, -1, -1), rest, strict=True):
        at = next((end for end in range(at + 1, len(others) + 1) if _agree(word, others[end - 1])), 0)
        if not at or (not left and at < len(others) and len(word) > len(others[at - 1]) == 1):
            return False
        spelled_out = spelled_out or min(len(word), len(others[at - 1])) > 1
    return spelled_out


def _agree(a: str, b: str) -> bool:
    return flat(a) == flat(b) or _is_initial(a, b)


def _is_initial(a: str, b: str) -> bool:
    return min(len(a), len(b)) == 1 and a[0] == b[0]


def _formally(form: Form) -> list[Form]:
    """A form, and the same with each formal given name it may stand for: "E. Warrington" may be Liz."""
    given, *others = form.words
    formal = sorted(formal_names().get(given, ())) if others else ()
    return [form, *(attrs.evolve(form, words=(name, *others)) for name in formal)]
