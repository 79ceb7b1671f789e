"""Building blocks of the pattern tables: confidences, entity types, nouns, and the constructor of a row."""

from __future__ import annotations

import re
from typing import Final

from graphsearch.ingest.extract.rules.patterns import Phase, RelationPattern
from graphsearch.text.word_lists import word_set

CLEAR: Final = 0.88
LIKELY: Final = 0.82
AMBIGUOUS: Final = 0.68
GUESSED: Final = 0.62

PERSON: Final = ("person?",)
TEAM: Final = ("team",)
COMPANY: Final = ("organisation?", "tool", "facility")
EMPLOYER: Final = (*COMPANY, "team")
PLACE: Final = ("place?",)
GROUP: Final = ("", "team", "organisation", "project", "event", "facility", "tool")
SOMEONE: Final = ("", "person", "organisation", "team", "facility")
THING: Final = (
    "",
    "project",
    "tool",
    "organisation",
    "concept",
    "file",
    "function",
    "class",
    "module",
    "url",
    "place",
)
TOOL: Final = ("", "tool", "project", "concept", "organisation", "file", "function", "class", "module", "url")
USER: Final = (
    "",
    "file",
    "person",
    "organisation",
    "team",
    "facility",
    "project",
    "tool",
    "concept",
    "function",
    "class",
    "module",
)
MADE_THING: Final = (*THING, "event", "team", "facility")
SPONSORED: Final = (*MADE_THING, "person")
ANYTHING: Final = (*SPONSORED, "status")
SYSTEM: Final = ("", "project", "tool", "organisation", "team", "concept", "file", "function", "class", "module")

ROLES: Final = (
    "(?:(?:the|an?|our|its|new|former|senior|junior|staff|principal|chief|lead|head|software|data|product"
    "|research|general|deputy|associate|assistant|vice|executive|technical|operations|marketing|sales|design"
    "|engineering|managing)[ -])*"
)
JOB: Final = (
    f"{ROLES}(?:engineer|developer|designer|manager|analyst|scientist|researcher|nurse|teacher|doctor|professor"
    "|lecturer|director|officer|president|accountant|lawyer|architect|consultant|editor|writer|intern|employee"
    "|cto|cfo|coo|vp|chef|librarian|surgeon|technician|administrator|assistant|producer|programmer|curator"
    "|student|fellow|postdoc)"
)
OFFICER: Final = f"{ROLES}(?:cto|cfo|coo|vp|officer|employee)"
HEAD: Final = (
    f"{ROLES}(?:ceo|head|leader|lead|captain|director|chair|chairman|chairwoman|chairperson|president|principal"
    "|dean|boss|chief executive(?: officer)?|manager|coach|editor-in-chief|owner|commander|mayor|coordinator"
    "|organiser|organizer|convenor|convener|producer|skipper|foreman|forewoman)"
)
MAKER: Final = (
    "(?:original |main |co-?)?(?:creator|author|inventor|founder|designer|architect|maker|developer|composer)s?"
)


_NO_CUES: Final = word_set(
    "is are was were am be been being to by with for at the of in on from an and or as his her their its now up "
    "off out down away back who not there my has have had over any again one ly new old our team co"
)
_WORD: Final = re.compile("[a-z]{2,}")
_SLOT: Final = re.compile(r"\{\w+\}|\?P<\w+>|\[[^\]]*\]|\\.")

BOSS: Final = "(?:(?:line|direct|immediate) )?(?:managers?|boss|bosses|supervisors?|superior|team lead(?:er)?|gaffer)"
REPORT: Final = "direct reports?"
EMPLOYING: Final = "employer"
HOME: Final = "(?:home|hometown|home town)"
DWELLING: Final = "(?:flat|house|home|cottage|apartment|studio|room|place)"
RESIDENT: Final = "(?:resident|inhabitant)s?"
STANDING: Final = "(?:(?:core|founding|active|senior|board|honorary|proud|full|paid-up|newest|latest) )*"
BACKER: Final = "(?:(?:main|lead|principal|headline) )?(?:sponsors?|backers?|funders?|patrons?|benefactors?|donors?)"
MONEY: Final = "money|funding|support|sponsorship|grant|backing|contribution"
WORK: Final = "(?:invention|creation|brainchild|handiwork)"
MATE: Final = "(?:(?:old|close|former) )*(?:colleague|coworker|co-worker|teammate|collaborator)s?"


def row(
    name: str,
    type: str,
    template: str,
    source: tuple[str, ...],
    target: tuple[str, ...],
    confidence: float = CLEAR,
    phase: Phase = Phase.HOLDS,
    *,
    cues: str = "",
    called: str = "",
) -> RelationPattern:
    """A pattern whose cues are the uncommon words of its template, or of ``called``, and ``cues``."""
    return RelationPattern(
        name=name,
        type=type,
        template=template,
        source_types=source,
        target_types=target,
        cues=(word_set(" ".join(_WORD.findall(_SLOT.sub(" ", called or template)))) - _NO_CUES) | word_set(cues),
        confidence=confidence,
        phase=phase,
        trusted=True,
    )
