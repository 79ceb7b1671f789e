"""Names and standing facts of a scope, as those know them who state facts in it: resolved in the order of memories."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

import attrs

from graphsearch.ingest.frames.table import folded, grouped, places, table, words
from graphsearch.ingest.stating.dates import is_date
from graphsearch.ingest.stating.phrases import COMMON, UNKNOWN, Kind
from graphsearch.model import Entity, Memory
from graphsearch.model.identity import snake_case
from graphsearch.names.comparing import is_part
from graphsearch.names.typed_names import form_lookups, read
from graphsearch.names.vocabulary import is_given_name

VALUE: Final = "value"
"""The type of entities that are values: dates, amounts, states, phrases."""
PERSON: Final = "person"
ORGANISATION: Final = "organisation"
PROOF: Final = 2
"""How often a kind is inferred until it is proven."""
LONGEST_PHRASE: Final = 3
"""Most words of a lower-case name."""
SHORTEST_SURNAME: Final = 4


@attrs.define(eq=False)
class Name:
    """Somebody or something that is named: ``name`` is the fullest, ``surfaces`` are all forms, folded.

    ``type`` is its entity type if it is known; ``votes`` are kinds inferred from what is stated of it, and
    ``hint`` is the one that the name itself suggests.
    """

    name: str
    type: str = ""
    surfaces: set[str] = attrs.field(factory=set)
    votes: Counter[str] = attrs.field(factory=Counter)
    hint: str = ""
    entity: Entity | None = None
    description: str = ""

    @property
    def kind(self) -> str:
        """Its kind; "" if nothing tells it."""
        if self.type:
            return kind_of(self.type)
        return self.votes.most_common(1)[0][0] if self.votes else self.hint

    @property
    def is_proven(self) -> bool:
        """Whether its kind was stated, or inferred twice."""
        return bool(self.type) or self.votes[self.kind] >= PROOF

    @property
    def is_capitalised(self) -> bool:
        """Whether it is written as a name."""
        return self.name[:1].isupper() or any(each.isupper() for each in self.name)

    @property
    def is_cut(self) -> bool:
        """Whether its first word may stand for it: not in "Lighthouse backend", which is a part of another thing."""
        return all(not each[:1].islower() or each in words("particles") for each in self.name.split())

    @property
    def forms(self) -> set[str]:
        """All of its forms, folded."""
        return self.surfaces | {folded(self.name)}

    @property
    def as_end(self) -> End:
        """It, as an end of a fact."""
        return End(self.name, self, Kind(self.kind, self.is_proven))

    def __str__(self) -> str:
        return self.name


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
    """A fact that is stored or was stated: ``target`` is a name, or a value's text."""

    source: Name
    type: str
    target: Name | str
    since: datetime | None
    until: datetime | None
    memory_id: str = ""

    def is_of(self, source: Name | None, type_: str, target: Name | str | None = None) -> bool:
        """Whether it has these ends and this type."""
        if self.source is not source or self.type != type_:
            return False
        return target is None or self.target is target or (isinstance(target, str) and self.target == target)

    def stands(self, at: datetime | None) -> bool:
        """Whether it holds at a moment, or for all that is known."""
        return self.until is None or (at is not None and self.until > at)

    @property
    def ends(self) -> tuple[str, str, str]:
        """Its source, type and target."""
        return self.source.name, self.type, str(self.target)

    def __str__(self) -> str:
        return " ".join(self.ends)


def kind_of(type_: str) -> str:
    """The kind of an entity type; things are all that is no person, organisation, group, place or value."""
    return grouped("types").get(snake_case(type_), "thing")


