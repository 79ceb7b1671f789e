"""The one table of relations, for stated facts and for texts: which verbs and nouns state which type."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal, get_args

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.text.trigrams import fold
from graphsearch.text.word_lists import data_lines, data_sections

_PACKAGE: Final = "graphsearch.ingest.frames"
Phase = Literal["holds", "opens", "closes", "done", "event"]
KINDS: Final = {"p": "person", "o": "organisation", "g": "group", "l": "place", "t": "thing", "v": "value"}
_NOUNS: Final[Mapping[str, Phase]] = {"is": "holds", "has": "holds", "at": "holds", "begins": "opens", "ends": "closes"}
_COLUMNS: Final = 4
_PHASES: Final[Mapping[str, Phase]] = {**_NOUNS, **{phase: phase for phase in get_args(Phase)}}
_BESIDE: Final = "beside"
NO_OBJECT: Final = ("-",)
OBJECT: Final = ("obj",)
Marks = frozenset[str]
STATED_ONLY, TEXTS_ONLY, KNOWN_ENDS = "~", "+", "?"


@attrs.frozen
class Ends:
    """The kinds that an end accepts, the first expected; ``assumed`` is that of a name of unknown kind, if any.

    ``several``: it may as well be another, so that the kind of such a name stays unknown.
    """

    kinds: tuple[str, ...]
    assumed: str = ""
    several: bool = False


@cache
def read_ends(letters: str) -> Ends:
    """The ends that the letters of a line describe: "p(o)"."""
    if letters == "*":
        return Ends(tuple(KINDS.values()), "thing")
    kinds = tuple(KINDS[each] for each in letters if each in KINDS)
    return Ends(kinds, KINDS.get(letters[:1], ""), len(letters.partition("(")[0].strip()) > 1)


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
    marks: Marks = frozenset()


@attrs.frozen
class Table:
    """The frames of verbs, by their first word, and of nouns."""

    verbs: Mapping[str, Sequence[Frame]]
    nouns: Mapping[str, Sequence[Frame]]

    @property
    def frames(self) -> Sequence[Frame]:
        """All frames."""
        return [each for frames in (*self.verbs.values(), *self.nouns.values()) for each in frames]

    @property
    def types(self) -> frozenset[str]:
        """All types."""
        return frozenset(each.type for each in self.frames)


Entry = tuple[str, str, Frame]
"""Where an entry belongs ("verb", "noun", "beside"), its first word or noun, and its frame."""


def read_line(line: str, rank: int = 0) -> Sequence[Entry]:
    """The entries of a line of the table. Raises `InvalidInputError` if the line is none."""
    parts = [part.strip() for part in line.split("|")]
    ends = [part.strip() for part in parts[1].split(">")] if len(parts) == _COLUMNS else []
    letters = "".join(ends).replace("(", "").replace(")", "")
    if len(ends) != len(("source", "target")) or not {*letters} <= {*KINDS, "*"} or not parts[0]:
        raise InvalidInputError(f"line {line!r}", ["write it as: type | p > o | holds | verb obj; verb at/for"])
    (type_, _, phase, entries), (source, target) = parts, ends
    if phase not in {*_PHASES, _BESIDE}:
        raise InvalidInputError(f"phase {phase!r}", [f"is none of {', '.join(sorted(_PHASES))}"])
    found: list[Entry] = []
    for written in (each.strip() for each in entries.split(";")):
        entry = written.rstrip("~+?")
        marks = frozenset(written[len(entry) :])
        frame = Frame(
            type_, source, target, _PHASES.get(phase, "holds"), phase == "has" or entry[:1] == "^", rank, (), marks
        )
        if phase in _NOUNS:
            found.append(("noun", entry, attrs.evolve(frame, slot=("at",) if phase == "at" else ())))
        elif phase == _BESIDE:
            found.append((_BESIDE, entry, attrs.evolve(frame, slot=(entry,))))
        elif " " not in entry:
            raise InvalidInputError(f"entry {entry!r}", ["has no slot: write it as 'verb obj' or 'verb at/for'"])
        else:
            head, *middle, slots = entry.removeprefix("^").split(" ")
            first, *more = (*head.split("_"), *middle)
            found += [("verb", first, attrs.evolve(frame, slot=(*more, *each.split("_")))) for each in slots.split("/")]
    return found


@cache
def _entries(extra: tuple[str, ...] = ()) -> Sequence[Entry]:
    lines = (*extra, *data_lines(_PACKAGE, "relations.txt"))
    return [entry for rank, line in enumerate(lines, -len(extra)) for entry in read_line(line, rank)]


@cache
def table() -> Table:
    """The table of relations as phrases of stated facts are read by it."""
    verbs: defaultdict[str, list[Frame]] = defaultdict(list)
    nouns: defaultdict[str, list[Frame]] = defaultdict(list)
    for where, first, frame in _entries():
        if where != _BESIDE and TEXTS_ONLY not in frame.marks:
            (verbs if where == "verb" else nouns)[first].append(frame)
    return Table(dict(verbs), dict(nouns))


@attrs.frozen(eq=False)
class Forms:
    """The table as its verbs and nouns stand in a text.

    ``verbs``: form -> its verbs, each with "base", "third", "past", "participle" or "gerund". ``frames``: by a verb
    with the words that follow it, and a slot; ``longer``: the words that may follow a verb, the longest first.
    ``nouns``, ``beside``: frames by noun, and by the preposition between two names ("Jo Berg at Acme").
    """

    verbs: Mapping[str, Sequence[tuple[str, str]]]
    frames: Mapping[tuple[str, str], Sequence[Frame]]
    longer: Mapping[str, Sequence[tuple[str, ...]]]
    nouns: Mapping[str, Sequence[Frame]]
    beside: Mapping[str, Sequence[Frame]]


@cache
def text_forms(extra: tuple[str, ...] = ()) -> Forms:
    """The table as it is read in texts; ``extra`` are lines of a user's own, first.

    Raises `InvalidInputError` for a line that is none.
    """
    frames: defaultdict[tuple[str, str], list[Frame]] = defaultdict(list)
    longer: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    nouns: defaultdict[str, list[Frame]] = defaultdict(list)
    beside: defaultdict[str, list[Frame]] = defaultdict(list)
    for where, first, frame in _entries(extra):
        if STATED_ONLY in frame.marks:
            continue
        if where == "verb":
            parts = [*frame.slot]
            verb = f"co-{parts.pop(0)}" if first == "co" and len(parts) > 1 else first  # "co_lead": co-lead
            slot = parts.pop()
            frames[" ".join((verb, *parts)), slot].append(frame)
            longer[verb].add(tuple(parts))
        elif where == "beside":
            beside[first].append(frame)
        else:
            for noun in {first, first.replace(" ", "-")}:
                nouns[noun].append(frame)
                nouns[f"{noun[:-3]}men" if noun.endswith("man") else f"{noun}s"].append(frame)
    verbs: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for verb in longer.keys() - {"be", "been"}:
        for form in verb_forms(verb):
            verbs[form[0]].append((verb, form[1]))
    ordered = {verb: sorted(some - {()}, key=len, reverse=True) for verb, some in longer.items()}
    return Forms(dict(verbs), dict(frames), ordered, dict(nouns), dict(beside))


_VOWELS: Final = frozenset("aeiou")
_DOUBLING: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")


def verb_forms(verb: str) -> Sequence[tuple[str, str]]:
    """The forms of a verb, each with "base", "third", "past", "participle" or "gerund"."""
    lead, _, core = verb.rpartition("-")
    stem = core[:-1] if core.endswith("e") and not core.endswith(("ee", "oe")) else core
    soft = core.endswith("y") and core[-2] not in _VOWELS
    if core != verb:  # co-own
        return [(f"{lead}-{form}", kind) for form, kind in verb_forms(core)]
    own = [form for form, base in grouped("irregular").items() if base == verb]
    doubled = stem + stem[-1] if _DOUBLING.fullmatch(core) else stem
    hissing = core.endswith(("s", "x", "z", "ch", "sh", "o"))
    regular = f"{core[:-1]}ies" if soft else f"{core}es" if hissing else f"{core}s"
    third = next((form for form in own if form.endswith("s")), regular)
    gerund = next((form for form in own if form.endswith("ing") and form not in ("bring", "sing")), f"{doubled}ing")
    past = [form for form in own if form not in (gerund, third)] or [f"{core[:-1]}ied" if soft else f"{doubled}ed"]
    found = ((core, "base"), (third, "third"), (past[0], "past"), (past[-1], "participle"), (gerund, "gerund"))
    return list(dict.fromkeys(found))


@cache
def _lists() -> Mapping[str, str]:
    return data_sections(_PACKAGE, "words.txt")


@cache
def words(name: str) -> frozenset[str]:
    """A closed list of words."""
    return frozenset(listed(name))


@cache
def listed(name: str) -> tuple[str, ...]:
    """A closed list, in order; its entries may have several words."""
    entries = _lists()[name]
    return tuple(each.strip() for each in entries.split(";")) if ";" in entries else tuple(entries.split())


@cache
def grouped(name: str) -> Mapping[str, str]:
    """A closed list of "key=word,word": the key of each word."""
    groups = (each.split("=") for each in listed(name))
    return {word: key for key, members in groups for word in members.split(",")}


def folded(text: str) -> str:
    """A text for comparison: folded, with straight apostrophes."""
    return fold(text).replace("’", "'")


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


@cache
def _bases() -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for verb in table().verbs:
        for form, _ in verb_forms(verb):
            found[form].add(verb)
    return {form: frozenset(some) for form, some in found.items()}


def bases(word: str) -> frozenset[str]:
    """The verbs of which a word may be a form: the one of which it is an irregular form, else those of the table."""
    irregular = grouped("irregular").get(word)
    return frozenset({irregular}) if irregular else _bases().get(word, frozenset()) | {word}
