"""Feedback: apply the outcome of a session to the elements that were surfaced to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch._support.observing import observed
from graphsearch.access.gate import Gate, resource_of
from graphsearch.access.reader import reading
from graphsearch.errors import ForeignSessionError
from graphsearch.model import Action, ElementKind, ElementRef, Entity, FeedbackReport, Memory, Outcome, Relation
from graphsearch.model import validation as check
from graphsearch.model.signatures import Resource
from graphsearch.stores.graph import GraphStore


class FeedbackService:
    """Updates feedback weights in one scope, as far as the policies allow."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    @observed("feedback")
    async def apply(self, session_id: str, outcome: Outcome, *, gate: Gate) -> FeedbackReport:
        """Apply an outcome to every surfaced element on which the gate's principal may give feedback.

        Applied exactly once per (session, element): the same outcome again does nothing, another one replaces the
        first. A session without a log gives an empty report; elements deleted since are reported as missing, and all of
        them if the scope was removed meanwhile and made anew.

        Raises `InvalidInputError` for an outcome that is none, `ForeignSessionError`, before anything is written,
        unless the gate's principal opened the session, and `ReadOnlyStoreError` where nothing can be written, even if
        there is nothing to apply.
        """
        check.refuse("feedback", check.instance("outcome", outcome, Outcome))
        async with self._store.snapshot():
            logged = await self._store.injections(session_id)
            if any(injection.principal != gate.principal.qualified_id for injection in logged):
                raise ForeignSessionError(session_id)
            surfaced = sorted({element for injection in logged for element in injection.elements})
            resources = await self._resources(surfaced, gate)
        present = [element for element in surfaced if element in resources]
        bound = gate.bind(self._store.scope, Action.FEEDBACK)
        answers = await bound.permits([resources[element] for element in present])
        allowed = [element for element, answer in zip(present, answers, strict=True) if answer]
        report = await self._store.apply_outcome(session_id, outcome, allowed, logged=[each.id for each in logged])
        gone = (element for element in surfaced if element not in resources)
        return attrs.evolve(report, missing=tuple(sorted({*report.missing, *gone})), denied=len(present) - len(allowed))

    async def _resources(self, elements: Sequence[ElementRef], gate: Gate) -> Mapping[ElementRef, Resource]:
        """The elements that exist, as policies see them: entities as they are shown, if they are."""
        ids: dict[ElementKind, list[Any]] = {
            kind: [element.key for element in elements if element.kind is kind] for kind in ElementKind
        }
        entities = {one.id: one for one in await self._store.get_entities(ids[ElementKind.ENTITY])}
        if named := await self._named(list(entities), gate):
            async with reading(self._store, gate=gate) as reader:
                entities |= {one.id: one for one in await reader.get_entities(named)}
        found: dict[ElementKind, Iterable[Entity | Relation | Memory]] = {
            ElementKind.ENTITY: entities.values(),
            ElementKind.RELATION: await self._store.get_relations(ids[ElementKind.RELATION]),
            ElementKind.MEMORY: await self._store.get_memories(ids[ElementKind.MEMORY]),
        }
        return {ElementRef(kind, str(one.id)): resource_of(one) for kind, ones in found.items() for one in ones}

    async def _named(self, ids: Sequence[UUID], gate: Gate) -> Sequence[UUID]:
        """The entities that exist through their mentions, whose name and type may be those of hidden memories."""
        if gate.allows_all or not ids:
            return []
        return [each.entity.id for each in await self._store.asserted(ids) if each.named]
