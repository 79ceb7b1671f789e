"""What of a load was read so far, in few enough bytes for millions of records."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import Memory
from graphsearch.model.signatures import Signature, memory_signature
from graphsearch.model.stored import Key


def key_hash(key: UUID | Key) -> int:
    """A hash of 64 bits of a key."""
    given = key.bytes if isinstance(key, UUID) else "\0".join(key).encode()
    return int.from_bytes(blake2b(given, digest_size=8).digest())


@attrs.define(eq=False)
class LoadedKeys:
    """The keys of the records of one kind, 8 bytes each until they are looked up, then 24."""

    _hashes: array[int] = attrs.field(factory=lambda: array("Q"))
    _order: NDArray[np.intp] | None = None
    _sorted: NDArray[np.uint64] = attrs.field(factory=lambda: np.empty(0, np.uint64))

    def add(self, keys: Iterable[UUID | Key]) -> None:
        """Add keys, each once."""
        self._hashes.extend(map(key_hash, keys))
        self._order = None

    def places(self, keys: Sequence[UUID | Key]) -> NDArray[np.intp]:
        """Where in the order of adding each key is; -1 for one that was not added."""
        if self._order is None:
            hashes = np.array(self._hashes, np.uint64)
            self._order = np.argsort(hashes, kind="stable")
            self._sorted = hashes[self._order]
        wanted = np.fromiter(map(key_hash, keys), np.uint64, len(keys))
        found = np.full(len(keys), -1, np.intp)
        if len(self._sorted):
            at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
            known = self._sorted[at] == wanted
            found[known] = self._order[at[known]]
        return found

    def missing(self, keys: Sequence[UUID | Key]) -> Iterator[int]:
        """The positions of the keys that were not added."""
        yield from np.flatnonzero(self.places(keys) < 0).tolist()


@attrs.define(eq=False)
class LoadedSignatures:
    """The signature code of each memory, in the order of adding; memories share few signatures."""

    _codes: array[int] = attrs.field(factory=lambda: array("q"))
    _code_of: dict[Signature, int] = attrs.field(factory=dict)

    def add(self, memories: Iterable[Memory]) -> None:
        """Add memories in the order of their keys among `LoadedKeys`."""
        for signature in map(memory_signature, memories):
            if signature not in self._code_of:
                self._code_of[signature] = signature.code
            self._codes.append(self._code_of[signature])

    def at(self, places: Iterable[int]) -> Iterator[int]:
        """The code of the memory at each place."""
        return (self._codes[place] for place in places)
