"""Files of memories: chat transcripts, one memory per turn; JSON lines; tables; Markdown and text."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import UnreadableError
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.ingest.sources.fields import Shape, read_each, read_fields
from graphsearch.ingest.sources.files import utf8_text
from graphsearch.ingest.sources.json_lines import memory_fields
from graphsearch.ingest.sources.stated import ENTITY, FACT, note_id, read_stated, text_of, words_between_commas
from graphsearch.model import Memory
from graphsearch.model import validation as check

_CELLS: Final = (
    *("id", "text", "subject", "speaker", "session_id", "position", "occurred_at", "source", "labels"),
    *(each for each in (*FACT, *ENTITY) if each != "subject"),
)
_COLUMNS: Final = f"its columns are {', '.join(_CELLS)}"
FIELDS: Final = ("id", "role", "speaker", "content", "time", "facts", "entities")


def transcript_memories(turns: Sequence[Mapping[str, Any]], *, session_id: str, source: str = "") -> tuple[Memory, ...]:
    """A memory for each turn, in order, with its position in the session.

    A turn is ``{"role" or "speaker": text, "content": text, "time": …}``. The speaker is ``speaker``, else ``role``,
    such as "user" or "assistant", which no extractor takes for a person. ``time`` is a timezone-aware datetime, ISO
    8601 with its offset, or seconds since 1970; missing or None, it is unknown. The ``id`` of a turn defaults to the
    session id and its position. ``facts`` and ``entities`` are stated of it; see `graphsearch.ingest.sources.stated`.

    Raises `InvalidInputError` with every fault of every turn, by index.
    """
    faults = [fault] if (fault := check.text("session_id", session_id)) else []
    memories: list[Memory] = []
    seen: dict[str, int] = {}
    for index, turn in enumerate(turns):
        try:
            memories.append(_memory(turn, index, session_id, source))
        except InvalidInputError as error:
            faults += [f"turn {index}: {each}" for each in error.faults]
            continue
        if (first := seen.setdefault(memories[-1].id, index)) != index:
            faults.append(f"turn {index}: turn {first} has the id {memories[-1].id!r} already")
    check.refuse("transcript", *faults)
    return tuple(memories)


def _memory(turn: object, position: int, session_id: str, source: str) -> Memory:
    given = read_stated(read_fields("turn", turn, FIELDS, shapes=_SHAPES))
    texts = [check.text(name, given[name]) for name in ("id", "role", "speaker") if name in given]
    check.refuse(
        "turn",
        None if {"role", "speaker"} & {*given} else "needs a role or a speaker",
        *texts,
        check.text("content", given.get("content", "")),
        check.instant("time", given.get("time")),
    )
    return Memory(
        id=given.get("id", f"{session_id}:{position}"),
        text=given["content"],
        speaker=given.get("speaker", given.get("role", "")),
        session_id=session_id,
        position=position,
        occurred_at=given.get("time"),
        source=source,
        attributes={"role": given["role"]} if "role" in given else {},
        facts=given.get("facts", ()),
        entities=given.get("entities", ()),
    )


def _moment(time: Any) -> datetime:
    match time:
        case datetime():
            return time
        case bool():
            raise TypeError
        case int() | float():
            return datetime.fromtimestamp(time, UTC)
    return datetime.fromisoformat(time)


_SHAPES: Final[Mapping[str, Shape]] = {"time": (_moment, "ISO 8601 or seconds since 1970")}


# -- files ------------------------------------------------------------------------------------------------------------


def read_memories(path: Path, *, session_id: str = "", occurred_at: datetime | None = None) -> tuple[Memory, ...]:
    """The memories in a file, by its suffix.

    * ``.json``: a chat transcript, a list of ``{"role" or "speaker", "content", "time"}``, one memory per turn; the
      session is ``session_id``, by default the file's name without suffix.
    * ``.jsonl``: one memory per line, an object with the fields of `Memory`; ``session_id`` and ``occurred_at`` are the
      defaults for lines without them.
    * ``.csv``: a table with a header, of memories, of facts or of entities, one in a row; see `_table`.
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
    # other line breaks can occur inside JSON strings
    written = ((f"line {at}", line) for at, line in enumerate(text.split("\n"), start=1) if line.strip())
    memories, faults = read_each(written, lambda line: Memory(**{**given, **memory_fields(_json(line, "JSON"))}))
    check.refuse(str(path), *faults)
    return tuple(memories)


def _table(path: Path, text: str, session_id: str, occurred_at: datetime | None) -> tuple[Memory, ...]:
    """The memories of a table: its columns are fields of `Memory`, of `Fact` and of `NamedEntity`.

    A row with a relation states a fact, one with a name names an entity. Rows of one ``id``, or without one of one
    ``text``, are one memory; where there is no text, it is what the rows state.
    """
    head = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=max(",;\t", key=head.count))
    given = {"source": path.name, "session_id": session_id, "occurred_at": occurred_at}
    columns: list[str] = []
    found: dict[str, Memory] = {}
    faults: list[str] = []
    try:
        columns = ["_".join(each.casefold().split()) for each in next(rows, [])]
        check.refuse("header", *(f"has no column {each!r}; {_COLUMNS}" for each in columns if each not in _CELLS))
        for row in rows:
            try:
                memory = _of_row(columns, row, given)
                known = found.setdefault(memory.id, attrs.evolve(memory, facts=(), entities=()))
                is_other = memory.text not in ("", known.text)
                check.refuse("row", f"the id {memory.id!r} has another text above" if is_other else None)
                facts, entities = (*known.facts, *memory.facts), (*known.entities, *memory.entities)
                found[memory.id] = attrs.evolve(known, facts=facts, entities=entities)
            except InvalidInputError as error:
                faults.append(f"line {rows.line_num}: {error}")
    except (csv.Error, InvalidInputError) as error:
        faults.append(f"line {rows.line_num}: {error}")
    check.refuse(str(path), *faults)
    return tuple(attrs.evolve(each, text=each.text or text_of(each.facts, each.entities)) for each in found.values())


def _of_row(columns: Sequence[str], row: Sequence[str], given: Mapping[str, Any]) -> Memory:
    cells: dict[str, Any] = {name: cell.strip() for name, cell in zip(columns, row, strict=False) if cell.strip()}
    check.refuse("row", f"has {len(row)} cells, and the header {len(columns)}" if len(row) > len(columns) else None)
    for name, read in (("position", int), ("confidence", float), ("labels", words_between_commas)):
        with suppress(ValueError):  # which is reported as what it is
            cells |= {name: read(cells[name])} if name in cells else {}
    fact = {name: cells.pop(name) for name in FACT if name in cells} if "relation" in columns else {}
    entity = {name: cells.pop(name) for name in ENTITY if name in cells}
    stated = read_stated({"facts": [fact] if fact else [], "entities": [entity] if entity else []})
    id_ = note_id(cells.get("text") or text_of(*stated.values()))
    return Memory(**{**given, **memory_fields({"id": id_, **cells}), **stated})


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
        return check.parse_json(text)
    except ValueError as error:
        raise InvalidInputError(subject, [f"not valid: {error}"]) from error


_READERS: Final[Mapping[str, Callable[[Path, str, str, datetime | None], tuple[Memory, ...]]]] = MappingProxyType(
    {".json": _transcript, ".jsonl": _lines, ".csv": _table, ".md": _document, ".txt": _document}
)
