"""Names beside the text of a memory: its speaker and its subject."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedName
from graphsearch.text.marked_names import marked_names

ROLES: Final = frozenset(
    {"user", "assistant", "system", "tool", "function", "developer", "human", "ai", "bot", "model"}
)
"""Speakers that are roles in a conversation, not persons."""
MAX_SUBJECT: Final = 120
"""Maximum characters of a subject that is a name; a longer one is a sentence."""

_BESIDE: Final = 0.9
_CALLED: Final = 0.6


def context_surfaces(memory: Memory) -> list[ExtractedName]:
    """The surfaces of the subject of a memory, in each of its forms, and of its speaker, which is last."""
    found = _subjects(subject_of(memory))
    if speaker := speaker_of(memory):
        found.append(ExtractedName(name=speaker, type="person", span=None, confidence=_BESIDE, pattern="speaker"))
    return found


def speaker_of(memory: Memory) -> str:
    """The speaker of a memory, whom "I" refers to; empty if unknown."""
    return _known(memory.speaker)


@lru_cache(maxsize=1024)
def _known(speaker: str) -> str:
    speaker = " ".join(speaker.split())
    return "" if speaker.casefold() in ROLES else speaker


def subject_of(memory: Memory) -> str:
    """The subject of a memory; empty if it has none or it is a sentence."""
    subject = " ".join(memory.subject.split())
    return subject if len(subject) <= MAX_SUBJECT else ""


def headings_of(memory: Memory) -> list[str]:
    """The headings above a memory of a document, the outermost first."""
    given = memory.attributes.get("headings")
    return [each for each in given if isinstance(each, str)] if isinstance(given, list | tuple) else []


def _subjects(subject: str) -> list[ExtractedName]:
    if not subject:
        return []
    mark = next((found for found in marked_names(subject, 0, len(subject)) if found.end == len(subject)), None)
    type_ = mark.type if mark and mark.start == 0 else ""
    found = [ExtractedName(name=subject, type=type_, span=None, confidence=_BESIDE, pattern="subject")]
    bare, _, qualifier = subject.rpartition("(")  # "Palo Alto (2013 film)" is what texts call Palo Alto
    if bare and qualifier.partition(")")[1:] == (")", ""):
        found.append(ExtractedName(name=bare.rstrip(), type="", span=None, confidence=_CALLED, pattern="subject"))
    return found
