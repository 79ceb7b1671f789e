"""Nodes and edges as Graphiti and Zep dump them: entities with labels, and facts with periods and episodes."""

from __future__ import annotations

from graphsearch.moving.foreign.export_lines import Line
from graphsearch.moving.foreign.gathering import Conversion, present


def add_entity(line: Line, conversion: Conversion, *, id_as: str, carried: frozenset[str]) -> None:
    """Add a node: its type is its first label other than "Entity", else "thing"; its id becomes an attribute.

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
    entity = {"type": labels[0] if labels else "thing", "name": line.text("name"), **described}
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
