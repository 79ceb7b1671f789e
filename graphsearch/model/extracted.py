"""What a text says, before anyone knows which entities it speaks of."""

from __future__ import annotations

from datetime import datetime

import attrs

from graphsearch.errors import GraphSearchError
from graphsearch.model.elements import Memory, Span
from graphsearch.model.relation_types import EdgeKind


@attrs.frozen(kw_only=True)
class Surface:
    """A name as a text has it.

    ``name`` is the form as written, its whitespace folded; ``type`` is an entity type, empty where the text does not
    tell. ``span`` is None for what stands beside the text: the speaker, the subject. ``confidence`` is in [0, 1];
    ``pattern`` is the name of the rule that found it.
    """

    name: str
    type: str
    span: Span | None
    confidence: float
    pattern: str


@attrs.frozen(kw_only=True)
class Statement:
    """What a text says of two of its surfaces, in the period [valid_from, valid_to).

    ``span`` is the sentence that says it, and ``fact`` the same on one line (`fact_in`).
    """

    source: Surface
    type: str
    target: Surface
    confidence: float
    kind: EdgeKind
    valid_from: datetime | None
    valid_to: datetime | None
    fact: str
    span: Span
    pattern: str


@attrs.frozen(kw_only=True)
class Said:
    """All that one memory says. The ends of every statement are among the surfaces.

    ``refused`` tells what a model said of it that its text does not prove, and why, each in a line. ``unread`` is why
    the memory could not be read: an `ExtractionError` where that lies with the memory, else what stands in the way of
    reading any. It then says nothing, and is not written. ``same`` are pairs of a short name that the memory declares
    and the name that it is short for.
    """

    memory_id: str
    surfaces: tuple[Surface, ...] = ()
    statements: tuple[Statement, ...] = ()
    refused: tuple[str, ...] = ()
    unread: GraphSearchError | None = None
    same: tuple[tuple[str, str], ...] = ()


def fact_in(memory: Memory, span: Span) -> str:
    """What a memory says in a span, on one line."""
    return " ".join(memory.text[span.start : span.end].split())
