"""Anchors: the entities that a question names, one for each, from its links."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import attrs

from graphsearch.query.question_names import Anchor
from graphsearch.understanding.linking import Link


def anchors_of(question: str, links: Iterable[Link]) -> tuple[Anchor, ...]:
    """One anchor for each linked entity, in the order in which the question names them first."""
    found: dict[UUID, Anchor] = {}
    for each in sorted(links, key=lambda link: (link.start, -link.probability, link.entity_id)):
        known = found.get(each.entity_id)
        spans = ((each.start, each.end),) if known is None else (*known.spans, (each.start, each.end))
        if known is None or each.probability > known.confidence:
            known = Anchor(
                entity_id=each.entity_id,
                name=question[each.start : each.end],
                alias=each.alias,
                confidence=each.probability,
                spans=spans,
                whole=known is not None and known.whole,
            )
        found[each.entity_id] = attrs.evolve(known, spans=spans, whole=known.whole or each.full)
    return tuple(found.values())
