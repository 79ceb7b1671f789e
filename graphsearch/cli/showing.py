"""Results as text for people: names and values, and aligned columns. Stored text cannot move a terminal's cursor.

A row that has an id is numbered: a later command takes the number in place of the id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.context import ContextBlock
from graphsearch.curation import Event
from graphsearch.model import Entity, Memory, Relation, Scope, ScorePart, Triplet
from graphsearch.page.rows import Named, RelationRow
from graphsearch.question.understanding import Interpretation
from graphsearch.ranking.entity_ranking import FoundEntity
from graphsearch.ranking.recall_result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import GraphPath, path_steps

_PARTS: Final = (
    "proximity=breakdown.proximity_part importance=breakdown.importance_part feedback=breakdown.feedback_part"
)
_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Ambiguity": "#entity=entity.id name=entity candidates",
        "Backlink": "#memory=memory.id when=memory.occurred_at text=memory",
        "BlockLine": "tokens text",
        "Change": "#relation=relation.key happened triplet=relation since=relation.valid_from until=relation.valid_to"
        " before=before.place after=after.place",
        "Community": "members=size density label id summary",
        "Connection": "score connection=entity paths",
        "Contradiction": "since=one.valid_from type=one.type of=ends one other",
        "Duplicate": "similarity likeness verdict one other id=one.id id=other.id",
        "EntityRow": "#entity=id score entity=name type connections",
        "EntityHit": "#entity=entity.id score way type=entity.type entity id=entity.id",
        "Event": "#memory=memory.id when=at what=kind text=",
        "FoundEntity": "#entity=entity.id score entity type=entity.type parts relevance connections=connected_names",
        "Judged": "similarity=pair.similarity finding one=pair.one other=pair.other merge why",
        "Memory": "#memory=id when=occurred_at memory=id text=",
        "MemoryRow": "#memory=key score when=occurred_at who=speaker text",
        "Merge": "#merge=id when=created_at source=source_id target=target_id merge=id undone=undone_at",
        "Omitted": "reason sentence",
        "Proof": "#memory=memory.id adds when=memory.occurred_at memory=memory.id who=memory.speaker pattern quote",
        "Proposal": "#proposal=id id state operation principal created_at decided_by",
        "RecalledMemory": "#memory=memory.id score when=memory.occurred_at memory=memory.id text=memory"
        " projects=scopes",
        "Related": "#entity=entity.id hops strength entity type=entity.type",
        "RelationRow": "#relation=key score triplet= since=valid_from until=valid_to evidence",
        "RelationType": "type=name prior half_life_days hop_scores flags",
        "ScorePart": "part=name value weight contribution",
        "Source": "source=line",
        "Triplet": f"#relation=relation.id score {_PARTS} triplet= from=source.type to=target.type"
        " since=relation.valid_from until=relation.valid_to evidence=+relation.evidence projects=scopes",
    }
)
"""The columns of what is listed, by class: the path of an attribute, or heading=path; without a path the whole.

