"""Pairs of entities with similar names: a set-similarity join over prefixes of trigrams, in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import combinations, product
from uuid import UUID

from graphsearch.claims.naming import MAX_TRIGRAMS, prefix_lengths, sizes
from graphsearch.model import SimilarPair
from graphsearch.stores.shared.answers import Pair
from graphsearch.text.trigrams import overlap, trigrams


def similar_pairs(
    of: Mapping[str, Collection[UUID]],
    type_of: Callable[[UUID], str],
    distinct: Callable[[Pair], bool],
    threshold: float,
    limit: int,
) -> list[SimilarPair]:
    """Pairs of entities of one type, best first, by their folded names; not those that are ``distinct``."""
    best: dict[Pair, float] = {}
    for one, other, score in _alike(of, threshold):
        for a, b in combinations(sorted(of[one]), 2) if one == other else product(of[one], of[other]):
            pair = (a, b) if a < b else (b, a)
            if a != b and type_of(a) == type_of(b) and not distinct(pair):
                best[pair] = max(score, best.get(pair, 0.0))
    pairs = (SimilarPair(one_id=a, other_id=b, similarity=score) for (a, b), score in best.items())
    return nsmallest(limit, pairs, key=lambda pair: (-pair.similarity, pair.one_id, pair.other_id))


def _alike(names: Iterable[str], threshold: float) -> Iterator[tuple[str, str, float]]:
    """Similar names, each pair once, and each name with itself.

    Here the fixed order of trigrams is the best one, the rarest first.
    """
    sets = {name: found for name in names if 0 < len(found := trigrams(name)) <= MAX_TRIGRAMS}
    often = Counter(trigram for each in sets.values() for trigram in each)
    met: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, own in sorted(sets.items(), key=lambda item: len(item[1])):  # the smaller before the larger
        yield name, name, 1.0
        ordered, size = sorted(own, key=lambda trigram: (often[trigram], trigram)), len(own)
        for other in range(sizes(size, threshold).start, size + 1):
            prefix = ordered[: prefix_lengths(size, other, threshold)[0]]
            for each in set[str]().union(*(met.get((trigram, other), ()) for trigram in prefix)):
                if (score := overlap(own, sets[each])) >= threshold:
                    yield name, each, score
        for trigram in ordered[: prefix_lengths(size, size, threshold)[0]]:  # no larger name shares but a later one
            met[trigram, size].append(name)
