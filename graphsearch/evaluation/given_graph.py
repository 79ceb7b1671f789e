"""A graph read from two files of JSON lines, and written into a store.

    entities.jsonl    {"name": "Tom Reddan", "type": "person", "description": "…", "aliases": ["Red"],
                       "first_name_unique": "Tom"}
    relations.jsonl   {"source": "billing", "type": "runs_in", "target": "leeds", "fact": "…", "confidence": 0.9,
                       "valid_from": "2024-05-01", "valid_to": null}

An entity requires a name and a type (or ``kind``), a relation two ends and a type. An alias can be an object with a
``name``; ``first_name_unique``, a first name that nobody else has, is one more alias. ``source_type`` and
``target_type`` distinguish entities of one name. Times are in UTC unless they name another zone.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.errors import InvalidInputError
from graphsearch.evaluation.gold import TripletNames
from graphsearch.evaluation.question_set import parse_time, read_rows
from graphsearch.ingest.extract.extraction import Described
from graphsearch.ingest.write.permission import Permission
from graphsearch.ingest.write.writer import Writer, chunks, embed_facts
from graphsearch.model import Batch, EdgeKind, Entity, Relation
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case
from graphsearch.protocols import Embedder, GraphStore

_BATCH: Final = 1_000
"""Relations written in one transaction."""


@attrs.frozen(kw_only=True)
class GivenGraph:
    """Entities, and relations between them."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    @property
    def triples(self) -> frozenset[TripletNames]:
        """All relations, as names of source, type and target."""
        names = {entity.id: entity.name for entity in self.entities}
        return frozenset((names[each.source_id], each.type, names[each.target_id]) for each in self.relations)


def read_graph(entities: Path, relations: Path) -> GivenGraph:
    """The graph in two files. Raises `InvalidInputError` that names the file and every faulty line."""
    described = read_rows(entities, _entity)
    by_name: dict[str, dict[str, UUID]] = {}
    for entity in described:
        by_name.setdefault(entity.name, {})[entity.type] = entity.id
    return GivenGraph(entities=described, relations=read_rows(relations, lambda line: _relation(line, by_name)))


async def write_graph(graph: GivenGraph, store: GraphStore, embedder: Embedder | None) -> None:
    """Write a graph into a scope, with embeddings of entities and facts if there is an embedder."""
    writer = Writer(store, embedder, Permission(store, ALLOW_ALL))
    await writer.begin()
    await writer.describe([Described(entity) for entity in graph.entities], anew=True)
    for some in chunks(graph.relations, _BATCH):
        await store.write(Batch(relations=tuple(some)))
    await writer.settle()
    if embedder is not None:
        await embed_facts(store, embedder)


def _entity(line: dict[str, Any]) -> Entity:
    return Entity(
        type=line.get("type") or line.get("kind") or "",
        name=line.get("name", ""),
        description=line.get("description") or "",
        aliases=aliases_of(line),
    )


def aliases_of(line: dict[str, Any]) -> tuple[str, ...]:
    """The aliases in the line of an entity. Raises `InvalidInputError`."""
    aliases = line.get("aliases") or []
    if not isinstance(aliases, list):
        raise InvalidInputError("entity", ["aliases must be a list of names"])
    names: list[Any] = [alias.get("name") if isinstance(alias, dict) else alias for alias in aliases]
    names += [first] if (first := line.get("first_name_unique")) else []
    check.refuse("entity", check.texts("aliases", names))
    return tuple(names)


def _relation(line: dict[str, Any], by_name: dict[str, dict[str, UUID]]) -> Relation:
    confidence = line.get("confidence")
    return Relation(
        source_id=_end("source", line, by_name),
        type=line.get("type", ""),
        target_id=_end("target", line, by_name),
        valid_from=_day("valid_from", line),
        valid_to=_day("valid_to", line),
        fact=line.get("fact") or "",
        kind=EdgeKind.STRUCTURAL,
        confidence=1.0 if confidence is None else confidence,
    )


def _end(end: str, line: dict[str, Any], by_name: dict[str, dict[str, UUID]]) -> UUID:
    name, written = line.get(end), line.get(f"{end}_type")
    if fault := check.text(end, name):
        raise InvalidInputError("relation", [fault])
    known = by_name.get(str(name), {})
    if written is None and len(known) == 1:
        return next(iter(known.values()))
    if written is not None and (found := known.get(snake_case(str(written)))):
        return found
    what = f"{name!r} of type {written!r}" if written else f"{name!r}"
    fault = (
        f"{end}_type must state which {name!r}" if known and written is None else f"{end}: there is no entity {what}"
    )
    raise InvalidInputError("relation", [fault])


def _day(field: str, line: dict[str, Any]) -> datetime | None:
    written = line.get(field)
    return None if written is None else parse_time("relation", field, written)
