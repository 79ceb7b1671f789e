"""Topics of a conversation for elliptical answers: where people live, and where they work."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import attrs

from graphsearch.ingest.extract.rules.context_names import speaker_of
from graphsearch.model import Memory

REACH: Final = 4
"""Turns for which a topic stays open after the last turn that mentions or answers it."""


@attrs.frozen
class Topics:
    """The open topics of a memory: where people live, and where they work.

    ``named`` is the latest topic, to which "Leeds here" is an answer; empty in the first turn of a speaker, where
    "Bo here" is an introduction. ``places`` are the names in lower case that follow "in" or "near" in any memory.
    """

    home: bool = False
    work: bool = False
    named: str = ""
    places: frozenset[str] = frozenset()


NO_TOPICS: Final = Topics()
_PEOPLE: Final = "(?:any(?:one|body)|who|you|we|people|everyone|everybody|folks?)(?: all| else| of (?:you|us))*"
_WHERE: Final = r"\bwhere(?:abouts)?\b[^.?!]{0,40}\b"
_ASKED: Final = {
    "home": re.compile(rf"{_WHERE}(?:live|lives|living|based)\b|\b{_PEOPLE} (?:lives?|living)\b", re.IGNORECASE),
    "work": re.compile(
        rf"{_WHERE}(?:works?|working|employed)\b|\bfor a living\b|\bday jobs?\b"
        rf"|\b(?:what|whose|which)\b[^.?!]{{0,20}} jobs?\b|\b{_PEOPLE} (?:works?|working) (?:at|for|where)\b",
        re.IGNORECASE,
    ),
}
_TOLD: Final = {
    "home": re.compile(r"\b(?:live|lives|living) (?:in|at|out|up|over|down|near|round)\b", re.IGNORECASE),
    "work": re.compile(r"\b(?:works?|working) (?:at|for)\b|\bmy (?:job|work|employer)\b", re.IGNORECASE),
}
_CUE: Final = re.compile(r"\b(?:liv(?:e|ing)|where|work|day job|job)", re.IGNORECASE)
_ANSWERS: Final = re.compile(r"\b(?:I['’]?m|I am)\b|\bhere\b|^(?:\w+ )?(?:in|at) [A-Z]", re.IGNORECASE)
_PLACE: Final = re.compile(r"\b(?:in|near|around|to) ((?!I\b)[A-Z][\w-]*(?: (?!I\b)[A-Z][\w-]*){0,2})")


def topics(memories: Sequence[Memory]) -> Mapping[str, Topics]:
    """The open topics of memories, by id; the memories of a session are in order."""
    found: dict[str, Topics] = {}
    sessions: dict[str, dict[str, int]] = {}
    heard: set[str] = set()
    places = cache(lambda: frozenset(each[1].casefold() for one in memories for each in _PLACE.finditer(one.text)))
    for number, memory in enumerate(memories):
        speaker = speaker_of(memory)
        if not speaker:
            continue
        last = sessions.setdefault(memory.session_id, {})
        cued = _CUE.search(memory.text) is not None
        if cued:
            _open(last, _ASKED, memory.text, number)
        held = [topic for topic, at in last.items() if number - at <= REACH]
        if held:
            found[memory.id] = Topics("home" in held, "work" in held, held[-1] if speaker in heard else "", places())
            if _ANSWERS.search(memory.text):
                last[held[-1]] = number
        if cued:
            _open(last, _TOLD, memory.text, number)
        heard.add(speaker)
    return found


def _open(last: dict[str, int], rules: Mapping[str, re.Pattern[str]], text: str, number: int) -> None:
    """Open the topics of a text, with its number."""
    for topic, rule in rules.items():
        if rule.search(text):
            last.pop(topic, None)
            last[topic] = number
