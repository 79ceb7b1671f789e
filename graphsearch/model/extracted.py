"""The result of extraction: the surface forms and statements of a memory, before resolution to entities."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import attrs

from graphsearch.errors import GraphSearchError
from graphsearch.model import validation as check
from graphsearch.model.elements import EdgeKind, Memory, Span
from graphsearch.model.validation import checked


@attrs.frozen(kw_only=True, cache_hash=True)  # names are keys all along their resolution
class ExtractedName:
    """A name as it is written in a text.

    ``name`` has its whitespace collapsed; ``type`` is an entity type, empty if the text does not show one. ``span`` is
    None for names outside of the text: the speaker, the subject. ``confidence`` is in [0, 1]; ``pattern`` is the name
    of the rule that found it. ``written`` is the form in the text if it is another than the name, such as a part of it.
    """

    name: str
    type: str
    span: Span | None
    confidence: float
    pattern: str
    written: str = ""


@attrs.frozen(kw_only=True)
@checked("known name {0.name!r}", type=partial(check.text, empty=True), aliases=check.texts)
class KnownName:
    """A name that a text may contain in any case: its entity type, and other spellings of it.

    Raises `InvalidInputError` for a name, a type or an alias that is no text.
    """

    name: str
    type: str = "tool"
    aliases: tuple[str, ...] = attrs.field(default=(), converter=check.as_tuple)


@attrs.frozen(kw_only=True)
class Statement:
    """A relation between two surface forms of a text, in the period [valid_from, valid_to).

    ``span`` is the sentence that states it, and ``fact`` that sentence on one line (`fact_in`). ``extractor`` is what
    stated it, if not the reader of the text; ``ceiling`` as in `Claim`.
    """

    source: ExtractedName
    type: str
    target: ExtractedName
    confidence: float
    kind: EdgeKind
    valid_from: datetime | None
    valid_to: datetime | None
    fact: str
    span: Span
    pattern: str
    extractor: str = ""
    ceiling: float = 1.0


@attrs.frozen(kw_only=True)
class ExtractedMemory:
    """Everything extracted from one memory. Both ends of every statement are among the surfaces.

    ``refused`` lists what a language model returned that the text does not prove, with the reason, one line each.
    ``unread`` is the error that kept the memory from being read: an `ExtractionError` if it concerns this memory alone.
    Nothing is extracted then, and the memory is not written. ``same`` are pairs of a short name that the memory
    declares and the name that it abbreviates.
    """

    memory_id: str
    surfaces: tuple[ExtractedName, ...] = ()
    statements: tuple[Statement, ...] = ()
    refused: tuple[str, ...] = ()
    unread: GraphSearchError | None = None
    same: tuple[tuple[str, str], ...] = ()


def fact_in(memory: Memory, span: Span) -> str:
    """The text of a memory in a span, on one line."""
    return " ".join(memory.text[span.start : span.end].split())
