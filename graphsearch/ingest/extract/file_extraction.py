"""What extraction hands on: for one file, or a part of a long one, everything it says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import attrs

from graphsearch.model import Claim, Entity, Memory, Mention


@attrs.frozen
class Described:
    """An entity that a file describes, with what else it is found by (`Batch.words`); None keeps what is stored."""

    entity: Entity
    words: Mapping[str, float] | None = None


@attrs.frozen(kw_only=True)
class Extraction:
    """What one file, or one part of a long file, says; written whole or not at all.

    ``memory`` stands for the file itself, and its mentions and claims are the file's own. ``described`` are entities
    that the file describes; ``named`` are those it only names, written where nothing describes them. ``notes`` are
    memories that the file holds, and ``texts`` such as say nothing yet: their text is still to be read.
    """

    memory: Memory
    described: tuple[Entity, ...] = ()
    named: tuple[Entity, ...] = ()
    notes: tuple[Memory, ...] = ()
    texts: tuple[Memory, ...] = ()
    mentions: tuple[Mention, ...] = ()
    claims: tuple[Claim, ...] = ()

    def digest(self) -> str:
        """Hash of everything said."""
        said = (self.memory, self.described, self.named, self.notes, self.texts, self.mentions, self.claims)
        return hashlib.sha256(repr(said).encode()).hexdigest()
