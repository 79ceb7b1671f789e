"""Merge what several scopes show: hits, steps, elements and counts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

import attrs
import numpy as np

from graphsearch.columns import Expansion, Hits, Keys, Mask, Rows, Steps
from graphsearch.columns.key_index import KeyIndex
from graphsearch.model import Entity, Relation, RelationType
from graphsearch.model.signatures import Signature, SignatureTable

K = TypeVar("K")


def best_hits(parts: Sequence[Hits], sign: float, limit: int) -> Hits:
    """The best hits of all, each element once, ties by key; ``sign`` is -1 where higher values are better."""
    found = _once(parts, sign)
    return found.keep(np.lexsort((found.keys, sign * found.values))[:limit])


def located(parts: Sequence[Hits]) -> Hits:
    """Entities that were looked up, in the order of their keys, each once."""
    return _once(parts, 1.0)


def _once(parts: Sequence[Hits], sign: float) -> Hits:
    """Each element once, with its best value and its greatest importance, in the order of keys."""
    every = Hits.concatenate(parts)
    order = np.lexsort((sign * every.values, every.keys))
    every = every.keep(order)
    first = _begins(every.keys)
    starts = np.flatnonzero(first)
    importance = np.maximum.reduceat(every.importance, starts) if len(starts) else every.importance
    return attrs.evolve(every.keep(first), importance=importance)


def _begins(*columns: Keys | Rows) -> Mask:
    """Which rows of sorted columns differ from the one before."""
    begins = np.ones(len(columns[0]), np.bool_)
    if len(begins) > 1:
        begins[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in columns])
    return begins


def strongest(keys: Keys, parts: Sequence[Steps], fan_out: int) -> Steps:
    """The strongest steps from each key and in each direction, at most ``fan_out``, each relation once."""
    found = _each_once(parts)
    rows = found.rows
    start = KeyIndex(keys).of(rows.near)
    order = np.lexsort((rows.relations, -rows.confidence * found.prior, ~rows.outgoing, start))
    number, begins = np.arange(len(order)), _begins(start[order], rows.outgoing[order])
    kept = order[number - np.maximum.accumulate(np.where(begins, number, 0)) < fan_out]
    found = found.keep(kept)
    return attrs.evolve(found, rows=attrs.evolve(found.rows, starts=keys, start=start[kept]))


def by_relation(parts: Sequence[Steps]) -> Steps:
    """Steps from source to target in the order of their relations, each once."""
    found = _each_once(parts)
    found = found.keep(np.argsort(found.rows.relations, kind="stable"))
    starts, start = np.unique(found.rows.near, return_inverse=True)
    return attrs.evolve(found, rows=attrs.evolve(found.rows, starts=starts, start=start))


def _each_once(parts: Sequence[Steps]) -> Steps:
    """Each step once: the most reliable of those that several scopes have, of equal ones that of the first scope.

    An entity has the greatest importance that any of them gives it.
    """
    rows = Expansion.concatenate([each.rows for each in parts])
    importance = np.zeros(len(rows.ends))
    for each in parts:
        places = np.searchsorted(rows.ends.keys, each.rows.ends.keys)
        np.maximum.at(importance, places, each.rows.ends.importance)
    columns = (np.concatenate([getattr(each, name) for each in parts]) for name in ("signatures", "freshness", "prior"))
    found = Steps(attrs.evolve(rows, ends=attrs.evolve(rows.ends, importance=importance)), *columns)
    same = (rows.near, rows.outgoing, rows.relations)
    order = np.lexsort((-found.reliability, *same))  # stable; not by signatures, whose numbers count hidden ones
    return found.keep(order[_begins(*(each[order] for each in same))])


def joint_entity(forms: Sequence[Entity]) -> Entity:
    """One entity as several scopes show it, in the order of the scopes.

    The name of the first, all other names as aliases, all labels, the longest description, the greatest importance, the
    mean feedback; of attributes the first of each name.
    """
    if len(forms) == 1:
        return forms[0]
    first = forms[0]
    names = dict.fromkeys(chain.from_iterable((each.name, *each.aliases) for each in forms))
    attributes: dict[str, object] = {}
    for each in reversed(forms):
        attributes |= each.attributes
    return attrs.evolve(
        first,
        aliases=tuple(name for name in names if name != first.name),
        description=max((each.description for each in forms), key=len),
        labels=tuple(chain.from_iterable(each.labels for each in forms)),
        attributes=attributes,
        importance_weight=max(each.importance_weight for each in forms),
        feedback_weight=sum(each.feedback_weight for each in forms) / len(forms),
    )


def joint_relations(forms: Sequence[Relation]) -> Relation:
    """One relation as several scopes show it: the most confident, the first of equal ones, with all evidence."""
    best = max(forms, key=lambda each: each.confidence)
    evidence = tuple(chain.from_iterable(each.evidence for each in forms))
    return best if len(forms) == 1 else attrs.evolve(best, evidence=evidence)


def joint_table(tables: Sequence[SignatureTable]) -> SignatureTable:
    """One table of several: row r of table n is row r · (number of tables) + n."""
    many = len(tables)
    size = many * max(map(len, tables))
    contents: list[Signature | None] = [None] * size
    types = [RelationType(name="unregistered")] * size
    priors, half_lives = np.ones(size), np.full(size, np.inf)
    shared, typed, attested = (np.zeros(size, np.bool_) for _ in range(3))
    for number, table in enumerate(tables):
        rows = slice(number, many * len(table), many)
        contents[rows], types[rows] = table.contents, table.types
        priors[rows], half_lives[rows] = table.priors, table.half_lives
        shared[rows], typed[rows], attested[rows] = table.shared, table.typed, table.attested
    return SignatureTable(
        contents=contents,
        types=types,
        priors=priors,
        half_lives=half_lives,
        decays=any(table.decays for table in tables),
        shared=shared,
        typed=typed,
        attested=attested,
        shares_none=False,
    )


def summed(counts: Iterable[Mapping[K, int]]) -> dict[K, int]:
    """The sums of counts by name."""
    total = Counter[K]()
    for each in counts:
        total.update(each)
    return dict(total)
