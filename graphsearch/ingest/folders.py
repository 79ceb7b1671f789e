"""Ingest of a folder of files: split → extract → resolve → write.

The files are read twice: the first pass writes the entities that files describe, the second the mentions and claims
between them, in batches of one transaction each. The content of a file is compared by digest with that of the previous
ingest, so that an unchanged folder changes nothing, and a changed one ends in the state of a fresh ingest.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, TypeVar
from uuid import UUID

import attrs

from graphsearch.errors import InvalidInputError, MissingExtraError
from graphsearch.ingest.extract.code import extractor as code
from graphsearch.ingest.extract.extraction import Described, Extraction, Fault, UnreadableError
from graphsearch.ingest.report import IngestReport, Progress, totals_of
from graphsearch.ingest.sources import json_lines
from graphsearch.ingest.sources.files import Folder, fingerprint
from graphsearch.ingest.sources.json_lines import JsonSource
from graphsearch.ingest.sources.memory_files import MemorySource
from graphsearch.ingest.sources.python_files import PythonSource
from graphsearch.ingest.write.ledger import (
    FILE_PREFIX,
    Ledger,
    or_nothing,
    read_by,
    stamped,
    unfinished,
    waiting,
    with_notes,
)
from graphsearch.ingest.write.texts import TextReader, write_texts
from graphsearch.ingest.write.writer import Writer, chunks
from graphsearch.model import Batch, Entity, Memory
from graphsearch.model import validation as check
from graphsearch.model.identity import keyed_id

_ENTITIES: Final = 500
"""Approximate number of entities in one transaction of the first pass."""
_ELEMENTS: Final = 2000
"""Approximate number of mentions and claims in one transaction of the second pass."""
_ELEMENTS_PER_TEXT: Final = 4
"""Estimated mentions and claims of a text that is not yet extracted."""

T = TypeVar("T")


Source = MemorySource | PythonSource | JsonSource
"""Reads files of one format, each twice, so that any file can refer to entities that another describes.

