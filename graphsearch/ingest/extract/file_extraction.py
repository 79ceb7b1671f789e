"""The result of extraction from one file, or from one part of a long file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import attrs

from graphsearch.model import Claim, Entity, Memory, Mention


@attrs.frozen
class Described:
    """An entity that a file describes, with additional search words (`Batch.words`); None keeps the stored ones."""

    entity: Entity
    words: Mapping[str, float] | None = None


@attrs.frozen(kw_only=True)
class Extraction:
    """The content of one file, or of one part of a long file; written atomically.

    ``memory`` represents the file itself, with its mentions and claims. ``described`` are entities that the file
    describes; ``named`` are those it only names, which are written unless described elsewhere. ``notes`` are complete
    memories in the file; ``texts`` are memories whose text is still to be extracted.
    """

    memory: Memory
    described: tuple[Entity, ...] = ()
    named: tuple[Entity, ...] = ()
    notes: tuple[Memory, ...] = ()
    texts: tuple[Memory, ...] = ()
    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()

    def digest(self) -> str:
        """The SHA-256 of the content, as hexadecimal digits."""
        content = (self.memory, self.described, self.named, self.notes, self.texts, self.mentions, self.claims)
        return hashlib.sha256(repr(content).encode()).hexdigest()
