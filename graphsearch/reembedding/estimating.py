"""What a change of the embedding model would cost, before it is made."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import ElementKind, validation
from graphsearch.model.reembedding import Reembedding
from graphsearch.protocols import Embedder, GraphStore
from graphsearch.text.bm25 import embedding_text

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

    All texts that are left are read and counted, page by page; ``sample`` of each kind, chosen at random, are embedded.
    With 0 nothing but one letter is embedded. Raises what the store and the embedder raise.
    """
    validation.refuse("estimate", validation.number("sample", sample, 0))
    (row,) = await embedder.embed(["a"], input_type="document")
    present, unfinished = await store.embedder_name(), await store.reembedding()
    texts, characters, seconds = dict[ElementKind, int](), dict[ElementKind, int](), 0.0
    for kind in ElementKind:
        counted = await _count(store, kind, embedder.name, sample)
        texts[kind], characters[kind] = counted.texts, counted.characters
        if counted.sample:
            begun = time.perf_counter()
            await embedder.embed(counted.sample, input_type="document")
            seconds += (time.perf_counter() - begun) / len(counted.sample) * counted.texts
    return ReembedEstimate(
        embedder=embedder.name,
        dimensions=len(row),
        present=present,
        texts=texts,
        characters=characters,
        seconds=seconds if sample else None,
        unfinished=unfinished,
    )


@attrs.define(eq=False)
class _Counted:
    """The texts of a kind, and a sample in which each is as likely as any other."""

    size: int
    texts: int = 0
    characters: int = 0
    sample: list[str] = attrs.field(factory=list)
    _chance: random.Random = attrs.field(factory=lambda: random.Random(0))  # noqa: S311 - a sample

    def add(self, text: str) -> None:
        """Count a text."""
        self.texts += 1
        self.characters += len(text)
        if len(self.sample) < self.size:
            self.sample.append(text)
        elif self.size and (place := self._chance.randrange(self.texts)) < self.size:
            self.sample[place] = text


async def _count(store: GraphStore, kind: ElementKind, name: str, sample: int) -> _Counted:
    counted = _Counted(sample)
    last: UUID | str | None = None
    while page := await store.outdated_vectors(kind, name, after=last, limit=_PAGE):
        last = page[-1].element.id
        for each in page:
            if (text := embedding_text(each.element)).strip():
                counted.add(text)
    return counted
