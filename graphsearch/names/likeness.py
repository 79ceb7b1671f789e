"""Which entities may be one, by their names: what somebody should look at, not what an ingest may merge.

Resolution merges what it is sure of. Here one piece of evidence is enough: spellings that sound alike, nicknames, an
additional word, and a part of a name that fits one fuller name alone. Code, dates and the like have exact names and are
never compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Final, Generic, TypeVar

import attrs

from graphsearch.model.identity import CASE_SENSITIVE_TYPES
from graphsearch.names.candidate_index import MAX_COMPARED, MAX_FOUND
from graphsearch.names.forms import SHORTEST, Form, slip, squashed
from graphsearch.names.given_names import formal_names
from graphsearch.names.persons import PersonForm
from graphsearch.names.typed_names import known_type, read, shared_type
from graphsearch.names.vocabulary import DESCRIPTORS, LEGAL_FORMS, PATRONYMICS, SAME_TYPES
from graphsearch.text.trigrams import SMALL_WORDS

EXACT_TYPES: Final = CASE_SENSITIVE_TYPES | {"document", "date", "quantity"}
"""Types whose names are exact, so that similar ones are different: code, files, addresses, dates."""

SAME_NAME: Final = 1.0
SAME_SOUND: Final = 0.9
SHORTER: Final = 0.88
TWO_TYPES: Final = 0.87
"""How alike two names are for each reason, on the scale of the similarity of names."""


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
    if these may all be one, it is paired with the most specific of them; otherwise it is ambiguous.
    """
    readings = [_Reading(each) for each in entities if is_comparable(each.type)]
    found: dict[frozenset[Id], Alike[Id]] = {}
    parts: dict[int, set[int]] = defaultdict(set)
    for one, other in _candidates(readings):
        pair = frozenset((readings[one].id, readings[other].id))
        if pair in distinct:
            continue
        called = [
            (part, whole) for part, whole in ((one, other), (other, one)) if _is_called(readings[part], readings[whole])
        ]
        if called:
            parts[called[0][0]].add(called[0][1])
        elif judged := _compare(readings[one], readings[other]):
            found[pair] = Alike(readings[one].id, readings[other].id, *judged)
        else:
            for part, whole in ((one, other), (other, one)):
                if _is_part(readings[part], readings[whole]):
                    parts[part].add(whole)
    groups = _Groups(found)
    ambiguous: dict[Id, tuple[Id, ...]] = {}
    for part in sorted(parts, key=lambda place: (-readings[place].rank, place)):
        own, wholes = readings[part].id, [readings[place] for place in parts[part]]
        if len({groups.root(each.id) for each in wholes}) > 1:
            ambiguous[own] = tuple(each.id for each in wholes)
        elif all(groups.root(each.id) != groups.root(own) for each in wholes):
            best = max(wholes, key=lambda each: (each.rank, each.name))
            found[frozenset((own, best.id))] = Alike(own, best.id, SHORTER, Likeness.PART)
            groups.join(own, best.id)
    return Findings(tuple(found.values()), tuple(ambiguous), ambiguous)


_PERSONS: Final = frozenset({"person", "people"})
PERSON_WORDS: Final = 2
"""Words of a name of unknown type that may be a person's."""
FEWEST_INITIALS: Final = 3

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
        """What alike names have in common, one of them at least; the first letter is the kind of key."""
        return tuple(dict.fromkeys(key for name in self.names for key in _keys(name, self.type)))


@lru_cache(maxsize=1 << 15)
def _keys(name: str, kind: str) -> tuple[str, ...]:
    """The keys of a name, as it is parsed by its type; graphs grow, so that most names come again."""
    return tuple(dict.fromkeys(_each_key(name, kind)))


