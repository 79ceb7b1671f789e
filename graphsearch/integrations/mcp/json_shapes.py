"""Elements of a graph as JSON that a model reads: short, and made of `safe_text` alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import attrs

from graphsearch.curation.entity_recall import Standing
from graphsearch.model import Community, Entity, Memory, Relation, Triplet
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import Path, path_steps
from graphsearch.understanding.asked_time import AskedTime

Json = dict[str, Any]

_LONGEST: Final = 2_000
"""Characters of one text; a model that needs more of it can ask for what it says."""
_EVIDENCE: Final = 5
_ALIASES: Final = 10


def shown(text: str) -> str:
    """A stored text on one safe line, cut where it is very long."""
    return cut(safe_text(text))


def cut(line: str) -> str:
    """A line that is safe already, cut where it is very long."""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def shown_id(text: str) -> str:
    """An id as it is, so that it can be passed back, less the characters in which text could be hidden."""
    return "".join(char for char in text if char.isprintable() and (char.isascii() or safe_text(char)))


def entity_json(entity: Entity) -> Json:
    """id, type, name, description and some aliases."""
    return _said(
        id=str(entity.id),
        type=shown(entity.type),
        name=cut(entity_name(entity)),
        description=shown(entity.description),
        aliases=[shown(alias) for alias in entity.aliases[:_ALIASES]],
    )


def triplet_json(triplet: Triplet) -> Json:
    """The line that a prompt would hold, the score, the three ids, and the memories behind it."""
    relation = triplet.relation
    return _said(
        line=cut(triplet_line(triplet).removeprefix("- ")),
        score=round(triplet.score, 4),
        relation_id=str(relation.id),
        source_id=str(triplet.source.id),
        target_id=str(triplet.target.id),
        **_period(relation),
        evidence=_evidence(relation),
    )


def relation_json(relation: Relation) -> Json:
    """Its ids, type, fact, confidence, period, and the memories behind it."""
    return _said(
        relation_id=str(relation.id),
        source_id=str(relation.source_id),
        type=shown(relation.type),
        target_id=str(relation.target_id),
        fact=shown(relation.fact),
        confidence=round(relation.confidence, 4),
        **_period(relation),
        evidence=_evidence(relation),
    )


def memory_json(memory: Memory) -> Json:
    """id, text, speaker, subject, session and time."""
    return _said(
        id=shown_id(memory.id),
        text=shown(memory.text),
        speaker=shown(memory.speaker),
        subject=shown(memory.subject),
        session_id=shown_id(memory.session_id),
        occurred_at=_iso(memory.occurred_at),
    )


def recalled_json(recalled: RecalledMemory) -> Json:
    """The memory with its score, and until when the last of what it claims held, if that has ended."""
    return _said(**memory_json(recalled.memory), score=round(recalled.score, 4), until=_iso(recalled.until))


def path_json(path: Path) -> Json:
    """hops, strength, and the way as one line."""
    line = " ".join(map(cut, path_steps(path)))
    return {"hops": path.hops, "strength": round(path.strength, 4), "line": line}


def standing_json(standing: Standing | None) -> Json | None:
    """Where an entity stands to another."""
    if standing is None:
        return None
    return _said(
        type=shown(standing.relation.type),
        name=cut(entity_name(standing.entity)),
        entity_id=str(standing.entity.id),
        **_period(standing.relation),
    )


def time_json(time: AskedTime) -> Json:
    """The words of a question that name a time, and the moments that they mean."""
    return _said(words=shown(time.written), since=_iso(time.since), as_of=_iso(time.as_of))


def community_json(community: Community) -> Json:
    """label, size, density and the ids of its top members."""
    return {
        "label": shown(community.label),
        "size": community.size,
        "density": round(community.density, 4),
        "top": [str(id_) for id_ in community.top],
    }


def plain(value: Any) -> Any:
    """JSON of any depth with every text in it, keys too, made safe, and no more digits than anybody reads."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {shown(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def counts_json(report: Any) -> Json:
    """The numbers of a report that are not 0."""
    return {name: value for name, value in attrs.asdict(report).items() if isinstance(value, int) and value}


def _evidence(relation: Relation) -> list[str]:
    return [shown_id(memory_id) for memory_id in relation.evidence[:_EVIDENCE]]


def _period(relation: Relation) -> Json:
    return {"valid_from": _iso(relation.valid_from), "valid_to": _iso(relation.valid_to)}


def _said(**fields: Any) -> Json:
    """What there is to say; empty texts and lists cost tokens and tell nothing."""
    return {name: value for name, value in fields.items() if value not in ("", None, [])}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
