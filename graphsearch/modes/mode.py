"""What a search mode is, and what it is asked."""

from __future__ import annotations

from typing import Literal, Protocol

import attrs

from graphsearch.columns import Keys
from graphsearch.modes.connections import NOTHING, Connected
from graphsearch.modes.findings import Findings
from graphsearch.modes.request import SearchRequest
from graphsearch.protocols import LLM, Traversal
from graphsearch.query.anchors import Anchor
from graphsearch.reading import Reader
from graphsearch.records import Vector
from graphsearch.scoring.triplets import ScoringOptions
from graphsearch.timing import Stopwatch

Part = Literal["embedder", "llm"]


@attrs.frozen(eq=False, kw_only=True)
class Question:
    """What is asked, and with what: made by the engine for one search.

    ``vector`` is the embedding of a question that is not blank, for modes that need an embedder. ``llm`` is what modes
    that need one ask.
    """

    request: SearchRequest
    scoring: ScoringOptions
    traversal: Traversal
    stopwatch: Stopwatch
    vector: Vector | None = None
    llm: LLM | None = None


@attrs.frozen(eq=False, kw_only=True)
class Answer:
    """What a mode found.

    * ``findings``: scored relations. ``anchors``: what the question names, where they were reached from that.
    * ``connected``: what several names lead to.
    * ``seeds``: where a traversal started, and relations were left out by the view.
    * ``nothing``: what to say where no relation was found. It must not tell what is hidden from what is not there.
    """

    findings: Findings
    anchors: tuple[Anchor, ...] = ()
    connected: Connected = NOTHING
    seeds: Keys | None = None
    """None where they are those of the subgraph."""
    nothing: str = "nothing was found"


class Mode(Protocol):
    """A way to answer a question. Registered under a name in the engine's ``modes``."""

    @property
    def needs(self) -> frozenset[Part]:
        """The optional parts of an engine that this mode cannot do without."""
        ...

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find relations and score them, reading through the reader only."""
        ...
