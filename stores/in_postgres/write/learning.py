"""Injections, and feedback weights moved by outcomes, in Postgres."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from graphsearch.errors import ForeignSessionError
from graphsearch.model import (
    ElementKind,
    ElementRef,
    FeedbackReport,
    HealthRecord,
    Injection,
    Outcome,
    OutcomeRecord,
    validation,
)
from graphsearch.model.codec import decode, encode
from graphsearch.protocols import Learning
from graphsearch.stores.in_postgres.base import PostgresScope
from graphsearch.stores.in_postgres.rows import injection_of, storable
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.shared.answers import with_record

_HISTORY: Final = tuple[HealthRecord, ...]


class PostgresLearning(PostgresScope, Learning):
    """A log of injections, and outcomes that move weights kind by kind, excluding other writers."""

    async def log_injection(self, injection: Injection) -> None:
        async with self._writing(alone=False) as session:
            texts = {name: getattr(injection, name) for name in ("id", "session_id", "principal")}
            texts |= {f"element {element.id!r}": element.id for element in injection.elements}
            validation.refuse("injection", *(validation.text(name, text, empty=True) for name, text in texts.items()))
            values = {
                **{
                    name: getattr(injection, name) for name in ("id", "session_id", "principal", "created_at", "tokens")
                },
                "kinds": [element.kind.value for element in injection.elements],
                "ids": [element.id for element in injection.elements],
            }
            owner, logged = await session.row(statement("owner of session"), **values)
            if owner is None and not logged:  # another transaction may open it at the same time
                await session.run(statement("open session"), **values)
                owner, _ = await session.row(statement("owner of session"), **values)
            if owner == injection.principal:
                await session.run(statement("log injection"), **values)
            elif owner is not None:
                raise ForeignSessionError(injection.session_id)

    async def injections(self, session_id: str) -> Sequence[Injection]:
        async with self._reading() as session:
            requested = storable([session_id])
            found = await session.dicts(statement("injections"), session_id=session_id) if requested else []
            return [injection_of(row) for row in found]

    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        async with self._writing() as session:
            validation.refuse("outcome", validation.text("session_id", session_id, empty=True))
            if logged and not await _is_logged(session, session_id, logged):
                return FeedbackReport(missing=tuple(sorted(set(elements))))
            requested: dict[ElementKind, dict[Any, ElementRef]] = {}
            for element in sorted(set(elements)):
                requested.setdefault(element.kind, {}).setdefault(element.key, element)
            found: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
            # An outcome of nothing is refused too where nothing can be written.
            for kind, refs in (requested or {ElementKind.MEMORY: {}}).items():
                became = await _apply(session, session_id, outcome, kind, list(refs))
                for key, ref in refs.items():
                    found[became.get(key, "applied")].append(ref)
            applied, replaced, repeated, missing = (tuple(refs) for refs in found.values())
            return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)

    async def outcomes(self, elements: Sequence[ElementRef]) -> Sequence[OutcomeRecord]:
        async with self._reading() as session:
            requested = {(each.kind.value, str(each.key)): each for each in sorted(set(elements), reverse=True)}
            found = [(kind, key) for kind, key in requested if storable([key])]
            kinds, ids = [kind for kind, _ in found], [key for _, key in found]
            rows = await session.rows(statement("outcomes"), kinds=kinds, ids=ids)
            return [
                OutcomeRecord(element=requested[kind, key], session_id=session_id, seq=seq, outcome=Outcome(outcome))
                for kind, key, session_id, seq, outcome in rows
            ]

    async def health_history(self) -> Sequence[HealthRecord]:
        async with self._reading() as session:
            return decode(_HISTORY, session.health)

    async def record_health(self, record: HealthRecord) -> None:
        async with self._writing() as session:
            history = with_record(decode(_HISTORY, session.health), record)
            await session.run(statement("record health"), history=json.dumps(encode(history)))


async def _is_logged(session: Session, session_id: str, injection_ids: Sequence[str]) -> bool:
    """Whether injections are all in the log of a session."""
    there = storable(injection_ids)
    absent = await session.column(statement("not logged"), ids=there, session_id=session_id)
    return not absent and len(there) == len(injection_ids)


async def _apply(
    session: Session, session_id: str, outcome: Outcome, kind: ElementKind, keys: Sequence[Any]
) -> dict[Any, str]:
    """The results for elements of one kind, except those to which the outcome was simply applied."""
    there = storable(keys) if kind is ElementKind.MEMORY else keys
    became = dict.fromkeys(set(keys).difference(there), "missing")
    values = {"session_id": session_id, "outcome": outcome.value, "alpha": session.alpha}
    moved = dict(await session.rows(statement("apply outcome", kind), ids=list(there), **values))
    if moved:
        kept = {"ids": [str(key) for key in moved], "seqs": list(moved.values()), "kind": kind.value}
        await session.run(statement("keep outcomes"), **kept, **values)
    if left := [key for key in there if key not in moved]:
        known = await session.column(statement("existing", kind, table=kind), ids=left)
        became |= dict.fromkeys(left, "missing") | dict.fromkeys(known, "repeated")
        replaced = await session.column(statement("replace outcome", kind), ids=known, **values) if known else ()
        became |= dict.fromkeys(replaced, "replaced")
    return became
