"""Normalised forms of names, by which names are compared, and typing errors in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

import attrs

from graphsearch.names.vocabulary import KEPT_LEGAL_FORMS
from graphsearch.text.trigrams import MAX_NAME_WORDS, SMALL_WORDS, spoken_words

SHORTEST: Final = 5
"""Least letters of the longer word: in shorter ones, one letter makes another word ("Jon", "John")."""
SHORTEST_FOR_A_LETTER: Final = 6
SHORTEST_FOR_A_VOWEL: Final = 8

_VOWELS: Final = frozenset("aeiouy")


def light_slip(a: str, b: str, *, in_company: bool = False) -> bool:
    """Whether two neighbouring letters are swapped ("Phoenix", "Pheonix") or a letter is doubled.

    ``in_company``: the other words of the names are equal, so that four letters suffice to recognise a swap.
    """
    short, long = sorted((a, b), key=len)
    if len(long) < SHORTEST - in_company or short == long:
        return False
    at = _first_difference(short, long)
    if len(short) == len(long):
        return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return len(long) >= SHORTEST and short[at:] == long[at + 1 :] and long[at] == long[at - 1] and at > 0


def slip(a: str, b: str, *, in_company: bool = False) -> bool:
    """A `light_slip`, "ph" for "f", or, within a long word, a missing letter or a wrong vowel.

    The first and the last letter must be equal: they are rarely mistyped, and often make another word ("Mario",
    "Maria").
    """
    if light_slip(a, b, in_company=in_company):
        return True
    short, long = sorted((a, b), key=len)
    if short == long or len(long) < SHORTEST_FOR_A_LETTER or len(long) - len(short) > 1:
        return False
    if short.replace("ph", "f") == long.replace("ph", "f"):
        return True
    at = _first_difference(short, long)
    if not 0 < at < len(long) - 1:
        return False
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    misheard = short[at] in _VOWELS and long[at] in _VOWELS
    return len(long) >= SHORTEST_FOR_A_VOWEL - in_company and misheard and short[at + 1 :] == long[at + 1 :]


def respelt(word: str) -> Iterator[str]:
    """Spellings that a word may be a slip of: letters swapped, a letter less, a letter doubled, "f" for "ph"."""
    if len(word) >= SHORTEST:
        yield from {word.replace("ph", "f"), word.replace("f", "ph")} - {word}
    if len(word) >= SHORTEST - 1:
        for at in range(1, len(word)):
            yield word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
        for at in range(1, len(word) + 1):
            yield word[: at - 1] + word[at:]
            yield word[:at] + word[at - 1 :]


_UMLAUTS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe"}
)
_TRANSCRIBED: Final = re.compile(r"([aou])e")


def transcribed(text: str) -> str:
    """A text with umlauts as two letters: "Zuerich" for "Zürich"."""
    return text.translate(_UMLAUTS)


def without_umlauts(word: str) -> str:
    """One spelling of a folded word for both transcriptions: "muller" for "mueller" and "muller"."""
    return _TRANSCRIBED.sub(r"\1", word)


def _first_difference(short: str, long: str) -> int:
    return next((at for at, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))


# -- forms ------------------------------------------------------------------------------------------------------------

FEW: Final = 2
"""Maximum number of initials that are too few to identify a name."""

_NUMBERS: Final = re.compile(r"\d+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_AROUND: Final = " \"'`“”„«»‘’,;:!?"
_POSSESSIVE: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]")
_DASHES: Final = re.compile("[\u2010-\u2015\u2212]")


@attrs.frozen(kw_only=True)
class Form:
    """A name parsed as the name of one type of entity.

    * ``shown``: the name without quotes, titles and the like; the name of a new entity.
    * ``keys``: its normal forms. Names that share one are equal.
    * ``words``: its folded words; ``parts``: the same with camelCase split, for its initials.
    * ``numbers``: its runs of digits. Names with different numbers denote different entities.
    * ``abbreviated``: whether it may be an abbreviation: in capitals, or longer than two letters.
    """

    shown: str
    keys: frozenset[str]
    words: tuple[str, ...]
    parts: tuple[str, ...]
    numbers: tuple[str, ...]
    abbreviated: bool

    @cached_property
    def whole(self) -> str:
        """Its words as one."""
        return squashed(self.words)

    @cached_property
    def in_capitals(self) -> bool:
        """Whether it is written without lower-case letters, as initials are."""
        return in_capitals(self.shown)

    @cached_property
    def initials(self) -> frozenset[str]:
        """The initials that may stand for it, with and without small words and legal forms."""
        without_law = tuple(word for word in self.parts if word not in KEPT_LEGAL_FORMS)
        return frozenset(
            squashed(word[0] for word in words) for words in (self.parts, significant(self.parts), without_law)
        )

    @cached_property
    def short_words(self) -> tuple[int, frozenset[str]]:
        """The number of its words, and those in which no slip is recognised.

        Names that misspell or resemble one another have both in common.
        """
        return len(self.words), frozenset(word for word in self.words if len(word) < SHORTEST - 1)

    @cached_property
    def sorted_words(self) -> tuple[str, ...]:
        """Its significant words in alphabetical order."""
        return tuple(sorted(significant(self.words)))

    @property
    def partial(self) -> bool:
        """Whether it may be part of a longer name: one word, or only initials."""
        return len(self.words) == 1 or all(len(word) == 1 for word in self.words)

    @property
    def rank(self) -> int:
        """How specific it is: the most specific names of a batch are resolved first."""
        return len(self.words)

    def same(self, other: Form) -> bool:
        """Whether both are spellings of one name."""
        return not self.keys.isdisjoint(other.keys)

    def fits(self, other: Form) -> bool:
        """Whether one is a shorter form of the other: evidence for a match if nothing else fits."""
        return abbreviates(self, other) or abbreviates(other, self)

    def plainly_fits(self, other: Form, initials: int) -> bool:
        """A stricter `fits`, for names that are not known to have the same type.

        Initials count if they are in capitals, and there are at least ``initials`` of them.
        """
        return initials_of(self, other, initials) or initials_of(other, self, initials)

    def agrees(self, other: Form) -> bool | None:  # noqa: ARG002 - subclasses compare
        """Whether both can denote the same entity; None if they are not specific enough to decide."""
        return None

    def turned(self, other: Form) -> bool:
        """Whether only small words and word order differ: "University of Oxford" and "Oxford University"."""
        return self.sorted_words == other.sorted_words

    def goes_with(self, other: Form) -> bool:
        """Whether it fits a name of an entity; a partial name, which is short for many, always fits."""
        return other.partial or self.fits(other) or self.misspells(other)

    def misspells(self, other: Form) -> bool:
        """Whether one word is a misspelling of the other's, and all else is equal."""
        return self.numbers == other.numbers and one_slip(self.words, other.words) is not None

    def resembles(self, other: Form) -> bool:
        """Whether trigram similarity may be evidence: the names differ in no short word and in no number."""
        different = set(self.words) ^ set(other.words)
        same_length = len(self.words) == len(other.words)
        return same_length and self.numbers == other.numbers and all(len(word) >= SHORTEST for word in different)

    def lookups(self) -> tuple[str, ...]:
        """Words by which matching names are found in the index of `name_words`; "vscode" for "Visual Studio Code"."""
        initials = (squashed(word[0] for word in words) for words in (self.parts, significant(self.parts)))
        parts = self.parts[:MAX_NAME_WORDS]
        cut = (squashed((*(word[0] for word in parts[:at]), *parts[at:])) for at in range(1, len(parts)))
        found = (*self.words, squashed(self.words), *initials, *cut)
        return tuple(dict.fromkeys(word for word in found if len(word) > 1 and word not in SMALL_WORDS))


