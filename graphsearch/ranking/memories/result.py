"""What a recall answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import attrs

from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, ElementRef, Memory, Scope, ScorePart
from graphsearch.question.analysis import Analysis
from graphsearch.ranking.fusion import Part


@attrs.frozen(kw_only=True)
class RecalledMemory:
    """A memory with its score in [0, 1] and the parts that add up to it.

    ``channels`` has, by channel, the memory's rank from 1, its score there, the channel's weight, and what it
    contributed; besides the requested channels, "conversation" for what the turns around it gave, and "feedback".
    ``path`` is how the graph led to it: from an entity that the question names, or a memory that its words found, by
    mentions to the memory itself; empty where the graph did not. ``until`` is when the last of what it claims ended, by
    what other memories claim; None of one that holds, or claims nothing. ``now`` is the name of what holds instead, and
    ``followed_by`` are the memories that say so, by id. ``scopes``: the one that it is of, in the answer of a
    `FederatedEngine`; else empty.
    """

    memory: Memory
    score: float
    channels: Mapping[str, Part]
    path: tuple[ElementRef, ...]
    until: datetime | None = None
    now: str = ""
    followed_by: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The parts that add up to the score, one a channel; a value is the channel's own score."""
        return tuple(ScorePart.adding(name, part.score, part.contribution) for name, part in self.channels.items())


@attrs.frozen(kw_only=True)
class RecallResult(Displayed):
    """The memories that a question recalls, best first; equal scores always in the same order.

    * ``analysis``: what the question asks, with the entities that it names. ``weights``: of the channels.
    * ``relevance``: how much the best found have to do with the question, in [0, 1] (see
      `graphsearch.ranking.memories.leads`); unlike scores, which are relative to the best of the same question, it is
      comparable between questions. 0 where nothing was found.
      Where it is below ``floor`` nothing is shown.
    * ``stating``: the share of the ``memories`` that state something to the graph, whether it still holds or not.
    * ``rarity``: how telling each term of the question is, the idf of the scope; of no term where there is none.
    * ``health``: of the graph, as given or as stored with it; below 0.70 the graph counted for less. None: not known.
    * ``found``: how many memories were scored. ``denied``: distinct elements that the gate hid, for the caller alone;
      ``denied_by``: how many of them each policy hides by itself, behind a gate that ``explains``.
    * ``reason``: why nothing was recalled; empty where something was.
    * ``timings``: milliseconds by stage. ``scopes``: those that were searched, of a `FederatedEngine`; else empty.
    """

    query: str
    memories: tuple[RecalledMemory, ...]
    analysis: Analysis
    weights: Mapping[str, float]
    as_of: datetime
    known_at: datetime
    relevance: float
    found: int
    denied: Mapping[ElementKind, int]
    reason: str
    timings: Mapping[str, float] = attrs.field(eq=False)
    rarity: Mapping[str, float] = attrs.field(factory=dict)
    floor: float = 0.0
    stating: float = 0.0
    denied_by: Mapping[str, int] = attrs.field(factory=dict)
    health: float | None = None
    scopes: tuple[Scope, ...] = ()

    def __str__(self) -> str:
        return print_listing(
            self.query,
            f"{len(self.memories)} of the {self.found} memories found",
            hidden(self.denied),
            head=("when", "who", "memory"),
            rows=[(each.score, _described(each.memory)) for each in self.memories],
            reason=self.reason,
        )


def _described(memory: Memory) -> tuple[str, str, str]:
    """When it occurred, whose it is, and its text."""
    day = f"{memory.occurred_at:%Y-%m-%d}" if memory.occurred_at else ""
    return day, memory.speaker or memory.subject, memory.text
