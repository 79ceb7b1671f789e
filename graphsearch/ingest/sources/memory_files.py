"""Files of memories: chat transcripts, JSON lines, Markdown and text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.faults import UnreadableError
from graphsearch.ingest.sources.chunks import document_memories
from graphsearch.ingest.sources.files import utf8_text
from graphsearch.ingest.sources.json_elements import memory_fields
from graphsearch.ingest.sources.transcripts import transcript_memories
from graphsearch.model import Memory


def read_memories(path: Path, *, session_id: str = "", occurred_at: datetime | None = None) -> tuple[Memory, ...]:
    """The memories in a file, by its suffix.

    * ``.json``: a chat transcript, a list of ``{"role" or "speaker", "content", "time"}``, one memory per turn; the
      session is ``session_id``, by default the file's name without suffix.
    * ``.jsonl``: one memory per line, an object with the fields of `Memory`; ``session_id`` and ``occurred_at`` are the
      defaults for lines without them.
    * ``.md``, ``.txt``: a document, one memory per chunk, dated ``occurred_at``.

    Raises `InvalidInputError` with every fault of the file.
    """
    read = _READERS.get(path.suffix)
    if read is None:
        raise InvalidInputError(str(path), [f"memories are read from {', '.join(_READERS)}"])
    return read(path, _text(path), session_id, occurred_at)


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInputError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
    try:
        return utf8_text(str(path), content)
    except UnreadableError as error:
        raise InvalidInputError(str(path), [f"line {error.fault.line}: {error.fault.message}"]) from error


def _transcript(path: Path, text: str, session_id: str, _: datetime | None) -> tuple[Memory, ...]:
    turns = _json(text, str(path))
    if not isinstance(turns, list):
        raise InvalidInputError(str(path), ["a transcript is a list of turns"])
    return transcript_memories(turns, session_id=session_id or path.stem, source=path.name)


def _lines(path: Path, text: str, session_id: str, occurred_at: datetime | None) -> tuple[Memory, ...]:
    given = {"source": path.name, "session_id": session_id, "occurred_at": occurred_at}
    memories: list[Memory] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):  # other line breaks can occur inside JSON strings
        if line.strip():
            try:
                memories.append(Memory(**{**given, **memory_fields(_json(line, "JSON"))}))
            except InvalidInputError as error:
                faults.append(f"line {number}: {error}")
    if faults:
        raise InvalidInputError(str(path), faults)
    return tuple(memories)


def _document(path: Path, text: str, session_id: str, occurred_at: datetime | None) -> tuple[Memory, ...]:
    del session_id  # a document is not a conversation
    return document_memories(
        text,
        document_id=path.name,
        subject=path.stem,
        source=path.name,
        occurred_at=occurred_at,
        markdown=path.suffix == ".md",
    )


def _json(text: str, subject: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(subject, [f"not valid: {error}"]) from error


_READERS: Final[Mapping[str, Callable[[Path, str, str, datetime | None], tuple[Memory, ...]]]] = MappingProxyType(
    {".json": _transcript, ".jsonl": _lines, ".md": _document, ".txt": _document}
)
