"""The names of a scope and the facts that stand in it, as those know them who state facts, memory by memory."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

import attrs

from graphsearch.ingest.frames.table import folded, grouped, words
from graphsearch.ingest.stating.phrases import COMMON, UNKNOWN, Kind
from graphsearch.model import Entity, Memory, Span
from graphsearch.model.identity import snake_case
from graphsearch.names.comparing import is_part
from graphsearch.names.typed_names import form_lookups, read

VALUE: Final = "value"
"""The type of entities that are values: dates, amounts, states, phrases."""
PERSON: Final = "person"
ORGANISATION: Final = "organisation"
PROOF: Final = 2
"""How often a kind is inferred until it is proven."""
SHORTEST_SHORT, SHORTEST_SURNAME = 3, 4
"""Least letters of a short form of the speaker's name, and of a surname that names a firm."""
_WORDS: Final = re.compile(r"[\w&'.-]+")


@attrs.define(eq=False)
class Name:
    """Somebody or something that is named: ``name`` is the fullest, ``forms`` are all forms, folded.

    ``type`` is its entity type if it is known; ``votes`` are kinds inferred from what is stated of it, and
    ``hint`` is the one that the name itself suggests.
    """

    name: str
    type: str = ""
    hint: str = ""
    entity: Entity | None = None
    description: str = ""
    forms: set[str] = attrs.field(factory=set)
    votes: Counter[str] = attrs.field(factory=Counter)

    @property
    def kind(self) -> Kind:
        """Its kind, proven if it was stated or inferred twice."""
        if self.type:
            return Kind(kind_of(self.type), True)
        (kind, votes), *_ = self.votes.most_common(1) or [(self.hint, 0)]
        return Kind(kind, votes >= PROOF)

    def __str__(self) -> str:
        return self.entity.name if self.entity is not None else self.name


@attrs.frozen
class End:
    """An end of a fact: a name as ``written``, known as ``name`` if it is known, or a value."""

    written: str
    name: Name | None = None
    kind: Kind = UNKNOWN
    type: str = ""

    @property
    def is_value(self) -> bool:
        """Whether it is a value."""
        return self.kind.kind == VALUE


@attrs.define(eq=False)
class Held:
    """A fact that is stored or was stated: ``target`` is a name, or a value's text.

    ``until`` is the end that was stated of it; it was ``over`` when another fact took its place. Of one that was stated
    here, the rest is what its claim says. ``undated``: an ending without a date of its own.
    """

    source: Name
    type: str
    target: Name | str
    since: datetime | None = None
    until: datetime | None = None
    memory_id: str = ""
    confidence: float = 0.0
    ceiling: float = 1.0
    text: str = ""
    span: Span | None = None
    also: bool = False
    undated: bool = False
    over: datetime | None = None

    def is_of(self, source: Name | None, type_: str, target: Name | str | None = None) -> bool:
        """Whether it has these ends and this type."""
        return self.source is source and self.type == type_ and target in (None, self.target)

    def stands(self, at: datetime | None) -> bool:
        """Whether it holds at a moment, or for all that is known."""
        end = self.over or self.until
        return end is None or (at is not None and end > at)

    @property
    def ends(self) -> tuple[str, str, str]:
        """Its source, type and target."""
        return self.source.name, self.type, self.target if isinstance(self.target, str) else self.target.name

    def __str__(self) -> str:
        return " ".join(self.ends)


def kind_of(type_: str) -> str:
    """The kind of an entity type; things are all that is no person, organisation, group, place or value."""
    return grouped("types").get(snake_case(type_), "thing")


