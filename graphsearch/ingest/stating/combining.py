"""What is stated of a memory, and what a reader reads in it: readers fill in, and contradict nothing."""

from __future__ import annotations

import attrs

from graphsearch.ingest.extract.combining import merged
from graphsearch.ingest.frames.table import folded
from graphsearch.ingest.stating.stating import Stated
from graphsearch.model import KNOWN_RELATION_TYPES
from graphsearch.model.extracted import ExtractedMemory


def with_stated(stated: Stated, read: ExtractedMemory) -> ExtractedMemory:
    """A memory as it was read, and what was stated of it.

    What a reader states of two ends that a fact relates, or that a fact was refused of, is left out, and so is another
    target of a type that has one at a time.
    """
    given, known = stated.extracted, dict[str, str]()
    for each in given.surfaces:
        known[folded(each.written or each.name)] = known[folded(each.name)] = folded(each.name)

    def keys(*names: str) -> frozenset[str]:
        return frozenset(known.get(folded(name), folded(name)) for name in names)

    related = {keys(each.source.name, each.target.name) for each in given.statements}
    related |= {keys(each.fact.subject, each.fact.object) for each in stated.reports}
    functional = {name for name, type_ in KNOWN_RELATION_TYPES.items() if type_.functional}
    single = {(keys(each.source.name), each.type) for each in given.statements if each.type in functional}
    kept = (
        each
        for each in read.statements
        if (keys(each.source.name), each.type) not in single and keys(each.source.name, each.target.name) not in related
    )
    return merged(given, attrs.evolve(read, statements=tuple(kept)))
