"""The entry points of ingest: folders of files, and single memories."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

import attrs

from graphsearch._support.concurrency import within
from graphsearch._support.garbage import rare_collections
from graphsearch._support.observing import observed
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.errors import MissingDependencyError
from graphsearch.health.keeping import follow_growth
from graphsearch.ingest.folders import FolderIngest
from graphsearch.ingest.report import IngestReport, Progress, RememberReport, totals_of
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.model_stages import EntityMatcher, visible
from graphsearch.ingest.sources.files import locate, survey
from graphsearch.ingest.sources.memory_files import is_read
from graphsearch.ingest.stating.stating import Stating
from graphsearch.ingest.write.echoes import Echoes
from graphsearch.ingest.write.ledger import FILE_PREFIX, read_by, read_ledger, waiting
from graphsearch.ingest.write.options import DEFAULT_LIMITS, IngestLimits, IngestOptions, Intake
from graphsearch.ingest.write.permission import Permission
from graphsearch.ingest.write.texts import BATCH, DEFAULT_EXTRACTOR, TextReader, write_texts
from graphsearch.ingest.write.writer import DistinctTexts, Writer, chunks, embed_facts
from graphsearch.llms.function import AskFunction, as_llm
from graphsearch.model import FactReport, FactStatus, Memory
from graphsearch.model import validation as check
from graphsearch.protocols import LLM, Embedder, Extractor
from graphsearch.stores.graph import GraphStore


class Parts(Protocol):
    """The part of an engine that an ingest needs."""

    @property
    def store(self) -> GraphStore:
        """The store to write to."""
        ...

    @property
    def embedder(self) -> Embedder | None:
        """The embedder, if any."""
        ...


class Ingestor:
    """Ingests files and memories into the engine's store, embedded by its embedder if it has one.

    It writes on behalf of the principal of the ``gate``; without one, of the owner, to whom everything is allowed. The
    action WRITE has to be allowed for every memory and entity that is written, in its new and its stored state, and for
    every relation that their claims create, change or retract; FORGET for whatever is forgotten or removed.
    `AccessDeniedError` is raised before anything of a refused batch is written; the batches before it stay. Unchanged
    elements are not checked.

    ``extractor`` reads texts; the default is `graphsearch.ingest.TextExtractor`. With None nothing
    is read: what counts are the facts and entities that memories are given with (`Memory.facts`).
    ``facts`` embeds the facts of relations too, so that searches find relations whose entities a question does not
    name: one more text per sentence with relations, of the whole scope first, then of new and changed relations.
    The default is True if the engine has an embedder.

    ``judge`` is a language model that is asked, if names and vectors do not decide, whether a new entity is one of the
    similar known ones. It sees only those that the ``gate`` allows to READ, so it requires a gate; pass `ALLOW_ALL` if
    all of them may be shown. `graphsearch.llms.BudgetedLLM` limits the spending of judge and extractor.

    ``limits`` is the most that one call reads, as `graphsearch.ingest.IngestLimits`. `remember` refuses a text that
    exceeds them with `InvalidInputError`, before anything of its batch of 500 memories is written; `add` reports it as
    a fault. A call that exceeds their ``seconds`` is stopped and raises `TimeLimitError`: batches written before stay.

    ``options``: what is done to everything before it is written; see `graphsearch.ingest.IngestOptions`.

    Raises `MissingDependencyError` for ``facts`` without an embedder, and for a ``judge`` without a gate.
    """

    def __init__(
        self,
        engine: Parts,
        *,
        extractor: Extractor | None = DEFAULT_EXTRACTOR,
        judge: LLM | AskFunction | None = None,
        gate: Gate | None = None,
        facts: bool | None = None,
        limits: IngestLimits = DEFAULT_LIMITS,
        options: IngestOptions | None = None,
    ) -> None:
        if facts and engine.embedder is None:
            raise MissingDependencyError("Ingestor(facts=True) embeds facts: GraphSearchEngine(store=…, embedder=…)")
        self._engine = engine
        self._extractor = extractor
        if judge is not None and gate is None:
            raise MissingDependencyError(
                "Ingestor(judge=…) shows names of the graph to a language model and needs a gate: pass "
                "gate=Gate(authorizer, principal), or gate=ALLOW_ALL if all of it may be shown"
            )
        show = partial(visible, engine.store, gate or ALLOW_ALL)
        self._judge = None if judge is None else EntityMatcher(as_llm(judge), show)
        self._gate = gate or ALLOW_ALL
        self._limits = limits
        self._facts = facts is not False
        self._intake = Intake(options or IngestOptions())

    @observed("add")
    async def add(
        self,
        path: Path | str,
        *,
        only: Iterable[str] = (),
        name: str | None = None,
        hidden: bool = False,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Ingest a folder or a file: Python source, JSON lines, documents, tables, transcripts, exports of chats.

        * ``only``: relative paths of the files and folders to ingest; default all.
        * ``name``: the name that identifies the folder in later ingests; default its own name.
        * ``hidden``: also read hidden files and folders. They are skipped, as are private keys, unless ``path`` or
          ``only`` names them: see `IngestReport.skipped`, where files without a reader are counted, too.
        * ``progress``: called after every step.

        Content that is gone from the folder since the last ingest is forgotten. Names are resolved among the files of
        one call. Broken files and lines are reported in `IngestReport.faults` and do not stop the rest; the content of
        earlier versions of a broken file is kept. Raises `InvalidInputError` if there is nothing at ``path``,
        `EmbeddingModelError` if the scope has another model's vectors, `MissingExtraError` if there are texts and the
        extra of the default extractor is not installed, `AccessDeniedError` for changes that the gate does not allow,
        and what the store, the embedder and the extractor raise: then the batches written so far stay, and the next
        call continues from there.

        Texts that a language model could not read are faults; those that are left because its budget is spent are
        counted. The next call reads both; completed texts are not read again.
        """
        async with within(self._limits.seconds):
            folder = await asyncio.to_thread(locate, Path(path), name=name, only=only)
            ledger = await read_ledger(self._engine.store, folder)
            folder = attrs.evolve(folder, hidden=hidden)
            found, skipped = await asyncio.to_thread(survey, folder, is_read)
            embedder = self._embedder()
            reader = self._reader(embedder)
            ingest = FolderIngest(folder, ledger, self._writer(embedder), reader, found, progress or _silent)
            with rare_collections():
                report = await ingest.run()
                reader.demand()
                return attrs.evolve(report, facts=await self._finish(embedder), skipped=tuple(skipped))

    @observed("remember")
    async def remember(
        self, memories: Iterable[Memory], *, session_id: str = "", progress: Progress | None = None
    ) -> RememberReport:
        """Ingest memories: extract entities and claims from their texts, embed both, and write them.

        What a memory's session was shown by `graphsearch.context.ContextBuilder`, and ``session_id`` if it is given, is
        no new evidence when it is written back: see `RememberReport.echoes`.

        A known, unchanged memory changes nothing; a changed one replaces what the old text proved; of two with one id
        the last counts. Written in batches of one transaction each. Memories that could not be read, or that are left
        because the budget of a language model is spent, are not written but reported, and the next call reads them; if
        the judge was asked about only some names of a memory, the decided ones are written. Raises `InvalidInputError`
        for an id that begins with "file:", before anything is written, and what `add` raises.
        """
        given, embedder = checked_memories(memories), self._embedder()
        self._limits.refuse(given)
        reader, writer = self._reader(embedder), self._writer(embedder)
        echoes = Echoes(self._engine.store, self._gate, session_id)
        async with within(self._limits.seconds):
            with rare_collections():
                if self._intake.version:
                    await writer.permission.to_begin(self._intake.labelled(given))
                distinct = {each.id: each for each in await self._intake.memories(given)}
                changed = await _remember(distinct, writer, reader, echoes, progress or _silent)
                reader.demand()
                facts = await self._finish(embedder)
        return RememberReport(
            memories=len(distinct),
            changed=changed,
            facts=facts,
            resolutions=reader.totals.counts,
            conflicts=reader.totals.conflicts,
            unread=reader.totals.unread,
            echoes=tuple(echoes.found[id_] for id_ in sorted(echoes.found)),
            **totals_of(writer, reader.totals, _repeated(distinct, echoes)),
        )

    def _embedder(self) -> Embedder | None:
        return None if self._engine.embedder is None else DistinctTexts(self._engine.embedder)

    async def _finish(self, embedder: Embedder | None) -> int:
        """Embed new facts, and measure the health of a graph that has grown enough; return the number of facts."""
        store = self._engine.store
        facts = await embed_facts(store, embedder) if self._facts and embedder is not None else 0
        await follow_growth(store)
        return facts

    def _writer(self, embedder: Embedder | None) -> Writer:
        store = self._engine.store
        return Writer(store, embedder, Permission(store, self._gate), self._intake)

    def _reader(self, embedder: Embedder | None) -> TextReader:
        resolver = Resolver(self._engine.store, embedder=embedder, judge=self._judge)
        options, store = self._intake.options, self._engine.store
        stating = Stating(
            store,
            self._gate,
            require_quotes=options.require_quotes,
            refuse_ungrounded=options.refuse_ungrounded,
        )
        return TextReader(self._extractor, resolver, self._limits, self._intake, store, stating, self._gate)


