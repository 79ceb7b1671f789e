"""The common part of all conversions: collect an export in the vocabulary of the JSON lines that graphsearch ingests.

A line that cannot be converted is a fault, a line converted without some of its information is a loss; both are
reported by file and line. Every output line is checked with the reader that will ingest it. Graphiti and Zep dump nodes
and edges alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.files import written
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.extraction import Fault, UnreadableError
from graphsearch.ingest.sources.json_lines import read_line
from graphsearch.model.identity import entity_id
from graphsearch.moving.foreign.export_lines import Json, Line

CONFIDENCE: Final = 0.85
"""The confidence of a relation extracted by a model and exported without one: clear, but not certain."""


@attrs.frozen(kw_only=True)
class ConversionReport:
    """The numbers of records written, and the problems.

    ``claims`` are relations with a memory as evidence, ``relations`` those without. ``faults`` are the lines that were
    left out, ``losses`` those converted without some of their information.
    """

    entities: int
    memories: int
    claims: int
    relations: int
    faults: tuple[Fault, ...]
    losses: tuple[Fault, ...]


@attrs.define
class Conversion:
    """Collects the records of an export in the vocabulary of graphsearch's JSON lines."""

    faults: list[Fault]
    """The faults found while reading the export."""
    entities: dict[str, Json] = attrs.field(factory=dict)
    """Records by their id in the export."""
    memories: dict[str, Json] = attrs.field(factory=dict)
    relations: list[Json] = attrs.field(factory=list)
    losses: list[Fault] = attrs.field(factory=list)
    _named: dict[UUID, tuple[Line, Json]] = attrs.field(factory=dict)

    def entity(self, line: Line, id_: str, entity: Json) -> bool:
        """Add an entity; entities of one type and name become one, described by the first. Return whether it is new."""
        if not self._fresh(line, id_, self.entities) or not self._sound(line, {"entity": entity}):
            return False
        first, known = self._named.setdefault(entity_id(entity["type"], entity["name"]), (line, entity))
        if known is not entity:
            self.lose(line, f"is one entity with {first.place}, of the same type and name, which describes it")
        self.entities[id_] = known
        return True

    def memory(self, line: Line, id_: str, fields: Json, *, extracted: bool = True) -> bool:
        """Add a memory. Return whether it was added.

        The text of one that was ``extracted`` is not extracted again: the earlier extraction is converted. That of any
        other goes through extraction, unless mentions or claims are added.
        """
        memory = {"id": id_, **fields, **({"mentions": [], "claims": []} if extracted else {})}
        if not self._fresh(line, id_, self.memories) or not self._sound(line, {"memory": memory}):
            return False
        self.memories[id_] = memory
        return True

    def mention(self, memory: Json, entity: Json) -> None:
        """Add a mention of an entity in a memory."""
        memory.setdefault("mentions", []).append({"entity": _reference(entity), "surface": entity["name"]})

    def relation(self, line: Line, source: Json, target: Json, fields: Json, memories: Sequence[Json]) -> bool:
        """Add a claim of some memories or, without any, a relation of the file. Return whether it was added."""
        ends = {"source": _reference(source), "target": _reference(target)}
        claim = {**ends, "kind": "semantic", "confidence": CONFIDENCE, **present(**fields)}
        if not self._sound(line, {"relation": claim}):
            return False
        for memory in memories:
            memory.setdefault("claims", []).append(claim)
        if not memories:
            self.relations.append(claim)
        return True

    def found(self, line: Line, id_: str, among: Mapping[str, Json]) -> Json | None:
        """The record with this id; None, with a fault, if it was not converted."""
        if id_ not in among:
            self.leave_out(line, f"what it joins was not carried: {id_ or 'an end without an id'}")
        return among.get(id_)

    def leave_out(self, line: Line, why: str) -> None:
        """Report a line that is not converted."""
        self.faults.append(Fault(line.path, line.number, why))

    def lose(self, line: Line, what: str) -> None:
        """Report a line that is converted in part."""
        self.losses.append(Fault(line.path, line.number, what))

    def lose_fields(self, line: Line, fields: Mapping[str, Any], carried: frozenset[str]) -> None:
        """Report fields with a value that have no counterpart."""
        lost = sorted(name for name in present(**fields) if name not in carried)
        if lost:
            self.lose(line, f"not carried: {', '.join(lost)}")

    def write(self, out: Path) -> ConversionReport:
        """Write everything, or nothing. Raises `InvalidInputError` if there is nothing, or it cannot be written."""
        entities = [entity for _, entity in self._named.values()]
        records: list[Json] = [
            *({"entity": entity} for entity in entities),
            *({"memory": memory} for memory in self.memories.values()),
            *({"relation": relation} for relation in self.relations),
        ]
        if not records:
            raise InvalidInputError("export", [*map(str, self.faults)] or ["has nothing in it"])
        with written(out) as stream:
            stream.writelines(map(_written, records))
        return ConversionReport(
            entities=len(entities),
            memories=len(self.memories),
            claims=sum(len(memory.get("claims", ())) for memory in self.memories.values()),
            relations=len(self.relations),
            faults=tuple(sorted(self.faults)),
            losses=tuple(sorted(self.losses)),
        )

    def _fresh(self, line: Line, id_: str, known: Mapping[str, Json]) -> bool:
        if not id_ or id_ in known:
            self.leave_out(line, f"the id {id_} was given before" if id_ else "has no id")
        return bool(id_) and id_ not in known

    def _sound(self, line: Line, record: Json) -> bool:
        """Whether the reader that will ingest a record accepts it."""
        try:
            read_line(_written(record), path=line.path, line=line.number, memory_id="the file")
        except UnreadableError as error:
            self.faults.append(error.fault)
        except (UnicodeEncodeError, RecursionError) as error:
            self.leave_out(line, f"cannot be written as JSON in UTF-8: {error}")
        else:
            return True
        return False


