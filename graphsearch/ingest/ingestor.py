"""Folders of source and JSON lines into a store: split → extract → resolve → write.

An ingest reads its files twice. The first reading writes the entities that files describe, the second what they say
of each other, in batches of one transaction each. What a file says is compared by digest with what it said the last
time, so that the same folder twice changes nothing, and a folder that changed ends as if it had been taken in afresh.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Final, Protocol, TypeVar
from uuid import UUID

import attrs

from graphsearch.ingest.extraction import Extraction
from graphsearch.ingest.files import Folder, find, fingerprint, locate
from graphsearch.ingest.ledger import Ledger, read_ledger, stamped
from graphsearch.ingest.report import Fault, IngestReport, Progress, UnreadableError
from graphsearch.ingest.sources import JsonSource, PythonSource, Source, version_of
from graphsearch.ingest.writer import Writer, chunks, or_nothing
from graphsearch.model import Entity
from graphsearch.protocols import Embedder, GraphStore

_ENTITIES: Final = 500
"""About how many entities are written in one transaction of the first reading."""
_SAID: Final = 2000
"""About how many mentions and claims are written in one transaction of the second reading."""

T = TypeVar("T")


class HasStoreAndEmbedder(Protocol):
    """What an ingest needs of an engine."""

    @property
    def store(self) -> GraphStore:
        """Where to write."""
        ...

    @property
    def embedder(self) -> Embedder | None:
        """What to embed with, if anything."""
        ...


class Ingestor:
    """Takes folders and files into the engine's store, embedded by its embedder if it has one."""

    def __init__(self, engine: HasStoreAndEmbedder) -> None:
        self._engine = engine

    async def add(
        self, path: Path, *, only: Iterable[str] = (), name: str | None = None, progress: Progress | None = None
    ) -> IngestReport:
        """Take in a folder, or a file, of Python source and JSON lines.

        * ``only``: relative paths of the files and folders to keep to; all unless given.
        * ``name``: what the folder is called, by which it is known the next time; its own name unless given.
        * ``progress``: told after every step.

        What is gone from the folder since the last time is forgotten. Names are followed among the files of one call.
        Broken files and lines are reported in `IngestReport.faults` and do not stop the rest; what earlier versions
        of a broken file said stays. Raises `InvalidInputError` when there is nothing at ``path``,
        `EmbeddingModelError` when the scope holds another model's vectors, and what the store and the embedder raise:
        then the batches written so far stay, and the next call goes on from there.
        """
        folder = await asyncio.to_thread(locate, path, name=name, only=only)
        ledger = await read_ledger(self._engine.store, folder)
        found = await asyncio.to_thread(lambda: list(dict.fromkeys(find(folder))))
        writer = Writer(self._engine.store, self._engine.embedder)
        ingest = _Ingest(folder, ledger, writer, found, progress or _silent)
        report = await ingest.run()
        if report.changed or report.forgotten:
            await self._engine.store.settle()
        return report


def _silent(done: int, total: int, name: str) -> None:
    """Nobody is watching."""