def _each_key(name: str, kind: str) -> Iterator[str]:
    form = read(name, kind)
    yield from (f"={key}" for key in form.keys)
    if isinstance(form, PersonForm):
        yield f"~{_sound(form.words[-1])}"
        yield from (f"-{word}" for word in (*form.words, *form.lookups()))
        return
    whole = squashed(form.words)
    yield f"={_singular(whole)}"
    yield f"s{_sound(_singular(whole))}"
    yield f"+{_stem(form)}"
    if len(form.parts) >= FEWEST_INITIALS or len(form.words) == 1:
        yield from (f"i{word}" for word in form.lookups())
    if kind in {"", "project"}:
        yield from (f"={key}" for key in read(name, "project").keys)
    if kind:
        plain = read(name, "")
        yield from (f"={key}" for key in (*plain.keys, _singular(squashed(plain.words))))
    elif len(form.words) == 1:
        yield f"-{form.words[0]}"
    elif len(form.words) == PERSON_WORDS:
        yield f"~{_sound(form.words[-1])}"


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


def _compare(one: _Reading[Id], other: _Reading[Id]) -> tuple[float, Likeness] | None:
    """The strongest reason why two entities may be one; None if there is none, or the name of one is a part."""
    kind = _kind(one.type, other.type)
    if kind is None:
        return (TWO_TYPES, Likeness.TYPE) if _same_spelling(one, other) else None
    whole = kind in _PERSONS and one.is_whole and other.is_whole
    found = [
        judged
        for guess in _readings_by(kind)
        for a in one.forms(guess)
        for b in other.forms(guess)
        if not (whole and a.partial and b.partial)  # two people may be called "Anna"
        if (judged := _person(a, b) if kind in _PERSONS else _thing(a, b, guess, kind))
    ]
    return max(found, key=lambda each: each[0], default=None)


def _readings_by(kind: str) -> tuple[str, ...]:
    """The types by which names are parsed: the known one, and what a name of unknown type may be of."""
    if kind in _PERSONS:
        return (kind,)
    return (kind, "") if kind else ("", "project")


def _kind(one: str, other: str) -> str | None:
    """The type by which names are compared, "" if both are unknown; None if the types conflict."""
    return shared_type(one, other) if one and other else one or other


def _same_spelling(one: _Reading[Id], other: _Reading[Id]) -> bool:
    return SAME_TYPES.get(one.type, one.type) != SAME_TYPES.get(other.type, other.type) and read(one.name, "").same(
        read(other.name, "")
    )


def _person(a: Form, b: Form) -> tuple[float, Likeness] | None:
    """Compare names of persons, of which neither is a part of a name."""
    if not isinstance(a, PersonForm) or not isinstance(b, PersonForm):
        return None
    if a.same(b):
        return SAME_NAME, Likeness.NAME
    if a.partial or b.partial:
        return None
    if a.fits(b):
        return SAME_SOUND, Likeness.SHORT_FORM
    if len({a.generation, b.generation} - {""}) > 1 or not _given_alike(a.words[0], b.words[0]):
        return None
    return (SAME_SOUND, Likeness.SPELLING) if _near(_surname(a.words), _surname(b.words)) else None


def _surname(words: Sequence[str]) -> str:
    """The last word of a name, or all of what somebody is called by: "of the Night team"."""
    return squashed(words[words.index("of") :]) if "of" in words else words[-1]


def _perhaps_person(a: Form, b: Form) -> tuple[float, Likeness] | None:
    """Compare names of unknown type that may be of persons: two words each, perhaps with an initial."""
    (given, surname), (other, last) = a.words, b.words
    if surname == last and min(len(given), len(other)) == 1 and given[0] == other[0]:
        return SHORTER, Likeness.SHORT_FORM
    return (SAME_SOUND, Likeness.SPELLING) if _given_alike(given, other) and _near(surname, last) else None


def _given_alike(a: str, b: str) -> bool:
    """Whether two given names are one, written by ear; not those of a man and a woman: "Paul", "Paula"."""
    if not formal_names().get(a, frozenset({a})).isdisjoint(formal_names().get(b, frozenset({b}))):
        return True
    short, long = sorted((a, b), key=len)
    gendered = long == f"{short}a" or (a[:-1] == b[:-1] and {a[-1], b[-1]} == {"a", "o"})
    return _near(a, b) and not gendered


