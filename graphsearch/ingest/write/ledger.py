"""The state of a folder at its previous ingest: stamps in the memories that represent its files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from graphsearch.ingest.extract.file_extraction import Extraction
from graphsearch.ingest.sources.files import Folder
from graphsearch.ingest.write.writer import or_nothing
from graphsearch.model import Memory
from graphsearch.protocols import GraphStore

_PAGE: Final = 1000
FILE_PREFIX: Final = "file:"
"""Prefix of the ids of memories that represent files."""


@attrs.frozen(eq=False)
class Ledger:
    """The memories that represent the files of a folder, by path and id, and the paths that belong to other folders."""

    files: Mapping[str, Mapping[str, Memory]]
    elsewhere: Mapping[str, str]

    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of every file; empty for those not completely ingested."""
        found = {
            path: {_stamp(part, "content") for part in parts.values()} - {""} for path, parts in self.files.items()
        }
        return {path: next(iter(contents)) if len(contents) == 1 else "" for path, contents in found.items()}

    def embedded_by(self, path: str, model: str) -> bool:
        """Whether the whole content of a file was embedded by this model."""
        return {_stamp(part, "embedder") for part in self.files.get(path, {}).values()} == {model}

    def holds(self, extraction: Extraction) -> bool:
        """Whether the previous ingest wrote the same content with the same stamp."""
        known = self.files.get(extraction.memory.source, {}).get(extraction.memory.id)
        return known is not None and known.attributes == extraction.memory.attributes

    def notes(self, path: str) -> Iterator[str]:
        """Ids of the memories that a file contained."""
        for part in self.files.get(path, {}).values():
            yield from part.attributes.get("notes", ())


async def read_ledger(store: GraphStore, folder: Folder) -> Ledger:
    """The ledger of a folder, from the store."""
    files: dict[str, dict[str, Memory]] = {}
    elsewhere = {}
    async for memory in _file_memories(store):
        if _stamp(memory, "folder") != folder.name:
            elsewhere[memory.source] = _stamp(memory, "folder")
        elif folder.covers(memory.source):
            files.setdefault(memory.source, {})[memory.id] = memory
    return Ledger(files, elsewhere)


def stamped(extraction: Extraction, *, folder: Folder, content: str, model: str) -> Extraction:
    """The extraction with a stamp in the attributes of its memory, by which the next ingest detects changes."""
    stamp = {
        "folder": folder.name,
        "content": content,
        "embedder": model,
        "digest": extraction.digest(),
    }
    return _with(extraction, **stamp)


def unfinished(extraction: Extraction) -> Extraction:
    """The extraction stamped as incomplete, so that it looks changed at the next ingest."""
    return _with(extraction, content="", digest="")


def with_notes(extraction: Extraction, more: Iterable[str]) -> Extraction:
    """The extraction with the ids of more memories that its file contains, or contained."""
    return _with(extraction, notes=sorted({*extraction.memory.attributes.get("notes", ()), *more}))


def _with(extraction: Extraction, **changed: Any) -> Extraction:
    memory = attrs.evolve(extraction.memory, attributes={**extraction.memory.attributes, **changed})
    return attrs.evolve(extraction, memory=memory)


async def _file_memories(store: GraphStore) -> AsyncIterator[Memory]:
    after = FILE_PREFIX
    while page := await or_nothing(store.list_memories(after=after, limit=_PAGE)):
        for memory in page:
            if not memory.id.startswith(FILE_PREFIX):
                return
            yield memory
        after = page[-1].id


def _stamp(memory: Memory, name: str) -> str:
    return str(memory.attributes.get(name, ""))
