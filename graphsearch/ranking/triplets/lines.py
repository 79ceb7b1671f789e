"""The lines of triplets, "source type target fact": read whole, and the share of a question's words that they cover.

    coverage = Σ idf · (K1 + 1) · f / (f + K1 · normal length) / Σ idf, at most 1

That is BM25 as a share: a line of average length covers a term in full that it has once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Final

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import NONE, Floats, Mask, Rows, Subgraph
from graphsearch.columns.key_index import occurring
from graphsearch.question.type_profile import TypeProfile
from graphsearch.question.words import spread
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import K1, normal_length

KEPT_LINES: Final = 8_192
"""Most lines whose terms are cached: those of some hundred questions on different subjects."""

Texts = tuple[str, str, str, str]
"""The source, type, target and fact of a relation."""
Counts = dict[int, int]
"""How often a line has each term, by the term's hash in this process."""


class LineTerms:
    """The terms of recently read lines, and of the names and types in them, by hashes alone: no text is kept."""

    def __init__(self) -> None:
        self._lines: dict[int, tuple[int, Counts]] = {}
        self._names: dict[int, list[int]] = {}

    def count(self, lines: Sequence[Texts], analyser: Analyser) -> CountedLines:
        """Count the terms of lines; those that were read before are not analysed again, nor are names."""
        if len(self._lines) > KEPT_LINES:
            self._lines.clear()
            self._names.clear()
        known, keys = self._lines, list(map(hash, lines))
        for key, line in zip(keys, lines, strict=True):
            if key not in known:
                terms = self._terms(line, analyser)
                known[key] = len(terms), Counter(terms)
        found = [known[key] for key in keys]
        return CountedLines(np.array([length for length, _ in found], np.float64), [counts for _, counts in found])

    def _terms(self, line: Texts, analyser: Analyser) -> list[int]:
        source, type_, target, fact = line
        terms: list[int] = []
        for name in (source, spread(type_), target):
            key = hash(name)
            if key not in self._names:
                self._names[key] = list(map(hash, analyser.terms(name)))
            terms += self._names[key]
        return [*terms, *map(hash, analyser.terms(fact))]


@attrs.frozen(eq=False)
class CountedLines:
    """The number of terms of each line, and the counts of these."""

    lengths: Floats
    counts: Sequence[Counts]

    def coverage(self, rarity: Mapping[str, float]) -> Floats:
        """The share of a question's idf that each line covers, in [0, 1]; ``rarity`` is the idf by term."""
        whole, covered = sum(rarity.values()), np.zeros(len(self.counts))
        if not len(covered) or not whole:
            return covered
        normal = K1 * normal_length(self.lengths, max(self.lengths.mean(), 1.0))
        for term, rare in rarity.items():
            often = self._often(term)
            covered += rare * often / (often + normal)
        return np.minimum((K1 + 1.0) * covered / whole, 1.0)

    def shares(self, rarity: Mapping[str, float]) -> Floats:
        """The share of some terms' idf that occurs in each line, in [0, 1], whatever its length; 0 without terms."""
        found = np.zeros(len(self.counts))
        for term, rare in rarity.items():
            found[self._often(term) > 0] += rare
        return found / (sum(rarity.values()) or 1.0)

    def _often(self, term: str) -> Floats:
        often = map(dict.get, self.counts, repeat(hash(term)), repeat(0))  # no call of Python for each line
        return np.fromiter(often, np.float64, len(self.counts))


@attrs.frozen(eq=False, kw_only=True)
class Lines:
    """Some relations of a subgraph, read whole: their terms, which of them have ended, and the types of their ends."""

    terms: CountedLines
    past: Mask
    ends: Rows
    """Rows of entities, distinct, with the type of each in ``types``."""
    types: Sequence[str]

    def kinds(self, profile: TypeProfile, entities: int) -> Rows:
        """The row in a profile of the kind of each of so many entities; `NONE` for those that were not read."""
        row_of = {type_: profile.kind_of(type_) for type_ in set(self.types)}
        kinds = np.full(entities, NONE)
        kinds[self.ends] = [row_of[type_] for type_ in self.types]
        return kinds


async def read_lines(graph: Subgraph, rows: Rows, kept: LineTerms, reader: Reader) -> Lines:
    """Read some relations of a subgraph, with their ends, as visible."""
    source, target = graph.source[rows], graph.target[rows]
    ends = occurring(np.concatenate((source, target)), len(graph.entities))
    relations = await reader.relations(graph.relations[rows])
    entities = await reader.entities(graph.entities[ends])
    names = dict(zip(ends.tolist(), [each.name for each in entities], strict=True))
    columns = zip(source.tolist(), relations, target.tolist(), strict=True)
    lines = [(names[one], each.type, names[other], each.fact) for one, each, other in columns]
    until = reader.view.as_of
    return Lines(
        terms=kept.count(lines, reader.analyser),
        past=np.array([each.valid_to is not None and each.valid_to <= until for each in relations], np.bool_),
        ends=ends,
        types=[each.type for each in entities],
    )
