"""Names that the words around them identify, and names of several words that one sentence alone does not prove.

"Team X", "project X", "the X library" are names by a neighbouring word. "Friends of the Library",
"Race to the Pole" and "Winter Film League" are names if all memories of the call prove them: "Ada to Leeds" looks like
the second, and "Winter" is capitalised at the beginning of any sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.templates import BACKER, BOSS, HEAD, MAKER
from graphsearch.text import word_lists as known
from graphsearch.text.name_spans import NameSpan, type_of


@attrs.frozen
class PhraseRule:
    """A regular expression whose group ``name`` matches a name of a type."""

    name: str
    regex: re.Pattern[str]
    type: str
    confidence: float


_NAME: Final = r"(?:[A-Z][\w+#.-]{0,40}\w|[A-Z])(?: [A-Z][\w+#-]{0,40}){0,2}"

_TITLE_WORD: Final = r"[A-Z0-9][\w'’&.-]*"
_TITLE: Final = rf"{_TITLE_WORD}(?:(?: |: )(?:{_TITLE_WORD}|of|the|and|a|an|in|on|to|for|from|with|at|by|de|la)){{1,9}}"

PHRASES: Final = (
    PhraseRule("title", re.compile(rf"[\"“](?P<name>{_TITLE})(?<![.])[.,]?[\"”]"), "", 0.85),
    PhraseRule(
        "team",
        re.compile(
            rf"\b(?P<name>(?!The |Our |A |My |Your |His |Her |Their )(?:{_NAME}|[A-Z][\w-]{{0,40}}(?: (?:and|&) "
            r"[A-Z][\w-]{0,40})?) [Tt]eam)\b"
        ),
        "team",
        0.88,
    ),
    PhraseRule("team", re.compile(rf"\b(?P<name>[Tt]eam {_NAME})\b"), "team", 0.88),
    # A word with a capital after an article is a name, whichever word it is: "the Night team", "the Kestrel crew".
    PhraseRule(
        "titled_team",
        re.compile(
            r"(?<=\b(?:the|our) )(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)? (?:[Tt]eam|crew|unit|department|desk|squad|shift"
            r"|watch|ward|section|division))\b(?! (?:and|or) [A-Z])"
        ),
        "team",
        0.88,
    ),
    PhraseRule(
        "team",
        re.compile(r"\b[Tt]he (?P<name>(?P<word>[a-z][\w-]+) (?:team|crew|unit|department|committee))\b"),
        "team",
        0.8,
    ),
    PhraseRule("project", re.compile(rf"\b(?P<name>Project {_NAME})\b"), "project", 0.9),
    PhraseRule("project", re.compile(rf"\bproject (?P<name>{_NAME})\b"), "project", 0.88),
    PhraseRule(
        "project",
        re.compile(
            rf"\b(?:[Tt]he|[Oo]ur|[Tt]heir|[Mm]y|a|an) (?P<name>{_NAME}) (?:project|initiative|programme"
            r"|program|rewrite|migration|launch)\b"
        ),
        "project",
        0.85,
    ),
    PhraseRule(
        "tool",
        re.compile(
            rf"\b(?:[Tt]he|[Oo]ur|[Aa]n?|[Tt]heir) (?P<name>{_NAME}) (?:library|framework|database|db|tool"
            "|package|app|platform|service|server|cluster|SDK|API|plugin|client|CLI|compiler|cache|queue|editor"
            r"|dashboard)\b"
        ),
        "tool",
        0.82,
    ),
    PhraseRule(
        "tool",
        re.compile(
            r"\b(?:library|framework|database|tool|package|programming language|editor|app|platform) (?:called "
            rf"|named )?(?P<name>{_NAME})\b"
        ),
        "tool",
        0.82,
    ),
    PhraseRule(
        "company",
        re.compile(rf"\b(?:company|startup|firm|employer|vendor|supplier) (?:called |named )?(?P<name>{_NAME})\b"),
        "organisation",
        0.82,
    ),
    PhraseRule(
        "place",
        re.compile(rf"\b(?:city|town|village|state|province|country) of (?P<name>{_NAME})\b"),
        "place",
        0.85,
    ),
)
"""Earlier rules take precedence."""

_CUE: Final = re.compile(
    r"[\"“][A-Z]|[Tt]eam|crew|unit\b|department|committee|desk|squad|shift|watch|ward|section|division|[Pp]roject|initiative|programme?\b|rewrite|migration"
    r"|launch|library|framework|database"
    r"|\bdb\b|tool|package|\bapp\b|platform|service|server|cluster|SDK|API|plugin|client|CLI|compiler|cache|queue"
    "|editor|dashboard|language|company|startup|firm|employer|vendor|supplier|city|town|village|state|province"
    r"|country"
)


_COMMON: Final = (known.COMMON | known.NEVER_NAMES) - {"team", "project", "data"}
_NO_TITLES: Final = known.SMALL_TEAM_WORDS | known.GRAMMAR


def phrases(text: str, start: int, end: int) -> Iterator[NameSpan]:
    """Names in the sentence [start, end), by rule; names of later rules may overlap them."""
    if not _CUE.search(text, start, end):
        return
    for rule in PHRASES:
        for match in rule.regex.finditer(text, start, end):
            first = match["name"].split(None, 1)[0].casefold()
            word = match.groupdict().get("word")
            common = _NO_TITLES if rule.name == "titled_team" else known.SMALL_TEAM_WORDS if word else _COMMON
            if rule.name != "title" and (word or first) in common:
                continue
            yield NameSpan(
                start=match.start("name"),
                end=match.end("name"),
                type=rule.type,
                confidence=rule.confidence,
                pattern=rule.name,
            )


def without_overlaps(*groups: Sequence[NameSpan]) -> list[NameSpan]:
    """The spans that overlap no earlier one of the groups, in the order of the text."""
    kept: list[NameSpan] = []
    for found in (found for group in groups for found in group):
        if not any(found.start < other.end and other.start < found.end for other in kept):
            kept.append(found)
    return sorted(kept, key=lambda found: found.start)


# -- undertakings in lower case -------------------------------------------------------------------------------------

_KIND_OF_UNDERTAKING: Final = (
    "appeal|audit|campaign|conversion|dig|excavation|exhibition|expansion|extension|inquiry|inspection|investigation"
    "|launch|lawsuit|merger|migration|overhaul|pilot|production|programme|project|redesign|refactor|refit"
    "|refurbishment|release|renovation|restoration|rewrite|rollout|study|survey|tour|trial|upgrade|voyage"
)
_KINDS_OF_UNDERTAKINGS: Final = frozenset(_KIND_OF_UNDERTAKING.encode().split(b"|"))
# "the Apollo project" is the project Apollo.
_PROJECT: Final = "project|programme|rewrite|migration|launch"
_UNDERTAKING: Final = (
    rf"(?P<name>(?![A-Z][\w'’-]+ (?:{_PROJECT})\b)[A-Za-z][\w'’-]+(?: [a-z][\w-]+)?? (?:{_KIND_OF_UNDERTAKING}))\b"
    r"(?! (?!(?:together|after|over|under|later|earlier|either|however|for|or)\b)[a-z]+(?:er|or)\b)"
)
_UNDERTAKINGS: Final = (
    re.compile(
        r"\b(?:[Ww]ork(?:s|ed|ing)? on|leads?|leading|led|heads?|heading|runs?|running|chairs?|in charge of"
        r"|responsible for"
        r"|sponsor(?:s|ed|ing)?|fund(?:s|ed|ing)?|financ(?:e|es|ed|ing)|pa(?:ys|id|ying) for|maintains?|oversees?"
        rf"|coordinat(?:e|es|ed|ing)|manag(?:e|es|ed|ing)) (?:the|our|my|his|her|their|its) {_UNDERTAKING}"
    ),
    re.compile(
        rf"\b[Tt]he {_UNDERTAKING} (?:is|was|will be) (?:being )?(?:funded|led|sponsored|run|financed|managed|paid for"
        r"|coordinated|overseen|chaired) by\b"
    ),
)


def undertakings(texts: Iterable[str]) -> frozenset[str]:
    """The undertakings that somebody leads, works on or pays for: "the ballast refit", "the Merridew appeal"."""
    return frozenset(
        match["name"]
        for text in texts
        if not _KINDS_OF_UNDERTAKINGS.isdisjoint(known.ascii_words(text))
        for rule in _UNDERTAKINGS
        for match in rule.finditer(text)
        if match["name"].split(" ", 1)[0].casefold() not in known.SMALL_TEAM_WORDS | known.GRAMMAR
    )


# -- names of several words -------------------------------------------------------------------------------------------

_CAPITAL: Final = r"[A-Z][\w-]*"
_SMALL: Final = " (?P<small>of|to|and|for|in|on|at)(?: the)? "
_RUN: Final = re.compile(rf"(?<![\w'’-]){_CAPITAL}(?: {_CAPITAL}){{0,2}}{_SMALL}{_CAPITAL}(?: {_CAPITAL}){{0,2}}")
_CAPITALS: Final = re.compile(rf"(?<![\w'’-]){_CAPITAL}(?: {_CAPITAL}){{1,4}}")
_WORD: Final = re.compile(rf"(?<![\w'’-]){_CAPITAL}")
_WORDS: Final = re.compile(r"(?<![\w-])[\w-]++(?: [\w-]++){1,8}")
# "Learn to Row relies on it": the name is the subject of a singular verb.
_ACTS: Final = re.compile(r" (?:is|was|has|needs|uses|depends|relies|runs|starts|begins|gets|meets|opens|returns)\b")
_ACTED_ON: Final = re.compile(
    r"\b(?:lead|leads|leading|run|runs|running|chair|chairs|sponsor|sponsors|sponsoring|fund|funds|funding|join|joins"
    r"|joined|organise|organises|organising|organize|organizes|organizing) (?:the )?$"
)
# "Ada is Head of the Lab": a predicate, not a name.
_PREDICATE: Final = re.compile(
    r"(?:\b(?:is|are|am|was|as|be|been|became|become|named|elected|made|our|my)|['’]m|['’]s|,) ?(?:the )?$"
)
_ROLE: Final = re.compile(rf"(?:{HEAD}|{MAKER}|{BACKER}|{BOSS}|members?)", re.IGNORECASE)
_HEADS: Final = known.COMMON - known.GRAMMAR - known.HONORIFICS - known.ROLES
_INSIDE: Final = re.compile(r"[a-z,;] $")
_BEFORE: Final = 30
"""Characters before and after a run that show its role in the sentence."""
_CONFIDENCE: Final = 0.8
_TWICE: Final = 2


@attrs.define
class _Run:
    """The evidence for a run in all texts: how often it occurs, and in which contexts."""

    small: str
    times: int = 0
    inside: bool = False
    """It occurs within a sentence, where a common word is not capitalised."""
    acts: bool = False
    acted_on: bool = False
    predicate: bool = False


@attrs.frozen(eq=False)
class CompoundNames:
    """Names with connecting words, or beginning with a common word, that the texts of a call prove."""

    names: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()
    """The first words of the names."""

    @classmethod
    def of(cls, names: Iterable[str]) -> CompoundNames:
        """Index names by their first words."""
        known = frozenset(names)
        return cls(known, frozenset(name.partition(" ")[0] for name in known))

    def find(self, text: str, start: int, end: int) -> Iterator[NameSpan]:
        """Occurrences in [start, end) of a text, preferring longer names, in time linear in the text."""
        at = start
        for match in _WORD.finditer(text, start, end) if self.names else ():
            if match.start() >= at and match[0] in self.heads and (name := self._at(text, match.start(), end)):
                at = match.start() + len(name)
                words = name.casefold().split()
                # "Race to the Coast" is no coast.
                linked = any(word.islower() for word in name.split())
                type_ = "" if linked else type_of(words[0], words[-2], words[-1])
                yield NameSpan(start=match.start(), end=at, type=type_, confidence=_CONFIDENCE, pattern="linked")

    def _at(self, text: str, start: int, end: int) -> str:
        run = _WORDS.match(text, start, end)
        name = run[0] if run else ""
        while name and name not in self.names:
            name = name.rpartition(" ")[0]
        return name


NO_COMPOUND_NAMES: Final = CompoundNames()


def compound_names(texts: Iterable[str], people: Container[str]) -> CompoundNames:
    """The names that texts prove; ``people`` are names of persons in lower case. Takes linear time."""
    read = [*texts]
    runs: dict[str, _Run] = {}
    for text in read:
        for match in _RUN.finditer(text):
            _add(runs, text, match)
    apart: Counter[str] = Counter()
    if any(run.small != "of" for run in runs.values()):
        apart.update(match[0] for text in read for match in _WORD.finditer(text))
        for name, run in runs.items():
            apart.subtract(dict.fromkeys(_WORD.findall(name), run.times))
    proven = {name for name, run in runs.items() if _proven(name, run, people, apart)} | _headed(read, people)
    return CompoundNames.of(proven) if proven else NO_COMPOUND_NAMES


def _headed(texts: Iterable[str], people: Container[str]) -> set[str]:
    """Names beginning with a common word that occur both at the beginning of a sentence and within one."""
    found: tuple[set[str], set[str]] = set(), set()
    for text in texts:
        for match in _CAPITALS.finditer(text):
            first = match[0].partition(" ")[0].casefold()
            if first in _HEADS and first not in people:
                inside = _INSIDE.search(text, max(0, match.start() - 2), match.start()) is not None
                found[inside].add(match[0])
    return found[False] & found[True]


def _opens_sentence(before: str) -> bool:
    """Whether a sentence or an item begins after this."""
    rest = before.rstrip()
    gap = before[len(rest) :]
    return not rest or "\n" in gap or rest[-1] in ".!?:" or (rest[-1] in "-–—" and gap != "")


def _add(runs: dict[str, _Run], text: str, match: re.Match[str]) -> None:
    """Record a run, without the words at its ends that are no part of it."""
    start, end = match.span()
    before = text[max(0, start - _BEFORE) : start]
    opening = _opens_sentence(before)
    words = match[0][: match.start("small") - 1 - start].split(" ")
    while len(words) > 1 and words[0].casefold() in (known.COMMON if opening else known.GRAMMAR):
        start += len(words[0]) + 1
        before, opening, words = text[max(0, start - _BEFORE) : start], False, words[1:]
    name = text[start:end]
    head, small, tail = name.partition(f" {match['small']} ")
    rest = tail.removeprefix("the ").split(" ")
    while len(rest) > 1 and rest[-1].casefold() in known.GRAMMAR:  # "Learn to Row Monday"
        rest, tail = rest[:-1], tail.rpartition(" ")[0]
    if words[0].casefold() in known.GRAMMAR or (rest[0].casefold() in known.GRAMMAR and not tail.startswith("the ")):
        return
    name = f"{head}{small}{tail}"
    run = runs.setdefault(name, _Run(match["small"]))
    after = text[start + len(name) : start + len(name) + _BEFORE]
    run.times += 1
    run.inside |= not opening
    run.acts |= opening and _ACTS.match(after) is not None
    run.acted_on |= _ACTED_ON.search(before) is not None
    run.predicate |= _PREDICATE.search(before) is not None


def _proven(name: str, run: _Run, people: Container[str], apart: Mapping[str, int]) -> bool:
    """Whether a run is one name.

    "X of Y" is one, unless X is a role. With other connecting words, the parts must never occur separately, and the
    run must recur or be a subject by itself.
    """
    head, _, tail = name.partition(f" {run.small} ")
    words = head.split(" ")
    if run.small == "of":
        if (
            len(words) > 1
            or words[0].casefold() not in known.COMMON | known.ROLES
            or words[0].casefold() in known.OF_HEADS
        ):
            return False  # recognised in each sentence by itself
        if _ROLE.fullmatch(head) or head.casefold() in known.ROLES:
            return run.times >= _TWICE and not run.predicate
        return run.inside or run.times >= _TWICE
    ends = {*words, *tail.removeprefix("the ").split(" ")}
    if any(word.casefold() in people or apart[word] > 0 for word in ends):
        return False
    match run.small:
        case "to" | "for":
            return (run.acts and head.casefold() not in known.COMMON) or run.times >= _TWICE
        case "and":
            return run.acts and run.times >= _TWICE
        case _:
            return (run.acted_on or (run.acts and tail.startswith("the "))) and run.times >= _TWICE
