"""The entry that a session's log has for a block: ids, never text of the graph."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from graphsearch.model import ElementKind, ElementRef, Injection, Memory, Principal, Triplet

_INJECTION: Final = UUID("5b0c2a52-3a54-5d5f-9d0e-6a7b3b9f1c03")


def injection_of(
    session_id: str, principal: Principal, now: datetime, tokens: int, elements: tuple[ElementRef, ...]
) -> Injection:
    """The log entry; its id is derived from its content."""
    asked_by = f"{principal.type}:{principal.id}"
    content = [session_id, asked_by, now.isoformat(), [[element.kind, element.id] for element in elements]]
    return Injection(
        id=str(uuid5(_INJECTION, json.dumps(content))),
        session_id=session_id,
        principal=asked_by,
        created_at=now,
        tokens=tokens,
        elements=elements,
    )


def surfaced(memories: Iterable[Memory], triplets: Iterable[Triplet]) -> tuple[ElementRef, ...]:
    """The shown memories, and every entity, relation and memory that triplets show or rest on; in order."""
    elements = {ElementRef(ElementKind.MEMORY, memory.id) for memory in memories}
    for triplet in triplets:
        elements.update(
            (
                ElementRef(ElementKind.ENTITY, str(triplet.source.id)),
                ElementRef(ElementKind.RELATION, str(triplet.relation.id)),
                ElementRef(ElementKind.ENTITY, str(triplet.target.id)),
                *(ElementRef(ElementKind.MEMORY, memory_id) for memory_id in triplet.relation.evidence),
            )
        )
    return tuple(sorted(elements, key=lambda element: (element.kind, element.id)))
