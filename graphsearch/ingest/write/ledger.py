"""What a store knows of a folder from the last time: the stamps on the memories that stand for its files."""

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
"""How the ids of memories that stand for files begin."""


@attrs.frozen(eq=False)
class Ledger:
    """The memories that stand for the files of one folder, by path and id; and paths that other folders hold."""

    files: Mapping[str, Mapping[str, Memory]]
    elsewhere: Mapping[str, str]

    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of every file that was taken in whole; empty for the others."""
        found = {
            path: {_stamp(part, "content") for part in parts.values()} - {""} for path, parts in self.files.items()
        }
        return {path: next(iter(contents)) if len(contents) == 1 else "" for path, contents in found.items()}

    def embedded_by(self, path: str, model: str) -> bool:
        """Whether all that a file says was embedded by this model."""
        return {_stamp(part, "embedder") for part in self.files.get(path, {}).values()} == {model}

    def holds(self, extraction: Extraction) -> bool:
        """Whether just this was said the last time, stamp and all."""
        known = self.files.get(extraction.memory.source, {}).get(extraction.memory.id)
        return known is not None and known.attributes == extraction.memory.attributes

    def notes(self, path: str) -> Iterator[str]:
        """Ids of the memories that a file held."""
        for part in self.files.get(path, {}).values():
            yield from part.attributes.get("notes", ())


async def read_ledger(store: GraphStore, folder: Folder) -> Ledger:
    """What the store knows of a folder."""
    files: dict[str, dict[str, Memory]] = {}
    elsewhere = {}
    async for memory in _file_memories(store):
        if _stamp(memory, "folder") != folder.name:
            elsewhere[memory.source] = _stamp(memory, "folder")
        elif folder.covers(memory.source):
            files.setdefault(memory.source, {})[memory.id] = memory
    return Ledger(files, elsewhere)


def stamped(extraction: Extraction, *, folder: Folder, content: str, model: str) -> Extraction:
    """With what the next ingest needs to see whether anything changed, in the attributes of its memory."""
    stamp = {
        "folder": folder.name,
        "content": content,
        "embedder": model,
        "digest": extraction.digest(),
    }
    return _with(extraction, **stamp)


def unfinished(extraction: Extraction) -> Extraction:
    """Stamped as a file of which not everything was taken in: it looks changed the next time."""
    return _with(extraction, content="", digest="")


def with_notes(extraction: Extraction, more: Iterable[str]) -> Extraction:
    """With ids of more memories that its file holds, or held."""
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
