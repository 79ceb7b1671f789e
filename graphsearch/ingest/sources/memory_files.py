"""Files of memories: chat transcripts, one memory per turn; JSON lines; tables; Markdown and text."""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Described, Extraction, Fault, UnreadableError
from graphsearch.ingest.sources.chats import chat_turns
from graphsearch.ingest.sources.converting import CONVERTERS, MAX_TEXT, converted
from graphsearch.ingest.sources.documents import document_memories
from graphsearch.ingest.sources.exports import exported, slack_users
from graphsearch.ingest.sources.fields import Shape, read_each, read_fields
from graphsearch.ingest.sources.files import Folder, beginning, read, utf8_text
from graphsearch.ingest.sources.json_lines import MEMORY, memory_fields
from graphsearch.ingest.sources.stated import ENTITY, FACT, note_id, read_stated, text_of, words_between_commas
from graphsearch.model import Memory
from graphsearch.model import validation as check

_CELLS: Final = tuple(dict.fromkeys((*MEMORY, *FACT, *ENTITY)))
_COLUMNS: Final = f"its columns are {', '.join(_CELLS)}"
FIELDS: Final = ("id", "role", "speaker", "content", "time", "facts", "entities")
_ALSO: Final = {
    **dict.fromkeys(("name", "author", "sender", "from", "user"), "speaker"),
    **dict.fromkeys(("text", "message", "body"), "content"),
    **dict.fromkeys(("timestamp", "created_at", "date"), "time"),
}
"""What other programs call the fields of a turn."""


def transcript_memories(turns: Sequence[Mapping[str, Any]], *, session_id: str, source: str = "") -> tuple[Memory, ...]:
    """A memory for each turn, in order, with its position in the session.

    A turn is ``{"role" or "speaker": text, "content": text, "time": …}``. The speaker is ``speaker``, else ``role``,
    such as "user" or "assistant", which no extractor takes for a person. ``time`` is a timezone-aware datetime, ISO
    8601 with its offset, or seconds since 1970; missing or None, it is unknown. The ``id`` of a turn defaults to the
    session id and its position. ``facts`` and ``entities`` are stated of it; see `graphsearch.ingest.sources.stated`.
    Fields may be called as other programs call them: ``name``, ``text``, ``timestamp`` and others.

    Raises `InvalidInputError` with every fault, and the turns that have it.
    """
    faults = [fault] if (fault := check.text("session_id", session_id)) else []
    memories: list[Memory] = []
    seen: dict[str, int] = {}
    wrong: dict[str, list[int]] = {}
    for index, turn in enumerate(turns):
        try:
            memory = _memory(turn, index, session_id, source)
            first = seen.setdefault(memory.id, index)
            check.refuse("turn", f"turn {first} has the id {memory.id!r} already" if first != index else None)
            memories.append(memory)
        except InvalidInputError as error:
            for each in error.faults:
                wrong.setdefault(each, []).append(index)
    more = {fault: f" and {len(others)} more" if others else "" for fault, (_, *others) in wrong.items()}
    faults += [f"turn {first}{more[fault]}: {fault}" for fault, (first, *_) in wrong.items()]
    check.refuse(source or "transcript", *faults)
    return tuple(memories)


def _memory(turn: object, position: int, session_id: str, source: str) -> Memory:
    if isinstance(turn, Mapping):
        turn = {_ALSO[name] if name in _ALSO and _ALSO[name] not in turn else name: each for name, each in turn.items()}
    given = read_stated(read_fields("turn", turn, FIELDS, shapes=_SHAPES))
    given = {"id": f"{session_id}:{position}", "content": "", "time": None, **given}
    check.refuse(
        "turn",
        None if {"role", "speaker"} & {*given} else "needs a role or a speaker",
        *(check.text(name, given[name]) for name in ("id", "role", "speaker", "content") if name in given),
        check.instant("time", given["time"]),
    )
    return Memory(
        id=given["id"],
        text=given["content"],
        speaker=given.get("speaker", given.get("role", "")),
        session_id=session_id,
        position=position,
        occurred_at=given["time"],
        source=source,
        attributes={name: given[name] for name in ("role",) if name in given},
        **{name: given[name] for name in ("facts", "entities") if name in given},
    )


def _moment(time: Any) -> datetime:
    if isinstance(time, datetime):
        return time
    if isinstance(time, bool):
        raise TypeError
    return datetime.fromtimestamp(time, UTC) if isinstance(time, int | float) else datetime.fromisoformat(time)


