"""Small graphs written down in a line each, for tests."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from graphsearch.model import Batch, Entity, Relation
from graphsearch.model.identity import entity_id
from graphsearch.testing.fakes import NOON


def days_ago(number: float) -> datetime:
    return NOON - timedelta(days=number)


def person(name: str) -> UUID:
    return entity_id("person", name)


def edge(source: str, type: str, target: str, **details: Any) -> Relation:
    return Relation(source_id=person(source), type=type, target_id=person(target), **details)


def people(*relations: Relation, names: str = "", **details: dict[str, Any]) -> Batch:
    """A batch of relations between people named in ``names``; ``details`` are of single people, by name."""
    return Batch(
        entities=[Entity(type="person", name=name, **details.get(name, {})) for name in names.split()],
        relations=relations,
    )
