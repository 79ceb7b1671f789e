"""Import and export of scopes.

A file is checked line by line, and loaded whole or not at all; an export is streamed from one snapshot, the same bytes
for the same content.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from graphsearch._support.files import opened, written
from graphsearch._support.garbage import rare_collections
from graphsearch.access.gate import Gate, demand_everything, resource_of, stored_elements
from graphsearch.access.reader import reading
from graphsearch.errors import PartialViewError, RecordError, ScopeFileError, UnknownScopeError
from graphsearch.ingest import Progress
from graphsearch.model import Action, ElementKind, Entity, Memory, Relation
from graphsearch.model.stored import (
    KIND_OF,
    Key,
    Record,
    RecordKind,
    ScopeSettings,
    StoredEntity,
    StoredMemory,
    StoredRelation,
    key_of,
)
from graphsearch.model.validation import LARGEST_RECORD
from graphsearch.moving.scope_file import Header, ScopeReader, ScopeWriter
from graphsearch.protocols import Embedder
from graphsearch.stores.graph import GraphStore
from graphsearch.text.bm25 import embedding_text

_RECORDS: Final = 1_000
"""Records read or loaded at a time."""
_TEXTS: Final = 256
"""Texts embedded at a time."""


@attrs.frozen(kw_only=True)
class ImportReport:
    """What an import loaded: the numbers of records by kind, with mentions, claims and outcomes, and of vectors.

    ``embedded`` is how many of the vectors were made anew, from the texts.
    """

    counts: Mapping[str, int]
    vectors: int
    embedded: int
    library: str
    """The version of the library that wrote the file."""


async def import_scope(
    store: GraphStore,
    source: Path | str,
    *,
    embedder: Embedder | None = None,
    gate: Gate | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a file of `export_scope` into a scope; "-" is standard input, compressed files are recognised.

    All of the file or nothing is imported, in one transaction; a process that is killed leaves the scope as it was.
    Answers, feedback, merges to be undone and what the graph knew at any time are then as in the scope exported.

    Vectors are those of the file. An ``embedder`` of another model, or a file without vectors, has the texts embedded
    during the import: of entities and memories, and of facts if the exported scope had vectors of facts. Without
    vectors and without an ``embedder`` the scope has none; import again with ``replace`` to add them.

    A scope that holds anything raises `OccupiedScopeError`, unless ``replace`` is given, which removes it first. With a
    ``gate`` its principal needs WRITE for every element, MERGE for merged entities, FEEDBACK for elements with
    outcomes, and FORGET for all that ``replace`` removes: `AccessDeniedError` otherwise.

    Raises `ScopeFileError`, with the line and every fault in it, for a file that is cut, changed, of an unknown version
    or not valid, `AnalyserError` for one made with another analyser, and what the store and the embedder raise.
    """
    with opened(source) as stream:
        reader = ScopeReader(stream, str(source))
        header = await asyncio.to_thread(reader.header)
        importing = _Importing(reader, header, embedder, progress)
        if replace and gate is not None and not gate.allows_all:
            await _demand_forgetting(store, gate)
        pages = importing.pages(store, None if gate is None or gate.allows_all else gate)
        settings = await importing.settings()
        try:
            with rare_collections():
                await store.load(settings, pages, replace=replace)
        except RecordError as error:
            raise ScopeFileError(str(source), error.place + 2, error.faults) from error
    await store.settle()
    return ImportReport(
        counts=dict(reader.counts), vectors=importing.vectors, embedded=importing.embedded, library=header.library
    )


@attrs.define(eq=False)
class _Importing:
    """One file on its way into a store."""

    reader: ScopeReader
    header: Header
    embedder: Embedder | None
    progress: Progress | None
    vectors: int = 0
    embedded: int = 0

    @property
    def _anew(self) -> bool:
        """Whether texts are embedded again."""
        if self.embedder is None:
            return False
        return not self.header.with_vectors or self.embedder.name != self.header.settings.embedder

    async def settings(self) -> ScopeSettings:
        """The settings to load: with the model of the vectors."""
        given = self.header.settings
        if self._anew and self.embedder is not None:
            (row,) = await self.embedder.embed(["a"], input_type="document")
            return attrs.evolve(given, embedder=self.embedder.name, dimensions=len(row))
        return given if self.header.with_vectors else attrs.evolve(given, embedder=None, dimensions=None)

    async def pages(self, store: GraphStore, gate: Gate | None) -> AsyncIterator[Sequence[Record]]:
        """The records of the file in pages of one kind."""
        total, done = sum(self.header.settings.counts.get(kind, 0) for kind in RecordKind), 0
        paged = _paged(self.reader)
        while page := await asyncio.to_thread(next, paged, None):
            if gate is not None:
                await _demand_writing(store, gate, page)
            kind = KIND_OF[type(page[0])]
            ready = await self._embed(kind, page)
            self.vectors += sum(getattr(each, "vector", None) is not None for each in ready)
            yield ready
            done += len(page)
            if self.progress is not None:
                self.progress(done, total, kind.value)

    async def _embed(self, kind: RecordKind, page: Sequence[Record]) -> Sequence[Record]:
        """The page with vectors of its texts, where they are made anew."""
        if not self._anew or self.embedder is None or kind.value not in tuple(ElementKind):
            return page
        elements: list[Any] = list(page)
        bare: list[Any] = [attrs.evolve(each, vector=None) for each in elements]
        if kind is RecordKind.RELATION and not self.header.settings.vectors.get(ElementKind.RELATION):
            return bare
        texts = {at: text for at, each in enumerate(bare) if (text := _text(getattr(each, kind))).strip()}
        places = list(texts)
        for start in range(0, len(places), _TEXTS):
            some = places[start : start + _TEXTS]
            rows = await self.embedder.embed([texts[at] for at in some], input_type="document")
            for at, row in zip(some, rows, strict=True):
                bare[at] = attrs.evolve(bare[at], vector=np.asarray(row, np.float16))
            self.embedded += len(some)
        return bare


