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

    A part of a name belongs to the entities whose fuller names it fits: if these may all be one, it is paired with the
    most specific of them; otherwise that of a person is ambiguous.
    """
    readings = [_Reading(each) for each in entities if is_comparable(each.type)]
    found: dict[frozenset[Id], Alike[Id]] = {}
    wholes: defaultdict[_Reading[Id], list[_Reading[Id]]] = defaultdict(list)
    for one, other in _candidates(readings):
        if (ids := frozenset((one.id, other.id))) in distinct:
            continue
        likeness, part = _judge(one, other)
        if part:
            wholes[part].append(other if part is one else one)
        elif likeness:
            found[ids] = Alike(one.id, other.id, SCORES[likeness], likeness)
    groups = Groups(found)
    ambiguous: dict[Id, tuple[Id, ...]] = {}
    for part, some in sorted(wholes.items(), key=lambda each: -each[0].rank):
        if len({groups.root(each.id) for each in some}) > 1:
            if any(each.type in _PERSONS for each in (part, *some)):
                ambiguous[part.id] = tuple(each.id for each in some)
        elif groups.root(some[0].id) != groups.root(part.id):
            best = max(some, key=lambda each: (each.rank, each.names[0]))
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
    """An entity with its names parsed by types; compared by identity."""

    def __init__(self, named: Named[Id]) -> None:
        self.id = named.id
        self.names = named.names[:MAX_COMPARED]
        self.type = known_type(named.type)
        self._forms: dict[tuple[str, bool], list[Form]] = {}
        self.rank = max(form.rank for form in self.forms(self.type))
        self.is_whole = not all(form.partial for form in self.forms("person"))

    def forms(self, kind: str, *, whole: bool = False) -> list[Form]:
        """The names parsed by a type; those of a person who has a ``whole`` name without parts of it."""
        found = self._forms.get((kind, whole))
        if found is None:
            forms = [read(name, kind) for name in self.names]
            found = [form for form in forms if not form.partial] if whole and self.is_whole else forms
            self._forms[kind, whole] = found
        return found


def _candidates(readings: Sequence[_Reading[Id]]) -> Iterator[tuple[_Reading[Id], _Reading[Id]]]:
    """The pairs that share a key which few entities have."""
    sharing: defaultdict[str, list[int]] = defaultdict(list)
    for place, reading in enumerate(readings):
        for key in dict.fromkeys(key for name in reading.names for key in _keys(name, reading.type)):
            sharing[key].append(place)
    few = (places for places in sharing.values() if 1 < len(places) <= MAX_FOUND)
    pairs = dict.fromkeys(pair for places in few for pair in combinations(places, 2))
    return ((readings[one], readings[other]) for one, other in pairs)


@lru_cache(maxsize=1 << 15)
def _keys(name: str, kind: str) -> tuple[str, ...]:
    """What alike names have in common, one of them at least; the first letter is the sort of key."""
    return tuple(dict.fromkeys(_each_key(name, kind)))


def _each_key(name: str, kind: str) -> Iterator[str]:
    form = read(name, kind)
    for guess in (kind, "") if kind else (*_GUESSES, "organisation"):
        yield from (f"={key}" for key in read(name, guess).keys)
    yield f"={singular(read(name, '').whole)}"
    if form.kind == "person":
        yield from (f"-{word}" for word in form_lookups(form))
    else:
        whole = singular(form.whole)
        yield from (f"={whole}", f"s{_sound(whole)}")
        yield from (f"i{word}" for word in ({form.whole} if len(form.words) == 1 else form.initials))
    if form.kind == "person" or not kind:
        yield f"~{_sound(form.words[-1])}"
        yield from (f"-{word}" for word in form.words if len(form.words) <= _FULL)
    if form.kind in ("organisation", "tool"):
        yield f"+{form.words[0]}"


class Groups(Generic[Id]):
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

_Judged = tuple[Likeness | None, _Reading[Id] | None]


def _judge(one: _Reading[Id], other: _Reading[Id]) -> _Judged[Id]:
    """Why two entities may be one, if so, and which of them has but a part of the other's name."""
    kind = shared_type(one.type, other.type) if one.type and other.type else one.type or other.type
    if kind is None:
        return Likeness.TYPE if is_same(read(one.names[0], ""), read(other.names[0], "")) else None, None
    people = kind in _PERSONS
    found = None
    for guess in (kind,) if people else (kind, "") if kind else _GUESSES:
        for a, b in product(one.forms(guess, whole=people), other.forms(guess, whole=people)):
            judged = _compare(a, b, kind, plainly=not (one.type and other.type))
            found = max(found, judged, key=lambda each: SCORES[each] if each else 0)
    if found is None and people and one.is_whole != other.is_whole:  # "the Countess" was given to one
        both = product(one.forms(kind), other.forms(kind))
        return Likeness.NAME if any(is_same(a, b) for a, b in both) else None, None
    if found is not Likeness.PART:
        return found, None
    part = min(one, other, key=lambda each: each.rank)
    return found, part


