"""What is stated of a memory, and what a reader reads in it: readers fill in, and contradict nothing."""

from __future__ import annotations

import attrs

from graphsearch.ingest.extract.combining import merged
from graphsearch.ingest.frames.table import folded
from graphsearch.ingest.stating.stating import Stated
from graphsearch.model import KNOWN_RELATION_TYPES
from graphsearch.model.extracted import ExtractedMemory, Statement


def with_stated(stated: Stated, read: ExtractedMemory) -> ExtractedMemory:
    """A memory as it was read, and what was stated of it.

    What a reader states of two ends that a fact relates, or that a fact was refused of, is left out, and so is another
    target of a type that has one at a time.
    """
    known: dict[str, str] = {}
    for each in stated.extracted.surfaces:
        known[folded(each.written or each.name)] = known[folded(each.name)] = each.name
    pairs = {_pair(known, each.source.name, each.target.name) for each in stated.extracted.statements}
    pairs |= {_pair(known, each.fact.subject, each.fact.object) for each in stated.reports}
    single = {
        (_key(known, each.source.name), each.type)
        for each in stated.extracted.statements
        if (type_ := KNOWN_RELATION_TYPES.get(each.type)) and type_.functional
    }

    def fills_in(each: Statement) -> bool:
        alone = (_key(known, each.source.name), each.type) not in single
        return alone and _pair(known, each.source.name, each.target.name) not in pairs

    kept = attrs.evolve(read, statements=tuple(each for each in read.statements if fills_in(each)))
    return merged(stated.extracted, kept)


def _key(known: dict[str, str], name: str) -> str:
    return folded(known.get(folded(name), name))


def _pair(known: dict[str, str], one: str, other: str) -> frozenset[str]:
    return frozenset((_key(known, one), _key(known, other)))