def _text(element: Entity | Memory | Relation) -> str:
    """What is embedded of an element; nothing of a retracted relation."""
    retracted = isinstance(element, Relation) and element.retracted_at is not None
    return "" if retracted else embedding_text(element)


def _paged(reader: ScopeReader) -> Iterator[Sequence[Record]]:
    page: list[Record] = []
    begun = reader.read
    for record in reader.records():
        full = len(page) == _RECORDS or reader.read - begun > LARGEST_RECORD
        if page and (full or type(record) is not type(page[0])):
            yield page
            page, begun = [], reader.read
        page.append(record)
    if page:
        yield page


async def _demand_writing(store: GraphStore, gate: Gate, page: Sequence[Record]) -> None:
    """Raise `AccessDeniedError` unless the principal may write all of a page as it is."""
    records = [each for each in page if isinstance(each, (StoredEntity, StoredMemory, StoredRelation))]
    merged: list[Entity | Memory | Relation] = [
        each.entity for each in records if isinstance(each, StoredEntity) and each.entity.merged_into is not None
    ]
    demands: dict[Action, list[Entity | Memory | Relation]] = {
        Action.WRITE: [_element_of(each) for each in records],
        Action.MERGE: merged,
        Action.FEEDBACK: [_element_of(each) for each in records if each.outcomes],
    }
    for action, elements in demands.items():
        if elements:
            await gate.bind(store.scope, action).demand(elements)


def _element_of(record: StoredEntity | StoredMemory | StoredRelation) -> Entity | Memory | Relation:
    element: Entity | Memory | Relation = getattr(record, KIND_OF[type(record)])
    return element


async def _demand_forgetting(store: GraphStore, gate: Gate) -> None:
    """Raise `AccessDeniedError` unless the principal may forget all that the scope holds."""
    try:
        async with store.snapshot():
            await demand_everything(store, gate, Action.FORGET)
    except UnknownScopeError:  # nothing was ever written
        return


@attrs.frozen(kw_only=True)
class ExportReport:
    """What an export holds: the numbers of records by kind, with mentions, claims and outcomes, and of vectors."""

    counts: Mapping[str, int]
    vectors: int


async def export_scope(
    store: GraphStore,
    target: Path | str,
    *,
    gate: Gate | None = None,
    vectors: bool = True,
    progress: Progress | None = None,
) -> ExportReport:
    """Export a scope to a file of JSON lines; "-" is standard output, and a name in ".gz" is compressed.

    The file holds all that the scope holds, forgotten text excepted: elements with their creation times, claims,
    mentions, merges with what undoes them, links, communities, types, counters, feedback with its history, and the log
    of sessions. It is read from one snapshot, a page at a time, and replaces ``target`` as a whole, at the end. The
    same content makes the same bytes, from any store and with the same version of the library.

    A principal exports only a scope that they may see the whole of: `PartialViewError` otherwise. Without a ``gate``
    it is the owner who exports. Without ``vectors`` the file is smaller, and `import_scope` embeds the texts again.

    Raises `UnknownScopeError` for a scope that was never written to, and `InvalidInputError` for a file that cannot be
    written.
    """
    async with store.snapshot():
        settings = await store.settings()
        await _demand_whole(store, gate)
        total = sum(settings.counts.get(kind, 0) for kind in RecordKind)
        done = embedded = 0
        with written(target) as stream:
            writer = ScopeWriter(stream)
            writer.header(settings, vectors=vectors)
            for kind in RecordKind:
                async for page in _record_pages(store, kind):
                    if not vectors and hasattr(page[0], "vector"):
                        page = [attrs.evolve(each, vector=None) for each in page]  # noqa: PLW2901
                    embedded += sum(getattr(each, "vector", None) is not None for each in page)
                    await asyncio.to_thread(_write, writer, page)
                    done += len(page)
                    if progress is not None:
                        progress(done, total, kind.value)
            writer.trailer()
    return ExportReport(counts=dict(writer.counts), vectors=embedded)


async def _record_pages(store: GraphStore, kind: RecordKind) -> AsyncIterator[Sequence[Any]]:
    """The records of a kind, page by page, in order of their keys."""
    after: Key | None = None
    while page := await store.records(kind, after=after, limit=_RECORDS):
        yield page
        after = key_of(page[-1])


def _write(writer: ScopeWriter, records: Sequence[Record]) -> None:
    for each in records:
        writer.record(each)


async def _demand_whole(store: GraphStore, gate: Gate | None) -> None:
    """Raise `PartialViewError` if anything of the scope is hidden; where policies read names, each element is asked."""
    if gate is None or gate.allows_all:
        return
    bound = gate.bind(store.scope)
    if bound.by_signature:
        async with reading(store, gate=gate) as reader:
            if not await reader.sees_everything():
                raise PartialViewError("exports of a scope")
        return
    async for elements in stored_elements(store):
        if not all(await bound.permits([resource_of(each) for each in elements])):
            raise PartialViewError("exports of a scope")
