"""Feedback weights moved by outcomes, in Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphsearch.model import ElementKind, ElementRef, FeedbackReport, Outcome, validation
from graphsearch.stores.in_postgres.read.rows import PostgresScope, RowReads
from graphsearch.stores.in_postgres.session.rows import array, storable, text_array
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.port import FEW


class PostgresLearning(PostgresScope):
    """Outcomes that move weights kind by kind, excluding other writers."""

    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        async with self._gateway.writing(self._scope, small=len(elements) <= FEW) as session:
            validation.refuse("outcome", validation.text("session_id", session_id, empty=True))
            log = await RowReads(session).rows("injection", logged)
            if not {row.key for row in log if row.value.session_id == session_id}.issuperset(logged):
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
            await session.flush()
            return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)


async def _apply(
    session: Session, session_id: str, outcome: Outcome, kind: ElementKind, keys: Sequence[Any]
) -> dict[Any, str]:
    """The results for elements of one kind, except those to which the outcome was simply applied."""
    there, became = list(keys), dict[Any, str]()
    if kind is ElementKind.MEMORY:
        there = list(storable(keys))
        became = dict.fromkeys(set(keys).difference(there), "missing")
    values = {"session_id": session_id, "outcome": outcome.value, "alpha": session.alpha}
    moved = dict(await session.rows(statement("apply outcome", kind), ids=there, **values))
    if moved:
        ids, seqs = text_array(map(str, moved)), array("integer", list(moved.values()))
        kept = {"ids": ids, "seqs": seqs, "kind": kind.value}
        session.run_later(statement("keep outcomes"), **kept, **values)
    if len(moved) < len(there):
        left = [key for key in there if key not in moved]
        known = [row.key for row in await RowReads(session).rows(kind, left)]
        became |= dict.fromkeys(left, "missing") | dict.fromkeys(known, "repeated")
        replaced = await session.column(statement("replace outcome", kind), ids=known, **values) if known else ()
        became |= dict.fromkeys(replaced, "replaced")
    return became
