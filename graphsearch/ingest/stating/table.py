"""The tables of stating: phrases and the types of relations that they state, and closed lists of words."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, Literal

import attrs

from graphsearch.text.word_lists import data_lines

_PACKAGE: Final = "graphsearch.ingest.stating"
Phase = Literal["holds", "opens", "closes", "done", "event"]
KINDS: Final = {"p": "person", "o": "organisation", "g": "group", "l": "place", "t": "thing", "v": "value"}
_NOUNS: Final[Mapping[str, Phase]] = {"is": "holds", "has": "holds", "at": "holds", "begins": "opens", "ends": "closes"}
NO_OBJECT: Final = ("-",)
OBJECT: Final = ("obj",)


@attrs.frozen
class Frame:
    """What a verb or a noun of the table states: a type, the kinds of its ends, a phase, and a direction.

    ``slot`` are the words between a verb and the object, of which the last may be `OBJECT` or `NO_OBJECT`. ``rank`` is
    the line: of frames that fit alike the first applies.
    """

    type: str
    source: str
    target: str
    phase: Phase
    inverse: bool
    rank: int
    slot: tuple[str, ...] = ()


@attrs.frozen
class Table:
    """The frames of verbs, by their first word, and of nouns."""

    verbs: Mapping[str, Sequence[Frame]]
    nouns: Mapping[str, Sequence[Frame]]

    @property
    def types(self) -> frozenset[str]:
        """All types."""
        return frozenset(each.type for each in self.frames)

    @property
    def frames(self) -> Sequence[Frame]:
        """All frames."""
        return [each for frames in (*self.verbs.values(), *self.nouns.values()) for each in frames]


@cache
def table() -> Table:
    """The table of relations."""
    verbs: defaultdict[str, list[Frame]] = defaultdict(list)
    nouns: defaultdict[str, list[Frame]] = defaultdict(list)
    for rank, line in enumerate(data_lines(_PACKAGE, "relations.txt")):
        type_, ends, phase, entries = (part.strip() for part in line.split("|"))
        source, target = (part.strip() for part in ends.split(">"))
        for entry in (each.strip() for each in entries.split(";")):
            if phase in _NOUNS:
                nouns[entry].append(
                    Frame(type_, source, target, _NOUNS[phase], phase == "has", rank, ("at",) if phase == "at" else ())
                )
                continue
            head, *middle, slots = entry.removeprefix("^").split(" ")
            first, *more = (*head.split("_"), *middle)
            for slot in slots.split("/"):
                words = (*more, *slot.split("_"))
                verbs[first].append(Frame(type_, source, target, phase, entry.startswith("^"), rank, words))  # type: ignore[arg-type]
    return Table(dict(verbs), dict(nouns))


@cache
def words(name: str) -> frozenset[str]:
    """A closed list of words."""
    return frozenset(listed(name))


@cache
def listed(name: str) -> tuple[str, ...]:
    """A closed list, in order; its entries may have several words."""
    entries = dict(line.split(": ", 1) for line in data_lines(_PACKAGE, "words.txt"))[name]
    return tuple(each.strip() for each in entries.split(";")) if ";" in entries else tuple(entries.split())


@cache
def grouped(name: str) -> Mapping[str, str]:
    """A closed list of "key=word,word": the key of each word."""
    groups = (each.split("=") for each in listed(name))
    return {word: key for key, members in groups for word in members.split(",")}


def folded(text: str) -> str:
    """A text for comparison: case folded, without accents, straight apostrophes."""
    if text.isascii():  # as most names are, and each is compared with all that are known
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold().replace("’", "'"))
    return "".join(each for each in plain if not unicodedata.combining(each))


def places(form: str, text: str) -> list[tuple[int, int]]:
    """Where a form stands in a text as a word, or as words."""
    found, at = [], text.find(form) if form else -1
    while at >= 0:
        end = at + len(form)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            found.append((at, end))
        at = text.find(form, at + 1)
    return found


_WORD: Final = re.compile(r"[\w&']+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def tokens(phrase: str) -> list[str]:
    """The words of a phrase, folded; of one in camelCase, snake_case or with hyphens too."""
    spaced = _CAMEL.sub(" ", phrase) if " " not in phrase.strip() else phrase
    return _WORD.findall(folded(spaced).replace("'s ", " 's ").replace("@", " at ").replace("_", " "))


_ENDINGS: Final = (("ies", ("y",)), ("ied", ("y",)), ("es", ("",)), ("s", ("",)), ("ed", ("", "e")), ("ing", ("", "e")))
_SHORTEST: Final = 2
_DOUBLED: Final = 3


@lru_cache(maxsize=1 << 14)
def bases(word: str) -> frozenset[str]:
    """The verbs of which a word may be a form, itself among them."""
    irregular = grouped("irregular").get(word)
    if irregular:
        return frozenset({irregular})
    found = {word}
    for ending, replacements in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < _SHORTEST:
            continue
        found |= {stem + each for each in replacements}
        if len(stem) > _DOUBLED and stem[-1] == stem[-2]:
            found.add(stem[:-1])
    return frozenset(found)
