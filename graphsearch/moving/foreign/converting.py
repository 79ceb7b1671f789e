"""Exports of other memory layers into a scope: what those of mem0, Zep, Graphiti and cognee mean, and their import."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import attrs

from graphsearch._support.files import UNREADABLE, opened
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor, IngestReport
from graphsearch.moving.foreign.conversion import (
    Conversion,
    ConversionReport,
    Format,
    Json,
    Line,
    first_objects,
    present,
    read_lines,
)

# -- mem0 -------------------------------------------------------------------------------------------------------------

_OWNERS: Final = ("user_id", "agent_id", "app_id", "actor_id")


def _collect_mem0(lines: Sequence[Line], conversion: Conversion) -> None:
    """What ``get_all`` returns: a document with ``results`` and ``relations``, a list of objects, or one a line.

    * A memory keeps its id and text, dated by ``created_at``; ``run_id`` is its session, ``categories`` its labels, and
      ``metadata`` with ``user_id``, ``agent_id``, ``app_id`` and ``updated_at`` its attributes. mem0 does not record
      what it extracted from which memory, so the text goes through extraction.
    * A relation is one of the file, between entities of type "thing" unless it states others: mem0 does not record
      which memory it was extracted from, and whose it is: a scope is one graph. Its names have spaces for underscores.
    """
    for line in lines:
        if "memory" in line.content:
            _mem0_memory(line, conversion)
        elif "source" in line.content:
            _mem0_relation(line, conversion)
        else:
            conversion.leave_out(line, "is neither a memory nor a relation")


def _mem0_memory(line: Line, conversion: Conversion) -> None:
    attributes = {
        **(line.get("metadata") or {}),
        **present(**{name: line.get(name) for name in _OWNERS}, mem0_updated_at=line.get("updated_at")),
    }
    fields = present(
        text=line.get("memory"),
        session_id=line.get("run_id"),
        occurred_at=line.get("created_at"),
        labels=line.get("categories"),
        attributes=attributes,
    )
    conversion.memory(line, line.text("id"), fields, extracted=False)


def _mem0_relation(line: Line, conversion: Conversion) -> None:
    source = {"type": line.text("source_type") or "thing", "name": _spaced(line.text("source"))}
    reached = line.text("target") or line.text("destination")
    target = {"type": line.text("target_type") or "thing", "name": _spaced(reached)}
    conversion.relation(line, source, target, {"type": line.text("relationship") or line.text("relation")})


def _spaced(written: str) -> str:
    return written.replace("_", " ").strip()


MEM0: Final = Format(
    collect=_collect_mem0,
    texts="id memory run_id source relationship relation target destination source_type target_type",
    lists="categories",
    objects="metadata",
    silent="id hash score embedding vector text role run_id user_id agent_id app_id actor_id",
)

# -- Graphiti ---------------------------------------------------------------------------------------------------------


def _collect_graphiti(lines: Sequence[Line], conversion: Conversion) -> None:
    """A node or an edge per line, as its models dump them, in any order and any number of files.

    * Entities keep their name, summary and attributes; their type is their first label other than "Entity", else
      "thing".
    * Episodes become memories. A fact is a claim of each of its episodes; without one, of the file.
    * valid_at and invalid_at are the validity period of a fact. A fact that expired without an end, because it was
      retracted, is left out: its history cannot be converted.
    """
    for line in sorted(lines, key=_is_edge):
        if _is_edge(line):
            (_fact if "fact" in line.content else _mention)(line, conversion)
        elif "content" in line.content:
            _episode(line, conversion)
        else:
            _entity(line, conversion, id_as="graphiti_uuid")


def _is_edge(line: Line) -> bool:
    return "source_node_uuid" in line.content


def _episode(line: Line, conversion: Conversion) -> None:
    fields = present(
        text=line.get("content"),
        subject=line.get("name"),
        source=line.get("source_description"),
        occurred_at=line.get("valid_at"),
        attributes=present(graphiti_source=line.get("source")),
    )
    conversion.memory(line, line.text("uuid"), fields)


def _mention(line: Line, conversion: Conversion) -> None:
    episode = conversion.found(line, line.text("source_node_uuid"), conversion.memories)
    entity = conversion.found(line, line.text("target_node_uuid"), conversion.entities)
    if episode is not None and entity is not None:
        conversion.mention(episode, entity)
        conversion.lose_rest(line)


GRAPHITI: Final = Format(
    collect=_collect_graphiti,
    texts="uuid group_id name source_node_uuid target_node_uuid",
    lists="labels episodes",
    objects="attributes",
    silent="uuid group_id created_at name_embedding fact_embedding content_embedding entity_edges reference_time",
)
"""The reference time of a fact is that of its episode."""


def _entity(line: Line, conversion: Conversion, *, id_as: str) -> None:
    """Add a node: its type is its first label other than "Entity", else "thing"; its id becomes an attribute.

    Communities are left out.
    """
    labels = [label for label in dict.fromkeys(line.get("labels") or ()) if label != "Entity"]
    if "Community" in labels:
        conversion.leave_out(line, "a community: graphsearch finds its own")
        return
    described = present(
        description=line.get("summary"), attributes={**(line.get("attributes") or {}), id_as: line.text("uuid")}
    )
    entity = {"type": labels[0] if labels else "thing", "name": line.text("name"), **described}
    conversion.entity(line, line.text("uuid"), entity, {"further labels": labels[1:]})


def _fact(line: Line, conversion: Conversion) -> None:
    """Add an edge: a claim of each of its episodes that is there, or without one, a relation of the file.

    A fact that expired without an end, because it was retracted, is left out: its history cannot be converted.
    """
    if line.get("expired_at") and not line.get("invalid_at"):
        conversion.leave_out(line, "taken back at expired_at, with no invalid_at to end it: no history is carried")
        return
    source = conversion.found(line, line.text("source_node_uuid"), conversion.entities)
    target = conversion.found(line, line.text("target_node_uuid"), conversion.entities)
    if source is None or target is None:
        return
    fields = {
        "type": line.get("name"),
        "fact": line.get("fact"),
        "valid_from": line.get("valid_at"),
        "valid_to": line.get("invalid_at"),
    }
    stated = dict.fromkeys(line.get("episodes") or line.get("episode_uuids") or ())
    absent = [episode for episode in stated if episode not in conversion.memories]
    memories = [conversion.memories[episode] for episode in stated if episode not in absent]
    conversion.relation(line, source, target, fields, memories, lost={"episodes that are not there": absent})


# -- Zep --------------------------------------------------------------------------------------------------------------

_SESSION: Final = frozenset(
    ("session_id", "thread_id", "uuid", "metadata", "messages", "ended_at", "deleted_at", "classifications", "facts")
)


def _collect_zep(read: Sequence[Line], conversion: Conversion) -> None:
    """Documents with lists of sessions, messages, nodes, edges and episodes, a list, or one object a line.

    * A message becomes a memory of its session, at its place in it, dated by ``created_at`` and spoken by its name,
      else its role. Its text goes through extraction, unless a fact names it as an episode.
    * An episode becomes a memory. A fact is a claim of each of its episodes; without one, of the file.
    * Nodes and facts are converted as those of Graphiti.
    """
    places = dict[str, int]()
    lines = (each for line in read for each in _messages(line, conversion))
    for line in sorted(lines, key=_is_edge):
        if _is_edge(line):
            _fact(line, conversion)
        elif "content" in line.content:
            _text(line, conversion, places)
        else:
            _entity(line, conversion, id_as="zep_uuid")


def _messages(line: Line, conversion: Conversion) -> Iterator[Line]:
    """The messages of a session; any other object as it is. A session without messages has nothing to convert."""
    if not isinstance(line.content.get("messages"), list):
        if line.content.keys() <= _SESSION:
            conversion.leave_out(line, "a session without messages")
        else:
            yield line
        return
    session = line.text("session_id") or line.text("thread_id") or line.text("uuid")
    for message in line.content["messages"]:
        faults = ZEP.faults(message)
        if faults:
            conversion.leave_out(line, f"a message of session {session!r}: {'; '.join(faults)}")
        else:
            yield Line(line.path, line.number, {**message, "session_id": session})
    if lost := sorted(line.content.keys() - _SESSION):
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
    conversion.memory(line, key, fields, extracted=not is_message)


ZEP: Final = Format(
    collect=_collect_zep,
    texts="uuid name source_node_uuid target_node_uuid session_id thread_id role role_type source",
    lists="labels episodes episode_uuids",
    objects="attributes metadata",
    silent="uuid uuid_ id created_at updated_at graph_uuid graph_id group_id user_id project_uuid score relevance"
    " processed token_count embedding thread_id role role_type source"
    " source_node_name target_node_name source_node_labels target_node_labels",
)
"""Names and labels of the ends of an edge are those of the nodes."""

# -- cognee -----------------------------------------------------------------------------------------------------------

_UNTOUCHED: Final = 0.5
"""The feedback weight of a node without feedback."""
_SUMMARIES: Final = frozenset({"TextSummary", "CodeSummary", "GlobalContextSummary"})


def _collect_cognee(lines: Sequence[Line], conversion: Conversion) -> None:
    """A node or an edge per line, in any order, in one file or in several.

    * A chunk becomes a memory, with its document's name as its source, and mentions the entities that it contains.
    * Any other node is an entity, of the type that ``is_a`` leads to, else of its own; "Entity" is no information and
      becomes "thing".
    * An edge between entities is a relation, with its ``edge_text`` as the fact. cognee does not record which chunk it
      was extracted from, so its evidence is the file.
    * Documents and types are converted to such names; summaries, which are no evidence, are left out.
    """
    nodes = [line for line in lines if "source_node_id" not in line.content]
    edges = [line for line in lines if "source_node_id" in line.content]
    names = {line.text("id"): line.text("name") for line in nodes if _names(line)}
    types = _led_to(edges, "is_a", names)
    documents = _led_to(edges, "is_part_of", names)
    for line in nodes:
        if not _names(line):
            _node(line, types, documents, conversion)
    for line in edges:
        if line.text("target_node_id") not in names:
            _edge(line, conversion)


def _names(node: Line) -> bool:
    """Whether a node only names others: as their type or their document."""
    return node.text("type") == "EntityType" or node.text("type").endswith("Document")


def _led_to(edges: Sequence[Line], relationship: str, names: Mapping[str, str]) -> Mapping[str, str]:
    """The name that an edge of this kind leads to, by the node that it starts from."""
    return {
        edge.text("source_node_id"): names[edge.text("target_node_id")]
        for edge in edges
        if edge.text("relationship_name") == relationship and edge.text("target_node_id") in names
    }


def _node(line: Line, types: Mapping[str, str], documents: Mapping[str, str], conversion: Conversion) -> None:
    id_, type_ = line.text("id"), line.text("type")
    if line.content.get("feedback_weight") == _UNTOUCHED:
        line.get("feedback_weight")
    if type_ in _SUMMARIES:
        conversion.leave_out(line, f"a {type_}: what a model wrote of others is no evidence")
    elif "text" in line.content:
        source = documents.get(id_) or line.text("document_name")
        fields = present(text=line.get("text"), source=source, position=line.get("chunk_index"))
        conversion.memory(line, id_, fields)
    else:
        stated = types.get(id_) or ("thing" if type_ in ("", "Entity") else type_)
        fields = present(
            description=line.get("description"),
            importance_weight=line.get("importance_weight"),
            attributes={"cognee_id": id_},
        )
        conversion.entity(line, id_, {"type": stated, "name": line.text("name"), **fields})


def _edge(line: Line, conversion: Conversion) -> None:
    chunk = conversion.memories.get(line.text("source_node_id"))
    target = conversion.found(line, line.text("target_node_id"), conversion.entities)
    if target is None:
        return
    if chunk is not None and line.text("relationship_name") == "contains":
        conversion.mention(chunk, target)
        return
    source = conversion.found(line, line.text("source_node_id"), conversion.entities)
    if source is not None:
        properties = dict(line.get("properties") or {})
        fields = {"type": line.text("relationship_name"), "fact": properties.pop("edge_text", None)}
        conversion.relation(line, source, target, fields, lost=properties)


COGNEE: Final = Format(
    collect=_collect_cognee,
    texts="id type name document_name source_node_id target_node_id relationship_name",
    objects="properties",
    silent="created_at updated_at version topological_rank metadata ontology_valid source_pipeline source_task"
    " source_user source_content_hash truth_alignment truth_epoch truth_subspace_signature importance_weight name"
    " document_id document_name chunk_size cut_type content_hash max_chunk_tokens chunker_id properties",
)


_LOOKED_AT: Final = 200
"""Objects at the beginning of a file by which its format is recognised."""
_LONGEST_HEADER: Final = 100_000


class ExportFormat(StrEnum):
    """The formats of exports."""

    GRAPHSEARCH = "graphsearch"
    MEM0 = "mem0"
    ZEP = "zep"
    GRAPHITI = "graphiti"
    COGNEE = "cognee"


_FORMATS: Final = {
    ExportFormat.MEM0: MEM0,
    ExportFormat.ZEP: ZEP,
    ExportFormat.GRAPHITI: GRAPHITI,
    ExportFormat.COGNEE: COGNEE,
}


@attrs.frozen(kw_only=True)
class ForeignReport:
    """What was converted of an export, with all that was left out or lost, and what was ingested of that."""

    format: ExportFormat
    converted: ConversionReport
    ingested: IngestReport


def detect_format(file: Path) -> ExportFormat:
    """The format of an export, by fields that no other format has.

    Raises `InvalidInputError` where the first objects do not decide it.
    """
    if _is_scope(file):
        return ExportFormat.GRAPHSEARCH
    for part, content in first_objects(file, _LOOKED_AT):
        found = _format_of(part, content)
        if found is not None:
            return found
    raise InvalidInputError("import", [f"{file} may be of several formats, or of none: name the format"])


def _is_scope(file: Path) -> bool:
    """Whether the first line is the header of a scope; the rest of the file, which may be large, is not read."""
    try:
        with opened(file) as stream:
            first = stream.readline(_LONGEST_HEADER)
    except UNREADABLE as error:
        raise InvalidInputError("import", [f"cannot read {file}: {error}"]) from error
    return first.startswith(b'{"graphsearch"')


def _format_of(part: str, content: Json) -> ExportFormat | None:
    names = content.keys()
    if "source_node_id" in names or "relationship_name" in names:
        return ExportFormat.COGNEE
    if isinstance(content.get("memory"), str) or {"source", "relationship"} <= names:
        return ExportFormat.MEM0
    if names & {"graph_uuid", "episode_uuids", "role_type", "thread_id", "messages"} or part == "messages":
        return ExportFormat.ZEP
    if "group_id" in names and names & {"uuid", "source_node_uuid"}:
        return ExportFormat.GRAPHITI
    return None


def convert_export(
    files: Sequence[Path], out: Path, format: ExportFormat, *, group: str | None = None
) -> ConversionReport:
    """Convert exports of one format into a file of JSON lines that `Ingestor.add` ingests, written as a whole.

    ``group`` chooses one of several groups of Graphiti, each of which belongs into a project of its own. Raises
    `InvalidInputError` for files that cannot be read or written, and where nothing can be converted.
    """
    if format is ExportFormat.GRAPHSEARCH:
        raise InvalidInputError("import", [f"{format} is not converted: import_scope reads it"])
    if group is not None and format is not ExportFormat.GRAPHITI:
        raise InvalidInputError("import", [f"{format} has no groups"])
    known = _FORMATS[format]
    lines, faults = read_lines(files, known)
    conversion = Conversion(known, faults)
    known.collect(_of_group(lines, group) if format is ExportFormat.GRAPHITI else lines, conversion)
    return conversion.write(out)


def _of_group(lines: list[Line], group: str | None) -> list[Line]:
    groups = sorted({line.text("group_id") for line in lines})
    if group is None and len(groups) > 1:
        named = ", ".join(map(repr, groups))
        raise InvalidInputError("export", [f"has the groups {named}: choose one, each is a project of its own"])
    return lines if group is None else [line for line in lines if line.text("group_id") == group]


async def import_export(
    ingestor: Ingestor, files: Sequence[Path], *, format: ExportFormat | None = None, group: str | None = None
) -> ForeignReport:
    """Import an export of another memory layer, of one file or several: convert it, and ingest what it holds.

    Texts whose extraction the export has are not extracted again. Importing a newer export of the same name (of the
    first file) writes what changed and forgets what is gone. ``format`` is recognised where that is certain. Raises
    `InvalidInputError` for a file that cannot be read, or of which nothing can be converted, and what `Ingestor.add`
    raises.
    """
    if not files:
        raise InvalidInputError("import", ["there must be a file"])
    first = files[0]
    known = await asyncio.to_thread(detect_format, first) if format is None else format
    with tempfile.TemporaryDirectory(prefix="graphsearch-") as folder:
        out = Path(folder) / f"{first.name.split('.')[0]}.jsonl"
        converted = await asyncio.to_thread(convert_export, files, out, known, group=group)
        ingested = await ingestor.add(out, name=f"{known}:{first.name}")
    return ForeignReport(format=known, converted=converted, ingested=ingested)
