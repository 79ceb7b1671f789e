"""Another embedding model for a scope, without ingesting again: while it is read and written, and at one moment."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.errors import ReembeddingError
from graphsearch.ingest import Progress
from graphsearch.model import ElementKind, Vector, validation
from graphsearch.model.reembedding import Element, NewVector, Reembedding
from graphsearch.protocols import Embedder
from graphsearch.stores.graph import GraphStore
from graphsearch.text.bm25 import embedding_text

__all__ = ["ReembedEstimate", "ReembedReport", "estimate_reembedding", "reembed"]

BATCH: Final = 256
"""Default of the most texts embedded at a time."""
PASSES: Final = 4
"""Passes after which the last few texts are embedded while other writers wait."""
REMAINDER: Final = 256
"""The most of these texts."""


@attrs.frozen(kw_only=True)
class ReembedReport:
    """What a change of the embedding model did, by kind of element.

    ``embedded`` are texts embedded now, those of interrupted runs left out, and those that changed meanwhile counted
    each time. ``switched`` is False for a scope that had the model before.
    """

    embedder: str
    dimensions: int
    switched: bool
    embedded: Mapping[ElementKind, int]
    passes: int
    seconds: float


async def reembed(
    store: GraphStore,
    embedder: Embedder,
    *,
    restart: bool = False,
    per_second: float | None = None,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> ReembedReport:
    """Change the embedding model of a scope: embed again whatever has a vector, and switch at one moment.

    Until then the scope is read and written with the old vectors, by any process. What is written, changed or forgotten
    meanwhile is right afterwards. Texts are embedded page by page, ``batch`` at a time and at most ``per_second``
    texts a second; the new vectors are stored beside the old ones. Whoever is interrupted continues when called again
    with the same model. The switch is one transaction; readers go on meanwhile, writers wait. The vector index of a
    large scope is made afterwards, and searches are exact until then.

    From the switch on, engines with the old embedder raise `EmbeddingModelError`.

    Raises `ReembeddingError` if a change to another model is unfinished, which ``restart`` discards, or if this one is
    discarded by somebody else; `EmbeddingModelError` for a scope without vectors, and what the store and the embedder
    raise.
    """
    validation.refuse(
        "re-embedding",
        validation.number("batch", batch, 1),
        None if per_second is None else validation.number("per_second", per_second, 1e-6),
    )
    begun = time.monotonic()
    (row,) = await embedder.embed(["a"], input_type="document")
    switched = await store.begin_reembedding(embedder.name, len(row), restart=restart)
    running = _Running(store, embedder, per_second or math.inf, batch, progress)
    if switched:
        await running.run()
    await store.settle()
    return ReembedReport(
        embedder=embedder.name,
        dimensions=len(row),
        switched=switched,
        embedded={kind: running.embedded[kind] for kind in ElementKind},
        passes=running.passes,
        seconds=time.monotonic() - begun,
    )


@attrs.define(eq=False)
class _Running:
    """Passes over what is outdated, until so little is left that the switch can do it."""

    store: GraphStore
    embedder: Embedder
    per_second: float
    batch: int
    progress: Progress | None
    embedded: Counter[ElementKind] = attrs.field(factory=Counter)
    passes: int = 0
    _done: int = 0
    _total: int = 0

    async def run(self) -> None:
        """Embed what is outdated, and switch, unless another process has switched."""
        try:
            while await self._left():
                pass
        except ReembeddingError:
            if await self.store.embedder_name() != self.embedder.name:
                raise

    async def _left(self) -> int:
        """Pass over all kinds once, and switch; at least how many vectors are still outdated if that was too early."""
        self.passes += 1
        state = await self.store.reembedding()
        if state is not None:
            self._done, self._total = sum(state.done.values()), sum(state.total.values())
            for kind, total in state.total.items():
                await self._pass(kind, total)
        most = 0 if self.passes < PASSES else REMAINDER
        return await self.store.switch_embedder(self.embedder.name, self._remade, most=most)

    async def _pass(self, kind: ElementKind, most: int) -> None:
        """Embed what is outdated, in order of id; no more than ``most``, or a writer could prolong the pass forever."""
        last: UUID | str | None = None
        size, done = max(1, math.floor(min(self.batch, self.per_second))), 0
        while done < most:
            page = await self.store.outdated_vectors(kind, self.embedder.name, after=last, limit=size)
            if page:
                last = page[-1].id
                await self.store.put_new_vectors(kind, self.embedder.name, await self._remade(page))
                done += len(page)
                self._note(kind, len(page))
                await asyncio.sleep(len(page) / self.per_second)
            if len(page) < size:
                break

    def _note(self, kind: ElementKind, texts: int) -> None:
        self.embedded[kind] += texts
        self._done = min(self._done + texts, self._total)  # some may have been made before, of other texts
        if self.progress is not None:
            self.progress(self._done, self._total, kind.value)

    async def _remade(self, outdated: Sequence[Element]) -> Sequence[NewVector]:
        """The new vectors of some elements; none for blank texts, as an ingest makes none."""
        texts = {at: text for at, each in enumerate(outdated) if (text := embedding_text(each)).strip()}
        made: dict[int, Vector] = {}
        places = list(texts)
        for start in range(0, len(places), self.batch):
            some = places[start : start + self.batch]
            rows = await self.embedder.embed([texts[at] for at in some], input_type="document")
            made.update(zip(some, rows, strict=True))
        return [(each, made.get(at)) for at, each in enumerate(outdated)]


SAMPLE: Final = 64
"""Default of the texts of each kind that are embedded to measure the time."""
_PAGE: Final = 1_000


@attrs.frozen(kw_only=True)
class ReembedEstimate:
    """What is left to embed, by kind of element: ``texts``, ``characters``, and ``seconds`` as measured on a sample.

    ``seconds`` are those of the embedder, without waits between batches and without the store; None if nothing was
    measured. ``unfinished`` is a change that was begun, to this model or another.
    """

    embedder: str
    dimensions: int
    present: str | None
    """The model that the scope has."""
    texts: Mapping[ElementKind, int]
    characters: Mapping[ElementKind, int]
    seconds: float | None
    unfinished: Reembedding | None


async def estimate_reembedding(store: GraphStore, embedder: Embedder, *, sample: int = SAMPLE) -> ReembedEstimate:
    """Estimate what `reembed` with this model would embed, and how long; nothing is changed.

    All texts that are left are read and counted, page by page; the first ``sample`` of each kind are embedded.
    With 0 nothing but one letter is embedded. Raises what the store and the embedder raise.
    """
    validation.refuse("estimate", validation.number("sample", sample, 0))
    (row,) = await embedder.embed(["a"], input_type="document")
    present, unfinished = await store.embedder_name(), await store.reembedding()
    texts, characters, seconds = dict[ElementKind, int](), dict[ElementKind, int](), 0.0
    for kind in ElementKind:
        texts[kind] = characters[kind] = 0
        some: list[str] = []
        async for text in _left_to_embed(store, kind, embedder.name):
            texts[kind] += 1
            characters[kind] += len(text)
            some += [text] if len(some) < sample else []
        if some:
            begun = time.perf_counter()
            await embedder.embed(some, input_type="document")
            seconds += (time.perf_counter() - begun) / len(some) * texts[kind]
    return ReembedEstimate(
        embedder=embedder.name,
        dimensions=len(row),
        present=present,
        texts=texts,
        characters=characters,
        seconds=seconds if sample else None,
        unfinished=unfinished,
    )


async def _left_to_embed(store: GraphStore, kind: ElementKind, name: str) -> AsyncIterator[str]:
    """The texts of a kind that have a vector, and none of the model ``name``, in order of id."""
    last: UUID | str | None = None
    while page := await store.outdated_vectors(kind, name, after=last, limit=_PAGE):
        last = page[-1].id
        for each in page:
            if (text := embedding_text(each)).strip():
                yield text
