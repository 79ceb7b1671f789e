"""Which names of a question lead a walk, and how much of the question they are: how far the walk is to be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import Reader
from graphsearch.access.searches import mentioned
from graphsearch.columns import Keys
from graphsearch.model import ElementKind
from graphsearch.query.analysis import Analysis
from graphsearch.query.anchor_candidates import Anchor
from graphsearch.recall.answerability import Asked
from graphsearch.recall.mention_graph import MENTIONED
from graphsearch.text.bm25 import idf, searchable_text

NAMED_SHARE: Final = 2 / 3
"""The least link probability of what is not written as a name. Of words that are used both ways the doubt decides
against the walk, which then starts from what words and meaning found; ½ and ¾ make no difference of a point."""

LOOKED_AT: Final = 50
"""How many of the best memories are counted over where others are hidden."""
LIKE: Final = 1_000
"""A scope of fewer memories weighs words like one of so many: in a few texts nothing tells which words are rare."""


@attrs.frozen(eq=False, kw_only=True)
class Leads:
    """The names to walk from.

    ``asked``: the terms of the question. ``named``: of each entity, the terms that name it.
    """

    anchors: tuple[Anchor, ...]
    asked: Asked
    named: Mapping[UUID, frozenset[str]]

    @property
    def probabilities(self) -> Mapping[UUID, float]:
        """How likely each entity is what the question names, in (0, 1]."""
        return {each.entity_id: each.confidence for each in self.anchors}

    def terms_of(self, entities: Iterable[UUID]) -> frozenset[str]:
        """The terms that name any of some entities in whole; all that do for one that is related to what is named.

        A part of a name may be of another: that it is known does not tell that the question is about what is known.
        """
        parts = {each.entity_id for each in self.anchors if not each.whole}
        whole = {each: terms for each, terms in self.named.items() if each not in parts}
        every = frozenset[str]().union(*whole.values())
        return frozenset[str]().union(*(whole.get(each, every) for each in entities if each not in parts))

    def covered(self, rare: Mapping[UUID, float]) -> float:
        """The share of the question, in [0, 1], that entities walked from name, each counting as it is ``rare``."""
        best: dict[str, float] = {}
        for entity_id, terms in self.named.items():
            for term in terms:
                best[term] = max(best.get(term, 0.0), rare.get(entity_id, 0.0))
        rarity = self.asked.rarity
        return sum(rarity[term] * best[term] for term in sorted(best)) / (sum(rarity.values()) or 1.0)


async def leads(anchors: Sequence[Anchor], analysis: Analysis, best: Keys, reader: Reader) -> Leads:
    """The anchors that are meant as names. The words of a time are no terms of the question: they say when, not what.

    Counted is over the scope; behind a gate that hides something, over the ``best`` memories that may be seen, by words
    and meaning: what is hidden is not to be told by what a question is answered, or is not.

    What is written with a capital inside of a sentence is a name. Of what is not, the memories tell, by its link
    probability: of those that hold its words, the share that mention the entity (Mihalcea and Csomai, *Wikify!*, 2007).
    """
    terms, query = reader.store.analyser.terms, analysis.question
    asked = list(dict.fromkeys(terms(_without([(each.start, each.end) for each in analysis.periods], query))))
    spans = {each.entity_id: [tuple(terms(query[start:end])) for start, end in each.spans] for each in anchors}
    doubtful = {
        each.entity_id: _Doubt(
            spans=tuple(span for span in spans[each.entity_id] if span), unknown=_unknown(each, query)
        )
        for each in anchors
        if not written_as_a_name(each, query)
    }
    groups = sorted({span for each in doubtful.values() for span in each.spans})
    counted = await _frequencies([*((term,) for term in asked), *groups], best, reader)
    stored = 0 if reader.gatekeeper.hides else await reader.store.document_count(ElementKind.MEMORY)
    documents = max(LIKE, stored)
    holding = dict(zip(groups, counted[len(asked) :], strict=True))
    likely = await _link_probabilities(doubtful, holding, best, reader)
    kept = [each for each in anchors if likely.get(each.entity_id, 1.0) >= NAMED_SHARE]
    named = {each.entity_id: frozenset(chain(*spans[each.entity_id])).intersection(asked) for each in kept}
    known = {term: idf(documents, n) for term, n in zip(asked, counted, strict=False)}
    unheard = {term for term, n in zip(asked, counted, strict=False) if not n}.difference(*named.values())
    return Leads(anchors=tuple(kept), asked=Asked(rarity=known, unheard=frozenset(unheard)), named=named)


def written_as_a_name(anchor: Anchor, query: str) -> bool:
    """Whether a question writes it with a capital, other than as the one word that it begins with."""
    return any(
        not query[start:end].islower() and (start > 0 or len(query[start:end].split()) > 1)
        for start, end in anchor.spans
    )


async def _frequencies(groups: Sequence[tuple[str, ...]], best: Keys, reader: Reader) -> Sequence[int]:
    """In how many memories all terms of each group stand."""
    if not reader.gatekeeper.hides:
        return await reader.store.document_frequencies(ElementKind.MEMORY, groups)
    terms = reader.store.analyser.terms
    texts = [set(terms(searchable_text(memory))) for memory in await reader.memories(best)]
    return [sum(text.issuperset(group) for text in texts) for group in groups]


def _without(spans: Sequence[tuple[int, int]], text: str) -> str:
    """A text with blanks in place of some of its characters."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


@attrs.frozen
class _Doubt:
    """What is written of an entity, in terms, and how likely it is a name where no memory holds these."""

    spans: tuple[tuple[str, ...], ...]
    unknown: float


def _unknown(anchor: Anchor, query: str) -> float:
    """1 unless the question writes other names with capitals, and not this one."""
    capitals = any(word[0].isupper() for word in query.split()[1:])
    return float(not capitals or any(not query[start:end].islower() for start, end in anchor.spans))


async def _link_probabilities(
    doubtful: Mapping[UUID, _Doubt], holding: Mapping[tuple[str, ...], int], best: Keys, reader: Reader
) -> Mapping[UUID, float]:
    """Of each entity, the greatest over what is written of it; 0 for those that are in too many memories."""
    if not doubtful:
        return {}
    hits = await reader.locate(sorted(doubtful))
    found = await mentioned(ElementKind.ENTITY, np.sort(hits.keys), MENTIONED, reader)
    if reader.gatekeeper.hides:
        found = found.keep(np.isin(found.far, best))
    likely = dict.fromkeys(doubtful, 0.0)
    for entity_id, key in zip(reader.store.entity_ids(hits.keys), hits.keys.tolist(), strict=True):
        mentions, doubt = int((found.near == key).sum()), doubtful[entity_id]
        shares = [min(1.0, mentions / holding[span]) if holding[span] else doubt.unknown for span in doubt.spans]
        likely[entity_id] = max(shares, default=0.0)
    return likely
