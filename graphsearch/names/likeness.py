"""Which entities may be one, by their names: what somebody should look at, not what an ingest may merge.

Resolution merges what it is sure of. Here one piece of evidence is enough: what `comparing` finds, spellings that sound
alike, and a part of a name that fits one fuller name alone. Code, dates and the like have exact names and are never
compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import combinations, product
from types import MappingProxyType
from typing import Final, Generic, TypeVar

import attrs

from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.names.candidate_index import MAX_COMPARED, MAX_FOUND
from graphsearch.names.comparing import PATRONYMICS, is_beginning, is_called, is_part, is_plain_part, is_same
from graphsearch.names.forms import Form, singular
from graphsearch.names.slips import slip
from graphsearch.names.typed_names import form_lookups, known_type, read, shared_type
from graphsearch.text.trigrams import SMALL_WORDS

EXACT_TYPES: Final = CASE_SENSITIVE_TYPES | {"document", "date", "quantity"}
"""Types whose names are exact, so that similar ones are different: code, files, addresses, dates."""


class Likeness(StrEnum):
    """Why two entities may be one."""

    SIMILAR = "similar"
    """Most letters of the names are the same."""
    NAME = "name"
    """One name, in two notations: "Acme, Inc." and "ACME"."""
    SPELLING = "spelling"
    """Spellings that sound alike: "Jon Smith" and "John Smith"."""
    SHORT_FORM = "short_form"
    """A nickname, initials, a word less: "Lizzie Bennet" and "Elizabeth Bennet"."""
    PART = "part"
    """A part of a name that fits no other fuller name: "Dmitri" and "Dmitri Volkov"."""
    TYPE = "type"
    """The same name, of two types."""


SCORES: Final = MappingProxyType(
    {
        Likeness.NAME: 1.0,
        Likeness.SPELLING: 0.9,
        Likeness.SHORT_FORM: 0.88,
        Likeness.PART: 0.88,
        Likeness.TYPE: 0.87,
    }
)
"""How alike two names are for each reason, on the scale of the similarity of names."""

Id = TypeVar("Id", bound=Hashable)


@attrs.frozen(eq=False)
class Named(Generic[Id]):
    """An entity by its names, the primary one first, and its type."""

    id: Id
    type: str
    names: Sequence[str]


@attrs.frozen
class Alike(Generic[Id]):
    """Two entities that may be one; ``score`` in (0.85, 1], higher is more certain."""

    one: Id
    other: Id
    score: float
    likeness: Likeness


@attrs.frozen
class Findings(Generic[Id]):
    """The pairs that may be one, and the entities with a part of a name that fits several, with these, by id."""

    pairs: tuple[Alike[Id], ...]
    ambiguous: tuple[Id, ...]
    candidates: Mapping[Id, tuple[Id, ...]] = attrs.field(factory=dict, eq=False)


def is_comparable(type_: str) -> bool:
    """Whether entities of a type are compared by their names."""
    return type_ not in EXACT_TYPES


def alike(entities: Iterable[Named[Id]], distinct: Collection[frozenset[Id]] = ()) -> Findings[Id]:
    """Compare entities by their names. ``distinct`` are pairs that are known to be two.

    Whole names are compared with each other first. A part of a name belongs to the entities whose fuller names it fits:
    if these may all be one, it is paired with the most specific of them; otherwise that of a person is ambiguous.
    """
    readings = [_Reading(each) for each in entities if is_comparable(each.type)]
    found: dict[frozenset[Id], Alike[Id]] = {}
    parts: dict[int, list[_Reading[Id]]] = defaultdict(list)
    for pair in _candidates(readings):
        one, other = (readings[place] for place in pair)
        if (ids := frozenset((one.id, other.id))) in distinct:
            continue
        turns = [(place, each, whole) for place, each, whole in zip(pair, (one, other), (other, one), strict=True)]
        called = [turn for turn in turns if _is_called(*turn[1:])][:1]
        judged = None if called else _compare(one, other)
        if judged:
            found[ids] = Alike(one.id, other.id, SCORES[judged], judged)
        for place, _, whole in called or [turn for turn in turns if not judged and _is_part(*turn[1:])]:
            parts[place].append(whole)
    groups = _Groups(found)
    ambiguous: dict[Id, tuple[Id, ...]] = {}
    for part, wholes in sorted(((readings[at], some) for at, some in parts.items()), key=lambda each: -each[0].rank):
        if len({groups.root(each.id) for each in wholes}) > 1:
            if any(each.type in _PERSONS for each in (part, *wholes)):
                ambiguous[part.id] = tuple(each.id for each in wholes)
        elif groups.root(wholes[0].id) != groups.root(part.id):
            best = max(wholes, key=lambda each: (each.rank, each.name))
            found[frozenset((part.id, best.id))] = Alike(part.id, best.id, SCORES[Likeness.PART], Likeness.PART)
            groups.join(part.id, best.id)
    return Findings(tuple(found.values()), tuple(ambiguous), ambiguous)


_GUESSES: Final = ("", "project", "person")
"""Types by which names are compared if none is known."""
_PERSONS: Final = frozenset({"person", "people"})
_FULL: Final = 2
"""Words of a whole name of a person."""

# -- which entities are compared -----------------------------------------------------------------------------------


class _Reading(Generic[Id]):
    """An entity with its names parsed by types."""

    def __init__(self, named: Named[Id]) -> None:
        self.id = named.id
        self.name = named.names[0]
        self.names = named.names[:MAX_COMPARED]
        self.type = known_type(named.type)
        self.rank = max(form.rank for form in self.forms(self.type))
        self.is_whole = not all(form.partial for form in self.forms("person"))
        self.single = all(" " not in name for name in self.names)

    def forms(self, kind: str) -> list[Form]:
        """The names parsed by a type."""
        return [read(name, kind) for name in self.names]

    @property
    def keys(self) -> tuple[str, ...]:
        """What alike names have in common, one of them at least."""
        return tuple(dict.fromkeys(key for name in self.names for key in _keys(name, self.type)))


@lru_cache(maxsize=1 << 15)
def _keys(name: str, kind: str) -> tuple[str, ...]:
    """The keys of a name, as it is parsed by its type; the first letter is the sort of key. Most names come again."""
    return tuple(dict.fromkeys(_each_key(name, kind)))


def _each_key(name: str, kind: str) -> Iterator[str]:
    form, plain = read(name, kind), read(name, "")
    for guess in (kind, "") if kind else _GUESSES:
        yield from (f"={key}" for key in read(name, guess).keys)
    yield f"={singular(plain.whole)}"
    if form.kind == "person":
        yield from (f"-{word}" for word in form_lookups(form))
    else:
        yield from (f"={singular(form.whole)}", f"s{_sound(singular(form.whole))}")
        yield from (f"i{word}" for word in ({form.whole} if len(form.words) == 1 else form.initials))
    if form.kind == "person" or not kind:
        yield f"~{_sound(form.words[-1])}"
        yield from (f"-{word}" for word in form.words if len(form.words) <= _FULL)
    if form.kind in ("organisation", "tool"):
        yield f"+{form.words[0]}"


def _candidates(readings: Sequence[_Reading[Id]]) -> Iterator[tuple[int, int]]:
    """The pairs that share a key which few entities have."""
    sharing: defaultdict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        for key in reading.keys:
            sharing[key].append(place)
    yield from dict.fromkeys(
        pair for places in sharing.values() if 1 < len(places) <= MAX_FOUND for pair in combinations(places, 2)
    )


class _Groups(Generic[Id]):
    """Entities that may be one, joined by pairs."""

    def __init__(self, pairs: Iterable[Collection[Id]]) -> None:
        self._above: dict[Id, Id] = {}
        for one, other in pairs:
            self.join(one, other)

    def root(self, id_: Id) -> Id:
        """The representative of an entity's group."""
        while (above := self._above.get(id_, id_)) != id_:
            id_ = above
        return id_

    def join(self, one: Id, other: Id) -> None:
        """Make two groups one."""
        if (root := self.root(one)) != (end := self.root(other)):
            self._above[root] = end


