"""Arguments shared by several tools, with descriptions for the calling model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from graphsearch.access.reader import EntityRef


def in_utc(moment: datetime) -> datetime:
    """Interpret a time without an offset as UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def reference(text: str) -> EntityRef:
    """Parse a reference to an entity: its id, a name or an alias."""
    try:
        return UUID(text)
    except ValueError:
        return text


Moment = Annotated[datetime, AfterValidator(in_utc)]

Question = Annotated[
    str, Field(min_length=1, max_length=4_000, description="What you want to know, in plain words, as one question.")
]
Entity = Annotated[
    str,
    Field(
        min_length=1,
        max_length=400,
        description="An entity: its id, or a name or alias that only one entity has. search_entities finds ids.",
    ),
]
MemoryId = Annotated[str, Field(min_length=1, max_length=400, description="The id of a memory, as recall gives it.")]
Session = Annotated[str, Field(min_length=1, max_length=200)]
AsOf = Annotated[
    Moment | None,
    Field(
        description="Answer with what was valid at this time, as in 2024-05-01T09:00:00Z. Leave out for the present."
    ),
]
Limit = Annotated[int, Field(ge=1, le=100, description="The maximum number of items, best first.")]
Hops = Annotated[int, Field(ge=1, le=6, description="The maximum number of relations to follow.")]
EntityType = Annotated[str, Field(min_length=1, max_length=100, description="Such as person, organisation or tool.")]
Name = Annotated[str, Field(min_length=1, max_length=400)]
Labels = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=100)]],
    Field(max_length=20, description="Words that policies refer to, such as private or personal."),
]
