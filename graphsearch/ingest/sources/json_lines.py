"""Files of JSON lines, in parts of 500 lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.extract.faults import Fault, UnreadableError
from graphsearch.ingest.extract.file_extraction import Described, Extraction
from graphsearch.ingest.sources import json_elements as jsonl
from graphsearch.ingest.sources.files import MAX_BYTES, Folder, unreadable
from graphsearch.ingest.sources.json_elements import Record
from graphsearch.model import Memory

PART_LINES: Final = 500
"""Lines of JSON in one part, which is written as a whole."""


@attrs.define(eq=False)
class JsonSource:
    """Reads JSON lines. A bad line, or one that repeats an element of another, is a fault and is left out."""

    folder: Folder
    faults: list[Fault] = attrs.field(factory=list)
    referred: set[UUID] = attrs.field(factory=set)
    """Ids that lines refer to."""
    missing: frozenset[UUID] = frozenset()
    """Those of ``referred`` that do not exist; set between the two passes."""
    _places: dict[UUID | str, tuple[str, int]] = attrs.field(factory=dict)

    @property
    def faulty(self) -> set[str]:
        """Files with bad lines."""
        return {fault.path for fault in self.faults}

    def gives(self, note_id: str) -> bool:
        """Whether some file contains this memory."""
        return note_id in self._places

    def describe(self, path: str) -> Iterator[tuple[Described, ...]]:
        """The entities of the file's entity lines."""
        for _, records in self._parts(path, self.faults):
            own = [record for record in records if self._is_first(record, path)]
            self.referred.update(id_ for record in own for id_ in record.known)
            yield tuple(Described(entity) for record in own for entity in record.described)

    def extract(self, path: str) -> Iterator[Extraction]:
        """One extraction for every `PART_LINES` lines."""
        for part, records in self._parts(path, []):
            valid = [record for record in records if self._is_valid(record, path)]
            notes = tuple(note for record in valid for note in record.notes)
            texts = tuple(text for record in valid for text in record.texts)
            mentions = {(m.memory_id, m.entity_id, m.span): m for record in valid for m in record.mentions}
            yield Extraction(
                memory=Memory(id=part, source=path, attributes={"notes": sorted(note.id for note in (*notes, *texts))}),
                described=tuple(entity for record in valid for entity in record.described),
                named=tuple({entity.id: entity for record in valid for entity in record.named}.values()),
                notes=notes,
                texts=texts,
                mentions=tuple(mentions.values()),
                claims=tuple(dict.fromkeys(claim for record in valid for claim in record.claims)),
            )

    def _is_first(self, record: Record, path: str) -> bool:
        """Whether a record is the first with each of its elements; records a fault if it is not."""
        here = (path, record.line)
        for key in _keys(record):
            first = self._places.setdefault(key, here)
            if first != here:
                message = f"given already at {first[0]}:{first[1]}; this line was left out"
                self.faults.append(Fault(path, record.line, message))
                return False
        return True

    def _is_valid(self, record: Record, path: str) -> bool:
        if any(self._places[key] != (path, record.line) for key in _keys(record)):
            return False
        dangling = sorted(record.known & self.missing)
        if dangling:
            named = ", ".join(map(str, dangling))
            self.faults.append(Fault(path, record.line, f"there is no entity {named}; give it by type and name"))
        return not dangling

    def _parts(self, path: str, faults: list[Fault]) -> Iterator[tuple[str, list[Record]]]:
        """The parts of a file: ids and records."""
        records: list[Record] = []
        part = 1
        for line, content in self._lines(path):
            if line > part * PART_LINES:
                yield _part_id(path, part), records
                records, part = [], part + 1
            try:
                record = _read(content, path, line, _part_id(path, part))
            except UnreadableError as error:
                faults.append(error.fault)
            else:
                records.extend([record] if record else [])
        yield _part_id(path, part), records

    def _lines(self, path: str) -> Iterator[tuple[int, bytes]]:
        try:
            path.encode()
            with (self.folder.root / path).open("rb") as file:
                number = 0
                while content := file.readline(MAX_BYTES + 1):
                    number += 1
                    yield number, content
                    while len(content) > MAX_BYTES and not content.endswith(b"\n"):
                        content = file.readline(MAX_BYTES + 1)
        except (OSError, UnicodeEncodeError) as error:
            raise UnreadableError(unreadable(path, error)) from error


def _keys(record: Record) -> Iterator[UUID | str]:
    yield from (entity.id for entity in record.described)
    yield from (note.id for note in (*record.notes, *record.texts))


def _read(content: bytes, path: str, line: int, part_id: str) -> Record | None:
    if len(content) > MAX_BYTES:
        raise UnreadableError(Fault(path, line, f"longer than {MAX_BYTES:,} bytes"))
    return jsonl.read_line(content, path=path, line=line, memory_id=part_id)


def _part_id(path: str, part: int) -> str:
    return f"file:{path}" if part == 1 else f"file:{path}#{part}"