_RUN: Final = re.compile(r"[^\W_]+")
_WORDS: Final = re.compile(r"[\w&'.-]+")
SPLIT: Final = re.compile(r", ?(?:and )?| (?:and|\+|as well as|/) |; ?")
_DETERMINER: Final = re.compile(r"\A(?:the|a|an|our|their|his|her|its|my|your|some|this|that|both) ", re.IGNORECASE)
_QUANTITY: Final = re.compile(
    r"\A(?:what's left of|rest of|parts? of|most of|all of|use of|\d{1,9} ?\w{0,12} of) ", re.IGNORECASE
)
_ROLE: Final = re.compile(r"([\w &-]{2,40}?) (?:of|at|for) (\S.*)", re.IGNORECASE)
_PLACED: Final = re.compile(r"(\S.*?) (?:in|at|on|from|via|with|over|near) (\w.*)")
_AMOUNT: Final = re.compile(
    r"(?:about |around |over |under |up to |at least |[~<>≈])?[£$€¥]? ?\d[\d.,]* ?(?:%|[a-zA-Z€£$]{1,3}\b)?"
    r"(?: (?:(?:per|a|an) )?(?!of\b)[a-z€£$%/]+){0,3}"
)
_STATE: Final = re.compile(r"(?:on|off|in|at|under|out of) (?:leave|hold|sick|track|progress|review|beta|risk|stock)\b")
_QUOTES: Final = "\"'“”‘’`"


