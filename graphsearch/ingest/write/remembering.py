"""Read the texts of memories and write them with what they say, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphsearch.ingest.write.echoes import Echoes
from graphsearch.ingest.write.ledger import Waiting
from graphsearch.ingest.write.texts import ResolvedTexts, TextReader, read_before
from graphsearch.ingest.write.writer import Writer, chunks
from graphsearch.model import Batch, Memory
from graphsearch.model import validation as check


async def write_texts(
    found: Waiting,
    writer: Writer,
    reader: TextReader,
    *,
    echoes: Echoes | None = None,
    strict: bool = False,
    progress: Callable[[int, Memory], None] = lambda _, __: None,
) -> int:
    """Read and write memories, a batch of the reader in one transaction; return how many were completed.

    ``echoes`` leaves out what they repeat; ``strict``: raise `InvalidInputError` for texts that exceed a limit.
    ``progress`` is called with the number of memories after each batch, and the last of them.
    """
    await writer.begin()
    changed = await _write(found.moved, await read_before(found.moved, writer.store), writer)
    for part in chunks(found.read, reader.batch):
        new = await echoes.keep(part) if echoes else part
        if new:
            reading = await reader.read(new)
            check.refuse("memories", *(reading.beyond if strict else ()))
            changed += await _write(new, echoes.without(reading) if echoes else reading, writer)
        if echoes:
            await echoes.link(new)
        progress(len(part), part[-1])
    return changed


async def _write(memories: Sequence[Memory], reading: ResolvedTexts, writer: Writer) -> int:
    """Write some memories with their mentions and claims; return how many were completed."""
    if read := reading.to_write(memories):
        batch = Batch(
            named=reading.named,
            memories=read,
            mentions=reading.mentions,
            claims=reading.claims,
            counters=reading.counts.counters,
        )
        # files do not describe what memories name
        await writer.write(batch, anew=False, embed=read, stale=lambda _: False)
    return len(read) - len(reading.begun)
