"""A search mode: three functions, of which two have defaults; and the question that they are given.

    prepare  →  find, in a snapshot  →  conclude

Everything is read in the second, in one snapshot. Slow work, such as calls of a language model, is done in the first or
the last, when none is open: on a database each holds a connection. Between the first and the second the engine embeds
the question, and in the snapshot it interprets its words: that is the question's `meaning`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, Request
from graphsearch.errors import MissingDependencyError
from graphsearch.model import Vector
from graphsearch.modes.result import SearchRequest, SearchResult
from graphsearch.question.type_profile import TypeProfile
from graphsearch.question.understanding import QuestionVectors, Understanding, understand
from graphsearch.ranking.triplets.parts import Parts
from graphsearch.ranking.triplets.retrieval import Answer, find_around

Part = Literal["embedder", "llm"]


@attrs.frozen(eq=False, kw_only=True)
class Question:
    """A question to a mode.

    * ``request``: what is asked for. ``mode`` and ``parts``: what it is answered by, and with.
    * ``plan``: what `Mode.prepare` has made for `Mode.find`. ``vectors``: the question embedded, if the mode uses it.
    * ``meaning``: its names, relations, kind and time; None before `Mode.find`, for a blank question, and for modes
      that do not interpret words.
    """

    mode: Mode
    request: SearchRequest
    parts: Parts
    plan: Any = None
    vectors: QuestionVectors | None = None
    meaning: Understanding | None = None

    @property
    def vector(self) -> Vector | None:
        """The embedding of the question, if its meaning was found with one."""
        return None if self.meaning is None else self.meaning.vector


class Mode(ABC):
    """A way to answer a question. Registered under a name in the engine's ``modes``.

    * ``needs``: the parts of an engine that it requires; a mode that needs an LLM needs a gate too. ``uses``: those
      that it uses if they are there.
    * ``interprets``: whether the words of the question are interpreted for it.
    """

    needs: ClassVar[frozenset[Part]] = frozenset()
    uses: ClassVar[frozenset[Part]] = frozenset()
    interprets: ClassVar[bool] = True

    async def prepare(self, question: Question) -> Question:
        """The question whose snapshot is opened then; by default as it is."""
        return question

    @abstractmethod
    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find relations and score them, reading only through the reader."""

    async def conclude(self, found: SearchResult, question: Question) -> SearchResult:  # noqa: ARG002 - of modes that do
        """The result as it is returned, when the snapshot is closed; by default as it was found."""
        return found


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


async def embedded(request: Request, parts: Parts) -> QuestionVectors | None:
    """Embed a question with the words that it probably asks with; None if it is blank, or without an embedder."""
    phrases = parts.caches.phrases
    if phrases is None or not request.query.strip():
        return None
    with parts.stopwatch.stage("embedding"):
        return await phrases.of_question(request.query)


async def understood(
    request: Request, vectors: QuestionVectors | None, parts: Parts, reader: Reader
) -> Understanding | None:
    """Find what a question means in a snapshot: its names, relations, kind and time; None if it is blank."""
    if not request.query.strip():
        return None
    with parts.stopwatch.stage("understanding"):
        profile = await profile_of(request, parts, reader)
        return await understand(request.query, reader, profile, vectors, as_of=request.as_of)


async def profile_of(request: Request, parts: Parts, reader: Reader) -> TypeProfile:
    """The relation types of what a request may see, and how they are worded."""
    open_apart = partial(parts.open, request)
    return await parts.caches.profiles.profile(reader, request.gate, request.known_at, open_apart)


class GraphCompletion(Mode):
    """Candidates around named and nearest entities and by facts, scored by relevance.

    Of a traversal that ranks entities, such as PageRank, the ranks count as well, and nothing else is a candidate.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        asked = question.request
        return await find_around(
            question.meaning, question.parts, reader, limit=asked.limit, seeds=asked.seeds, depth=asked.depth
        )


class TripletCompletion(Mode):
    """Relations by their facts: near in meaning or in words, each scored independently.

    Facts are found by meaning only if they were embedded: see `graphsearch.ingest.Ingestor`.
    """

    needs: ClassVar[frozenset[Part]] = frozenset({"embedder"})

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        limit = question.request.limit
        return await find_around(question.meaning, question.parts, reader, limit=limit, seeds=0, depth=None)


class Neighborhood(Mode):
    """Named entities as anchors, then the traversal, then scores by relevance, and connections."""

    async def find(self, question: Question, reader: Reader) -> Answer:
        """Find and score candidates."""
        asked = question.request
        return await find_around(
            question.meaning, question.parts, reader, limit=asked.limit, seeds=0, depth=asked.max_hops
        )
