"""The options of an ingest, applied to what it reads and writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs

from graphsearch.ingest.extract.extraction import Described, Extraction
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.model import Batch, Claim, Entity, Memory, Mention

Proof = TypeVar("Proof", Mention, Claim)
Element = TypeVar("Element", Entity, Memory, Mention, Claim)

_TEXTS: Final[Mapping[type, Sequence[str]]] = {
    Entity: ("name", "description", "aliases", "attributes"),
    Memory: ("text", "subject", "speaker", "attributes"),
    Mention: ("surface",),
    Claim: ("fact",),
}
"""The fields that hold texts, by class."""


@attrs.frozen
class Intake:
    """What is done to everything that an ingest writes; see `graphsearch.ingest.IngestOptions`."""

    options: IngestOptions

    @property
    def version(self) -> str:
        """The options in a word, empty for none: what was read with others is read again."""
        given = self.options
        parts = [each.name for each in (given.redact, given.flag) if each is not None]
        parts += [f"label:{label}" for label in given.labels]
        parts += [f"ceiling:{label}={given.ceilings[label]:g}" for label in sorted(given.ceilings)]
        return " ".join(parts)

    async def memories(self, memories: Iterable[Memory]) -> list[Memory]:
        """Memories as they are to be read and written, prepared in a thread."""
        given = list(memories)
        return await asyncio.to_thread(lambda: [self._memory(each) for each in given]) if self.version else given

    def labelled(self, memories: Iterable[Memory]) -> list[Memory]:
        """Memories with the labels that all get, as they are known before their texts are read."""
        return [attrs.evolve(each, labels=(*each.labels, *self.options.labels)) for each in memories]

    def _memory(self, memory: Memory) -> Memory:
        flags = self.options.flag.labels(memory.text) if self.options.flag is not None else ()
        return attrs.evolve(self._redacted(memory), labels=(*memory.labels, *self.options.labels, *flags))

    def extraction(self, extraction: Extraction) -> Extraction:
        """The content of a file as it is to be read and written. Spans in a text that changes are left out."""
        if not self.version:
            return extraction
        notes = tuple(self._memory(note) for note in extraction.notes)
        changed = {now.id for now, old in zip(notes, extraction.notes, strict=True) if now.text != old.text}
        return attrs.evolve(
            extraction,
            memory=self._memory(extraction.memory),
            notes=notes,
            texts=tuple(self._memory(text) for text in extraction.texts),
            mentions=tuple(_placed(mention, changed) for mention in extraction.mentions),
            claims=tuple(_placed(claim, changed) for claim in extraction.claims),
        )

    def described(self, described: Sequence[Described]) -> tuple[Described, ...]:
        """Described entities as they are to be written; words of theirs that would be redacted are left out."""
        redactor = self.options.redact
        if redactor is None:
            return tuple(described)
        kept = [each.words and {w: each.words[w] for w in each.words if redactor.redact(w) == w} for each in described]
        return tuple(Described(self._redacted(each.entity), words) for each, words in zip(described, kept, strict=True))

    async def batch(self, batch: Batch) -> Batch:
        """A batch as it is to be written, prepared in a thread.

        Texts are redacted, but for those of memories, which were before they were read; claims have the ceilings of
        their memories.
        """
        return await asyncio.to_thread(self._batch, batch) if self.version else batch

    def _batch(self, batch: Batch) -> Batch:
        ceilings = {memory.id: self._ceiling(memory) for memory in batch.memories}
        return attrs.evolve(
            batch,
            named=[self._redacted(each) for each in batch.named],
            mentions=[self._redacted(each) for each in batch.mentions],
            claims=[
                attrs.evolve(self._redacted(each), ceiling=min(each.ceiling, ceilings.get(each.memory_id, 1.0)))
                for each in batch.claims
            ],
        )

    def _ceiling(self, memory: Memory) -> float:
        return min((self.options.ceilings.get(label, 1.0) for label in memory.labels), default=1.0)

    def _redacted(self, element: Element) -> Element:
        redactor = self.options.redact
        if redactor is None:
            return element
        changes = {field: _in_json(getattr(element, field), redactor.redact) for field in _TEXTS[type(element)]}
        return attrs.evolve(element, **changes)


UNCHANGED: Final = Intake(IngestOptions())
"""Everything is written as it is given."""


def _placed(proof: Proof, changed: set[str]) -> Proof:
    return attrs.evolve(proof, span=None) if proof.memory_id in changed else proof


def _in_json(value: Any, redact: Any) -> Any:
    """A JSON value with all of its texts redacted, but for keys."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _in_json(item, redact) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_in_json(item, redact) for item in value]
    return value
