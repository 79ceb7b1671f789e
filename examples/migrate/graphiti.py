"""Convert an export of Graphiti, one node or edge per line, to JSON lines that graphsearch ingests.

    python -m examples.migrate.graphiti export/*.jsonl --out team.jsonl

Each line is an object as Graphiti's models dump it: an ``EntityNode`` (uuid, name, labels, summary, attributes), an
``EpisodicNode`` (uuid, name, content, source_description, valid_at), an ``EntityEdge`` (source_node_uuid,
target_node_uuid, name, fact, episodes, valid_at, invalid_at, expired_at) or an ``EpisodicEdge`` (source_node_uuid,
target_node_uuid); any order, in one file or in several.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from examples.migrate.gathering import Migration, MigrationReport, present
from examples.migrate.lines import Json, Line, Shape, read_lines
from examples.migrate.main import main
from graphsearch.errors import InvalidInputError

ANEW: Final = frozenset({"uuid", "group_id", "created_at", "name_embedding", "fact_embedding", "content_embedding"})
"""Fields that graphsearch generates itself: ids, scopes, creation times and vectors. Ids are kept as attributes."""
ENTITY: Final = ANEW | {"name", "labels", "summary", "attributes"}
EPISODE: Final = ANEW | {"name", "labels", "content", "source", "source_description", "valid_at", "entity_edges"}
MENTION: Final = ANEW | {"source_node_uuid", "target_node_uuid"}
FACT: Final = MENTION | {"name", "fact", "episodes", "valid_at", "invalid_at", "expired_at", "reference_time"}
"""The reference time is that of the episode, which has it."""
SHAPE: Final = Shape(
    texts=frozenset({"uuid", "group_id", "name", "source_node_uuid", "target_node_uuid"}),
    lists=frozenset({"labels", "episodes"}),
    objects=frozenset({"attributes"}),
)


def convert(files: Sequence[Path], out: Path, *, group: str | None = None) -> MigrationReport:
    """Convert the files and write ``out`` atomically.

    * Entities keep their name, summary and attributes; their type is their first label other than "Entity", else
      "concept".
    * Episodes become memories. A fact is a claim of each of its episodes; without one, of the file.
    * valid_at and invalid_at are the validity period of a fact. A fact that expired without an end, because it was
      retracted, is left out: its history cannot be converted.

    Each ``group`` is one graph and belongs into one project. Raises `InvalidInputError` if there are several and none
    was chosen, if a file cannot be read or written, or if nothing can be converted.
    """
    read, faults = read_lines(files, SHAPE)
    lines, migration = _of_group(read, group), Migration(faults)
    for line in lines:
        if _kind(line.content) == "entity":
            _entity(line, migration)
        elif _kind(line.content) == "episode":
            _episode(line, migration)
    for line in lines:
        if _kind(line.content) == "fact":
            _fact(line, migration)
        elif _kind(line.content) == "mention":
            _mention(line, migration)
    return migration.write(out)


def _of_group(lines: list[Line], group: str | None) -> list[Line]:
    groups = sorted({line.text("group_id") for line in lines})
    if group is None and len(groups) > 1:
        named = ", ".join(map(repr, groups))
        raise InvalidInputError("export", [f"has the groups {named}: choose one, each is a project of its own"])
    return lines if group is None else [line for line in lines if line.text("group_id") == group]


def _kind(content: Json) -> str:
    if "source_node_uuid" in content:
        return "fact" if "fact" in content else "mention"
    return "episode" if "content" in content else "entity"


def _entity(line: Line, migration: Migration) -> None:
    content = line.content
    labels = [label for label in dict.fromkeys(content.get("labels") or ()) if label != "Entity"]
    if "Community" in labels:
        migration.leave_out(line, "a community: graphsearch finds its own")
        return
    described = present(
        description=content.get("summary"),
        attributes={**(content.get("attributes") or {}), "graphiti_uuid": line.text("uuid")},
    )
    entity = {"type": labels[0] if labels else "concept", "name": line.text("name"), **described}
    if migration.entity(line, line.text("uuid"), entity):
        migration.lose_fields(line, {**content, "further labels": labels[1:]}, ENTITY)


def _episode(line: Line, migration: Migration) -> None:
    content = line.content
    fields = present(
        text=content.get("content"),
        subject=content.get("name"),
        source=content.get("source_description"),
        occurred_at=content.get("valid_at"),
        attributes=present(graphiti_source=content.get("source")),
    )
    if migration.memory(line, line.text("uuid"), fields):
        migration.lose_fields(line, content, EPISODE)


def _fact(line: Line, migration: Migration) -> None:
    content = line.content
    if content.get("expired_at") and not content.get("invalid_at"):
        migration.leave_out(line, "taken back at expired_at, with no invalid_at to end it: no history is carried")
        return
    source = migration.found(line, line.text("source_node_uuid"), migration.entities)
    target = migration.found(line, line.text("target_node_uuid"), migration.entities)
    if source is None or target is None:
        return
    fields = {
        "type": content.get("name"),
        "fact": content.get("fact"),
        "valid_from": content.get("valid_at"),
        "valid_to": content.get("invalid_at"),
    }
    episodes = list(dict.fromkeys(content.get("episodes") or ()))
    absent = [episode for episode in episodes if episode not in migration.memories]
    memories = [migration.memories[episode] for episode in episodes if episode not in absent]
    if migration.relation(line, source, target, fields, memories):
        migration.lose_fields(line, {**content, "episodes that are not there": absent}, FACT)


def _mention(line: Line, migration: Migration) -> None:
    episode = migration.found(line, line.text("source_node_uuid"), migration.memories)
    entity = migration.found(line, line.text("target_node_uuid"), migration.entities)
    if episode is not None and entity is not None:
        migration.mention(episode, entity)
        migration.lose_fields(line, line.content, MENTION)


if __name__ == "__main__":
    main(convert, __doc__)
