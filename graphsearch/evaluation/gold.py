"""Questions about a graph with their answers (triplets, entities, or names that must be shown), and graphs in files.

    entities.jsonl    {"name": "Tom Reddan", "type": "person", "description": "…", "aliases": ["Red"],
                       "first_name_unique": "Tom"}
    relations.jsonl   {"source": "billing", "type": "runs_in", "target": "leeds", "fact": "…", "confidence": 0.9,
                       "valid_from": "2024-05-01", "valid_to": null}

An entity requires a name and a type (or ``kind``), a relation two ends and a type. An alias can be an object with a
``name``; ``first_name_unique``, a first name that nobody else has, is one more alias. ``source_type`` and
``target_type`` distinguish entities of one name. Times are in UTC unless they name another zone.

Questions, a line each:

    triplets   {"id": "q1", "question": "…", "kind": "…", "gold": [["billing", "runs_in", "leeds"]], "path": […]}
    entities   {"id": "q1", "question": "…", "gold": ["asyncio.tasks.gather"], "also_accept": ["…"]}
    answers    {"id": "q1", "question": "…", "probe": ["Tom", "lives_in", null], "expect_entities": ["Galway"]}

All fields but ``kind``, ``path`` and ``also_accept`` are required, ``probe`` only for triplets without ``gold``: the
expected entities take the place of its null. An empty gold means that nothing known answers the question. A question
has two hops if its ``path`` has an entity and two relations, or if it has no ``path`` and its ``kind`` is "two_hop" or
"multi_hop".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.errors import InvalidInputError
from graphsearch.evaluation.question_set import Gold, GoldQuestion, Line, TripletNames, parse_time, read_rows, repeated
from graphsearch.ingest.extract.extraction import Described
from graphsearch.ingest.write.permission import Permission
from graphsearch.ingest.write.writer import Writer, chunks, embed_facts
from graphsearch.model import Batch, EdgeKind, Entity, Relation
from graphsearch.model import validation as check
from graphsearch.model.identity import snake_case
from graphsearch.protocols import Embedder, GraphStore

_TWO_HOPS: Final = frozenset({"two_hop", "multi_hop"})
_PATH: Final = 3  # an entity and two relations
_TRIPLE: Final = 3


def triplet_question(line: Line) -> GoldQuestion[TripletNames] | None:
    """A question from a line of a file; None if neither a gold nor a probe gives the triplets that answer it.

    Raises `InvalidInputError`.
    """
    gold = line["gold"] if "gold" in line else _probed(line)
    if gold is None:
        return None
    if not isinstance(gold, list) or not all(map(_is_triple, gold)):
        raise InvalidInputError("question", ["gold must be a list of [source, type, target]"])
    triples = frozenset((source, snake_case(type_), target) for source, type_, target in gold)
    return GoldQuestion(**_common(line), gold=triples, hops=_hops(line))


def entity_question(line: Line) -> GoldQuestion[str]:
    """A question from a line of a file. Raises `InvalidInputError`."""
    return GoldQuestion(**_common(line), gold=frozenset((*_names("gold", line), *_names("also_accept", line, []))))


def name_question(line: Line) -> GoldQuestion[str]:
    """A question from a line of a file. Raises `InvalidInputError`."""
    return GoldQuestion(**_common(line), gold=frozenset(_names("expect_entities", line)), hops=_hops(line))


def faults_of_set(questions: Sequence[GoldQuestion[Gold]]) -> Iterator[str]:
    """The faults that make questions unfit as a set."""
    if not any(question.gold for question in questions):
        yield "no question has an answer to be found"
    yield from repeated("questions", (question.id for question in questions))


def _common(line: Line) -> Line:
    return {"id": line.get("id", ""), "question": line.get("question", ""), "kind": line.get("kind") or ""}


def _probed(line: Line) -> list[list[str]] | None:
    """The triplets of a probe, one for each entity that it is expected to find."""
    probe, expected = line.get("probe"), _names("expect_entities", line)
    if not expected:
        return []
    if not isinstance(probe, list) or len(probe) != _TRIPLE or probe.count(None) != 1:
        return None
    return [[name if part is None else part for part in probe] for name in expected]


def _names(field: str, line: Line, default: list[str] | None = None) -> list[str]:
    names = line.get(field, default)
    if not isinstance(names, list):
        raise InvalidInputError("question", [f"{field} must be a list of names"])
    return names


def _hops(line: Line) -> int:
    path = line.get("path")
    two = len(path) >= _PATH if isinstance(path, list) else line.get("kind") in _TWO_HOPS
    return 2 if two else 1


def _is_triple(value: object) -> bool:
    return isinstance(value, list) and len(value) == _TRIPLE and check.texts("triple", value) is None


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


def _entity(line: Line) -> Entity:
    return Entity(
        type=line.get("type") or line.get("kind") or "",
        name=line.get("name", ""),
        description=line.get("description") or "",
        aliases=aliases_of(line),
    )


def aliases_of(line: Line) -> tuple[str, ...]:
    """The aliases in the line of an entity. Raises `InvalidInputError`."""
    aliases = line.get("aliases") or []
    if not isinstance(aliases, list):
        raise InvalidInputError("entity", ["aliases must be a list of names"])
    names: list[Any] = [alias.get("name") if isinstance(alias, dict) else alias for alias in aliases]
    names += [first] if (first := line.get("first_name_unique")) else []
    check.refuse("entity", check.texts("aliases", names))
    return tuple(names)


def _relation(line: Line, by_name: dict[str, dict[str, UUID]]) -> Relation:
    confidence = line.get("confidence")
    return Relation(
        source_id=_end("source", line, by_name),
        type=line.get("type", ""),
        target_id=_end("target", line, by_name),
        valid_from=parse_time("relation", "valid_from", line["valid_from"]) if line.get("valid_from") else None,
        valid_to=parse_time("relation", "valid_to", line["valid_to"]) if line.get("valid_to") else None,
        fact=line.get("fact") or "",
        kind=EdgeKind.STRUCTURAL,
        confidence=1.0 if confidence is None else confidence,
    )


def _end(end: str, line: Line, by_name: dict[str, dict[str, UUID]]) -> UUID:
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
