"""What a phrase between two ends states: a type, its direction and phase; strictly, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import attrs

from graphsearch.ingest.frames.table import (
    KINDS,
    NO_OBJECT,
    OBJECT,
    Frame,
    bases,
    grouped,
    listed,
    table,
    tokens,
    words,
)

_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
COMMON: Final = "common"
"""The kind of a lower-case unknown name: hardly a person or a place."""
NONE: Final = "none"
"""The kind of an object that a fact does not have."""
SYMMETRIC: Final = frozenset({"works_with", "met_with", "married_to", "sibling_of"})
ADJUNCTS: Final = frozenset({"for", "as", "every", "each"})
"""Words that begin what may stand between a verb and its object: "uses for storage"."""
NEUTRAL: Final = 0.4
SURE: Final = 0.8
"""Where a hint speaks against one end, the other has to fit better than this."""
CLOSE: Final = 1e-6
LONGEST: Final = 4
"""Most words of a noun, and of what stands behind one or behind a verb."""
_OF: Final = (("of",), ("for",), ("to",), ("on",), ("with",), ("in",), ("at",))
_BEFORE_NOUNS: Final = (["as"], *([word, "as"] for word in ("work", "works", "serve", "serves", "back", "return")))


@attrs.frozen
class Kind:
    """The kind of an end: "" if unknown. It is ``proven`` if stated or inferred twice; otherwise a hint."""

    kind: str = ""
    proven: bool = False

    @property
    def is_named(self) -> bool:
        """Whether the end may be a name."""
        return self.kind not in (COMMON, NONE, "value")


UNKNOWN: Final = Kind()
NOTHING: Final = Frame("", "*", "*", "holds", inverse=False, rank=0)
"""The frame of a phrase that none explains."""


def kind_in_table(type_: str) -> str:
    """The kind of an entity type; "" if the table has none."""
    return grouped("types").get(type_, "")


@attrs.frozen
class Phrase:
    """A phrase as read: what the ``frame`` states that explains it; ``normal`` is the phrase itself, as a type.

    ``cues``: how it is meant, of "ended", "begun", "planned", "wished" and "denied". ``inverse``: the subject is the
    target. ``left`` are words that name the object or belong to it ("uses *for storage*"). ``noun`` is the noun that
    states it, if one does.
    """

    normal: str = ""
    frame: Frame = NOTHING
    inverse: bool = False
    left: tuple[str, ...] = ()
    noun: str = ""
    cues: frozenset[str] = frozenset()

    @property
    def type(self) -> str:
        """Its type; "" if it is none that is known."""
        return self.frame.type

    @property
    def is_past(self) -> bool:
        """Whether its verb has a form of the past: "moved to"."""
        verb = self.normal.split("_")[0]
        return verb.endswith("ed") or (not verb.endswith(("s", "ing")) and verb in grouped("irregular"))

    @property
    def closes(self) -> bool:
        """Whether it says that something is over."""
        return "ended" in self.cues or self.frame.phase == "closes"

    @property
    def opens(self) -> bool:
        """Whether it says that something begins."""
        return "ended" not in self.cues and ("begun" in self.cues or self.frame.phase == "opens")


Found = tuple[float, Phrase]
"""How well a reading explains all words of a phrase, and the reading."""


def read_phrase(
    phrase: str, subject: Kind = UNKNOWN, object_: Kind = UNKNOWN, own: AbstractSet[str] = frozenset()
) -> Phrase:
    """Read a phrase between two ends of some kinds. ``own`` are types of the scope's own, which are kept as they are.

    Every word of it has to be explained by the table; what it does not explain stays in its own words.
    """
    given = tokens(phrase)
    rest, cues = _without_cues(given)
    result = Phrase("_".join(_plain(rest) or rest or given), cues=cues)
    for name in ("_".join(given), result.normal):
        if name in own:
            return attrs.evolve(result, frame=attrs.evolve(NOTHING, type=name))
    if rest and (kind := grouped("classes").get(rest[-1])) and len(rest) > 1 and _reads(rest[:-1]):
        rest, object_ = rest[:-1], Kind(kind, True)  # "uses product", "lives in city"
    fitting = sorted(_fitting(_core(rest), subject, object_), key=lambda each: -each[0])
    return (
        attrs.evolve(fitting[0][1], normal=result.normal, cues=cues) if fitting and not _is_tossed(*fitting) else result
    )


def _is_tossed(best: Found, *others: Found) -> bool:
    """Whether two readings fit alike that differ in direction alone: "director" of two unknown ends."""
    return best[1].type not in SYMMETRIC and any(
        score > best[0] - CLOSE and each.type == best[1].type and each.inverse != best[1].inverse
        for score, each in others[:2]
    )


def _without_cues(given: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """The words without those that say how it is meant, and how it is."""
    rest, cues = [*given], set[str]()
    for name, other in (("ended", ""), ("planned", ""), ("wished", "planned"), ("begun", "ended")):
        cut = _cut(rest, name) if other not in cues else None
        if cut is not None:
            rest, cues = cut, {*cues, name}
    negations = words("negations") - {"without"}
    if "ended" not in cues and not negations.isdisjoint(rest[:3]):
        return [each for each in rest if each not in negations | words("do")], frozenset({*cues, "denied"})
    return rest, frozenset(cues)


def _cut(given: Sequence[str], name: str) -> list[str] | None:
    """The words without the longest cue of a list that leads them, or stands behind auxiliaries; None without one.

    What may mean something else ("old", "new", "past") is a cue only before a verb or a noun of the table.
    """
    lead = next((at for at, each in enumerate(given) if each not in _helpers()), len(given))
    for cue in sorted(listed(name), key=len, reverse=True):
        parts = cue.split()
        for at in range(lead + 1):
            if list(given[at : at + len(parts)]) == parts:
                rest = [*given[:at], *given[at + len(parts) :]]
                sure = name in ("planned", "wished") or cue in ("no longer", "formerly", "previously", "former", "ex")
                return (rest or [*given]) if sure or _reads(rest) else None
    return None


def _reads(rest: Sequence[str]) -> bool:
    """Whether a verb of the table leads the words, or a noun is among them."""
    plain = _plain(rest)
    return bool(plain) and (not bases(plain[0]).isdisjoint(table().verbs) or any(_nouns(plain)))


def _helpers() -> frozenset[str]:
    return words("be") | words("have") | words("aux") | words("do") | words("soft") | {"'s"}


def _plain(rest: Sequence[str]) -> list[str]:
    """The words without auxiliaries that lead them, articles and adverbs."""
    kept = _core(rest)
    while len(kept) > 1 and kept[0] in _helpers():
        kept = kept[1:]
    return kept


def _core(rest: Sequence[str]) -> list[str]:
    return [each for each in rest if each not in words("soft") | words("determiners")]


def _fitting(core: Sequence[str], subject: Kind, object_: Kind) -> Iterator[Found]:
    """The readings of words, each with how well its ends fit."""
    for score, each in (*_by_verb(core, object_), *_by_noun(core, object_)):
        source, target = (object_, subject) if each.inverse else (subject, object_)
        alone = each.frame.slot[-1:] == NO_OBJECT or (each.left and object_.kind == "value")
        fits = fit(source, each.frame.source), NEUTRAL if alone else fit(target, each.frame.target)
        sure = [found for found in fits if found is not None]
        if len(sure) == len(fits) and (min(sure) > 0 or max(sure) > SURE):
            yield score + 0.6 * sum(sure) - 0.001 * each.frame.rank, each


def fit(end: Kind, ends: str) -> float | None:
    """How well an end of a kind fits the kinds of a frame; None if it cannot."""
    if "*" in ends:
        return NEUTRAL
    letters, _, maybe = ends.replace(")", "").partition("(")
    letter = _LETTERS.get(end.kind, "")
    if end.kind == COMMON:
        return 0.3 if "g" in letters or "t" in letters else None
    if not letter:
        return 0.55 - 0.05 * len(letters) if letters and letters != "v" else None
    if letter in letters:
        return 1.05 - 0.05 * len(letters)
    if letter in maybe:
        return 0.8
    return None if end.proven or "v" in (letter, letters) or not letters else -0.1


def _by_verb(core: Sequence[str], object_: Kind) -> Iterator[Found]:
    """Readings as a verb that leads the phrase, behind auxiliaries."""
    if " ".join(core) in table().nouns:  # "boss", "lead": a verb would be "bosses", "leads"
        return
    lead = next((at for at, each in enumerate(core) if each not in _helpers()), len(core))
    for at, word in enumerate(core[: lead + 1]):
        if not 0 < at == lead or word not in table().nouns or core[at - 1] in words("aux"):  # "has boss" is no verb
            for base in bases(word):
                yield from _slots(base, tuple(core[at + 1 :]), object_)
    if core and core[0] in words("prepositions") and object_.is_named and (len(core) > 1 or object_.kind):
        yield from _slots("be", tuple(core), object_)  # "in charge of", "on": the "is" left out


def _slots(base: str, after: tuple[str, ...], object_: Kind) -> Iterator[Found]:
    """Readings of a verb whose slot the words after it fill."""
    for frame in table().verbs.get(base, ()):
        words_ = frame.slot[:-1] if frame.slot[-1:] in (OBJECT, NO_OBJECT) else frame.slot
        left = after[len(words_) :]
        if after == (*words_, "by"):
            yield 1.9, Phrase("", frame, not frame.inverse)
        elif after[: len(words_)] != words_:
            continue
        elif frame.slot[-1:] == NO_OBJECT:
            if not left and object_.kind in (NONE, "value"):
                yield 2.1 + len(words_), Phrase("", frame, frame.inverse)
        elif not left:
            short = base in ("be", "do", "go", "get", "have") and len(frame.slot) == 1
            if not short or object_.is_named or object_.kind == "value":
                yield 1.5 + 0.5 * len(frame.slot), Phrase("", frame, frame.inverse)
        elif 1 < len(left) <= LONGEST and left[0] in ADJUNCTS and left[-1] not in words("prepositions"):
            yield 1.7, Phrase("", frame, frame.inverse, left)


def _nouns(plain: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The nouns of the table in a phrase, longest first, with their places."""
    for size in range(min(LONGEST, len(plain)), 0, -1):
        for at in range(len(plain) - size + 1):
            noun = " ".join(plain[at : at + size])
            if noun in table().nouns:
                yield noun, at, at + size


