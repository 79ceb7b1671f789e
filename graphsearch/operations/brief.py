"""Answers for a model: values as short, safe JSON, fitted into a number of tokens. Pure.

Tokens are those of the answer as compact JSON, the text that a model reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import MINYEAR
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
    ScorePart,
    Triplet,
    UndoReport,
    WriteReport,
)
from graphsearch.model.codec import encode
from graphsearch.modes.result import SearchResult, Summary
from graphsearch.protocols import TokenCounter
from graphsearch.ranking.entity_ranking import FoundEntity, RankResult
from graphsearch.ranking.recall_result import RecalledMemory, RecallResult
from graphsearch.text.rendering import safe_text, triplet_line
from graphsearch.traversal.paths import GraphPath, path_steps

Json = dict[str, Any]

_LONGEST: Final = 2_000
"""Maximum number of characters per text; a model that needs more can request the details."""
_RESULTS: Final[Mapping[type, str]] = MappingProxyType(
    {
        Explanation: "rank of score parts reason found",
        RankResult: "found reason entities",
        RecallResult: "reason memories",
        SearchResult: "found reason triplets summary",
        Summary: "text",
    }
)
"""What is told of a result."""
_HELD: Final = "valid_from valid_to evidence"
_ELEMENTS: Final[Mapping[type, str]] = MappingProxyType(
    {
        Community: "label size density top summary=summary.text",
        Entity: "id type name description aliases",
        FoundEntity: "score projects=scopes",
        Memory: "id text speaker subject session_id occurred_at",
        RecalledMemory: "score until projects=scopes",
        Relation: f"relation_id=id source_id type target_id fact confidence {_HELD}",
        ScorePart: "name value contribution",
        Triplet: "score relation_id=relation.id source_id=source.id target_id=target.id valid_from=relation.valid_from"
        " valid_to=relation.valid_to evidence=relation.evidence projects=scopes",
    }
)
"""What is told of an element, where it is not empty: the path of an attribute, or name=path."""
_MOST: Final = {"evidence": 5, "aliases": 10}
"""How many of them are told."""
_MANY: Final = frozenset({"memory_ids", "echoes", "replaced", "evidence"})
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
    if names := _RESULTS.get(type(value)):
        told = {name: brief(getattr(value, name)) for name in names.split()}
        return {name: each for name, each in told.items() if each is not None}
    if type(value) in _ELEMENTS:
        return _element(value)
    if attrs.has(type(value)):
        fields = {each.name: _field(each.name, getattr(value, each.name)) for each in attrs.fields(type(value))}
        return _filled(**{name: each for name, each in fields.items() if each is not False})
    return brief(encode(value))


def _element(value: Any) -> Json:
    paths = (each.partition("=") for each in _ELEMENTS[type(value)].split())
    return _filled(**{name: _field(name, _at(value, path or name)) for name, _, path in paths})


def _at(value: Any, path: str) -> Any:
    """The attribute at a path; None where one on it is None."""
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def _field(name: str, value: Any) -> Any:
    """The value of a field; ids are unchanged."""
    value = value[: _MOST[name]] if name in _MOST else value
    if name in _MANY:
        return [shown_id(id_) for id_ in value]
    if name == "projects":
        return [shown(scope.project_id) for scope in value]
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
def _triplet(value: Triplet) -> Json:
    return {"line": cut(triplet_line(value).removeprefix("- ")), **_element(value)}


@brief.register
def _recalled(value: RecalledMemory) -> Json:
    return {**brief(value.memory), **_element(value)}


@brief.register
def _ranked(value: FoundEntity) -> Json:
    factors = {factor.name: brief(factor.contribution) for factor in value.factors}
    return {**brief(value.entity), **_element(value), **_filled(factors=factors)}


@brief.register
def _path(value: GraphPath) -> Json:
    line = " ".join(map(cut, path_steps(value)))
    entities = [str(entity.id) for entity in value.entities]
    ids = {"entity_ids": entities, "relation_ids": [str(relation.id) for relation in value.relations]}
    return {"hops": value.hops, "strength": round(value.strength, 4), "line": line, **ids}


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
    since = "" if time.since is None else "until " if time.since.year == MINYEAR else f"{brief(time.since)} to "
    return f"{shown(time.written)}: {since}{brief(time.as_of) or 'now'}"


def _cited(summary: Summary) -> list[Json]:
    """The sources cited by a summary, by number."""
    cited = {source.number: source.element for sentence in summary.sentences for source in sentence.sources}
    return [{"number": number, "kind": of.kind.value, "id": shown_id(of.id)} for number, of in sorted(cited.items())]


def _filled(**fields: Any) -> Json:
    """The fields with a value; empty texts and lists only cost tokens."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}


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
        found = {name: [item for of, item in taken if of == name] for name in lists}
        answer = {**bare, TRUNCATED: count - len(taken), **found}
        if not taken or counter.count(as_text(answer)) <= limit:
            if not answer[TRUNCATED]:  # only the head was cut
                del answer[TRUNCATED]
            return answer
        taken.pop()


def _in_turn(lists: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Any]]:
    """The first item of each list, then the second of each, and so on."""
    for row in zip_longest(*lists.values(), fillvalue=_NOTHING):
        for name, item in zip(lists, row, strict=True):
            if item is not _NOTHING:
                yield name, item


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