_SHAPES: Final[Mapping[str, Shape]] = {"time": (_moment, "ISO 8601 or seconds since 1970")}


# -- files ------------------------------------------------------------------------------------------------------------


MAX_FILE: Final = 200_000_000
"""Size limit of a file of memories, and of all that is read of an archive."""
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TURNS: Final = re.compile(rb"[\xef\xbb\xbf\s]*+\[\s*+\{")
_KEYS: Final = (b'"content"', b'"mapping"', b'"ts"')


@attrs.frozen
class _File:
    """The name and the content of a file, and what is known of its memories."""

    name: str
    content: bytes
    session_id: str
    occurred_at: datetime | None
    users: Mapping[str, str]

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.name)

    @property
    def text(self) -> str:
        return utf8_text(self.name, self.content)

    @property
    def session(self) -> str:
        """The session of its turns: by default the name without suffix."""
        return self.session_id or str(self.path.with_suffix(""))

    @property
    def given(self) -> dict[str, Any]:
        return {"source": self.name, "session_id": self.session_id, "occurred_at": self.occurred_at}


def read_memories(path: Path, *, session_id: str = "", occurred_at: datetime | None = None) -> tuple[Memory, ...]:
    """The memories in a file, by its suffix, or in the folder of an export of Slack; see `memories_in`."""
    try:
        if path.is_dir():
            days = {each.relative_to(path).as_posix(): each for each in path.rglob("*.json") if not each.is_symlink()}
            return _of_export(days, lambda name: days[name].stat().st_size, lambda name: days[name].read_bytes())
        with path.open("rb") as file:
            return memories_in(path.name, file.read(MAX_FILE + 1), session_id=session_id, occurred_at=occurred_at)
    except OSError as error:
        raise InvalidInputError(str(path), [f"cannot be read: {error.strerror or error}"]) from error
    except UnreadableError as error:
        raise InvalidInputError(str(path), [f"line {error.fault.line}: {error.fault.message}"]) from error


def memories_in(
    name: str,
    content: bytes,
    *,
    session_id: str = "",
    occurred_at: datetime | None = None,
    users: Mapping[str, str] = check.NOTHING,
) -> tuple[Memory, ...]:
    """The memories in the content of a file, by the suffix of its name.

    * ``.json``: a chat transcript, a list of ``{"role" or "speaker", "content", "time"}``, one memory per turn; the
      session is ``session_id``, by default the file's name without suffix. Or a day of a channel of Slack, in which
      ``users`` have names by id, or the conversations of ChatGPT.
    * ``.zip``: an export of Slack or ChatGPT.
    * ``.jsonl``: one memory per line, an object with the fields of `Memory`; ``session_id`` and ``occurred_at`` are the
      defaults for lines without them.
    * ``.csv``: a table with a header, of memories, of facts or of entities, one in a row; see `_table`.
    * ``.md``, ``.txt``, ``.html``, ``.docx``, ``.pdf``: a document, one memory per chunk, dated ``occurred_at`` where
      it says no day of its own; or, in ``.md`` and ``.txt``, a chat, one memory per turn: see `chat_turns`.

    Raises `InvalidInputError` with every fault of the file, `UnreadableError` for what is no text, `MissingExtraError`.
    """
    read = READERS.get(PurePosixPath(name).suffix.lower())
    check.refuse(name, f"larger than {MAX_FILE:,} bytes; split it" if len(content) > MAX_FILE else None)
    if read is None:
        raise InvalidInputError(name, [f"memories are read from {', '.join(READERS)}"])
    return read(_File(name, content, session_id, occurred_at, users))


def is_read(path: Path) -> bool:
    """Whether a file found in a folder is read: many a table, JSON or archive is of something else."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".json", ".zip"):
        return suffix in READERS or path.suffix == ".py"
    start = beginning(path)
    try:
        if suffix == ".zip" and start:
            with zipfile.ZipFile(path) as archive:
                return any(map(_is_exported, archive.namelist()))
        if suffix == ".csv":
            return {*_columns(_rows(start.partition(b"\n")[0].decode("utf-8-sig", "replace")))} <= {*_CELLS}
        return bool(_TURNS.match(start)) and any(key in start for key in _KEYS)
    except (OSError, ValueError, NotImplementedError, csv.Error, zipfile.BadZipFile):
        return False


def _conversations(file: _File) -> tuple[Memory, ...]:
    """The memories of a JSON file: of an export, or of a transcript."""
    turns, day = _json(file.content, file.name, MAX_FILE), file.path.with_suffix("")
    check.refuse(file.name, None if isinstance(turns, list) else "a transcript is a list of turns")
    sessions = exported(turns, day=day, users=file.users) or [(file.session, turns)]
    found = (transcript_memories(said, session_id=id_, source=file.name) for id_, said in sessions)
    return tuple(each for some in found for each in some)


def _archive(file: _File) -> tuple[Memory, ...]:
    """The memories of an archived export."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
            return _of_export(archive.namelist(), lambda name: archive.getinfo(name).file_size, archive.read)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, OSError, EOFError) as error:
        raise InvalidInputError(file.name, [f"no archive that can be read: {error}"]) from error


