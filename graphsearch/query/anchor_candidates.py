"""Anchor candidates: the runs of a question's words to look up, and which of the found names to accept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import NameMatch
from graphsearch.model.identity import CASE_SENSITIVE_TYPES, normalise_name
from graphsearch.text.analyser import STOP_WORDS

MAX_WORDS: Final = 8
MAX_NAMESAKES: Final = 5
"""A name shared by more entities than this is not accepted for any of them."""
MAX_QUESTION_WORDS: Final = 256

BY_NAME: Final = 1.0
BY_ALIAS: Final = 0.9
"""Lower than for a name: many aliases are casual ("Ada", "the boss"), and shared by other entities."""

_WORD: Final = re.compile(r"[@#]?[^\W](?:[\w.\-/:@&+]*[\w+#])?")
_FINAL: Final = frozenset("!?.")
"""Characters that a name may end with: "Oh-Baby!", "Jr."."""
_IDENTIFIER: Final = re.compile(r"[_.\d/:]|[a-z][A-Z]|^[A-Z]")


@attrs.frozen(kw_only=True)
class Anchor:
    """An entity that the question names.

    ``name`` is its name as written in the question, ``alias`` whether that matches an alias only, ``confidence`` in
    [0, 1] of the link: `BY_NAME`, `BY_ALIAS`, or the similarity of the most similar name. ``spans`` are the characters
    [start, end) of the question where it is named, in the order they were found. ``whole``: whether it is named by a
    whole name anywhere, not only by parts of one.
    """

    entity_id: UUID
    name: str
    alias: bool
    confidence: float
    spans: tuple[tuple[int, int], ...]
    whole: bool = True


@attrs.frozen(kw_only=True)
class Run:
    """A run of the question's words: its characters [start, end)."""

    name: str
    written: str
    start: int
    end: int


def runs(question: str) -> list[Run]:
    """Every run of up to eight words that could be a name, longest first, then from left to right."""
    words = list(_WORD.finditer(question))[:MAX_QUESTION_WORDS]
    found = []
    for length in range(min(MAX_WORDS, len(words)), 0, -1):
        for first, last in zip(words, words[length - 1 :], strict=False):
            for end in _ends(question, first.start(), last.end()):
                written = question[first.start() : end]
                if length > 1 or written.casefold() not in STOP_WORDS:
                    found.append(Run(name=normalise_name(written), written=written, start=first.start(), end=end))
    return found


def _ends(question: str, start: int, end: int) -> list[int]:
    """The possible ends of a run, the longest first: with the mark behind it, a part of some names, or without."""
    mark = question[end : end + 1]
    closed = question.count("(", start, end) > question.count(")", start, end) and mark == ")"
    return [end + 1, end] if closed or mark in _FINAL else [end]


def anchors(question_runs: Sequence[Run], matches: Iterable[NameMatch], types: Mapping[UUID, str]) -> list[Anchor]:
    """The entities named, the longest runs first; a run inside of an accepted one is ignored.

    ``types`` has the type of every visible entity; others are not anchors. Names take precedence over aliases. A plain
    lower-case word does not name code: "done" in a question is hardly the method of that name.
    """
    by_name: dict[str, list[NameMatch]] = {}
    for match in matches:
        if match.entity_id in types:
            by_name.setdefault(match.name, []).append(match)
    found: list[Anchor] = []
    taken: list[Run] = []
    for run in question_runs:
        if any(run.start < other.end and other.start < run.end for other in taken):
            continue
        named = [match for match in by_name.get(run.name, []) if _believable(run, match, types[match.entity_id])]
        exact = [match for match in named if not match.alias] or named
        if 0 < len(exact) <= MAX_NAMESAKES:
            taken.append(run)
            found += (
                Anchor(
                    entity_id=match.entity_id,
                    name=run.written,
                    alias=match.alias,
                    confidence=BY_ALIAS if match.alias else BY_NAME,
                    spans=((run.start, run.end),),
                )
                for match in exact
            )
    return joined(found)


def joined(found: Iterable[Anchor]) -> list[Anchor]:
    """One anchor per entity, the most confident, with all of its spans; in order of the first."""
    known: dict[UUID, Anchor] = {}
    for anchor in found:
        before = known.get(anchor.entity_id, anchor)
        surest = anchor if anchor.confidence > before.confidence else before
        spans = anchor.spans if anchor is before else before.spans + anchor.spans
        known[anchor.entity_id] = attrs.evolve(surest, spans=spans)
    return list(known.values())


def _believable(run: Run, match: NameMatch, entity_type: str) -> bool:
    plain_word = " " not in run.written and not _IDENTIFIER.search(run.written)
    return not (plain_word and match.alias and entity_type in CASE_SENSITIVE_TYPES)
