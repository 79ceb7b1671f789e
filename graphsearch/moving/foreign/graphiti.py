"""Exports of Graphiti: a node or an edge per line, as its models dump them, in any order and any number of files.

An ``EntityNode`` has uuid, name, labels, summary, attributes; an ``EpisodicNode`` uuid, name, content,
source_description, valid_at; an ``EntityEdge`` source_node_uuid, target_node_uuid, name, fact, episodes, valid_at,
invalid_at, expired_at; an ``EpisodicEdge`` source_node_uuid, target_node_uuid.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from graphsearch.errors import InvalidInputError
from graphsearch.moving.foreign.conversion import (
    Conversion,
    ConversionReport,
    Format,
    Json,
    Line,
    add_entity,
    add_fact,
    present,
    read_lines,
)

FORMAT: Final = Format(
    texts="uuid group_id name source_node_uuid target_node_uuid",
    lists="labels episodes",
    objects="attributes",
    silent="uuid group_id created_at name_embedding fact_embedding content_embedding entity_edges reference_time",
)
"""The reference time of a fact is that of its episode."""


def convert(files: Sequence[Path], out: Path, *, group: str | None = None) -> ConversionReport:
    """Convert the files and write ``out`` atomically.

    * Entities keep their name, summary and attributes; their type is their first label other than "Entity", else
      "thing".
    * Episodes become memories. A fact is a claim of each of its episodes; without one, of the file.
    * valid_at and invalid_at are the validity period of a fact. A fact that expired without an end, because it was
      retracted, is left out: its history cannot be converted.

    Each ``group`` is one graph and belongs into one project. Raises `InvalidInputError` if there are several and none
    was chosen, if a file cannot be read or written, or if nothing can be converted.
    """
    read, faults = read_lines(files, FORMAT)
    lines, conversion = _of_group(read, group), Conversion(FORMAT, faults)
    for line in lines:
        if _kind(line.content) == "entity":
            add_entity(line, conversion, id_as="graphiti_uuid")
        elif _kind(line.content) == "episode":
            _episode(line, conversion)
    for line in lines:
        if _kind(line.content) == "fact":
            add_fact(line, conversion)
        elif _kind(line.content) == "mention":
            _mention(line, conversion)
    return conversion.write(out)


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


def _episode(line: Line, conversion: Conversion) -> None:
    fields = present(
        text=line.get("content"),
        subject=line.get("name"),
        source=line.get("source_description"),
        occurred_at=line.get("valid_at"),
        attributes=present(graphiti_source=line.get("source")),
    )
    if conversion.memory(line, line.text("uuid"), fields):
        conversion.lose_rest(line)


def _mention(line: Line, conversion: Conversion) -> None:
    episode = conversion.found(line, line.text("source_node_uuid"), conversion.memories)
    entity = conversion.found(line, line.text("target_node_uuid"), conversion.entities)
    if episode is not None and entity is not None:
        conversion.mention(episode, entity)
        conversion.lose_rest(line)
