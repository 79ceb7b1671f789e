"""Exports of Zep: the messages of sessions or threads, and the nodes, edges and episodes of its graphs.

A message has uuid, role, role_type, name, content, created_at and metadata, and stands in a session; an episode has
uuid, content, source, source_description and created_at; a node uuid, name, labels, summary and attributes; an edge
source_node_uuid, target_node_uuid, name, fact, episodes (or episode_uuids), valid_at, invalid_at and expired_at. A file
is a document with lists of these, a list, or one object a line; a session is an object with its ``messages``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

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

SESSION: Final = frozenset(
    ("session_id", "thread_id", "uuid", "metadata", "messages", "ended_at", "deleted_at", "classifications", "facts")
)
FORMAT: Final = Format(
    texts="uuid name source_node_uuid target_node_uuid session_id thread_id role role_type source",
    lists="labels episodes episode_uuids",
    objects="attributes metadata",
    silent="uuid uuid_ id created_at updated_at graph_uuid graph_id group_id user_id project_uuid score relevance"
    " processed token_count embedding thread_id role role_type source"
    " source_node_name target_node_name source_node_labels target_node_labels",
)
"""Names and labels of the ends of an edge are those of the nodes."""


def convert(files: Sequence[Path], out: Path) -> ConversionReport:
    """Convert the files and write ``out`` atomically.

    * A message becomes a memory of its session, at its place in it, dated by ``created_at`` and spoken by its name,
      else its role. Its text goes through extraction, unless a fact names it as an episode.
    * An episode becomes a memory. A fact is a claim of each of its episodes; without one, of the file.
    * Nodes and facts are converted as those of Graphiti.

    Raises `InvalidInputError` if a file cannot be read or written, or nothing can be converted.
    """
    read, faults = read_lines(files, FORMAT)
    conversion, places = Conversion(FORMAT, faults), dict[str, int]()
    lines = [each for line in read for each in _messages(line, conversion)]
    for line in lines:
        if "content" in line.content:
            _text(line, conversion, places)
        elif "source_node_uuid" not in line.content:
            add_entity(line, conversion, id_as="zep_uuid")
    for line in lines:
        if "source_node_uuid" in line.content:
            add_fact(line, conversion)
    return conversion.write(out)


def _messages(line: Line, conversion: Conversion) -> Iterator[Line]:
    """The messages of a session; any other object as it is. A session without messages has nothing to convert."""
    if not isinstance(line.content.get("messages"), list):
        if line.content.keys() <= SESSION:
            conversion.leave_out(line, "a session without messages")
        else:
            yield line
        return
    session = line.text("session_id") or line.text("thread_id") or line.text("uuid")
    for message in line.content["messages"]:
        faults = FORMAT.faults(message)
        if faults:
            conversion.leave_out(line, f"a message of session {session!r}: {'; '.join(faults)}")
        else:
            yield Line(line.path, line.number, {**message, "session_id": session})
    if lost := sorted(line.content.keys() - SESSION):
        conversion.lose(line, f"not carried: {', '.join(lost)}")


def _text(line: Line, conversion: Conversion, places: dict[str, int]) -> None:
    """Add a message or an episode."""
    session = line.text("session_id") or line.text("thread_id")
    place = places[session] = places.get(session, -1) + 1
    is_message = bool(line.text("role") or line.text("role_type"))
    fields: Json = present(
        text=line.get("content"),
        speaker=line.text("name") or line.text("role") or line.text("role_type") if is_message else "",
        subject="" if is_message else line.text("name"),
        session_id=session,
        position=place if session else None,
        source=line.get("source_description") or line.get("source"),
        occurred_at=line.get("created_at"),
        attributes=line.get("metadata"),
    )
    key = line.text("uuid") or (f"{session}:{place}" if session else "")
    if conversion.memory(line, key, fields, extracted=not is_message):
        conversion.lose_rest(line)
