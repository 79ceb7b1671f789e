"""The protocol of a search mode, and the question it is given.

A question passes through a mode in up to three phases. Everything is read in the second, in one snapshot; slow work,
such as calls of a language model, is done in the first or the last, when no snapshot is open, since on a database each
holds a connection.

    prepare (optional)  →  find, in a snapshot  →  conclude (optional)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

import attrs

from graphsearch._support.timing import Stopwatch
from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader
from graphsearch.columns import Keys
from graphsearch.errors import MissingDependencyError
from graphsearch.model import Vector
from graphsearch.modes.graph_query import GraphQuery
from graphsearch.modes.options import SearchRequest
from graphsearch.modes.result import SearchResult
from graphsearch.protocols import LLM, Embedder, Traversal
from graphsearch.question.interpreting import PhraseVectors, Understanding
from graphsearch.question.question_names import Anchor
from graphsearch.question.type_profile import ProfileCache
from graphsearch.ranking.triplets.connections import NOTHING, Connected
from graphsearch.ranking.triplets.findings import Findings
from graphsearch.ranking.triplets.triplet_score import ScoringOptions
from graphsearch.ranking.triplets.word_coverage import Lexicon, LineTerms

Part = Literal["embedder", "llm"]


@attrs.frozen(eq=False, kw_only=True)
class Question:
    """A question and the parts to answer it with: created by the engine for one search.

    ``open`` opens a snapshot for a request. ``vector`` is the embedding of a question that is not blank, for modes that
    need an embedder and do not prepare questions; ``embedder`` is for modes that use one if there is one. ``llm`` is
    the language model for modes that need one. ``graph_query`` is the model's translation of the question, if a mode
    requested it, and ``understanding`` its interpretation, for modes that `graphsearch.modes.steps` prepares;
    ``profiles``, ``lexicon``, ``line_terms`` and ``phrases`` are caches that outlive the question, ``now`` is the
    present.
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
        """A snapshot, read through the gate of the request."""
        return self.open(self.request)


@attrs.frozen(eq=False, kw_only=True)
class Answer:
    """The findings of a mode.

    * ``findings``: scored relations. ``anchors``: the entities that the question names, if the search started there.
    * ``connected``: what several names lead to.
    * ``subjects``: the ids of the entities that the question is itself about, best first: those that it describes, or
      those that it names without asking for anything else.
    * ``seeds``: where a traversal started, and the view left out relations.
    * ``nothing``: the reason if no relation was found. It must not distinguish hidden from absent elements.
    """

    findings: Findings
    anchors: tuple[Anchor, ...] = ()
    subjects: tuple[UUID, ...] = ()
    connected: Connected = NOTHING
    seeds: Keys | None = None
    """None if they are those of the subgraph."""
    left_out: Mapping[str, int] | None = None
    """Number of relations of the seeds that the view left out, by reason; None if not counted yet."""
    nothing: str = "nothing was found"


class Mode(Protocol):
    """A way to answer a question. Registered under a name in the engine's ``modes``.

    It may also have ``async prepare(question)``, which returns the question whose snapshot is opened then, and
    ``async conclude(found, question)``, which completes the result when the snapshot is closed.
    """

    @property
    def needs(self) -> frozenset[Part]:
        """The optional parts of an engine that this mode requires; one that needs an LLM needs a gate too."""
        ...

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find relations and score them, reading only through the reader."""
        ...


# Checked by name: `isinstance` with a runtime protocol takes as long as a step of a walk.


async def prepared(mode: Mode, question: Question) -> Question:
    """The question as prepared by a mode."""
    prepare: Any = getattr(mode, "prepare", None)
    return await prepare(question) if prepare else question


async def concluded(mode: Mode, found: SearchResult, question: Question) -> SearchResult:
    """The result as completed by a mode."""
    conclude: Any = getattr(mode, "conclude", None)
    return await conclude(found, question) if conclude else found


T = TypeVar("T")


def require(part: Part, given: T | None, mode: str) -> T:
    """A part that a mode requires. Raises `MissingDependencyError` with the mode, the part, and how to pass it."""
    if given is None:
        without = "; the mode 'neighborhood' works without one" if part == "embedder" else ""
        raise MissingDependencyError(
            f"the mode {str(mode)!r} needs an {part}: GraphSearchEngine(store=…, {part}=…){without}"
        )
    return given


def require_gate(gate: Gate | None, mode: str) -> Gate:
    """The gate that a mode needs, since what goes to a language model must have passed one.

    Raises `MissingDependencyError` that names the mode, and how to pass a gate.
    """
    if gate is None:
        raise MissingDependencyError(
            f"the mode {str(mode)!r} shows parts of the graph to a language model, and needs a gate: search(…,"
            " gate=Gate(authorizer, principal)), or gate=ALLOW_ALL where all of it may be shown"
        )
    return gate