class Scope:
    """Names, found by their words, and the facts of each."""

    def __init__(self) -> None:
        self.names: dict[Name, None] = {}
        self.recent: list[Name] = []
        self._by_word: defaultdict[str, dict[Name, None]] = defaultdict(dict)
        self._held: defaultdict[Name, dict[Held, None]] = defaultdict(dict)

    # -- names -------------------------------------------------------------------------------------------------------

    def know(self, name: Name, *forms: str) -> None:
        """Let a name be found by its forms and others."""
        self.names[name] = None
        name.forms |= {folded(each) for each in (name.name, *forms)}
        for form in name.forms:
            for word in name_parts(form):
                self._by_word[word][name] = None

    def with_words(self, sought: Sequence[str]) -> list[Name]:
        """The names that have one of some words, folded."""
        found = dict.fromkeys(name for word in sought for name in self._by_word.get(word, ()))
        return [name for name in found if name in self.names]

    def known(self, written: str, memory: Memory | None = None) -> Name | None:
        """The only name that a form may mean; None if it is none or several.

        Of several it is the one that the text of a ``memory`` names in full, else its speaker, if the text has no such
        name.
        """
        meant = self._meant(written)
        if len(meant) != 1 and memory is not None:
            text, speaker, form = folded(memory.text), folded(memory.speaker), folded(written)
            unsaid = form not in text
            if not meant and unsaid and len(form) >= SHORTEST_SHORT and speaker.startswith(form):  # "Mel" is Melanie
                meant = self._meant(speaker)
            meant = [each for each in meant if folded(each.name) in text or (unsaid and speaker in each.forms)]
        return meant[0] if len(meant) == 1 else None

    def _meant(self, written: str) -> list[Name]:
        """The names that a form may mean, by the nearest kind of likeness: whole, its first words, a part of it."""
        key, parts = folded(written).strip(), name_parts(written)
        if not parts:
            return []
        near = self.with_words([min(parts, key=lambda word: len(self._by_word.get(word, ())))])  # has them all
        if exact := [each for each in near if key in each.forms]:
            whole = [each for each in exact if key == folded(each.name)]
            return whole if len(whole) == 1 else exact
        if heads := [each for each in near if name_parts(each.name)[: len(parts)] == parts and _is_cut(each.name)]:
            return heads
        if len(parts) == 1 and len(parts[0]) >= SHORTEST_SURNAME and written[:1].isupper():
            firms = [each for each in near if name_parts(each.name)[-1:] == parts and each.kind.kind != PERSON]
            if len(firms) == 1:  # "Moreau" is the firm, as persons go by first names
                return firms
        form, is_cut = read(written, PERSON), [len(each.strip(".")) == 1 for each in parts]  # "P. Sharma", "Pete L"
        sought = parts[-1:] if len(parts) > 1 and not is_cut[-1] else (*parts, *form_lookups(form))
        kinds = (PERSON, "") if any(is_cut) else (PERSON,)
        persons = [each for each in self.with_words(sought) if each.kind.kind in kinds]
        longer = [each for each in persons if len(name_parts(each.name)) >= len(parts)]
        return [each for each in longer if is_part(form, read(each.name, PERSON))]

    def knows(self, name: Name) -> bool:
        """Whether a name is stored, or was stated before."""
        return name.entity is not None or bool(self._held.get(name))

    def add(self, end: End) -> Name:
        """The name that an end means, from now on known by this form too; a longer form becomes its name."""
        name = end.name or self.known(end.written)
        is_fuller = name is None or (name.name.islower() and name.name == folded(end.written))
        name = name or self._beginning(end) or Name(end.written)
        if is_fuller and name.entity is None:
            name.name = end.written
        self.know(name)
        if len(self._meant(end.written)) <= 1:  # a form that several have is none of one
            self.know(name, end.written)
        name.type = name.type or end.type
        name.hint = name.hint or (end.kind.kind if end.kind.kind not in (COMMON, VALUE) else "")
        return name

    def _beginning(self, end: End) -> Name | None:
        """The only name that an end begins with, of its kind or of none: "Arden" for "Arden Clinic"."""
        parts = name_parts(end.written)
        heads = [parts[:size] for size in range(1, len(parts))]
        short = [each for each in self.with_words(parts[:1]) if name_parts(each.name) in heads]
        if len(short) != 1 or not end.written.istitle():
            return None
        kinds = {short[0].kind.kind, end.kind.kind}
        return short[0] if not short[0].kind.kind or len(kinds) == 1 or kinds == {PERSON, ""} else None

    def join(self, short: Name, full: Name) -> None:
        """Let two names be one."""
        if short is full:
            return
        del self.names[short]
        self.know(full, *short.forms)
        full.type = full.type or short.type
        full.votes += short.votes
        for each in self._held.pop(short, {}):
            each.source = full if each.source is short else each.source
            each.target = full if each.target is short else each.target
            self.hold(each)

    # -- facts -------------------------------------------------------------------------------------------------------

    def hold(self, held: Held) -> None:
        """Let a fact be known of both of its ends."""
        for end in (held.source, held.target):
            if isinstance(end, Name):
                self._held[end][held] = None

    def about(self, *ends: Name | str | None) -> list[Held]:
        """The facts of some names."""
        return list(dict.fromkeys(each for end in ends if isinstance(end, Name) for each in self._held.get(end, ())))

    def standing(self, source: Name, type_: str, at: datetime | None, target: Name | str | None = None) -> list[Held]:
        """The facts of a type that hold."""
        return [each for each in self.about(source) if each.is_of(source, type_, target) and each.stands(at)]


@lru_cache(maxsize=1 << 14)
def name_parts(name: str) -> Sequence[str]:
    """The words of a name, folded, without titles."""
    return tuple(each for each in _WORDS.findall(folded(name)) if each.strip(".") not in words("titles"))


def _is_cut(name: str) -> bool:
    """Whether its first word may stand for a name: not in "Lighthouse backend", which is a part of another thing."""
    return all(not each[:1].islower() or each in words("particles") for each in name.split())


def capitalised(text: str) -> Iterator[str]:
    """The capitalised words of a text."""
    return (match[0].strip(".'-") for match in _WORDS.finditer(text) if match[0][:1].isupper())
