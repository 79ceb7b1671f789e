"""Fit answers into a number of tokens: pure.

Tokens are those of the answer as compact JSON, the text that a model reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from graphsearch.protocols import TokenCounter

Json = dict[str, Any]

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
