"""What a search mode is, and what it is asked.

A question flows through a mode in up to three phases. Everything is read in the second, in one snapshot; what takes its
time, such as asking a language model, is done in the first or the last, when no snapshot is open, since on a database
each holds a connection.

    prepare (optional)  →  find, in a snapshot  →  conclude (optional)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Literal, Protocol, cast
from uuid import UUID

import attrs

from graphsearch._support.timing import Stopwatch
from graphsearch.access.reader import Reader
from graphsearch.columns import Keys
from graphsearch.graph_query.query import GraphQuery
from graphsearch.model import Vector
from graphsearch.modes.connections import NOTHING, Connected
from graphsearch.modes.findings import Findings
from graphsearch.modes.options import SearchRequest
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import LLM, Embedder, Traversal
from graphsearch.query.anchor_candidates import Anchor
from graphsearch.relevance.lexicon import Lexicon
from graphsearch.relevance.lines import LineTerms
from graphsearch.scoring.triplet_score import ScoringOptions
from graphsearch.understanding.interpreting import PhraseVectors
from graphsearch.understanding.profiling import ProfileCache
from graphsearch.understanding.understood import Understanding

Part = Literal["embedder", "llm"]


@attrs.frozen(eq=False, kw_only=True)
class Question:
    """What is asked, and with what: made by the engine for one search.

    ``open`` opens a snapshot for a request. ``vector`` is the embedding of a question that is not blank, for modes that
    need an embedder and do not prepare questions; ``embedder`` is for those that only use one where there is one.
    ``llm`` is what modes that need one ask. ``graph_query`` is what a model made of the question, if a mode had it do
    so, and ``understanding`` what the words of the question mean, for modes that `graphsearch.modes.question`
    prepares; ``profiles``, ``lexicon``, ``line_terms`` and ``phrases`` are what that keeps from one question to the
    next, ``now`` the present.
    """

    request: SearchRequest
    scoring: ScoringOptions
    traversal: Traversal
    stopwatch: Stopwatch
    open: Callable[[SearchRequest], AbstractAsyncContextManager[Reader]]
    profiles: ProfileCache
    now: datetime
    lexicon: Lexicon
    line_terms: LineTerms
    phrases: PhraseVectors | None = None
    vector: Vector | None = None
    embedder: Embedder | None = None
    llm: LLM | None = None
    graph_query: GraphQuery | None = None
    understanding: Understanding | None = None

    def reading(self) -> AbstractAsyncContextManager[Reader]:
        """A snapshot, seen through the gate of the request."""
        return self.open(self.request)


@attrs.frozen(eq=False, kw_only=True)
class Answer:
    """What a mode found.

    * ``findings``: scored relations. ``anchors``: what the question names, where they were reached from that.
    * ``connected``: what several names lead to.
    * ``subjects``: the ids of the entities that the question is itself about, best first: those that it describes, or
      those that it names and asks nothing more of.
    * ``seeds``: where a traversal started, and relations were left out by the view.
    * ``nothing``: what to say where no relation was found. It must not tell what is hidden from what is not there.
    """

    findings: Findings
    anchors: tuple[Anchor, ...] = ()
    subjects: tuple[UUID, ...] = ()
    connected: Connected = NOTHING
    seeds: Keys | None = None
    """None where they are those of the subgraph."""
    left_out: Mapping[str, int] | None = None
    """How many relations of the seeds the view left out, by reason; None where that was not counted yet."""
    nothing: str = "nothing was found"


class Mode(Protocol):
    """A way to answer a question. Registered under a name in the engine's ``modes``."""

    @property
    def needs(self) -> frozenset[Part]:
        """The optional parts of an engine that this mode cannot do without; one that needs an LLM needs a gate too."""
        ...

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find relations and score them, reading through the reader only."""
        ...


class Preparing(Mode, Protocol):
    """A mode that has something to do before the snapshot is opened."""

    async def prepare(self, question: Question) -> Question:
        """The question as `find` is to answer it, in a snapshot that is opened for its request."""
        ...


class Concluding(Mode, Protocol):
    """A mode that has something to do after the snapshot is closed."""

    async def conclude(self, found: SearchResult, question: Question) -> SearchResult:
        """The result with what follows from it."""
        ...


# Looked for by name: asking by `isinstance` whether a protocol is kept takes as long as a step of a walk.


async def prepared(mode: Mode, question: Question) -> Question:
    """The question as a mode is to answer it."""
    return await cast("Preparing", mode).prepare(question) if hasattr(mode, "prepare") else question


async def concluded(mode: Mode, found: SearchResult, question: Question) -> SearchResult:
    """The result of a mode."""
    return await cast("Concluding", mode).conclude(found, question) if hasattr(mode, "conclude") else found