def present(**fields: Any) -> Json:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", {}, [])}


def _written(record: Json) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _reference(entity: Json) -> Json:
    return {"type": entity["type"], "name": entity["name"]}


def add_entity(line: Line, conversion: Conversion, *, id_as: str, carried: frozenset[str]) -> None:
    """Add a node: its type is its first label other than "Entity", else "concept"; its id becomes an attribute.

    Communities are left out. Fields that are not among those ``carried`` are losses.
    """
    content = line.content
    labels = [label for label in dict.fromkeys(content.get("labels") or ()) if label != "Entity"]
    if "Community" in labels:
        conversion.leave_out(line, "a community: graphsearch finds its own")
        return
    described = present(
        description=content.get("summary"),
        attributes={**(content.get("attributes") or {}), id_as: line.text("uuid")},
    )
    entity = {"type": labels[0] if labels else "concept", "name": line.text("name"), **described}
    if conversion.entity(line, line.text("uuid"), entity):
        conversion.lose_fields(line, {**content, "further labels": labels[1:]}, carried)


def add_fact(line: Line, conversion: Conversion, *, episodes: list[str], carried: frozenset[str]) -> None:
    """Add an edge: a claim of each of its episodes that is there, or without one, a relation of the file.

    A fact that expired without an end, because it was retracted, is left out: its history cannot be converted.
    """
    content = line.content
    if content.get("expired_at") and not content.get("invalid_at"):
        conversion.leave_out(line, "taken back at expired_at, with no invalid_at to end it: no history is carried")
        return
    source = conversion.found(line, line.text("source_node_uuid"), conversion.entities)
    target = conversion.found(line, line.text("target_node_uuid"), conversion.entities)
    if source is None or target is None:
        return
    fields = {
        "type": content.get("name"),
        "fact": content.get("fact"),
        "valid_from": content.get("valid_at"),
        "valid_to": content.get("invalid_at"),
    }
    stated = list(dict.fromkeys(episodes))
    absent = [episode for episode in stated if episode not in conversion.memories]
    memories = [conversion.memories[episode] for episode in stated if episode not in absent]
    if conversion.relation(line, source, target, fields, memories):
        conversion.lose_fields(line, {**content, "episodes that are not there": absent}, carried)
