"""An embedder for one ingest, which embeds what it was asked for shortly before without asking the model again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from graphsearch.model import Vector
from graphsearch.protocols import Embedder, InputType

_TEXTS: Final = 1 << 14
"""Maximum texts whose vectors are kept."""
_CHARACTERS: Final = 1_000
"""Maximum characters of a text whose vector is kept: a name or a sentence, no document."""


class DistinctTexts:
    """An embedder that passes each of the last texts on to another one only once.

    Names are embedded to compare them, and again to store them; all relations of a sentence have it as their fact.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[InputType, str], Vector] = {}

    @property
    def name(self) -> str:
        """The name of the other embedder."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """The dimensions of the other embedder."""
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], *, input_type: InputType) -> Vector:
        """As the other embedder, and raises what it raises."""
        found = {text: self._kept[input_type, text] for text in texts if (input_type, text) in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new or not texts:
            rows = await self._embedder.embed(new, input_type=input_type)
            for text, vector in zip(new, rows, strict=True):
                found[text] = vector
                if len(text) <= _CHARACTERS:
                    self._kept[input_type, text] = vector.copy()  # a row alone would hold all rows of its matrix
            for key in list(self._kept)[: max(0, len(self._kept) - _TEXTS)]:
                del self._kept[key]
            if not texts:
                return rows
        return np.stack([found[text] for text in texts])
