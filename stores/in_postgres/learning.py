"""What was surfaced to sessions, and outcomes to feedback weights, in Postgres (design 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphsearch import validation
from graphsearch.model import ElementKind, Outcome
from graphsearch.records import ElementRef, FeedbackReport, Injection, OutcomeRecord
from graphsearch.stores.in_postgres.reading import storable
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.statements import statement


async def log_injection(session: Session, injection: Injection) -> None:
    """Remember what was surfaced; the same id again changes nothing."""
    texts = {name: getattr(injection, name) for name in ("id", "session_id", "principal")}
    texts |= {f"element {element.id!r}": element.id for element in injection.elements}
    validation.refuse("injection", *(validation.text(name, text, empty=True) for name, text in texts.items()))
    await session.run(
        statement("log injection"),
        id=injection.id,
        session_id=injection.session_id,
        principal=injection.principal,
        created_at=injection.created_at,
        tokens=injection.tokens,
        kinds=[element.kind.value for element in injection.elements],
        ids=[element.id for element in injection.elements],
    )


async def injections(session: Session, session_id: str) -> list[Injection]:
    """What was surfaced to a session, oldest first."""
    return [_injection(row) for row in await session.dicts(statement("injections"), session_id=session_id)]


def _injection(row: Mapping[str, Any]) -> Injection:
    pairs = zip(row["element_kinds"], row["element_ids"], strict=True)
    return Injection(
        id=row["id"],
        session_id=row["session_id"],
        principal=row["principal"],
        created_at=row["created_at"],
        tokens=row["tokens"],
        elements=tuple(ElementRef(ElementKind(kind), key) for kind, key in pairs),
    )


async def apply_outcome(
    session: Session, session_id: str, outcome: Outcome, elements: Iterable[ElementRef]
) -> FeedbackReport:
    """Move weights, kind by kind and in order of id, so that writers wait for one another and never deadlock."""
    validation.refuse("outcome", validation.text("session_id", session_id, empty=True))
    asked: dict[ElementKind, dict[Any, ElementRef]] = {kind: {} for kind in ElementKind}
    for element in sorted(set(elements)):
        asked[element.kind].setdefault(element.key, element)
    found: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
    for kind, refs in sorted(asked.items()):
        if not refs:
            continue
        ids = sorted(refs)
        there = storable(ids) if kind is ElementKind.MEMORY else ids
        await session.run(statement("lock elements", kind), ids=there)
        rows = await session.run(
            statement("apply outcome", kind),
            ids=there,
            session_id=session_id,
            outcome=outcome.value,
            alpha=session.alpha,
        )
        said: dict[str, str] = dict(await rows.fetchall())
        for key in ids:
            found[said.get(str(key), "missing")].append(refs[key])
    applied, replaced, repeated, missing = (tuple(sorted(refs)) for refs in found.values())
    return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)


async def outcomes(session: Session, elements: Sequence[ElementRef]) -> list[OutcomeRecord]:
    """The history of elements, by (element, seq)."""
    asked = {(each.kind.value, str(each.key)): each for each in sorted(set(elements), reverse=True)}
    found = [(kind, key) for kind, key in asked if storable([key])]
    kinds, ids = [kind for kind, _ in found], [key for _, key in found]
    rows = await (await session.run(statement("outcomes"), kinds=kinds, ids=ids)).fetchall()
    return [
        OutcomeRecord(element=asked[kind, key], session_id=session_id, seq=seq, outcome=Outcome(outcome))
        for kind, key, session_id, seq, outcome in rows
    ]