def _of_export(names: Iterable[str], size: Callable[[str], int], load: Callable[[str], bytes]) -> tuple[Memory, ...]:
    """The memories of the files of an export: conversations, or days in folders of channels, beside the users."""
    names = sorted(filter(_is_exported, names))
    check.refuse(
        "export",
        None
        if names
        else "there are neither channels of Slack nor conversations of ChatGPT; a folder of files is what `add` reads",
        f"unpacks to more than {MAX_FILE:,} bytes; split it" if sum(map(size, names)) > MAX_FILE else None,
    )
    people = [name for name in names if PurePosixPath(name).name == "users.json"]
    users = {id_: name for each in people for id_, name in users_in(each, load(each)).items()}
    found = (memories_in(each, load(each), users=users) for each in names if each not in people)
    return tuple({each.id: each for some in found for each in some}.values())


def _is_exported(name: str) -> bool:
    path = PurePosixPath(name)
    is_day = _DAY.fullmatch(path.stem) is not None and path.parent.name != ""
    return path.suffix == ".json" and (is_day or path.stem.startswith("conversations") or path.stem == "users")


def users_in(name: str, content: bytes) -> dict[str, str]:
    """The names of the users of an export of Slack, by id, from its ``users.json``."""
    return slack_users(_json(content, name, MAX_FILE))


def _lines(file: _File) -> tuple[Memory, ...]:
    # other line breaks can occur inside JSON strings
    written = ((f"line {at}", line) for at, line in enumerate(file.text.split("\n"), start=1) if line.strip())
    memories, faults = read_each(written, lambda line: Memory(**{**file.given, **memory_fields(_json(line, "JSON"))}))
    check.refuse(file.name, *faults)
    return tuple(memories)


def _table(file: _File) -> tuple[Memory, ...]:
    """The memories of a table: its columns are fields of `Memory`, of `Fact` and of `NamedEntity`.

    A row with a relation states a fact, one with a name names an entity. Rows of one ``id``, or without one of one
    ``text``, are one memory; where there is no text, it is what the rows state. In a table of anything else each row
    is a text: ``name: Ada; team: Web``.
    """
    rows = _rows(file.text)
    found: dict[str, Memory] = {}
    faults: list[str] = []
    try:
        columns = _columns(rows)
        other = [each for each in columns if each not in _CELLS]
        is_stated = not {"relation", "object"}.isdisjoint(columns)
        check.refuse(
            "header", f"has no column {', '.join(map(repr, other))}; {_COLUMNS}" if other and is_stated else None
        )
        for row in rows:
            try:
                memory = _of_row(columns, row, file.given) if not other else _of_any_row(columns, row, file.given)
                known = found.setdefault(memory.id, attrs.evolve(memory, facts=(), entities=()))
                is_other = memory.text not in ("", known.text)
                check.refuse("row", f"the id {memory.id!r} has another text above" if is_other else None)
                facts, entities = (*known.facts, *memory.facts), (*known.entities, *memory.entities)
                found[memory.id] = attrs.evolve(known, facts=facts, entities=entities)
            except InvalidInputError as error:
                faults.append(f"line {rows.line_num}: {error}")
    except (csv.Error, InvalidInputError) as error:
        faults.append(f"line {rows.line_num}: {error}")
    check.refuse(file.name, *faults)
    return tuple(attrs.evolve(each, text=each.text or text_of(each.facts, each.entities)) for each in found.values())


def _rows(table: str) -> Any:
    delimiter = max(",;\t", key=table.partition("\n")[0].count)
    return csv.reader(io.StringIO(table, newline=""), strict=True, delimiter=delimiter)