# -- how two entities are compared ---------------------------------------------------------------------------------


def _compare(one: _Reading[Id], other: _Reading[Id]) -> Likeness | None:
    """The strongest reason why two entities may be one; None if there is none, or the name of one is a part."""
    kind = _kind(one.type, other.type)
    if kind is None:
        return Likeness.TYPE if is_same(read(one.name, ""), read(other.name, "")) else None
    guesses = (kind,) if kind in _PERSONS else (kind, "") if kind else _GUESSES
    namesakes = kind in _PERSONS and one.is_whole and other.is_whole  # two people may be called "Anna"
    found = [
        judged
        for guess in guesses
        for a, b in product(one.forms(guess), other.forms(guess))
        if not (namesakes and a.partial and b.partial) and (judged := _judge(a, b, kind))
    ]
    return max(found, key=lambda each: SCORES[each], default=None)


def _judge(a: Form, b: Form, kind: str) -> Likeness | None:
    """Why two names of a type may be one, parsed by the type or by a guess; a part of a person's name is none here."""
    if a.kind == "person" and not kind and not (_is_full(a) and _is_full(b)):
        return None
    if is_same(a, b):
        return Likeness.NAME if kind or not a.kind or a.kind == "person" else Likeness.SHORT_FORM
    if a.kind == "person" and kind and (a.partial or b.partial):
        return None
    if (a.kind == "person" or (kind and not is_beginning(a, b))) and is_part(a, b):
        return Likeness.SHORT_FORM
    return Likeness.SPELLING if _sounds_alike(a, b) else None


