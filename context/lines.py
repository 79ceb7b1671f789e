"""The lines of a block, each with its element and its tokens, and why something that was found has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import attrs

from graphsearch.model import ElementKind, Triplet
from graphsearch.modes.result import SearchResult
from graphsearch.ranking.memories.result import RecalledMemory, RecallResult

FIRST = 25
"""Of so many of the best triplets, and of as many memories, a block says why they are not in it."""


@attrs.frozen
class BlockLine:
    """A line of a block.

    * ``key``: "relation:ID" or "memory:ID"; empty for a heading. ``text``: the line, without its line break.
    * ``tokens``: of the line with its line break, which the last line has not. A `TiktokenCounter` counts line by line,
      so that they add up to the tokens of the block; with a counter that merges lines they need not.
    """

    key: str
    text: str
    tokens: int


class Reason(StrEnum):
    """Why something that was found is not in a block."""

    ROOM = "room"
    SHARE = "share"
    """It would fit, but not into the part of the budget that its section may use."""
    REPEATS = "repeats"
    ENOUGH = "enough"
    """Better memories cover the question."""
    RELEVANCE = "relevance"
    FLOOR = "floor"
    """Its score has faded: beside memories it is worth no line."""
    CO_OCCURRENCE = "co_occurrence"
    """It states nothing but that two names occur together."""
    DOUBT = "doubt"
    """All that was found has little to do with the question."""
    NO_TEXT = "no_text"
    """A memory of which nothing can be shown."""


@attrs.frozen
class Omitted:
    """Something found that is not in a block: the ``reason``, also as a ``sentence``.

    ``key`` as in `BlockLine`; ``tokens``: what its line needs, where room is what it lacks, else 0.
    """

    reason: Reason
    sentence: str
    tokens: int = 0
    key: str = ""


REPEATS = Omitted(Reason.REPEATS, "It repeats what another line of the block says.")
ENOUGH = Omitted(Reason.ENOUGH, "The memories above it cover the question.")
RELEVANCE = Omitted(Reason.RELEVANCE, "It is far less relevant to the question than the best relation.")
LOW_SCORE = Omitted(Reason.FLOOR, "Its score is too low for a line beside memories.")
CO_OCCURRENCE = Omitted(Reason.CO_OCCURRENCE, "It only says that two names occur together: no line beside memories.")
FOREIGN = Omitted(Reason.DOUBT, "It has no word of the question, and little to do with it.")
NO_TEXT = Omitted(Reason.NO_TEXT, "Its text is not kept: there is nothing to show.")
CROWDED = Omitted(Reason.ROOM, "No room: counted together, the lines need more than the budget.")


def no_room(tokens: int, left: int, budget: int) -> Omitted:
    """What does not fit into what is left of a budget."""
    return Omitted(Reason.ROOM, f"No room: it needs {tokens} tokens, and {left} of {budget} are left.", tokens)


def no_share(tokens: int, share: int) -> Omitted:
    """A relation that fits into the budget, but not into the part of it that relations have beside memories."""
    sentence = f"No room: it needs {tokens} tokens, and beside memories such relations may use {share} in all."
    return Omitted(Reason.SHARE, sentence, tokens)


def key_of(found: Triplet | RecalledMemory) -> str:
    """The key of an element."""
    if isinstance(found, Triplet):
        return f"{ElementKind.RELATION}:{found.relation.id}"
    return f"{ElementKind.MEMORY}:{found.memory.id}"


def first_omitted(
    why: Mapping[str, Omitted], found: SearchResult | None, recalled: RecallResult | None
) -> tuple[Omitted, ...]:
    """Of the best triplets and memories those that are not in the block, best first, by the reason of each key."""
    best: Sequence[Triplet | RecalledMemory] = (
        *(found.triplets[:FIRST] if found else ()),
        *(recalled.memories[:FIRST] if recalled else ()),
    )
    return tuple(attrs.evolve(why[key], key=key) for key in dict.fromkeys(map(key_of, best)) if key in why)
