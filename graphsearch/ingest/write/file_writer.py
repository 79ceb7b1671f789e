"""Write the content of files, with the mentions and claims of the texts in them that are new or changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from graphsearch.ingest.extract.faults import Fault
from graphsearch.ingest.extract.file_extraction import Extraction
from graphsearch.ingest.write.freshness import read_by, waiting
from graphsearch.ingest.write.ledger import Ledger, unfinished, with_notes
from graphsearch.ingest.write.texts import ResolvedTexts, TextReader, read_before
from graphsearch.ingest.write.writer import Writer, chunks
from graphsearch.model import Batch, Entity, Memory


@attrs.define(eq=False)
class FileWriter:
    """Writes the content of files, for one ingest.

    ``stale`` returns whether an entity was once described by a file of the folder, and is not any more.
    """

    ledger: Ledger
    writer: Writer
    reader: TextReader
    stale: Callable[[Entity], bool]
    unfinished: set[str] = attrs.field(factory=set)
    """Files with a text that was not read."""
    faults: list[Fault] = attrs.field(factory=list)
    """Texts that could not be read."""

    async def write(self, extractions: Sequence[Extraction], *, anew: bool) -> int:
        """Write some extractions; returns how many were completed. ``anew`` embeds known elements as well.

        Texts are read a batch at a time, and each batch is written at once. A file looks changed until its last text is
        read, so that the next ingest continues after an interruption.
        """
        texts = [read_by(text, self.reader.name) for each in extractions for text in each.texts]
        sources = {text.id: each.memory.source for each in extractions for text in each.texts}
        found = await waiting(texts, self.writer.store)
        await self.writer.permission.to_read([*found.read, *found.moved])
        *parts, last = list(chunks(found.read, self.reader.batch)) or [[]]
        for part in parts:
            if reading := await self._read(part, sources):
                touched = {sources[text.id] for text in part}
                opened = [self._unfinished(each) for each in extractions if each.memory.source in touched]
                await self._write(opened, reading.to_write(part), reading, anew=False)
        reading = await self._read(last, sources) or ResolvedTexts()
        kept = await read_before(found.moved, self.writer.store)
        whole = attrs.evolve(reading, mentions=reading.mentions + kept.mentions, claims=reading.claims + kept.claims)
        totals = self.reader.totals
        self.unfinished |= {source for text_id, source in sources.items() if text_id in totals.unfinished}
        done = [self._unfinished(each) if each.memory.source in self.unfinished else each for each in extractions]
        await self._write(done, totals.to_write([*last, *found.moved]), whole, anew=anew, known=totals.to_write(texts))
        return sum(each.memory.source not in self.unfinished for each in extractions)

    async def _read(self, texts: Sequence[Memory], sources: Mapping[str, str]) -> ResolvedTexts | None:
        """The mentions and claims of some texts; None if none of them could be read."""
        if not texts:
            return None
        await self.writer.begin()
        reading = await self.reader.read(texts)
        self.faults += [Fault(sources[each.memory_id], 0, str(each)) for each in reading.unread]
        return reading if reading.to_write(texts) else None

    async def _write(
        self,
        extractions: Sequence[Extraction],
        texts: Sequence[Memory],
        reading: ResolvedTexts,
        *,
        anew: bool,
        known: Sequence[Memory] = (),
    ) -> None:
        """Write some extractions, and some of their texts with the mentions and claims read from them.

        Texts in ``known`` are embedded too if ``anew``.
        """
        named = [*(entity for each in extractions for entity in each.named), *reading.named]
        notes = [note for each in extractions for note in each.notes]
        batch = Batch(
            named={entity.id: entity for entity in reversed(named)}.values(),
            memories=[*(each.memory for each in extractions), *notes, *texts],
            mentions=[*(mention for each in extractions for mention in each.mentions), *reading.mentions],
            claims=[*(claim for each in extractions for claim in each.claims), *reading.claims],
            counters=reading.counts.counters,
        )
        embed = {text.id: text for text in (*notes, *texts, *known)}
        await self.writer.write(batch, anew=anew, embed=list(embed.values()), stale=self.stale)

    def _unfinished(self, extraction: Extraction) -> Extraction:
        """Marked as incomplete: it looks changed at the next ingest, and the earlier notes of its file are kept."""
        return with_notes(unfinished(extraction), self.ledger.notes(extraction.memory.source))
