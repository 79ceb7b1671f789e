"""BM25, taken apart so that every store computes the same numbers from the same terms (design 10).

A document is an element with at least one term; one without counts nowhere. A kind's documents are all its stored
elements, retracted relations and merged entities too, so that statistics are a function of what is stored. A
document's vector holds `saturated` frequencies, a question's holds `idf`; their inner product is the score. Robertson
and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), without the constant factor K1 + 1, which
moves no rank; idf as in Lucene, which is never negative.
"""

from __future__ import annotations

import hashlib
import math
from calendar import month_name
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from graphsearch.model import Entity, Memory, Relation
from graphsearch.text.analyser import Analyser
from graphsearch.text.terms import identifier_words

K1: Final = 1.2
B: Final = 0.75
LEXICAL_DIMENSIONS: Final = 1_000_000_000
"""Length of a lexical vector: as long as pgvector's sparsevec can be, so that two terms hardly ever meet."""
RARE: Final = 0.05
"""Share of the documents below which a term is rare enough to select candidates."""
FEW: Final = 2_000
"""A term in fewer documents than this selects candidates however small the scope: they are soon looked at."""
MAX_DISTINCT_TERMS: Final = 16_000
MAX_TERM_BYTES: Final = 600_000
MAX_EMBEDDED: Final = 100_000
"""Characters of a text that are embedded: models read no more, or take hundreds of bytes of memory for each."""

_STEP: Final = 1.25
_STEPS: Final = 64


def document(text: str, words: Mapping[str, float], analyser: Analyser) -> dict[str, float]:
    """The `frequencies` of a text and, beside them, of words that count with a weight each; the same limits hold."""
    counts: dict[str, float] = dict(frequencies(text, analyser))
    room = MAX_TERM_BYTES - sum(len(term.encode()) for term in counts) if words else 0
    for word, weight in words.items():
        for term in analyser.terms(word):
            if term in counts:
                counts[term] += weight
            elif len(counts) < MAX_DISTINCT_TERMS and (room := room - len(term.encode())) >= 0:
                counts[term] = weight
    return counts


def stepped(weight: float) -> float:
    """A word's weight as stores keep it: in steps of 1 / 64, of which sums are exact in any order."""
    return max(1, round(weight * _STEPS)) / _STEPS


def frequencies(text: str, analyser: Analyser) -> dict[str, int]:
    """How often each term that the analyser makes occurs in a text.

    Of an endless text only the first `MAX_DISTINCT_TERMS` terms, of together at most `MAX_TERM_BYTES` bytes, are
    counted: a sparsevec and a tsvector hold no more.
    """
    counts: dict[str, int] = {}
    room = MAX_TERM_BYTES
    for term in analyser.terms(text):
        if term in counts:
            counts[term] += 1
        elif len(counts) < MAX_DISTINCT_TERMS and (room := room - len(term.encode())) >= 0:
            counts[term] = 1
    return counts


def grid(average_length: float) -> float:
    """The average length of documents, in terms, snapped to the nearest power of 1.25, at least 1.

    So a growing scope reweights its documents only when the average crosses a step.
    """
    if average_length <= 1.0:
        return 1.0
    return float(_STEP ** round(math.log(average_length, _STEP)))


def normal_length(length: float, usual: float) -> float:
    """The length of a text beside the usual one, of which only the part B counts: 1 − B + B · length / usual."""
    return 1.0 - B + B * length / usual


def saturated(frequencies: Mapping[str, float], length: float, average: float) -> dict[str, float]:
    """Each term's weight in a document, in [0, 1): f / (f + K1 · `normal_length`)."""
    normal = K1 * normal_length(length, average)
    return {term: frequency / (frequency + normal) for term, frequency in frequencies.items()}


def idf(documents: int, containing: int) -> float:
    """How telling a term is: ln(1 + (N − n + 0.5) / (n + 0.5)), above 0."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


def dimension(term: str) -> int:
    """The term's place in a lexical vector, in [0, `LEXICAL_DIMENSIONS`): the same in every process."""
    digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % LEXICAL_DIMENSIONS


def candidate_terms(document_frequency: Mapping[str, int], documents: int) -> list[str]:
    """The terms of a question of which a document must hold one to be looked at, in the order given.

    They are those found in fewer than `RARE` of the documents, or in fewer than `FEW`; where the question has none, all
    that occur.
    """
    occurring = [term for term, containing in document_frequency.items() if containing > 0]
    rare = [term for term in occurring if document_frequency[term] < max(RARE * documents, FEW)]
    return rare or occurring


def searchable_text(element: Entity | Memory | Relation) -> str:
    """What lexical search finds an element by.

    An entity's name, aliases and description; a memory's subject, speaker and text, and its day in words, as questions
    name it; a relation's fact.
    """
    match element:
        case Entity():
            return "\n".join((element.name, *element.aliases, element.description))
        case Memory():
            return "\n".join((element.subject, element.speaker, element.text, day_in_words(element.occurred_at)))
        case Relation():
            return element.fact


def embedding_text(element: Entity | Memory | Relation) -> str:
    """What is embedded of an element: "name (type): description" in words; "speaker: text" under its subject; the fact.

    Of a longer text the first `MAX_EMBEDDED` characters.
    """
    match element:
        case Entity():
            described = f": {element.description[:MAX_EMBEDDED]}" if element.description else ""
            return identifier_words(f"{element.name} ({element.type}){described}")[:MAX_EMBEDDED]
        case Memory():
            said = f"{element.speaker}: {element.text}" if element.speaker and element.text else element.text
            return "\n".join(part[:MAX_EMBEDDED] for part in (element.subject, said) if part)[:MAX_EMBEDDED]
        case Relation():
            return element.fact[:MAX_EMBEDDED]


def day_in_words(moment: datetime | None) -> str:
    """The day of a moment in UTC, as in "7 May 2023"; nothing without one."""
    if moment is None:
        return ""
    day = moment.astimezone(UTC)
    return f"{day.day} {month_name[day.month]} {day.year}"
