"""Answers for a model: graph elements as short, safe JSON, fitted into a number of tokens. Pure.

Tokens are those of the answer as compact JSON, the text that a model reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any, Final

import attrs

from graphsearch.curation.browsing import Standing
from graphsearch.model import Community, Entity, Memory, Relation, Scope, Triplet
from graphsearch.protocols import TokenCounter
from graphsearch.query.asked_time import AskedTime
from graphsearch.recall.result import RecalledMemory
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import GraphPath, path_steps

Json = dict[str, Any]

_LONGEST: Final = 2_000
"""Maximum number of characters per text; a model that needs more can request the details."""
_EVIDENCE: Final = 5
_ALIASES: Final = 10


def shown(text: str) -> str:
    """A stored text on one safe line, truncated."""
    return cut(safe_text(text))


def cut(line: str) -> str:
    """A line that is safe already, truncated."""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def shown_id(text: str) -> str:
    """An id, unchanged so that it can be passed back, except for characters that could hide text."""
    return "".join(char for char in text if char.isprintable() and (char.isascii() or safe_text(char)))


def entity_json(entity: Entity) -> Json:
    """id, type, name, description and some aliases."""
    return _without_empty(
        id=str(entity.id),
        type=shown(entity.type),
        name=cut(entity_name(entity)),
        description=shown(entity.description),
        aliases=[shown(alias) for alias in entity.aliases[:_ALIASES]],
    )


def triplet_json(triplet: Triplet, scope: Scope | None = None) -> Json:
    """The line of a prompt, the score, the three ids (of the relation in a scope), and the supporting memories."""
    relation = triplet.relation
    return _without_empty(
        line=cut(triplet_line(triplet).removeprefix("- ")),
        score=round(triplet.score, 4),
        relation_id=str(relation.id if scope is None else triplet.id_in(scope)),
        source_id=str(triplet.source.id),
        target_id=str(triplet.target.id),
        **_period(relation),
        evidence=_evidence(relation),
        projects=projects_of(triplet.scopes),
    )


def relation_json(relation: Relation) -> Json:
    """The ids, type, fact, confidence, validity period and supporting memories."""
    return _without_empty(
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
    return _without_empty(
        id=shown_id(memory.id),
        text=shown(memory.text),
        speaker=shown(memory.speaker),
        subject=shown(memory.subject),
        session_id=shown_id(memory.session_id),
        occurred_at=_iso(memory.occurred_at),
    )


def recalled_json(recalled: RecalledMemory) -> Json:
    """The memory with its score and, if all its claims have ended, the end of the last."""
    return _without_empty(
        **memory_json(recalled.memory),
        score=round(recalled.score, 4),
        until=_iso(recalled.until),
        projects=projects_of(recalled.scopes),
    )


def projects_of(scopes: Iterable[Scope]) -> list[str]:
    """The projects that something comes from, where several were asked."""
    return [shown(scope.project_id) for scope in scopes]


def path_json(path: GraphPath) -> Json:
    """hops, strength, and the path as one line."""
    line = " ".join(map(cut, path_steps(path)))
    return {"hops": path.hops, "strength": round(path.strength, 4), "line": line}


def standing_json(standing: Standing | None) -> Json | None:
    """A relation of an entity: its type, its other end and its validity period."""
    if standing is None:
        return None
    return _without_empty(
        type=shown(standing.relation.type),
        name=cut(entity_name(standing.entity)),
        entity_id=str(standing.entity.id),
        **_period(standing.relation),
    )


def time_json(time: AskedTime) -> Json:
    """The time expression in a question, and the interval it denotes."""
    return _without_empty(words=shown(time.written), since=_iso(time.since), as_of=_iso(time.as_of))


def community_json(community: Community) -> Json:
    """label, size, density, the ids of its top members, and its summary if a model wrote one."""
    return _without_empty(
        label=shown(community.label),
        size=community.size,
        density=round(community.density, 4),
        top=[str(id_) for id_ in community.top],
        summary=community.summary and shown(community.summary.text),
    )


def plain(value: Any) -> Any:
    """JSON of any depth with all texts and keys made safe, and numbers rounded."""
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
    """The nonzero counts of a report."""
    return {name: value for name, value in attrs.asdict(report).items() if isinstance(value, int) and value}


def _evidence(relation: Relation) -> list[str]:
    return [shown_id(memory_id) for memory_id in relation.evidence[:_EVIDENCE]]


def _period(relation: Relation) -> Json:
    return {"valid_from": _iso(relation.valid_from), "valid_to": _iso(relation.valid_to)}


def _without_empty(**fields: Any) -> Json:
    """The fields with a value; empty texts and lists only cost tokens."""
    return {name: value for name, value in fields.items() if value not in ("", None, [])}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


TRUNCATED: Final = "truncated"
_LENGTHS: Final = (1_000, 200, 40, 0)
"""Lengths, in characters, that the texts of a head are cut to, one after another, until it fits."""
_NOTHING: Final = object()


def as_text(answer: Any) -> str:
    """Compact JSON, unescaped beyond ASCII: escapes would cost tokens."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def fitted(head: Mapping[str, Any], lists: Mapping[str, Sequence[Any]], *, counter: TokenCounter, limit: int) -> Json:
    """A head with as many whole items of the lists as fit, in the order of each list.

    The lists take turns. An item that does not fit is skipped and the next one tried; ``truncated`` is the number of
    missing items, absent if 0. If the head does not fit by itself, its texts are cut.
    """
    whole = {**head, **{name: list(items) for name, items in lists.items()}}
    if counter.count(as_text(whole)) <= limit:
        return whole
    count = sum(map(len, lists.values()))
    bare = _head({**head, TRUNCATED: count}, list(lists), counter, limit)
    spent = counter.count(as_text({**bare, **{name: [] for name in lists}}))
    taken: list[tuple[str, Any]] = []
    for name, item in _in_turn(lists):
        cost = counter.count(as_text(item) + ",")
        if spent + cost <= limit:
            taken.append((name, item))
            spent += cost
    while True:  # counts of single items need not add up to the count of the whole
        answer = {**bare, TRUNCATED: count - len(taken), **_sorted_out(taken, lists)}
        if not taken or counter.count(as_text(answer)) <= limit:
            return answer if answer[TRUNCATED] else _without_mark(answer)
        taken.pop()


def _in_turn(lists: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Any]]:
    """The first item of each list, then the second of each, and so on."""
    for row in zip_longest(*lists.values(), fillvalue=_NOTHING):
        for name, item in zip(lists, row, strict=True):
            if item is not _NOTHING:
                yield name, item


def _sorted_out(taken: Sequence[tuple[str, Any]], lists: Mapping[str, Sequence[Any]]) -> Json:
    return {name: [item for of, item in taken if of == name] for name in lists}


def _without_mark(answer: Json) -> Json:
    """An answer without the mark of missing items: only the head was cut."""
    return {name: value for name, value in answer.items() if name != TRUNCATED}


def _head(head: Json, names: Sequence[str], counter: TokenCounter, limit: int) -> Json:
    """The head, with its texts cut until it fits with empty lists."""
    empty: Json = {name: [] for name in names}
    cut = head
    for length in _LENGTHS:
        if counter.count(as_text({**cut, **empty})) <= limit:
            break
        cut = {name: _cut(value, length) for name, value in head.items()}
    return cut


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= length else f"{value[:length]}…"
    if isinstance(value, Mapping):
        return {name: _cut(each, length) for name, each in value.items()}
    if isinstance(value, list):
        return [_cut(each, length) for each in value]
    return value
