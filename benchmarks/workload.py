"""A seeded synthetic graph: clustered entities with vectors, relations of power-law degrees, questions near entities.

Another module can replace it (``--workload FILE``) if its ``make(n)`` returns an object with the attributes of
`Workload`.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

DIMENSIONS: Final = 256
DEGREE: Final = 10
TYPES: Final = 64
LOCAL: Final = 0.5
"""The share of relations with both ends in one cluster."""

_EXPONENT: Final = 2.5
"""The exponent of the power law of degrees."""
_SYLLABLES: Final = tuple("".join(pair) for pair in product("bdfgklmnprstvz", "aeiou"))


class Workload:
    """``n`` entities and ``m`` relations (10 an entity, fewer where chance repeats itself).

    * ``vec``: (n, 256) float32, unit rows; the cosine of two entities of one cluster of about 100 is near 0.6.
    * ``src``, ``dst``, ``rel``: int32 columns of the relations: from, to, and type; no relation to itself, no pair
      twice. Half of the relations stay inside a cluster. Degrees follow a power law, uses of types Zipf's.
    * ``names`` of entities and ``rel_names`` of types.
    """

    def __init__(self, n: int, seed: int = 20) -> None:
        self.n = n
        self._seed = seed
        random = np.random.default_rng(seed)
        clusters = max(10, n // 100)
        self.cluster = random.integers(clusters, size=n)
        centres = _unit(random.standard_normal((clusters, DIMENSIONS)))
        self.vec = _unit(centres[self.cluster] + 0.8 * _noise(random, n))
        self.src, self.dst = self._relations(random)
        self.m = len(self.src)
        zipf = 1.0 / np.arange(1, TYPES + 1)
        self.rel = random.choice(TYPES, self.m, p=zipf / zipf.sum()).astype(np.int32)
        self.rel_names = [f"{word(number)}_of" for number in range(TYPES)]
        self.names = [f"{word(cluster).title()} {number}" for number, cluster in enumerate(self.cluster.tolist())]

    def _relations(self, random: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        wanted = DEGREE * self.n
        drawn = 2 * wanted  # more than enough: some are dropped
        popularity = np.arange(1, self.n + 1) ** (-1.0 / (_EXPONENT - 1.0))
        popular = random.permutation(self.n)
        source, target = popular[random.choice(self.n, size=(2, drawn), p=popularity / popularity.sum())]
        members = np.argsort(self.cluster, kind="stable")
        first = np.searchsorted(self.cluster[members], np.arange(self.cluster.max() + 2))
        cluster = self.cluster[source]
        neighbour = first[cluster] + (random.random(drawn) * (first[cluster + 1] - first[cluster])).astype(np.int64)
        target = np.where(random.random(drawn) < LOCAL, members[neighbour], target)
        _, once = np.unique(source * self.n + target, return_index=True)
        once.sort()
        kept = once[source[once] != target[once]][:wanted]
        return source[kept].astype(np.int32), target[kept].astype(np.int32)

    def desc(self, entity: int) -> str:
        """The description of an entity."""
        return f"{self.names[entity]} is a {word(entity * 7919 % 5000)} {word(entity * 104_729 % 5000)}"

    def fact(self, relation: int) -> str:
        """A relation as a sentence."""
        source, target = self.names[self.src[relation]], self.names[self.dst[relation]]
        return f"{source} {self.rel_names[self.rel[relation]]} {target}"

    def queries(self, k: int = 60) -> list[tuple[str, NDArray[np.float32], int]]:
        """``k`` questions: their text, their vector, and the entity that the vector is near."""
        random = np.random.default_rng(self._seed + 1)
        near = random.integers(self.n, size=k)
        vectors = _unit(self.vec[near] + 0.6 * _noise(random, k))
        return [
            (f"question {number} about {self.names[entity]}", vectors[number], entity)
            for number, entity in enumerate(near.tolist())
        ]

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {name: entity for entity, name in enumerate(self.names)}

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of an entity's name. Raises `KeyError` for any other text."""
        vector: NDArray[np.float32] = self.vec[self._by_name[text]]
        return vector


def make(n: int, **options: Any) -> Workload:
    """The workload of ``n`` entities; the same for the same ``n``."""
    return Workload(n, **options)


def _unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _noise(random: np.random.Generator, rows: int) -> NDArray[np.float32]:
    """Vectors of length about 1."""
    noise: NDArray[np.float32] = random.standard_normal((rows, DIMENSIONS), dtype=np.float32)
    return noise / np.float32(np.sqrt(DIMENSIONS))


def word(number: int) -> str:
    """A pronounceable word, a different one for each number."""
    syllable = _SYLLABLES[number % len(_SYLLABLES)]
    return syllable if number < len(_SYLLABLES) else syllable + word(number // len(_SYLLABLES) - 1)
