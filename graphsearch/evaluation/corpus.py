"""Passages of a question set as memories, and an extractor that adds known triples to those of their texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from graphsearch.evaluation.question_set import Passage, Triple
from graphsearch.ingest.extract.rules.extractor import TextExtractor
from graphsearch.model import EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement
from graphsearch.protocols import Extractor

CONFIDENCE: Final = 0.8
"""Confidence of the triples of an unknown extractor: the lower end of the band "stated clearly"."""
PATTERN: Final = "triple"


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
    """Adds the known triples of each passage to the result of another extractor, by default the one by rules.

    The span of a subject or an object is its place in the text, else the whole text; the predicate is the type of the
    statement between them.
    """

    def __init__(self, triples: Iterable[Triple], *, beside: Extractor | None = None) -> None:
        self._beside = beside or TextExtractor()
        self._triples: defaultdict[str, list[Triple]] = defaultdict(list)
        for triple in triples:
            self._triples[triple.passage_id].append(triple)

    @property
    def name(self) -> str:
        """The other extractor's name with the suffix "+triples"."""
        return f"{self._beside.name}+triples"

    async def extract(self, memories: Sequence[Memory]) -> Sequence[ExtractedMemory]:
        """The extraction of each memory, in their order."""
        read = await self._beside.extract(memories)
        known: Mapping[str, Sequence[Triple]] = self._triples
        return [
            _with_triples(extracted, memory, known.get(memory.id, ()))
            for extracted, memory in zip(read, memories, strict=True)
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
