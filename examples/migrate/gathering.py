"""What both migrations share: what an export says, gathered in the words of JSON lines that graphsearch takes in.

A line that cannot be carried is a fault, one that is carried without some of what it said is a loss; both are reported
by file and line. Whatever is written was first read by the reader that will take it in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from examples.migrate.lines import Json, Line, write_whole
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.extract.faults import Fault, UnreadableError
from graphsearch.ingest.sources import json_elements as jsonl
from graphsearch.model.identity import entity_id

CONFIDENCE: Final = 0.85
"""Of a relation that a model once read out of text and that nobody gave a confidence: clear, and not certain."""


@attrs.frozen(kw_only=True)
class MigrationReport:
    """What was written, and what could not be carried.

    ``claims`` are what memories say, ``relations`` what no memory of the export says. ``faults`` are the lines that
    were left out, ``losses`` those that were carried without some of what they said.
    """

    entities: int
    memories: int
    claims: int
    relations: int
    faults: tuple[Fault, ...]
    losses: tuple[Fault, ...]


@attrs.define
class Migration:
    """Gathers what an export says, in the words of graphsearch's JSON lines."""

    faults: list[Fault]
    """What reading the export found."""
    entities: dict[str, Json] = attrs.field(factory=dict)
    """By the id that they had."""
    memories: dict[str, Json] = attrs.field(factory=dict)
    relations: list[Json] = attrs.field(factory=list)
    losses: list[Fault] = attrs.field(factory=list)
    _named: dict[UUID, tuple[Line, Json]] = attrs.field(factory=dict)

    def entity(self, line: Line, id_: str, entity: Json) -> bool:
        """An entity; two of one type and name are one, described by the first. Whether it was carried."""
        if not self._fresh(line, id_, self.entities) or not self._sound(line, {"entity": entity}):
            return False
        first, known = self._named.setdefault(entity_id(entity["type"], entity["name"]), (line, entity))
        if known is not entity:
            self.lose(line, f"is one entity with {first.place}, of the same type and name, which describes it")
        self.entities[id_] = known
        return True

    def memory(self, line: Line, id_: str, fields: Json) -> bool:
        """A memory that says nothing yet. Whether it was carried.

        Its text is not read again: what was once read out of it is carried.
        """
        memory = {"id": id_, **fields, "mentions": [], "claims": []}
        if not self._fresh(line, id_, self.memories) or not self._sound(line, {"memory": memory}):
            return False
        self.memories[id_] = memory
        return True

    def mention(self, memory: Json, entity: Json) -> None:
        """An entity that a memory names."""
        memory["mentions"].append({"entity": _reference(entity), "surface": entity["name"]})

    def relation(self, line: Line, source: Json, target: Json, said: Json, memories: Sequence[Json]) -> bool:
        """What some memories say, or, where there are none, the file itself. Whether it was carried."""
        ends = {"source": _reference(source), "target": _reference(target)}
        claim = {**ends, "kind": "semantic", "confidence": CONFIDENCE, **present(**said)}
        if not self._sound(line, {"relation": claim}):
            return False
        for memory in memories:
            memory["claims"].append(claim)
        if not memories:
            self.relations.append(claim)
        return True

    def found(self, line: Line, id_: str, among: Mapping[str, Json]) -> Json | None:
        """What has this id; None, with a fault, if it was not carried."""
        if id_ not in among:
            self.leave_out(line, f"what it joins was not carried: {id_ or 'an end without an id'}")
        return among.get(id_)

    def leave_out(self, line: Line, why: str) -> None:
        """Report a line that is not carried."""
        self.faults.append(Fault(line.path, line.number, why))

    def lose(self, line: Line, what: str) -> None:
        """Report a line that is carried in part."""
        self.losses.append(Fault(line.path, line.number, what))

    def lose_fields(self, line: Line, fields: Mapping[str, Any], carried: frozenset[str]) -> None:
        """Report fields that have a value and no place to go."""
        lost = sorted(name for name in present(**fields) if name not in carried)
        if lost:
            self.lose(line, f"not carried: {', '.join(lost)}")

    def write(self, out: Path) -> MigrationReport:
        """Write it all, or nothing. Raises `InvalidInputError` where there is nothing to write, or no place for it."""
        entities = [entity for _, entity in self._named.values()]
        records: list[Json] = [
            *({"entity": entity} for entity in entities),
            *({"memory": memory} for memory in self.memories.values()),
            *({"relation": relation} for relation in self.relations),
        ]
        if not records:
            raise InvalidInputError("export", [*map(str, self.faults)] or ["has nothing in it"])
        write_whole(out, b"".join(_written(record) for record in records))
        return MigrationReport(
            entities=len(entities),
            memories=len(self.memories),
            claims=sum(len(memory["claims"]) for memory in self.memories.values()),
            relations=len(self.relations),
            faults=tuple(sorted(self.faults)),
            losses=tuple(sorted(self.losses)),
        )

    def _fresh(self, line: Line, id_: str, known: Mapping[str, Json]) -> bool:
        if not id_ or id_ in known:
            self.leave_out(line, f"the id {id_} was given before" if id_ else "has no id")
        return bool(id_) and id_ not in known

    def _sound(self, line: Line, record: Json) -> bool:
        """Whether the reader that will take a record in accepts it."""
        try:
            jsonl.read_line(_written(record), path=line.path, line=line.number, memory_id="the file")
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
