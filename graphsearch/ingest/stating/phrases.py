"""What a phrase between two ends states: a type, its direction and phase; strictly, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal

import attrs

from graphsearch.ingest.frames.table import (
    KINDS,
    NO_OBJECT,
    OBJECT,
    Frame,
    Phase,
    bases,
    grouped,
    listed,
    table,
    tokens,
    words,
)

Mode = Literal["", "wished", "planned"]
_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
COMMON: Final = "common"
"""The kind of a lower-case unknown name: hardly a person or a place."""
NONE: Final = "none"
"""The kind of an object that a fact does not have."""
ADJUNCTS: Final = frozenset({"for", "as", "during", "via", "through"})
SYMMETRIC: Final = frozenset({"works_with", "met_with", "married_to", "sibling_of"})
NEUTRAL: Final = 0.4
SURE: Final = 0.8
"""Where a hint speaks against one end, the other has to fit better than this."""
CLOSE: Final = 1e-6
_BEFORE_NOUNS: Final = (["as"], *([word, "as"] for word in ("work", "works", "serve", "serves", "back", "return")))
LONGEST_NOUN: Final = 4
LONGEST_ADJUNCT: Final = 4


@attrs.frozen
class Kind:
    """The kind of an end: "" if unknown. It is ``proven`` if stated or inferred twice; otherwise a hint.

    ``named``: whether the end is a known or a capitalised name.
    """

    kind: str = ""
    proven: bool = False
    named: bool = True


UNKNOWN: Final = Kind()


def kind_in_table(type_: str) -> str:
    """The kind of an entity type; "" if the table has none."""
    return grouped("types").get(type_, "")


@attrs.frozen
class Phrase:
    """A phrase as read: ``type`` is "" if it is none that is known; ``normal`` is the phrase itself, as a type.

    ``inverse``: the subject is the target. ``left`` are words that name the object or belong to it ("uses *for
    storage*"). ``noun`` is the noun that states it, if one does.
    """

    normal: str
    type: str = ""
    inverse: bool = False
    phase: Phase = "holds"
    ended: bool = False
    begun: bool = False
    denied: bool = False
    mode: Mode = ""
    left: tuple[str, ...] = ()
    noun: str = ""
    frame: Frame | None = None

    @property
    def is_past(self) -> bool:
        """Whether its verb has a form of the past: "moved to"."""
        verb = self.normal.split("_")[0]
        return verb.endswith("ed") or (not verb.endswith(("s", "ing")) and verb in grouped("irregular"))

    @property
    def closes(self) -> bool:
        """Whether it says that something is over."""
        return self.ended or self.phase == "closes"

    @property
    def opens(self) -> bool:
        """Whether it says that something begins."""
        return not self.ended and (self.begun or self.phase == "opens")


@attrs.frozen
class _Found:
    """A frame that explains all of a phrase."""

    frame: Frame
    flipped: bool
    score: float
    left: tuple[str, ...] = ()
    noun: str = ""

    @property
    def inverse(self) -> bool:
        return self.frame.inverse != self.flipped


def read_phrase(
    phrase: str, subject: Kind = UNKNOWN, object_: Kind = UNKNOWN, own: AbstractSet[str] = frozenset()
) -> Phrase:
    """Read a phrase between two ends of some kinds. ``own`` are types of the scope's own, which are kept as they are.

    Every word of it has to be explained by the table; what it does not explain stays in its own words.
    """
    given = tokens(phrase)
    rest, cues = _without_cues(given)
    normal = "_".join(_plain(rest) or rest or given)
    result = attrs.evolve(cues, normal=normal)
    for name in ("_".join(given), normal):
        if name in own:
            return attrs.evolve(result, type=name)
    if rest and (kind := grouped("classes").get(rest[-1])) and len(rest) > 1 and _reads(rest[:-1]):
        rest, object_ = rest[:-1], Kind(kind, True, object_.named)  # "uses product", "lives in city"
    fitting = sorted(_fitting(rest, subject, object_), key=lambda each: -each[0])
    if not fitting or _is_tossed(fitting):
        return result
    best = fitting[0][1]
    frame, inverse, left, noun = best.frame, best.inverse, best.left, best.noun
    return attrs.evolve(result, type=frame.type, phase=frame.phase, frame=frame, inverse=inverse, left=left, noun=noun)


def _is_tossed(fitting: Sequence[tuple[float, _Found]]) -> bool:
    """Whether two readings fit alike that differ in direction alone."""
    score, best = fitting[0]
    return any(
        abs(other - score) < CLOSE and each.frame.type == best.frame.type and each.inverse != best.inverse
        for other, each in fitting[1:3]
        if best.frame.type not in SYMMETRIC
    )


def _without_cues(given: Sequence[str]) -> tuple[list[str], Phrase]:
    """The words without those that say how it is meant: over, planned, wished, begun, denied."""
    rest, ended = _uncued(_idiom(given), "ended")
    mode: Mode = ""
    names: tuple[Mode, ...] = ("planned", "wished")
    for name in names:
        if not mode and (cut := _cut(rest, listed(name))):
            rest, mode = cut[0] or rest, name
    rest, begun = (rest, False) if ended else _uncued(rest, "begun")
    negations = words("negations") - {"without"} | {each for each in rest if each.endswith("n't")}
    denied = not ended and not negations.isdisjoint(rest[:3])
    if denied:
        rest = [each for each in rest if each not in negations | words("do")]
    return rest, Phrase("", ended=ended, begun=begun, denied=denied, mode=mode)


def _idiom(given: Sequence[str]) -> Sequence[str]:
    """What a negation or a condition that belongs to its verb states: "can't stand", "would not exist without"."""
    negated = not words("negations").isdisjoint(given[:3])
    if negated and len(given) > 1 and given[-1] in words("unbearable"):
        return ["dislike"]
    if given[-1:] == ["without"] and (negated or not (words("aux") | words("failing")).isdisjoint(given)):
        return ["depend", "on"]
    return given


def _uncued(given: Sequence[str], name: str) -> tuple[list[str], bool]:
    """The words without a cue of a list, if there is one and a verb or a noun remains; whether there is."""
    cut = _cut(given, listed(name))
    sure = ("no longer", "anymore", "any more", "formerly", "previously", "former", "ex")
    if cut is None or not (cut[1] in sure or _reads(cut[0])):
        return list(given), False
    return cut[0], True


def _cut(rest: Sequence[str], cues: Sequence[str]) -> tuple[list[str], str] | None:
    """The words without the longest cue that leads them, or ends them."""
    lead = 0
    while lead < len(rest) and rest[lead] in _helpers():
        lead += 1
    for cue in sorted(cues, key=len, reverse=True):
        parts = cue.split()
        for at in range(lead + 1):
            if list(rest[at : at + len(parts)]) == parts:
                return [*rest[:at], *rest[at + len(parts) :]], cue
        if cue in ("anymore", "any more", "until recently") and list(rest[-len(parts) :]) == parts:
            return list(rest[: -len(parts)]), cue
    return None


def _reads(rest: Sequence[str]) -> bool:
    """Whether there is a verb or a noun of the table among the words, so that a cue before them is one."""
    verbs, nouns = table().verbs, table().nouns
    plain = _plain(rest)
    starts = bool(plain) and any(each in verbs for each in bases(plain[0]))
    return starts or any(noun for noun, *_ in _nouns(plain)) or any(" ".join(plain[:n]) in nouns for n in range(1, 5))


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


def _fitting(rest: Sequence[str], subject: Kind, object_: Kind) -> Iterator[tuple[float, _Found]]:
    """The frames that explain the words, each with how well its ends fit."""
    for each in (*_by_verb(rest, object_), *_by_noun(rest, object_)):
        source, target = (object_, subject) if each.inverse else (subject, object_)
        persons = source.kind == target.kind == "person" and "p" not in each.frame.target
        if persons and each.noun and rest[-1] not in words("prepositions"):  # "skipper is": whose, is not told
            continue
        alone = each.frame.slot[-1:] == NO_OBJECT or (each.left and object_.kind == "value")
        fits = fit(source, each.frame.source), NEUTRAL if alone else fit(target, each.frame.target)
        sure = [found for found in fits if found is not None]
        if len(sure) == len(fits) and (min(sure) > 0 or max(sure) > SURE):
            yield each.score + 0.6 * sum(sure) - 0.001 * each.frame.rank, each


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


def _by_verb(rest: Sequence[str], object_: Kind) -> Iterator[_Found]:
    """Readings as a verb that leads the phrase, behind auxiliaries and adverbs."""
    core = _core(rest)
    if " ".join(core) in table().nouns:  # "boss", "lead": a verb would be "bosses", "leads"
        return
    helpers = _helpers()
    lead = next((at for at, each in enumerate(core) if each not in helpers), len(core))
    for at, word in enumerate(core[: lead + 1]):
        if 0 < at == lead and word in table().nouns and core[at - 1] not in words("aux"):  # "has boss"
            continue
        after_be = not words("be").isdisjoint(core[:at])
        for base in bases(word) if at == lead else bases(word) & {"be", "have", "do", "get"}:
            yield from _slots(base, tuple(core[at + 1 :]), object_, passive=after_be or word != base)
    if len(core) > 2 and core[-1] == "by" and core[0] not in helpers:  # noqa: PLR2004 - "day to day managed by"
        for base in bases(core[-2]) - {core[-2]}:
            yield from _slots(base, ("by",), object_, passive=True)
    if core and core[0] in words("prepositions") and object_.named and (len(core) > 1 or object_.kind):
        yield from _slots("be", tuple(core), object_, passive=False)  # "in charge of", "on": the "is" left out


def _slots(base: str, after: tuple[str, ...], object_: Kind, *, passive: bool) -> Iterator[_Found]:
    """Readings of a verb whose slot the words after it fill."""
    for frame in table().verbs.get(base, ()):
        score = _slot_score(frame, base, after, object_)
        if score is not None and frame.type == "leads" and score[1]:  # "in charge of ops | Halden"
            yield _Found(table().nouns["employee"][0], False, 1.5 + score[0])
        elif score is not None:
            yield _Found(frame, False, 1.5 + score[0], score[1])
        elif passive and after == (*(each for each in frame.slot if each not in ("obj", "-")), "by"):
            yield _Found(frame, True, 1.9)


def _slot_score(frame: Frame, base: str, after: tuple[str, ...], object_: Kind) -> tuple[float, tuple[str, ...]] | None:
    """How well the words after a verb fill its slot, and the words left over; None if they do not."""
    slot = frame.slot
    if slot[-1:] == NO_OBJECT:
        return (0.6 + len(slot), ()) if after == slot[:-1] and object_.kind in (NONE, "value") else None
    if frame.type == "uses" and slot == after[-1:] and len(after) in (2, 3) and after[-2].endswith("s"):
        return (0.3, ()) if object_.named else None  # "keeps minutes in"
    size = len(slot) - 1 if slot[-1:] == OBJECT else len(slot)
    if after[:size] != slot[:size]:
        return None
    left = after[size:]
    ends = left[-1] if left else ""
    if frame.type == "leads" and left and object_.kind == "organisation" and frame.source == "p":
        return None if len(left) >= LONGEST_ADJUNCT or ends in words("prepositions") - {"at", "for"} else (0.1, left)
    if not left:
        short = base in ("be", "do", "go", "get", "have") and len(slot) == 1
        known = object_.named or object_.kind in ("value", "group", "place")
        return None if short and not known else (0.5 * len(slot), ())
    if len(left) > LONGEST_ADJUNCT or ends in words("prepositions") or base == "be":
        return None
    purpose = left[0] in ADJUNCTS and object_.named and frame.type in ("uses", "depends_on")
    return (0.2, left) if len(left) > 1 and (purpose or left[0] in ("every", "each")) else None


def _nouns(plain: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The nouns of the table in a phrase, longest first, with their places."""
    for size in range(min(LONGEST_NOUN, len(plain)), 0, -1):
        for at in range(len(plain) - size + 1):
            noun = " ".join(plain[at : at + size])
            if noun in table().nouns:
                yield noun, at, at + size


def _by_noun(rest: Sequence[str], object_: Kind) -> Iterator[_Found]:
    """Readings as a noun that heads the phrase: "boss of", "has boss", "boss is", "is boss of", "head of ops at"."""
    core = _core(rest)
    copulas = words("be") | words("have") | {"'s"}
    plain = [each for each in core if each not in copulas]
    owned = bool(core) and (core[0] in words("have") | {"'s"} or core[-1] in words("be"))
    is_noun = bool(core) and core[0] in words("be") and not owned
    covered = 0
    for noun, start, end in _nouns(plain):
        before, after = plain[:start], tuple(plain[end:])
        if end - start < covered or (before and before not in _BEFORE_NOUNS and not _is_job(before, after)):
            continue
        covered = max(covered, end - start)
        score = 1.0 + 0.5 * len(noun.split())
        for frame in table().nouns[noun]:
            if frame.slot and after[-1:] not in (("at",), ("with",)):
                continue
            if after:
                if owned and after == ("in",) and frame.type in ("lives_in", "located_in"):  # "has her home in"
                    yield _Found(frame, True, score + 0.4, noun=noun)
                if frame.phase != "holds" and object_.kind == "value" and after[0] == "at" and len(after) > 1:
                    yield _Found(frame, False, score, after[1:], noun)
                elif _links(frame, before, after):
                    yield _Found(frame, False, score + 0.4, noun=noun)
            else:
                yield from _bare(frame, noun, score, owned=owned, is_noun=is_noun or bool(before))


def _bare(frame: Frame, noun: str, score: float, *, owned: bool, is_noun: bool) -> Iterator[_Found]:
    """Readings of a noun that nothing follows: "has boss", "is boss", "boss"."""
    if owned or not is_noun:
        yield _Found(frame, True, score + (0.5 if owned else 0.2), noun=noun)
    if is_noun or not (owned or frame.inverse):  # "director", "member": whose it is tell the kinds alone
        yield _Found(frame, False, score + (0.4 if is_noun else 0.2), noun=noun)


def _is_job(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether words before a noun can be a part of a job: "lighting designer at"."""
    plain = len(before) <= 2 and not any(each in words("prepositions") for each in before)  # noqa: PLR2004
    return plain and after[-1:] == ("at",)


def _links(frame: Frame, before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the words behind a noun lead to the object: "of", "at"; for a job also "of ops at"."""
    if frame.type == "met_with":
        return after == ("with",)
    if frame.type == "works_at":
        leads = after[0] in words("prepositions") and after[-1] in ("at", "for", "with", "of", "in")
        return leads and len(after) <= LONGEST_NOUN
    of_group = frame.type in ("member_of", "leads") and after in (("in",), ("at",))
    links = of_group or after in (("of",), ("for",), ("to",), ("on",), ("with",))
    return links and (not before or list(before) in _BEFORE_NOUNS)