def _thing(a: Form, b: Form, reading: str, kind: str) -> tuple[float, Likeness] | None:
    """Compare names of organisations, projects, tools and things of any other type."""
    if a.same(b):
        return (SAME_NAME, Likeness.NAME) if reading == kind else (SAME_SOUND, Likeness.SHORT_FORM)
    if a.numbers != b.numbers:
        return (SHORTER, Likeness.SHORT_FORM) if kind == reading == "tool" and a.fits(b) else None
    if _singular(squashed(a.words)) == _singular(squashed(b.words)):
        return SAME_SOUND, Likeness.SPELLING
    whole, other = squashed(a.words), squashed(b.words)
    if min(len(whole), len(other)) >= _CLEAR and slip(whole, other, in_company=len(a.words) > 1):
        return SAME_SOUND, Likeness.SPELLING
    if _stem(a) == _stem(b) or (kind and reading == kind and a.fits(b)):
        return SHORTER, Likeness.SHORT_FORM
    two = not kind and len(a.words) == len(b.words) == PERSON_WORDS and SMALL_WORDS.isdisjoint((*a.words, *b.words))
    return _perhaps_person(a, b) if two else None


def _stem(form: Form) -> str:
    """A name without words that describe what it names: "Globex Industries", "Globex International"."""
    words = list(form.words)
    while len(words) > 1 and (words[-1] in DESCRIPTORS or words[-1] in LEGAL_FORMS or words[-1] in _DESCRIPTIVE):
        words.pop()
    return _singular(squashed(words))


_DESCRIPTIVE: Final = frozenset({"platform", "app", "application", "system", "suite"})


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and not word.endswith("ss") and len(word) > SHORTEST:
            return word[: -len(ending)] + instead
    return word


def _is_part(part: _Reading[Id], whole: _Reading[Id]) -> bool:
    """Whether all names of an entity are parts of a fuller name of a person.

    A single word of unknown type is one only if it is the given name or the surname as it is written.
    """
    if _kind(part.type, whole.type) not in _PERSONS:
        return False
    forms = [form for form in part.forms("person") if isinstance(form, PersonForm)]
    fuller = [form for form in whole.forms("person") if isinstance(form, PersonForm)]
    if not all(form.partial for form in forms) or not all(form.rank <= max(f.rank for f in fuller) for form in forms):
        return False
    if not whole.type and not all(form.partial for form in fuller):
        return any(len(a.words) > 1 and a.fits(b) for a in forms for b in fuller)
    if whole.type not in _PERSONS:
        return False
    return any(
        a.fits(b) if part.type or len(a.words) > 1 else a.plainly_fits(b, 0) for a in forms for b in fuller
    ) and any(not b.partial or (b.single and a.single) for a in forms for b in fuller)


def _is_called(part: _Reading[Id], whole: _Reading[Id]) -> bool:
    """Whether all names of an entity are one word, by which a person with a whole name is called, too."""
    if not (part.single and whole.is_whole):
        return False
    return part.type in {"", *_PERSONS} and whole.type in _PERSONS and _is_part(part, whole)


# -- words that sound alike ----------------------------------------------------------------------------------------

_ALIKE: Final = (("ph", "f"), ("qu", "k"), ("qv", "k"), ("ck", "k"), ("ch", "k"), ("c", "k"), ("q", "k"), ("z", "s"))
_MUTE: Final = re.compile(r"(?<=.)[aeiouyhw]+")
_DOUBLED: Final = re.compile(r"(.)\1+")
_VOWELS: Final = re.compile(r"[^aeiouy]+")
_CLEAR: Final = 6
"""Letters of a name below which one letter makes another name: "Acton", "Action"."""
_SHORT: Final = 5
"""Letters of a word below which another vowel is another name: "Dan", "Don"."""


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
