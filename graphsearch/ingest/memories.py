"""Memories into a store, as they come: extract → resolve → write, one transaction a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.report import Progress, RememberReport
from graphsearch.ingest.write.freshness import read_by, waiting
from graphsearch.ingest.write.ledger import FILE_PREFIX
from graphsearch.ingest.write.texts import BATCH, Reading, TextReader, read_before
from graphsearch.ingest.write.writer import Writer, chunks
from graphsearch.model import Batch, Entity, Memory


async def remember(
    memories: Sequence[Memory], writer: Writer, reader: TextReader, progress: Progress
) -> RememberReport:
    """Take in memories; see `graphsearch.ingest.Ingestor.remember`."""
    distinct = {memory.id: memory for memory in memories}
    _refuse_file_ids(distinct)
    done = changed = 0
    for some in chunks(list(distinct.values()), BATCH):
        found = await waiting([read_by(memory, reader.name) for memory in some], writer.store)
        await writer.permission.to_read([*found.read, *found.moved])
        await writer.begin()
        changed += await _write(found.moved, await read_before(found.moved, writer.store), writer)
        done += len(some) - len(found.read)
        for part in chunks(found.read, reader.batch):
            changed += await _write(part, await reader.read(part), writer)
            done += len(part)
            progress(done, len(distinct), part[-1].id)
        if not found.read:
            progress(done, len(distinct), some[-1].id)
    if not distinct:
        await writer.begin()
    await writer.prune()
    await writer.settle()
    told = reader.told
    return RememberReport(
        memories=len(distinct),
        changed=changed,
        left=len(told.left),
        entities=writer.entities,
        removed=writer.removed,
        relations=writer.relations,
        embedded=writer.embedded,
        resolutions=told.counts,
        conflicts=told.conflicts,
        unanswered=told.unanswered,
        refused=told.refused,
        unread=told.unread,
    )


async def _write(memories: Sequence[Memory], reading: Reading, writer: Writer) -> int:
    """Write what some memories say; how many of them were read to the end."""
    if read := reading.to_write(memories):
        batch = Batch(
            named=reading.named,
            memories=read,
            mentions=reading.mentions,
            claims=reading.claims,
            counters=reading.counts.counters,
        )
        await writer.write(batch, anew=False, embed=read, stale=_never)
    return len(read) - len(reading.begun)


def _never(_: Entity) -> bool:
    """No file describes what a memory names."""
    return False


def _refuse_file_ids(ids: Iterable[str]) -> None:
    wrong = [id_ for id_ in ids if id_.startswith(FILE_PREFIX)]
    if wrong:
        raise InvalidInputError("memories", [f"the id {id_!r} stands for a file; choose another one" for id_ in wrong])