@lru_cache(maxsize=1 << 14)
def tidy(name: str) -> str:
    """Clean a name: NFKC, whitespace collapsed, without quotes, possessive and closing punctuation."""
    text = _DASHES.sub("-", _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)))
    text = " ".join(text.split())
    while (bare := _POSSESSIVE.sub("", text.strip(_AROUND))) not in {"", text}:
        text = bare
    return text or " ".join(name.split())


def numbers_in(words: Iterable[str]) -> tuple[str, ...]:
    """The runs of digits in words, without leading zeros, in order."""
    return tuple(run.lstrip("0") or "0" for run in _NUMBERS.findall(" ".join(words)))


def squashed(words: Iterable[str]) -> str:
    """Join words, so that "Open AI" and "OpenAI", "scikit-learn" and "scikit learn" are equal."""
    return "".join(words)


def significant(words: Sequence[str]) -> tuple[str, ...]:
    """The words that contribute to initials."""
    return tuple(word for word in words if word not in SMALL_WORDS) or tuple(words)


def in_capitals(text: str) -> bool:
    """Whether a text has no lower-case letter: "IBM", "P&G", but not "Go"."""
    return text.upper() == text


def plain_form(name: str, *, shown: str = "", words: Sequence[str] = ()) -> Form:
    """The form of a name of any type; ``shown`` and ``words`` are computed unless given."""
    return Form(**plain_fields(name, shown=shown, words=words))


