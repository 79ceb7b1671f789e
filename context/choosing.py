"""Choose what a block shows of what was found: what pays, how little in doubt, and what holds now first. Pure.

The line of a memory pays by its place, by what it covers of the question, and by what stands above it:

    place ≤ FEW · (1 − ANSWERED · covered above) · MORE ^ (what it covers, relative to the best line)

Scores do not decide: relative to the best they mean something else in every scope. Constants are measured, each set by
the others: see docs/project/measurements/context-blocks.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from graphsearch.model import Memory, Triplet
from graphsearch.modes.result import SearchResult
from graphsearch.question.analysis import MAX_READ, Analysis, QuestionType
from graphsearch.ranking.memories.result import RecalledMemory, RecallResult
from graphsearch.text.word_lists import word_set

FEW: Final = 15.0
"""Lines without a word of the question that are shown while nothing of it is covered."""
ANSWERED: Final = 0.7
"""The share of these that is saved once the lines above cover the whole question."""
MORE: Final = 3.0
"""How many times later a line may come that covers as much of the question as the best one."""

ALWAYS: Final = 4
"""The best triplets, which stay in any case: there is no telling an answer by the relevance of so few."""
ANSWERING: Final = 0.5
"""A triplet with at least this share of the best relevance is an answer, too, so that no single answer takes all."""
DIRECT: Final = 0.3
"""The least share of the best relevance of a triplet at a name of the question."""
ONWARD: Final = 0.05
"""That of a triplet one hop on from an answer: the second step of "who leads the team that …"."""
HOPS: Final = 0.3
"""The share of its relevance that a triplet has from a hop, if it is one hop on."""

DENSE: Final = 0.5
"""The share of the memories that must state something to the graph, for its silence to mean anything."""
WORDED: Final = 0.3
"""The share of the question that must be words of the relation that it asks for, for the same."""


Terms = Callable[[str], Sequence[str]]
"""The terms of a text."""


def paying(covered: Sequence[AbstractSet[str]], rarity: Mapping[str, float]) -> list[int]:
    """The rows of the lines that pay, best first as given: by the terms of each, and how rare those of a question are.

    Only terms that any line has count: words that nobody wrote are no reason for more lines. The first always pays.
    """
    heard = frozenset[str]().union(*covered) & rarity.keys()
    whole = _weight(heard, rarity) or 1.0
    shares = [_weight(terms & heard, rarity) / whole for terms in covered]
    best = max(shares, default=0.0) or 1.0
    above: set[str] = set()
    rows = []
    for row, share in enumerate(shares):
        few = FEW * (1.0 - ANSWERED * _weight(above, rarity) / whole)
        if row == 0 or row + 1 <= few * MORE ** (share / best):
            rows.append(row)
        above |= covered[row] & heard
    return rows


def holds_more(
    some: Iterable[AbstractSet[str]], others: Iterable[AbstractSet[str]], rarity: Mapping[str, float]
) -> bool:
    """Whether one of some lines has more of the question, by the terms of each, than each of the others."""
    one, other = (
        max((_weight(each & rarity.keys(), rarity) for each in lines), default=0.0) for lines in (some, others)
    )
    return one > other


def _weight(terms: AbstractSet[str], rarity: Mapping[str, float]) -> float:
    return math.fsum(rarity[term] for term in terms)


def answering(triplets: Sequence[Triplet], rows: Sequence[int]) -> list[int]:
    """Of the ``rows`` of triplets, best first, those that answer, or go one hop on from an answer.

    All stay that were ranked by distance alone: they are what was asked for. Of the first `ALWAYS` only what is beneath
    a twentieth of the best goes: of others than those whom the question names.
    """
    near = {row: triplets[row].breakdown.proximity for row in rows}
    best = max(near.values(), default=0.0)
    ends = {end for row in rows if near[row] >= ANSWERING * best for end in _ends(triplets[row])}

    def answers(row: int) -> bool:
        parts = triplets[row].breakdown.relevance
        onward = parts.get("hops", 0.0) > HOPS * near[row] and not ends.isdisjoint(_ends(triplets[row]))
        return not parts or near[row] >= best * (ONWARD if onward else DIRECT)

    return [row for place, row in enumerate(rows) if (place < ALWAYS and near[row] >= ONWARD * best) or answers(row)]


def _ends(triplet: Triplet) -> tuple[object, object]:
    return triplet.source.id, triplet.target.id


def doubt(
    recalled: RecallResult,
    found: SearchResult | None,
    covered: Sequence[AbstractSet[str]],
    floor: float,
    terms: Terms,
) -> str:
    """Why what was found may well not answer the question; empty where nothing speaks against it.

    It is less relevant than the ``floor``, and the graph does not answer in the question's own words either; or no
    memory or end of a triplet has a word for half of what the question writes as names, by rarity; or the graph, which
    holds what most of these memories state, has no answer in the question's own words. ``covered``: the ``terms`` of
    the memories. A reason says what was found, never what there is: some of it may be hidden, or worded otherwise.
    """
    meant = found.interpretation if found is not None and found.anchors else None
    worded = meant is not None and meant.worded >= WORDED
    ends = [end for each in (found.triplets if found else ()) for end in (each.source, each.target)]
    if recalled.relevance < floor and not (worded and ends):
        return f"what was found has little to do with the question ({recalled.relevance:.2f}, less than {floor:g})"
    called = (terms(" ".join((each.name, *each.aliases))) for each in ends)
    rarity, heard = recalled.rarity, frozenset[str]().union(*covered, *called)
    names = {each.text: rarity.keys() & terms(each.text) for each in recalled.analysis.names if not each.tentative}
    every = frozenset[str]().union(*names.values())
    if every and 2.0 * _weight(every - heard, rarity) >= _weight(every, rarity):
        return f"what was found has no word of {', '.join(name for name in names if names[name] - heard)}"
    reasons = recalled.analysis.question_type in (QuestionType.WHY, QuestionType.HOW)  # which no relation states
    if worded and not ends and not reasons and recalled.stating >= DENSE:
        return "what was found states other things of what the question names"
    return ""


# -- what holds now ---------------------------------------------------------------------------------------------------

_OF_ONE_THING: Final = frozenset(QuestionType) - {QuestionType.WHY, QuestionType.HOW, QuestionType.OTHER}
_YES_OR_NO: Final = re.compile(r"\W*(?:is|are|am|do|does|can|may|should|must)\b", re.IGNORECASE)
_PAST: Final = word_set(
    "did was were had ever before earlier original originally initial initially previous previously former formerly "
    "once history between changed change changes"
)
_USED_TO: Final = re.compile(r"\buse[sd]? to\b", re.IGNORECASE)


def asks_the_present(analysis: Analysis) -> bool:
    """Whether a question asks for one thing as it is now: "what is the budget?", not "what was …", "why …"."""
    question = analysis.question[:MAX_READ]
    one = analysis.question_type in _OF_ONE_THING or _YES_OR_NO.match(question)
    past = not _PAST.isdisjoint(re.findall(r"\w+", question.lower())) or _USED_TO.search(question)
    return bool(one and not past and not analysis.features.broad)


def current_first(memories: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """Memories best first, each that is over right behind the first of those that say what came after it."""
    places = {each.memory.id: place for place, each in enumerate(memories)}

    def place(row: int) -> tuple[int, bool, int]:
        after = [places[id_] for id_ in memories[row].followed_by if id_ in places]
        return (min(after), True, row) if after and min(after) > row else (row, False, row)

    return [memories[row] for row in sorted(range(len(memories)), key=place)]


def newest_first(memories: Sequence[Memory]) -> tuple[int, ...] | None:
    """The rows of memories, the newest first; None if one of them has no date."""
    moments = [(each.occurred_at, each.position) for each in memories if each.occurred_at]
    if len(moments) < len(memories):
        return None
    return tuple(sorted(range(len(memories)), key=moments.__getitem__, reverse=True))