class Scope:
    """Names and standing facts, grown memory by memory; both are found by index."""

    def __init__(self) -> None:
        self.names: dict[Name, None] = {}
        self.recent: list[Name] = []
        self._found: defaultdict[object, dict[Name, None]] = defaultdict(dict)
        self._held: defaultdict[Name, dict[Held, None]] = defaultdict(dict)

    # -- names -------------------------------------------------------------------------------------------------------

    def know(self, name: Name, *forms: str) -> None:
        """Let a name be found: by its forms and others, by its beginnings, and by its last word.

        Forms that it has no longer stay in the index; who looks it up compares.
        """
        self.names[name] = None
        name.surfaces |= {folded(each) for each in forms}
        for form in name.forms:
            self._found[form][name] = None
            self._found["starts with", *_RUN.findall(form)[:1]][name] = None
        parts = name_parts(name.name)
        initials = [(parts[0][:1], parts[-1])] if len(parts) > 1 and _is_initial(parts[0]) else []
        for key in (*(parts[:size] for size in range(1, len(parts) + 1)), ("ends with", *parts[-1:]), *initials):
            self._found[key][name] = None

    def spoken_of(self, text: str) -> list[Name]:
        """The names of which a form may stand in a folded text."""
        return self._find(*(("starts with", run) for run in _RUN.findall(text)))

    def _find(self, *keys: object) -> list[Name]:
        found = dict.fromkeys(name for key in keys for name in self._found.get(key, ()))
        return [name for name in found if name in self.names]

    def known(self, written: str, memory: Memory | None = None) -> Name | None:
        """The only name that a form may mean; None if it is none or several.

        Of several people it is the one whom the text of a ``memory`` names in full, else its speaker.
        """
        meant = self._meant(written)
        text, speaker = (folded(memory.text), folded(memory.speaker)) if memory else ("", "")
        if not meant and written.istitle() and len(written) > 2 and folded(written) not in text:  # noqa: PLR2004
            meant = [
                each for each in self._find(speaker) if speaker in each.forms and speaker.startswith(folded(written))
            ]
        if len(meant) <= 1 or memory is None:
            return meant[0] if len(meant) == 1 else None
        form, named = folded(written), [each for each in meant if folded(each.name) in text]
        if named:
            meant = named
        elif form not in text or any(f"{each} {form}" in text for each in ("i'm", "i am", "im")):
            meant = [each for each in meant if speaker in each.forms]
        return meant[0] if len(meant) == 1 else None

    def _meant(self, written: str) -> list[Name]:
        """The names that a form may mean, by the nearest kind of likeness."""
        key = folded(written).strip()
        exact = [each for each in self._find(key) if key in each.forms]
        if exact:
            whole = [each for each in exact if key == folded(each.name)]
            return whole if len(whole) == 1 else exact
        parts = name_parts(key)
        if not parts:
            return []
        heads = [each for each in self._find(parts) if name_parts(each.name)[: len(parts)] == parts and each.is_cut]
        if heads:
            return heads
        form, last = read(written, PERSON), ("ends with", *parts[-1:])
        looked_up = (*form_lookups(form), parts[0])
        near: list[object] = [(word,) for word in looked_up]
        near += [("ends with", word) for word in looked_up] if len(parts) == 1 else [(parts[0][:1], parts[-1])]
        initial = len(parts) > 1 and any(map(_is_initial, parts))
        near += [last] if initial else []
        kinds = (PERSON, "") if initial else (PERSON,)
        persons = [
            each
            for each in self._find(*near)
            if each.kind in kinds
            and len(name_parts(each.name)) >= len(parts)
            and is_part(form, read(each.name, PERSON))
        ]
        if len(parts) > 1:
            return persons
        tails = [each for each in self._find(last) if name_parts(each.name)[1:][-1:] == parts]
        called = [each for each in persons if each not in tails]
        if called or len(parts[0]) < SHORTEST_SURNAME or not written[:1].isupper():
            return called
        firms = [each for each in tails if each.kind != PERSON]
        return firms if len(firms) == 1 else tails  # "Lavigne": the firm; persons go by first names

    def knows(self, name: Name) -> bool:
        """Whether a name is stored, or was stated before."""
        return name.entity is not None or bool(self._held.get(name))

    def add(self, end: End) -> Name:
        """The name that an end means, from now on known by this form too; a longer form becomes its name."""
        name = end.name or self.known(end.written)
        fuller = name is None or (name.name.islower() and folded(name.name) == folded(end.written))
        name = name or self._beginning(end) or Name(end.written)
        if fuller and name.entity is None:
            name.surfaces.add(folded(name.name))
            name.name = end.written
        self.know(name)
        if len(self._meant(end.written)) <= 1:  # a form that several have is none of one
            self.know(name, end.written)
        if end.type and not name.type:
            name.type = end.type
        name.hint = name.hint or (end.kind.kind if end.kind.kind not in (COMMON, VALUE) else "")
        return name

    def _beginning(self, end: End) -> Name | None:
        """The only name that an end begins with, of its kind or of none: "Halden" for "Halden Kliniken"."""
        parts = name_parts(end.written)
        heads = [parts[:size] for size in range(1, len(parts))]
        short = [each for each in self._find(*heads) if name_parts(each.name) in heads]
        if len(short) != 1 or not (short[0].is_capitalised and end.written.istitle()):
            return None
        kinds = {short[0].kind, end.kind.kind}
        return short[0] if not short[0].kind or len(kinds) == 1 or kinds == {PERSON, ""} else None

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

    # -- ends --------------------------------------------------------------------------------------------------------

    def ends(self, written: str, memory: Memory, type_: str | None, *, is_object: bool) -> tuple[list[End], str]:
        """The names and values that an end states, and the role that it puts before them: "COO of Halden"."""
        text = " ".join(written.split()).strip(_QUOTES + " .!")
        text = _as_in(text, memory.text)
        given = kind_of(type_) if type_ else ""
        known = self.known(text, memory)
        if known or self._pronoun(folded(text), memory):
            return [self._end(text, known, type_, memory)], ""
        if given == VALUE or (not type_ and is_value(text, memory.occurred_at)):
            return [End(text, None, Kind(VALUE, True, False))], ""
        bare = _QUANTITY.sub("", _DETERMINER.sub("", text, count=1), count=1)
        role = ""
        known = self.known(bare, memory)
        if is_object and not known and (match := _ROLE.fullmatch(bare)) and is_role(match[1]):
            role, bare = match[1], _DETERMINER.sub("", match[2], count=1)
            known = self.known(bare, memory)
        parts = [part for part in SPLIT.split(bare) if part.strip()]
        if len(parts) > 1 and not known and all(self._is_name(part) for part in parts):
            return [self._end(part, self.known(part, memory), type_, memory) for part in parts], role
        if not known and (match := _PLACED.fullmatch(bare)):
            known = self.known(match[1], memory)
            bare = match[1] if known or (is_object and match[2][:1].isupper()) else bare
        return [self._end(bare, known, type_, memory)], role

    def _end(self, written: str, name: Name | None, type_: str | None, memory: Memory) -> End:
        if pronoun := self._pronoun(folded(written), memory):
            return pronoun
        if type_:
            return End(written, name, Kind(kind_of(type_), True), snake_case(type_))
        if name is not None:
            return attrs.evolve(name.as_end, written=written if self.known(written) is name else name.name)
        guess = guessed_kind(written)
        plain = memory.text.islower() and " " not in written and not written.endswith("ing")
        lower = written[:1].islower() and written == written.lower() and not plain
        kind = Kind(guess or (COMMON if lower else ""), guess not in ("", PERSON, "place"), not lower)
        return End(written, None, kind)

    def _is_name(self, part: str) -> bool:
        return part[:1].isupper() or self.known(part) is not None or len(part.split()) < LONGEST_PHRASE

    def _pronoun(self, key: str, memory: Memory) -> End | None:
        """Whom a pronoun means: the speaker, the employer of the speaker, or who was last spoken of."""
        if key in words("pronouns_i") and memory.speaker:
            name = self.add(End(memory.speaker, None, Kind(PERSON, True)))
            return End(memory.speaker, name, Kind(PERSON, True), "" if name.type else PERSON)
        if key in words("pronouns_we") and memory.speaker:
            speaker = self.known(memory.speaker)
            names = [
                each.target for each in self.about(speaker) if each.is_of(speaker, "works_at") and each.until is None
            ]
            return next((name.as_end for name in reversed(names) if isinstance(name, Name)), None)
        person, others = key in words("pronouns_person"), key in words("pronouns_they")
        if not person and not others:
            return None
        for name in reversed(self.recent[-30:]):
            fits = name.kind == PERSON if person else name.kind in (ORGANISATION, "group", "")
            if fits and folded(memory.speaker) not in name.forms:
                return name.as_end
        return None


