"""Names identified by a neighbouring word: "team X", "project X", "the X library", "entered X status"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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


_CAPITAL: Final = r"(?:[A-Z][\w+#.-]*\w|[A-Z])(?: [A-Z][\w+#-]*){0,2}"

_TITLE_WORD: Final = r"[A-Z0-9][\w'’&.-]*"
_TITLE: Final = rf"{_TITLE_WORD}(?:(?: |: )(?:{_TITLE_WORD}|of|the|and|a|an|in|on|to|for|from|with|at|by|de|la)){{1,9}}"

PHRASES: Final = (
    PhraseRule("title", re.compile(rf"[\"“](?P<name>{_TITLE})(?<![.])[.,]?[\"”]"), "", 0.85),
    PhraseRule(
        "team",
        re.compile(
            rf"\b(?P<name>(?!The |Our |A |My |Your |His |Her |Their )(?:{_CAPITAL}|[A-Z][\w-]*(?: (?:and|&) "
            r"[A-Z][\w-]*)?) [Tt]eam)\b"
        ),
        "team",
        0.88,
    ),
    PhraseRule("team", re.compile(rf"\b(?P<name>[Tt]eam {_CAPITAL})\b"), "team", 0.88),
    PhraseRule(
        "team",
        re.compile(r"\b[Tt]he (?P<name>(?P<word>[a-z][\w-]+) (?:team|crew|unit|department|committee))\b"),
        "team",
        0.8,
    ),
    PhraseRule("project", re.compile(rf"\b(?P<name>Project {_CAPITAL})\b"), "project", 0.9),
    PhraseRule("project", re.compile(rf"\bproject (?P<name>{_CAPITAL})\b"), "project", 0.88),
    PhraseRule(
        "project",
        re.compile(
            rf"\b(?:[Tt]he|[Oo]ur|[Tt]heir|[Mm]y|a|an) (?P<name>{_CAPITAL}) (?:project|initiative|programme"
            r"|program|rewrite|migration|launch)\b"
        ),
        "project",
        0.85,
    ),
    PhraseRule(
        "tool",
        re.compile(
            rf"\b(?:[Tt]he|[Oo]ur|[Aa]n?|[Tt]heir) (?P<name>{_CAPITAL}) (?:library|framework|database|db|tool"
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
            rf"|named )?(?P<name>{_CAPITAL})\b"
        ),
        "tool",
        0.82,
    ),
    PhraseRule(
        "company",
        re.compile(rf"\b(?:company|startup|firm|employer|vendor|supplier) (?:called |named )?(?P<name>{_CAPITAL})\b"),
        "organisation",
        0.82,
    ),
    PhraseRule(
        "place", re.compile(rf"\b(?:city|town|village|state|province|country) of (?P<name>{_CAPITAL})\b"), "place", 0.85
    ),
    PhraseRule(
        "status",
        re.compile(
            r"\b(?:enter(?:ed|s|ing)?|moved (?:in)?to|went into|reached|left|exited|in) (?:the |a |an "
            r")?(?P<name>(?P<word>[a-z][\w-]+(?: [a-z][\w-]+)?) (?:status|phase|stage|mode))\b"
        ),
        "status",
        0.85,
    ),
    PhraseRule(
        "status",
        re.compile(r"\bstatus (?:changed|moved|went|switched) (?:from [\w-]+ )?to (?P<name>[\w-]+)\b"),
        "status",
        0.85,
    ),
)
"""Earlier rules take precedence."""

_CUE: Final = re.compile(
    r"[\"“][A-Z]|[Tt]eam|crew|unit\b|department|committee|[Pp]roject|initiative|programme?\b|rewrite|migration"
    r"|launch|library|framework|database"
    r"|\bdb\b|tool|package|\bapp\b|platform|service|server|cluster|SDK|API|plugin|client|CLI|compiler|cache|queue"
    "|editor|dashboard|language|company|startup|firm|employer|vendor|supplier|city|town|village|state|province"
    r"|country|status|phase|stage|mode\b"
)


_COMMON: Final = known.COMMON - {"team", "project", "data"}


def phrases(text: str, start: int, end: int) -> Iterator[NameSpan]:
    """Names in the sentence [start, end), by rule; names of later rules may overlap them."""
    if not _CUE.search(text, start, end):
        return
    for rule in PHRASES:
        for match in rule.regex.finditer(text, start, end):
            first = match["name"].split(None, 1)[0].casefold()
            word = match.groupdict().get("word")
            if rule.name != "title" and (word in known.SMALL_TEAM_WORDS or (not word and first in _COMMON)):
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
