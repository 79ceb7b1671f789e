"""The way in: folders of files, and memories one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Protocol

import attrs

from graphsearch._support.observing import observed
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.errors import MissingDependencyError
from graphsearch.ingest.folders import FolderIngest
from graphsearch.ingest.memories import remember
from graphsearch.ingest.report import IngestReport, Progress, RememberReport
from graphsearch.ingest.resolve.candidate_context import visible
from graphsearch.ingest.resolve.cascade import Resolver
from graphsearch.ingest.resolve.llm_stage import Judge
from graphsearch.ingest.sources.files import find, locate
from graphsearch.ingest.write.fact_vectors import embed_facts
from graphsearch.ingest.write.ledger import read_ledger
from graphsearch.ingest.write.permission import Permission
from graphsearch.ingest.write.texts import TextReader
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Memory
from graphsearch.protocols import LLM, Embedder, Extractor, GraphStore


class Parts(Protocol):
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
    """Takes files and memories into the engine's store, embedded by its embedder if it has one.

    It writes on behalf of the principal of the ``gate``; without one, of the owner, to whom everything is allowed. The
    action WRITE has to be allowed for every memory and entity that is written, as it is to be and, where it is stored
    already, as it is, and for every relation that their claims make, change or take back; FORGET for what is forgotten
    or removed. `AccessDeniedError` is raised before anything of the batch that is not allowed is written; the batches
    before it stay. What is stored already, unchanged, is not asked for.

    ``extractor`` reads texts; the default is `graphsearch.ingest.TextExtractor`, of the extra "text".
    ``facts`` embeds the facts of relations too, by which searches find what nothing in a question names: as many texts
    more as there are relations with a fact, of the whole scope the first time, then those that are new or changed.
    They are embedded unless it is False, where the engine has an embedder.

    ``judge`` is a language model that is asked, where names and vectors do not tell, whether something new is one of
    the known entities that are like it. It is shown those that the ``gate`` allows to READ, and no others: so it needs
    a gate, which is `ALLOW_ALL` where all of them may be shown. `graphsearch.llms.BudgetedLLM` bounds what judge and
    extractor may spend.

    Raises `MissingDependencyError` for ``facts`` without an embedder, and for a ``judge`` without a gate.
    """

    def __init__(
        self,
        engine: Parts,
        *,
        extractor: Extractor | None = None,
        judge: LLM | None = None,
        gate: Gate | None = None,
        facts: bool | None = None,
    ) -> None:
        if facts and engine.embedder is None:
            raise MissingDependencyError("Ingestor(facts=True) embeds facts: GraphSearchEngine(store=…, embedder=…)")
        self._engine = engine
        self._extractor = extractor
        self._judge = None if judge is None else Judge(judge, partial(visible, engine.store, _demanded(gate)))
        self._gate = gate or ALLOW_ALL
        self._facts = None if facts is False else engine.embedder

    @observed("add")
    async def add(
        self, path: Path, *, only: Iterable[str] = (), name: str | None = None, progress: Progress | None = None
    ) -> IngestReport:
        """Take in a folder, or a file, of Python source, JSON lines, Markdown and plain text.

        * ``only``: relative paths of the files and folders to keep to; all unless given.
        * ``name``: what the folder is called, by which it is known the next time; its own name unless given.
        * ``progress``: told after every step.

        What is gone from the folder since the last time is forgotten. Names are followed among the files of one call.
        Broken files and lines are reported in `IngestReport.faults` and do not stop the rest; what earlier versions
        of a broken file said stays. Raises `InvalidInputError` when there is nothing at ``path``,
        `EmbeddingModelError` when the scope holds another model's vectors, `MissingExtraError` where there are texts
        to read and nothing to read them with, `AccessDeniedError` for what the gate does not allow, and what the store,
        the embedder and the extractor raise: then the batches written so far stay, and the next call goes on from
        there.

        Texts that a language model could not read are faults; those that are left once its budget is spent are
        counted. Either is read the next time; what was read to the end is not read twice.
        """
        folder = await asyncio.to_thread(locate, path, name=name, only=only)
        ledger = await read_ledger(self._engine.store, folder)
        found = await asyncio.to_thread(lambda: list(dict.fromkeys(find(folder))))
        reader = self._reader()
        ingest = FolderIngest(folder, ledger, self._writer(), reader, found, progress or _silent)
        report = await ingest.run()
        reader.demand()
        return attrs.evolve(report, facts=await self._embed_facts())

    @observed("remember")
    async def remember(self, memories: Iterable[Memory], *, progress: Progress | None = None) -> RememberReport:
        """Take in memories: their texts are read, embedded, and become part of the graph.

        A memory that is known already, unchanged, changes nothing; a changed one replaces what the old text proved; of
        two with one id the last counts. Written in batches of one transaction each. A memory that could not be read
        is not written, and told in the report; so are those that are left once the budget of a language model is
        spent: the next call reads them. Of a memory with names that its judge was still asked about, what is decided
        is written. Raises `InvalidInputError` for an id that begins with "file:", before anything
        is written, and what `add` raises.
        """
        reader = self._reader()
        report = await remember(list(memories), self._writer(), reader, progress or _silent)
        reader.demand()
        return attrs.evolve(report, facts=await self._embed_facts())

    async def _embed_facts(self) -> int:
        return 0 if self._facts is None else await embed_facts(self._engine.store, self._facts)

    def _writer(self) -> Writer:
        store = self._engine.store
        return Writer(store, self._engine.embedder, Permission(store, self._gate))

    def _reader(self) -> TextReader:
        resolver = Resolver(self._engine.store, embedder=self._engine.embedder, judge=self._judge)
        return TextReader(self._extractor, resolver)


def _demanded(gate: Gate | None) -> Gate:
    if gate is None:
        raise MissingDependencyError(
            "Ingestor(judge=…) shows names of the graph to a language model and needs a gate: pass "
            "gate=Gate(authorizer, principal), or gate=ALLOW_ALL where all of it may be shown"
        )
    return gate


def _silent(done: int, total: int, name: str) -> None:
    """Nobody is watching."""