def plain_fields(
    name: str, *, shown: str = "", words: Sequence[str] = (), keys: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The fields of the form of a name of any type; ``shown``, ``words`` and ``keys`` are computed unless given."""
    shown = shown or tidy(name)
    words = tuple(words) or without_the(spoken_words(shown)) or (shown,)
    whole = squashed(words)
    return {
        "shown": shown,
        "keys": keys or frozenset({whole}),
        "words": words,
        "parts": without_the(spoken_words(_CAMEL.sub(" ", shown.replace("&", " and ")))) or words,
        "numbers": numbers_in(words),
        "abbreviated": in_capitals(shown) or len(whole) > 2,  # noqa: PLR2004 - "Go" is no initials
    }


def verbatim_form(name: str) -> Form:
    """The form of a name that is compared exactly, a call of a function like its name: code, addresses, dates."""
    written = " ".join(unicodedata.normalize("NFKC", name).split())
    text = written.removesuffix("()") or written
    return Form(shown=text, keys=frozenset({text}), words=(text,), parts=(text,), numbers=(text,), abbreviated=False)


def without_the(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words without a leading "the"."""
    return words[1:] if len(words) > 1 and words[0] == "the" else words


def abbreviates(short: Form, long: Form) -> bool:
    """Whether a name is another one with words cut to initials: "IBM", "VS Code", "GH Actions"."""
    return (
        short.abbreviated
        and FEW < len(short.whole) < len(long.whole)
        and cut_to_initials(short.whole, [(word,) for word in long.parts])
    )


def initials_of(short: Form, long: Form, least: int) -> bool:
    """Whether a name consists of the initials of another in capitals, at least ``least`` of them."""
    return short.in_capitals and len(short.whole) >= least and short.whole in long.initials


def cut_to_initials(text: str, words: Sequence[Sequence[str]]) -> bool:
    """Whether a text consists of the words in order, each in full or as its initial; small words are optional.

    Each word is given as its alternative spellings. There must be at least two words. One with a digit is never cut:
    "Model 3" is no short form of "Model 3s".
    """
    if len(words) < 2:  # noqa: PLR2004 - one word has no initials
        return False
    ends = {0}
    for alternatives in words:
        optional = alternatives[0] in SMALL_WORDS or alternatives[0] in KEPT_LEGAL_FORMS
        pieces = {piece for word in alternatives for piece in ((word,) if numbers_in([word]) else (word, word[0]))}
        ends = {end + len(piece) for end in ends for piece in pieces if text.startswith(piece, end)} | (
            ends if optional else set()
        )
    return len(text) in ends


def one_slip(a: Sequence[str], b: Sequence[str]) -> int | None:
    """The index of the only word that differs, if it is a misspelling of the other one; else None."""
    if len(a) != len(b):
        return None
    different = [at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    if len(different) != 1:
        return None
    (at,) = different
    return at if slip(a[at], b[at], in_company=len(a) > 1) else None