def _columns(rows: Iterator[list[str]]) -> list[str]:
    """The names in the first row of a table, as fields are written."""
    return ["_".join(each.casefold().split()) for each in next(rows, [])]


def _of_row(columns: Sequence[str], row: Sequence[str], given: Mapping[str, Any]) -> Memory:
    cells: dict[str, Any] = {name: cell.strip() for name, cell in zip(columns, row, strict=False) if cell.strip()}
    check.refuse("row", f"has {len(row)} cells, and the header {len(columns)}" if len(row) > len(columns) else None)
    for name, number in (("position", int), ("confidence", float), ("labels", words_between_commas)):
        with suppress(ValueError):  # which is reported as what it is
            cells |= {name: number(cells[name])} if name in cells else {}
    fact = {name: cells.pop(name) for name in FACT if name in cells} if "relation" in columns else {}
    entity = {name: cells.pop(name) for name in ENTITY if name in cells}
    stated = read_stated({"facts": [fact] if fact else [], "entities": [entity] if entity else []})
    id_ = note_id(cells.get("text") or text_of(*stated.values()))
    return Memory(**{**given, **memory_fields({"id": id_, **cells}), **stated})


def _of_any_row(columns: Sequence[str], row: Sequence[str], given: Mapping[str, Any]) -> Memory:
    text = "; ".join(f"{name}: {cell.strip()}" for name, cell in zip(columns, row, strict=False) if cell.strip())
    return Memory(**{**given, "id": note_id(text), "text": text})


def _document(file: _File) -> tuple[Memory, ...]:
    suffix = file.path.suffix.lower()
    text = converted(file.name, file.content) if suffix in CONVERTERS else file.text
    check.refuse(file.name, f"larger than {MAX_TEXT:,} characters; split it" if len(text) > MAX_TEXT else None)
    if turns := chat_turns(text) if suffix in (".md", ".txt") else []:
        turns = [{**turn, "time": turn["time"] or file.occurred_at} for turn in turns]
        return transcript_memories(turns, session_id=file.session, source=file.name)
    return document_memories(
        text,
        document_id=file.name,
        subject=file.path.stem,
        source=file.name,
        occurred_at=file.occurred_at,
        markdown=suffix not in (".txt", ".pdf"),
        notes=suffix != ".pdf",  # whose lines end anywhere
    )


def _json(text: str | bytes, subject: str, longest: int = check.LARGEST_RECORD) -> Any:
    try:
        return check.parse_json(text, longest=longest)
    except ValueError as error:
        raise InvalidInputError(subject, [f"not valid: {error}"]) from error


READERS: Final[Mapping[str, Callable[[_File], tuple[Memory, ...]]]] = MappingProxyType(
    {
        ".json": _conversations,
        ".zip": _archive,
        ".jsonl": _lines,
        ".csv": _table,
        **dict.fromkeys((".md", ".txt", *CONVERTERS), _document),
    }
)
"""By suffix."""


# -- files of a folder ------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class MemorySource:
    """Reads files of memories: they describe no entities; their memories are texts for extraction."""

    folder: Folder
    places: dict[str, str] = attrs.field(factory=dict)
    """The file that gives each memory."""
    users: dict[str, dict[str, str]] = attrs.field(factory=dict)
    """The names of users by the file that has them."""

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """No entities."""
        del path
        yield ()

    def extract(self, path: str) -> Iterator[Extraction]:
        """One extraction. Raises `UnreadableError` for a file that cannot be read, and what `memories_in` raises."""
        texts = memories_in(path, read(self.folder, path, limit=MAX_FILE), users=self._users(path))
        if other := next((self.places[each.id] for each in texts if self.places.get(each.id, path) != path), None):
            raise UnreadableError(Fault(path, 0, f"gives memories that are given already in {other}"))
        self.places.update((each.id, path) for each in texts)
        notes = sorted(each.id for each in texts)
        yield Extraction(memory=Memory(id=f"file:{path}", source=path, attributes={"notes": notes}), texts=texts)

    def _users(self, path: str) -> Mapping[str, str]:
        """The names that an export of Slack keeps beside the folders of its channels."""
        if PurePosixPath(path).suffix != ".json":
            return check.NOTHING
        place = str(PurePosixPath(path).parent.parent / "users.json")
        if place not in self.users:
            self.users[place] = {}
            with suppress(UnreadableError, InvalidInputError):  # there is none, or of something else
                self.users[place] = users_in(place, read(self.folder, place, limit=MAX_FILE))
        return self.users[place]
