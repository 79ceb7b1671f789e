"""The terms of a question: which of them are names that lead a walk, and how much of them memories have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.columns import Floats, Hits, Keys, Mentioned
from graphsearch.columns.key_index import among
from graphsearch.model import ElementKind
from graphsearch.question.analysis import Analysis
from graphsearch.question.question_names import Anchor
from graphsearch.ranking.memories.walk import MENTIONED, NamedEntities, mentioning
from graphsearch.text.bm25 import idf, searchable_text

NAMED_SHARE: Final = 2 / 3
"""The least link probability of a word that is not written as a name. In doubt the walk does not start there, but at
what words and meaning found; values of ½ and ¾ differ by less than a point.
"""
LOOKED_AT: Final = 50
"""Number of best memories that are counted over if others are hidden."""
LIKE: Final = 1_000
"""A smaller scope weighs words as if it had this many memories: a few texts do not show which words are rare."""
UNHEARD: Final = 0.3
"""The deduction from meaning if no memory has any word of the question: a near meaning of unheard words is doubtful.
0.2 to 0.4 are as good, on sets left out in turn.
"""
_Terms = tuple[str, ...]


@attrs.frozen(eq=False, kw_only=True)
class Leads:
    """The terms of a question, and the names to walk from.

    * ``rarity``: the idf of each term in the scope. ``unheard``: the terms that no memory has.
    * ``anchors``: what leads. ``named``: of each entity, the terms that name it.
    """

    rarity: Mapping[str, float]
    unheard: AbstractSet[str] = frozenset()
    anchors: Sequence[Anchor] = ()
    named: Mapping[UUID, AbstractSet[str]] = attrs.field(factory=dict)

    def terms_of(self, entities: Iterable[UUID]) -> frozenset[str]:
        """The terms that name any of some entities in whole.

        A part of a name may be of another name: that it is known does not show that the question is about it.
        """
        whole = {each.entity_id for each in self.anchors if each.whole}
        return frozenset(chain.from_iterable(self.named[each] for each in whole.intersection(entities)))

    def covered(self, rare: Mapping[UUID, float]) -> float:
        """The share of the question, in [0, 1], that the walked entities name, each weighted by its rarity."""
        best: dict[str, float] = {}
        for entity_id, terms in self.named.items():
            for term in terms:
                best[term] = max(best.get(term, 0.0), rare.get(entity_id, 0.0))
        return sum(self.rarity[term] * best[term] for term in sorted(best)) / (sum(self.rarity.values()) or 1.0)

    def relevance(self, memories: Iterable[AbstractSet[str]], cosines: Floats) -> float:
        """1 − (1 − coverage) · (1 − meaning), in [0, 1]; from the terms of memories, and their cosines.

        Coverage is the share of the question's idf that one memory has; the best of any. Meaning is the greatest cosine
        − `UNHEARD` × the share of the question that no memory has, at least 0. Either is enough; for a question about
        something else both are low.
        """
        whole = sum(self.rarity.values()) or 1.0
        held = (sum(each for term, each in self.rarity.items() if term in memory) for memory in memories)
        coverage = min(1.0, max(held, default=0.0) / whole)
        unheard = sum(each for term, each in self.rarity.items() if term in self.unheard) / whole
        meaning = max(0.0, min(1.0, float(cosines.max(initial=0.0))) - UNHEARD * unheard)
        return 1.0 - (1.0 - coverage) * (1.0 - meaning)


async def leads(
    anchors: Sequence[Anchor], analysis: Analysis, mentions: tuple[Hits, Mentioned], best: Keys, reader: Reader
) -> tuple[Leads, NamedEntities]:
    """The anchors that are meant as names, of which the memories that mention them (`memories_of`) are known.

    Words of a time are not terms of the question: they say when, not what. Counts are over the scope; where something
    may be hidden, over the ``best`` visible memories by words and meaning, so that what is hidden changes nothing.

    A capitalised word inside of a sentence is a name. For others, the memories decide, by the link probability: the
    share of the memories with these words that mention the entity (Mihalcea and Csomai, *Wikify!*, 2007).
    """
    terms, query = reader.analyser.terms, analysis.question
    wanted = list(dict.fromkeys(terms(_without([(each.start, each.end) for each in analysis.periods], query))))
    forms = {each.entity_id: [tuple(terms(query[start:end])) for start, end in each.spans] for each in anchors}
    doubtful = [each for each in anchors if not _is_written_as_a_name(each, query)]
    groups = sorted({form for each in doubtful for form in forms[each.entity_id] if form})
    counted = await _frequencies([*((term,) for term in wanted), *groups], best, reader)
    stored = 0 if reader.hides else await reader.document_count(ElementKind.MEMORY)
    hits, memories = mentions
    holding = dict(zip(groups, counted[len(wanted) :], strict=True))
    keys = dict(zip(reader.entity_ids(hits.keys), hits.keys, strict=True))
    near = memories.near
    if reader.hides and len(best) >= LOOKED_AT:  # else all that have the words were looked at
        near = near[np.isin(memories.far, best)]
    likely = {
        each.entity_id: _link_probability(
            int(np.count_nonzero(near == keys[each.entity_id])),
            [holding[form] for form in forms[each.entity_id] if form],
            _unknown(each, query),
        )
        for each in doubtful
    }
    kept = {each.entity_id: each for each in anchors if likely.get(each.entity_id, 1.0) >= NAMED_SHARE}
    named = {id_: frozenset(chain(*forms[id_])).intersection(wanted) for id_ in kept}
    frequency = dict(zip(wanted, counted, strict=False))
    lead = Leads(
        rarity={term: idf(max(LIKE, stored), n) for term, n in frequency.items()},
        unheard={term for term, n in frequency.items() if not n}.difference(*named.values()),
        anchors=tuple(kept.values()),
        named=named,
    )
    ids = [id_ for id_ in keys if id_ in kept]
    walked = hits.keys[[id_ in kept for id_ in keys]]
    return lead, NamedEntities(
        keys=walked,
        likely=np.array([kept[id_].confidence for id_ in ids], np.float64),
        memories=memories.keep(among(memories.near, walked)),
    )


def _is_written_as_a_name(anchor: Anchor, query: str) -> bool:
    """Whether a question writes it with a capital, other than as its first word."""
    return any(
        not query[start:end].islower() and (start > 0 or len(query[start:end].split()) > 1)
        for start, end in anchor.spans
    )


async def _frequencies(groups: Sequence[_Terms], best: Keys, reader: Reader) -> Sequence[int]:
    """The number of memories that have all terms of each group."""
    if not reader.hides:
        return await reader.document_frequencies(ElementKind.MEMORY, groups)
    terms = reader.analyser.terms
    texts = [set(terms(searchable_text(memory))) for memory in await reader.memories(best)]
    return [sum(text.issuperset(group) for text in texts) for group in groups]


def _without(spans: Sequence[tuple[int, int]], text: str) -> str:
    """A text with blanks in place of some of its characters."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


async def memories_of(entities: Sequence[UUID], reader: Reader) -> tuple[Hits, Mentioned]:
    """Entities that hold and are visible, and the memories that mention them."""
    hits = await reader.locate(sorted(entities))
    return hits, await mentioning(hits.keys, MENTIONED, reader)


def _link_probability(mentions: int, holding: Sequence[int], unknown: float) -> float:
    """The greatest over the written forms of an entity, by the number of memories ``holding`` each.

    ``mentions`` are those of the entity; ``unknown`` is the probability of a form that no memory has.
    """
    return max((min(1.0, mentions / held) if held else unknown for held in holding), default=0.0)


def _unknown(anchor: Anchor, query: str) -> float:
    """1 unless the question capitalises other names, and not this one."""
    capitals = any(word[0].isupper() for word in query.split()[1:])
    return float(not capitals or any(not query[start:end].islower() for start, end in anchor.spans))
