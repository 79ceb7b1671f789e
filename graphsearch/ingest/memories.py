"""Memories into a store, as they come: extract → resolve → write, one transaction a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from graphsearch.errors import InvalidInputError
from graphsearch.ingest.ledger import FILE_PREFIX
from graphsearch.ingest.report import Progress, RememberReport
from graphsearch.ingest.texts import Reading, TextReader
from graphsearch.ingest.writer import Writer, chunks, or_nothing
from graphsearch.model import Entity, Memory
from graphsearch.records import Batch

_BATCH: Final = 500
"""How many memories are written in one transaction."""

_STAMP: Final = "read_by"
"""The attribute that says which extractor read a memory."""


async def remember(
    memories: Sequence[Memory], writer: Writer, reader: TextReader, progress: Progress
) -> RememberReport:
    """Take in memories; see `graphsearch.ingest.Ingestor.remember`."""
    distinct = {memory.id: memory for memory in memories}
    _refuse_file_ids(distinct)
    await writer.begin()
    said = Reading()
    done = changed = 0
    for some in chunks(list(distinct.values()), _BATCH):
        fresh = await _changed([_stamped(memory, reader.name) for memory in some], writer)
        if fresh:
            reading = await reader.read(fresh)
            batch = Batch(
                named=reading.named,
                memories=fresh,
                mentions=reading.mentions,
                claims=reading.claims,
                counters=reading.counts.counters,
            )
            await writer.write(batch, anew=False, embed=fresh, stale=_never)
            said = said.tallied(reading)
            changed += len(fresh)
        done += len(some)
        progress(done, len(distinct), some[-1].id)
    await writer.prune()
    if changed:
        await writer.store.settle()
    return RememberReport(
        memories=len(distinct),
        changed=changed,
        entities=writer.entities,
        removed=writer.removed,
        relations=writer.relations,
        embedded=writer.embedded,
        resolutions=said.counts,
        conflicts=said.conflicts,
        unanswered=said.unanswered,
    )


def _never(_: Entity) -> bool:
    """No file describes what a memory names."""
    return False


def _refuse_file_ids(ids: Iterable[str]) -> None:
    wrong = [id_ for id_ in ids if id_.startswith(FILE_PREFIX)]
    if wrong:
        raise InvalidInputError("memories", [f"the id {id_!r} stands for a file; choose another one" for id_ in wrong])


def _stamped(memory: Memory, extractor: str) -> Memory:
    return attrs.evolve(memory, attributes={**memory.attributes, _STAMP: extractor})


async def _changed(memories: Sequence[Memory], writer: Writer) -> list[Memory]:
    """Those that are not stored just as they are; the weight that sessions gave a stored one is no change."""
    stored = await or_nothing(writer.store.get_memories([memory.id for memory in memories]))
    known = {memory.id: memory for memory in stored}
    return [memory for memory in memories if memory.id not in known or _differs(memory, known[memory.id])]


def _differs(memory: Memory, stored: Memory) -> bool:
    return memory != attrs.evolve(stored, feedback_weight=memory.feedback_weight, created_at=memory.created_at)
