"""What an ingest may read at once, and what is done to everything before it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

import attrs

from graphsearch.errors import ExtractionError
from graphsearch.ingest.extract.extraction import Described, Extraction
from graphsearch.model import Batch, Claim, Entity, Memory, Mention
from graphsearch.model import validation as check
from graphsearch.model.extracted import ExtractedMemory


class Redactor(Protocol):
    """Replaces what must not be stored. It may be called from several threads."""

    @property
    def name(self) -> str:
        """What it replaces: texts are read again if the name changes."""
        ...

    def redact(self, text: str) -> str:
        """The text to store in place of a given one."""
        ...


class Flag(Protocol):
    """Labels memories for what their texts contain."""

    @property
    def name(self) -> str:
        """What it looks for: texts are read again if the name changes."""
        ...

    def labels(self, text: str) -> Iterable[str]:
        """The labels to add to a memory with this text."""
        ...


@attrs.frozen(kw_only=True)
class IngestOptions:
    """What an ingest does to everything that it writes.

    * ``redact``: replaces secrets and personal data in every text: of memories, before they are read, and of names,
      descriptions, facts and attributes. `graphsearch.ingest.Redaction`, or your own.
    * ``flag``: adds labels to memories for what their texts contain. `graphsearch.ingest.InstructionFlag`, or your own.
    * ``labels``: added to every memory, such as where it comes from: "user", "tool", "web".
    * ``ceilings``: by label, the confidence in [0, 1] above which the memories with this label prove nothing: all of
      them together raise a relation up to it and not beyond (`graphsearch.model.Claim`). The lowest one applies.
    * ``require_quotes``: whether a stated fact without a quote is refused.
    * ``refuse_ungrounded``: whether a stated fact is refused that neither its text nor what is known proves; it is
      written with a ceiling of confidence otherwise.

    Policies decide by labels who may see a memory. Ids are not redacted. Raises `InvalidInputError` for a label that is
    no text, and for a ceiling outside of [0, 1].
    """

    redact: Redactor | None = None
    flag: Flag | None = None
    labels: tuple[str, ...] = attrs.field(default=(), converter=check.sorted_distinct)
    ceilings: Mapping[str, float] = attrs.field(default=check.NOTHING, converter=check.read_only, hash=False)
    require_quotes: bool = False
    refuse_ungrounded: bool = False

    def __attrs_post_init__(self) -> None:
        check.refuse(
            "ingest options",
            check.texts("labels", self.labels),
            check.mapping("ceilings", self.ceilings),
            check.truth("require_quotes", self.require_quotes),
            check.truth("refuse_ungrounded", self.refuse_ungrounded),
            *(check.unit(f"ceilings[{label!r}]", ceiling) for label, ceiling in dict(self.ceilings).items()),
        )


# -- what is done ------------------------------------------------------------------------------------------------------

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


# -- limits ------------------------------------------------------------------------------------------------------------

_HINT: Final = "send it in parts, each a memory of its own, or raise the limit: Ingestor(limits=IngestLimits(…))"


class TextLimitError(ExtractionError):
    """A text exceeds the limits of the call."""


@attrs.frozen(kw_only=True)
class IngestLimits:
    """The most that one call reads; None is no limit.

    * ``characters``: of one text.
    * ``names``: distinct names in one text.
    * ``seconds``: for the whole call, from its beginning to the last write.
    """

    characters: int | None = 1_000_000
    names: int | None = 50_000
    seconds: float | None = None

    def __attrs_post_init__(self) -> None:
        given = attrs.asdict(self).items()
        check.refuse(
            "limits",
            *(check.number(name, value, 0 if name == "seconds" else 1) for name, value in given if value is not None),
        )

    def refuse(self, memories: Iterable[Memory]) -> None:
        """Raise `InvalidInputError` that names all texts with too many characters."""
        check.refuse("memories", *(str(fault) for each in memories if (fault := self.too_long(each))))

    def too_long(self, memory: Memory) -> TextLimitError | None:
        """The fault of a text with too many characters."""
        return _exceeded(memory.id, "characters", len(memory.text), self.characters)

    def too_many_names(self, extracted: ExtractedMemory) -> TextLimitError | None:
        """The fault of a text with too many names."""
        ends = (end for each in extracted.statements for end in (each.source, each.target))
        names = {each.name for each in (*extracted.surfaces, *ends)}
        return _exceeded(extracted.memory_id, "distinct names", len(names), self.names)


DEFAULT_LIMITS: Final = IngestLimits()
"""1,000,000 characters and 50,000 distinct names a text; any time."""


def _exceeded(memory_id: str, what: str, number: int, most: int | None) -> TextLimitError | None:
    if most is None or number <= most:
        return None
    return TextLimitError(f"memory {memory_id!r} has {number} {what}, more than the limit of {most}: {_HINT}")
