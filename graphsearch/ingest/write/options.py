"""The options of an ingest: what is done to everything that it writes, before it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import attrs

from graphsearch.model import validation as check


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
