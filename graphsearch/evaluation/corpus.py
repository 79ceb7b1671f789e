"""Fresh scopes, and what is written into them: passages as memories with known triples, or folders of code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from typing import Final, Protocol
from uuid import uuid4

import attrs

from graphsearch.engine import GraphSearchEngine
from graphsearch.evaluation.question_set import Passage, Triple
from graphsearch.ingest import Ingestor
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.ingest.sources.files import locate
from graphsearch.model import EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement
from graphsearch.protocols import GraphStore

ORG: Final = "graphsearch-eval"
CONFIDENCE: Final = 0.8
"""Confidence of the triples of an unknown extractor: the lower end of the band "stated clearly"."""
PATTERN: Final = "triple"


class Stores(Protocol):
    """An unscoped store: `InMemoryGraphStore`, `PostgresGraphStore`, or a custom one."""

    def with_scope(self, *, org_id: str, project_id: str) -> GraphStore:
        """The graph of one scope."""
        ...


@asynccontextmanager
async def fresh_scope(stores: Stores) -> AsyncIterator[GraphStore]:
    """A new scope with a random id, removed at the end."""
    store = stores.with_scope(org_id=ORG, project_id=str(uuid4()))
    try:
        yield store
    finally:
        await store.remove_scope()


def memories_of(passages: Iterable[Passage]) -> list[Memory]:
    """A memory for each passage, with its title as the subject; positions in a session are in order of the passages."""
    places: Counter[str] = Counter()
    memories = []
    for passage in passages:
        position = places[passage.session] if passage.session else 0
        places[passage.session] += 1
        memories.append(
            Memory(
                id=passage.id,
                text=passage.text,
                subject=passage.title,
                speaker=passage.speaker,
                session_id=passage.session,
                position=position,
                occurred_at=passage.time,
            )
        )
    return memories


class TripleExtractor:
    """Adds the known triples of each passage to the result of the default reader of texts.

    The span of a subject or an object is its place in the text, else the whole text; the predicate is the type of the
    statement between them.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._reader = TextExtractor()
        self._triples: defaultdict[str, list[Triple]] = defaultdict(list)
        for triple in triples:
            self._triples[triple.passage_id].append(triple)

    @property
    def name(self) -> str:
        """The name of that reader with the suffix "+triples"."""
        return f"{self._reader.name}+triples"

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The extraction of each memory, in their order."""
        extracted = await self._reader.extract(memories)
        return [
            _with_triples(each, memory, self._triples.get(memory.id, ()))
            for each, memory in zip(extracted, memories, strict=True)
        ]


def _with_triples(extracted: ExtractedMemory, memory: Memory, triples: Sequence[Triple]) -> ExtractedMemory:
    folded = memory.text.lower()
    statements = [_statement(triple, memory, folded) for triple in triples]
    ends = [end for statement in statements for end in (statement.source, statement.target)]
    return attrs.evolve(
        extracted,
        surfaces=tuple(dict.fromkeys((*extracted.surfaces, *ends))),
        statements=(*extracted.statements, *statements),
    )


def _statement(triple: Triple, memory: Memory, folded: str) -> Statement:
    return Statement(
        source=_surface(triple.subject, memory, folded),
        type=triple.predicate,
        target=_surface(triple.object, memory, folded),
        confidence=CONFIDENCE,
        kind=EdgeKind.SEMANTIC,
        valid_from=None,
        valid_to=None,
        fact=" ".join(f"{triple.subject} {triple.predicate} {triple.object}".split()),
        span=Span(start=0, end=len(memory.text)),
        pattern=PATTERN,
    )


def _surface(name: str, memory: Memory, folded: str) -> ExtractedName:
    start = folded.find(name.lower()) if len(folded) == len(memory.text) else memory.text.find(name)
    span = Span(start=0, end=len(memory.text)) if start < 0 else Span(start=start, end=start + len(name))
    return ExtractedName(name=" ".join(name.split()), type="", span=span, confidence=CONFIDENCE, pattern=PATTERN)


async def ingest_code(paths: Iterable[Path], engine: GraphSearchEngine) -> None:
    """Ingest folders and files of code, in one call for each root that imports start from.

    Raises what `Ingestor.add` raises.
    """
    parts: defaultdict[Path, list[tuple[str, ...]]] = defaultdict(list)
    for folder in map(locate, paths):
        parts[folder.root].append(folder.only)
    for root, only in parts.items():
        await Ingestor(engine).add(root, only=() if () in only else chain.from_iterable(only))