def _by_noun(core: Sequence[str], object_: Kind) -> Iterator[Found]:
    """Readings as a noun that heads the phrase: "boss of", "has boss", "boss is", "is boss of", "head of ops at"."""
    copulas = words("be") | words("have") | {"'s"}
    plain = [each for each in core if each not in copulas]
    owned = bool(core) and (core[0] in words("have") | {"'s"} or core[-1] in words("be"))
    is_noun = bool(core) and core[0] in words("be") and not owned
    for noun, start, end in _nouns(plain):
        before, after = plain[:start], tuple(plain[end:])
        is_led = not before or before in _BEFORE_NOUNS
        if not is_led and not (len(before) <= 2 and words("prepositions").isdisjoint(before) and after[-1:] == ("at",)):  # noqa: PLR2004
            continue  # "lighting designer at"
        score = 1.0 + 0.5 * len(noun.split())
        for frame in table().nouns[noun]:
            said = Phrase("", frame, frame.inverse, (), noun)
            if frame.slot and after[-1:] != ("at",):
                continue
            if not after:  # "has boss", "is boss", "boss": of "director", whose it is tell the kinds alone
                if owned or not (is_noun or before):
                    yield score + (0.5 if owned else 0.2), attrs.evolve(said, inverse=not frame.inverse)
                if is_noun or before or not (owned or frame.inverse):
                    yield score + (0.4 if is_noun or before else 0.2), said
            elif frame.phase != "holds" and object_.kind == "value" and after[0] == "at" and len(after) > 1:
                yield score, attrs.evolve(said, left=after[1:])  # "last day at Acme | 1 May"
            elif (is_led and after in _OF) or (frame.type == "works_at" and len(after) <= LONGEST):
                yield score + 0.4, said