``describe`` gives the entities that a file describes, a few at a time; ``extract``, after the first pass of all files,
its whole content in one or more parts. Both raise `UnreadableError` for a file that cannot be read at all.
"""


@attrs.define(eq=False)
class FolderIngest:
    """One ingest of one folder."""

    folder: Folder
    ledger: Ledger
    writer: Writer
    reader: TextReader
    found: list[str]
    progress: Progress
    json: JsonSource = attrs.field(init=False)
    sources: Mapping[str, Source] = attrs.field(init=False)
    """By file suffix."""
    faults: list[Fault] = attrs.field(factory=list)
    unfinished: set[str] = attrs.field(factory=set)
    """Files with a text that was not read."""
    broken: set[str] = attrs.field(factory=set)
    """Unreadable files, whose stored content is kept."""
    described: set[UUID] = attrs.field(factory=set)
    ids: dict[UUID, UUID] = attrs.field(factory=dict)
    """By the id of its type and name, the id that each entity of the files has in the scope."""
    file_memories: set[str] = attrs.field(factory=set)
    """Ids of the memories that represent the present files."""
    notes: set[str] = attrs.field(factory=set)
    """Ids of the memories that the present files contain."""
    model: str = attrs.field(init=False)
    """The name of the embedder."""
    anew: bool = attrs.field(init=False)
    """Whether known elements are embedded as well: earlier ingests had another embedder."""
    changed: int = 0
    steps: int = 0

    def __attrs_post_init__(self) -> None:
        self.json, others = JsonSource(self.folder), MemorySource(self.folder)
        self.sources = defaultdict(lambda: others, {".py": PythonSource(self.folder), ".jsonl": self.json})
        self.model = self.writer.embedder.name if self.writer.embedder else ""
        self.anew = not self.ledger.is_embedded_by(self.model)

    async def run(self) -> IngestReport:
        """Run the ingest."""
        prints = await asyncio.to_thread(self._fingerprints)
        forgotten: list[str] = []
        known = self.ledger.fingerprints()
        if self.broken or prints != known:
            ids = {path: f"{FILE_PREFIX}{path}" for path in prints if known.get(path) != prints[path]}
            files = [Memory(id=id_, source=path) for path, id_ in ids.items() if check.key("id", id_) is None]
            await self.writer.permission.to_begin(self.writer.intake.labelled(files))
            await self._first_pass(prints)
            await self._second_pass(prints)
            forgotten = self._obsolete()
            await self.writer.forget(forgotten)
            await self.writer.prune()
        await self.writer.settle()
        return IngestReport(
            files=len(self.found),
            changed=self.changed,
            forgotten=len(forgotten),
            faults=tuple(sorted({*self.faults, *self.json.faults})),
            **totals_of(self.writer, self.reader.totals),
        )

    def _fingerprints(self) -> dict[str, str]:
        prints = {}
        for path in self.found:
            if (other := self.ledger.elsewhere.get(path)) is not None:
                message = f"already ingested from the folder {other!r}; ingest one with both, or use another project"
                self.faults.append(Fault(path, 0, message))
                continue
            try:
                version = code.EXTRACTOR if path.endswith(".py") else f"{json_lines.EXTRACTOR} {self.reader.name}"
                prints[path] = fingerprint(self.folder, path, f"{version} {self.writer.intake.version} {self.model}")
            except UnreadableError as error:
                self._fail(path, error)
                self.broken.update(known for known in self.ledger.files if known.startswith(f"{path}/"))
        return prints

    async def _first_pass(self, prints: dict[str, str]) -> None:
        described: list[Described] = []
        for path in prints:
            try:
                async for some in _stepwise(path, map(self.writer.intake.described, self._source(path).describe(path))):
                    described += (each for each in some if each.entity.id not in self.described)
                    self.described.update(each.entity.id for each in some)
                    if len(described) >= _ENTITIES:
                        await self._describe(described)
                        described = []
            except UnreadableError as error:
                self._fail(path, error)
            self._step(path, 2 * len(prints))
        await self._describe(described)
        self.described.update([*map(self._id, self.described)])
        self.writer.needed.update(self.json.referred)
        for wanted in chunks(sorted(self.json.referred), _ENTITIES):
            there = {entity.id for entity in await or_nothing(self.writer.store.get_entities(wanted))}
            self.json.missing |= {id_ for id_ in wanted if id_ not in there}

    async def _describe(self, described: Sequence[Described]) -> None:
        await self._mint(each.entity.id for each in described)
        named = [
            attrs.evolve(each, entity=attrs.evolve(each.entity, id=self._id(each.entity.id))) for each in described
        ]
        await self.writer.describe(named, anew=self.anew)

    async def _mint(self, ids: Iterable[UUID]) -> None:
        """Decide the ids of entities that files give by type and name: new ones are keyed, stored ones stay."""
        new = [id_ for id_ in ids if id_ not in self.ids and id_ not in self.json.referred]
        if new:
            key = await self.writer.begin()
            stored = {entity.id for entity in await self.writer.store.get_entities(new)}
            self.ids.update((id_, id_ if id_ in stored else keyed_id(id_, key)) for id_ in new)

    def _id(self, id_: UUID) -> UUID:
        return self.ids.get(id_, id_)

    async def _second_pass(self, prints: dict[str, str]) -> None:
        """Write the content of files, unchanged ones first: an interrupted ingest leaves a file that looks changed."""
        before = self.ledger.fingerprints()
        unresolved_imports = any(path.endswith(".py") and path in before for path in self.broken)
        waiting: list[Extraction] = []
        size = 0
        for path in sorted(prints, key=lambda path: (before.get(path) != prints[path], path)):
            self._step(path, 2 * len(prints))
            partial = unresolved_imports and path.endswith(".py")
            if partial and before.get(path) == prints[path]:
                self.broken.add(path)  # its references to the broken file cannot be resolved now
            if path in self.broken:
                continue
            content = "" if partial or path in self.json.faulty else prints[path]
            async for extraction in self._stamped(path, content):
                self.file_memories.add(extraction.memory.id)
                self.notes.update(extraction.memory.attributes.get("notes", ()))
                if not self.ledger.holds(extraction):
                    waiting.append(extraction)
                    size += len(extraction.mentions) + len(extraction.claims)
                    size += _ELEMENTS_PER_TEXT * len(extraction.texts)
                if size >= _ELEMENTS:
                    await self._write(waiting)
                    waiting, size = [], 0
        if waiting:
            await self._write(waiting)

    async def _stamped(self, path: str, content: str) -> AsyncIterator[Extraction]:
        """The content of a file; only the last part has the fingerprint, so that a file half written looks changed."""
        last: Extraction | None = None
        try:
            async for part in _stepwise(path, map(self.writer.intake.extraction, self._source(path).extract(path))):
                kept = []
                if last is not None:
                    yield stamped(last, folder=self.folder, content="", model=self.model)
                elif path in self.json.faulty:  # its bad lines may have given any of the earlier notes
                    kept = [id_ for id_ in self.ledger.notes(path) if not self.json.gives(id_)]
                last = with_notes(part, kept) if kept else part
        except UnreadableError as error:
            self._fail(path, error)
        if last is not None and path not in self.broken:
            yield stamped(last, folder=self.folder, content=content, model=self.model)

    async def _write(self, extractions: Sequence[Extraction]) -> None:
        """Write some extractions.

        A file with texts looks changed until the last of them is written: the next ingest continues after an
        interruption, and knows which texts are of the file.
        """
        await self._mint(entity.id for each in extractions for entity in each.named)
        extractions = [*map(self._reidentified, extractions)]
        sources = {text.id: each.memory.source for each in extractions for text in each.texts}
        texts = [read_by(text, self.reader.version) for each in extractions for text in each.texts]
        found = await waiting(texts, self.writer.store)
        changed = [*found.read, *found.moved]
        await self.writer.permission.to_read(changed)
        if changed:
            touched = {sources[text.id] for text in changed}
            opened = [
                # of a new file nothing is written before its texts but which it has
                each if each.memory.source in self.ledger.files else Extraction(memory=each.memory)
                for each in extractions
                if each.memory.source in touched
            ]
            await self._put([*map(self._unfinished, opened)])
            await write_texts(found, self.writer, self.reader)
        totals = self.reader.totals
        self.unfinished |= {sources[id_] for id_ in (*totals.failed, *totals.left) if id_ in sources}
        self.faults += [
            Fault(sources[each.memory_id], 0, str(each)) for each in totals.unread if each.memory_id in sources
        ]
        done = [self._unfinished(each) if each.memory.source in self.unfinished else each for each in extractions]
        await self._put(done, totals.to_write(texts) if self.anew else ())
        self.changed += sum(each.memory.source not in self.unfinished for each in extractions)

    async def _put(self, extractions: Sequence[Extraction], known: Sequence[Memory] = ()) -> None:
        """Write extractions in one transaction, without their texts; embed their notes, and the ``known`` texts."""
        named = {entity.id: entity for each in reversed(extractions) for entity in reversed(each.named)}
        notes = [note for each in extractions for note in each.notes]
        batch = Batch(
            named=named.values(),
            memories=[*(each.memory for each in extractions), *notes],
            mentions=[mention for each in extractions for mention in each.mentions],
            claims=[claim for each in extractions for claim in each.claims],
        )
        await self.writer.write(batch, anew=self.anew, embed=[*notes, *known], stale=self._is_stale)

    def _unfinished(self, extraction: Extraction) -> Extraction:
        """Marked as incomplete: it looks changed at the next ingest, and the earlier notes of its file are kept."""
        return with_notes(unfinished(extraction), self.ledger.notes(extraction.memory.source))

    def _is_stale(self, entity: Entity) -> bool:
        """Whether an entity was described by a file of this folder, and is not any more."""
        source = entity.attributes.get("source")
        if entity.id in self.described or source in self.broken or source in self.json.faulty:
            return False
        return source in self.ledger.files or source in self.found

    def _obsolete(self) -> list[str]:
        """Ids of the memories that are no longer represented or contained in the folder."""
        readable = self.ledger.files.keys() - self.broken
        parts = {id_ for path in readable for id_ in self.ledger.files[path]}
        whole = readable - self.json.faulty - self.unfinished
        notes = {note for path in whole for note in self.ledger.notes(path)}
        return sorted((parts - self.file_memories) | (notes - self.notes))

    def _source(self, path: str) -> Source:
        return self.sources[PurePosixPath(path).suffix]

    def _fail(self, path: str, error: UnreadableError) -> None:
        self.faults.append(error.fault)
        self.broken.add(path)

    def _step(self, path: str, total: int) -> None:
        self.steps += 1
        self.progress(self.steps, total, path)

    def _reidentified(self, extraction: Extraction) -> Extraction:
        """The content of a file with the ids that its entities have, but for claims of one about itself."""
        new, evolve = self._id, attrs.evolve
        claims = (
            evolve(each, source_id=new(each.source_id), target_id=new(each.target_id)) for each in extraction.claims
        )
        return evolve(
            extraction,
            named=tuple(evolve(each, id=new(each.id)) for each in extraction.named),
            mentions=tuple(evolve(each, entity_id=new(each.entity_id)) for each in extraction.mentions),
            claims=tuple(each for each in claims if each.source_id != each.target_id),
        )


async def _stepwise(path: str, items: Iterator[T]) -> AsyncIterator[T]:
    """What is read from a file, each item in a thread, so that a large file does not block the event loop.

    Raises `UnreadableError` for anything in it that is refused: the file is left out alone.
    """
    end = object()
    try:
        while (item := await asyncio.to_thread(next, items, end)) is not end:
            yield item  # type: ignore[misc]
    except (RecursionError, MemoryError) as error:
        raise UnreadableError(Fault(path, 0, "nested too deeply to be read")) from error
    except (InvalidInputError, MissingExtraError) as error:
        raise UnreadableError(Fault(path, 0, str(error).removeprefix(f"{path}: "))) from error