def _is_full(form: Form) -> bool:
    return len(form.words) == _FULL and SMALL_WORDS.isdisjoint(form.words)


def _kind(one: str, other: str) -> str | None:
    """The type by which names are compared, "" if both are unknown; None if the types conflict."""
    return shared_type(one, other) if one and other else one or other


def _is_part(part: _Reading[Id], whole: _Reading[Id]) -> bool:
    """Whether all names of an entity are parts of a fuller name of a person, or the beginning of that of a firm.

    A single word of unknown type is a part of a person's only if it is the given name or the surname as it is written.
    """
    kind = _kind(part.type, whole.type) or ""
    forms, fuller = part.forms(kind), whole.forms(kind)
    if forms[0].kind == "organisation" and part.type:
        return any(all(is_beginning(a, b) and is_part(a, b) and a.rank < b.rank for a in forms) for b in fuller)
    most = max(each.rank for each in fuller)
    if kind not in _PERSONS or not all(each.partial and each.rank <= most for each in forms):
        return False
    if not whole.type and all(each.partial for each in fuller):
        return False
    pairs = [(a, b) for a, b in product(forms, fuller) if whole.type or len(a.words) > 1]
    fits = any(is_part(a, b) if part.type or len(a.words) > 1 else is_plain_part(a, b) for a, b in pairs)
    return fits and any(not b.partial or (b.single and a.single) for a, b in pairs)


def _is_called(part: _Reading[Id], whole: _Reading[Id]) -> bool:
    """Whether all names of an entity are one word, by which a person with a whole name is called, too."""
    return part.single and whole.is_whole and whole.type in _PERSONS and _is_part(part, whole)


# -- words that sound alike ----------------------------------------------------------------------------------------

_ALIKE: Final = (("ph", "f"), ("qu", "k"), ("qv", "k"), ("ck", "k"), ("ch", "k"), ("c", "k"), ("q", "k"), ("z", "s"))
_MUTE: Final = re.compile(r"(?<=.)[aeiouyhw]+")
_DOUBLED: Final = re.compile(r"(.)\1+")
_VOWELS: Final = re.compile(r"[^aeiouy]+")
_CLEAR: Final = 6
"""Letters of a name below which one letter makes another name: "Acton", "Action"."""
_SHORT: Final = 5
"""Letters of a word below which another vowel is another name: "Dan", "Don"."""


def _sounds_alike(a: Form, b: Form) -> bool:
    """Whether two names are one, a typing error or a plural apart, or of persons as they are heard."""
    if a.kind != "person":
        whole, other = singular(a.whole), singular(b.whole)
        long = min(len(whole), len(other)) >= _CLEAR
        return a.numbers == b.numbers and (whole == other or (long and slip(whole, other, in_company=len(a.words) > 1)))
    (one, *_), (given, *_) = a.words, b.words
    short, long_one = sorted((one, given), key=len)
    gendered = long_one == f"{short}a" or (one[:-1] == given[:-1] and {one[-1], given[-1]} == {"a", "o"})
    marks = len({a.mark, b.mark} - {""})
    called = is_called(one, given) or (_near(one, given) and not gendered)  # "Paul" is not "Paula"
    return marks < 2 and called and _near(_surname(a.words), _surname(b.words))  # noqa: PLR2004 - "Jr." and "Sr."


def _surname(words: Sequence[str]) -> str:
    """The last word of a name, or all of what somebody is called by: "of the Night team"."""
    return "".join(words[words.index("of") :]) if "of" in words else words[-1]


@lru_cache(maxsize=1 << 14)
def _sound(word: str) -> str:
    """The consonants of a word, as they are heard, and its first letter."""
    for written, heard in _ALIKE:
        word = word.replace(written, heard)
    return _DOUBLED.sub(r"\1", _MUTE.sub("", word))


def _near(a: str, b: str) -> bool:
    """Whether two words are equal, a typing error apart, or sound alike."""
    if a == b:
        return True
    if all(word.endswith(PATRONYMICS) for word in (a, b)):
        return False
    if slip(a, b, in_company=True):
        return True
    if min(len(a), len(b)) < 3 or abs(len(a) - len(b)) > 1 or _sound(a) != _sound(b):  # noqa: PLR2004 - letters
        return False
    return min(len(a), len(b)) >= _SHORT or _heard(a) == _heard(b)


def _heard(word: str) -> str:
    """The vowels of a word, without repetition and a mute one at the end: "Moor", "Moore"."""
    return _DOUBLED.sub(r"\1", _VOWELS.sub("", word.removesuffix("e")))
