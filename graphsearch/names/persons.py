"""Names of persons: titles, degrees, initials, nicknames, handles and the order of given name and surname."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import attrs

from graphsearch.names.forms import (
    FEW,
    Form,
    cut_to_initials,
    light_slip,
    numbers_in,
    one_slip,
    slip,
    squashed,
    tidy,
    transcribed,
    without_umlauts,
)
from graphsearch.names.given_names import formal_names, names_of
from graphsearch.names.vocabulary import (
    DEGREES,
    FACULTIES,
    GENERATIONS,
    HONORIFIC_SUFFIXES,
    NOBLE_TITLES,
    PARTICLES,
    PATRONYMICS,
    SHORTENED_NAMES,
    TITLES,
)
from graphsearch.text.trigrams import SMALL_WORDS, spoken_words

_ASIDE: Final = re.compile(r"""(?<!\s)\s*+[(\[<"“][^)\]>"”]*+(?:(?P<closed>[)\]>"”])\s*+|\Z)""")
_EMAIL: Final = re.compile(r"([\w.+-]+)@[\w-]+(?:\.[\w-]+)+")
_HANDLE_BREAK: Final = re.compile(r"[._+-]+")
_HONORIFIC: Final = re.compile(rf"-(?:{'|'.join(sorted(HONORIFIC_SUFFIXES))})$", re.IGNORECASE)
_ABBREVIATED: Final = DEGREES | {title for title in TITLES if len(title) > 2}  # noqa: PLR2004 - "D. R." are initials
_SKI: Final = re.compile(r"(?<=sk)(?:y|iy|ii|yi|ij|yj)$")
_NUMBERED: Final = re.compile(r"(?<=[^\W\d_]{3})[\W_]?\d+$")
_MOST_INITIALS: Final = 3
_MOST_NAMES: Final = 4
_WRITTEN: Final = {"jr": "Jr.", "sr": "Sr."}
_TWO: Final = 2
_LEAST_ABBREVIATION: Final = 3
"""Least letters of an abbreviation that is a title: shorter ones are initials ("Yu. Gagarin", "Ch. Dupont")."""
SHORTEST_GIVEN_NAME: Final = 7
"""Least letters of a given name for a `slip`; shorter ones ("Maria", "Marina") allow only a `light_slip`."""


@attrs.frozen(kw_only=True)
class PersonForm(Form):
    """A person's name: given names first, without particles ("van", "de").

    ``generation`` is "jr", "sr", …, or empty if not given. ``single``: it is one word, perhaps a compound, and so a
    given name, a surname or a handle.
    """

    generation: str
    single: bool

    @property
    def partial(self) -> bool:
        """Whether the given name or the surname is missing or an initial."""
        return self.single or self._full_words < _TWO

    @property
    def rank(self) -> int:
        """Specificity: full words count more than initials, and given names more than nicknames."""
        return 1 if self.single else 3 * self._full_words + len(self.words) - is_nickname(self.words[0])

    @property
    def _full_words(self) -> int:
        return sum(len(word) > 1 for word in self.words)

    def fits(self, other: Form) -> bool:
        """Whether one is part of the other: "Priya", "P. Sharma", "@psharma", "Bob" for Robert, no middle names."""
        if not isinstance(other, PersonForm) or len({self.generation, other.generation} - {""}) > 1:
            return False
        short, long = sorted((self, other), key=lambda form: form.rank)
        if short.single:
            return _one_word_fits(short.words, long.words)
        fewer, more = sorted((short.words, long.words), key=len)
        return _within(fewer, more) or _turned(short.words, long.words)

    def plainly_fits(self, other: Form, initials: int) -> bool:  # noqa: ARG002 - persons' initials tell too little
        """A stricter `fits`: one word equals the other's first or last word, or the first and last words are equal.

        Nicknames, handles and initials do not count, as the name may be that of a thing.
        """
        if not isinstance(other, PersonForm) or not self.fits(other):
            return False
        short, long = sorted((self.words, other.words), key=len)
        if len(long) > _MOST_NAMES or not SMALL_WORDS.isdisjoint(long):
            return False
        ends = {long[0], long[-1]}
        return short[0] in ends if len(short) == 1 else short[0] == long[0] and short[-1] == long[-1]

    def agrees(self, other: Form) -> bool | None:
        """Whether one person may have both names; None if one is too unspecific to decide."""
        if not isinstance(other, PersonForm) or (self.partial and other.partial):
            return None
        may_be = (
            self.same(other)
            or self.misspells(other)
            or any(mine.fits(theirs) for mine in _formally(self) for theirs in _formally(other))
            or (self.single and any(slip(self.words[0], word, in_company=True) for word in other.words))
        )
        return None if may_be and (self.partial or other.partial) else may_be

    def goes_with(self, other: Form) -> bool:
        """Whether one person may have both."""
        return self.agrees(other) is not False

    def misspells(self, other: Form) -> bool:
        """Whether one word is a misspelling. Where one letter makes another surname, only a `light_slip` counts."""
        at = one_slip(self.words, other.words)
        if at is None or self.partial:
            return False
        word, meant = self.words[at], other.words[at]
        if (
            at == 0
            and max(len(word), len(meant)) < SHORTEST_GIVEN_NAME
            and not light_slip(word, meant, in_company=True)
        ):
            return False
        surname = at == len(self.words) - 1
        near_another = len(word) == len(meant) or any(each.endswith(PATRONYMICS) for each in (word, meant))
        return not (surname and near_another) or light_slip(word, meant)

    def resembles(self, other: Form) -> bool:
        """As `misspells`: trigram similarity is little evidence for persons."""
        return self.misspells(other)

    def lookups(self) -> tuple[str, ...]:
        """Its words, with umlauts in either spelling, the long forms of a nickname, and the parts of a handle."""
        given = self.words[0]
        called = {name for formal in formal_names().get(given, ()) for name in names_of()[formal]}
        handle = (given[1:], given[:-1]) if self.single else ()
        written = spoken_words(transcribed(self.shown))
        found = (*self.words, *map(_flat, self.words), *written, squashed(self.words), *sorted(called), *handle)
        return tuple(dict.fromkeys(word for word in found if len(word) > 1 and word not in PARTICLES))


def person_form(name: str) -> PersonForm:
    """Parse a name as a person's: turn "Sharma, Priya", remove titles, degrees and asides such as "(she/her)"."""
    tokens, generation = _bare(_in_order(_unhandled(tidy(name))))
    named = " ".join(tokens)
    every = spoken_words(" ".join((*_initials_apart(tokens[0], tokens[1:]), *tokens[1:]))) or (named,)
    words = _without_particles(every, tokens)
    return PersonForm(
        shown=f"{named} {_WRITTEN.get(generation, generation.upper())}".strip(),
        keys=frozenset(f"{_flat(squashed(each))} {generation}".strip() for each in (every, words)),
        words=words,
        parts=words,
        numbers=numbers_in(words),
        abbreviated=False,
        generation=generation,
        single=len(words) == 1 or len(tokens) == 1,
    )


def _without_particles(words: tuple[str, ...], tokens: Sequence[str]) -> tuple[str, ...]:
    """Drop particles; a first word is one only if in lower case or followed by another: Al Gore's name is Al."""
    particles = 0
    while particles < len(words) - 1 and words[particles] in PARTICLES:
        particles += 1
    small = tokens[0].islower() and words[0] not in formal_names()
    first, *others = words[particles if particles > 1 or small else 0 :]
    return (first, *(word for word in others if word not in PARTICLES))


def _initials_apart(first: str, others: Sequence[str]) -> tuple[str, ...]:
    """The letters of initials such as "JP" in "JP Dubois": a first word in capitals before words that are not."""
    capitals = first.isalpha() and first.isupper() and 1 < len(first) <= _MOST_INITIALS
    return tuple(first) if capitals and any(word.upper() != word for word in others) else (first,)


def _flat(word: str) -> str:
    """Fold both transcriptions of umlauts ("Mueller", "Muller") and the spellings of "-sky"."""
    return _SKI.sub("i", without_umlauts(word))


def _unhandled(text: str) -> str:
    """The name in "@priya_sharma" or "priya.sharma@example.com", without the number of "@psharma42"."""
    email = _EMAIL.fullmatch(text)
    if email or text.startswith("@"):
        return _HANDLE_BREAK.sub(" ", _NUMBERED.sub("", email[1] if email else text)).strip("@ ") or text
    return text


def _in_order(text: str) -> str:
    """Remove asides, move a surname before a comma to the end, drop what follows a full name, such as an office."""
    text = _ASIDE.sub(lambda match: " " if match["closed"] else match[0], text).strip() or text
    first, *rest = (part.strip() for part in text.split(","))
    names = [part for part in rest if part and not _all_in(part, DEGREES | GENERATIONS)]
    generation = [part for part in rest if part and _all_in(part, GENERATIONS)]
    surname = len([word for word in spoken_words(first.replace("-", "")) if word not in PARTICLES]) == 1
    given = names[:1] if surname else []
    return " ".join(part for part in (*given, first, *generation) if part) or text


def _bare(text: str) -> tuple[list[str], str]:
    """The words of a name as written, without titles and degrees, and the generation."""
    tokens = [_HONORIFIC.sub("", token) for token in re.sub(r"(?<=[^\W\d]\.)(?=[^\W\d])", " ", text).split()]
    tokens = _joined_initials([token for token in tokens if token] or [text])
    titled = False
    while len(tokens) > 1 and _is_title(tokens, titled=titled):
        titled, tokens = True, tokens[1:]
    generation = ""
    while len(tokens) > 1 and _plain(tokens[-1]) in DEGREES | GENERATIONS:
        generation = _plain(tokens[-1]) if _plain(tokens[-1]) in GENERATIONS else generation
        tokens = tokens[:-1]
    return tokens, {"junior": "jr", "senior": "sr"}.get(generation, generation)


def _is_title(tokens: Sequence[str], *, titled: bool) -> bool:
    """Whether the first word is a title, known or by its form; ``titled``: after another title.

    By its form an abbreviation of three letters or more is one ("Avv.", "JUDr."), and so is a word in lower case before
    names that are not ("nurse Agnes Moor"), where a given name and a surname follow; a word before a title is a part of
    that: "Staff Sergeant", "Univ.-Prof. Dr.".
    """
    first, following = _plain(tokens[0]), len(tokens) - 1
    if first in TITLES or (titled and (first in FACULTIES or (tokens[0].islower() and tokens[0].endswith(".")))):
        return True
    if _is_monsieur(tokens) or (first == "the" and _plain(tokens[1]) in TITLES):
        return True
    if first in formal_names() or first in SHORTENED_NAMES or first in PARTICLES:
        return False
    if tokens[0].endswith(".") and len(first) >= _LEAST_ABBREVIATION - titled:
        return titled or following >= _TWO
    if following < _TWO or not first:
        return False
    small = tokens[0].islower() and len(first) > 1 and all(each[0].isupper() for each in tokens[1:3])
    return small or first in NOBLE_TITLES or (following > _TWO and _plain(tokens[1]) in TITLES)


def _is_monsieur(tokens: Sequence[str]) -> bool:
    """Whether "M." stands for Monsieur: a given name and a surname follow."""
    return tokens[0] == "M." and len(tokens) > _TWO and len(_plain(tokens[1])) > 1


def _joined_initials(tokens: Sequence[str]) -> list[str]:
    """Join abbreviations of titles and degrees that were split at a dot: "Ph. D.", "Sig. ra"."""
    found: list[str] = []
    for token in tokens:
        if found and found[-1].endswith(".") and _plain(found[-1] + token) in _ABBREVIATED:
            found[-1] += token
        else:
            found.append(token)
    return found


def _plain(token: str) -> str:
    return squashed(spoken_words(token))


def _all_in(text: str, words: frozenset[str]) -> bool:
    return all(_plain(token) in words for token in text.split())


# -- parts of names -----------------------------------------------------------------------------------------------


def _called(a: str, b: str) -> bool:
    """Whether two given names may denote the same person: equal, or a formal name and a nickname of it.

    Two nicknames of one formal name are two people, unless one is short for the other: "Will", "Bill"; "Liz", "Lizzie".
    """
    if _flat(a) == _flat(b):
        return True
    if is_nickname(a) and is_nickname(b) and not (a.startswith(b) or b.startswith(a)):
        return False
    return not (formal_names().get(a, frozenset()) | {a}).isdisjoint(formal_names().get(b, frozenset()) | {b})


def is_nickname(given: str) -> bool:
    """Whether a folded given name is only a short form of others."""
    return given in formal_names() and given not in formal_names()[given]


def _formally(form: PersonForm) -> list[PersonForm]:
    """A form, and the same with each formal given name it may stand for: "E. Warrington" may be Liz."""
    given, *others = form.words
    formal = sorted(formal_names().get(given, ())) if others else ()
    return [form, *(attrs.evolve(form, words=(name, *others)) for name in formal)]


def _initial(a: str, b: str) -> bool:
    return min(len(a), len(b)) == 1 and a[0] == b[0]


def _one_word_fits(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether one word is a given name, nickname, surname or handle ("psharma", "priyas", "bobokafor") of a name."""
    if len(short) > 1:  # a compound
        return short in (long[: len(short)], long[-len(short) :])
    word = squashed(short)
    given, *others = long
    if len(word) == 1 or not others:
        return len(word) > 1 and _called(word, given)
    names = {name for formal in formal_names().get(given, ()) for name in names_of()[formal] if _called(name, given)}
    first, *rest = [(given, *sorted(names)), *((each,) for each in others)]
    handle = cut_to_initials(word, [first, *rest]) or cut_to_initials(word, [first, rest[-1]])
    return _called(word, given) or _flat(word) == _flat(others[-1]) or (len(word) > FEW and handle)


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether the given names agree and the other words occur in the longer name in order, perhaps as initials.

    After a middle name only later middle names may be missing: George W. Bush is not George H. W. Bush. A surname does
    not match a middle initial: "John Fahey" is not John F. Kennedy.
    """
    given, *rest = short
    first, *others = long
    if not (_called(given, first) or _initial(given, first)):
        return False
    if len(rest) > 1 and not _agree(rest[0], others[0]):
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
    return _flat(a) == _flat(b) or _initial(a, b)


def _turned(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether one name has the surname first, without a comma: "Sharma Priya", "Sharma P."."""
    *names, last = a
    return (len(a) == len(b) and sorted(a) == sorted(b)) or (len(last) == 1 and _within((last, *names), b))