def checked_memories(given: Iterable[Memory]) -> list[Memory]:
    """The memories of a list. Raises `InvalidInputError` that says how to write what is none."""
    is_list = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    found = list(given) if is_list else []
    stray = next((type(each).__name__ for each in found if not isinstance(each, Memory)), None)
    how = "write Memory(id=…, text=…), or transcript_memories(turns, session_id=…) for the turns of a chat"
    check.refuse(
        "memories",
        None if is_list else f"must be a list of Memory, not {type(given).__name__}",
        f"each must be a Memory, not {stray}: {how}" if stray else None,
    )
    reserved = (each.id for each in found if each.id.startswith(FILE_PREFIX))
    check.refuse("memories", *(f"the id {id_!r} is reserved for a file; choose another one" for id_ in reserved))
    return found


def _silent(done: int, total: int, name: str) -> None:
    """Ignore progress."""


async def _remember(
    memories: Mapping[str, Memory], writer: Writer, reader: TextReader, echoes: Echoes, progress: Progress
) -> int:
    """Ingest memories in batches; return how many were written."""
    if not memories:
        await writer.begin()  # also an empty ingest creates the scope
    done = changed = 0

    def step(count: int, last: Memory) -> None:
        nonlocal done
        done += count
        progress(done, len(memories), last.id)

    for some in chunks(list(memories.values()), BATCH):
        found = await waiting([read_by(memory, reader.version) for memory in some], writer.store)
        await writer.permission.to_read([*found.read, *found.moved])
        done += len(some) - len(found.read)
        changed += await write_texts(found, writer, reader, echoes=echoes, strict=True, progress=step)
        if not found.read:
            step(0, some[-1])
    await writer.prune()
    await writer.settle()
    return changed


def _repeated(memories: Mapping[str, Memory], echoes: Echoes) -> list[FactReport]:
    """What became of the facts of memories that were left out."""
    why = "the memory repeats what its session was shown"
    return [
        FactReport(memory_id=id_, fact=fact, status=FactStatus.REFUSED, why=why)
        for id_, echo in echoes.found.items()
        if not echo.stored
        for fact in memories[id_].facts
    ]
