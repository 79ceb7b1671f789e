"""Names that the words around them identify: "Team X", "project X", "the X library"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from graphsearch.text import word_lists as known
from graphsearch.text.name_spans import NameSpan


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