def _compare(a: Form, b: Form, kind: str, *, plainly: bool) -> Likeness | None:
    """Why two names may be one, parsed by the type or by a guess."""
    if a.kind == "person" and not kind and not (_is_full(a) and _is_full(b)):
        return None
    if is_same(a, b):
        return Likeness.NAME if kind or not a.kind or a.kind == "person" else Likeness.SHORT_FORM
    short = b if len(b.words) < len(a.words) else a
    if is_plain_part(a, b) if plainly and short.single else is_part(a, b):
        return Likeness.PART if kind and _is_partial(a, b) else Likeness.SHORT_FORM
    return Likeness.SPELLING if _sounds_alike(a, b) and not _is_partial(a, b) else None


def _is_partial(a: Form, b: Form) -> bool:
    return is_beginning(a, b) or (a.kind == "person" and (a.partial or b.partial))


def _is_full(form: Form) -> bool:
    return len(form.words) == _FULL and SMALL_WORDS.isdisjoint(form.words)


# -- words that sound alike ----------------------------------------------------------------------------------------

_ALIKE: Final = (("ph", "f"), ("qu", "k"), ("qv", "k"), ("ck", "k"), ("ch", "k"), ("c", "k"), ("q", "k"), ("z", "s"))
_MUTE: Final = re.compile(r"(?<=.)[aeiouyhw]+")
_DOUBLED: Final = re.compile(r"(.)\1+")
_VOWELS: Final = re.compile(r"[^aeiouy]+")
_CLEAR: Final = 6
"""Letters of a name below which one letter makes another name: "Acton", "Action"."""
_PLURAL: Final = 2
"""Most letters of the end of a plural."""
_SHORT: Final = 5
"""Letters of a word below which another vowel is another name: "Dan", "Don"."""


def _sounds_alike(a: Form, b: Form) -> bool:
    """Whether two names are one, a typing error or a plural apart, or of persons as they are heard."""
    if a.kind != "person":
        if abs(len(a.whole) - len(b.whole)) > _PLURAL + 1:
            return False
        whole, other = singular(a.whole), singular(b.whole)
        long = min(len(whole), len(other)) >= _CLEAR
        return a.numbers == b.numbers and (whole == other or (long and slip(whole, other, in_company=len(a.words) > 1)))
    one, given = a.words[0], b.words[0]
    gendered = {one, given} in ({one, f"{one}a"}, {given, f"{given}a"}, {f"{one[:-1]}a", f"{one[:-1]}o"})
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
    if a == b or all(word.endswith(PATRONYMICS) for word in (a, b)):
        return a == b
    if abs(len(a) - len(b)) > 1:
        return False
    short = min(len(a), len(b))
    alike = short > 2 and _sound(a) == _sound(b)  # noqa: PLR2004 - letters
    return slip(a, b, in_company=True) or (alike and (short >= _SHORT or _heard(a) == _heard(b)))


def _heard(word: str) -> str:
    """The vowels of a word, without repetition and a mute one at the end: "Moor", "Moore"."""
    return _DOUBLED.sub(r"\1", _VOWELS.sub("", word.removesuffix("e")))