@attrs.define(eq=False)
class _Ingest:
    """One call of `Ingestor.add`."""

    folder: Folder
    ledger: Ledger
    writer: Writer
    found: list[str]
    progress: Progress
    python: PythonSource = attrs.field(init=False)
    json: JsonSource = attrs.field(init=False)
    faults: list[Fault] = attrs.field(factory=list)
    broken: set[str] = attrs.field(factory=set)
    """Files of which what is known stays as it is."""
    described: set[UUID] = attrs.field(factory=set)
    said: set[str] = attrs.field(factory=set)
    """Ids of the memories that the files stand for now."""
    changed: int = 0
    steps: int = 0

    def __attrs_post_init__(self) -> None:
        self.python, self.json = PythonSource(self.folder), JsonSource(self.folder)

    @property
    def model(self) -> str:
        """The name of the embedder."""
        return self.writer.embedder.name if self.writer.embedder else ""

    async def run(self) -> IngestReport:
        prints = await asyncio.to_thread(self._fingerprints)
        forgotten: list[str] = []
        if self.broken or prints != self.ledger.fingerprints():
            await self._first_reading(prints)
            await self._second_reading(prints)
            forgotten = self._gone()
            await self.writer.forget(forgotten)
            await self.writer.prune()
        return IngestReport(
            files=len(self.found),
            changed=self.changed,
            forgotten=len(forgotten),
            entities=self.writer.entities,
            removed=self.writer.removed,
            relations=self.writer.relations,
            embedded=self.writer.embedded,
            faults=tuple(sorted({*self.faults, *self.json.faults})),
        )

    def _fingerprints(self) -> dict[str, str]:
        prints = {}
        for path in self.found:
            other = self.ledger.elsewhere.get(path)
            if other is not None:
                message = f"known already from the folder {other!r}; take in what holds both, or use another project"
                self.faults.append(Fault(path, 0, message))
                continue
            try:
                prints[path] = fingerprint(self.folder, path, f"{version_of(path)} {self.model}")
            except UnreadableError as error:
                self._fail(path, error)
        return prints

    async def _first_reading(self, prints: dict[str, str]) -> None:
        waiting: dict[bool, list[Entity]] = {True: [], False: []}
        for path in prints:
            anew = not self.ledger.embedded_by(path, self.model)
            try:
                async for entities in _stepwise(self._source(path).describe(path)):
                    fresh = [entity for entity in entities if entity.id not in self.described]
                    self.described.update(entity.id for entity in fresh)
                    waiting[anew].extend(fresh)
                    if len(waiting[anew]) >= _ENTITIES:
                        await self.writer.describe(waiting[anew], anew=anew)
                        waiting[anew] = []
            except UnreadableError as error:
                self._fail(path, error)
            self._step(path, 2 * len(prints))
        for anew, rest in waiting.items():
            await self.writer.describe(rest, anew=anew)
        for some in chunks(sorted(self.json.referred), _ENTITIES):
            there = {entity.id for entity in await or_nothing(self.writer.store.get_entities(some))}
            self.json.missing |= {id_ for id_ in some if id_ not in there}

    async def _second_reading(self, prints: dict[str, str]) -> None:
        """Unchanged files first: an ingest that breaks off leaves some file that looks changed, and is done again."""
        before = self.ledger.fingerprints()
        lost_sight = any(path.endswith(".py") and path in before for path in self.broken)
        waiting: list[Extraction] = []
        for path in sorted(prints, key=lambda path: (before.get(path) != prints[path], path)):
            self._step(path, 2 * len(prints))
            if path in self.broken:
                continue
            partial = lost_sight and path.endswith(".py")
            if partial and before.get(path) == prints[path]:
                self.broken.add(path)  # what it says of the broken file cannot be told now
                continue
            content = "" if partial or path in self.json.faulty else prints[path]
            async for extraction in self._stamped(path, content):
                self.said.add(extraction.memory.id)
                if not self.ledger.holds(extraction):
                    waiting.append(extraction)
                if sum(len(each.mentions) + len(each.claims) for each in waiting) >= _SAID:
                    await self._write(waiting)
                    waiting = []
        await self._write(waiting)

    async def _stamped(self, path: str, content: str) -> AsyncIterator[Extraction]:
        """What a file says; only its last part bears the fingerprint, so that a file half written looks changed."""
        last: Extraction | None = None
        try:
            async for extraction in _stepwise(self._source(path).extract(path)):
                if last is not None:
                    yield stamped(last, folder=self.folder, content="", model=self.model)
                last = self._with_kept_notes(extraction, path) if last is None else extraction
        except UnreadableError as error:
            self._fail(path, error)
        if last is not None and path not in self.broken:
            yield stamped(last, folder=self.folder, content=content, model=self.model)

    def _with_kept_notes(self, extraction: Extraction, path: str) -> Extraction:
        """While a file has bad lines, no memory that it once held is forgotten."""
        if path not in self.json.faulty:
            return extraction
        kept = {id_ for id_ in self.ledger.notes(path) if not self.json.gives(id_)}
        notes = sorted({*extraction.memory.attributes["notes"], *kept})
        memory = attrs.evolve(extraction.memory, attributes={**extraction.memory.attributes, "notes": notes})
        return attrs.evolve(extraction, memory=memory)

    async def _write(self, extractions: list[Extraction]) -> None:
        for anew in (False, True):
            some = [each for each in extractions if self.ledger.embedded_by(each.memory.source, self.model) != anew]
            if some:
                await self.writer.write(some, anew=anew, stale=self._is_stale)
                self.changed += len(some)

    def _is_stale(self, entity: Entity) -> bool:
        """Whether an entity was described by a file of this folder, and is no longer."""
        source = entity.attributes.get("source")
        if entity.id in self.described or source in self.broken or source in self.json.faulty:
            return False
        return source in self.ledger.files or source in self.found

    def _gone(self) -> list[str]:
        """Ids of the memories that nothing in the folder stands for or holds any more."""
        gone: set[str] = set()
        for path, parts in self.ledger.files.items():
            if path in self.broken:
                continue
            gone.update(id_ for id_ in parts if id_ not in self.said)
            if path not in self.json.faulty:
                gone.update(note for note in self.ledger.notes(path) if not self.json.gives(note))
        return sorted(gone)

    def _source(self, path: str) -> Source:
        return self.python if path.endswith(".py") else self.json

    def _fail(self, path: str, error: UnreadableError) -> None:
        self.faults.append(error.fault)
        self.broken.add(path)

    def _step(self, path: str, total: int) -> None:
        self.steps += 1
        self.progress(self.steps, total, path)


async def _stepwise(items: Iterator[T]) -> AsyncIterator[T]:
    """The items, each made in a thread, so that reading a large file does not hold up the event loop."""
    end = object()
    while (item := await asyncio.to_thread(next, items, end)) is not end:
        yield item  # type: ignore[misc]
