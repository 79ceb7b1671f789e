"""The links of a question as anchors. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import attrs

from graphsearch.query.anchors import Anchor
from graphsearch.understanding.linking import Link


def anchors_of(question: str, links: Iterable[Link]) -> tuple[Anchor, ...]:
    """The entities that a question names, each once, in the order in which it names them first."""
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
