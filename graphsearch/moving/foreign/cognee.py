"""Exports of cognee: a node or an edge per line, in any order, in one file or in several.

A node has id, type, name and description, a document chunk its text; an edge has source_node_id, target_node_id,
relationship_name and properties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from graphsearch.moving.foreign.conversion import Conversion, ConversionReport, Format, Line, present, read_lines

UNTOUCHED: Final = 0.5
"""The feedback weight of a node without feedback."""
SUMMARIES: Final = frozenset({"TextSummary", "CodeSummary", "GlobalContextSummary"})
FORMAT: Final = Format(
    texts="id type name document_name source_node_id target_node_id relationship_name",
    objects="properties",
    silent="created_at updated_at version topological_rank metadata ontology_valid source_pipeline source_task"
    " source_user source_content_hash truth_alignment truth_epoch truth_subspace_signature importance_weight name"
    " document_id document_name chunk_size cut_type content_hash max_chunk_tokens chunker_id properties",
)


def convert(files: Sequence[Path], out: Path) -> ConversionReport:
    """Convert the files and write ``out`` atomically.

    * A chunk becomes a memory, with its document's name as its source, and mentions the entities that it contains.
    * Any other node is an entity, of the type that ``is_a`` leads to, else of its own; "Entity" is no information and
      becomes "thing".
    * An edge between entities is a relation, with its ``edge_text`` as the fact. cognee does not record which chunk it
      was extracted from, so its evidence is the file.
    * Documents and types are converted to such names; summaries, which are no evidence, are left out.

    Raises `InvalidInputError` if a file cannot be read or written, or nothing can be converted.
    """
    lines, faults = read_lines(files, FORMAT)
    conversion = Conversion(FORMAT, faults)
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
    return conversion.write(out)


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
    if line.content.get("feedback_weight") == UNTOUCHED:
        line.get("feedback_weight")
    if type_ in SUMMARIES:
        conversion.leave_out(line, f"a {type_}: what a model wrote of others is no evidence")
    elif "text" in line.content:
        source = documents.get(id_) or line.text("document_name")
        fields = present(text=line.get("text"), source=source, position=line.get("chunk_index"))
        if conversion.memory(line, id_, fields):
            conversion.lose_rest(line)
    else:
        stated = types.get(id_) or ("thing" if type_ in ("", "Entity") else type_)
        fields = present(
            description=line.get("description"),
            importance_weight=line.get("importance_weight"),
            attributes={"cognee_id": id_},
        )
        if conversion.entity(line, id_, {"type": stated, "name": line.text("name"), **fields}):
            conversion.lose_rest(line)


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
        if conversion.relation(line, source, target, fields, ()):
            conversion.lose_rest(line, **properties)
