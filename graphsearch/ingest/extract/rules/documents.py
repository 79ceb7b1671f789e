"""What documents state by their form: definitions, and the headings above a text as its topics.

"Foghorn is a job runner for small teams" and "**Dark Frame**: an exposure with the shutter closed" define a name by a
noun. Such sentences count in parts of documents alone: in conversations "Bo is a legend" defines nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from graphsearch.ingest.extract.rules.conversation import name_key
from graphsearch.ingest.extract.rules.relating import FoundRelation
from graphsearch.model import EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedName, Statement, fact_in
from graphsearch.text.name_spans import NameSpan
from graphsearch.text.word_lists import GENERIC_HEADINGS, MEASURES, NOUN_PHRASE_ENDS

IS_A: Final = "is_a"
HAS_TOPIC: Final = "has_topic"
HEADINGS: Final = "headings"
"""The attribute of a memory that lists the headings above it, the outermost first."""
_CONFIDENCE: Final = 0.85
_TOPIC_CONFIDENCE: Final = 0.6
_MOST_TOPICS: Final = 8
"""Maximum names of a memory that have its heading as their topic."""
_NO_TOPIC: Final = frozenset({"date", "url"})
_LONGEST_HEADING: Final = 6
_LONGEST_PHRASE: Final = 4
"""Maximum words of a heading and of a noun that are names."""

_MARKS: Final = r"[*_`\"”’]{0,3}"
_LEAD: Final = re.compile(r"(?:(?:The|A|An|In \w+,) )?[*_`\"“]{0,3}")
_DEFINES: Final = re.compile(
    rf"{_MARKS}(?: \([^()]{{1,60}}\))?(?:, [^,.;]{{1,60}},)?(?: (?:is|are|was|were)(?: (?:still|also|basically"
    rf"|essentially))?"
    rf"|:{_MARKS}| [–—-]{{1,2}}| (?:means|denotes|refers to)) (?:an?|the|one of the) "
)
# "A *pulse* is a message"
_TERM: Final = re.compile(
    r"(?:An? |The )?[*_]{1,2}(?P<term>[A-Za-z][\w-]{0,40}(?: [\w-]{1,40}){0,3})[*_]{1,2}(?=:| [–—-]| (?:is|are|means"
    r"|denotes|refers) )"
)
_NOUN: Final = re.compile(r"[A-Za-z][\w'’-]*")
_KIND: Final = re.compile(r" of (?:an? |the )?")
_OF: Final = re.compile(r" (?:of|for|at|in|with|on) (?:the |an? |our )?")
_PARTICIPLE: Final = re.compile(r"(?:ed|ing)$")


def may_define(memory: Memory) -> bool:
    """Whether the sentences of a memory may be definitions: it is a part of a document, and has no speaker."""
    return not memory.speaker and (HEADINGS in memory.attributes or bool(memory.source))


def defined_term(text: str, start: int, end: int) -> NameSpan | None:
    """The emphasised term that the sentence [start, end) defines; None if there is none."""
    match = _TERM.match(text, max(0, start - 2) if text[max(0, start - 2) : start].strip("*_") == "" else start, end)
    if match is None:
        return None
    return NameSpan(
        start=match.start("term"), end=match.end("term"), type="", confidence=_CONFIDENCE, pattern="defined"
    )


def definition(text: str, start: int, end: int, names: Sequence[NameSpan]) -> tuple[int, NameSpan] | None:
    """The number of the name that a sentence defines, and the noun that defines it; None if it defines none."""
    lead = _LEAD.match(text, start, end)
    opening = lead.end() if lead else start
    for number, name in enumerate(names):
        if name.start > opening:
            return None
        if (
            name.end > opening
            and (found := _DEFINES.match(text, name.end, end))
            and (noun := _noun_phrase(text, found.end(), end))
        ):
            return number, NameSpan(
                start=noun[0], end=noun[1], type="concept", confidence=_CONFIDENCE, pattern=IS_A, tentative=True
            )
    return None


def _noun_phrase(text: str, at: int, end: int) -> tuple[int, int] | None:
    """The noun with the words before it that begins at ``at``; None if it is none, or only a measure ("a lot of")."""
    words: list[re.Match[str]] = []
    while (match := _NOUN.match(text, at, end)) and len(words) <= _LONGEST_PHRASE:
        key = match[0].casefold()
        if key in NOUN_PHRASE_ENDS or (words and _PARTICIPLE.search(key)):
            break
        words.append(match)
        at = match.end() + 1
        if text[match.end() : match.end() + 1] != " ":
            break
    if not words or len(words) > _LONGEST_PHRASE:
        return None
    head = words[-1][0].casefold()
    if head in MEASURES:
        kind = _KIND.match(text, words[-1].end(), end) if MEASURES[head] else None
        return _noun_phrase(text, kind.end(), end) if kind else None
    return words[0].start(), words[-1].end()


def is_of(between: str) -> bool:
    """Whether the text between two names is a preposition that makes the first a role in the second."""
    return _OF.fullmatch(between) is not None


def is_a(source: int, target: int, source_type: str) -> FoundRelation:
    """The relation from a name to the noun that defines it."""
    return FoundRelation(
        source=source,
        type=IS_A,
        target=target,
        confidence=_CONFIDENCE,
        kind=EdgeKind.SEMANTIC,
        valid_from=None,
        valid_to=None,
        pattern=IS_A,
        source_type=source_type,
        target_type="concept",
    )


# -- topics -----------------------------------------------------------------------------------------------------------


def topic_of(memory: Memory) -> str:
    """The nearest heading above a text without a speaker that names something, unlike "Introduction"; else empty."""
    headings = None if memory.speaker else memory.attributes.get(HEADINGS)
    if not isinstance(headings, list | tuple):
        return ""
    named = (each for each in reversed(headings) if isinstance(each, str) and _names(each))
    return next(named, "")


def _names(heading: str) -> bool:
    words = heading.casefold().strip(" .:!?").split()
    return 0 < len(words) <= _LONGEST_HEADING and " ".join(words) not in GENERIC_HEADINGS


def heading_surface(heading: str) -> ExtractedName:
    """A heading as a name outside of the text."""
    return ExtractedName(name=heading, type="", span=None, confidence=_TOPIC_CONFIDENCE, pattern=HAS_TOPIC)


def opens(text: str, start: int, name: NameSpan) -> bool:
    """Whether a name or pronoun is the first word of the sentence that begins at ``start``, after an article."""
    lead = _LEAD.match(text, start)
    return start <= name.start <= (lead.end() if lead else start)


def topics(
    memory: Memory,
    heading: ExtractedName,
    below: Iterable[tuple[Span, ExtractedName]],
    claimed: Iterable[Statement],
) -> Iterator[Statement]:
    """The statements that the names of a text have its heading as their topic.

    ``below`` are the names that sentences are about. Those that ``claimed`` statements relate to the heading are left
    out.
    """
    own = name_key(heading.name)
    seen = {own}
    for each in claimed:
        ends = name_key(each.source.name), name_key(each.target.name)
        seen.update(ends if own in ends else ())
    first: dict[str, tuple[Span, ExtractedName]] = {}
    for span, name in below:
        key = name_key(name.name)
        if key not in seen and name.type not in _NO_TOPIC:
            first.setdefault(key, (span, name))
    for span, name in list(first.values())[:_MOST_TOPICS]:
        yield Statement(
            source=name,
            type=HAS_TOPIC,
            target=heading,
            confidence=_TOPIC_CONFIDENCE,
            kind=EdgeKind.SEMANTIC,
            valid_from=None,
            valid_to=None,
            fact=fact_in(memory, span),
            span=span,
            pattern=HAS_TOPIC,
        )
