"""What a question is answered with, and what an engine keeps from one question to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

import attrs

from graphsearch._support.timing import Stopwatch
from graphsearch.access.reader import Reader, Request
from graphsearch.access.searches import DocumentCache
from graphsearch.model import Scope
from graphsearch.protocols import LLM, Embedder, Traversal
from graphsearch.question.type_profile import ProfileCache
from graphsearch.question.understanding import PhraseVectors
from graphsearch.ranking.triplets.triplet_score import ScoringOptions
from graphsearch.ranking.triplets.words import Lexicon, LineTerms


class Caches:
    """All that an engine keeps of questions, for one embedder.

    What was read of a scope is of one version of it, and of one gate: ``profiles`` of its relation types, for each of
    these in the ``lexicon`` the terms of entities that were read, and ``documents``, the words of what may be seen. The
    rest is of texts alone, by their hashes: vectors of ``phrases`` and of words, and the terms of lines.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder: Final = embedder
        self.profiles: Final = ProfileCache()
        self.documents: Final[defaultdict[Scope, DocumentCache]] = defaultdict(DocumentCache)
        self.phrases: Final = None if embedder is None else PhraseVectors(embedder)
        self.lexicon: Final = Lexicon(embedder)
        self.line_terms: Final = LineTerms()


@attrs.frozen(eq=False, kw_only=True)
class Parts:
    """The parts of an engine as one question uses them.

    ``open`` opens a snapshot for a request; within another one it is the same. ``stopwatch`` measures stages.
    """

    open: Callable[[Request], AbstractAsyncContextManager[Reader]]
    traversal: Traversal
    scoring: ScoringOptions
    caches: Caches
    embedder: Embedder | None = None
    llm: LLM | None = None
    stopwatch: Stopwatch = attrs.field(factory=Stopwatch)