``+`` counts; ``#kind`` is the id of what a row is, and shown as its number.
"""
_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Answer": "block relations memories entities past found reason",
        "Changes": "relations moments since until unknown",
        "ContextBlock": "text summary session=session_id tokens budget memories_skipped=skipped_memories"
        " triplets_skipped=skipped hidden_by_policy=denied reason time=interpretation",
        "Entity": "id type name aliases description labels attributes importance_weight",
        "EntityRecall": "entity type=entity.type description=entity.description role=most_recent_role.entity"
        " location=most_recent_location.entity community=community.label summary=community.summary triplets memories",
        "Explanation": "found mode rank of score parts kept_out reason",
        "ForeignReport": "format entities=converted.entities memories=converted.memories claims=converted.claims"
        " relations=converted.relations embedded=ingested.embedded facts=ingested.facts left_out=converted.faults"
        " in_part=converted.losses faults=ingested.faults",
        "GraphPath": "path= strength",
        "GraphQuery": "anchors relation_types direction hops entity_types since until limit",
        "JudgeReport": "judged merged distinct left why pairs",
        "Provenance": "source type=relation.type target confidence=relation.confidence given proofs",
        "Receipt": "scope at by removed left digest",
        "RankResult": "ranking entities found hidden_by_policy=denied reason",
        "RecallResult": "memories found hidden_by_policy=denied reason",
        "SearchResult": "summary graph_query triplets connections found left_out below_floor hidden_by_policy=denied"
        " reason time=interpretation",
        "Verification": "holds intact left again",
        "Summary": "text sources unknown_citations uncited beyond note",
    }
)
"""What is shown of an object, in order; of any other class, all fields."""
_ANSWERS: Final = frozenset({"ContextBlock", "RankResult", "RecallResult", "SearchResult"})
"""Of these, fields are said about the answer; of all others they are the answer."""
_SHORT: Final = 8
"""The characters of an id in a table."""


@attrs.frozen
class Row:
    """What a numbered row is."""

    kind: str
    id: str


@attrs.define
class Shown:
    """A result as text: its lines, what is said about it, and its numbered rows."""

    lines: list[str] = attrs.field(factory=list)
    notes: list[str] = attrs.field(factory=list)
    rows: list[Row] = attrs.field(factory=list)

    @classmethod
    def of(cls, value: Any, key: str = "") -> Shown:
        """Show a result; ``key`` names one that is no object."""
        shown = cls()
        shown._show(value, key)
        if isinstance(value, ContextBlock):
            shown.rows = [Row(*each.key.split(":", 1)) for each in value.lines if each.key]
        return shown

    def _show(self, value: Any, key: str) -> None:
        if value and _is_list(value):
            self._table(value)
        elif attrs.has(type(value)):
            self._object(value)
        elif isinstance(value, Mapping):
            self.lines += pairs(value.items())
        else:
            self.lines.append(f"{_words(key)}: {_cell(value) or 'none'}")

    def _object(self, value: Any) -> None:
        """A line for each field, a table for each list of objects. Of a report, what is 0 is left out."""
        name = type(value).__name__
        paths = _FIELDS.get(name) or " ".join(each.name for each in attrs.fields(type(value)))
        found = [(heading, part) for heading, part in _parts(value, paths) if _cell(part)]
        if name.endswith("Report"):
            found = [(heading, part if _is_list(part) else number_of(part)) for heading, part in found if part != 0]
            found = found or [("changed", "nothing")]
        are_several = sum(_is_list(part) for _, part in found) > 1
        for is_block, group in groupby(found, key=_is_block):
            if not is_block:
                (self.notes if name in _ANSWERS else self.lines).extend(pairs(group))
                continue
            for heading, part in group:
                self.lines += [f"{heading}:"] if are_several and _is_list(part) else ()
                if heading == "text":
                    self.lines.append(part)
                else:
                    self._show(part, heading)

    def _table(self, items: Sequence[Any]) -> None:
        """Headings and a row for each item; columns without a value are left out."""
        paths = _COLUMNS.get(type(items[0]).__name__) or " ".join(each.name for each in attrs.fields(type(items[0])))
        rows = [[heading.partition("#")[1] or heading for heading, _ in _parts(items[0], paths)]]
        rows += [[self._numbered(heading, part) for heading, part in _parts(each, paths)] for each in items]
        columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
        self.lines += aligned(list(zip(*columns, strict=True)))

    def _numbered(self, heading: str, part: Any) -> str:
        if not heading.startswith("#") or part is None:
            return str(part)[:_SHORT] if isinstance(part, UUID) else _cell(part)
        self.rows.append(Row(heading[1:], str(part).removeprefix(f"{heading[1:]}:")))
        return str(len(self.rows))


def pairs(fields: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """A line for each name and value."""
    return aligned([(_words(name), _cell(value)) for name, value in fields])


def number_of(part: Any) -> Any:
    """The length of a list, any other value as it is."""
    return len(part) if isinstance(part, list | tuple) else part


def _is_block(field: tuple[str, Any]) -> bool:
    """Whether a field takes lines of its own."""
    heading, part = field
    return heading == "text" or type(part).__name__ in ("Summary", "GraphQuery") or _is_list(part)


def _is_list(part: Any) -> bool:
    return isinstance(part, list | tuple) and bool(part) and attrs.has(type(part[0]))


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line for each row, its columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _parts(value: Any, paths: str) -> Iterator[tuple[str, Any]]:
    """The headings and the attributes of a value; None where one on the path is None."""
    for each in paths.split():
        heading, named, path = each.partition("=")
        path = path if named else heading
        try:
            found = attrgetter(path.removeprefix("+"))(value) if path else value
            yield _words(heading), number_of(found) if path.startswith("+") else found
        except AttributeError:
            if getattr(value, path.removeprefix("+").partition(".")[0]) is not None:
                raise
            yield _words(heading), None


def _words(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: Any) -> str:
    """One safe line of a value; empty for what says nothing."""
    for kind, words in _WORDS.items():
        if isinstance(value, kind):
            return words(value)
    if attrs.has(type(value)) and not hasattr(value, "text"):
        return _counted({each.name: getattr(value, each.name) for each in attrs.fields(type(value))})
    return safe_text(str(getattr(value, "text", value)))


def _rounded(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 0.1 or not value else f"{value:.1g}"  # noqa: PLR2004 - two digits that count


def _event(event: Event) -> str:
    if event.relation is None or event.entity is None:
        return _cell(event.memory)
    into = event.relation.target_id == event.entity.id
    arrow = f"--{safe_text(event.relation.type)}-->" if into else f"<--{safe_text(event.relation.type)}--"
    return f"{arrow} {entity_name(event.entity)}"


def _time(interpretation: Interpretation) -> str:
    """The time named by a question, and the interval that it was read as; empty for the present."""
    time = interpretation.time
    since = "" if time.since is None or time.since.year == 1 else f"{_cell(time.since)} to "
    if not time.written or not (since or time.as_of):
        return ""  # "did: now" would say nothing
    return f"{safe_text(time.written)}: {since}{'now' if time.as_of is None else _cell(time.as_of)}"


def _counted(found: Mapping[Any, Any]) -> str:
    """``3 entity, 1 relation`` of numbers, ``key: value`` of anything else; what is 0 or empty is left out."""
    counts = all(isinstance(each, int) for each in found.values())
    parts = ((each, _cell(key)) if counts else (f"{_cell(key)}:", _cell(each)) for key, each in found.items())
    return ", ".join(f"{one} {other}" for one, other in parts if one)


_WORDS: Final[Mapping[Any, Callable[[Any], str]]] = MappingProxyType(
    {
        type(None): lambda _: "",
        bool: lambda value: "yes" if value else "no",
        float: _rounded,
        datetime: lambda at: f"{at:%Y-%m-%d %H:%M}".removesuffix(" 00:00"),
        Enum: lambda value: str(value.value),
        Entity: entity_name,
        Triplet: lambda triplet: triplet_line(triplet).removeprefix("- "),
        GraphPath: lambda path: " ".join(path_steps(path)),
        Event: _event,
        Memory: lambda memory: safe_text(f"{memory.speaker}: {memory.text}".removeprefix(": ")),
        RelationRow: lambda row: f"{_cell(row.source)} --{safe_text(row.type)}--> {_cell(row.target)}",
        Named: lambda end: safe_text(end.name or end.id),
        Relation: lambda relation: safe_text(relation.fact or str(relation.id)),
        ScorePart: lambda part: f"{part.name} {_rounded(part.contribution)}",
        Scope: lambda scope: safe_text(scope.project_id),
        RecalledMemory: lambda recalled: _cell(recalled.memory),
        FoundEntity: lambda found: _cell(found.entity),
        Interpretation: _time,
        Mapping: _counted,
        str: safe_text,
        Iterable: lambda some: ", ".join(f"{each:g}" if isinstance(each, float) else _cell(each) for each in some),
    }
)
"""How values of a kind are said, in one safe line; the first that fits."""
