"""Export of a whole scope to a file: streaming, from one snapshot, the same bytes for the same content."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from graphsearch.access.gate import Gate, resource_of
from graphsearch.access.reader import reading
from graphsearch.access.stored_elements import record_pages, stored_elements
from graphsearch.errors import PartialViewError
from graphsearch.ingest import Progress
from graphsearch.model.stored import Record, RecordKind, StoredEntity, StoredMemory, StoredRelation
from graphsearch.moving.scope_file import COUNTED, ScopeWriter, written
from graphsearch.protocols import GraphStore


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
                async for page in record_pages(store, kind):
                    records = page if vectors else [_without_vector(each) for each in page]
                    embedded += sum(getattr(each, "vector", None) is not None for each in records)
                    await asyncio.to_thread(_write, writer, records)
                    done += len(page)
                    if progress is not None:
                        progress(done, total, kind.value)
            writer.trailer()
    return ExportReport(counts={name: writer.counts.numbers[name] for name in COUNTED}, vectors=embedded)


def _write(writer: ScopeWriter, records: Sequence[Record]) -> None:
    for each in records:
        writer.record(each)


def _without_vector(record: Record) -> Record:
    if isinstance(record, (StoredEntity, StoredMemory, StoredRelation)) and record.vector is not None:
        stored: Any = record
        bare: Record = attrs.evolve(stored, vector=None)
        return bare
    return record


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
