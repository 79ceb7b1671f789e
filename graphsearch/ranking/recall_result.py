"""What a caller of `GraphSearchEngine.recall` can ask for, the constants of the score, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, get_args

import attrs

from graphsearch.access.reader import Request
from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, ElementRef, Memory, Scope, ScorePart
from graphsearch.model import validation as check
from graphsearch.protocols import Embedder
from graphsearch.question.analysis import Analysis
from graphsearch.ranking.scores import Part

ChannelName = Literal["lexical", "semantic", "graph", "temporal"]
CHANNELS: tuple[ChannelName, ...] = ("lexical", "semantic", "graph", "temporal")


class Workload(StrEnum):
    """Kinds of questions that an application asks, each with a weight of the graph."""

    RELATIONAL = "relational"
    """How things are connected: the graph counts twice."""
    GENERAL = "general"
    """The default."""
    INFORMATIONAL = "informational"
    """What texts state: the graph counts half."""
    TEXT = "text"
    """Texts alone, without the graph."""

    @property
    def graph_weight(self) -> float:
        """The weight of the graph: 2.0, 1.0, 0.5 or 0."""
        return _GRAPH_WEIGHTS[self]


_GRAPH_WEIGHTS: Final = {
    Workload.RELATIONAL: 2.0,
    Workload.GENERAL: 1.0,
    Workload.INFORMATIONAL: 0.5,
    Workload.TEXT: 0.0,
}
Fusion = Literal["walk", "rrf", "zscore"]
SEMANTIC_WEIGHT: Final = 0.5
"""Of an embedder that states no other: right for static embeddings such as WordLlama's, and safe for better ones."""
FLOOR: Final = 0.15
"""Where no embedder states another. Measured without any: of six sets, each loses at most 2 % of its questions."""


@attrs.frozen(kw_only=True)
@check.checked(
    "recall scoring",
    fusion=check.among(*get_args(Fusion)),
    **dict.fromkeys(("candidates", "restart_memories", "unlinked_memories", "subject_weight"), check.within(1)),
    **dict.fromkeys(("temporal_weight", "semantic_weight", "neighbour", "second_neighbour"), check.within(0)),
    **dict.fromkeys(("answer", "session", "speaker", "context_words", "memory_mass"), check.within(0)),
    **dict.fromkeys(("text_boost", "deployment"), check.within(0)),
)
class RecallScoring:
    """The constants of recall. `docs/project/measurements/recall.md` says how each was chosen, and how much it matters.

    * ``fusion``: "walk" fuses words and meaning first and walks from what they find; "rrf" and "zscore" walk apart and
      fuse the graph in as one ranking more.
    * ``candidates``: how many memories each search gives.
    * ``semantic_weight``: of z-scored cosines, where BM25 has 1.0; any number ≥ 0. None: what the embedder states
      (``recall_weight``), else `SEMANTIC_WEIGHT`.
    * ``passage``: the part of a long memory's BM25 that counts only as far as one passage holds what the whole does.
    * ``by_intent``: whether channels weigh as the question's intent says.
    * ``neighbour``, ``answer``, ``second_neighbour``: what a turn takes of the score of the turns next to it, of the
      turn before where that asks something, and of those two away. ``session``: what it gets for the share of the
      question that its session holds, relative to the best session. ``speaker``: what it gets if its speaker is the
      only one that the question names. ``temporal_weight``: what a memory gets for being of a time that is asked for.
    * ``context_words``: a turn of more words takes less from those around it, in inverse proportion.
    * ``anchored``: the share of the question, rare terms and rare entities counting more, that the names walked from
      must cover for the walk to count in full; below, its weight falls with the square of what they cover, to
      ``unanchored`` at least, which is what it counts where no name leads anywhere.
    * ``text_share``: of every k memories shown, at least this share are the best by words and meaning.
    * ``restart``: probability of a walk to start again. ``memory_mass``: what the ``restart_memories`` best memories
      carry of the walk's start together, next to the graph's weight on the linked entities; where none is linked, the
      ``unlinked_memories`` best carry all of it.
    * ``subject_weight``: how much likelier an entity leads to a memory that is about it than to one that mentions it.
    * ``text_boost`` β: what arrives at a memory counts (1 + β · text) / (1 + β) times.
    * ``max_share``: entities in more than this share of the memories are walked past.
    * ``deployment``: the graph's weight where this runs, any number ≥ 0, unless a request names a `Workload`.
    * ``feedback_influence`` φ: in [0, 1].
    * ``floor``: how relevant an answer must be for anything to be shown, in [0, 1], where meaning is asked for and the
      request does not say. None: what the embedder states (``relevance_floor``), else `FLOOR`.
    """

    fusion: Fusion = "walk"
    candidates: int = 200
    semantic_weight: float | None = None
    passage: float = 0.5
    by_intent: bool = False
    temporal_weight: float = 0.1
    neighbour: float = 0.4
    answer: float = 1.0
    second_neighbour: float = 0.2
    session: float = 0.3
    speaker: float = 0.1
    context_words: float = 50.0
    anchored: float = 0.15
    unanchored: float = 0.1
    text_share: float = 0.4
    restart: float = 0.3
    memory_mass: float = 0.3
    restart_memories: int = 100
    unlinked_memories: int = 5
    subject_weight: float = 20.0
    max_share: float = 0.05
    text_boost: float = 0.5
    deployment: float = 1.0
    feedback_influence: float = 0.3
    floor: float | None = None


def for_embedder(scoring: RecallScoring, embedder: Embedder | None) -> RecallScoring:
    """The constants with those that an embedder states for itself, where none are given.

    An embedder may have ``recall_weight`` and ``relevance_floor`` as attributes (docs/reference/models.md).
    """
    weight = getattr(embedder, "recall_weight", None) if scoring.semantic_weight is None else scoring.semantic_weight
    floor = getattr(embedder, "relevance_floor", None) if scoring.floor is None else scoring.floor
    return attrs.evolve(scoring, semantic_weight=weight, floor=floor)


def _channels(_: str, given: Iterable[str]) -> str | None:
    return next((fault for name in given if (fault := check.one_of("channel", name, CHANNELS))), None)


@attrs.frozen(kw_only=True)
@check.checked(
    "recall",
    channels=_channels,
    min_relevance=check.unit,
    health=check.unit,
    workload=check.among(*map(str, Workload)),
)
class RecallRequest(Request):
    """One recall, checked.

    * ``channels``: which channels to ask; without an embedder there is no semantic one.
    * ``min_relevance``: how much what is found must have to do with the question, in [0, 1], or nothing is returned; by
      default what was measured for the embedder (`RecallScoring.floor`), 0 is off.
    * ``health`` of the graph, in [0, 1] (`graphsearch.curation`): below 0.70 the graph counts for less. By default what
      is stored with the graph; 1 where anything may be hidden from the principal.
    * ``workload``: the kind of questions, which weights the graph; by default `RecallScoring.deployment` does.

    Results are memories, whose scores are relative to the best found, however good that is; those from after ``as_of``
    or ``known_at`` are left out.
    """

    channels: tuple[ChannelName, ...] = CHANNELS
    min_relevance: float | None = None
    health: float | None = None
    workload: Workload | str | None = None


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
      `graphsearch.ranking.walk`); unlike scores, which are relative to the best of the same question, it is
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
