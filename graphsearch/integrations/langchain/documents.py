"""Memories and triplets as LangChain documents: pure.

The text of a document is its line in a context block, so that stored text stays one line of data wherever a chain puts
it. Its metadata are flat and JSON-ready; names and facts in them are `safe_text` too, while ids, sessions and sources
are unchanged, so that they can be used in requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import zip_longest

from langchain_core.documents import Document

from graphsearch.model import ElementKind, ElementRef, ScorePart, Triplet
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, memory_line, safe_text, triplet_line


def documents_of(memories: Sequence[RecalledMemory], triplets: Sequence[Triplet], limit: int) -> list[Document]:
    """The ``limit`` best documents: the best memory, the best triplet, the second of each, and so on.

    Scores of memories and of triplets are not comparable, so the two alternate; when one runs out the other continues.
    Memories without text are left out, and of those with the same line only the best is kept.
    """
    by_line: dict[str, RecalledMemory] = {}
    for each in memories:
        if line := memory_line(each.memory):
            by_line.setdefault(line, each)
    pairs = zip_longest(
        (_of_memory(each, line) for line, each in by_line.items()), (_of_triplet(triplet) for triplet in triplets)
    )
    return [document for pair in pairs for document in pair if document is not None][:limit]


def _of_memory(recalled: RecalledMemory, line: str) -> Document:
    memory = recalled.memory
    return Document(
        id=f"{ElementKind.MEMORY}:{memory.id}",
        page_content=line,
        metadata={
            "kind": "memory",
            "id": memory.id,
            "score": recalled.score,
            "score_parts": _contributions(recalled.parts),
            "subject": safe_text(memory.subject),
            "speaker": safe_text(memory.speaker),
            "session_id": memory.session_id,
            "source": memory.source,
            "occurred_at": _iso(memory.occurred_at),
            "path": _references(recalled.path),
        },
    )


def _of_triplet(triplet: Triplet) -> Document:
    source, relation, target = triplet.source, triplet.relation, triplet.target
    return Document(
        id=f"{ElementKind.RELATION}:{relation.id}",
        page_content=triplet_line(triplet),
        metadata={
            "kind": "triplet",
            "id": str(relation.id),
            "score": triplet.score,
            "score_parts": _contributions(triplet.parts),
            "source_id": str(source.id),
            "source_type": source.type,
            "source_name": entity_name(source),
            "type": relation.type,
            "target_id": str(target.id),
            "target_type": target.type,
            "target_name": entity_name(target),
            "fact": safe_text(relation.fact),
            "confidence": relation.confidence,
            "valid_from": _iso(relation.valid_from),
            "valid_to": _iso(relation.valid_to),
            "evidence": list(relation.evidence),
            "path": _references(ElementRef(ElementKind.RELATION, str(id_)) for id_ in triplet.path),
        },
    )


def _contributions(parts: Iterable[ScorePart]) -> dict[str, float]:
    return {part.name: part.contribution for part in parts}


def _references(path: Iterable[ElementRef]) -> list[str]:
    return [f"{step.kind}:{step.id}" for step in path]


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
