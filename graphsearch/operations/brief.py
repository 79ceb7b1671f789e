"""Answers for a model: values as short, safe JSON, fitted into a number of tokens. Pure.

Tokens are those of the answer as compact JSON, the text that a model reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import singledispatch
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, Final

import attrs

from graphsearch.context import ContextBlock
from graphsearch.explaining.elements import Explanation
from graphsearch.model import (
    Community,
    Entity,
    FeedbackReport,
    Memory,
    Relation,
    Scope,
    ScorePart,
    Triplet,
    UndoReport,
    WriteReport,
)
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchResult, Summary
from graphsearch.protocols import TokenCounter
from graphsearch.ranking.entities.result import FoundEntity, RankResult
from graphsearch.ranking.memories.result import RecalledMemory, RecallResult
from graphsearch.text.rendering import entity_name, safe_text, triplet_line
from graphsearch.traversal.paths import GraphPath, path_steps

Json = dict[str, Any]

_LONGEST: Final = 2_000
"""Maximum number of characters per text; a model that needs more can request the details."""
_TOLD: Final[Mapping[type, str]] = MappingProxyType(
    {
        Explanation: "rank of score parts reason found",
        RankResult: "found reason entities",
        RecallResult: "reason memories",
        SearchResult: "found reason triplets summary",
        Summary: "text",
    }
)
"""What is told of a result."""
_EVIDENCE: Final = 5
_ALIASES: Final = 10
_MANY: Final = frozenset({"memory_ids", "echoes", "replaced"})
"""Fields that hold several ids."""
_SAFE: Final = frozenset({"facts"})
"""Fields whose lines are safe already."""


def shown(text: str) -> str:
    """A stored text on one safe line, truncated."""
    return cut(safe_text(text))


def cut(line: str) -> str:
    """A line that is safe already, truncated."""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def shown_id(text: str) -> str:
    """An id, unchanged so that it can be passed back, except for characters that could hide text."""
    return "".join(char for char in text if char.isprintable() and (char.isascii() or safe_text(char)))


@singledispatch
def brief(value: Any) -> Any:
    """A value as agents read it: elements by their line and ids, anything else field by field.

    Fields that are empty or false are left out.
    """
    if names := _TOLD.get(type(value)):
        told = {name: brief(getattr(value, name)) for name in names.split()}
        return {name: each for name, each in told.items() if each is not None}
    if attrs.has(type(value)):
        fields = {each.name: _field(each.name, getattr(value, each.name)) for each in attrs.fields(type(value))}
        return _filled(**{name: each for name, each in fields.items() if each is not False})
    return brief(encode(value))


def _field(name: str, value: Any) -> Any:
    """The value of a field; ids are unchanged."""
    if name in _MANY:
        return [shown_id(id_) for id_ in value]
    if name in _SAFE:
        return [cut(line) for line in value]
    return shown_id(value) if isinstance(value, str) and (name == "id" or name.endswith("_id")) else brief(value)


@brief.register(int)
@brief.register(type(None))
def _as_it_is(value: Any) -> Any:
    return value


@brief.register
def _number(value: float) -> float:
    return round(value, 4)


@brief.register
def _line(value: str) -> str:
    return shown(value)


@brief.register(Mapping)
def _object(value: Mapping[Any, Any]) -> Json:
    return _filled(**{shown(str(name)): brief(each) for name, each in value.items()})


@brief.register(tuple)
@brief.register(list)
@brief.register(frozenset)
def _list(value: Iterable[Any]) -> Any:
    named = hasattr(value, "_fields")
    return brief(encode(value)) if named else [brief(each) for each in value]


@brief.register
def _written(value: WriteReport) -> Json:
    return {"memories": value.memories, **_undone(value)}


@brief.register(UndoReport)
def _undone(value: UndoReport | WriteReport) -> Json:
    return {name: count for name, count in attrs.asdict(value).items() if isinstance(count, int) and count}


@brief.register
def _judged(value: FeedbackReport) -> Json:
    moved = len(value.applied) + len(value.replaced)
    counts = {"moved": moved, "repeated": len(value.repeated), "missing": len(value.missing)}
    return counts if value != FeedbackReport() else {**counts, "reason": "nothing was shown to this session"}


@brief.register
def _part(value: ScorePart) -> Json:
    return {"name": value.name, "value": round(value.value, 4), "contribution": round(value.contribution, 4)}


@brief.register
def _entity(value: Entity) -> Json:
    return _filled(
        id=str(value.id),
        type=shown(value.type),
        name=cut(entity_name(value)),
        description=shown(value.description),
        aliases=[shown(alias) for alias in value.aliases[:_ALIASES]],
    )


@brief.register
def _memory(value: Memory) -> Json:
    words = {name: shown(getattr(value, name)) for name in ("text", "speaker", "subject")}
    at = {"session_id": shown_id(value.session_id), "occurred_at": _iso(value.occurred_at)}
    return _filled(id=shown_id(value.id), **words, **at)


@brief.register
def _relation(value: Relation) -> Json:
    return _filled(
        relation_id=str(value.id),
        source_id=str(value.source_id),
        type=shown(value.type),
        target_id=str(value.target_id),
        fact=shown(value.fact),
        confidence=round(value.confidence, 4),
        **_held(value),
    )


@brief.register
def _triplet(value: Triplet) -> Json:
    return _filled(
        line=cut(triplet_line(value).removeprefix("- ")),
        score=round(value.score, 4),
        relation_id=str(value.relation.id),
        source_id=str(value.source.id),
        target_id=str(value.target.id),
        **_held(value.relation),
        projects=projects_of(value.scopes),
    )


@brief.register
def _recalled(value: RecalledMemory) -> Json:
    score = {"score": round(value.score, 4), "until": _iso(value.until)}
    return _filled(**_memory(value.memory), **score, projects=projects_of(value.scopes))


@brief.register
def _ranked(value: FoundEntity) -> Json:
    factors = {factor.name: round(factor.contribution, 4) for factor in value.factors}
    ranked = {"score": round(value.score, 4), "factors": factors}
    return _filled(**_entity(value.entity), **ranked, projects=projects_of(value.scopes))


@brief.register
def _path(value: GraphPath) -> Json:
    line = " ".join(map(cut, path_steps(value)))
    entities = [str(entity.id) for entity in value.entities]
    ids = {"entity_ids": entities, "relation_ids": [str(relation.id) for relation in value.relations]}
    return {"hops": value.hops, "strength": round(value.strength, 4), "line": line, **ids}


@brief.register
def _community(value: Community) -> Json:
    return _filled(
        label=shown(value.label),
        size=value.size,
        density=round(value.density, 4),
        top=[str(id_) for id_ in value.top],
        summary=value.summary and shown(value.summary.text),
    )


def block_json(block: ContextBlock) -> Json:
    """A context block with what its lines are: `memories` and `triplets` in the order of the text."""
    memories = [
        {name: told for name, told in brief(each).items() if name not in ("text", "speaker", "subject")}
        for each in block.memories
    ]
    return {
        "session_id": block.session_id,
        "text": block.text,
        **_filled(reason=shown(block.reason), time=time_line(block)),
        "tokens": block.tokens,
        "budget": block.budget,
        **_filled(summary=block.summary and shown(block.summary.text), sources=block.summary and _cited(block.summary)),
        "triplets": brief(block.triplets),
        "memories": memories,
    }


def time_line(block: ContextBlock) -> str:
    """The time that a question named, and the interval that it was read as; empty for the present."""
    if block.interpretation is None or not block.interpretation.time.written:
        return ""
    time = block.interpretation.time
    since = "" if time.since is None else f"{_iso(time.since)} to "
    return f"{shown(time.written)}: {since}{_iso(time.as_of) or 'now'}"


def _cited(summary: Summary) -> list[Json]:
    """The sources cited by a summary, by number."""
    cited = {source.number: source.element for sentence in summary.sentences for source in sentence.sources}
    return [{"number": number, "kind": of.kind.value, "id": shown_id(of.id)} for number, of in sorted(cited.items())]


def projects_of(scopes: Iterable[Scope]) -> list[str]:
    """The projects that something comes from, where several were asked."""
    return [shown(scope.project_id) for scope in scopes]


def _held(relation: Relation) -> Json:
    """Since when and until when it held, and the first memories that say so."""
    evidence = [shown_id(memory_id) for memory_id in relation.evidence[:_EVIDENCE]]
    return {"valid_from": _iso(relation.valid_from), "valid_to": _iso(relation.valid_to), "evidence": evidence}


def _filled(**fields: Any) -> Json:
    """The fields with a value; empty texts and lists only cost tokens."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


TRUNCATED: Final = "truncated"
_LENGTHS: Final = (1_000, 200, 40, 0)
"""Lengths, in characters, that the texts of a head are cut to, one after another, until it fits."""
_NOTHING: Final = object()


def as_text(answer: Any) -> str:
    """Compact JSON, unescaped beyond ASCII: escapes would cost tokens."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def fitted(data: Mapping[str, Any], *, counter: TokenCounter, limit: int) -> Json:
    """An answer with as many whole items of its lists as fit, in the order of each list.

    The lists take turns. An item that does not fit is skipped and the next one tried; ``truncated`` is the number of
    missing items, absent if 0. If the rest does not fit by itself, its texts are cut.
    """
    lists = {name: each for name, each in data.items() if isinstance(each, list)}
    head = {name: each for name, each in data.items() if name not in lists}
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
