"""Relations between the names of a sentence, found by patterns: type, confidence and period."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.assertion import EVENTS, AssertionStatus, asserted_part, assertion_status, when
from graphsearch.ingest.extract.rules.masked_sentence import NAME, name_numbers
from graphsearch.ingest.extract.rules.patterns import ANY_TYPE, PatternsByCue, Phase, RelationPattern, cues_of
from graphsearch.model import EdgeKind
from graphsearch.names.given_names import is_given_name
from graphsearch.text.dates import DateSpan
from graphsearch.text.name_spans import is_coined
from graphsearch.text.word_lists import GIVEN_WORDS, HONORIFICS, NAME_VERBS, ORDINARY, PLACE_OPENINGS, ROLES

CO_OCCURS: Final = "co_occurs"
CO_OCCURRENCE: Final = 0.55
MAX_TOGETHER: Final = 8
"""Maximum distinct names of a sentence that co-occur, which makes at most 28 pairs."""
BELIEVED: Final = 0.65
"""Maximum confidence of an opinion, or of a relation that held at an unknown time."""
# "A friend of Ada works at Acme": Ada is not the subject.
# "the founder of Brightcare, a startup based in Leeds": what is in apposition is the name beside it.
_APPOSED: Final = re.compile(r", (?:an?|the|our) [^,]*$")
_GOVERNED: Final = re.compile(
    r"(?:^|[\s(])(?P<preposition>of|by|in|at|for|from|with|on|to|about|between|than|near|like|into|through|under"
    r"|against)"
    rf" (?:(?:the|an?|our|its|his|her|their|my|new|old|former) )*(?P<other>{NAME}, )?$"
)
_PLACING: Final = frozenset({"in", "at", "from", "near", "into", "through"})
# "The Browns moved": a family, not one person.
_FAMILY: Final = re.compile(r"\b(?:the|an?|our|their) $")
_COPULA: Final = re.compile(r",|'s\b|'re\b|'m\b|\b(?:is|are|am|was|were|been|being|be|became|as)\b| \(")
_ASKED: Final = re.compile(
    r"\b(?:should|could|would|can|may|might|must|shall|do|did|does|let|lets) $"
)  # "should I use it"
_PREDICATE: Final = re.compile(r"(?:\b(?:is|was|are|were|am)|'s|,|named|became) $")
# "made Acme pay for it", "that Acme sponsor it"
_GOVERNS_PLAIN: Final = re.compile(
    r"\b(?:let|lets|letting|make|makes|made|making|have|has|had|having|see|saw|seen|watch|watched|help|helps|helped|do|does"
    r"|did|will|would|could|should|may|might|can|must|shall|that|to|not|rather"
    r"|(?:suggest|propos|recommend|insist|demand|ask|want|wish)[a-z]*) (?:the |our |an? )?$"
)
_WORD: Final = re.compile(" ([a-z]+)")
_DOUBT: Final = re.compile(
    " (?:(?:does|do|did|has|have|is|was|are|were|will|should|would|could|can) not|(?:does|do|did|has|have|is|was"
    "|are|were|should|would|could)n't|won't|can't|cannot|never|should|could|would|might|may|must|can|(?:want|hope"
    r"|plan|need)(?:s|ed)? to|has to)\b"
)


@attrs.frozen(kw_only=True)
class SentenceName:
    """A name of a sentence for the patterns; ``key`` is equal for all its spellings.

    A ``tentative`` name counts only if a pattern relates it.
    """

    key: str
    type: str
    tentative: bool = False
    written: str = ""


@attrs.frozen(kw_only=True)
class FoundRelation:
    """A relation between two names of a sentence, given by number; their types are known or set by the pattern."""

    source: int
    type: str
    target: int
    confidence: float
    kind: EdgeKind
    valid_from: datetime | None
    valid_to: datetime | None
    pattern: str
    source_type: str
    target_type: str


def relations_in(
    masked: str,
    names: Sequence[SentenceName],
    patterns: PatternsByCue,
    dates: Sequence[DateSpan],
    at: datetime | None,
    *,
    first_person: int | None = None,
) -> Iterator[FoundRelation]:
    """The relations that a masked sentence states; for two names and a type, the first matching pattern applies.

    Without a date, a relation starts or ends ``at`` the time of its memory. One that ends at no known time, or that is
    announced without a date, is omitted.
    """
    masked = asserted_part(masked)
    status = assertion_status(masked)
    if status is AssertionStatus.OPEN:
        return
    found: dict[tuple[str, str, str], FoundRelation] = {}
    paired: set[tuple[str, str]] = set()
    teams = any(name.type == "team" for name in names)
    for pattern in _called(masked, patterns):
        if pattern.of_team and not teams:
            continue
        for match in pattern.regex.finditer(masked):
            phase, period = when(match, pattern.phase, dates, at)
            if period is None or not _fits(pattern, match, names, first_person):
                continue
            for source, target, types in _related(pattern, match, names):
                key = (names[source].key, pattern.type, names[target].key)
                if key in found:
                    found[key] = _ended(found[key], phase, period[1])
                    continue
                paired |= {(key[0], key[2]), (key[2], key[0])}
                vague = status is AssertionStatus.BELIEVED or (phase is Phase.ENDED and period == (None, None))
                found[key] = FoundRelation(
                    source=source,
                    type=pattern.type,
                    target=target,
                    confidence=min(pattern.confidence, BELIEVED) if vague else pattern.confidence,
                    kind=EdgeKind.LIFECYCLE if phase in EVENTS else EdgeKind.SEMANTIC,
                    valid_from=period[0],
                    valid_to=period[1],
                    pattern=pattern.name,
                    source_type=types[0],
                    target_type=types[1],
                )
    yield from found.values()
    if status is not AssertionStatus.DENIED:
        yield from _together(names, paired)


def _related(
    pattern: RelationPattern, match: re.Match[str], names: Sequence[SentenceName]
) -> Iterator[tuple[int, int, tuple[str, str]]]:
    """The pairs of names of a match that the pattern relates, with the types that it gives them."""
    for source, target in _ends(match):
        one, other = names[source], names[target]
        types = _becomes(one, pattern.source_types), _becomes(other, pattern.target_types)
        if one.key == other.key or types[0] is None or types[1] is None:
            continue
        if not one.tentative or pattern.confirms or _acts(one, match):
            yield source, target, (types[0], types[1])


def _ended(relation: FoundRelation, phase: Phase, end: datetime | None) -> FoundRelation:
    """A relation whose end the sentence states after its start: "joined Acme in 2019 and left it in 2021"."""
    start = relation.valid_from if relation.kind is EdgeKind.LIFECYCLE and relation.valid_to is None else None
    closes = phase is Phase.CLOSES and start is not None and end is not None and start < end
    return attrs.evolve(relation, valid_to=end) if closes else relation


def _called(masked: str, patterns: PatternsByCue) -> Sequence[RelationPattern]:
    """The patterns with a cue in the sentence or without cues, in order."""
    called = dict(patterns.get("", ()))
    for cue in cues_of(masked) & patterns.keys():
        called.update(patterns[cue])
    return [called[rank] for rank in sorted(called)]


def hypothetical_names(masked: str, names: Sequence[SentenceName], patterns: PatternsByCue) -> set[int]:
    """The names that a pattern would relate if the sentence asserted what it denies, doubts or asks."""
    certain = _DOUBT.sub(" will", masked)
    return {
        number
        for pattern in _called(certain, patterns)
        if pattern.confirms
        for match in pattern.regex.finditer(certain)
        for pair in _ends(match)
        for number in pair
        if all(_becomes(names[end], types) is not None for end, types in zip(pair, pattern.slots, strict=True))
    }


def _fits(
    pattern: RelationPattern, match: re.Match[str], names: Sequence[SentenceName], first_person: int | None
) -> bool:
    """Whether the first name of a match is the subject of its verb or noun, and agrees with it."""
    opening = min("source", "target", key=match.start)
    gap = match.string[match.end(opening) : match.start("noun") if "noun" in match.groupdict() else match.end()]
    # Words of the template before its first name govern that name: "the boss of Ada is Bo".
    if match.start(opening) == match.start():
        if _governed(match, gap):
            return False
        if _FAMILY.search(match.string, 0, match.start()) and "person?" in pattern.slots[opening == "target"]:
            return False
    if "noun" in match.groupdict():
        # "Bo is Ana's manager at Acme" is no statement about Ana's work
        owned = gap.startswith("'s ") and _PREDICATE.search(match.string, 0, match.start(opening))
        if owned or not _COPULA.search(gap):
            return False
    return _agrees(match, opening, names, first_person)


def _governed(match: re.Match[str], gap: str) -> bool:
    """Whether the first name only modifies the subject, as in "the band from Austin, Texas that …"."""
    found = _GOVERNED.search(match.string, 0, match.start())
    if found is None or _APPOSED.match(gap):
        return False
    if found["other"]:
        return " that " in gap or " which " in gap
    follows = " who " in gap or " which " in gap
    return not follows or found["preposition"] in _PLACING


def _agrees(match: re.Match[str], opening: str, names: Sequence[SentenceName], first_person: int | None) -> bool:
    """Whether the subject of a verb in its plain form agrees: several names, "I", a group, or one with "will"."""
    groups = match.groupdict()
    if not groups.get("plain") or any(groups.get(allowing) for allowing in ("future", "infinitive", "closed")):
        return True
    subject = name_numbers(groups[opening])
    if len(subject) > 1 or subject[0] == first_person:
        return _ASKED.search(match.string, 0, match.start(opening)) is None
    name = names[subject[0]]
    if _GOVERNS_PLAIN.search(match.string, 0, match.start(opening)):
        return False
    # "Harkin Dairy sponsor the fair": only groups take the plural form.
    return name.type in ("team", "organisation") or (
        not name.type and " " in name.written and not is_coined(name.written)
    )


def _acts(name: SentenceName, match: re.Match[str]) -> bool:
    """Whether a word at the head of a sentence is a given name, or does what people do: no "Feedback from the team"."""
    following = _WORD.match(match.string, match.end())
    return is_given_name(name.key) or (following is not None and following[1] in NAME_VERBS)


def _ends(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    sources, targets = name_numbers(match["source"]), name_numbers(match["target"])
    for source in sources[:MAX_TOGETHER]:
        yield from ((source, target) for target in targets[:MAX_TOGETHER])


def _becomes(name: SentenceName, accepted: Sequence[str]) -> str | None:
    """The type of a name in a slot; None if it is not accepted."""
    if accepted == ANY_TYPE:
        return name.type
    if name.type:
        return name.type if name.type in accepted or f"{name.type}?" in accepted else None
    kind = next((kind.rstrip("?") for kind in accepted if kind == "" or kind.endswith("?")), None)
    if kind == "given_name":
        return "person" if is_given_name(name.key) else None
    if kind == "":
        # "wrote Emma a letter": whoever may be a person is no thing
        things = not any(each.startswith("person") for each in accepted)
        return None if things and is_given_name(name.key.partition(" ")[0]) else ""
    if kind in {"firm", "employer"}:
        # "left Ostrava Lines", but not "left Paris", "left New York", "left Emma Stone"
        first = name.key.partition(" ")[0]
        long = kind == "employer" or " " in name.key
        other = is_given_name(first) or first in PLACE_OPENINGS or name.key in ORDINARY
        return "organisation" if long and not other else None
    if kind == "person" and not _may_be_called(name.key.split()):
        return None
    guessed = not (kind in {"person", "place"} and is_coined(name.written)) and name.key not in ORDINARY
    return kind if guessed else None


def _may_be_called(words: Sequence[str]) -> bool:
    """Whether somebody may have a name of these words: not "Vice President", "Underground Bands"."""
    return words[-1] not in HONORIFICS | ROLES and (
        len(words) == 1 or words[0] in GIVEN_WORDS or words[0] not in ORDINARY
    )


def _together(names: Sequence[SentenceName], paired: set[tuple[str, str]]) -> Iterator[FoundRelation]:
    """Co-occurrences of distinct names that no pattern relates, each pair once, the earlier name as source."""
    first: dict[str, int] = {}
    confirmed = {key for pair in paired for key in pair}
    for number, name in enumerate(names):
        if not name.tentative or name.key in confirmed:
            first.setdefault(name.key, number)
    for (one, source), (other, target) in combinations(list(first.items())[:MAX_TOGETHER], 2):
        if (one, other) not in paired:
            yield FoundRelation(
                source=source,
                type=CO_OCCURS,
                target=target,
                confidence=CO_OCCURRENCE,
                kind=EdgeKind.SEMANTIC,
                valid_from=None,
                valid_to=None,
                pattern=CO_OCCURS,
                source_type=names[source].type,
                target_type=names[target].type,
            )
