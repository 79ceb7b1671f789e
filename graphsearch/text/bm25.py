"""The factors of BM25, shared by all stores so that they compute the same scores from the same terms.

A document is an element with at least one term. All stored elements of a kind are documents, including retracted
relations and merged entities, so that the statistics depend only on what is stored. A document vector holds
`saturated` frequencies, a question vector holds `idf`; their inner product is the score. Source: Robertson and
Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), without the constant factor K1 + 1, which
changes no rank; idf as in Lucene, which is never negative. See docs/project/design.md, BM25 statistics.
"""

from __future__ import annotations

import hashlib
import math
from calendar import month_name
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Final, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import Entity, Memory, Relation
from graphsearch.text.analyser import MAX_TERM_LENGTH, Analyser, identifier_words

K1: Final = 1.2
B: Final = 0.75
Lengths = TypeVar("Lengths", float, NDArray[np.float64])
LEXICAL_DIMENSIONS: Final = 1_000_000_000
"""Dimensions of a lexical vector: the maximum of pgvector's sparsevec, so that terms hardly ever collide."""
RARE: Final = 0.05
"""Share of documents below which a term is rare enough to select candidates."""
FEW: Final = 2_000
"""A term in fewer documents than this selects candidates in a scope of any size: scoring so few is cheap."""
MAX_DISTINCT_TERMS: Final = 16_000
MAX_TERM_BYTES: Final = 600_000
MAX_EMBEDDED: Final = 100_000
"""Characters of a text that are embedded: models read no more, or need hundreds of bytes of memory for each."""

_STEP: Final = 1.25
_STEPS: Final = 64


def document(text: str, words: Mapping[str, float], analyser: Analyser) -> dict[str, float]:
    """Count the terms of a text, and add the weights of those of ``words``.

    Only the first `MAX_DISTINCT_TERMS` distinct terms, of at most `MAX_TERM_BYTES` bytes in total, are counted: a
    sparsevec and a tsvector hold no more.
    """
    terms = analyser.terms(text)
    is_small = len(terms) * 4 * MAX_TERM_LENGTH <= MAX_TERM_BYTES  # no limit can be met
    counts: dict[str, float] = dict(Counter(terms)) if is_small else {}
    bytes_left = MAX_TERM_BYTES - sum(len(term.encode()) for term in counts)
    weighted = ((term, weight) for word, weight in words.items() for term in analyser.terms(word))
    for term, weight in chain(() if is_small else ((term, 1) for term in terms), weighted):
        if term in counts:
            counts[term] += weight
        elif len(counts) < MAX_DISTINCT_TERMS and (bytes_left := bytes_left - len(term.encode())) >= 0:
            counts[term] = weight
    return counts


def stepped(weight: float) -> float:
    """Round a word's weight to multiples of 1 / 64, at least 1 / 64: their sums are exact in any order."""
    return max(1, round(weight * _STEPS)) / _STEPS


def grid(average_length: float) -> float:
    """Round an average document length, in terms, to the nearest power of 1.25, at least 1.

    A growing scope thus reweights its documents only when the average crosses a step.
    """
    if average_length <= 1.0:
        return 1.0
    return float(_STEP ** round(math.log(average_length, _STEP)))


def normal_length(length: Lengths, usual: float) -> Lengths:
    """The length normalisation of BM25: 1 − B + B · length / usual."""
    return 1.0 - B + B * length / usual


def saturated(frequencies: Mapping[str, float], length: float, average: float) -> dict[str, float]:
    """Each term's weight in a document, in [0, 1): f / (f + K1 · `normal_length`)."""
    normal = K1 * normal_length(length, average)
    return {term: frequency / (frequency + normal) for term, frequency in frequencies.items()}


def idf(documents: int, containing: int) -> float:
    """Inverse document frequency: ln(1 + (N − n + 0.5) / (n + 0.5)), above 0."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


@attrs.frozen(eq=False)
class TermCounts:
    """What the rarity of terms is computed from: a number of documents, and of those that contain each term.

    With ``average``, that is the length of documents in place of their average in the scope.
    """

    documents: int
    containing: Mapping[str, int]
    average: float | None = None

    def idf(self, term: str) -> float:
        """The `idf` of a term."""
        return idf(self.documents, self.containing.get(term, 0))


def dimension(term: str) -> int:
    """The index of a term in a lexical vector, in [0, `LEXICAL_DIMENSIONS`): the same in every process."""
    digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LEXICAL_DIMENSIONS


def few(documents: int) -> float:
    """In how many of so many documents a term may be found at most, if it is to select candidates."""
    return max(RARE * documents, FEW)


def candidate_terms(document_frequency: Mapping[str, int], documents: int) -> list[str]:
    """The terms of a question that select candidates: a document without any of them is not scored.

    They are the terms found in less than `RARE` of the documents or in fewer than `FEW`; if there are none, all that
    occur. The order is kept.
    """
    occurring = [term for term, containing in document_frequency.items() if containing > 0]
    rare = [term for term in occurring if document_frequency[term] < few(documents)]
    return rare or occurring


def searchable_text(element: Entity | Memory | Relation) -> str:
    """The text by which lexical search finds an element.

    An entity's name, aliases and description; a memory's subject, speaker, text and day in words; a relation's fact.
    """
    match element:
        case Entity():
            return "\n".join((element.name, *element.aliases, element.description))
        case Memory():
            return "\n".join((element.subject, element.speaker, element.text, day_in_words(element.occurred_at)))
        case Relation():
            return element.fact


def embedding_text(element: Entity | Memory | Relation) -> str:
    """The text of an element that is embedded, at most `MAX_EMBEDDED` characters.

    An entity's "name (type): description" with identifiers split into words; a memory's subject on a line of its own,
    then "speaker: text"; a relation's fact.
    """
    match element:
        case Entity():
            described = f": {element.description[:MAX_EMBEDDED]}" if element.description else ""
            return identifier_words(f"{element.name} ({element.type}){described}")[:MAX_EMBEDDED]
        case Memory():
            spoken = f"{element.speaker}: {element.text}" if element.speaker and element.text else element.text
            return "\n".join(part[:MAX_EMBEDDED] for part in (element.subject, spoken) if part)[:MAX_EMBEDDED]
        case Relation():
            return element.fact[:MAX_EMBEDDED]


_MONTHS: Final = tuple(month_name)
"""Looked up, since `month_name` formats a date for each."""


def day_in_words(moment: datetime | None) -> str:
    """The day of a moment in UTC, as in "7 May 2023"; empty for None."""
    if moment is None:
        return ""
    day = moment.astimezone(UTC)
    return f"{day.day} {_MONTHS[day.month]} {day.year}"
