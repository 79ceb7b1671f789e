"""Entities as JSON, and back: for caches outside of the process."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.errors import CacheError, InvalidInputError
from graphsearch.model import Entity

_TIMES: Final = ("valid_from", "valid_to", "created_at")


def encoded(entity: Entity) -> str:
    """An entity as a JSON object with all of its fields."""
    fields = {field.name: getattr(entity, field.name) for field in attrs.fields(Entity)}
    fields["id"] = str(entity.id)
    fields["merged_into"] = None if entity.merged_into is None else str(entity.merged_into)
    for name in _TIMES:
        fields[name] = None if fields[name] is None else fields[name].isoformat()
    return json.dumps(fields, ensure_ascii=False, default=dict)


def decoded(text: str | bytes) -> Entity:
    """The entity that `encoded` gave. Raises `CacheError` for anything else."""
    try:
        fields: dict[str, Any] = json.loads(text)
        for name in _TIMES:
            fields[name] = None if fields[name] is None else datetime.fromisoformat(fields[name])
        merged_into = fields["merged_into"]
        return Entity(
            **{**fields, "id": UUID(fields["id"]), "merged_into": None if merged_into is None else UUID(merged_into)}
        )
    except (ValueError, TypeError, KeyError, AttributeError, InvalidInputError) as error:
        raise CacheError("the cache holds something that is no entity: empty it") from error
