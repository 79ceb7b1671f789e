"""Ingest of memories: extract → resolve → write, one transaction per batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.report import Progress, RememberReport
from graphsearch.ingest.write.freshness import read_by, waiting
from graphsearch.ingest.write.ledger import FILE_PREFIX
from graphsearch.ingest.write.texts import BATCH, ResolvedTexts, TextReader, read_before
from graphsearch.ingest.write.writer import Writer, chunks
from graphsearch.model import Batch, Entity, Memory


async def remember(
    memories: Sequence[Memory], writer: Writer, reader: TextReader, progress: Progress
) -> RememberReport:
    """Ingest memories; see `graphsearch.ingest.Ingestor.remember`."""
    distinct = {memory.id: memory for memory in memories}
    _refuse_file_ids(distinct)
    if not distinct:
        await writer.begin()  # also an empty ingest creates the scope
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
    totals = reader.totals
    return RememberReport(
        memories=len(distinct),
        changed=changed,
        left=len(totals.left),
        entities=writer.entities,
        removed=writer.removed,
        relations=writer.relations,
        embedded=writer.embedded,
        resolutions=totals.counts,
        conflicts=totals.conflicts,
        unanswered=totals.unanswered,
        refused=totals.refused,
        unread=totals.unread,
    )


async def _write(memories: Sequence[Memory], reading: ResolvedTexts, writer: Writer) -> int:
    """Write some memories with their mentions and claims; returns how many were completed."""
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
    """False: entities that memories mention are not described by files."""
    return False


def _refuse_file_ids(ids: Iterable[str]) -> None:
    wrong = [id_ for id_ in ids if id_.startswith(FILE_PREFIX)]
    if wrong:
        raise InvalidInputError(
            "memories", [f"the id {id_!r} is reserved for a file; choose another one" for id_ in wrong]
        )
