"""What earlier ingests have stored: the state of a folder, and the memories that need not be read again.

Both are stamps in the attributes of memories: of those that represent files, and of those that an extractor read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import attrs

from graphsearch._support.paging import pages
from graphsearch.errors import UnknownScopeError
from graphsearch.ingest.extract.extraction import Extraction
from graphsearch.ingest.sources.files import Folder
from graphsearch.model import Memory
from graphsearch.stores.graph import GraphStore

T = TypeVar("T")

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

    def is_embedded_by(self, model: str) -> bool:
        """Whether all content of the folder was embedded by this model."""
        return all(_stamp(part, "embedder") == model for parts in self.files.values() for part in parts.values())

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
    elsewhere: dict[str, str] = {}
    with suppress(UnknownScopeError):  # nothing was ever written
        async for page in pages(store.list_memories, after=FILE_PREFIX):
            for memory in page:
                if not memory.id.startswith(FILE_PREFIX):
                    return Ledger(files, elsewhere)
                if _stamp(memory, "folder") != folder.name:
                    elsewhere[memory.source] = _stamp(memory, "folder")
                elif folder.covers(memory.source):
                    files.setdefault(memory.source, {})[memory.id] = memory
    return Ledger(files, elsewhere)


def stamped(extraction: Extraction, *, folder: Folder, content: str, model: str) -> Extraction:
    """The extraction with a stamp in the attributes of its memory, by which the next ingest detects changes."""
    return _with(extraction, folder=folder.name, content=content, embedder=model, digest=extraction.digest())


def unfinished(extraction: Extraction) -> Extraction:
    """The extraction stamped as incomplete, so that it looks changed at the next ingest."""
    return _with(extraction, content="", digest="")


def with_notes(extraction: Extraction, more: Iterable[str]) -> Extraction:
    """The extraction with the ids of more memories that its file contains, or contained."""
    return _with(extraction, notes=sorted({*extraction.memory.attributes.get("notes", ()), *more}))


def _with(extraction: Extraction, **changed: Any) -> Extraction:
    memory = attrs.evolve(extraction.memory, attributes={**extraction.memory.attributes, **changed})
    return attrs.evolve(extraction, memory=memory)


def _stamp(memory: Memory, name: str) -> str:
    return str(memory.attributes.get(name, ""))


# -- memories ---------------------------------------------------------------------------------------------------------

_STAMP: Final = "read_by"
"""The attribute with the name of the extractor that read a memory."""


_STATED: Final = "stated"
"""The attribute with a digest of what the giver of a memory stated of it."""


def read_by(memory: Memory, extractor: str) -> Memory:
    """A memory with the name of the extractor that reads it, and a digest of what its giver states, if anything."""
    stamps = {_STAMP: extractor}
    if memory.facts or memory.entities:
        stamps[_STATED] = hashlib.sha256(repr((memory.facts, memory.entities)).encode()).hexdigest()[:16]
    return attrs.evolve(memory, attributes={**memory.attributes, **stamps})


def begun(memory: Memory) -> Memory:
    """A memory of which only a part was read, to be read again."""
    kept = {name: value for name, value in memory.attributes.items() if name != _STAMP}
    return attrs.evolve(memory, attributes=kept)


def without_facts(memory: Memory) -> Memory:
    """A memory as it is stored: what its giver stated of it are claims and mentions from then on."""
    return attrs.evolve(memory, facts=(), entities=()) if memory.facts or memory.entities else memory


@attrs.frozen
class Waiting:
    """Memories that are not stored unchanged: those to be ``read``, and those that only ``moved``.

    A memory that moved has only another position in its document or session.
    """

    read: list[Memory]
    moved: list[Memory]


async def waiting(memories: Sequence[Memory], store: GraphStore) -> Waiting:
    """The memories that are new, changed or moved; a different feedback weight is no change."""
    found = await or_nothing(store.get_memories([memory.id for memory in memories])) if memories else ()
    stored = {each.id: each for each in found}
    other = [memory for memory in memories if is_changed(memory, stored.get(memory.id))]
    placed = {each.id: attrs.evolve(each, position=stored[each.id].position) for each in other if each.id in stored}
    moved = {id_ for id_, memory in placed.items() if not is_changed(memory, stored[id_])}
    return Waiting([each for each in other if each.id not in moved], [each for each in other if each.id in moved])


def is_changed(memory: Memory, stored: Memory | None) -> bool:
    """Whether a memory is new, or another than the stored one in anything that an ingest decides."""
    if stored is None:
        return True
    return memory != attrs.evolve(stored, feedback_weight=memory.feedback_weight, created_at=memory.created_at)


async def or_nothing(reading: Awaitable[T]) -> T | tuple[()]:
    """The result of a read, empty in a scope that was never written to."""
    try:
        return await reading
    except UnknownScopeError:
        return ()