def _as_in(written: str, text: str) -> str:
    """A name in lower case as a text writes it: "athlone" is Athlone."""
    if not written.islower():
        return written
    for start, end in places(written.title(), text):
        before = text[:start].rstrip()
        if before and before[-1] not in ".!?:;":  # there any word has a capital
            return text[start:end]
    return written


def is_value(text: str, at: datetime | None) -> bool:
    """Whether a text is a state, a date, a number or an amount."""
    return is_state(text) or bool(_AMOUNT.fullmatch(text.strip())) or is_date(text, at)


def is_state(text: str) -> bool:
    """Whether a text is a state: "red", "on hold"."""
    key = folded(text).strip()
    first = key.split()[0] if key else ""
    return snake_case(key) in words("statuses") or first in words("statuses") or bool(_STATE.match(key))


def is_pronoun(text: str) -> bool:
    """Whether a text is a pronoun, which names nothing by itself."""
    key = folded(text).strip()
    return any(key in words(f"pronouns_{each}") for each in ("i", "we", "person", "they"))


def is_role(text: str) -> bool:
    """Whether a text names a job or an office: a noun of the table that people hold."""
    key = folded(text)
    nouns = [table().nouns.get(each, ()) for each in (key, key.split()[-1], key.rpartition(" of ")[0]) if each]
    return any(
        not each.inverse and each.source.startswith("p") and "o" in each.target for some in nouns for each in some
    )


def guessed_kind(text: str) -> str:
    """The kind that the last word of a name tells, or the first: "the night crew", "Halden Kliniken", "Mill Street"."""
    *before, last = folded(text).split() or [""]
    first, is_capital = (before or [last])[0], text.rsplit(maxsplit=1)[-1:][0][:1].isupper() if text.split() else False
    loose = last in words("loose_groups") and before[-1:] != ["working"]
    if last in words("groups") and not (is_capital and loose):
        return "group"
    if before and is_capital and (last in words("firms") or "&" in before):
        return ORGANISATION
    if before and is_capital and last in words("streets"):
        return "place"
    given = len(before) <= 2 and is_given_name(first) and all(each[:1].isupper() for each in text.split())  # noqa: PLR2004
    return PERSON if given or (before and first.rstrip(".") in words("titles")) else ""


@lru_cache(maxsize=1 << 14)
def name_parts(name: str) -> Sequence[str]:
    """The words of a name, folded, without titles."""
    return tuple(each for each in _WORDS.findall(folded(name)) if each.strip(".") not in words("titles"))


def _is_initial(word: str) -> bool:
    return len(word.rstrip(".")) == 1


def capitalised(text: str) -> Iterator[str]:
    """The capitalised words of a text."""
    return (match[0].strip(".'-") for match in _WORDS.finditer(text) if match[0][:1].isupper())
