"""How the feedback weight of an element came about: the outcomes of sessions, each with the weight after it."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader
from graphsearch.access.references import known
from graphsearch.errors import UnknownElementError
from graphsearch.model import ALPHA, ElementKind, ElementRef, Entity, Memory, Outcome, Relation
from graphsearch.model.identity import id_or_name
from graphsearch.stores.graph import GraphStore

LATEST: Final = 50
"""The most outcomes that are listed: the log of each session is read for them."""


@attrs.frozen(kw_only=True)
class WeightChange:
    """The outcome of a session that was shown an element, and its weight then.

    * ``session_id``: empty where another principal opened the session.
    * ``shown_at``: when it was last shown the element; None where the log does not say so any more.
    """

    session_id: str
    shown_at: datetime | None
    outcome: Outcome
    weight: float


async def visible(element: ElementRef, reader: Reader) -> Entity | Relation | Memory:
    """The element, whether it passes the view or not.

    Raises `UnknownElementError` if there is none, or it is hidden: the error does not distinguish the two.
    """
    found: Entity | Relation | Memory | None
    named = id_or_name(element.id)
    match element.kind:
        case ElementKind.ENTITY:
            return await known(named, reader)
        case ElementKind.RELATION:
            found = await reader.relation(named) if isinstance(named, UUID) else None
        case ElementKind.MEMORY:
            found = await reader.memory(element.id)
    if found is None:
        raise UnknownElementError(f"no {element.kind} {element.id!r} in {reader.scope}")
    return found


async def weight_history(
    element: Entity | Relation | Memory, store: GraphStore, gate: Gate
) -> tuple[WeightChange, ...]:
    """The last outcomes for an element that the principal may see, the oldest first.

    Weights are computed backwards from the present one, which the principal sees with the element. A session counts for
    whatever it was shown: that it was shown something hidden, too, changes nothing here.
    """
    kind = {Entity: ElementKind.ENTITY, Relation: ElementKind.RELATION, Memory: ElementKind.MEMORY}[type(element)]
    ref, weight = ElementRef(kind, str(element.id)), element.feedback_weight
    changes = []
    for record in reversed((await store.outcomes([ref]))[-LATEST:]):
        logged = await store.injections(record.session_id)
        own = gate.allows_all or any(each.principal == gate.principal.qualified_id for each in logged)
        changes.append(
            WeightChange(
                session_id=record.session_id if own else "",
                shown_at=max((each.created_at for each in logged if ref in each.elements), default=None),
                outcome=record.outcome,
                weight=weight,
            )
        )
        weight = min(max((weight - ALPHA * record.outcome.value) / (1.0 - ALPHA), 0.0), 1.0)
    return tuple(reversed(changes))
